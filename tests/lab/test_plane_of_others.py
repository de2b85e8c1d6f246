# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane that others have made in a cluster, by the real clusterctl and kubectl, in part and whole; and its use.

Ironic runs outside of the cluster, as a process of the lab.
"""
from __future__ import annotations

import json

import cert_manager
import outside_ironic
import plane_site
import pytest
import releases
from others_plane import Others
from support import NAMESPACE, only
from watching import States, Untouched

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.transport import FIELD_MANAGER
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import OWNER_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = pytest.mark.plane

SECONDS = 900
CLUSTER_API, REST = ("capi", "cabpk", "kcp"), ("ipam", "bmo", "capm3")
WHOLE = (*CLUSTER_API, *REST)
# What a part consists of, and what of it is others' to change.
KINDS = ("Namespace", "CustomResourceDefinition", "Provider", "Deployment", "ClusterRole", "Service",
         "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


@pytest.fixture(scope="module")
def outside(lab, tmp_path_factory):
    """The lab's Ironic at the address that pods reach."""
    with outside_ironic.served(lab, tmp_path_factory.mktemp("outside")) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def others(lab, kubeconfig, target, outside, tmp_path_factory):
    """They have installed cert-manager and Cluster API with its kubeadm providers."""
    found = Others(lab, kubeconfig, tmp_path_factory.mktemp("others"))
    found.cert_manager(cert_manager.push(lab))
    found.init(*CLUSTER_API)
    outside_ironic.add_secrets(lab, target)
    return found


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, outside):
    return dict(outside_ironic.variables(lab, outside), **outside_ironic.operator(lab, outside), management_plane={
        "mode": "cluster", "kubeconfig": str(kubeconfig), "definitions": "remove", "wait_timeout_seconds": SECONDS})


@pytest.fixture(scope="module")
def external(variables):
    """The same plane, none of which is to be installed."""
    return dict(variables, management_plane=dict(variables["management_plane"], mode="external"))


def described(target, names):
    """Return what parts consist of, with what shows that the collection writes to it; controllers write as well."""
    parts = [catalogue.BY_NAME[name] for name in names]
    spaces, labels = [part.namespace for part in parts], [part.label for part in parts if part.label]
    found = {}
    for item in (dict(item, kind=kind) for kind in KINDS for item in target.list(KNOWN[kind])[0]):
        metadata = item["metadata"]
        if metadata.get("namespace") in spaces or metadata["name"] in spaces or (
                metadata.get("labels") or {}).get(catalogue.CLUSTERCTL_LABEL) in labels:
            found[item["kind"], metadata["name"]] = (
                metadata["generation"] if item["kind"] == "Deployment" else None, metadata.get("labels"),
                FIELD_MANAGER in (field["manager"] for field in metadata.get("managedFields") or []))
    return found


def row(run, name):
    """Return a part's row of the last matrix that was printed."""
    return [line.split() for line in run.output.splitlines() if line.split()[:1] == [name]][-1]


def test_what_others_have_installed_of_it_stays_and_the_rest_is_installed_beside_it(lab, target, others, variables):
    before = described(target, CLUSTER_API)
    assert len(before) > 10
    beside = dict(variables, capi_mode="external")
    lab.playbook("install", extra=beside, seconds=SECONDS).ok()
    assert set(plane_site.managers(target)) == {name for part in RENDERED for name in part.images}
    assert plane_site.not_ready(target) == []
    assert described(target, CLUSTER_API) == before
    assert lab.playbook("install", extra=beside, seconds=SECONDS).ok().changed() == 0


def test_clusterctl_knows_the_providers_of_install_and_installs_none_beside_them(target, others):
    before = described(target, WHOLE)
    done = others.clusterctl("init", *others.named("ipam", "capm3"))
    assert done.returncode == 0 and "Installing" not in done.stderr + done.stdout, json.dumps(vars(done))
    assert described(target, WHOLE) == before


