# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever Ironic answers and whatever is in a config drive: a result or a clear error, never another exception."""
from __future__ import annotations

import contextlib
import json

import pytest
from fakes.clock import Clock
from fakes.progress import Reports
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic import module as ironic_module
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import config_drive, deployment
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions.service import ActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import (
    answers,
    errors,
    goals,
    info_service,
    states,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import IronicClient, path_of
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.audit import service as audit_service
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import bmc as node_bmc
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import ownership
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.service import NodeService

FEW = settings(max_examples=60, deadline=None, derandomize=True)
# Any JSON, with long and odd texts among it.
TEXTS = st.one_of(st.text(max_size=20), st.sampled_from([
    "", "a", "metal3~a", "metal3~a\n", "../..", "active", "manageable", "adopt failed", "power on", "\u0000",
    "x" * 70000, "{{ lookup('pipe', 'id') }}", "00:5c:52:00:00:01", "******"]))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS)
ANYTHING = st.recursive(SCALARS, lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)), max_leaves=12)
_TEXT_FIELDS = ("target_provision_state", "power_state", "target_power_state", "last_error", "reservation",
                "instance_uuid", "boot_mode", "fault", "driver", "provision_updated_at", "maintenance_reason")
_TREES = ("driver_info", "instance_info", "extra", "properties", "clean_step", "deploy_step", "target_raid_config")
KEYS = TEXTS | st.sampled_from(["step", "image_source", "redfish_address", "redfish_system_id", "ipmi_address"])
STATES = st.sampled_from(sorted(states.STABLE) + ["cleaning", "wait call-back", "clean hold", "no such state"])
# Of the right types, with any content; and of any type.
FITTING = st.fixed_dictionaries(
    {"uuid": st.sampled_from(["u", "../..", "\u2028"]), "provision_state": STATES,
     "name": st.sampled_from(["a", None, "metal3~a", "metal3~a\n"])},
    optional=dict([(name, st.none() | TEXTS) for name in _TEXT_FIELDS] + [
        (name, st.none() | st.dictionaries(KEYS, ANYTHING, max_size=3)) for name in _TREES] + [
        ("traits", st.none() | st.lists(TEXTS, max_size=2)), ("maintenance", st.none() | st.booleans())]))
# All right but for one field.
OFF = st.builds(lambda node, name, value: dict(node, **{name: value}), FITTING, st.sampled_from([
    "uuid", "name", "provision_state", "maintenance", "traits", *_TEXT_FIELDS, *_TREES]), SCALARS | ANYTHING)
NODES = st.one_of(FITTING, OFF, OFF, OFF, ANYTHING)
PORTS = st.one_of(st.fixed_dictionaries({
    "uuid": st.sampled_from(["p", ".."]), "address": TEXTS.filter(bool), "node_uuid": st.sampled_from(["u", "gone"])},
    optional={"extra": st.none() | st.dictionaries(TEXTS, ANYTHING, max_size=2), "name": st.none() | TEXTS}), ANYTHING)


def answer_of(key, items):
    return st.one_of(st.builds(lambda value: {key: value}, st.lists(items, max_size=3)),
                     st.builds(lambda value: {key: [value]}, items),
                     st.builds(lambda value, following: {key: value, "next": following}, st.lists(items, max_size=2),
                               ANYTHING), ANYTHING)


ANSWERS = st.fixed_dictionaries({
    "nodes": answer_of("nodes", NODES), "ports": answer_of("ports", PORTS),
    "portgroups": answer_of("portgroups", PORTS),
    "drivers": answer_of("drivers", st.fixed_dictionaries({"name": st.just("redfish")}) | ANYTHING),
    "other": ANYTHING})


class Client(IronicClient):
    """Answers with what it was given, without a network."""

    server = "https://192.0.2.1/v1"

    def __init__(self, given_answers):
        self.minor = 110
        self._answers = given_answers

    def request(self, method, path, query=None, body=None, subject=None, repeatable=None):
        key = path.split("/")[1]
        lists = path.count("/") == 1 or path.endswith("/detail")
        return self._answers[key if lists and method == "GET" and key in self._answers else "other"]


def expected_errors():
    return contextlib.suppress(IronicError, RefusedError)


def options(spec, **values):
    return dict(dict((name, option.get("default")) for name, option in spec.items()), **values)


@FEW
@given(ANSWERS)
def test_reading_nodes(given_answers):
    params = options(ironic_module.info_argument_spec(), ports=True, inventory=True, validate=True)
    with expected_errors():
        json.dumps(info_service.read(Client(given_answers), params))
    with expected_errors():
        info_service.read(Client(given_answers), dict(params, fields=["name"], names=["a"]))


