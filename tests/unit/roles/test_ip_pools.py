# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook ip_pools, run on an API server in memory, which answers no claim."""
from __future__ import annotations

import json

from fakes import playbook
from fakes.api_server import DELETE, WRITE, ApiServer

POOL = {"name": "storage", "prefix": 24, "ranges": [{"start": "198.51.100.20", "end": "198.51.100.99"}]}
CLAIMS = [{"name": "balancer", "pool": "storage", "address": "198.51.100.50"}]


def run(folder, server, *arguments, **variables):
    inventory = {"all": {"vars": dict({
        "metal3_namespace": "site", "ip_pools_list": [POOL], "ip_pools_claims": CLAIMS,
        "ip_pools_wait_timeout_seconds": 0}, **variables)}}
    return playbook.play(folder, json.dumps(inventory), "", "metal3.baremetal.ip_pools", *arguments,
                         K8S_AUTH_HOST=server.url, K8S_AUTH_API_KEY="a-token")


def test_pools_and_claims_of_the_inventory_are_created_once_and_check_mode_writes_nothing(tmp_path):
    with ApiServer() as server:
        code, output = run(tmp_path, server, "--check")
        assert code == 0 and playbook.recap(output)["localhost"] == (1, 0), output
        assert server.stored == []
        code, output = run(tmp_path, server)
        assert code == 0, output
        assert [path.rpartition("namespaces/")[2] for path, dummy in server.stored] == [
            "site/ippools/storage", "site/ipclaims/balancer"]
        code, output = run(tmp_path, server)
        assert code == 0 and playbook.recap(output)["localhost"] == (0, 0), output
        # What is no longer described stays.
        code, output = run(tmp_path, server, ip_pools_claims=[])
        assert code == 0 and not server.of_kind(DELETE) and len(server.stored) == 2, output


def test_a_mistake_is_refused_before_anything_is_written(tmp_path):
    with ApiServer() as server:
        code, output = run(tmp_path, server, ip_pools_list=[dict(POOL, gateway="nowhere")])
        assert code != 0 and "gateway" in output and not server.of_kind(WRITE), output
