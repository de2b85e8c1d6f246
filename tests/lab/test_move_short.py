# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plane manages moves to another one and back by the real clusterctl, between API servers without controllers.

The short form of what ``make test-pivot`` does with controllers, Ironics and servers.
"""
from __future__ import annotations

import pytest
from fakes import move_planes

from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move import copies
from ansible_collections.metal3.baremetal.plugins.module_utils._move.service import Move

# Builds clusterctl when it is not there.
pytestmark = pytest.mark.pivot
NAMESPACE = "short"
HOSTS = 2
# What controllers write, who take no part.
STATUS = ("BareMetalHost", "Cluster", "Machine")


def move(servers, folder, source, target):
    params = {"namespace": NAMESPACE, "confirm": str(HOSTS), "clusterctl": move_planes.clusterctl(),
              "work_dir": str(folder), "kubeconfig": servers.kubeconfig(source), "context": None,
              "to_kubeconfig": servers.kubeconfig(target), "to_context": None, "rehearsal_programs": None,
              "reach_from": "none", "kubectl": None, "ironic_namespace": "", "ironic_deployment": ""}
    here, there = (move_planes.client(servers, name) for name in (source, target))
    return Move(here, there, params, False, Progress(None)).moved()


def test_all_objects_move_and_come_back_as_they_were(tmp_path):
    with move_planes.planes() as servers:
        here, there = (move_planes.client(servers, name) for name in ("here", "there"))
        total = move_planes.populate(here, NAMESPACE, HOSTS)
        before = move_planes.objects(here, NAMESPACE)
        assert move(servers, tmp_path, "here", "there")["changed"]
        assert move_planes.objects(here, NAMESPACE) == {} and len(move_planes.objects(there, NAMESPACE)) == total
        assert not move(servers, tmp_path, "here", "there")["changed"]
        for (_group, kind, name), item in before.items():
            if kind in STATUS:
                there.patch(KNOWN[kind], NAMESPACE, name, {"status": item["status"]}, subresource="status")
        assert move(servers, tmp_path, "there", "here")["changed"]
        after = move_planes.objects(here, NAMESPACE)
        assert set(after) == set(before) and move_planes.objects(there, NAMESPACE) == {}
        for key, item in before.items():
            assert copies.differences(item, after[key]) == ([], []), key
