# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks for hosts report each server's result under its own name, and ask the API server once for all."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.api_server import DELETE, FAULTS, LIST, WRITE, ApiServer, kubeconfig_of
from fakes.redfish import FakeRedfish, tree

NAMES = ("h1", "h2", "h3")
TO_ENROL = ("metal3.baremetal.enroll", "-e", "enroll_preflight=none", "-e", "hosts_wait_for=none")
TO_DELETE = ("metal3.baremetal.unenroll", "-e", "hosts_wait_timeout_seconds=30")


@pytest.fixture
def run(tmp_path):
    """Yield a callable that runs a playbook against one API server, and the server."""
    hosts = dict((name, {"bmc_address": f"redfish://192.0.2.1/redfish/v1/Systems/{name}",
                         "boot_mac": f"00:5c:52:00:00:0{name[1]}"}) for name in NAMES)
    with ApiServer() as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        inventory = json.dumps({"all": {
            "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                     "metal3_kubeconfig": str(tmp_path / "kubeconfig"), "bmc_username": "u", "bmc_password": "p"},
            "children": {"baremetal": {"hosts": hosts}, "elsewhere": {"hosts": {"o1": None}}}}})

        def play(*arguments, text=""):
            code, output = playbook.play(tmp_path, inventory, text, *arguments)
            return code, output, playbook.recap_of_group(output)
        yield play, server


def test_the_recap_says_which_servers_changed(run):
    play, server = run
    code, output, recap = play(*TO_ENROL, "--limit", "h1,h2")
    assert code == 0 and recap == {"h1": (1, 0), "h2": (1, 0)}, output
    lists = [item for item in server.requests if item.kind == LIST and item.path.endswith("/baremetalhosts")]
    assert len(lists) == 1
    code, output, recap = play(*TO_ENROL)
    assert code == 0 and recap == {"h1": (0, 0), "h2": (0, 0), "h3": (1, 0)}, output
    code, output, recap = play(*TO_DELETE, "--limit", "h3", "-e", "metal3_confirm=1")
    assert code == 0 and recap == {"h3": (1, 0)}, output
    code, output, recap = play(*TO_DELETE, "--limit", "h1,h2", "-e", "metal3_confirm=2")
    assert code == 0 and recap == {"h1": (1, 0), "h2": (1, 0)}, output


def test_each_server_that_failed_says_why_and_ends_the_run(run):
    play, dummy = run
    waiting = ("-e", "hosts_wait_for=available", "-e", "hosts_wait_timeout_seconds=1")
    code, output, recap = play(*TO_ENROL[:3], *waiting, "--limit", "h1,h2")
    assert code != 0 and recap == {"h1": (0, 1), "h2": (0, 1)}, output
    for name in ("h1", "h2"):
        assert f"\n- {name} (new): not available within 1 s" in output
    # What is refused before anything is written concerns the list, and stays with the task that has it.
    code, output, recap = play(*TO_ENROL, "-e", "bmh_unknown=1")
    assert code != 0 and "nothing was" in output and "Report the result" not in output, output


def test_check_mode_shows_each_servers_differences(run):
    """The bulk task is unchanged then, and Ansible prints the differences of changed tasks only."""
    play, server = run
    assert play(*TO_ENROL)[0] == 0
    seen = len(server.requests)
    labels = json.dumps({"bmh_labels": {"rack": "r7"}})
    code, output, recap = play(*TO_ENROL, "--check", "--diff", "--limit", "h2,h3", "-e", labels)
    assert code == 0 and recap == {"h2": (1, 0), "h3": (1, 0)}, output
    report = output.partition("TASK [Report the result of each server]")[2]
    assert report.count("rack: r7") == 2, output
    written = [item for item in server.requests[seen:] if item.kind == WRITE]
    assert all(item.query.get("dryRun") == "All" for item in written), written


