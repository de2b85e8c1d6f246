# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The count of managed nodes: each query by jq, over results as the modules return them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._host import service
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table

REPOSITORY = Path(__file__).resolve().parents[3]
QUERIES = yaml.safe_load((REPOSITORY / "extensions" / "audit" / "event_query.yml").read_text(encoding="utf-8"))
HOST = {
    "metadata": {"name": "h1", "namespace": "metal3"},
    "spec": {"bootMACAddress": "00:5c:52:31:3a:01", "bmc": {"address": "redfish://192.0.2.1/redfish/v1/Systems/1"}},
    "status": {"provisioning": {"state": "available"}, "hardware": {"systemVendor": {"serialNumber": "S-42"}}},
}


def host(spec: dict[str, Any] | None = None, hardware: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return the result of a host, by the function that the modules use."""
    found = {
        **HOST,
        "spec": HOST["spec"] if spec is None else spec,
        "status": {**HOST["status"], "hardware": HOST["status"]["hardware"] if hardware is None else hardware},
    }
    return {"action": "unchanged", "changed": False, "failed": False, "error": "", **table.summary(found), **more}


def count(module: str, result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a query makes of a result."""
    run = subprocess.run(
        ["jq", "-c", QUERIES[module]["query"]], input=json.dumps(result), capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_the_queries_are_of_modules_that_there_are():
    assert QUERIES
    for name in QUERIES:
        assert (REPOSITORY / "plugins" / "modules" / f"{name.removeprefix('metal3.baremetal.')}.py").is_file()


@pytest.mark.parametrize("module", QUERIES)
@pytest.mark.parametrize(
    "found, facts",
    [
        (host(), {"serial_number": "S-42"}),
        (host(hardware={}), {"mac_address": "00:5c:52:31:3a:01"}),
        (host(hardware={}, spec={"bmc": {"address": "ipmi://192.0.2.1"}}), {"bmc_address": "ipmi://192.0.2.1"}),
    ],
)
def test_a_server_is_counted_by_one_fact(module, found, facts):
    assert count(module, {"changed": True, "hosts": [found]}) == [
        {"name": "h1", "facts": {"device_type": "bare_metal"}, "canonical_facts": facts}
    ]


@pytest.mark.parametrize("module", QUERIES)
def test_what_is_no_server_is_not_counted(module):
    gone = {**table.absent("h2", "metal3"), "action": "deleted", "changed": True, "failed": False, "error": ""}
    failed = service.shortened(host(failed=True, error="HTTP 401"))
    unknown = host(spec={}, hardware={})
    assert count(module, {"hosts": [gone, failed, unknown]}) == []
    # A refusal, and a run in which the module was skipped.
    assert count(module, {"failed": True, "problems": [{"code": "x"}]}) == []
    assert count(module, {"skipped": True}) == []
