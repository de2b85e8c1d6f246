# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a plane on a real API server without controllers: their objects are stored, and nothing runs."""
from __future__ import annotations

import contextlib

from fakes import move_planes
from support import REPOSITORY, module

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import ThrowawayServers

NAME = "plane"


@contextlib.contextmanager
def served():
    """Give the API server, see :func:`client`."""
    with ThrowawayServers(move_planes.programs(), [NAME]) as servers:
        yield servers


def client(servers):
    """Return a client of the API server."""
    return move_planes.client(servers, NAME)


def install(servers, *flags, **settings):
    """Run plane_components for all parts, with the same settings for each, and return its result."""
    return run(servers, [dict(settings, name=part.name) for part in RENDERED], *flags, certificates="collection")


def run(servers, parts, *flags, **arguments):
    """Run plane_components and return its result; nothing is waited for."""
    return module("plane_components", *flags, kubeconfig=servers.kubeconfig(NAME), wait=False, parts=parts,
                  source_dir=str(REPOSITORY / "lab" / "engine"), **arguments)
