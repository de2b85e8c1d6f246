# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks for Ironic alone, and ironic_audit, against an Ironic and an API server in memory."""
from __future__ import annotations

import json
import os
import sys

import pytest
from fakes.ansible_process import ansible_playbook, without_task
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.http_ironic import HttpIronic
from fakes.playbook import recap_of_group


@pytest.fixture
def playbook(tmp_path):
    """Return a callable that runs a playbook and returns its output and whether it succeeded."""
    def run(name, ironic, inventory, extra=None, arguments=(), answers=""):
        (tmp_path / "hosts.json").write_text(json.dumps({"baremetal": {"hosts": inventory}}))
        environment = dict((key, value) for key, value in os.environ.items()
                           if not key.startswith(("OS_", "K8S_AUTH_", "KUBE", "ANSIBLE_")))
        code, output, errors = ansible_playbook(
            ["metal3.baremetal." + name, "-i", "hosts.json", *arguments, "-e",
             json.dumps(dict({"ansible_python_interpreter": sys.executable}, **(extra or {})))],
            tmp_path, dict(environment, HOME=str(tmp_path), OS_ENDPOINT=ironic.url), answers)
        return output + errors, code == 0
    return run


def verbs(server, name):
    """Return the targets that were asked of a node, one after the other."""
    node = next(uuid for uuid, item in server.ironic.nodes.items() if item["name"] == name)
    return [body["target"] for method, path, body in server.ironic.sent
            if method == "PUT" and path.endswith("/states/provision")
            and path.split("/")[2] in (node, *[chosen for chosen, own in server.ironic._chosen.items() if own == node])]


@pytest.mark.parametrize(("named", "asked_of_old"), [
    ([], ["manage"]), (["old"], ["manage", "inspect", "provide"])])
def test_a_node_that_was_there_before_is_only_erased_when_it_is_named(playbook, named, asked_of_old):
    """A node that an earlier run, or somebody else, had left in enroll was cleaned without a word."""
    with HttpIronic() as server:
        server.ironic.add("old", "enroll", driver_info={"redfish_address": "http://192.0.2.1"})
        output, succeeded = playbook("ironic_nodes", server, {
            "old": {"bmc_address": "redfish+http://192.0.2.1/redfish/v1/Systems/1", "bmc_username": "u",
                    "bmc_password": "p", "boot_mac": "00:5c:52:00:00:01"},
            "new": {"bmc_address": "redfish+http://192.0.2.2/redfish/v1/Systems/1", "bmc_username": "u",
                    "bmc_password": "p", "boot_mac": "00:5c:52:00:00:02"}}, {"ironic_nodes_provide": named})
        assert verbs(server, "new") == ["manage", "inspect", "provide"], output
        assert verbs(server, "old") == asked_of_old, output
    assert succeeded == bool(named), output
    # Each under its own name; Ansible counts no change of one that failed.
    assert recap_of_group(output) == {"new": (1, 0), "old": (1, 0) if named else (0, 1)}, output
    if not named:
        assert "1 of 2 servers are neither available nor deployed" in output
        assert "- old (manageable): power off, no error" in output
        assert json.dumps({"ironic_nodes_provide": ["old"]}) in output.replace('\\"', '"')


def test_the_audit_takes_the_kubeconfig_that_the_other_playbooks_take(playbook, tmp_path):
    with HttpIronic() as ironic, ApiServer() as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        output, succeeded = playbook("ironic_audit", ironic, {}, {"metal3_kubeconfig": str(tmp_path / "kubeconfig")})
        assert succeeded, output
        assert server.requests


def bmh(name, **status):
    """Return a BareMetalHost as it is stored."""
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {
        "name": name, "namespace": "metal3"}, "spec": {"online": True}, "status": status}


def test_the_audit_asks_for_the_host_of_a_node_right_before_it_deletes_it(playbook, tmp_path):
    """At the API server that it has read the hosts from, where the host has come since the second look."""
    place, asked = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts", []

    def enrolled(request):
        if request.path == place:
            asked.append(request.query)
            server.put(bmh("gone"))

    known = bmh("a", provisioning={"state": "available", "ID": "uuid-metal3~a"})
    with HttpIronic() as ironic, ApiServer([known], enrolled) as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        for name in ("a", "gone"):
            ironic.ironic.add(f"metal3~{name}", "manageable")
        extra = {"metal3_kubeconfig": str(tmp_path / "kubeconfig"), "metal3_confirm": "1",
                 "ironic_audit_repair": ["node_without_host"]}
        output, succeeded = playbook("ironic_audit", ironic, {}, extra)
        assert not succeeded and "BareMetalHost metal3/gone is there by now" in output, output
        assert [query["fieldSelector"] for query in asked] == ["metadata.name=gone"]
        assert "uuid-metal3~gone" in ironic.ironic.nodes


