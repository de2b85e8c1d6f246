# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images a resource Ironic results in, by its own fields and the manifests of the operator."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import operator_images

METAL3 = "quay.io/metal3-io/"
OPERATOR = METAL3 + "ironic-standalone-operator:release-0.9"
CONFIG = "ironic-standalone-operator-config"


def manifests(data=None, config=True, **container):
    """Return the operator's manifests: those of its release, with what is given of the container and the ConfigMap."""
    manager = dict({"name": "manager", "image": OPERATOR, "command": ["/manager"], "args": ["--leader-elect"],
                    "envFrom": [{"configMapRef": {"name": CONFIG}}]}, **container)
    found = [{"kind": "Namespace", "metadata": {"name": "x"}},
             {"kind": "Deployment", "metadata": {"name": "operator"}, "spec": {"template": {"spec": {
                 "containers": [manager]}}}}]
    return found + ([{"kind": "ConfigMap", "metadata": {"name": CONFIG}, "data": data or {}}] if config else [])


def pulled(objects, **options):
    return operator_images.pulled(dict({"manifests": "/srv/install.yaml"}, **options), objects)


def images(objects, **options):
    found = pulled(objects, **options)
    assert (found.problems, found.unknown) == ([], [])
    assert found.images[0].partition("@")[0].rpartition(":")[0].endswith("ironic-standalone-operator")
    return [image.replace(METAL3, "") for image in found.images[1:]]


DOWNLOADER = "ironic-ipa-downloader:latest"


@pytest.mark.parametrize("tag, expected", [
    ("release-0.9", "ironic:release-35.0"), ("v0.9.3", "ironic:release-35.0"), ("release-0.11", "ironic:release-38.0"),
    ("latest", "ironic:latest")])
def test_the_operators_release_has_a_default(tag, expected):
    image = f"{METAL3}ironic-standalone-operator:{tag}"
    assert images(manifests(image=image)) == [expected, DOWNLOADER]
    assert images(manifests(image=image + "@sha256:" + "0" * 64)) == [expected, DOWNLOADER]


@pytest.mark.parametrize("objects, options, expected", [
    (manifests({"IRONIC_IMAGE": "example.org/ironic:a", "KEEPALIVED_IMAGE": "example.org/keepalived:b",
                "RAMDISK_DOWNLOADER_IMAGE": "example.org/ipa:c"}), {"keepalived": True},
     ["example.org/ironic:a", "example.org/ipa:c", "example.org/keepalived:b"]),
    (manifests({"IRONIC_VERSION": "34.0"}), {}, ["ironic:release-34.0", DOWNLOADER]),
    # The container's own variables come before those of a ConfigMap, and flags before both.
    (manifests({"IRONIC_VERSION": "33.0"}, env=[{"name": "IRONIC_VERSION", "value": "34.0"}]), {},
     ["ironic:release-34.0", DOWNLOADER]),
    (manifests({"IRONIC_IMAGE": "example.org/ironic:a"}, args=["--ironic-image=example.org/ironic:b"]), {},
     ["example.org/ironic:b", DOWNLOADER]),
    (manifests({"IMAGE": "example.org/ironic:a"}, args=["-ironic-image", "$(IMAGE)"]), {},
     ["example.org/ironic:a", DOWNLOADER]),
    (manifests({"key": "34.0"}, env=[{"name": "IRONIC_VERSION", "valueFrom": {
        "configMapKeyRef": {"name": CONFIG, "key": "key"}}}]), {}, ["ironic:release-34.0", DOWNLOADER]),
    # What the resource says comes first; its version means upstream's image, whatever the operator's is.
    (manifests({"IRONIC_IMAGE": "example.org/ironic:a"}), {"version": "34.0"}, ["ironic:release-34.0", DOWNLOADER]),
    (manifests(), {"version": "latest"}, ["ironic:latest", DOWNLOADER]),
    (manifests({"IRONIC_IMAGE": "example.org/ironic:a"}), {"version": "34.0", "images": {
        "ironic": "example.org/ironic:z", "keepalived": "example.org/keepalived:z",
        "deploy_ramdisk_downloader": "example.org/ipa:z"}, "keepalived": True},
     ["example.org/ironic:z", "example.org/ipa:z", "example.org/keepalived:z"]),
    (manifests(), {"disable_downloader": True, "images": {"keepalived": "example.org/keepalived:z"},
                   "other_images": ["example.org/a:1"]}, ["example.org/a:1", "ironic:release-35.0"]),
    # Behind the site's mirror.
    (manifests(image=f"mirror.example/all/{OPERATOR}"), {
        "registry_mirror": "mirror.example/all/", "images": {"ironic": f"mirror.example/all/{METAL3}ironic:x"}},
     ["ironic:x", DOWNLOADER])])
def test_what_decides_comes_in_the_operators_order(objects, options, expected):
    assert images(objects, **options) == expected


def test_without_manifests_the_resource_says_what_it_says():
    found = pulled(None, version="34.0")
    assert found.images == [METAL3 + "ironic:release-34.0", METAL3 + DOWNLOADER]
    assert found.unknown == ["the operator's image"]
    assert [text.partition(",")[0] for text in pulled(None).unknown] == ["the operator's image", "Ironic's image"]


@pytest.mark.parametrize("objects, text", [
    ([], "found no containers with an image …/ironic-standalone-operator, expected one, of the operator's Deployment"),
    (manifests() + manifests(), "found 2 containers"),
    (manifests(config=False), f'found no ConfigMap "{CONFIG}", which the operator reads, expected all that its'),
    (manifests(image="example.org/ironic-standalone-operator:mine"), 'found an operator of "mine", expected a release '
     "whose default is known: 0.4"),
    (manifests(image=METAL3 + "ironic-standalone-operator:release-9.9"), 'found an operator of "release-9.9"'),
    (manifests(image=5), "found no containers"),
    ([{"kind": "Deployment", "spec": {"template": 5}}], "found no containers")])
def test_manifests_that_do_not_say_it_are_named(objects, text):
    problem, = pulled(objects).problems
    assert str(problem).startswith('file "/srv/install.yaml": ironic_operator_manifests: ') and text in str(problem)


def test_an_optional_config_map_need_not_be_there():
    objects = manifests(config=False, envFrom=[{"configMapRef": {"name": CONFIG, "optional": True}}])
    assert images(objects) == ["ironic:release-35.0", DOWNLOADER]
