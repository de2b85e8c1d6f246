# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several pods of Ironic in a cluster, and a database outside of them."""
from __future__ import annotations

import base64
import copy
import tempfile
from pathlib import Path

import bcrypt
import bmc_certificates
import pytest
from fakes.plane_server import Server
from plane import test_cluster_ironic as one_pod

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import (
    ironic,
    ironic_replicas,
    ironic_service,
    mounted_secrets,
)

NODES = ["192.0.2.11", "192.0.2.12", "192.0.2.13"]
DATABASE = {"host": "db.example:3307", "name": "ironic", "credentials_name": "database",
            "tls_certificate_name": "authority"}


def pair(*others):
    with tempfile.TemporaryDirectory() as folder:
        paths, _signer = bmc_certificates.issue(Path(folder), "ironic", address="192.0.2.2", others=others)
        return [Path(path).read_text() for path in paths]


CERTIFICATE, KEY = pair(*NODES)


def options(**changes):
    return one_pod.options(**dict({
        "replicas": 2, "replica_addresses": NODES, "database": DATABASE, "provisioning_interface": "eno1",
        "keepalived": True, "tls_certificate": CERTIFICATE, "tls_key": KEY, "tls_authority": CERTIFICATE}, **changes))


def shipped():
    items = one_pod.shipped()
    spec = items[0]["spec"]
    spec.update(replicas=1, selector={"matchLabels": {"name": "ironic"}}, strategy={"type": "Recreate"})
    spec["template"]["spec"]["hostNetwork"] = True
    spec["template"]["spec"]["containers"].append(one_pod.container(
        "ironic-endpoint-keepalived", image=ironic.KEEPALIVED))
    return items


def desired(given, rpc=None):
    found = ironic.desired(shipped(), given, ironic.secrets(given, {}, rpc=rpc))
    return dict(((item["kind"], item["metadata"]["name"]), item) for item in found)


def container_of(found, name):
    return next(item for item in one_pod.pod(found)["spec"]["containers"] if item["name"] == name)


def mounts(found, name):
    volumes = dict((item["name"], item) for item in one_pod.pod(found)["spec"].get("volumes", []))
    return dict((item["mountPath"], volumes.get(item["name"], {}).get("secret", {}).get("secretName"))
                for item in container_of(found, name).get("volumeMounts", []))


