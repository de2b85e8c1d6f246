# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which parts playbook uninstall removes, from which namespaces and by which manifests: those of the inventory."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

PLAYBOOK = Path(__file__).resolve().parents[3] / "playbooks" / "uninstall.yml"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
ALL = ["capi", "cabpk", "kcp", "ipam", "bmo", "capm3"]
PLAY = ansible_yaml.read(PLAYBOOK)[-1]
REMOVAL = next(task for task in PLAY["tasks"] if "metal3.baremetal.plane_components" in task)
RENDERING = [task for task in PLAY["tasks"] if (task.get("ansible.builtin.import_role") or {}).get(
    "tasks_from") == "render"]


def given(folder, tasks, **variables):
    """Return what the parts are removed by, after some of the playbook's tasks, and the output."""
    call = REMOVAL["metal3.baremetal.plane_components"]
    path = folder / "given.json"
    wanted = dict((name, call[name]) for name in ("parts", "with_ironic", "ironic_namespace"))
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": PLAY["vars"], "tasks": [
        *tasks, {"ansible.builtin.copy": {"content": "{{ wanted | to_json }}", "dest": str(path), "mode": "0600"},
                 "vars": {"wanted": wanted}}]}])
    plane = dict({"mode": "cluster"}, **variables.pop("plane", {}))
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(
        dict({"management_plane": plane}, **variables)))
    assert code == 0, output
    return json.loads(path.read_text()), output


def variables_alone():
    """Return the playbook's imports of roles, of which nothing runs."""
    return [dict(task, when=False) for task in RENDERING]


@pytest.mark.parametrize(("variables", "kept"), [
    ({}, []), ({"capi_mode": "cluster"}, []), ({"capi_mode": "external"}, ["capi", "cabpk", "kcp"]),
    ({"ipam_mode": "external", "bmo_mode": "external"}, ["ipam", "bmo"]), ({"capm3_mode": "external"}, ["capm3"])])
def test_parts_of_others_are_left_out(tmp_path, variables, kept):
    found, _output = given(tmp_path, variables_alone(), **variables)
    assert [part["name"] for part in found["parts"]] == [name for name in ALL if name not in kept]


@pytest.mark.parametrize(("variables", "goes"), [
    ({}, True), ({"ironic_mode": "cluster"}, True), ({"ironic_url": "https://192.0.2.1:6385"}, False),
    ({"ironic_mode": "cluster", "ironic_by": "operator"}, False)])
def test_credentials_of_an_ironic_that_this_plane_did_not_install_stay(tmp_path, variables, goes):
    forget = next(task for task in PLAY["tasks"] if (task.get("ansible.builtin.import_role") or {}).get(
        "tasks_from") == "forget")
    _found, output = given(tmp_path, [*variables_alone(), {"debug": {"msg": "forgotten"}, "when": forget["when"]}],
                           **variables)
    assert ("forgotten" in output) is goes


def test_parts_are_looked_for_in_the_namespaces_that_they_were_installed_into(tmp_path):
    found, _output = given(tmp_path, variables_alone(), plane={"options": {"namespace": "plane"}},
                           ipam_options={"namespace": "addresses"}, bmo_options={"namespace": "metal"})
    assert dict((part["name"], part["namespace"]) for part in found["parts"]) == dict(
        dict.fromkeys(ALL, "plane"), ipam="addresses", bmo="metal")
    assert found["ironic_namespace"] == "metal"


def test_a_parts_own_manifests_name_its_objects(tmp_path):
    options = {"manifests": "/releases/ipam.yaml", "version": "v1.13.1", "checksum": "sha256:" + "0" * 64}
    found, _output = given(tmp_path, variables_alone(), ipam_options=options)
    part = next(item for item in found["parts"] if item["name"] == "ipam")
    assert dict(part, name="ipam") == dict(options, name="ipam") and found["with_ironic"]


def test_without_rendered_manifests_there_is_no_ironic_to_remove(tmp_path):
    own = dict((f"{name}_options", {"manifests": f"/{name}.yaml"}) for name in ("capi", "ipam", "bmo", "capm3"))
    assert not given(tmp_path, variables_alone(), **own)[0]["with_ironic"]
    assert given(tmp_path, variables_alone(), ironic_mode="cluster", **own)[0]["with_ironic"]


def test_manifests_are_rendered_first_from_the_archive_of_the_site(tmp_path, monkeypatch):
    """On a machine whose cache has none; the archive is empty here, so that its name is all that comes of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = tmp_path / "archive"
    archive.mkdir()
    assert [task["ansible.builtin.import_role"]["name"].rpartition(".")[2] for task in RENDERING] == [
        "cert_manager", "capi", "ipam", "bmo", "capm3", "ironic"]
    assert all(PLAY["tasks"].index(task) < PLAY["tasks"].index(REMOVAL) for task in RENDERING)
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": PLAY["vars"], "tasks": RENDERING}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
        {"management_plane": {"mode": "cluster", "manifests_dir": str(archive)}}))
    assert code and str(archive) in output, output
