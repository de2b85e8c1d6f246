# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators set on the plane's parts, by its effects on real pods of a cluster of two machines.

The worker is kept for the plane by a label and a taint. The IP address manager stands for parts with one image, Cluster
API's three for the others, Ironic's pod for itself; the registry has their images once more, where it wants a login.
"""
from __future__ import annotations

import base64
import json

import leaders
import plane_site
import pytest
import registry_store
from connect_proxy import ConnectProxy
from support import eventually
from workload import AGNHOST

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.ironic_place import (
    IRONIC_CONTAINER,
    IRONIC_DEPLOYMENT,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.settings import POD_SECURITY_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME

pytestmark = [pytest.mark.nodes, pytest.mark.plane]

SECONDS = 900
# Shorter than what a cause has to last until a run ends by it: all of them are named when the time is up.
SHORT_SECONDS = 45
CAPI = [BY_NAME[name] for name in ("capi", "cabpk", "kcp")]
IPAM = BY_NAME["ipam"]
OPERATORS = BY_NAME["bmo"].namespace
LABEL = {"example.org/plane": "yes"}
TAINT = {"key": "example.org/kept-for", "value": "plane", "effect": "NoSchedule"}
TOLERATION = {"key": TAINT["key"], "operator": "Exists", "effect": "NoSchedule"}
CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False)
POOLS = Resource("cluster.x-k8s.io", "v1beta2", "machinepools", "MachinePool", True)
CLASS, PRIORITY = "management-plane", 1234567
RESOURCES = {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "3Gi"}}
SECRET = "registry-login"
PRIVATE = "/private"
UNKNOWN_DIGEST = "sha256:" + "0" * 64
# Of client-go, at its level 3.
DETAIL = "Starting reflector"
# kubeadm's default for Services, of which the API server has the first address.
SERVICES, API_SERVER = "10.96.0.0/12", "10.96.0.1:443"


@pytest.fixture(scope="module")
def registry(lab):
    """The name of the lab's registry where nodes reach it."""
    return f"{plane_site.bridge(lab)}:{lab.figures['ports']['registry']}"


@pytest.fixture(scope="module")
def store(lab, tmp_path_factory):
    return registry_store.opened(lab, tmp_path_factory.mktemp("registry"))


@pytest.fixture(scope="module")
def second(store, tmp_path_factory):
    """The digest of another image of the IP address manager, where a login is wanted; the tag is that of the first."""
    name = PRIVATE[1:] + "/" + registry_store.IMAGE
    assert registry_store.push(store, name, store.login).returncode == 0
    other = registry_store.relabelled(store, tmp_path_factory.mktemp("second") / "image")
    assert registry_store.push(other, name + "-second", store.login).returncode == 0
    assert other.digest != store.digest == registry_store.digest(store, name, store.login)
    return other.digest


@pytest.fixture(scope="module")
def digest_of_ironic(store):
    """The digest of Ironic's image, which is where a login is wanted, too."""
    name = f"{ironic.IMAGE}:{plane_site.IRONIC_VERSION}"
    registry_store.copied(store, f"docker://{store.host}/{name}", f"{PRIVATE[1:]}/{name}", registry_store.SAME)
    return registry_store.digest(store, name, store.login)


@pytest.fixture(scope="module")
def kubeconfig(lab, registry):
    authority = (lab.dir / "pki" / "ca.crt").read_text()
    mirrors = [{"registry": name, "url": f"https://{registry}/{name}", "ca_certificate": authority}
               for name in ("quay.io", "registry.k8s.io")]
    # Asked by its own name, with what the pod brings along.
    mirrors.append({"registry": registry, "url": f"https://{registry}", "ca_certificate": authority})
    with plane_site.cluster(lab, "plane", cluster_workers={"pool-a": {"replicas": 1}},
                            lab_registry_mirrors=mirrors) as path:
        yield path


@pytest.fixture(scope="module")
def nodes(target):
    """The names of the control plane machine and of the worker, which is kept for the plane."""
    found = target.list(KNOWN["Node"])[0]
    worker, = [item["metadata"]["name"] for item in found
               if "node-role.kubernetes.io/control-plane" not in item["metadata"]["labels"]]
    target.patch(KNOWN["Node"], None, worker, {"metadata": {"labels": LABEL}, "spec": {"taints": [TAINT]}})
    other, = {item["metadata"]["name"] for item in found} - {worker}
    return other, worker


@pytest.fixture(scope="module")
def addresses(target, nodes):
    return [plane_site.address_of(target.get(KNOWN["Node"], None, name)) for name in nodes]


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, addresses, tmp_path_factory):
    return plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"), addresses[1])