def test_each_pod_is_on_a_node_of_its_own_with_its_own_address_and_tells_the_common_one():
    found = desired(options(), {"username": "u", "password": "p", "htpasswd": "h"})
    spec = found["Deployment", "ironic"]["spec"]
    assert spec["replicas"] == 2 and spec["strategy"] == {"type": "Recreate"}
    term, = spec["template"]["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"name": "ironic"}}}
    data = found["ConfigMap", "ironic-bmo-configmap"]["data"]
    # ironic-image would wait for that address on each node.
    assert "PROVISIONING_IP" not in data and data["PROVISIONING_INTERFACE"] == "eno1"
    assert data["IRONIC_BASE_URL"] == "https://192.0.2.2:6385" and data["IRONIC_EXPOSE_JSON_RPC"] == "true"
    assert data["IRONIC_JSON_RPC_PORT"] == "8089"
    assert container_of(found, "ironic-endpoint-keepalived")["env"] == [
        {"name": "PROVISIONING_IP", "value": "192.0.2.2"}]
    assert mounts(found, "ironic")["/auth/ironic-rpc"] == "ironic-rpc-credentials"
    assert "/certs/ironic" in mounts(found, "ironic")
    stored = found["Secret", "ironic-rpc-credentials"]["data"]
    assert dict((key, base64.b64decode(text).decode()) for key, text in stored.items()) == {
        "username": "u", "password": "p", "htpasswd": "h"}
    assert ("Secret", "ironic-rpc-credentials") in set(
        (item["kind"], item["metadata"]["name"]) for item in ironic.removable(shipped(), one_pod.NAMESPACE))


def test_the_address_of_ipv6_is_in_brackets_and_the_sites_variables_go_before():
    data = desired(options(provisioning_ip="2001:db8::2", environment={"IRONIC_JSON_RPC_PORT": 6189}))[
        "ConfigMap", "ironic-bmo-configmap"]["data"]
    assert data["IRONIC_BASE_URL"] == "https://[2001:db8::2]:6385" and data["IRONIC_JSON_RPC_PORT"] == "6189"


def test_cert_manager_issues_for_the_common_address_and_each_nodes():
    found = desired(options(tls="cert_manager"))
    assert found["Certificate", "ironic-cert"]["spec"]["ipAddresses"] == ["192.0.2.2", *NODES]


def test_one_pod_has_none_of_it():
    one, plain = options(replicas=1), options(replicas=1, replica_addresses=[])
    assert desired(one) == desired(plain)
    spec = desired(one)["Deployment", "ironic"]["spec"]
    assert spec["replicas"] == 1 and "affinity" not in spec["template"]["spec"]
    assert desired(one)["ConfigMap", "ironic-bmo-configmap"]["data"]["PROVISIONING_IP"] == "192.0.2.2"


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_database_outside_is_reached_by_the_sites_secrets_and_never_by_a_key(replicas):
    found = desired(options(replicas=replicas))
    added = dict((item["name"], item["value"]) for item in container_of(found, "ironic")["env"])
    assert added == {"IRONIC_USE_MARIADB": "true", "MARIADB_HOST": "db.example:3307", "MARIADB_DATABASE": "ironic"}
    mounted = mounts(found, "ironic")
    assert (mounted["/auth/mariadb"], mounted["/certs/ca/mariadb"]) == ("database", "authority")
    keys = dict((item["secret"]["secretName"], [entry["key"] for entry in item["secret"]["items"]])
                for item in one_pod.pod(found)["spec"]["volumes"] if "items" in item["secret"])
    assert keys == {"database": ["username", "password"], "authority": ["tls.crt"]}
    assert "/auth/mariadb" not in mounts(found, "ironic-httpd")


@pytest.mark.parametrize(("changes", "text"), [
    ({"replicas": 0}, "ironic: replicas: found 0, expected 1 or more"),
    ({"database": None}, "ironic: database: not set, expected one MariaDB outside of the pods with replicas=2"),
    ({"database": None, "mariadb": True, "mariadb_certificate": CERTIFICATE, "mariadb_key": KEY},
     "ironic: database: found that of mariadb=true, which each pod would have for itself"),
    ({"standby": True}, "ironic: standby: found true, expected no Ironic that waits with replicas=2"),
    ({"tls": "none"}, 'ironic: tls: found "none", expected TLS with replicas=2'),
    ({"dhcp_range": "192.0.2.20,192.0.2.30"}, "ironic: dhcp_range: found"),
    ({"provisioning_interface": None, "keepalived": False}, "ironic: provisioning_interface: not set"),
    ({"provisioning_ip": None, "keepalived": False}, "ironic: provisioning_ip: not set, expected the address at which"),
    ({"replica_addresses": NODES[:1]}, 'ironic: replica_addresses: found "192.0.2.11", expected the addresses of'),
    ({"replica_addresses": []}, "ironic: replica_addresses: not set"),
    ({"replica_addresses": ["node-1", *NODES]}, 'ironic: replica_addresses: found "node-1", expected IP addresses'),
    ({"replica_addresses": ["192.0.2.2", *NODES]}, "expected addresses of single nodes, which provisioning_ip is not"),
    ({"replica_addresses": [*NODES, "192.0.2.14"]}, "expected 192.0.2.14 among its alternative names; issue it for "
     "replica_addresses"),
    ({"mariadb": True, "replicas": 1}, "ironic: mariadb: found"),
    ({"mariadb_claim": "data"}, 'ironic: mariadb_claim: found "data", expected none with database'),
])
def test_what_does_not_fit_several_pods_is_refused_before_anything_is_written(changes, text):
    server = with_secrets()
    with pytest.raises(RefusedError) as caught:
        run(server, options(**changes)).present()
    assert text in str(caught.value)
    assert not server.writes


def with_secrets(**data):
    """A server with the site's Secrets of its database."""
    server = Server()
    contents = dict({"database": {"username": "", "password": ""}, "authority": {"tls.crt": ""}}, **data)
    for name, keys in contents.items():
        server.objects["Secret", one_pod.NAMESPACE, name] = {
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": one_pod.NAMESPACE, "uid": name},
            "data": dict.fromkeys(keys, base64.b64encode(b"canary").decode())}
    return server


def run(server, given):
    return ironic_service.IronicComponents(
        server, given, [shipped()[0]], False, Progress(None), sleep=lambda seconds: None, clock=lambda: 0.0)


def node(name, labels=None, taints=(), **spec):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}},
            "spec": dict(spec, taints=list(taints))}


