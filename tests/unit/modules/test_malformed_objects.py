# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of an API server with anything in place of any of their parts: a result or a clear error, no traceback."""
from __future__ import annotations

import base64
import copy
import json

import pytest
from fakes.kubernetes import Server, host
from fakes.progress import Reports
from fakes.resources import Cluster
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.action_module import requests_of
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_service import HostActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.actions import ACTIONS
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rules import oci_auth
from ansible_collections.metal3.baremetal.plugins.module_utils._host.service import HostService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.reading import read_hosts
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.claim_service import ClaimService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.pool_service import PoolService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.reading import read_usage
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.service import FamilyService, read_facts

QUICK = settings(max_examples=30, deadline=None, derandomize=True, database=None)
CLEAR = (RefusedError, RefusedError, KubeError)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=6)

BMH = {
    "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
    "metadata": {"name": "h1", "namespace": "metal3", "uid": "u1", "resourceVersion": "1", "generation": 1,
                 "labels": {"rack": "r1"}, "annotations": {"inspect.metal3.io": ""}, "managedFields": [
                     {"manager": "m", "operation": "Apply", "fieldsV1": {"f:spec": {"f:online": {}}}}]},
    "spec": {"online": True, "bootMACAddress": "00:5c:52:00:00:01", "bmc": {
        "address": "ipmi://192.0.2.1", "credentialsName": "h1-bmc-secret"}, "image": {"url": "http://192.0.2.1/i"},
        "consumerRef": {"kind": "Metal3Machine", "namespace": "metal3", "name": "m"}, "userData": {"name": "u"}},
    "status": {"provisioning": {"state": "provisioned", "ID": "n1", "image": {"url": "http://192.0.2.1/i"}},
               "operationalStatus": "error", "errorType": "inspection error", "errorMessage": "x", "errorCount": 2,
               "poweredOn": True, "lastUpdated": "t", "operationHistory": {"inspect": {"start": "a", "end": "b"}},
               "goodCredentials": {"credentials": {"name": "h1-bmc-secret"}, "credentialsVersion": "1"},
               "hardware": {"cpu": {"count": 8}, "ramMebibytes": 4096, "nics": [{"mac": "00:5c:52:00:00:01"}],
                            "storage": [{"sizeBytes": 10 ** 9}], "systemVendor": {"manufacturer": "m"}}}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"username": "eA==", "password": "eA=="},
          "metadata": {"name": "h1-bmc-secret", "namespace": "metal3", "uid": "u2", "resourceVersion": "1", "labels": {
              "environment.metal3.io": "baremetal"}, "ownerReferences": [{"kind": "BareMetalHost", "name": "h1"}]}}

# Every object of an API server has these.
ALWAYS = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata", "uid"),
          ("metadata", "resourceVersion"), ("metadata", "managedFields"))


def paths(value, path=()):
    """Return the paths of all parts of a structure, apart from what every object has."""
    found = [path] if path and path != ("metadata",) and path[:2] not in ALWAYS else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [deeper for key, item in items for deeper in paths(item, (*path, key))]


@st.composite
def changed(draw, original):
    """Draw an object with anything, or nothing, in place of one or two of its parts."""
    result = copy.deepcopy(original)
    for path in draw(st.lists(st.sampled_from(paths(original)), min_size=1, max_size=2)):
        node = result
        try:
            for key in path[:-1]:
                node = node[key]
            if draw(st.booleans()):
                del node[path[-1]]
            else:
                node[path[-1]] = draw(ANYTHING)
        except (KeyError, IndexError, TypeError):
            # The other change has taken it away.
            pass
    return result


class World(Server):
    """The API server in memory, which itself looks at nothing but kinds and names."""

    def _operate(self):
        pass

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        return super().list(resource, namespace)


def world(*objects):
    server = World()
    server.objects = dict(((item["kind"], item["metadata"]["name"]), item) for item in objects)
    return server


def clear(call):
    """Return what a call returns, or its error when it is one that users are to read."""
    try:
        return call()
    except CLEAR as exc:
        assert str(exc)
        return exc


def enrol(server, *hosts, **values):
    params = dict({"namespace": "metal3", "create_namespace": True, "hosts": list(hosts), "deploy": True,
                   "force_hosts": [], "allow_detach": True, "allow_deprovision": True, "allow_power_off": True,
                   "delete_only_detached": False, "refuse_protected": False, "wait_for": None,
                   "wait_timeout_seconds": 0.01, "error_limit": 3, "field_names": "options"}, **values)
    return clear(HostService(server, params, True, Reports(), sleep=lambda seconds: None).run)


