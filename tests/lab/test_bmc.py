# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight and discovery against the lab's BMCs: what is right, what is wrong, and from addresses to an inventory."""
from __future__ import annotations

import pytest
from bmc_certificates import issue
from bmc_system import credential
from fakes.redfish import FakeRedfish, hostile_tree
from unknown_machine import expressions, local_inventory

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory


@pytest.fixture(scope="module")
def victims(lab):
    """The names of four hosts, one for each fault; the second stands for the fourth's server once more.

    So there are servers without a fault in the smallest lab too.
    """
    last = sorted(lab.servers)[-3:]
    return [last[0], "mistyped", *last[1:]]


@pytest.fixture(scope="module")
def faulty(lab, room, victims):
    """One preflight of all servers and one more host, four of them with a fault each."""
    wrong_password, wrong_system, silent, wrong_mac = victims
    bmc = lab.servers[wrong_mac]["bmc"]
    username, password = (f"{{{{ lookup('ansible.builtin.file', '{bmc[name + '_file']}') }}}}"
                          for name in ("username", "password"))
    before = lab.versions()
    room.set_knobs(silent, bmc_unreachable=True)
    try:
        run = lab.playbook("preflight", "-i", lab.inventory({
            wrong_password: {"bmc_password": "not-for-eyes"},
            wrong_system: {"bmc_address": bmc["address"][:-4] + "0000", "boot_mac": "00:5c:52:ff:ff:02",
                           "bmc_username": username, "bmc_password": password},
            wrong_mac: {"boot_mac": "00:5c:52:ff:ff:01"}}))
    finally:
        room.set_knobs(silent, bmc_unreachable=False)
    return run, before, lab.versions()


def test_all_servers_of_the_lab_are_ok(lab):
    run = lab.playbook("preflight").ok()
    assert run.changed() == 0
    rows = dict((line.split()[0], line.split()[1]) for line in run.output.splitlines() if line.startswith("server-"))
    # The recap has lines that begin like the table's.
    for name in lab.servers:
        assert f"{name:9}  ok " in run.output, run.output
    assert set(rows) >= set(lab.servers)


def test_all_faults_are_reported_at_once(faulty, lab, victims):
    run, before, after = faulty
    run.failed(f"4 problems at 4 of {len(lab.servers) + 1} servers, found before anything was written")
    assert before == after
    wrong_password, wrong_system, silent, wrong_mac = ("\n".join(run.output_of(name)) for name in victims)
    assert "bmc_username: found HTTP 401" in wrong_password
    assert "after one attempt" in wrong_password
    assert "bmc_address: found " in wrong_system
    for server in lab.servers.values():
        assert bmc_address.parse(server["bmc"]["address"]).system in wrong_system
    assert "bmc_address: found " in silent
    assert 'boot_mac: found "00:5c:52:ff:ff:01"' in wrong_mac
    for nic in lab.servers[victims[3]]["nics"]:
        assert f"{nic['name']} {nic['mac']}" in wrong_mac
    assert "not-for-eyes" not in run.output


def test_servers_without_a_fault_are_not_reported(faulty, lab, victims):
    sound = set(lab.servers) - set(victims)
    assert sound
    for name in sound:
        assert not [line for line in faulty[0].output.splitlines() if line.startswith(f"- {name}:")]


def test_another_certificate_authority(lab, victims, tmp_path):
    """In check mode, which asks as well; one of the two servers takes any certificate."""
    stranger = issue(tmp_path, "stranger")[0][0]
    run = lab.playbook("preflight", "--check", "--limit", f"{victims[0]},{victims[3]}", "-i", lab.inventory({
        victims[3]: {"bmc_disable_certificate_verification": True}}), extra={"preflight_ca_cert": stranger})
    run.failed("1 problem at 1 of 2 servers")
    text = "\n".join(run.output_of(victims[0]))
    assert "bmc_address: found certificate of CN=machine-room" in text
    assert "no credentials were sent" in text
    assert "not verified, as set" in "\n".join(run.output_of(victims[3]))


def test_a_boot_mode_that_the_server_is_not_set_to_is_named(lab, victims):
    run = lab.playbook("preflight", "--limit", victims[3], "-i", lab.inventory({
        victims[3]: {"bmh_boot_mode": "legacy"}}))
    assert f"- {victims[3]}: bmh_boot_mode: found boot mode UEFI, expected legacy" in run.ok().output


@pytest.mark.parametrize(("arguments", "extra", "text"), [
    ((), None, "1 problem at 1 of 2 servers"),
    (("--check",), None, "1 problem at 1 of 2 servers"),
    ((), {"enroll_preflight": True}, "2 problems at 2 of 2 servers")], ids=["login", "check mode", "all"])
