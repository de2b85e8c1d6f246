# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of any type and content in an inventory: entries for the modules, and all mistakes as texts."""
from __future__ import annotations

import json

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import service as bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems import problem as common_problem
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import validation as host_validation

TEXTS = st.one_of(st.sampled_from([
    "", "{{ x }}", "\x1b[2J", "\ud800", "redfish://192.0.2.1/x", "redfish://%zz", "00:5c:52:31:3a:01", "http://x/y",
    "yes", "10:20", "x" * 5000, "\n", "a/b", "UEFI"]), st.text(max_size=15))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2 ** 70, 2 ** 70), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(TEXTS, st.sampled_from([
        "name", "url", "checksum", "format", "content", "size_gib", "hardware_raid_volumes", "links"])), inner,
        max_size=3)), max_leaves=6)
NAMES = st.one_of(st.sampled_from(sorted(set(name.partition(".")[0] for name in (
    host_inventory.field_names().values())))), TEXTS.map(lambda text: host_inventory.PREFIX + text))
# Without making a case smaller that fails, which takes minutes.
SOME = {"deadline": None, "derandomize": True, "database": None, "phases": [Phase.explicit, Phase.generate],
        "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@settings(max_examples=300, **SOME)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=6), min_size=1, max_size=3))
def test_any_variables_are_entries_and_mistakes(hosts):
    entries = [host_inventory.entry(f"host-{number}", variables) for number, variables in enumerate(hosts)]
    problems = host_validation.check_raw(entries, None)
    text = common_problem.message(problems, host_inventory.field_names())
    assert len(text.splitlines()) > len(problems)
    assert json.dumps(text)


@settings(max_examples=100, **SOME)
@given(VALUES)
def test_any_list_of_hosts_is_checked(hosts):
    assert isinstance(host_validation.check_raw(hosts, None), list)


@settings(max_examples=100, **SOME)
@given(st.one_of(st.none(), TEXTS))
def test_any_address_is_asked_or_a_mistake(address):
    host, error = bmc_service._host({"name": "a", "bmc": {"address": address}})
    assert (host["address"] is None) == (error is not None)
    assert isinstance(bmc_service._shown({"bmc": {"address": address}}), str) == bool(address)