def test_serial_works_in_batches(run):
    play, dummy = run
    text = json.dumps([{
        "hosts": "baremetal", "gather_facts": False, "serial": 2, "tasks": [
            {"ansible.builtin.include_role": {"name": "metal3.baremetal.hosts"}, "run_once": True,
             "vars": {"hosts_wait_for": "none", "hosts_report_each": True}},
            {"metal3.baremetal.host_result": {}}]}])
    code, output, recap = play("play.yml", text=text)
    assert code == 0 and recap == {"h1": (1, 0), "h2": (1, 0), "h3": (1, 0)}, output
    assert "writing 2 of 2 hosts" in output and "writing 1 of 1 hosts" in output


def test_servers_outside_the_play_are_reported_by_the_role(run):
    play, dummy = run
    text = json.dumps([{
        "hosts": "o1", "gather_facts": False, "tasks": [
            {"ansible.builtin.include_role": {"name": "metal3.baremetal.hosts"}, "run_once": True,
             "vars": {"hosts_wait_for": "available", "hosts_wait_timeout_seconds": 1, "hosts_report_each": True}},
            {"metal3.baremetal.host_result": {}}]}])
    code, output, recap = play("play.yml", text=text)
    assert code != 0 and recap == {"o1": (0, 1)} and "3 of 3 hosts failed" in output, output


def test_a_step_that_fails_for_one_server_is_the_last_and_reported_there(run):
    """Of firmware.yml, whose first step writes a policy for each server."""
    play, server = run
    assert play(*TO_ENROL)[0] == 0
    server.fault = lambda request: FAULTS["403"] if request.kind == WRITE and "hostupdatepolicies" in request.path \
        and '"h2"' in json.dumps([request.path.rpartition("/")[2], request.body]) else None
    policy = json.dumps({"bmh_update_policy": {"firmware_settings": "onReboot"}})
    code, output, recap = play("metal3.baremetal.firmware", "--limit", "h1,h2", "-e", policy)
    assert code != 0 and recap == {"h1": (1, 0), "h2": (0, 1)}, output
    after = output.partition("TASK [metal3.baremetal.hosts : Ask for the BIOS settings]")[2]
    assert after.lstrip(" *\n").startswith("skipping: "), output


@pytest.mark.parametrize("arguments", [
    # Hosts that could not be detached would be wiped by what follows.
    ("metal3.baremetal.unenroll", "-e", "hosts_remove_by=detach"),
    ("metal3.baremetal.provision", "-e", "hosts_reprovision=true", "-e", "hosts_check_images=false", "-e",
     json.dumps({"bmh_image": {"url": "https://192.0.2.1/canary.raw", "format": "raw", "checksum": "0" * 64,
                               "checksum_type": "sha256"}}))], ids=["unenroll", "provision"])
def test_nothing_follows_a_step_that_failed(run, arguments):
    """No operator works here, so that the first step ends in its timeout at each server."""
    play, server = run
    assert play(*TO_ENROL)[0] == 0
    state = "available" if "unenroll" in arguments[0] else "provisioned"
    for path in set(path for path, dummy in server.stored if path.endswith(("baremetalhosts/h1", "baremetalhosts/h2"))):
        server.set_status(path, {"provisioning": {"state": state}, "operationalStatus": "OK", "poweredOn": False})
    code, output, recap = play(*arguments, "--limit", "h1,h2", "-e", "metal3_confirm=2", "-e",
                               "hosts_wait_timeout_seconds=1")
    assert code != 0 and recap == {"h1": (0, 1), "h2": (0, 1)}, output
    assert server.of_kind(DELETE) == []
    assert "canary" not in json.dumps([request.body for request in server.of_kind(WRITE)])