ENTRIES = [{}, {"labels": {"a": "b"}}, {"state": "absent"}, {"image": {}}, {"user_data": {"content": "x"}},
           {"bmc": {"address": "redfish://192.0.2.9/redfish/v1/Systems/1", "username": "a", "password": "b"}}]


@QUICK
@given(changed(BMH), changed(SECRET), st.sampled_from(ENTRIES), st.sampled_from([None, "available", "provisioned"]))
def test_enrolment_gets_along_with_any_host_and_secret(bmh, secret, values, goal):
    other = dict(copy.deepcopy(bmh), metadata=dict(bmh["metadata"], name="other"))
    result = enrol(world(bmh, secret, other), host(1, **values), wait_for=None if values.get("state") else goal)
    assert isinstance(result, CLEAR) or len(result["hosts"]) == 1


def test_a_host_without_spec_stops_nobody():
    """It need not be on the list: its MAC address and BMC are compared with those of the list."""
    bare = {"kind": "BareMetalHost", "metadata": {
        "name": "bare", "namespace": "metal3", "uid": "u", "resourceVersion": "1"}}
    result = enrol(world(bare), host(1))
    assert [facts["action"] for facts in result["hosts"]] == ["created"]
    named = dict(bare, metadata=dict(bare["metadata"], name="h1"))
    for values in ENTRIES:
        result = enrol(world(copy.deepcopy(named)), host(1, **values))
        assert result["hosts"][0]["action"] in ("updated", "deleted"), values
    assert read_hosts(world(bare), "metal3", full_objects=True)["hosts"][0]["state"] == "new"


@QUICK
@given(changed(BMH), st.sampled_from(sorted(ACTIONS)))
def test_actions_get_along_with_any_host(bmh, action):
    params = dict.fromkeys(("names", "hosts", "mode", "key", "force", "once", "delete_action", "reason", "until"))
    params.update(namespace="metal3", force_hosts=["h1"], confirm="h1", confirm_among=[], wait=True,
                  wait_timeout_seconds=0.01, error_limit=2, action=action)
    status = json.dumps({"provisioning": {"state": "available"}})
    own = {"reboot_hold": {"key": "a"}, "reboot_release": {"key": "a"}, "restore_status": {"status": status},
           "set_hardware": {"hardware": {}}}.get(action, {})
    params["hosts"] = [dict({"name": "h1"}, **own)]
    result = clear(HostActionService(
        world(bmh), requests_of(params), params, True, Reports(), sleep=lambda seconds: None).run)
    assert isinstance(result, CLEAR) or result["hosts"][0]["name"] == "h1"


@QUICK
@given(changed(BMH))
def test_facts_get_along_with_any_host(bmh):
    facts = read_hosts(world(bmh), None, hardware_data=True, full_objects=True)
    assert [item["name"] for item in facts["hosts"]] == ["h1"] and len(facts["table"]) == 2


POOL = {"kind": "IPPool", "metadata": {"name": "p", "namespace": "metal3", "uid": "u", "resourceVersion": "1"},
        "spec": {"namePrefix": "p", "prefix": 24, "gateway": "192.0.2.1", "dnsServers": ["192.0.2.2"],
                 "clusterName": "c",
                 "pools": [{"start": "192.0.2.10", "end": "192.0.2.20", "prefix": 24}, {"subnet": "192.0.2.64/28"}],
                 "preAllocations": {"c": "192.0.2.11"}}}
CLAIM = {"kind": "IPClaim", "metadata": {"name": "c", "namespace": "metal3", "uid": "u", "resourceVersion": "1",
                                         "ownerReferences": [{"kind": "Metal3Data", "name": "d"}]},
         "spec": {"pool": {"name": "p"}}, "status": {"address": {"name": "p-1"}, "errorMessage": "x", "conditions": [
             {"type": "Ready", "status": "False", "message": "x"}]}}
ADDRESS = {"kind": "IPAddress", "metadata": {"name": "p-1", "namespace": "metal3"},
           "spec": {"address": "192.0.2.11", "pool": {"name": "p"}, "claim": {"name": "c"}}}