def test_enrolment_tries_each_login_once_before_it_writes(lab, victims, arguments, extra, text):
    """A wrong boot MAC address is no matter of the login: found where all is checked."""
    before = lab.versions()
    run = lab.playbook("enroll", *arguments, "--limit", f"{victims[0]},{victims[3]}", "-i", lab.inventory({
        victims[0]: {"bmc_password": "not-for-eyes"}, victims[3]: {"boot_mac": "00:5c:52:ff:ff:01"}}), extra=extra)
    run.failed(text, "found before anything was written", "set enroll_preflight to none")
    assert "bmc_username: found HTTP 401" in "\n".join(run.output_of(victims[0]))
    assert "after one attempt" in run.output and "not-for-eyes" not in run.output
    assert "TASK [metal3.baremetal.hosts : " not in run.output
    assert lab.versions() == before


def test_enrolment_goes_on_where_a_bmc_can_not_be_asked_from_here(lab, victims, tmp_path):
    """Ironic may reach it: that is a warning, and nothing changes."""
    stranger = issue(tmp_path, "stranger")[0][0]
    run = lab.playbook("enroll", "--limit", victims[0], extra={"preflight_ca_cert": stranger}).ok()
    assert f"- {victims[0]}: bmc_address: found not tried: certificate of CN=machine-room" in run.output
    assert run.changed() == 0


def test_a_missing_file_of_certificates_is_reported(lab, victims):
    run = lab.playbook("preflight", "--limit", victims[0], extra={"preflight_ca_cert": "/nowhere/ca.crt"})
    run.failed("ca_cert: found \"/nowhere/ca.crt\", expected a file with certificates")


