# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes the playbook ironic_nodes makes available, and which it reports."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import due


def registered(name, action="unchanged", state="manageable"):
    return {"name": name, "action": action, "uuid": "" if state == "absent" else name, "provision_state": state}


def managed(name, power="power off", failed=False):
    return {"name": name, "power_state": power, "failed": failed}


REGISTERED = [registered("new", "created", "enroll"), registered("on", "created", "enroll"),
              registered("wrong", "created", "enroll"), registered("old", state="enroll"), registered("old-ready"),
              registered("deployed", state="active"), registered("none", state="absent")]
MANAGED = [managed("new"), managed("on", "power on"), managed("wrong", failed=True), managed("old")]


@pytest.mark.parametrize("named, inspected, provided", [
    ([], ["new"], ["new"]),
    (["old-ready", "none"], ["new", "old-ready"], ["new", "old-ready"]),
    (["old", "deployed"], ["new", "old"], ["new", "old", "deployed"])])
def test_only_what_is_new_and_off_or_named_is_erased(named, inspected, provided):
    assert due.due(REGISTERED, MANAGED, named) == {"inspect": inspected, "provide": provided}


def test_those_that_are_neither_available_nor_deployed_have_a_failure_of_their_own():
    nodes = [{"name": state, "provision_state": state, "power_state": None, "last_error": None}
             for state in ("available", "active", "manageable", "clean failed", "adopt failed")]
    left = due.unfinished(nodes)
    assert left["msg"].startswith("3 of 5 servers are neither available nor deployed")
    assert [node["name"] for node in left["nodes"]] == ["manageable", "clean failed", "adopt failed"]
    assert all(node["failed"] and "power unknown, no error" in node["error"] for node in left["nodes"])
    assert '-e \'{"ironic_nodes_provide": ["manageable"]}\'' in left["nodes"][0]["error"]