@QUICK
@given(changed(POOL), changed(CLAIM), changed(ADDRESS))
def test_pools_and_claims_get_along_with_any_objects(pool, claim, address):
    server = world(pool, claim, address)
    given_pool = {"name": "p", "prefix": 24, "ranges": [{"start": "192.0.2.10", "end": "192.0.2.20"}]}
    calls = [lambda: read_usage(server, "metal3")]
    for state in ("present", "absent"):
        calls.append(PoolService(server, {"namespace": "metal3", "pools": [dict(given_pool, state=state)]}, True,
                                 Reports()).run)
        calls.append(ClaimService(server, {
            "namespace": "metal3", "claims": [{"name": "c", "pool": "p", "state": state}], "renew_refused": True,
            "wait_timeout_seconds": 0}, True, Reports()).run)
    results = [clear(call) for call in calls]
    assert isinstance(results[0], dict) and all(isinstance(result, (dict, *CLEAR)) for result in results)


DOCKER = {"type": "kubernetes.io/dockerconfigjson", "metadata": {"name": "auth"}}


@QUICK
@given(st.one_of(
    st.binary(max_size=40).map(lambda data: base64.b64encode(data).decode()), st.text(max_size=20),
    ANYTHING.map(lambda value: base64.b64encode(json.dumps(value).encode()).decode()),
    ANYTHING.map(lambda value: base64.b64encode(json.dumps({"auths": {"r.example": value}}).encode()).decode())))
def test_any_registry_credentials_are_checked(data):
    fault = oci_auth.fault(dict(DOCKER, data={".dockerconfigjson": data}), "oci://r.example/i:1")
    assert fault is None or all(isinstance(text, str) and text for text in fault)


OBJECTS = {
    "HostFirmwareSettings": {"spec": {"settings": {"Turbo": "Enabled"}}, "status": {
        "settings": {"Turbo": "Enabled"}, "schema": {"name": "schema", "namespace": "metal3"},
        "conditions": [{"type": "Valid", "status": "True", "observedGeneration": 1}]}},
    "HostFirmwareComponents": {"spec": {"updates": [{"component": "bios", "url": "http://192.0.2.1/b"}]}, "status": {
        "components": [{"component": "bios", "currentVersion": "1"}], "updates": [{"component": "bios", "url": "x"}],
        "conditions": [{"type": "Valid", "status": "True"}]}},
    "DataImage": {"spec": {"url": "http://192.0.2.1/i.iso"}, "status": {"attachedImage": {"url": "x"}, "error": {
        "count": 1, "message": "x"}}},
    "BMCEventSubscription": {"spec": {"hostName": "h1", "destination": "https://192.0.2.1/"}, "status": {"error": "x"}},
}
FAMILY_ENTRIES = {
    "HostFirmwareSettings": {"settings": {"Turbo": "Disabled"}}, "DataImage": {"url": "http://192.0.2.1/n.iso"},
    "HostFirmwareComponents": {"updates": [{"component": "bios", "url": "http://192.0.2.1/n"}]},
    "BMCEventSubscription": {"host_name": "h1", "destination": "https://192.0.2.1/"},
}


@pytest.mark.parametrize("kind", sorted(OBJECTS))
@QUICK
@given(data=st.data())
def test_other_kinds_get_along_with_any_objects(kind, data):
    family = FAMILIES[kind]
    base = dict(OBJECTS[kind], kind=kind, metadata=dict(BMH["metadata"]))
    cluster = Cluster()
    cluster._operate = lambda: None
    for obj in (data.draw(changed(base)), data.draw(changed(BMH))):
        cluster.objects[obj["kind"], "h1"] = obj
    entry = dict({"name": "h1"}, **FAMILY_ENTRIES[kind])
    for given_entry in (entry, dict(entry, state="absent")):
        params = {"namespace": "metal3", family.option: [given_entry], "wait_for": (family.goals or (None,))[-1],
                  "wait_timeout_seconds": 0.05}
        result = clear(FamilyService(cluster, family, params, True, Reports(), sleep=lambda seconds: None).run)
        assert isinstance(result, CLEAR) or len(result[family.option]) == 1
    facts = read_facts(cluster, family, {
        "all_namespaces": False, "namespace": "metal3", "names": None, "label_selector": None, "full_objects": True})
    assert [item["name"] for item in facts[family.option]] == ["h1"]
