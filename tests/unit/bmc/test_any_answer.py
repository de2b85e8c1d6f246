# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of resources in which anything is missing or wrong: facts, verdicts and an inventory, or a clear error."""
from __future__ import annotations

import copy
import functools
import json
import operator
import time

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import is_trusted_as_template
from fakes.redfish import tree
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered as bmc_discovered
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import checks as bmc_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import table as bmc_table
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight.verdict import Limits, worst
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import gather, ipmi, redfish_facts
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.redfish import RedfishError, checked_path
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.plain_text import plain

TREES = dict((vendor, tree(vendor)) for vendor in ("dell", "hpe", "lenovo", "supermicro"))
ADDRESS = bmc_address.parse("redfish://192.0.2.1")
LIMITS = Limits(30, 120, time.time())
OPTIONS = {"name_format": "{hostname}-{serial_number}", "boot_nic": "", "username_expression": "",
           "password_expression": "", "disable_certificate_verification": False}
# The texts that are harmful somewhere, and any other text, with halves of characters.
TEXTS = st.one_of(st.sampled_from([
    "{{ lookup('pipe', 'id') }}", "{% raw %}", "\x1b[2J", "\x00", "\ud800", "\u202e", "\u2028", "\x85", "no", "null",
    "~", "10:20:30", "0x1f", "1e5", "2026-01-01", "- a", "a: b", "!unsafe x", "&a *b", "'", '"', "\n", " x ",
    "x" * 5000, "//192.0.2.9/x", "http://192.0.2.9/x", "/redfish/v1/Systems", "ff:ff:ff:ff:ff:ff", "localhost", "all",
    "9" * 6000]),
    st.text(st.characters(codec=None), max_size=20))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2 ** 70, 2 ** 70), st.floats(), TEXTS)
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.dictionaries(st.one_of(TEXTS, st.just("@odata.id")), inner, max_size=3)),
    max_leaves=6)
