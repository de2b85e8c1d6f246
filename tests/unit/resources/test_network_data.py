# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network data in Secrets that HostClaims and PreprovisioningImages name."""
from __future__ import annotations

import base64

import pytest
from fakes.progress import Reports
from fakes.resources import Cluster

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.service import FamilyService

GOOD = "links: [{id: eno1, type: phy}]\nnetworks: [{id: canary, link: eno1, type: ipv4_dhcp}]\n"
BAD = "links: [{id: eno1, type: phy}]\nnetworks: [{id: canary, link: eno2, type: ipv4_dhcp}]\n"
CLAIM = {"name": "build-01", "network_data": {"name": "net"}}
IMAGE = {"name": "rack1-01", "network_data_name": "net", "accept_formats": ["iso"]}
ENTRIES = [pytest.param("HostClaim", CLAIM, "network_data.name", id="claim"),
           pytest.param("PreprovisioningImage", IMAGE, "network_data_name", id="image")]


class Namespaces(Cluster):
    """A server that notes which Secrets are read, and may refuse them."""

    def __init__(self, **secrets):
        super().__init__()
        self.status = None
        self.read = []
        for name, content in secrets.items():
            self.add("Secret", name, data={key: base64.b64encode(text.encode()).decode()
                                           for key, text in content.items()})

    def get(self, resource, namespace, name):
        if resource.kind == "Secret":
            self.read.append((namespace, name))
            if self.status:
                raise KubeError("secrets: no", self.status)
        found = super().get(resource, namespace, name)
        # The object is one of any namespace to the server.
        return found and dict(found, metadata=dict(found["metadata"], namespace=namespace))


def run(cluster, kind, *entries, check_mode=False):
    family = FAMILIES[kind]
    params = {"namespace": "metal3", family.option: list(entries)}
    return FamilyService(cluster, family, params, check_mode, Reports(), sleep=lambda seconds: None).run()


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(("kind", "entry", "field"), ENTRIES)
def test_links_that_cannot_be_are_refused_before_anything_is_written(kind, entry, field, check_mode):
    cluster = Namespaces(net={"networkData": BAD})
    with pytest.raises(RefusedError) as refusal:
        run(cluster, kind, entry, dict(entry, name="other"), check_mode=check_mode)
    assert list(map(str, refusal.value.problems)) == [
        f"{kind} {name}: {field}: found Secret net with problems at networkData.networks[0].link, expected links that "
        "can stand on one another, one default route for each family; correct the Secret"
        for name in (entry["name"], "other")]
    assert not cluster.writes() and "canary" not in str(refusal.value) and cluster.read == [("metal3", "net")]


@pytest.mark.parametrize("content", [
    {"networkData": GOOD}, {"value": GOOD}, {"networkData": "# none yet\n"}, {"nmstate": "no mapping"}, {},
    # Who builds the image requires what Ironic does, or not.
    {"networkData": '{"links": []}'}, {"networkData": "interfaces: [eno1]"}],
    ids=["networkData", "value", "comment", "another format", "nothing", "a part", "another form"])
@pytest.mark.parametrize(("kind", "entry", "field"), ENTRIES)
def test_other_network_data_is_no_problem(kind, entry, field, content):
    cluster = Namespaces(net=content)
    result = run(cluster, kind, entry)
    assert result["changed"] and result["warnings"] == [] and cluster.read == [("metal3", "net")]


@pytest.mark.parametrize(("kind", "entry", "field"), ENTRIES)
def test_a_text_that_no_mapping_can_be_read_of_is_refused(kind, entry, field):
    with pytest.raises(RefusedError, match=f"{field}: found Secret net, whose value cannot be read .*a JSON or YAML"):
        run(Namespaces(net={"value": "- links"}), kind, entry)


@pytest.mark.parametrize(("kind", "entry", "field"), ENTRIES)
def test_a_secret_that_comes_later_is_waited_for_and_one_that_goes_is_not_read(kind, entry, field):
    cluster = Namespaces()
    assert run(cluster, kind, entry)["changed"]
    cluster.read.clear()
    assert run(cluster, kind, dict(entry, state="absent"))["changed"] and cluster.read == []


@pytest.mark.parametrize(("kind", "entry", "field"), ENTRIES)
def test_who_may_not_read_secrets_is_warned(kind, entry, field):
    cluster = Namespaces(net={"networkData": BAD})
    cluster.status = 403
    result = run(cluster, kind, entry)
    assert result["changed"] and result["warnings"] == [
        "the network data in metal3/net was not checked, because this account may not get the Secrets; allow it to get "
        "them"]
    cluster.status = 500
    with pytest.raises(KubeError, match="secrets: no"):
        run(cluster, kind, entry)


def test_a_claim_may_name_a_secret_of_another_namespace():
    cluster = Namespaces(net={"networkData": BAD})
    with pytest.raises(RefusedError, match=r"HostClaim build-01: network_data.name"):
        run(cluster, "HostClaim", dict(CLAIM, network_data={"name": "net", "namespace": "tenants"}))
    assert cluster.read == [("tenants", "net")]