@FEW
@given(ANSWERS, st.sampled_from(["provide", "reboot", "deploy", "boot_device", "traits", "abort", "maintenance_on"]))
def test_acting_on_nodes(given_answers, action):
    clock = Clock()
    params = options(ironic_module.action_argument_spec(), nodes=["a"], action=action, traits=["CUSTOM_A"],
                     boot_device="pxe", wait_timeout_seconds=4, confirm="1", image={"source": "x"})
    with expected_errors():
        json.dumps(ActionService(Client(given_answers), params, False, Reports(), clock, clock.sleep).run())


@FEW
@given(ANSWERS)
def test_registering_nodes(given_answers):
    clock = Clock()
    spec = ironic_module.node_argument_spec()
    node = options(spec["nodes"]["options"], name="a", driver="redfish", driver_info={"redfish_address": "https://x"},
                   ports=[{"address": "00:5c:52:00:00:01"}], traits=["CUSTOM_A"])
    params = options(spec, nodes=[node])
    with expected_errors():
        json.dumps(NodeService(Client(given_answers), params, False, Reports(), clock, clock.sleep).run())


@FEW
@given(ANSWERS, st.one_of(st.none(), st.lists(st.dictionaries(TEXTS, ANYTHING, max_size=3) | st.fixed_dictionaries(
    {"namespace": TEXTS, "name": TEXTS, "state": TEXTS, "node_id": SCALARS, "boot_mac_address": SCALARS}), max_size=3)))
def test_the_audit(given_answers, hosts):
    clock = Clock()
    params = options(ironic_module.audit_argument_spec(), hosts=hosts, all_namespaces=hosts is not None,
                     repair=["port_without_node"], confirm="1")
    with expected_errors():
        json.dumps(audit_service.run(Client(given_answers), params, False, sleep=clock.sleep))


@settings(FEW, max_examples=500)
@given(NODES)
def test_what_is_reported_of_a_node(answer):
    with contextlib.suppress(IronicError):
        node = answers.item(answer, "nodes", goals.POLL_FIELDS)
        json.dumps(redaction.hidden(node, redaction.NODE_KEYS))
        redaction.secret_texts(node, keys=redaction.NODE_KEYS)
        deployment.carried(node)
        ownership.host_of(node["name"])
        node_bmc.of(node.get("driver_info"))
        for wanted in (goals.Goal("provision", "active"), goals.Goal("power", "power on")):
            history = goals.NodeHistory(wanted, node, 0)
            history.update(node, 1)
            history.timeout_cause(2)
        for action in states.VERBS:
            states.route(action, node["provision_state"], node["target_provision_state"], 110)


@FEW
@given(st.one_of(TEXTS, st.builds(json.dumps, ANYTHING)), st.integers(300, 599), st.booleans(), st.one_of(
    st.none(), TEXTS, st.integers().map(str)))
def test_error_answers(text, status, repeatable, retry_after):
    error = errors.error_from_answer(status, text, "node a", repeatable, retry_after)
    assert error.message and len(error.message) < 1500 and "\n" not in error.message
    assert error.retry_after_seconds is None or 0 <= error.retry_after_seconds <= 30
    assert not (error.retriable and error.lost)


@FEW
@given(TEXTS)
def test_paths_of_uuids(uuid):
    path = path_of("nodes", uuid, "/states")
    assert path.startswith("/nodes/") and path.endswith("/states") and path.count("/") == 3
    assert not set(path) & set("?#\\ ") and "/../" not in path and "/./" not in path


@FEW
@given(ANYTHING, st.one_of(st.none(), ANYTHING))
def test_config_drives(drive, own):
    given_options = {"nodes": ["a"], "config_drive": drive if isinstance(drive, (dict, type(None))) else {"iso": drive},
                     "config_drives": own if isinstance(own, dict) else {"a": own}}
    node = {"name": "a", "uuid": "u"}
    problems = config_drive.problems(given_options, [node])
    json.dumps(sorted(config_drive.texts(given_options)))
    if not problems:
        json.dumps(config_drive.of_node(given_options, node))


@FEW
@given(st.recursive(SCALARS, lambda inner: st.dictionaries(st.sampled_from(["password", "a"]), inner, max_size=2)))
def test_no_secret_is_left_in_what_is_shown(tree):
    shown = json.dumps(redaction.hidden(
        {"password": ["canary-1", {"x": tree}], "a": {"auth_token": "canary-2"}}, redaction.NODE_KEYS))
    assert "canary" not in shown


def test_deep_answers():
    deep = []
    for dummy in range(100000):
        deep = [deep]
    with pytest.raises(IronicError, match="inside of each other"):
        answers.shallow({"nodes": deep}, "list of nodes")
    tree = {}
    for dummy in range(900):
        tree = {"a": [tree]}
    json.dumps(redaction.hidden(tree, redaction.NODE_KEYS))
    assert redaction.secret_texts(tree, keys=redaction.NODE_KEYS) == set()
