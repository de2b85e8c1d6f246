# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Anything that users give as hosts, their data or other kinds: problems that can be read, and no traceback."""
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import option_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems import problem as common_problem
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import fields as host_fields
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import validation as host_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import validation as ipam_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.module import (
    claim_argument_spec,
    pool_argument_spec,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._resources import base as resource_family
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

QUICK = settings(max_examples=80, deadline=None, derandomize=True, database=None)
TEXTS = st.text(max_size=8) | st.sampled_from([
    "redfish://192.0.2.1/redfish/v1/Systems/1", "ipmi://[fe80::1%eth0]:%zz", "http://192.0.2.1/i", "oci://r/i@sha256:x",
    "00:5c:52:00:00:01", "{{ 7 * 6 }}", "\u0000", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "disabled", "live-iso", "a" * 300])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8)


def values_of(fields):
    """Return a strategy for dictionaries of known options whose values are anything, often of the right type."""
    names = st.sampled_from([field.name for field in fields] + ["unknown"])
    return st.dictionaries(names, ANYTHING, max_size=5).flatmap(
        lambda values: st.fixed_dictionaries(dict(
            (name, st.one_of(st.just(value), *(values_of(field.fields) for field in fields
                                               if field.name == name and field.kind == "dict" and field.fields)))
            for name, value in values.items())))


@QUICK
@given(st.one_of(ANYTHING, st.lists(st.one_of(ANYTHING, values_of(host_fields.HOST)), max_size=3)),
       st.sampled_from([None, "available", "provisioned", "deleted"]))
def test_any_list_of_hosts_is_checked(hosts, goal):
    problems = host_validation.check_raw(hosts, goal)
    text = common_problem.message(problems, host_inventory.names_in_role())
    assert text.count("\n- ") >= len(problems)


@QUICK
@given(st.dictionaries(st.sampled_from(sorted(host_inventory.field_names().values()) + ["bmh_unknown"]), ANYTHING,
                       max_size=4))
def test_any_variables_of_a_server_make_an_entry_that_is_checked(variables):
    entry = host_inventory.entry("h1", variables)
    assert entry["name"] == "h1"
    host_validation.check_raw([entry])


@pytest.mark.parametrize("kind", sorted(FAMILIES))
@settings(QUICK, max_examples=40)
@given(data=st.data())
def test_any_list_of_another_kind_is_checked(kind, data):
    family = FAMILIES[kind]
    entry = values_of(resource_family.entry_fields(family))
    problems = resource_family.check_raw(family, data.draw(st.one_of(ANYTHING, st.lists(entry, max_size=2))))
    assert all(map(str, problems))


def of_options(options):
    known = st.dictionaries(st.sampled_from(sorted(options)), ANYTHING, max_size=5)
    return st.one_of(ANYTHING, st.lists(st.one_of(ANYTHING, known), max_size=3))


@QUICK
@given(of_options(pool_argument_spec()["pools"]["options"]), of_options(claim_argument_spec()["claims"]["options"]))
def test_any_list_of_pools_or_claims_is_checked(pools, claims):
    options = pool_argument_spec()["pools"]["options"]
    if not option_checks.check_list("IPPool", "metal3", "pools", pools, options):
        assert isinstance(ipam_validation.pool_problems(pools, "metal3", []), list)
    assert isinstance(option_checks.check_list(
        "IPClaim", "metal3", "claims", claims, claim_argument_spec()["claims"]["options"]), list)
