# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that begins at a later task, as after a failure, destroys and interrupts nothing that is not confirmed."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.api_server import DELETE, WRITE, ApiServer, kubeconfig_of

NAMES = ("h1", "h2")
IMAGE = {"url": "https://198.18.0.1/a.raw", "checksum": "0" * 64, "checksumType": "sha256"}
DEPROVISION = ("metal3.baremetal.deprovision_hosts", "--start-at-task", "Remove the image from the servers")
PROVISION = ("metal3.baremetal.provision", "-e", "hosts_reprovision=true", *DEPROVISION[1:])
POWER_OFF = ("metal3.baremetal.host_action", "-e", "host_action=power_off", "--start-at-task", "Act on the servers")
DETACH = ("metal3.baremetal.unenroll", "--start-at-task", "Detach the hosts")
DRAIN = ("metal3.baremetal.maintain", "-e", "maintain=reboot", "--start-at-task",
         "Maintain the servers round by round")
REMOVE = ("metal3.baremetal.unenroll", "-e", "hosts_remove_by=delete", "--start-at-task", "Delete the hosts")


def provisioned(name):
    """Return a host with a system."""
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
            "metadata": {"name": name, "namespace": "metal3", "uid": f"uid-{name}"},
            "spec": {"online": True, "image": IMAGE, "bootMACAddress": f"00:5c:52:00:00:0{name[1]}", "bmc": {
                "address": f"redfish://192.0.2.1/redfish/v1/Systems/{name}", "credentialsName": f"{name}-bmc"}},
            "status": {"operationalStatus": "OK", "poweredOn": True, "errorMessage": "", "provisioning": {
                "state": "provisioned", "ID": f"id-{name}", "image": IMAGE}}}


@pytest.fixture(name="run")
def run_against_server(tmp_path):
    """Yield a callable that runs a playbook, and returns its exit code, what it wrote, and what it printed."""
    with ApiServer([provisioned(name) for name in NAMES]) as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        inventory = json.dumps({"all": {
            "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                     "metal3_kubeconfig": str(tmp_path / "kubeconfig"), "bmc_username": "admin",
                     "bmc_password": "of-a-test", "bmh_image": {"url": IMAGE["url"], "checksum": IMAGE["checksum"]}},
            "children": {"baremetal": {"hosts": dict((name, {
                "bmc_address": f"redfish://192.0.2.1/redfish/v1/Systems/{name}",
                "boot_mac": f"00:5c:52:00:00:0{name[1]}"}) for name in NAMES)}}}})

        def play(*arguments):
            code, output = playbook.play(tmp_path, inventory, "", *arguments, "-e", "hosts_wait_timeout_seconds=1")
            written = [item for item in server.of_kind(WRITE, DELETE) if item.path.rpartition("/")[0].endswith(
                "/baremetalhosts") and item.query.get("dryRun") != "All"]
            return code, written, " ".join(output.split())
        yield play


@pytest.mark.parametrize("arguments", [DEPROVISION, PROVISION, POWER_OFF, DETACH, REMOVE, DRAIN],
                         ids=["deprovision", "provision", "power off", "detach", "delete", "drain"])
def test_a_run_that_begins_after_the_question_is_refused(run, arguments):
    for given in ([], ["-e", "metal3_confirm=1"]):
        code, written, output = run(*arguments, *given)
        assert code and written == [], output
        assert "To continue, set metal3_confirm=" in output, output


@pytest.mark.parametrize("arguments", [DEPROVISION, POWER_OFF], ids=["deprovision", "power off"])
def test_with_the_number_it_goes_on(run, arguments):
    dummy, written, output = run(*arguments, "-e", "metal3_confirm=2")
    assert {item.path.rpartition("/")[2] for item in written} == set(NAMES), output


@pytest.mark.parametrize("arguments", [DEPROVISION, POWER_OFF], ids=["deprovision", "power off"])
def test_check_mode_asks_for_nothing(run, arguments):
    code, written, output = run(*arguments, "--check")
    assert code == 0 and written == [], output


IMAGE_SERVER = ("metal3.baremetal.image_server", "-e", "image_server_state=absent", "-e",
                '{"image_server_addresses": ["127.0.0.1"], "image_server_name": "m3none"}')
NETWORK = ("metal3.baremetal.provisioning_network", "-e", "provisioning_network_state=absent", "-e",
           "provisioning_network_name=m3none")


# Nothing of these names is on any machine.
@pytest.mark.parametrize(("arguments", "begin", "machines", "given"), [
    (IMAGE_SERVER, "Look for the service", "one", []), (IMAGE_SERVER, "Remove its files", "one", []),
    (IMAGE_SERVER, "Remove its files", "one,two", ["-e", "metal3_confirm=m3none"]),
    (NETWORK, "Look for the service of an earlier run", "one", []),
    (NETWORK, "Forget what another plane has", "one,two", ["-e", "metal3_confirm=m3none"])])
def test_a_machine_s_service_does_not_end_either(tmp_path, arguments, begin, machines, given):
    inventory = json.dumps({"all": {
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "children": {"management": {"hosts": dict.fromkeys(machines.split(","))}}}})
    code, output = playbook.play(tmp_path, inventory, "", *arguments, "--start-at-task", begin, *given)
    words = " ".join(output.split())
    assert code and "metal3_confirm=m3none" in words and "changed=0" in words and "changed=1" not in words, output
