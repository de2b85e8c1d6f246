# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ironic that others have applied by kubectl, on a real API server without controllers.

It is refused until it is adopted, and stands in the plan.
"""
from __future__ import annotations

import os
import subprocess

import bare_plane
import pytest
from fakes import move_planes
from support import REPOSITORY, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import OWNER_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import IRONIC
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.engine import Engine

pytestmark = pytest.mark.plane

LACKS = f"metadata.labels.{OWNER_LABEL[0]}: not set, expected {OWNER_LABEL[1]}"


@pytest.fixture(scope="module")
def servers():
    """An API server without controllers."""
    with bare_plane.served() as found:
        yield found


@pytest.fixture(scope="module")
def target(servers):
    return bare_plane.client(servers)


@pytest.fixture(scope="module")
def theirs(servers, target):
    """Their Ironic, by upstream's manifests with a login and an image of a release; what is stored of it."""
    target.apply(KNOWN["Namespace"], None, {
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": IRONIC.namespace}})
    rendered = Engine(str(REPOSITORY / "lab" / "engine"), user_folders.cache_dir()).ironic_dir
    variant = ironic.variant("http_basic", "none", False, False) + ".yaml"
    kubectl(servers, "apply", "-f", os.path.join(rendered, variant))
    kubectl(servers, "set", "image", "deployment/ironic", f"*={ironic.IMAGE}:v34.0.0")

    def stored():
        found = target.get(KNOWN["Deployment"], IRONIC.namespace, "ironic")
        return found["metadata"]["resourceVersion"], found["metadata"].get("labels"), found["spec"]

    return stored


def kubectl(servers, *arguments):
    done = subprocess.run([
        os.path.join(move_planes.engine_dir(), "bin", "kubectl"), "--kubeconfig", servers.kubeconfig(bare_plane.NAME),
        "--namespace", IRONIC.namespace, *arguments], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


def with_ironic(servers, *flags, **arguments):
    """Run plane_ironic and return its result; nothing is waited for."""
    return module("plane_ironic", *flags, **dict({
        "kubeconfig": servers.kubeconfig(bare_plane.NAME), "wait": False, "tls": "none",
        "source_dir": str(REPOSITORY / "lab" / "engine"), "provisioning_ip": "192.0.2.2",
        "deploy_kernel_url": "https://images.example/kernel", "deploy_ramdisk_url": "https://images.example/ramdisk",
        "image_version": "v35.0.0"}, **arguments))


PLANNED = {"certificates": "collection", "planned_ironic": {"image_version": "v35.0.0"}}


@pytest.mark.parametrize("flags", [["--check"], []])
def test_their_ironic_is_neither_changed_nor_removed(servers, theirs, flags):
    before = theirs()
    lacks = f"part ironic: Deployment {IRONIC.namespace}/ironic: {LACKS}"
    for arguments in ({}, {"adopt": ["bmo"]}):
        with pytest.raises(AssertionError) as caught:
            with_ironic(servers, *flags, **arguments)
        assert lacks in str(caught.value) and "add ironic to adopt (management_plane.adopt)" in str(caught.value)
    with pytest.raises(AssertionError) as caught:
        bare_plane.run(servers, [], "--check", **PLANNED)
    assert lacks in str(caught.value)
    with pytest.raises(AssertionError, match="remove the part by what has installed it"):
        with_ironic(servers, *flags, state="absent", confirm="ironic")
    assert theirs() == before


def test_their_ironic_has_a_row_in_the_plan_and_is_adopted_by_name(servers, theirs):
    before = theirs()
    plan = bare_plane.run(servers, [], "--check", adopt=["ironic"], **PLANNED)
    assert [(row["found"], row["planned"]) for row in plan["matrix"] if row["name"] == "ironic"] == [
        ("v34.0.0", "v35.0.0")]
    assert plan["upgrades"] == [{"part": "ironic", "found": "v34.0.0", "planned": "v35.0.0", "interrupts": False}]
    assert with_ironic(servers, "--check", adopt=["ironic"])["changed"] and theirs() == before
    assert with_ironic(servers, adopt=["ironic"])["changed"]
    _version, labels, spec = theirs()
    assert labels[OWNER_LABEL[0]] == OWNER_LABEL[1]
    pod = spec["template"]["spec"]
    # Their DHCP server and the download of the agent are gone, which nobody asks for.
    assert {item["image"] for item in pod["containers"]} == {f"{ironic.IMAGE}:v35.0.0"}
    assert "ironic-dnsmasq" not in {item["name"] for item in pod["containers"]} and not pod.get("initContainers")
    assert not with_ironic(servers)["changed"]


def test_an_adopted_ironic_is_not_left_behind_in_its_namespace(servers, theirs):
    with pytest.raises(AssertionError, match=f"set ironic_namespace={IRONIC.namespace}, or remove that one first"):
        with_ironic(servers, namespace="elsewhere")
