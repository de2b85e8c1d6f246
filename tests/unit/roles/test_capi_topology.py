# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role capi: feature gates as processes and as pods; the one for ClusterClasses is off unless it is asked for."""
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


def shown(tmp_path, options, expression, is_on=False, plane=None):
    """Return what an expression of the role's variables gives, as text, or what is printed when it gives nothing.

    :param is_on: ``capi_cluster_topology``
    """
    path = tmp_path / "shown"
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": plane or {}, "capi_options": options, "capi_cluster_topology": is_on}, "tasks": [
        {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"copy": {"content": "{{ %s }}" % expression, "dest": str(path), "mode": "0600"}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    return code, output if code else path.read_text()


@pytest.mark.parametrize("options", [{}, GIVEN], ids=["none", "given"])
@pytest.mark.parametrize("is_on", [True, False])
def test_the_gate_is_given_to_the_parts_that_know_it(tmp_path, is_on, options):
    code, text = shown(tmp_path, options, "{'arguments': capi_feature_gates, 'parts': capi_parts} | to_json", is_on)
    assert code == 0, text
    found = json.loads(text)
    gate = {"ClusterTopology": True} if is_on else {}
    wanted = dict((name, dict(options, name=name)) for name in ("capi", "cabpk", "kcp"))
    for name in ("capi", "kcp") if is_on else ():
        wanted[name]["feature_gates"] = {**options.get("feature_gates", {}), **gate}
    assert dict((part["name"], part) for part in found["parts"]) == wanted
    # Without gates of the site's the same text as ever: another one starts the managers again.
    assert found["arguments"] == "--feature-gates=ReconcilerRateLimiting=false" + (
        ",MachinePool=false" if options else "") + (",ClusterTopology=true" if is_on else "")


@pytest.mark.parametrize(("options", "plane", "expected"), [
    ({"feature_gates": {"A": "yes", "B": "false"}}, {}, "ReconcilerRateLimiting=false,A=true,B=false"),
    ({"feature_gates": {"ReconcilerRateLimiting": True}}, {}, "ReconcilerRateLimiting=true"),
    ({}, {"options": {"feature_gates": {"A": True}}}, "ReconcilerRateLimiting=false,A=true"),
    ({"feature_gates": {"B": True}}, {"options": {"feature_gates": {"A": True}}},
     "ReconcilerRateLimiting=false,B=true"),
    ({"feature_gates": None}, {"options": None}, "ReconcilerRateLimiting=false"),
], ids=["texts", "the role's own", "of all parts", "of one part", "none"])
def test_processes_have_the_gates_of_the_site(tmp_path, options, plane, expected):
    """A site whose bootstrap plane makes the cluster that manages it describes them once for both."""
    code, text = shown(tmp_path, options, "capi_feature_gates", plane=plane)
    assert code == 0 and text == "--feature-gates=" + expected, text


def test_a_gate_that_is_neither_on_nor_off_ends_the_run(tmp_path):
    code, output = shown(tmp_path, {"feature_gates": {"A": "ture"}}, "capi_feature_gates")
    assert code and 'found "ture", expected true or false' in " ".join(output.split())


def test_it_is_off_as_upstream_has_it():
    assert "capi_cluster_topology: false\n" in (ROLE / "defaults" / "main.yml").read_text()