def test_a_preflight_fails_for_the_server_that_has_the_problem(run):
    play, server = run
    with FakeRedfish(tree("dell")) as bmc:
        address = f"idrac-virtualmedia+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1"
        given = ("-e", json.dumps({"bmc_address": address, "bmc_username": "admin", "enroll_preflight": "login",
                                   "preflight_checks": "login",
                                   "bmc_password": "{{ 'wrong' if inventory_hostname == 'h2' else 'right' }}"}))
        for name in ("preflight", "enroll"):
            code, output, recap = play(f"metal3.baremetal.{name}", "--limit", "h1,h2", *given)
            assert code != 0 and recap == {"h1": (0, 0), "h2": (0, 1)}, output
            assert "- h2: " in output and "HTTP 401" in output and "- h1" not in output
    assert server.of_kind(WRITE) == []


@pytest.mark.parametrize("preflight, variable, value", [
    ("none", "bmc_address", "redfish://{{ known[inventory_hostname] }}/redfish/v1/Systems/1"),
    ("none", "bmh_network_data", {"links": [{"id": "{{ known[inventory_hostname] }}"}]}),
    ("login", "bmc_password", "{{ known[inventory_hostname] }}")])
def test_a_server_one_of_whose_variables_cannot_be_templated_is_named(run, preflight, variable, value):
    """Of forty servers that share a group's variables one lacks what they are made of."""
    play, server = run
    given = {variable: value, "known": {"h1": "192.0.2.1", "h3": "192.0.2.3"}, "enroll_preflight": preflight}
    code, output, dummy = play("metal3.baremetal.enroll", "-e", json.dumps(given))
    text = " ".join(output.split())
    assert code != 0 and f"h2: {variable}: found what cannot be templated (" in text, output
    assert f"expected a value; define what it is made of, or leave out {variable}" in text, output
    assert f"h1: {variable}" not in text and f"h3: {variable}" not in text, output
    assert server.requests == []


def test_an_empty_image_takes_a_server_out_of_those_of_its_group(run):
    play, dummy = run
    assert play(*TO_ENROL)[0] == 0
    image = json.dumps({"bmh_image": "{{ {} if inventory_hostname == 'h2' else image }}", "image": {
        "url": "http://192.0.2.1/a.raw", "format": "raw", "checksum": "0" * 64, "checksum_type": "sha256"}})
    code, output, recap = play("metal3.baremetal.provision", "-e", image, "-e", "hosts_check_images=false", "--check")
    assert code == 0 and recap == {"h1": (1, 0), "h2": (0, 0), "h3": (1, 0)}, output
    assert "Left out, as they have neither bmh_image nor bmh_custom_deploy: h2" in output


def test_check_mode_does_not_say_what_an_inspection_has_found(run):
    play, server = run
    assert play(*TO_ENROL)[0] == 0
    for path in [path for path, dummy in server.stored if "/baremetalhosts/h" in path]:
        server.set_status(path, {"provisioning": {"state": "available"}, "operationalStatus": "OK", "poweredOn": False})
    code, output, recap = play("metal3.baremetal.inspect", "--check")
    assert code == 0 and recap == dict.fromkeys(NAMES, (1, 0)), output
    assert "same as before" not in output


def test_a_server_in_use_is_not_said_to_be_deprovisioned(run):
    play, server = run
    image = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}
    consumer = {"kind": "Metal3Machine", "namespace": "metal3", "name": "m1"}
    server.put({"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
                "metadata": {"name": "h1", "namespace": "metal3", "uid": "u1"},
                "spec": {"online": True, "image": image, "consumerRef": consumer, "bootMACAddress": "00:5c:52:00:00:01",
                         "bmc": {"address": "redfish://192.0.2.1/redfish/v1/Systems/h1", "credentialsName": "h1-bmc"}},
                "status": {"operationalStatus": "OK", "poweredOn": True, "provisioning": {
                    "state": "provisioned", "image": image}}})
    code, output, dummy = play("metal3.baremetal.deprovision_hosts", "--limit", "h1", "-e", "metal3_confirm=1",
                               "-e", "hosts_wait_timeout_seconds=5")
    assert code != 0, output
    assert "h1: bmh_image: found a change of a host in use by Metal3Machine metal3/m1" in output, output
    assert [item for item in server.of_kind(WRITE) if item.query.get("dryRun") != "All"] == []
