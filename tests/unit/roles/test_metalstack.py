# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks metalstack and metalstack_teardown on a metal-api over HTTP: order, repetition, confirmation.

Their faults and kills are in tests/metalstack.
"""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.metal_api import IMAGE_OLD, OTHER_PROJECT, PARTITION, PROJECT
from fakes.metal_site import (
    MACHINE,
    ORDER,
    PINNED,
    RULES,
    VARIABLES,
    environment,
    faultless_api,
    freed,
    run,
    writes,
)

api = pytest.fixture(faultless_api)


def test_a_cluster_is_allocated_in_order_and_freed_in_the_reverse_one(api, tmp_path):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    assert writes(api) == ORDER
    assert api.machines[PINNED]["allocation"]["name"] == "prod-w-0"
    assert api.named("prod-firewall")[0]["allocation"]["firewall_rules"] == RULES
    assert [network["name"] for network in api.networks.values() if network.get("projectid")] == ["prod-nodes"]

    api.requests.clear()
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0 and writes(api) == [] and playbook.recap_of_group(output) == {"prod": (0, 0)}

    code, output = run(api, tmp_path, "metalstack_teardown")
    assert code != 0 and writes(api) == [] and "confirm" in output
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=other")
    assert code != 0 and writes(api) == []

    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code == 0, output
    freed([path.split("/")[2] for path in writes(api)])
    assert writes(api)[0] == f"/v1/machine/{PINNED}/free"
    assert not any(machine.get("allocation") for machine in api.machines.values())

    api.requests.clear()
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code == 0 and writes(api) == [] and playbook.recap_of_group(output) == {"prod": (0, 0)}


def test_a_reinstallation_is_confirmed_by_the_machine_s_name(api, tmp_path):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    api.requests.clear()
    changed = {"metalstack_workers": [dict(MACHINE, name="prod-w-0", id=PINNED, image=IMAGE_OLD, reinstall=True)]}
    code, output = run(api, tmp_path, "metalstack", **changed)
    assert code != 0 and writes(api) == [] and "confirm" in output
    code, output = run(api, tmp_path, "metalstack", "-e", "metal3_confirm=prod-w-0", **changed)
    assert code == 0 and writes(api) == [f"/v1/machine/{PINNED}/reinstall"], output


def test_the_playbook_that_creates_clusters_frees_nothing_under_one(api, tmp_path):
    """Of a cluster that Cluster API's provider makes only the other playbook frees: it deletes the cluster first."""
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    api.requests.clear()
    code, output = run(api, tmp_path, "metalstack", "-e", "metal3_confirm=prod", metalstack_state="absent",
                       cluster_provider="metalstack")
    assert code != 0 and writes(api) == [], output
    assert "metalstack_state: found absent" in output and "metalstack_teardown" in output


def test_check_mode_allocates_nothing(api, tmp_path):
    code, output = run(api, tmp_path, "metalstack", "--check", "--diff")
    assert code == 0 and writes(api) == [] and "prod-nodes" in output


def test_a_node_network_that_is_named_is_used_and_never_freed(api, tmp_path):
    api.add_private("nodes", "of-others")
    code, output = run(api, tmp_path, "metalstack", metalstack_node_network="nodes")
    assert code == 0 and writes(api) == ORDER[1:], output
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod",
                       metalstack_node_network="nodes")
    assert code == 0 and "nodes" in api.networks, output


def test_a_cluster_is_made_of_machines_that_are_chosen_by_id(api, tmp_path):
    chosen = dict(zip(("prod-firewall", "prod-cp-0", "prod-w-0"), sorted(api.machines)[:0:-1]))
    variables = {
        "metalstack_firewall": dict(VARIABLES["metalstack_firewall"], id=chosen["prod-firewall"]),
        "metalstack_control_plane": [dict(MACHINE, name="prod-cp-0", id=chosen["prod-cp-0"])],
        "metalstack_workers": [dict(MACHINE, name="prod-w-0", id=chosen["prod-w-0"])]}
    code, output = run(api, tmp_path, "metalstack", **variables)
    assert code == 0, output
    found = dict((machine["allocation"]["name"], key) for key, machine in api.machines.items()
                 if machine.get("allocation"))
    assert found == chosen
    assert api.machines[chosen["prod-firewall"]]["allocation"]["role"] == "firewall"
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod", **variables)
    assert code == 0 and [path.split("/")[3] for path in writes(api)[5:8]] == [
        chosen["prod-w-0"], chosen["prod-cp-0"], chosen["prod-firewall"]], output


