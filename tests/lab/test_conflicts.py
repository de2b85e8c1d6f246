# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server makes of a write that rests on a check, when somebody else was faster; nobody's work is lost."""
from __future__ import annotations

import copy

import pytest
from support import HOST, NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.action_module import (
    host_action_argument_spec,
    requests_of,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_service import HostActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.module import host_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._host.service import HostService
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.precondition import ABSENT
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SERVER = "server-01"
CONSUMER = {"apiVersion": "example.org/v1", "kind": "Somebody", "name": "else", "namespace": NAMESPACE}
# One of each way in which API servers keep objects: a custom resource, and those of their own. No controller writes to
# them; it would be somebody else.
OBJECTS = [
    ("BareMetalHost", {"spec": {"online": False}}),
    ("Secret", {"data": {"a": "YQ=="}}),
    ("Service", {"spec": {"ports": [{"port": 80}]}}),
    ("Role", {"rules": []}),
]


def refused(call):
    with pytest.raises(KubeError) as caught:
        call()
    assert caught.value.is_conflict, caught.value.message


@pytest.mark.parametrize("kind, content", OBJECTS, ids=[kind for kind, dummy in OBJECTS])
def test_a_write_carries_what_was_checked(lab, kind, content):
    kube, resource, name = lab.kube, KNOWN[kind], "test-conflict"
    # Paused, so that the operator does nothing with a host.
    body = dict(copy.deepcopy(content), apiVersion=resource.api_version, kind=kind, metadata={
        "name": name, "namespace": NAMESPACE, "annotations": {"baremetalhost.metal3.io/paused": ""}})
    first = kube.apply(resource, NAMESPACE, body, checked=ABSENT)
    try:
        refused(lambda: kube.apply(resource, NAMESPACE, body, checked=ABSENT))
        refused(lambda: kube.apply(resource, NAMESPACE, body, dry_run=True, checked=ABSENT))
        label = {"metadata": {"labels": {"by": "another"}}}
        second = kube.patch(resource, NAMESPACE, name, label, checked=first)
        refused(lambda: kube.apply(resource, NAMESPACE, body, checked=first))
        refused(lambda: kube.patch(resource, NAMESPACE, name, label, checked=first))
        refused(lambda: kube.delete(resource, NAMESPACE, name, checked=first))
        assert kube.get(resource, NAMESPACE, name)["metadata"]["labels"] == {"by": "another"}
        assert kube.delete(resource, NAMESPACE, name, checked=second)
        third = kube.apply(resource, NAMESPACE, body, checked=ABSENT)
        refused(lambda: kube.delete(resource, NAMESPACE, name, checked=dict(
            third, metadata=dict(third["metadata"], uid=second["metadata"]["uid"]))))
        kube.delete(resource, NAMESPACE, name, checked=third)
        # Nor is an object made again that somebody else has deleted.
        refused(lambda: kube.apply(resource, NAMESPACE, body, checked=third))
    finally:
        kube.delete(resource, NAMESPACE, name)
    assert kube.get(resource, NAMESPACE, name) is None


class Overtaken(KubeClient):
    """A client before whose first write to a host another client writes."""

    def __init__(self, lab, *changes):
        super().__init__({"kubeconfig": str(lab.dir / "kubeconfig")})
        self._changes, self._other = list(changes), lab.kube

    def request(self, method, path, *arguments, **options):
        if method in ("PATCH", "DELETE") and path.endswith("/baremetalhosts/" + SERVER) and self._changes:
            self._other.patch(HOST, NAMESPACE, SERVER, self._changes.pop(0))
        return super().request(method, path, *arguments, **options)


@pytest.fixture
def free(lab):
    """The server's host without a consumer, before and after."""
    lab.wait_for_host(SERVER, lambda host: host["status"]["provisioning"]["state"] == "available", "available")
    yield lab.host(SERVER)
    lab.kube.patch(HOST, NAMESPACE, SERVER, {"spec": {"consumerRef": None, "online": True},
                                             "metadata": {"labels": {"test": None}}})


def enrol(client, **host):
    params = dict((name, option.get("default")) for name, option in host_argument_spec().items())
    params.update(hosts=[dict({"name": SERVER, "state": "present"}, **host)], namespace=NAMESPACE)
    return HostService(client, params, False, Progress()).run()["hosts"][0]


def test_a_consumer_that_comes_between_reading_and_writing_keeps_its_host(lab, free):
    taken = {"spec": {"consumerRef": CONSUMER, "online": False}}
    image = {"url": "http://198.18.0.1/none.raw", "checksum": "0" * 64, "checksum_type": "sha256"}
    facts = enrol(Overtaken(lab, taken), image=image, labels={"test": "a"})
    assert facts["protected"] == ["image"] and not facts["failed"] and facts["action"] == "updated"
    spec = lab.host(SERVER)["spec"]
    assert "image" not in spec and spec["consumerRef"] == CONSUMER and spec["online"] is False
    assert lab.host(SERVER)["metadata"]["labels"]["test"] == "a"

    lab.kube.patch(HOST, NAMESPACE, SERVER, {"spec": {"consumerRef": None, "online": True}})
    facts = enrol(Overtaken(lab, taken), state="absent")
    assert "changed by somebody else during this run" in facts["error"] and "Somebody" in facts["error"]
    assert not lab.host(SERVER)["metadata"].get("deletionTimestamp")


def test_an_action_is_not_taken_on_a_host_that_gets_a_consumer(lab, free):
    params = dict((name, option.get("default")) for name, option in host_action_argument_spec().items())
    params.update(names=[SERVER], action="power_off", wait=False)
    client = Overtaken(lab, {"spec": {"consumerRef": CONSUMER}})
    facts = HostActionService(client, requests_of(params), params, False, Progress()).run()["hosts"][0]
    assert "in use by Somebody" in facts["error"] and lab.host(SERVER)["spec"]["online"] is True