@pytest.fixture(scope="module")
def login(target, store, registry, shipped):
    """The Secret with the registry's login, in the namespaces of the IP address manager and of Ironic."""
    content = json.dumps({"auths": {registry: {"auth": base64.b64encode(
        f"{store.username}:{store.password}".encode()).decode()}}})
    target.create(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OPERATORS}})
    for namespace in (IPAM.namespace, OPERATORS):
        target.apply(KNOWN["Secret"], namespace, {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": namespace},
            "type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": content}})
    return SECRET


@pytest.fixture(scope="module")
def priority(target):
    target.apply(CLASSES, None, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": CLASS}, "value": PRIORITY})
    return CLASS


@pytest.fixture(scope="module")
def proxy(lab, addresses):
    """A proxy from which the API server is reached at the control plane's machine."""
    made = ConnectProxy(plane_site.bridge(lab), (addresses[0], 6443))
    yield made
    made.close()


def install(lab, variables, tags="capi,ipam", seconds=None, **changes):
    """Run the playbook ``install`` for some parts; for a fault with a short wait."""
    plane = dict(variables["management_plane"], **({"wait_timeout_seconds": seconds} if seconds else {}))
    return lab.playbook("install", "--tags", tags, extra=dict(variables, management_plane=plane, **changes),
                        seconds=SECONDS)


def deployment(target, part):
    return target.get(KNOWN["Deployment"], part.namespace, next(iter(part.images)))


def only_pod(target, stored):
    """Return the pod of a Deployment, once it is alone."""
    def alone():
        found = list(leaders.pods(target, stored).values())
        return found[0] if len(found) == 1 else None

    return eventually(alone, 120, "one pod of " + stored["metadata"]["name"])


def pod_of(target, part):
    return only_pod(target, deployment(target, part))


def log(target, part):
    metadata = pod_of(target, part)["metadata"]
    path = KNOWN["Pod"].path(metadata["namespace"], metadata["name"], "log")
    return target.beginning(path, {}, metadata["name"], 10_000_000).decode()


def stored_settings(target):
    """Return all of the parts that a setting could change."""
    found = dict((part.name, deployment(target, part)["spec"]) for part in [*CAPI, IPAM])
    found["labels"] = target.get(KNOWN["Namespace"], None, IPAM.namespace)["metadata"]["labels"]
    return found


def refusal_of_privileged_pod(target):
    """Return what the API server says of a privileged pod in the IP address manager's namespace; None if nothing."""
    try:
        target.create(KNOWN["Pod"], IPAM.namespace, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "privileged"}, "spec": {"containers": [
                {"name": "one", "image": AGNHOST, "securityContext": {"privileged": True}}]}}, dry_run=True)
    except KubeError as error:
        return str(error)
    return None


def refusal_of_machine_pool(target):
    """Return what Cluster API's webhook says of a kind behind a feature gate."""
    template = {"clusterName": "a", "bootstrap": {"dataSecretName": "a"}, "infrastructureRef": {
        "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3MachineTemplate", "name": "a"}}
    try:
        target.create(POOLS, "default", {
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "metadata": {"name": "a"},
            "spec": {"clusterName": "a", "template": {"spec": template}}}, dry_run=True)
    except KubeError as error:
        return str(error)
    return None


def is_json(line):
    try:
        return "msg" in json.loads(line)
    except ValueError:
        return False


@pytest.fixture(scope="module")
def shipped(lab, target, variables):
    """The parts as they come without settings."""
    install(lab, variables).ok()
    return stored_settings(target)


def test_without_settings_nothing_of_what_they_do_is_there(target, nodes, shipped):
    assert DETAIL not in log(target, IPAM)
    text = log(target, CAPI[0])
    assert text and "gc 1 @" not in text and not any(map(is_json, text.splitlines()))
    assert pod_of(target, IPAM)["spec"]["priority"] == 0
    assert refusal_of_privileged_pod(target) is None and refusal_of_machine_pool(target) is None
    # None of them tolerates the taint.
    assert {pod_of(target, part)["spec"]["nodeName"] for part in [*CAPI, IPAM]} == {nodes[0]}


