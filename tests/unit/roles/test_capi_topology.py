# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role capi: the feature gate for ClusterClasses, as processes and as pods, off unless it is asked for."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook

REPOSITORY = Path(__file__).resolve().parents[3]
ROLE = REPOSITORY / "roles" / "capi"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
GIVEN = {"replicas": 2, "feature_gates": {"MachinePool": False}}


@pytest.mark.parametrize("options", [{}, GIVEN])
@pytest.mark.parametrize("is_on", [True, False])
def test_the_gate_is_given_to_the_parts_that_know_it(tmp_path, is_on, options):
    path = tmp_path / "shown.json"
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": {}, "capi_options": options, "capi_cluster_topology": is_on}, "tasks": [
        {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"copy": {"content": "{{ {'arguments': capi_feature_gates, 'parts': capi_parts} | to_json }}",
                  "dest": str(path), "mode": "0600"}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0, output
    shown = json.loads(path.read_text())
    gate = {"ClusterTopology": True} if is_on else {}
    wanted = dict((name, dict(options, name=name)) for name in ("capi", "cabpk", "kcp"))
    for name in ("capi", "kcp") if is_on else ():
        wanted[name]["feature_gates"] = {**options.get("feature_gates", {}), **gate}
    assert dict((part["name"], part) for part in shown["parts"]) == wanted
    assert shown["arguments"] == "--feature-gates=ReconcilerRateLimiting=false" + (
        ",ClusterTopology=true" if is_on else "")


def test_it_is_off_as_upstream_has_it():
    assert "capi_cluster_topology: false\n" in (ROLE / "defaults" / "main.yml").read_text()