def test_machines_are_in_their_own_networks_too(api, tmp_path):
    """A machine of the control plane gets the cluster's address, which is of a network outside."""
    machines = {
        "metalstack_ip": {"address": "192.0.2.9"},
        "metalstack_control_plane": [dict(
            MACHINE, name="prod-cp-0", networks=["internet", "nodes"], ips=["192.0.2.9"])],
        "metalstack_workers": [dict(MACHINE, name="prod-w-0", networks=["internet"])],
        "metalstack_firewall": dict(VARIABLES["metalstack_firewall"], networks=["nodes", "internet"])}
    api.add_private("nodes", "of-others")
    code, output = run(api, tmp_path, "metalstack", metalstack_node_network="nodes", **machines)
    assert code == 0, output
    for name in ("prod-cp-0", "prod-w-0", "prod-firewall"):
        networks = api.named(name)[0]["allocation"]["networks"]
        assert {network["networkid"] for network in networks} - {"underlay"} == {"internet", "nodes"}, name
        if name == "prod-cp-0":
            assert ["192.0.2.9"] in [network["ips"] for network in networks]
    api.requests.clear()
    code, output = run(api, tmp_path, "metalstack", metalstack_node_network="nodes", **machines)
    assert code == 0 and writes(api) == [] and playbook.recap_of_group(output) == {"prod": (0, 0)}, output


def test_a_name_of_machines_of_two_projects_is_no_confirmation(api, tmp_path):
    """Two clusters without firewall and address, whose machines have one name."""
    def cluster(project):
        return {"ansible_connection": "local", "metalstack_project": project, "metalstack_partition": PARTITION,
                "metalstack_poll_interval_seconds": 0.05, "metalstack_control_plane": [dict(MACHINE, name="cp-0")]}

    def both(name, *arguments):
        (tmp_path / name).mkdir(exist_ok=True)
        code, output = playbook.play(
            tmp_path / name, json.dumps({"clusters": {"hosts": {"a": cluster(PROJECT), "b": cluster(OTHER_PROJECT)}}}),
            "", f"metal3.baremetal.{name}", *arguments, **environment(api))
        return code, " ".join(output.split())
    code, output = both("metalstack")
    assert code == 0 and len(api.named("cp-0")) == 2, output
    before = len(writes(api))
    code, output = both("metalstack_teardown", "-e", "metal3_confirm=cp-0")
    assert code != 0 and len(writes(api)) == before
    for project in (PROJECT, OTHER_PROJECT):
        assert f"expected {project}/cp-0, or a run with --limit" in output
    # Where nobody refuses it before.
    code, output = both("metalstack_teardown", "-e", "metal3_confirm=cp-0", "--start-at-task",
                        "Free the machines of the control plane")
    assert code != 0 and len(writes(api)) == before, output
    code, output = both("metalstack_teardown", "-e", f"metal3_confirm={PROJECT}/cp-0")
    assert code != 0 and [item["allocation"]["project"] for item in api.named("cp-0")] == [OTHER_PROJECT], output


@pytest.mark.parametrize("names", [{"cluster_name": "prod"}, {"metalstack_name": "prod"}], ids=str)
def test_a_name_of_clusters_of_two_namespaces_is_no_confirmation(api, tmp_path, names):
    """A name is of one cluster in a namespace; each of the two has machines and a network of its own."""
    def cluster(namespace, project):
        return dict(names, ansible_connection="local", cluster_namespace=namespace, metalstack_project=project,
                    metalstack_partition=PARTITION, metalstack_poll_interval_seconds=0.05,
                    metalstack_workers=[dict(MACHINE, name=f"{namespace}-w-0")])

    def both(name, *arguments):
        (tmp_path / name).mkdir(exist_ok=True)
        inventory = {"clusters": {"hosts": {"a": cluster("east", PROJECT), "b": cluster("west", OTHER_PROJECT)}}}
        code, output = playbook.play(tmp_path / name, json.dumps(inventory), "", f"metal3.baremetal.{name}", *arguments,
                                     **environment(api))
        return code, " ".join(output.split())
    code, output = both("metalstack")
    assert code == 0 and len(api.named("east-w-0") + api.named("west-w-0")) == 2, output
    before = len(writes(api))
    code, output = both("metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code != 0 and len(writes(api)) == before, output
    assert "--limit a" in output and "--limit b" in output
    code, output = both("metalstack_teardown", "--limit", "a", "-e", "metal3_confirm=prod")
    assert code == 0 and not api.named("east-w-0") and api.named("west-w-0"), output


def test_a_cluster_is_freed_by_the_name_that_the_teardown_takes_for_it(api, tmp_path):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=metal3/prod")
    assert code == 0 and not any(machine.get("allocation") for machine in api.machines.values()), output
