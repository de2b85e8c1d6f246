# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves between two planes in memory that must not come as far as clusterctl."""
from __future__ import annotations

import itertools

from fakes import moves
from fakes.planes import at_once, obj

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit


def complete(monkeypatch, here):
    """Let both planes have all parts; return their versions, side → part → version, which a test may change.

    :param here: the plane that lets go
    """
    found = {"here": {"bmo": "v0.13.2", "capm3": "v1.13.0"}, "there": {"bmo": "v0.13.2", "capm3": "v1.13.0"}}

    def read(client, _definitions):
        parts = found["here" if client is here else "there"]
        return fit.Plane("v1.35.4", dict((name, fit.Found(version, f"Deployment x/{name}", "x", ()))
                                         for name, version in parts.items()), {}), []

    moves.complete(monkeypatch, read)
    return found


def ironic(namespace="baremetal-operator-system", name="ironic", replicas=1, env=(), volumes=(), mounts=()):
    item = obj("apps/v1", "Deployment", name, spec={"replicas": replicas, "template": {"spec": {
        "containers": [{"name": "ironic", "image": "quay.io/metal3-io/ironic", "env": list(env),
                        "volumeMounts": list(mounts)}], "volumes": list(volumes)}}})
    item["metadata"]["namespace"] = namespace
    return item


def attempt(here, there, check_mode=False, rehearse=rehearsal.move, **options):
    calls = []
    try:
        return service.Move(here, there, moves.move_params(**options), check_mode, Progress(None),
                            lambda *call: calls.append(call), rehearse, clock=itertools.count(0, 10).__next__,
                            sleep=lambda _seconds: None, alone=at_once).moved()
    finally:
        assert calls == [], "clusterctl was run"