def with_nodes(server, *nodes):
    for item in nodes:
        server.objects["Node", None, item["metadata"]["name"]] = item
    return server


def on(server, name, of, port=6385, namespace="other", labels=None, **more):
    server.objects["Pod", namespace, name] = {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, **more.pop("metadata", {})},
        "spec": {"nodeName": of, "hostNetwork": True, "containers": [{"ports": [{"containerPort": port}]}]}, **more}


TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


@pytest.mark.parametrize(("changes", "text"), [
    ({}, "replicas: found 3, expected a node for each pod; of 3 nodes 2 can hold one (node a: the taint "
         "node-role.kubernetes.io/control-plane=:NoSchedule is not tolerated); set another number"),
    ({"node_selector": {"rack": "r1"}}, "of 3 nodes 1 can hold one (node a: the taint node-role.kubernetes.io/"
     "control-plane=:NoSchedule is not tolerated; node c: the label rack=r1 is not there)"),
    ({"replicas": 1, "node_selector": {"rack": "r9"}}, "replicas: found 1, expected a node for each pod; of 3 nodes 0 "
     "can hold one"),
])
def test_more_pods_than_nodes_that_can_hold_one_are_refused_before_anything_is_written(changes, text):
    server = with_nodes(with_secrets(), node("a", {"rack": "r1"}, [TAINT]), node("b", {"rack": "r1"}), node("c"))
    with pytest.raises(RefusedError) as caught:
        run(server, options(**dict({"replicas": 3}, **changes))).present()
    assert text in str(caught.value) and not server.writes


@pytest.mark.parametrize("nodes", [
    [], [node("a"), node("b")], [node("a", taints=[TAINT]), node("b"), node("c")],
    # What passes is waited for.
    [node("a", unschedulable=True, taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]),
     node("b", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}])],
    [node("a", taints=[{"key": "x", "effect": "PreferNoSchedule"}]), node("b")]])
def test_as_many_pods_as_nodes_may_hold_are_not_refused(nodes):
    assert run(with_nodes(with_secrets(), *nodes), options()).present()["changed"]


def test_tolerations_and_an_affinity_decide_which_nodes_count():
    def server():
        return with_nodes(with_secrets(), node("a", {"rack": "r1"}, [TAINT]), node("b", {"rack": "r2"}))

    assert run(server(), options(tolerations=[{"key": TAINT["key"], "operator": "Exists"}])).present()["changed"]
    for operator, values, refused in (("In", ["r1"], True), ("In", ["r1", "r2"], False), ("Gt", ["1"], False)):
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "rack", "operator": operator, "values": values}]}]}}}
        given = options(tolerations=[{"operator": "Exists"}], affinity=affinity)
        if refused:
            with pytest.raises(RefusedError, match=r"node b: its labels are not those of the node affinity"):
                run(server(), given).present()
        else:
            run(server(), given).present()


@pytest.mark.parametrize(("more", "port", "refused"), [
    ({}, 6385, True), ({}, 6180, True), ({}, 8089, True), ({}, 9443, False),
    ({"status": {"phase": "Succeeded"}}, 6385, False),
    ({"metadata": {"deletionTimestamp": "2026-12-02T00:00:00Z"}}, 6385, False),
    # Ironic's own of before.
    ({"namespace": one_pod.NAMESPACE, "labels": {"name": "ironic"}}, 6385, False)])
def test_a_node_whose_ports_another_pod_has_holds_none(more, port, refused):
    server = with_nodes(with_secrets(), node("a"), node("b"))
    on(server, "there", "b", port, **more)
    if not refused:
        assert run(server, options()).present()["changed"]
        return
    with pytest.raises(RefusedError, match=f"of 2 nodes 1 can hold one .node b: its port {port} is that of Pod "
                                           "other/there"):
        run(server, options()).present()
    assert not server.writes


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_who_may_not_look_at_the_nodes_gets_a_warning(kind):
    server = with_nodes(with_secrets(), node("a"))
    server.hidden.add(kind)
    warning, = run(server, options()).present()["warnings"]
    assert warning.startswith("whether the nodes can hold Ironic's pods was not checked: forbidden")