def test_a_taint_that_is_not_tolerated_and_a_registry_without_its_login_are_named(
        lab, target, variables, registry, nodes, second, shipped):
    install(lab, variables, seconds=SHORT_SECONDS, capi_options={"node_selector": LABEL},
            ipam_options={"image_registry_mirror": registry + PRIVATE}).failed(
                "Deployment capi-system/capi-controller-manager: ", "had untolerated taint",
                "correct node_selector or affinity, or label a node; set tolerations, or remove the taint",
                "Deployment metal3-ipam-system/ipam-controller-manager: ", f"{registry}{PRIVATE}/quay.io/",
                "name a Secret with the registry's login in pull_secrets")
    pending = [item for part in CAPI for item in leaders.pods(target, deployment(target, part)).values()
               if item["spec"].get("nodeSelector")]
    assert len(pending) == len(CAPI)
    assert {item["status"]["phase"] for item in pending} == {"Pending"}
    assert not [item for item in pending if item["spec"].get("nodeName")]


def test_a_digest_that_is_not_there_and_an_unknown_argument_are_named(lab, variables, registry, login, shipped):
    install(lab, variables, seconds=SHORT_SECONDS, capi_options={"arguments": ["--no-such-flag"]}, ipam_options={
        "image_registry_mirror": registry + PRIVATE, "pull_secrets": [login], "digest": UNKNOWN_DIGEST}).failed(
            "Deployment capi-system/capi-controller-manager: ", "unknown flag: --no-such-flag",
            "correct arguments or feature_gates", f"@{UNKNOWN_DIGEST}: not found",
            "put the image into the registry, or correct its name or tag")


def test_a_priority_class_that_is_not_there_and_an_unknown_feature_gate_are_named(lab, variables, shipped):
    install(lab, variables, seconds=SHORT_SECONDS, capi_options={"feature_gates": {"NoSuchGate": True}},
            ipam_options={"priority_class": "no-such-class"}).failed(
                "Deployment capi-system/capi-controller-manager: ", "unrecognized feature gate: NoSuchGate",
                "correct arguments or feature_gates", "no PriorityClass with name no-such-class was found",
                "create the PriorityClass, or correct priority_class")


@pytest.fixture(scope="module")
def settings(registry, second, login, priority, proxy):
    return {
        "ipam_options": {
            "node_selector": LABEL, "tolerations": [TOLERATION], "priority_class": priority, "pull_secrets": [login],
            "image_registry_mirror": registry + PRIVATE, "digest": second, "log_level": 4, "pod_security": "restricted",
            "proxy": {"https": proxy.url}},
        "capi_options": {
            # Go's runtime reads it.
            "environment": {"GODEBUG": "gctrace=1"}, "arguments": ["--logging-format=json"],
            "feature_gates": {"MachinePool": False}, "proxy": {"https": proxy.url, "no_proxy": SERVICES}}}


@pytest.fixture(scope="module")
def installed(lab, variables, settings, shipped):
    install(lab, variables, **settings).ok()


def test_the_tainted_node_that_is_selected_runs_what_tolerates_it_and_nothing_else(target, nodes, installed):
    assert pod_of(target, IPAM)["spec"]["nodeName"] == nodes[1]
    assert {pod_of(target, part)["spec"]["nodeName"] for part in CAPI} == {nodes[0]}


def test_the_container_is_that_of_the_digest_and_comes_by_the_secrets_login(target, registry, second, installed):
    status, = pod_of(target, IPAM)["status"]["containerStatuses"]
    assert status["imageID"] == f"{registry}{PRIVATE}/{registry_store.IMAGE.rpartition(':')[0]}@{second}"
    assert status["ready"]


def test_the_pods_priority_is_the_number_of_its_class(target, installed):
    assert pod_of(target, IPAM)["spec"]["priority"] == PRIORITY


def test_a_pod_beneath_the_level_of_the_namespace_is_refused_and_the_parts_own_runs(target, installed):
    assert 'violates PodSecurity "restricted:latest": privileged' in refusal_of_privileged_pod(target)


def test_the_higher_log_level_says_more(target, installed):
    assert DETAIL in log(target, IPAM)


def test_arguments_feature_gates_and_environment_count_for_each_of_cluster_apis_managers(target, installed):
    for part in CAPI:
        lines = log(target, part).splitlines()
        assert any(line.startswith("gc 1 @") for line in lines), part.name
        assert any(map(is_json, lines)), part.name
    assert "MachinePool feature flag is enabled" in refusal_of_machine_pool(target)


def test_requests_go_by_the_proxy_but_for_the_addresses_without_one(addresses, proxy, installed):
    """Of the machine of the IP address manager; Cluster API's managers, on the other one, have the same proxy."""
    assert proxy.asked == {(addresses[1], API_SERVER)}


def test_a_second_run_changes_nothing(lab, variables, settings, installed):
    assert install(lab, variables, **settings).ok().changed() == 0