# Discovery ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An inventory folder with nothing but this machine."""
    return local_inventory(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def wanted(lab, site):
    """What discovery is given: one address, with the credentials of each server's BMC."""
    port = bmc_address.parse(next(iter(lab.servers.values()))["bmc"]["address"]).port
    return {
        **expressions(lab),
        "metal3_ca_file": str(lab.dir / "pki" / "ca.crt"),
        "discover_targets": [{"addresses": ["127.0.0.1"], "ports": [port], "username": credential(server, "username"),
                              "password": credential(server, "password")} for server in lab.servers.values()],
        "discover_schemes": ["redfish"],
        "discover_name_format": "{hostname}",
        "discover_boot_nic": "eno1",
        "discover_inventory_file": str(site / "00-discovered.yml"),
    }


@pytest.fixture(scope="module")
def discovered(lab, site, wanted):
    """The inventory after a run in check mode and a run."""
    looked = lab.playbook("discover", "--check", "--diff", inventory=site, extra=wanted).ok()
    assert sorted(path.name for path in site.iterdir()) == ["hosts.yml"]
    written = lab.playbook("discover", inventory=site, extra=wanted).ok()
    assert looked.changed() == written.changed() == 1
    return looked, written, site / "00-discovered.yml"


def test_discovery_finds_what_the_labs_inventory_says(lab, discovered):
    hosts = discovered_inventory.read(discovered[2].read_text())["baremetal"]["hosts"]
    assert sorted(hosts) == sorted(lab.servers)
    for name, server in lab.servers.items():
        # With the scheme that was asked for, whatever the lab's own inventory has.
        assert hosts[name]["bmc_address"] == "redfish://" + server["bmc"]["address"].partition("//")[2]
        assert hosts[name]["boot_mac"] == server["boot_mac"]
        facts = hosts[name]["bmc_discovered"]
        assert (facts["serial_number"], facts["model"]) == (server["serial"], server["model"])
        assert facts["nics"] == dict((nic["name"], nic["mac"]) for nic in server["nics"])


def test_check_mode_shows_what_a_run_writes(discovered):
    shown = [line[1:] for line in discovered[0].output.splitlines() if line.startswith("+") and line[:3] != "+++"]
    assert shown == discovered[2].read_text().splitlines()


def test_no_password_is_written_or_shown(discovered, wanted):
    for target in wanted["discover_targets"]:
        for text in (discovered[0].output, discovered[1].output, discovered[2].read_text()):
            assert target["password"] not in text


def test_a_second_discovery_changes_nothing(lab, discovered, site, wanted):
    """One of the BMCs refuses the password this time: its server stays as it was, and the run fails."""
    before = discovered[2].read_text()
    first, *others = wanted["discover_targets"]
    run = lab.playbook("discover", inventory=site, extra=dict(
        wanted, discover_targets=[dict(first, password="wrong"), *others]))
    run.failed(f"127.0.0.1:{first['ports'][0]}: discover_username: found HTTP 401 (Incorrect username or password), "
               "expected credentials that the BMC accepts; set discover_username and set discover_password to those of "
               "the BMC; they were tried once")
    assert run.changed() == 0
    assert discovered[2].read_text() == before


@pytest.mark.parametrize(("changes", "text"), [
    ({"discover_targets": [{"addresses": ["127.0.0.1"], "ports": [9]}]},
     "discover_addresses: found no server: 1 of 1 addresses did not answer, 0 answered without a Redfish service, "
     "expected at least one BMC; set discover_addresses, set discover_ports or set discover_transports"),
    ({"discover_ca_cert": "STRANGER"}, "found unable to get local issuer certificate, expected a certificate of "
     "an authority that is given; give the authority of its certificate as discover_ca_cert, or set "
     "discover_disable_certificate_verification"),
    ({"discover_targets": []}, "addresses: not set, expected names"),
    ({"discover_boot_nic": "eno9"}, "discover_boot_nic: found \"eno9\", expected one of eno1, eno2"),
], ids=["silent", "unknown authority", "no address", "unknown NIC"])
def test_a_discovery_that_finds_nothing_fails(lab, discovered, site, wanted, tmp_path, changes, text):
    before = discovered[2].read_text()
    if changes.get("discover_ca_cert"):
        changes = {"discover_ca_cert": issue(tmp_path, "stranger")[0][0]}
    run = lab.playbook("discover", inventory=site, extra=dict(wanted, **changes)).failed(text)
    assert run.changed() == 0
    assert discovered[2].read_text() == before


def test_a_discovery_may_find_nothing_where_that_is_allowed(lab, site, wanted):
    lab.playbook("discover", inventory=site, extra=dict(
        wanted, discover_targets=[{"addresses": ["127.0.0.1"], "ports": [9]}], discover_fail_on="none")).ok()


def test_the_inventory_that_was_found_passes_preflight(lab, discovered, site, wanted):
    run = lab.playbook("preflight", inventory=site, extra={"metal3_ca_file": wanted["metal3_ca_file"]}).ok()
    assert f"asking BMCs; {len(lab.servers)} of {len(lab.servers)} asked" in run.output


def test_what_is_set_by_hand_is_left_out(lab, tmp_path, wanted):
    """The lab's own inventory says BMC address, boot MAC address and credentials in group_vars."""
    path = tmp_path / "00-discovered.yml"
    lab.playbook("discover", extra=dict(wanted, discover_inventory_file=str(path))).ok()
    content = discovered_inventory.read(path.read_text())
    assert list(content) == ["baremetal"]
    assert sorted(content["baremetal"]["hosts"]) == sorted(lab.servers)
    assert {tuple(values) for values in content["baremetal"]["hosts"].values()} == {("bmc_discovered",)}


@pytest.mark.parametrize(("changes", "text"), [
    ({"discover_targets": [{"addresses": ["10.0.0.0/8"]}]}, "16777214 addresses, expected 1024 at most"),
    ({"discover_targets": [{"addresses": ["127.0.0.1"], "password": "hunter2"}],
      "discover_password_expression": "hunter2"}, "found the password itself"),
])
def test_refused_before_anybody_is_asked(lab, site, wanted, changes, text):
    run = lab.playbook("discover", inventory=site, extra=dict(wanted, **changes)).failed(text)
    assert "addresses looked at" not in run.output


def test_a_file_of_somebody_else_is_not_written(lab, site, wanted):
    before = (site / "hosts.yml").read_text()
    run = lab.playbook("discover", inventory=site, extra=dict(
        wanted, discover_inventory_file=str(site / "hosts.yml"), discover_targets=wanted["discover_targets"][:1]))
    run.failed("expected a file that discovery wrote")
    assert (site / "hosts.yml").read_text() == before


def test_a_hostile_bmc_beside_the_labs(lab, tmp_path, wanted):
    """Its templates are in the inventory, and what runs on that takes them as they are; see test_foreign_text.py."""
    canary = tmp_path / "canary"
    site = tmp_path / "site"
    site.mkdir()
    local_inventory(site)
    resources, template = hostile_tree(canary)
    with FakeRedfish(resources) as bmc:
        runs = [lab.playbook("discover", inventory=site, extra=dict(
            wanted, discover_inventory_file=str(site / "00-discovered.yml"), discover_boot_nic="",
            discover_username_expression="'admin'", discover_password_expression="'right'", discover_targets=[
                *wanted["discover_targets"],
                {"addresses": ["127.0.0.1"], "ports": [bmc.port], "transports": ["http"], "username": "admin",
                 "password": "right"}]))]
        runs[0].failed(f"127.0.0.1:{bmc.port}: found the BMC names /redfish/v1/Systems/")
        hosts = discovered_inventory.read((site / "00-discovered.yml").read_text())["baremetal"]["hosts"]
        name, = set(hosts) - set(lab.servers)
        assert len(hosts) == len(lab.servers) + 1
        assert hosts[name]["bmc_discovered"]["model"] == template.replace("\x1b", "\\x1b")
        runs.append(lab.playbook("preflight", "--limit", name, inventory=site, extra={
            "preflight_fail_on": "none"}).ok())
        runs.append(lab.playbook("enroll", "--check", "--diff", "--limit", name, inventory=site, extra={
            "metal3_kubeconfig": str(lab.dir / "kubeconfig"), "hosts_wait_for": "none"}).ok())
        # Discovery, preflight, and what enrolment tries before it would write.
        assert bmc.logins == [("session", True)] * 3
    assert lab.host(name) is None
    assert "\\x1b[31m{{ lookup(" in runs[1].output
    assert not [run.output for run in runs if "\x1b" in run.output]
    assert not canary.exists()
