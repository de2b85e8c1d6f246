# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job: servers of the inventory become hosts, once, and stay as they are."""
from __future__ import annotations

from support import asked_of

SETTLED = ("available", "provisioned")


def test_every_server_is_a_host_with_the_hardware_it_has(lab):
    hosts = lab.hosts()
    assert sorted(hosts) == sorted(lab.servers)
    for name, server in lab.servers.items():
        status = hosts[name]["status"]
        assert status["provisioning"]["state"] in SETTLED, name
        hardware = status["hardware"]
        assert hardware["cpu"]["count"] == server["cpus"]
        assert hardware["ramMebibytes"] == server["memory_mib"]
        assert sorted(nic["mac"] for nic in hardware["nics"]) == sorted(nic["mac"] for nic in server["nics"])
        assert sorted(disk["serialNumber"] for disk in hardware["storage"]) == \
            sorted(disk["serial"] for disk in server["disks"])


def test_ironic_has_each_server_once(lab):
    nodes = lab.ironic().nodes(details=True)
    assert sorted(node.name for node in nodes) == sorted("metal3~" + name for name in lab.servers)


def test_a_second_run_changes_nothing_and_check_mode_agrees(lab):
    again = lab.playbook("site").ok()
    assert again.changed() == 0, again.output
    check = lab.playbook("site", "--check", "--diff").ok()
    assert check.changed() == 0, check.output
    assert "+++" not in check.output


def test_check_mode_reports_a_change_without_making_it(lab):
    before = asked_of(lab.host("server-02"))
    label = ("--limit", "server-02", "-e", '{"bmh_labels": {"rack": "r7"}}')
    check = lab.playbook("enroll", "--check", "--diff", *label).ok()
    assert check.changed() == 1, check.output
    assert "rack: r7" in check.output
    assert asked_of(lab.host("server-02")) == before
    lab.playbook("enroll", *label).ok()
    assert lab.host("server-02")["metadata"]["labels"]["rack"] == "r7"
    back = lab.playbook("enroll", "--limit", "server-02").ok()
    assert back.changed() == 1, back.output
    assert "rack" not in lab.host("server-02")["metadata"].get("labels", {})


def test_limit_touches_only_the_hosts_named(lab):
    versions = dict((name, host["metadata"]["generation"]) for name, host in lab.hosts().items())
    run = lab.playbook("enroll", "--limit", "server-03", "-e", '{"bmh_description": "third"}').ok()
    assert run.changed() == 1, run.output
    after = dict((name, host["metadata"]["generation"]) for name, host in lab.hosts().items())
    assert [name for name in after if after[name] != versions[name]] == ["server-03"]
    # What the inventory does not name stays, except for labels and annotations; an empty value removes it.
    lab.playbook("enroll", "--limit", "server-03").ok()
    assert lab.host("server-03")["spec"]["description"] == "third"
    lab.playbook("enroll", "--limit", "server-03", "-e", '{"bmh_description": ""}').ok()
    assert "description" not in lab.host("server-03")["spec"]
