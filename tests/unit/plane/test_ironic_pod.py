# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the containers of Ironic's pod, and what is refused of them."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes.plane_server import Server
from plane import test_cluster_ironic as one_pod
from plane import test_ironic_replicas as pods
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import ironic_module
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic, ironic_database, ironic_pod

REPOSITORY = Path(__file__).resolve().parents[3]
DIGEST = "sha256:" + "1" * 64
NODE = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
REQUESTS = {"requests": {"memory": "2Gi"}}


def containers(**changes):
    """Return the containers of a pod that has all of upstream's, by name, and its specification."""
    given, items = one_pod.with_mariadb(**dict({"cache_url": "https://images.example", "keepalived": True,
                                                "provisioning_interface": "eno1"}, **changes)), one_pod.shipped()
    items[0]["spec"]["template"]["spec"]["containers"] += [
        one_pod.container("ironic-endpoint-keepalived", image=ironic.KEEPALIVED),
        one_pod.container("mariadb", image=ironic_database.IMAGE)]
    found = dict((item["kind"], item) for item in ironic.desired(items, given, []))
    spec = found["Deployment"]["spec"]["template"]["spec"]
    return dict((item["name"], item) for item in spec["containers"] + spec["initContainers"]), spec


def test_each_image_has_a_version_a_digest_and_a_pull_policy():
    found, _spec = containers(
        image_pull_policy="Always", digest=DIGEST, image_registry_mirror="mirror.example", images={
            "keepalived": {"version": "v0.9.0", "digest": None}, "mariadb": {"version": None, "digest": DIGEST},
            "ipa_downloader": {"version": "v1", "digest": DIGEST}})
    of_metal3 = "mirror.example/quay.io/metal3-io/"
    assert dict((name, item["image"].removeprefix(of_metal3)) for name, item in found.items()) == {
        "ironic": f"ironic:v39.0.0@{DIGEST}", "ironic-httpd": f"ironic:v39.0.0@{DIGEST}",
        "ironic-endpoint-keepalived": "keepalived:v0.9.0", "mariadb": f"mariadb:latest@{DIGEST}",
        "ironic-ipa-downloader": f"ironic-ipa-downloader:v1@{DIGEST}"}
    assert set(item["imagePullPolicy"] for item in found.values()) == {"Always"}
    assert set(item["imagePullPolicy"] for item in containers()[0].values()) == {"IfNotPresent"}


@pytest.mark.parametrize("mariadb", [False, True])
@pytest.mark.parametrize("keepalived", [False, True])
@pytest.mark.parametrize("cache_url", [None, "https://images.example"])
def test_what_is_pulled_is_what_the_pod_of_these_options_has(cache_url, keepalived, mariadb):
    """An archive is gathered by the one, without a manifest at hand, and the site installs the other."""
    given = (one_pod.with_mariadb if mariadb else one_pod.options)(
        cache_url=cache_url, keepalived=keepalived, digest=DIGEST,
        images={"mariadb": {"version": "v2", "digest": None}})
    items = one_pod.shipped()
    # As the rendered variants have them.
    items[0]["spec"]["template"]["spec"]["containers"] += [
        one_pod.container(name, image=image) for name, image, is_there in (
            ("ironic-endpoint-keepalived", ironic.KEEPALIVED, keepalived),
            ("mariadb", ironic_database.IMAGE, mariadb)) if is_there]
    deployment, = [item for item in ironic.desired(items, given, []) if item["kind"] == "Deployment"]
    spec, pulled = deployment["spec"]["template"]["spec"], ironic_pod.pulled(given)
    assert set(pulled) == set(item["image"] for item in ironic_pod.containers(spec)) and len(set(pulled)) == len(pulled)


def test_a_container_has_the_resources_of_its_name():
    found, _spec = containers(resources={"ironic": REQUESTS, "ironic-ipa-downloader": {"limits": {"cpu": 1}}})
    assert found["ironic"]["resources"] == REQUESTS
    assert found["ironic-ipa-downloader"]["resources"] == {"limits": {"cpu": 1}}
    assert not any("resources" in item for name, item in found.items()
                   if name not in ("ironic", "ironic-ipa-downloader"))