def test_an_image_of_the_sites_own_runs_under_its_own_name(
        lab, target, variables, settings, registry, store, second, login, installed):
    """The build of the site has a name and a tag of its own; the plan knows its version all the same."""
    name = PRIVATE[1:] + "/team/ip-address-manager"
    registry_store.copied(store, f"docker://{store.host}/{PRIVATE[1:]}/{registry_store.IMAGE}-second", f"{name}:mine",
                          registry_store.SAME)
    own = dict(settings["ipam_options"], image=f"{registry}/{name}:mine")
    del own["digest"]
    changed = dict(settings, ipam_options=own)
    assert install(lab, variables, "ipam", **changed).ok().changed()
    pod = pod_of(target, IPAM)
    (container,), (status,) = pod["spec"]["containers"], pod["status"]["containerStatuses"]
    # The image had another name before, by which its digest may be shown.
    assert container["image"] == f"{registry}/{name}:mine" and status["imageID"].endswith(f"@{second}")
    assert status["ready"]
    again = install(lab, variables, **changed).ok()
    assert again.changed() == 0 and "version not known" not in again.output
    install(lab, variables, "ipam", ipam_options=dict(own, image=f"{registry}/{name}")).failed(
        "part ipam: image: found", "expected <registry>/<path>/ip-address-manager with a tag or a digest")


def test_settings_that_are_taken_back_leave_the_shipped_state(lab, target, variables, nodes, shipped, installed):
    install(lab, variables).ok()
    assert stored_settings(target) == shipped
    assert refusal_of_privileged_pod(target) is None and refusal_of_machine_pool(target) is None
    assert pod_of(target, IPAM)["spec"]["nodeName"] == nodes[0]
    assert install(lab, variables).ok().changed() == 0


def affinity(node):
    """Return an affinity that only one node has."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}}


@pytest.fixture(scope="module")
def of_ironic(registry):
    """Settings of Ironic's pod on the worker, whose address it has."""
    return {"ironic_node_selector": LABEL, "ironic_tolerations": [TOLERATION],
            "ironic_image_registry_mirror": registry + PRIVATE}


def test_ironics_registry_without_its_login_is_named(lab, variables, of_ironic, digest_of_ironic):
    install(lab, variables, "ironic", SHORT_SECONDS, **of_ironic).failed(
        "Deployment baremetal-operator-system/ironic: ", "name a Secret with the registry's login in pull_secrets")


def test_ironics_pod_has_node_priority_login_and_digest_and_its_namespace_the_operators_level(
        lab, target, variables, registry, nodes, of_ironic, login, priority, digest_of_ironic):
    settings = dict(of_ironic, ironic_pull_secrets=[login], ironic_priority_class=priority,
                    ironic_image_digest=digest_of_ironic, ironic_resources={IRONIC_CONTAINER: RESOURCES},
                    ironic_affinity=affinity(nodes[1]), ironic_image_pull_policy="Always",
                    bmo_options={"pod_security": "privileged"})
    install(lab, variables, "ironic,bmo", **settings).ok()
    pod = only_pod(target, target.get(KNOWN["Deployment"], OPERATORS, IRONIC_DEPLOYMENT))
    assert pod["spec"]["nodeName"] == nodes[1] and pod["spec"]["priority"] == PRIORITY
    assert {item["imageID"] for item in pod["status"]["containerStatuses"]} == {
        f"{registry}{PRIVATE}/{ironic.IMAGE}@{digest_of_ironic}"}
    container, = (item for item in pod["spec"]["containers"] if item["name"] == IRONIC_CONTAINER)
    assert (container["resources"], container["imagePullPolicy"]) == (RESOURCES, "Always")
    assert pod["spec"]["affinity"] == affinity(nodes[1])
    labels = target.get(KNOWN["Namespace"], None, OPERATORS)["metadata"]["labels"]
    assert labels[POD_SECURITY_LABEL] == "privileged"
    assert install(lab, variables, "ironic,bmo", **settings).ok().changed() == 0


def test_a_level_that_ironics_pod_does_not_keep_is_refused_before_it_is_written(lab, target, variables):
    install(lab, variables, "bmo", bmo_options={"pod_security": "restricted"}).failed(
        'part bmo: pod_security: found "restricted", expected privileged, because Deployment '
        "baremetal-operator-system/ironic is in the nodes' network", "set pod_security=privileged for bmo")
    labels = target.get(KNOWN["Namespace"], None, OPERATORS)["metadata"]["labels"]
    assert labels[POD_SECURITY_LABEL] == "privileged"
