# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All parts of a plane of processes, those included that a cluster has of its own, and their versions; pure."""
from __future__ import annotations

from ..parts.catalogue import IRONIC, RENDERED, Part
from .go_mod import ETCD, KUBERNETES, GoMod


def _base(name: str, title: str, module: str, program: str) -> Part:
    return Part(name, title, module, None, program, {}, "", None, None, None, None, (), (), {}, {})


_ETCD = _base("etcd", "etcd", ETCD, "etcd")
_KUBERNETES = _base("kubernetes", "Kubernetes", KUBERNETES, "kube-apiserver")
# In the order in which they are started.
ALL = (_ETCD, _KUBERNETES, IRONIC, *RENDERED)
NAMES = tuple(part.name for part in ALL)


def versions(pins: GoMod, ironic: str | None) -> dict[str, str | None]:
    """Return part's name → the version that it is brought to.

    :param pins: of the engine
    :param ironic: version of Ironic, or None when nothing says which
    """
    found: dict[str, str | None] = dict((part.name, pins.version(part.module)) for part in ALL if pins.has(part.module))
    found[IRONIC.name] = ironic
    return found