@pytest.mark.parametrize(("data", "text"), [
    ({"database": {"password": ""}}, "Secret baremetal-operator-system/database: data: found password, expected a "
     "Secret with username and password"),
    ({"authority": {}}, "Secret baremetal-operator-system/authority"),
])
def test_a_secret_of_the_database_without_what_ironic_reads_is_named(data, text):
    server = with_secrets(**data)
    with pytest.raises(RefusedError) as caught:
        run(server, options()).present()
    assert text in str(caught.value) and "canary" not in str(caught.value) and not server.writes


def test_the_pods_password_among_each_other_is_created_once_and_a_second_run_changes_nothing():
    server = with_secrets()
    result = run(server, options()).present()
    stored = dict((key, base64.b64decode(text).decode()) for key, text in server.objects[
        "Secret", one_pod.NAMESPACE, ironic_replicas.RPC_CREDENTIALS]["data"].items())
    user, _colon, digest = stored["htpasswd"].partition(":")
    assert user == stored["username"] and bcrypt.checkpw(stored["password"].encode(), digest.encode())
    assert stored["password"] not in str(result)
    server.writes.clear()
    assert run(server, options()).present()["changed"] is False and server.writes == []


def test_a_rotation_also_replaces_the_pods_password_among_each_other():
    server = with_secrets()

    def stored():
        data = server.objects["Secret", one_pod.NAMESPACE, ironic_replicas.RPC_CREDENTIALS]["data"]
        return dict((key, base64.b64decode(text).decode()) for key, text in data.items())

    run(server, options()).present()
    before = stored()
    run(server, options(rotation="begin")).present()
    after = stored()
    assert after["password"] != before["password"]
    # No pod of before is left that would come in by the other one.
    assert not bcrypt.checkpw(before["password"].encode(), after["htpasswd"].partition(":")[2].encode())
    assert bcrypt.checkpw(after["password"].encode(), after["htpasswd"].partition(":")[2].encode())
    assert server.objects["Deployment", one_pod.NAMESPACE, "ironic"]["spec"]["strategy"] == {"type": "Recreate"}
    for rotation in ("begin", "end"):
        run(server, options(rotation=rotation)).present()
        assert stored() == after


def test_the_pods_start_again_when_the_password_of_the_database_changes():
    def mark():
        return server.objects["Deployment", one_pod.NAMESPACE, "ironic"]["spec"]["template"]["metadata"]["annotations"][
            mounted_secrets.ANNOTATION]

    server = with_secrets()
    run(server, options()).present()
    before = mark()
    server.objects["Secret", one_pod.NAMESPACE, "database"]["data"]["password"] = base64.b64encode(b"other").decode()
    run(server, options()).present()
    assert mark() != before


def test_another_database_is_confirmed_by_name():
    server = with_secrets()
    run(server, options()).present()
    server.writes.clear()
    other = dict(DATABASE, host="other.example")
    with pytest.raises(RefusedError) as caught:
        run(server, options(database=other)).present()
    assert "Ironic would leave that on db.example:3307 for that on other.example" in str(caught.value)
    assert not server.writes
    run(server, options(database=other, confirm="ironic")).present()


@pytest.mark.parametrize(("before", "after", "refused"), [(3, 2, True), (2, 3, False)])
def test_a_pod_does_not_end_while_hosts_are_worked_on(before, after, refused):
    server = with_secrets()
    run(server, options(replicas=before)).present()
    deployment = server.objects["Deployment", one_pod.NAMESPACE, "ironic"]
    deployment["status"] = {"availableReplicas": before}
    server.objects["BareMetalHost", "metal3", "node-1"] = {
        "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
        "metadata": {"name": "node-1", "namespace": "metal3"}, "status": {"provisioning": {"state": "provisioning"}}}
    kept = copy.deepcopy(deployment["spec"])
    if refused:
        with pytest.raises(RefusedError, match="node-1"):
            run(server, options(replicas=after)).present()
        assert server.objects["Deployment", one_pod.NAMESPACE, "ironic"]["spec"] == kept
    else:
        run(server, options(replicas=after)).present()
        assert server.objects["Deployment", one_pod.NAMESPACE, "ironic"]["spec"]["replicas"] == after
