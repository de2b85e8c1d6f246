# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The step ``firmware`` of playbook ``maintain``: whom it leaves alone, what it refuses first, how it fails."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.api_server import FAULTS, WRITE, ApiServer, kubeconfig_of

VARIABLES = playbook.ROOT / "roles" / "maintenance" / "vars" / "main.yml"
FORMER, OTHER = "https://198.18.0.1/former.fw", "https://198.18.0.1/other.fw"
MARK = "metal3.baremetal/maintenance"
MAINTAIN = ("metal3.baremetal.maintain", "-e", "maintain=firmware", "-e", "metal3_confirm=h1,h2")


def objects(name):
    """Return a server in use, in no cluster, whose BIOS was flashed, and what BMO has for it."""
    metadata = {"name": name, "namespace": "metal3", "generation": 1}
    conditions = [{"type": kind, "status": status, "observedGeneration": 1, "reason": "x", "message": ""}
                  for kind, status in (("ChangeDetected", "False"), ("Valid", "True"))]
    updates = [{"component": "bios", "url": FORMER}]
    return [
        {"kind": "BareMetalHost", "metadata": metadata, "spec": {"online": True}, "status": {
            "operationalStatus": "OK", "poweredOn": True, "provisioning": {"state": "provisioned"}}},
        {"kind": "HostFirmwareSettings", "metadata": metadata, "spec": {"settings": {"Turbo": "On"}}, "status": {
            "settings": {"Turbo": "On"}, "conditions": conditions, "schema": {"name": name, "namespace": "metal3"}}},
        {"kind": "FirmwareSchema", "metadata": metadata, "spec": {"schema": {
            "Turbo": {"attribute_type": "Enumeration", "allowable_values": ["On", "Off"]}}}},
        {"kind": "HostFirmwareComponents", "metadata": metadata, "spec": {"updates": updates}, "status": {
            "updates": updates, "conditions": conditions, "components": [{"component": "bios"}]}},
        {"kind": "HostUpdatePolicy", "metadata": metadata, "spec": {
            "firmwareSettings": "onReboot", "firmwareUpdates": "onReboot"}}]


@pytest.fixture(name="run")
def run_against_server(tmp_path):
    """Yield a callable that runs the playbook and returns its status, output and recap, and the server."""
    with ApiServer([dict(item, apiVersion="metal3.io/v1alpha1") for name in ("h1", "h2")
                    for item in objects(name)]) as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))

        def play(*arguments, changes=None):
            wanted = {"bmh_firmware_settings": {"Turbo": "On"}, "bmh_firmware_components": [
                {"component": "bios", "url": FORMER}], "bmh_update_policy": {
                    "firmware_settings": "onReboot", "firmware_updates": "onReboot"}}
            inventory = json.dumps({"all": {
                "vars": dict(wanted, ansible_connection="local", metal3_kubeconfig=str(tmp_path / "kubeconfig"),
                             ansible_python_interpreter="{{ ansible_playbook_python }}"),
                "children": {"baremetal": {"hosts": {"h1": changes or {}, "h2": {}}}}}})
            code, output = playbook.play(tmp_path, inventory, "", *MAINTAIN, *arguments)
            return code, " ".join(output.split()), playbook.recap_of_group(output)
        yield play, server


def path_of(name):
    """Return the path of a host."""
    return f"/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts/{name}"


def written(server):
    """Return what the run has written, without dry runs."""
    return [item.path.rpartition("namespaces/metal3/")[2] for item in server.of_kind(WRITE)
            if item.query.get("dryRun") != "All"]


def test_servers_on_which_nothing_is_to_change_are_left_alone(run):
    play, server = run
    code, output, recap = play()
    assert code == 0 and recap == {"h1": (0, 0), "h2": (0, 0)} and written(server) == [], output
    assert "h1: nothing is to change, so that nothing is drained or rebooted" in output


@pytest.mark.parametrize("changes", [
    {"bmh_firmware_settings": {"Turbo": "Off"}, "bmh_update_policy": {"firmware_settings": "onPreparing"}},
    {"bmh_firmware_components": [{"component": "bios", "url": OTHER}],
     "bmh_update_policy": {"firmware_updates": "onPreparing"}},
    {"bmh_update_policy": {"firmware_updates": "onPreparing"}}, {"bmh_firmware_components": []}])
def test_one_of_which_a_reboot_changes_nothing_is_left_alone(run, changes):
    play, server = run
    code, output, recap = play(changes=changes)
    assert code == 0 and recap == {"h1": (0, 0), "h2": (0, 0)} and written(server) == [], output
    assert "h1: a reboot changes nothing of what differs" in output
    assert "h2: nothing is to change, so that nothing is drained or rebooted" in output


def test_one_that_an_earlier_run_has_left_drained_is_given_back(run):
    play, server = run
    server.annotate(path_of("h1"), **{MARK: "maintenance"})
    code, output, recap = play()
    assert code == 0 and recap["h2"] == (0, 0) and recap["h1"][0] == 1, output
    assert set(written(server)) == {"baremetalhosts/h1"}
    assert MARK not in json.dumps([item for path, item in server.stored if path == path_of("h1")][-1])


def test_a_mistake_is_refused_before_anything_is_drained(run):
    play, server = run
    code, output, dummy = play(changes={"bmh_firmware_settings": {"Turbi": "Off"}})
    assert code != 0 and "perhaps Turbo is meant" in output and written(server) == [], output


def test_a_host_that_there_is_not_is_refused(run):
    play, server = run
    code, output, dummy = play("-e", json.dumps({"maintenance_names": ["h9"], "metal3_confirm": "h1,h2,h9"}))
    assert code != 0 and "h9" in output and written(server) == [], output


def test_what_fails_after_the_drain_says_what_the_server_is_left_as(run):
    play, server = run
    server.fault = lambda request: FAULTS["403"] if request.kind == WRITE and "hostfirmwarecomponents" in request.path \
        and request.query.get("dryRun") != "All" else None
    code, output, recap = play(changes={"bmh_firmware_components": [{"component": "bios", "url": OTHER}]})
    assert code != 0 and recap["h1"][1] == 1, output
    assert written(server)[0] == "baremetalhosts/h1"
    said = ("h1: the step firmware failed, for the reason above. The servers stay marked as being maintained. Correct "
            "the cause and run maintain=firmware again, or give them back as they are by maintain=return.")
    assert said in output
    # The one after it is not begun.
    assert "baremetalhosts/h2" not in written(server)


def test_nodes_that_stay_cordoned_are_named(tmp_path):
    drained = {"hosts": [{"name": "h1", "node": "n1"}, {"name": "h2", "node": None}]}
    text = json.dumps([{
        "hosts": "localhost", "gather_facts": False, "vars_files": [str(VARIABLES)],
        "vars": {"maintenance_step": "reboot", "maintenance_round": ["h1", "h2"], "maintenance_drained": drained},
        "tasks": [{"debug": {"msg": "{{ maintenance_failure }}"}}]}])
    code, output = playbook.play(tmp_path, "", text, "play.yml")
    said = ("h1, h2: the step reboot failed, for the reason above. The servers stay marked as being maintained, and "
            "their nodes cordoned: n1. Correct the cause and run maintain=reboot again, ")
    assert code == 0 and said in " ".join(output.split()), output
