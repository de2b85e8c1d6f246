# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks metalstack and metalstack_teardown on a metal-api over HTTP: order, repetition, kills, confirmation."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from fakes import playbook
from fakes.metal_api import (
    FIREWALL_IMAGE,
    IMAGE_OLD,
    KEY,
    OTHER_PROJECT,
    PARTITION,
    PROJECT,
    SIZE,
    MetalApi,
)

PINNED = "00000000-0000-4000-8000-000000000102"
RULES = {"egress": [{"protocol": "tcp", "ports": [443], "to": ["0.0.0.0/0"]}],
         "ingress": [{"protocol": "tcp", "ports": [6443], "from": ["203.0.113.0/24"]}]}
MACHINE = {"size": SIZE, "image": "ubuntu-24.04", "user_data": "canary-user-data-81"}
VARIABLES = {
    "metalstack_poll_interval_seconds": 0.05,
    "metalstack_project": PROJECT, "metalstack_partition": PARTITION, "metalstack_ip_network": "internet",
    "metalstack_firewall": {"size": SIZE, "image": FIREWALL_IMAGE, "networks": ["internet"],
                            "rules": RULES},
    "metalstack_control_plane": [dict(MACHINE, name="prod-cp-0")],
    "metalstack_workers": [dict(MACHINE, name="prod-w-0", id=PINNED)]}
ORDER = ["/v1/network/allocate", "/v1/ip/allocate", "/v1/firewall/allocate", "/v1/machine/allocate",
         "/v1/machine/allocate"]


@pytest.fixture
def api():
    with MetalApi() as server:
        yield server
    assert server.defects == []


def freed(kinds):
    """What is freed, in order: workers, control plane, firewall, address, network."""
    assert kinds == ["machine", "machine", "machine", "ip", "network"]


def environment(api):
    return {"METAL_API_URL": api.url, "METAL_API_HMAC": KEY}


def inventory(also=None, **variables):
    hosts = {"prod": dict(VARIABLES, ansible_connection="local", **variables)}
    return json.dumps({"clusters": {"hosts": dict(hosts, **(also or {}))}})


def run(api, folder, name, *arguments, **variables):
    code, output = playbook.play(folder, inventory(**variables), "", f"metal3.baremetal.{name}", *arguments,
                                 **environment(api))
    assert KEY not in output and "canary-user-data" not in output
    return code, output


def writes(api):
    return [request[1].removeprefix("/metal") for request in api.requests
            if request[0] != "GET" and not request[1].endswith("/find")]


def test_a_cluster_is_allocated_in_order_and_freed_in_the_reverse_one(api, tmp_path):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    assert writes(api) == ORDER
    assert api.machines[PINNED]["allocation"]["name"] == "prod-w-0"
    assert api.named("prod-firewall")[0]["allocation"]["firewall_rules"] == RULES
    assert [network["name"] for network in api.networks.values() if network.get("projectid")] == ["prod-nodes"]

    api.requests.clear()
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0 and writes(api) == [] and playbook.recap(output) == {"prod": (0, 0)}

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
    assert code == 0 and writes(api) == [] and playbook.recap(output) == {"prod": (0, 0)}


def test_a_reinstallation_is_confirmed_by_the_machine_s_name(api, tmp_path):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    api.requests.clear()
    changed = {"metalstack_workers": [dict(MACHINE, name="prod-w-0", id=PINNED, image=IMAGE_OLD, reinstall=True)]}
    code, output = run(api, tmp_path, "metalstack", **changed)
    assert code != 0 and writes(api) == [] and "confirm" in output
    code, output = run(api, tmp_path, "metalstack", "-e", "metal3_confirm=prod-w-0", **changed)
    assert code == 0 and writes(api) == [f"/v1/machine/{PINNED}/reinstall"], output


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
    code, output = both("metalstack_teardown", "-e", f"metal3_confirm={PROJECT}/cp-0")
    assert code != 0 and [item["allocation"]["project"] for item in api.named("cp-0")] == [OTHER_PROJECT], output


@pytest.mark.parametrize("fault", [409, 503, "half", "lost"])
def test_a_fault_of_each_step_is_got_over_without_a_second_allocation(api, tmp_path, fault):
    api.faults += [(path, fault) for path in sorted(set(ORDER))]
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0 and api.faults == [], output
    assert whole(api)
    api.faults += [(path, fault) for path in (
        f"/v1/machine/{PINNED}/free", "/v1/ip/free/[^/]+", "/v1/network/free/[^/]+")]
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    if fault == "half":
        # What it has done is not known, so that the run ends there; the next one goes on.
        for dummy in range(3):
            assert code != 0 and "answers 500" in output, output
            code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code == 0 and api.faults == [] and nothing(api), output


def whole(api):
    allocated = [machine["allocation"]["name"] for machine in api.machines.values() if machine.get("allocation")]
    return sorted(allocated) == ["prod-cp-0", "prod-firewall", "prod-w-0"] and len(api.ips) == 1 and [
        network["name"] for network in api.networks.values() if network.get("projectid")] == ["prod-nodes"]


def nothing(api):
    return not (api.ips or any(network.get("projectid") for network in api.networks.values())
                or any(machine.get("allocation") for machine in api.machines.values()))


def kill_after(api, folder, count, name, *arguments):
    """Start a playbook and kill it as soon as metal-api has had so many writes."""
    (folder / "hosts.yml").write_text(inventory())
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "METAL_"))}
    api.requests.clear()
    process = subprocess.Popen(
        [os.path.join(os.path.dirname(sys.executable), "ansible-playbook"), "-i", "hosts.yml",
         f"metal3.baremetal.{name}", *arguments], cwd=folder, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**kept, **environment(api), "ANSIBLE_COLLECTIONS_PATH": str(playbook.ROOT / ".build"),
             "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_LOCAL_TEMP": str(folder / "tmp")})
    deadline = time.monotonic() + 600
    while len(writes(api)) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(writes(api)) >= count


@pytest.mark.parametrize("reached", range(1, len(ORDER) + 1))
def test_a_run_that_was_killed_is_taken_up(api, tmp_path, reached):
    """Killed as soon as metal-api has had so many allocations, the answer to the last of them perhaps on its way."""
    kill_after(api, tmp_path, reached, "metalstack")
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    assert sorted(writes(api)) == sorted(ORDER)
    assert whole(api)


@pytest.mark.parametrize("reached", range(1, 6))
def test_a_teardown_that_was_killed_is_taken_up(api, tmp_path, reached):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    kill_after(api, tmp_path, reached, "metalstack_teardown", "-e", "metal3_confirm=prod")
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code == 0, output
    freed([path.split("/")[2] for path in writes(api)])
    assert nothing(api)