def test_the_pod_keeps_to_nodes_and_several_pods_also_away_from_each_other():
    assert containers(affinity=NODE)[1]["affinity"] == NODE
    assert "affinity" not in containers()[1]

    def affinity(given):
        deployment = pods.desired(pods.options(affinity=given))["Deployment", "ironic"]
        return deployment["spec"]["template"]["spec"]["affinity"]

    required = "requiredDuringSchedulingIgnoredDuringExecution"
    alone = affinity(None)
    assert affinity(NODE) == dict(NODE, **alone)
    mine = {"topologyKey": "zone", "labelSelector": {}}
    given = {"podAntiAffinity": {required: [mine], "preferredDuringSchedulingIgnoredDuringExecution": []}}
    assert affinity(given)["podAntiAffinity"] == dict(
        given["podAntiAffinity"], **{required: [*alone["podAntiAffinity"][required], mine]})
    assert given["podAntiAffinity"][required] == [mine]


def test_what_asks_elsewhere_uses_the_proxy_and_nothing_of_the_pod_is_asked_through_it():
    found, _spec = containers(proxy={"http": None, "https": "http://proxy.example:3128",
                                     "no_proxy": "192.0.2.0/24, .example.org"})
    for name in ("ironic", "ironic-ipa-downloader"):
        variables = dict((item["name"], item["value"]) for item in found[name]["env"])
        direct = "192.0.2.0/24,.example.org,localhost,127.0.0.1,::1,192.0.2.2"
        assert variables == {"HTTPS_PROXY": "http://proxy.example:3128", "https_proxy": "http://proxy.example:3128",
                             "NO_PROXY": direct, "no_proxy": direct}
    assert not any("env" in item for name, item in found.items() if name not in ("ironic", "ironic-ipa-downloader"))
    assert not any("env" in item for item in containers(proxy={"no_proxy": "a"})[0].values())
    environment = pods.desired(pods.options(proxy={"http": "http://p"}))["Deployment", "ironic"]["spec"]["template"][
        "spec"]["containers"]
    direct = next(item["value"] for item in environment[0]["env"] if item["name"] == "NO_PROXY")
    assert direct.split(",")[3:] == ["192.0.2.2", *pods.NODES, "db.example"]


@pytest.mark.parametrize(("changes", "text"), [
    ({"digest": "1" * 64}, "ironic: digest: found"),
    ({"images": {"mariadb": {"digest": "sha256:1"}}}, "ironic: images.mariadb.digest: found"),
    ({"resources": {"mariadb": REQUESTS}}, "ironic: resources.mariadb: found a container that Ironic's pod does not "
     "have, expected one of ironic, ironic-httpd; correct the name, or remove it")])
def test_what_does_not_fit_is_refused_before_anything_is_written(changes, text):
    server = Server()
    with pytest.raises(RefusedError) as caught:
        one_pod.run(server, one_pod.options(**changes)).present()
    assert text in str(caught.value) and server.writes == []


def test_the_default_is_the_release_that_upstream_tests_with_the_pinned_operator():
    """Metal3's page of supported versions, CI Test Matrix: an operator of another minor needs another look there."""
    pin, = re.findall(r"metal3-io/baremetal-operator (v0\.\d+)\.", (
        REPOSITORY / "lab" / "engine" / "go.mod").read_text())
    assert (pin, ironic_pod.DEFAULT_TAG) == ("v0.13", "v35.0.0")
    assert ironic_module.ironic_argument_spec()["image_version"]["default"] == ironic_pod.DEFAULT_TAG
    defaults = ansible_yaml.read(REPOSITORY / "roles" / "ironic" / "defaults" / "main.yml")
    assert defaults["ironic_image_version"] == ironic_pod.DEFAULT_TAG