def test_removal_takes_what_install_has_made_and_nothing_of_the_others(lab, target, others, variables):
    before = described(target, CLUSTER_API)
    beside = dict(variables, capi_mode="external", metal3_confirm=len(REST))
    lab.playbook("uninstall", extra=beside, seconds=SECONDS).failed(
        f"Namespace {outside_ironic.NAMESPACE}: found Secret {outside_ironic.CREDENTIALS}",
        "move it to another namespace")
    outside_ironic.remove_secrets(target)
    lab.playbook("uninstall", extra=beside, seconds=SECONDS).ok()
    assert set(plane_site.managers(target)) == {
        name for part in CLUSTER_API for name in catalogue.BY_NAME[part].images}
    assert described(target, CLUSTER_API) == before
    assert plane_site.not_ready(target) == []


@pytest.fixture(scope="module")
def whole(lab, target, others, outside):
    """They have installed the rest, too."""
    outside_ironic.add_secrets(lab, target)
    others.init("ipam", "capm3")
    others.operator(outside.url)
    return described(target, WHOLE)


def test_a_whole_plane_of_others_is_checked_and_not_written_to(lab, target, whole, external):
    run = lab.playbook("install", extra=external, seconds=SECONDS).ok()
    assert run.changed() == 0 and described(target, WHOLE) == whole
    for part in RENDERED:
        assert row(run, part.name)[2] == "unchanged" and row(run, part.name)[1].startswith("v"), run.output
    assert "version not known" not in run.output


@pytest.fixture(scope="module")
def servers(lab, kubeconfig):
    """Two servers that the lab's own plane lets go; their variables by name."""
    with plane_site.two_let_go(lab, kubeconfig, SECONDS) as found:
        yield found


def states(target):
    return dict((host["metadata"]["name"], host["status"]["provisioning"]["state"])
                for host in target.list(KNOWN["BareMetalHost"], NAMESPACE)[0])


def test_servers_are_enrolled_and_one_is_provisioned_through_it(lab, target, whole, servers):
    for name, given in servers.items():
        lab.playbook("enroll", *only(name), extra=given, seconds=SECONDS).ok()
        assert lab.host(name) is None
    assert states(target) == dict.fromkeys(servers, "available")
    first, second = sorted(servers)
    lab.playbook("provision", *only(first), extra=servers[first], seconds=SECONDS).ok()
    assert states(target) == {first: "provisioned", second: "available"}
    assert lab.playbook("provision", *only(first), extra=servers[first], seconds=SECONDS).ok().changed() == 0
    assert described(target, WHOLE) == whole


def test_it_is_neither_changed_nor_removed_unless_it_is_adopted(lab, target, whole, variables):
    wanted = f"metadata.labels.{OWNER_LABEL[0]}: not set, expected {OWNER_LABEL[1]}"
    for arguments in ((), ("--check", "--diff")):
        lab.playbook("install", *arguments, extra=variables, seconds=SECONDS).failed(*(
            f"part {part.name}: Deployment {part.namespace}/{name}: {wanted}" for part in RENDERED
            for name in part.images))
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(RENDERED)), seconds=SECONDS).failed(
        wanted, "remove the part by what has installed it")
    assert described(target, WHOLE) == whole


def test_adopted_it_goes_on_with_its_hosts_and_is_the_collections(lab, target, whole, servers, variables):
    adopted = dict(variables, management_plane=dict(variables["management_plane"], adopt=list(WHOLE)))
    before = dict((name, {(state, "OK")}) for name, state in states(target).items())
    touched = Untouched(lab)
    with States(target) as meanwhile:
        lab.playbook("install", extra=adopted, seconds=SECONDS).ok()
    assert meanwhile.found == before and meanwhile.looked > 10 and touched.resets() == {}
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0
    for name, given in servers.items():
        lab.playbook("unenroll", *only(name), extra=dict(given, metal3_confirm=1), seconds=SECONDS).ok()
    assert states(target) == {}


def test_clusterctl_upgrades_a_provider_of_the_collections_which_does_not_take_it_back(lab, target, others, variables):
    done = others.clusterctl("upgrade", "apply", "--wait-providers", "--ipam", f"metal3:{releases.NEWER}")
    assert done.returncode == 0, json.dumps(vars(done))
    assert plane_site.not_ready(target) == []
    before = described(target, ["ipam"])
    lab.playbook("install", extra=variables, seconds=SECONDS).failed(
        f'part ipam: version: found "{releases.NEWER}"', "definitions cannot go back")
    assert described(target, ["ipam"]) == before