def servers(*names):
    """Return an inventory of servers."""
    return dict((name, {"bmc_address": f"redfish+http://192.0.2.{number}/redfish/v1/Systems/1", "bmc_username": "u",
                        "bmc_password": "canary-7f3a", "boot_mac": f"00:5c:52:00:00:0{number}"})
                for number, name in enumerate(names, 1))


def with_image(inventory, name="new"):
    """Return the inventory with an image and user data for each server."""
    return dict((host, dict(variables, bmh_image={"url": f"http://192.0.2.9/{name}.raw", "format": "raw"},
                            bmh_user_data="#cloud-config canary-7f3a"))
                for host, variables in inventory.items())


def add(server, name, number, state, **values):
    """Add the node of a server of :func:`servers`, and return its UUID."""
    return server.ironic.add(name, state, uuid=f"1be26c0b-03f2-4d2e-ae87-c02d7f33c12{number}", driver_info={
        "redfish_address": f"http://192.0.2.{number}:80", "redfish_system_id": "/redfish/v1/Systems/1",
        "redfish_username": "u", "redfish_password": "******"}, **values)


def text(output):
    """Return the output of a playbook on one line, without quoting."""
    return " ".join(output.replace("\\n", " ").replace('\\"', '"').split())


def changed(output):
    return sum(int(line.partition("changed=")[2].split()[0]) for line in output.splitlines() if "changed=" in line)


WRONG = [(None, "confirm: not set, expected 2 "), ("1", "confirm: found 1, expected 2 "), ("a,c", "found a,c")]


@pytest.mark.parametrize(("confirm", "message"), WRONG)
def test_undeploy_asks_for_the_number_of_servers_that_lose_a_system(playbook, confirm, message):
    with HttpIronic() as server:
        for number, (name, state) in enumerate((("a", "active"), ("b", "rescue"), ("c", "available")), 1):
            add(server, name, number, state)
        output, succeeded = playbook("ironic_undeploy", server, servers("a", "b", "c"),
                                     {"metal3_confirm": confirm} if confirm else {})
        assert not succeeded and server.ironic.requests() == []
    for part in (message, "undeploy gives up the systems that may be deployed on a (it is active), b (it is rescue)",
                 "to continue set metal3_confirm=2 (module"):
        assert part in text(output)
    assert "canary" not in output


@pytest.mark.parametrize("confirm", [2, "b, a"])
def test_undeploy_removes_what_is_deployed_once(playbook, confirm):
    with HttpIronic() as server:
        for number, (name, state) in enumerate((("a", "active"), ("b", "rescue"), ("c", "available")), 1):
            add(server, name, number, state)
        extra = {"metal3_confirm": confirm}
        output, succeeded = playbook("ironic_undeploy", server, servers("a", "b", "c"), extra, ["--check", "--diff"])
        assert succeeded and changed(output) == 2 and server.ironic.requests() == [], output
        assert output.count("+provision_state: available") == 2, output
        output, succeeded = playbook("ironic_undeploy", server, servers("a", "b", "c"), extra)
        assert succeeded and changed(output) == 2, output
        assert (verbs(server, "a"), verbs(server, "b"), verbs(server, "c")) == (["deleted"], ["deleted"], [])
        output, succeeded = playbook("ironic_undeploy", server, servers("a", "b", "c"))
        assert succeeded and changed(output) == 0, output
        assert len(server.ironic.requests()) == 2


@pytest.mark.parametrize(("confirm", "message"), [
    (None, "This deletes 2 nodes (a, b) with all ports from Ironic. To continue, set metal3_confirm=2."),
    ("3", 'metal3_confirm: found "3", expected 2. This deletes 2 nodes (a, b)'), ("a,c", 'found "a,c"')])
def test_delete_asks_for_the_number_of_nodes(playbook, confirm, message):
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "b", 2, "manageable")
        output, succeeded = playbook("ironic_delete", server, servers("a", "b", "c"),
                                     {"metal3_confirm": confirm} if confirm else {})
        assert not succeeded and server.ironic.requests() == []
        checked, succeeded = playbook("ironic_delete", server, servers("a", "b", "c"),
                                      {"metal3_confirm": confirm} if confirm else {}, ["--check"])
        assert succeeded and server.ironic.requests() == [], checked
    assert message in text(output) and message in text(checked)


