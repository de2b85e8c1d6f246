# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site of metal-stack with one cluster, whose playbooks run on a metal-api over HTTP."""
from __future__ import annotations

import json

from fakes import playbook
from fakes.metal_api import FIREWALL_IMAGE, KEY, PARTITION, PROJECT, SIZE, MetalApi

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


def faultless_api():
    """Yield a metal-api that was asked for nothing that the real one would not answer; for fixtures."""
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


def whole(api):
    allocated = [machine["allocation"]["name"] for machine in api.machines.values() if machine.get("allocation")]
    return sorted(allocated) == ["prod-cp-0", "prod-firewall", "prod-w-0"] and len(api.ips) == 1 and [
        network["name"] for network in api.networks.values() if network.get("projectid")] == ["prod-nodes"]


def nothing(api):
    return not (api.ips or any(network.get("projectid") for network in api.networks.values())
                or any(machine.get("allocation") for machine in api.machines.values()))
