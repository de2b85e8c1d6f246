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
from fakes.metal_api import FIREWALL_IMAGE, IMAGE_OLD, KEY, PARTITION, PROJECT, SIZE, MetalApi

PINNED = "00000000-0000-4000-8000-000000000102"
MACHINE = {"size": SIZE, "image": "ubuntu-24.04", "user_data": "canary-user-data-81"}
VARIABLES = {
    "metalstack_poll_interval_seconds": 0.05,
    "metalstack_project": PROJECT, "metalstack_partition": PARTITION, "metalstack_ip_network": "internet",
    "metalstack_firewall": {"size": SIZE, "image": FIREWALL_IMAGE, "networks": ["internet"],
                            "rules": {"egress": [{"protocol": "tcp", "ports": [443], "to": ["0.0.0.0/0"]}]}},
    "metalstack_control_plane": [dict(MACHINE, name="prod-cp-0")],
    "metalstack_workers": [dict(MACHINE, name="prod-w-0", id=PINNED)]}
ORDER = ["/v1/network/allocate", "/v1/ip/allocate", "/v1/firewall/allocate", "/v1/machine/allocate",
         "/v1/machine/allocate"]


@pytest.fixture
def api():
    with MetalApi() as server:
        yield server
    assert server.defects == []


def environment(api):
    return {"METAL_API_URL": api.url, "METAL_API_HMAC": KEY}


def inventory(**variables):
    return json.dumps({"clusters": {"hosts": {"prod": dict(VARIABLES, ansible_connection="local", **variables)}}})


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
    kinds = [path.split("/")[2] for path in writes(api)]
    assert kinds == ["machine", "machine", "machine", "ip", "network"]
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


@pytest.mark.parametrize("reached", [1, 3, 4])
def test_a_run_that_was_killed_is_taken_up(api, tmp_path, reached):
    """Killed as soon as metal-api has had so many allocations, the answer to the last of them perhaps on its way."""
    (tmp_path / "hosts.yml").write_text(inventory())
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "METAL_"))}
    process = subprocess.Popen(
        [os.path.join(os.path.dirname(sys.executable), "ansible-playbook"), "-i", "hosts.yml",
         "metal3.baremetal.metalstack"], cwd=tmp_path, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**kept, **environment(api), "ANSIBLE_COLLECTIONS_PATH": str(playbook.ROOT / ".build"),
             "ANSIBLE_HOME": str(tmp_path / "home"), "ANSIBLE_LOCAL_TEMP": str(tmp_path / "tmp")})
    deadline = time.monotonic() + 600
    while len(writes(api)) < reached and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(writes(api)) >= reached
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    assert sorted(writes(api)) == sorted(ORDER)
    allocated = [machine["allocation"]["name"] for machine in api.machines.values() if machine.get("allocation")]
    assert sorted(allocated) == ["prod-cp-0", "prod-firewall", "prod-w-0"]