def test_delete_deletes_the_nodes_that_are_there_once(playbook):
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "b", 2, "manageable")
        add(server, "other", 9, "available")
        extra = {"metal3_confirm": 2}
        output, succeeded = playbook("ironic_delete", server, servers("a", "b", "c"), extra, ["--check", "--diff"])
        assert succeeded and changed(output) == 2 and server.ironic.requests() == [], output
        assert output.count("--- before: node ") == 2, output
        output, succeeded = playbook("ironic_delete", server, servers("a", "b", "c"), extra)
        assert succeeded and changed(output) == 2, output
        assert [node["name"] for node in server.ironic.nodes.values()] == ["other"]
        for again in (extra, {}):
            output, succeeded = playbook("ironic_delete", server, servers("a", "b", "c"), again)
            assert succeeded and changed(output) == 0, output


def test_delete_leaves_a_node_that_has_got_the_name_since_it_was_confirmed(playbook):
    """Whoever registers the server anew meanwhile has a node that nobody was asked about."""
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        read, looks = server.ironic.list_nodes, []

        def replaced(*arguments, **options):
            found = read(*arguments, **options)
            looks.append(len(looks))
            # The owner of the servers is looked at first.
            if len(looks) == 2:
                server.ironic.nodes.clear()
                add(server, "a", 9, "available")
            return found

        server.ironic.list_nodes = replaced
        output, succeeded = playbook("ironic_delete", server, servers("a"), {"metal3_confirm": 1})
        assert not succeeded and len(looks) == 3 and len(server.ironic.nodes) == 1, output
    assert "it is another node of this name" in text(output)


@pytest.mark.parametrize(("name", "extra"), [
    ("ironic_delete", {}), ("ironic_delete", {"metal3_confirm": 3}), ("ironic_nodes", {}),
    ("ironic_nodes", {"metal3_confirm": "a"})])
def test_a_question_that_alone_is_left_out_holds(playbook, name, extra):
    """All that it needs had been read by then, so that nodes were deleted and servers in use interrupted and erased."""
    with HttpIronic() as server:
        with_systems(server)
        if name == "ironic_delete":
            for node in server.ironic.nodes.values():
                node["instance_uuid"] = None
        given = dict({"ironic_nodes_provide": ["a", "b"]} if name == "ironic_nodes" else {}, **extra)
        output, succeeded = without_task(
            lambda arguments, answers: playbook(name, server, servers("a", "b"), given, arguments, answers),
            "Ask for confirmation")
        assert not succeeded and "set metal3_confirm=2" in text(output), output
        assert verbs(server, "a") == verbs(server, "b") == [] and len(server.ironic.nodes) == 2


def test_delete_refuses_all_when_a_system_is_deployed_on_one(playbook):
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "b", 2, "active")
        output, succeeded = playbook("ironic_delete", server, servers("a", "b"), {"metal3_confirm": 2})
        assert not succeeded and server.ironic.requests() == []
    assert "node b: state: found active at the node" in text(output)


@pytest.mark.parametrize("name", ["ironic_deploy", "ironic_undeploy", "ironic_delete"])
@pytest.mark.parametrize("server_name", ["b", "metal3~b"])
def test_servers_of_the_operator_are_refused(playbook, name, server_name):
    """By the node's name, and by the BMC when the inventory has another name for the server."""
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "metal3~b", 2, "active")
        output, succeeded = playbook(name, server, with_image(servers("a", server_name)), {"metal3_confirm": 2})
        assert not succeeded and server.ironic.requests() == []
    assert "BareMetalHost metal3/b" in text(output)


@pytest.mark.parametrize("name", ["ironic_deploy", "ironic_undeploy", "ironic_delete"])
def test_a_replaced_confirmation_variable_is_refused(playbook, name):
    with HttpIronic() as server:
        add(server, "a", 1, "active")
        output, succeeded = playbook(name, server, with_image(servers("a")),
                                     {"ironic_nodes_confirm": 1, "metal3_confirm": 1})
        assert not succeeded and server.ironic.requests() == []
    assert "ironic_nodes_confirm: unknown variable, replaced by metal3_confirm" in text(output)


OLD = {"image_source": "http://192.0.2.9/old.raw", "image_disk_format": "raw"}


@pytest.mark.parametrize(("confirm", "message"), [
    (None, "confirm: not set, expected 1 "), ("2", "confirm: found 2, expected 1 ")])
def test_deploy_asks_for_the_number_of_servers_that_hold_another_system(playbook, confirm, message):
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "b", 2, "active", instance_info=OLD)
        output, succeeded = playbook("ironic_deploy", server, with_image(servers("a", "b")),
                                     {"metal3_confirm": confirm} if confirm else {}, ["-vvv"])
        assert not succeeded and server.ironic.requests() == []
    for part in (message, "deploy gives up the systems that may be deployed on b (it is active)",
                 "to continue set metal3_confirm=1 (module"):
        assert part in text(output)
    assert "canary" not in output