# A failure shows the first case found: to make it smaller takes minutes.
SOME = {"deadline": None, "derandomize": True, "database": None, "phases": [Phase.explicit, Phase.generate],
        "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def places(value, way=()):
    """Yield the way to each value in a structure."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*way, key)
        yield from places(item, (*way, key))


PLACES = dict((vendor, sorted(places(resources), key=repr)) for vendor, resources in TREES.items())


GONE = object()


@st.composite
def broken_trees(draw):
    """A vendor's tree with up to six values replaced or taken away."""
    vendor = draw(st.sampled_from(sorted(TREES)))
    resources = copy.deepcopy(TREES[vendor])
    for way in draw(st.lists(st.sampled_from(PLACES[vendor]), min_size=1, max_size=6)):
        new = draw(st.one_of(st.just(GONE), VALUES))
        try:
            holder = functools.reduce(operator.getitem, way[:-1], resources)
            holder[way[-1]] = new
        except (LookupError, TypeError):
            # What it was in has been replaced.
            continue
        if new is GONE:
            del holder[way[-1]]
    return resources


class Bmc:
    """Answers from a tree as a client does, and counts."""

    def __init__(self, resources):
        self.resources, self.reads = resources, 0

    def read(self, path):
        self.reads += 1
        resource = self.resources.get(checked_path(path).partition("?")[0].rstrip("/"))
        if not isinstance(resource, dict):
            raise RedfishError("not_found" if resource is None else "malformed", f"no resource at {path}")
        return resource

    def facts(self):
        """Return what is found of each system, and what is found of the BMC."""
        root = self.resources.get("/redfish/v1")
        common = dict(gather.blank(), reached=True, login={"ok": True, "method": "session", "attempts": 1},
                      tls={"verified": True, "error": "", "certificate": {}})
        if not isinstance(root, dict):
            return common, []
        common.update(redfish_facts.facts({"root": root}))
        target = gather.Target("a", ADDRESS, "root", "p", False)
        found = gather._surveys_of_all(target, self, root, common)
        return common, found + gather.surveys([target], gather.Settings(None, 1, 1, 1, True), self, root, common)


def texts(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def preflight_of(facts):
    """Return what a preflight says of the facts, and its table and message, as one structure."""
    host = {"name": "a", "address": ADDRESS, "boot_mac_address": "00:5c:52:00:00:10", "boot_mode": None,
            "any_certificate": False}
    found = bmc_checks.verdicts(host, facts, LIMITS)
    result = {"name": "a", "verdict": worst(found), "checks": [verdict.result() for verdict in found], "facts": facts,
              "recommended": facts["recommended"]}
    return result, bmc_table.table([result]), bmc_table.failure([result], "warning")


def written(facts, folder):
    """Write the servers into an inventory; return what Ansible reads of it and what was written."""
    servers = [bmc_discovered.describe(system, ADDRESS, []) for system in facts if system["system"]]
    unique = dict((server["address"], server) for server in servers)
    content, report, problems = discovered_inventory.merge(list(unique.values()), {}, [], OPTIONS)
    text = discovered_inventory.write(content) if report else ""
    assert discovered_inventory.read(text) == (content if report else {})
    if not report:
        return [], problems, []
    path = folder / "00-discovered.yml"
    path.write_text(text, encoding="utf-8")
    loaded = DataLoader().load_from_file(str(path), cache="none", trusted_as_template=True)
    return loaded["baremetal"]["hosts"], problems, content["baremetal"]["hosts"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inventory")


@settings(max_examples=100, **SOME)
@given(broken_trees())
def test_any_tree_is_facts_verdicts_and_an_inventory(folder, resources):
    bmc = Bmc(resources)
    common, found = bmc.facts()
    assert bmc.reads < 1000
    for facts in found:
        document = preflight_of(facts)
        json.dumps(document, allow_nan=False).encode("ascii")
        # The path that was asked is the inventory's own.
        assert [text for text in texts(document) if plain(text, keep_lines=True) != text] == []
    json.dumps(common, allow_nan=False)
    hosts, problems, content = written(found, folder)
    assert all(map(str, problems))
    assert hosts == (content or {}) or (hosts, content) == ([], [])
    assert not [text for variables in (hosts.values() if hosts else ()) for text in texts(variables)
                if is_trusted_as_template(text)]


def test_collections_that_hold_themselves_end():
    resources = copy.deepcopy(TREES["dell"])
    system = "/redfish/v1/Systems/System.Embedded.1"
    itself = {"@odata.id": "/redfish/v1/Systems"}
    resources["/redfish/v1/Systems"]["Members"] = [itself] * 5000 + [
        {"@odata.id": f"/redfish/v1/Systems?page={number}"} for number in range(5000)] + [{"@odata.id": system}]
    resources["/redfish/v1/Systems"]["Members@odata.nextLink"] = "/redfish/v1/Systems?$skip=1"
    for part in ("EthernetInterfaces", "VirtualMedia"):
        resources[system + "/" + part]["Members"] = [{"@odata.id": system + "/" + part}] * 5000
    bmc = Bmc(resources)
    bmc.facts()
    assert bmc.reads < 1000


# The inventory file -------------------------------------------------------------------------------------------------

SERVERS = st.fixed_dictionaries({
    "address": st.sampled_from([f"redfish://192.0.2.{number}/redfish/v1/Systems/1" for number in range(1, 4)]),
    "scheme": TEXTS, "reasons": st.lists(TEXTS, max_size=2), "bmc": st.just({"host": "192.0.2.1", "port": 443}),
    "system_path": st.sampled_from(["/redfish/v1/Systems/1", ""]), "manufacturer": TEXTS, "model": TEXTS,
    "serial_number": TEXTS, "sku": TEXTS, "uuid": TEXTS, "hostname": TEXTS, "bmc_model": TEXTS,
    "nics": st.lists(st.fixed_dictionaries({
        "name": TEXTS, "mac": st.sampled_from(["00:5c:52:00:00:10", "10:11:12:13:14:15", "00:00:00:00:00:12"]),
        "link": TEXTS}), max_size=3),
    "boot_mac_candidates": st.lists(st.sampled_from(["10:11:12:13:14:15", "00:00:00:00:00:12"]), max_size=2),
})


@settings(max_examples=100, **SOME)
@given(st.lists(SERVERS, min_size=1, max_size=3, unique_by=lambda server: server["address"]))
def test_what_is_written_comes_back_as_it_was_and_is_no_template(folder, servers):
    options = dict(OPTIONS, name_format="{serial_number}")
    content, report, problems = discovered_inventory.merge(servers, {}, [], options)
    assert len(report) + len(problems) == len(servers)
    text = discovered_inventory.write(content)
    assert discovered_inventory.read(text) == content
    path = folder / "00-discovered.yml"
    path.write_text(text, encoding="utf-8")
    hosts = DataLoader().load_from_file(str(path), cache="none", trusted_as_template=True)["baremetal"]["hosts"] or {}
    assert hosts == content["baremetal"]["hosts"]
    for variables in hosts.values():
        found = list(texts(variables))
        assert found and not [value for value in found if is_trusted_as_template(value)]
    # The same servers once more change nothing.
    again, report, dummy = discovered_inventory.merge(servers, discovered_inventory.read(text), [], options)
    if not problems:
        assert [item["action"] for item in report] == ["unchanged"] * len(servers)
        assert discovered_inventory.write(again) == text


@settings(max_examples=100, **SOME)
@given(st.lists(VALUES, min_size=1, max_size=2))
@example([{"address": "redfish://192.0.2.1/x"}])
def test_what_is_no_server_is_a_clear_problem(servers):
    content, report, problems = discovered_inventory.merge(servers, {}, [], OPTIONS)
    assert (content, report) == ({}, [])
    assert problems and all("servers[" in str(item) and "bmc_discovery" in str(item) for item in problems)


@settings(max_examples=100, **SOME)
@given(st.one_of(TEXTS, VALUES.map(yaml.safe_dump), VALUES.map(
    lambda value: yaml.safe_dump({"baremetal": value})), VALUES.map(
    lambda value: yaml.safe_dump({"baremetal": {"hosts": {"a": value}}}))))
@example("baremetal: !unsafe [a]")
@example("baremetal: {hosts: {a: !unsafe {b: !unsafe c}}}")
@example("a: !!python/object/apply:os.system [id]")
@example("&a [*a]")
@example("[" * 5000)
def test_any_file_is_read_or_refused(text):
    try:
        content = discovered_inventory.read(discovered_inventory.HEADER + text)
    except ValueError as exc:
        assert "discovery writes" in str(exc) or "no YAML" in str(exc)
        return
    assert discovered_inventory.read(discovered_inventory.write(content))


# IPMI ---------------------------------------------------------------------------------------------------------------

@settings(max_examples=100, **SOME)
@given(st.lists(st.one_of(
    TEXTS, st.builds("{} : {}".format, st.sampled_from(sorted(ipmi._FIELDS)), TEXTS)), max_size=8))
def test_any_output_of_ipmitool_is_facts_or_a_refusal(lines):
    try:
        facts = ipmi.read("\n".join(lines))
    except ipmi.IpmiError as exc:
        assert exc.kind
        return
    assert [text for text in texts(facts) if plain(text) != text] == []