def test_deploy_writes_the_image_to_the_servers_that_have_one_once(playbook):
    inventory = dict(with_image(servers("a", "b")), **dict([list(servers("a", "b", "c").items())[-1]]))
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "b", 2, "active", instance_info=OLD)
        add(server, "c", 3, "available")
        extra = {"metal3_confirm": 1}
        output, succeeded = playbook("ironic_deploy", server, inventory, extra, ["--check", "--diff", "-vvv"])
        assert succeeded and changed(output) == 2 and server.ironic.requests() == [], output
        assert "canary" not in output and "new.raw" in output
        output, succeeded = playbook("ironic_deploy", server, inventory, extra)
        assert succeeded and changed(output) == 2, output
        assert (verbs(server, "a"), verbs(server, "b"), verbs(server, "c")) == (["active"], ["deleted", "active"], [])
        sent = len(server.ironic.requests())
        output, succeeded = playbook("ironic_deploy", server, inventory)
        assert succeeded and changed(output) == 0 and len(server.ironic.requests()) == sent, output


def with_systems(server):
    """Add two nodes that may carry a system, one of which runs and would be interrupted by its inspection."""
    for number, (name, power) in enumerate((("a", "power on"), ("b", "power off")), 1):
        add(server, name, number, "manageable", power_state=power, instance_uuid="i-" + name)


@pytest.mark.parametrize(("confirm", "given"), [(None, ""), ("1", 'found "1", expected 2. '), ("a", 'found "a"')])
def test_inspection_and_cleaning_are_asked_for_by_one_number_before_the_first_of_them(playbook, confirm, given):
    """A number for the inspection alone interrupted a server, and was no answer for the cleaning after it."""
    named = {"ironic_nodes_provide": ["a", "b"]}
    with HttpIronic() as server:
        with_systems(server)
        output, succeeded = playbook("ironic_nodes", server, servers("a", "b"),
                                     dict(named, **({"metal3_confirm": confirm} if confirm else {})))
        assert not succeeded and verbs(server, "a") == verbs(server, "b") == [], output
        assert "without check mode" not in output
        for part in (given, "gives up the systems that may be deployed on 2 servers (a, b)", "set metal3_confirm=2."):
            assert part in text(output)
        # Check mode asks for nothing, and says that it would.
        output, succeeded = playbook("ironic_nodes", server, servers("a", "b"), named, ["--check"])
        assert verbs(server, "a") == [] and text(output).count("set metal3_confirm=2") == 1, output


@pytest.mark.parametrize("confirm", [2, "b,a"])
def test_who_confirms_both_has_them_inspected_and_erased(playbook, confirm):
    with HttpIronic() as server:
        with_systems(server)
        extra = {"ironic_nodes_provide": ["a", "b"], "metal3_confirm": confirm}
        output, succeeded = playbook("ironic_nodes", server, servers("a", "b"), extra)
        assert succeeded and changed(output) == 2, output
        assert verbs(server, "a") == verbs(server, "b") == ["inspect", "provide"]


def test_a_server_that_gets_a_system_after_the_question_is_not_erased(playbook):
    with HttpIronic() as server:
        with_systems(server)
        last = add(server, "c", 3, "manageable")
        real, listed = server.ironic.list_nodes, []

        def list_nodes(*arguments, **options):
            found = real(*arguments, **options)
            # Once the inspections have begun.
            if any(path.endswith("/provision") and body["target"] == "inspect"
                   for _method, path, body in server.ironic.sent):
                server.ironic.nodes[last]["instance_uuid"] = "new"
                listed.append(1)
            return found
        server.ironic.list_nodes = list_nodes
        output, succeeded = playbook("ironic_nodes", server, servers("a", "b", "c"), {
            "ironic_nodes_provide": ["a", "b", "c"], "metal3_confirm": 2})
        assert not succeeded and listed and "c (it has the instance new)" in text(output), output
        assert "provide" not in verbs(server, "a") + verbs(server, "b") + verbs(server, "c")


def test_deploy_refuses_all_when_one_server_cannot_be_deployed(playbook):
    with HttpIronic() as server:
        add(server, "a", 1, "available")
        add(server, "b", 2, "manageable")
        output, succeeded = playbook("ironic_deploy", server, with_image(servers("a", "b")))
        assert not succeeded and server.ironic.requests() == []
        assert "provide it first, which erases its disks" in text(output)
        output, succeeded = playbook("ironic_deploy", server, servers("a", "b"))
        assert not succeeded and server.ironic.requests() == []
    assert "bmh_image: not set for a, b, expected an image for at least one of them" in text(output)
