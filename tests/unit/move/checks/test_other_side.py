# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of the other side before a move: room, credentials, trust, address and DHCP, the servers' networks."""
from __future__ import annotations

import copy
import datetime
import functools
import ipaddress
import json
import socket
import ssl
import sys
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fakes.moves import move_params
from fakes.planes import at_once, obj

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import trust
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import asking
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import plane_room, room
from ansible_collections.metal3.baremetal.plugins.module_utils._move.handover import (
    address_holder,
    bmc_reach,
    provisioning,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes import reach as node_reach
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import STARTED_BY_MOVE

HERE = asking.by_command([sys.executable, "-"], "the pod")
NOBODY = asking.by_command(["/nonexistent"], "the pod")
IRONIC = ("baremetal-operator-system", "ironic")
pytestmark = pytest.mark.usefixtures("complete_plane")


def deployment(name, memory="64Mi", image="registry.example.org/ironic:v1", replicas=1, available=0, env=(), **pod):
    item = obj("apps/v1", "Deployment", name, status={"availableReplicas": available}, spec={
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {"spec": {
            "containers": [{"name": name, "image": image, "resources": {"requests": {"cpu": "100m", "memory": memory}},
                            "env": [{"name": key, "value": value} for key, value in dict(env).items()]}], **pod}}})
    item["metadata"]["namespace"] = IRONIC[0]
    return item


def node(name="node-1", memory="1Gi", **spec):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": "a"}}, "spec": spec,
            "status": {
        "allocatable": {"cpu": "2", "memory": memory, "pods": "10"}, "conditions": [{"type": "Ready",
                                                                                     "status": "True"}]}}


def pod(name, memory, on="node-1", phase="Running", labels=None):
    item = obj("v1", "Pod", name, status={"phase": phase}, spec={
        "nodeName": on, "containers": [{"name": "c", "resources": {"requests": {"memory": memory}}}]})
    item["metadata"].update(namespace=IRONIC[0], labels=labels or {})
    return item


def put(side, *items):
    for item in items:
        side.objects[item["kind"], item["metadata"]["name"]] = item


def attempt(here, there, **options):
    return run(here, there, **options).moved()


def undone(here, there, **options):
    return run(here, there, **options).undone()


def run(here, there, **options):
    return service.Move(here, there, move_params(**options), True, Progress(None), alone=at_once)


def refused(here, there, **options):
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError) as found:
        attempt(here, there, **options)
    assert (here.objects, there.objects) == before
    return [str(problem) for problem in found.value.problems]


# Room


def test_a_plane_that_runs_has_its_room(here, there):
    put(there, deployment("ironic", "999Gi", available=1))
    assert attempt(here, there)["fits"] == ["room: all pods of the plane's 1 Deployments over there run already"]


def test_pods_that_fit_are_counted(here, there):
    put(there, deployment("ironic", "500Mi"), node(), pod("other", "500Mi"), pod("done", "900Mi", phase="Succeeded"))
    assert attempt(here, there)["fits"] == ["room: 1 pods that do not run yet have room over there"]


def test_all_that_has_no_room_is_named_with_the_other_problems(here, there):
    put(there, deployment("ironic", "1500Mi"), node(), pod("other", "256Mi"),
        deployment("capm3", "900Mi", "registry.example.org/cluster-api-provider-metal3:v1"))
    here.objects["BareMetalHost", "used"]["status"]["provisioning"]["state"] = "deprovisioning"
    texts = refused(here, there)
    assert len(texts) == 3 and "deprovisioning" in texts[0]
    assert texts[1].startswith(
        "Deployment baremetal-operator-system/ironic: spec.template.spec.containers.resources.requests: found no "
        "room over "
        "there; most is free on node node-1: 2.00 CPUs and 0.75 GiB of memory, expected a node with 0.10 CPUs and "
        "1.46 GiB")
    assert texts[2].startswith("Deployment baremetal-operator-system/capm3: ")


@pytest.mark.parametrize("change, fits", [
    ({}, True), ({"unschedulable": True}, False),
    ({"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}, False),
    ({"taints": [{"key": "k", "value": "w", "effect": "PreferNoSchedule"}]}, True),
    ({"taints": [{"key": "own", "effect": "NoExecute"}]}, True)])
def test_only_nodes_that_take_the_pod_count(change, fits):
    due = room.waiting([deployment("ironic", tolerations=[{"key": "own", "operator": "Exists"}],
                                   nodeSelector={"zone": "a"})], [])
    assert (room.problems(due, [node(**change)], []) == []) == fits
    elsewhere = node()
    elsewhere["metadata"]["labels"] = {"zone": "b"}
    not_ready = node()
    not_ready["status"]["conditions"] = []
    for other in (elsewhere, not_ready):
        assert "no node over there that is ready" in str(room.problems(due, [other], [])[0])


def test_pods_that_have_a_node_and_init_containers_are_counted():
    three = deployment("ironic", "300Mi", replicas=3, initContainers=[
        {"name": "once", "resources": {"limits": {"memory": "500Mi"}}},
        {"name": "beside", "restartPolicy": "Always", "resources": {"requests": {"memory": "100Mi"}}}])
    placed = [pod("one", "400Mi", labels={"app": "ironic"}), pod("new", "1Mi", on=None, labels={"app": "ironic"})]
    due = room.waiting([three], placed)
    assert [(item.name, item.pods) for item in due] == [("baremetal-operator-system/ironic", 2)]
    # One of 500 MiB, for its first init container, has room beside the 400 of the one that runs; a second one has not.
    assert len(room.problems(due, [node()], placed)) == 1
    assert room.problems(due, [node(), node("node-2")], placed) == []
    full = node()
    full["status"]["allocatable"]["pods"] = "1"
    assert len(room.problems(due, [full], placed)) == 1


def test_who_may_not_read_nodes_gets_a_warning(there, monkeypatch):
    put(there, deployment("ironic"))
    listed = there.list

    def forbidding(resource, *more, **options):
        if resource.kind == "Node":
            raise KubeError("nodes is forbidden", 403)
        return listed(resource, *more, **options)

    monkeypatch.setattr(there, "list", forbidding)
    found, (warning,), fits = plane_room.problems(there, IRONIC)
    assert found == [] and fits == "" and warning.startswith("room for the plane over there was not checked: ")


# Credentials


def test_a_host_whose_secret_would_stay_or_is_missing_is_in_the_way(here, there):
    here.logs_in = False
    here.objects["BareMetalHost", "used"]["spec"]["bmc"]["credentialsName"] = "unrelated"
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["credentialsName"] = "gone"
    texts = refused(here, there)
    field = "spec.bmc.credentialsName"
    for words in (f"BareMetalHost used: {field}: found Secret unrelated, which would stay",
                  f"BareMetalHost free: {field}: found Secret gone, which is not there"):
        assert any(text.startswith(words) for text in texts)
    for name in ("used", "free"):
        here.objects["BareMetalHost", name]["spec"]["bmc"]["credentialsName"] = name + "-bmc"
    assert attempt(here, there)["changed"]


# Trust


def certificate(folder):
    """Make a certificate for 127.0.0.1 that is its own authority; return the paths of it and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bmc")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now,
                                   now + datetime.timedelta(days=2)).add_extension(
        x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False).add_extension(
        x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256())
    paths = folder / "bmc.crt", folder / "bmc.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                           serialization.NoEncryption()))
    return paths


@pytest.fixture
def bmc(tmp_path):
    """A BMC that only shakes hands: its address and the file of its certificate."""
    paths = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*paths)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def serve():
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                try:
                    context.wrap_socket(connection, server_side=True).close()
                except OSError:
                    connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"redfish://127.0.0.1:{listening.getsockname()[1]}/redfish/v1/Systems/1", paths[0]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()


def bmh(address, name="h", **options):
    return {"metadata": {"name": name}, "spec": {"bmc": {"address": address, **options}}}


@pytest.mark.parametrize("configuration, words", [
    ("[redfish]\nverify_ca = {own}\n", ""), ("[redfish]\nverify_ca = false\n", ""),
    ("[redfish]\nverify_ca = {other}\n", "self-signed certificate"), ("[redfish]\nverify_ca = /none\n", "no file or "
                                                                      "folder /none"),
    ("[DEFAULT]\n", "self-signed certificate"), ("not a configuration\n", "self-signed certificate")],
    ids=["own", "off", "another", "gone", "default", "broken"])
def test_a_certificate_is_asked_for_with_ironics_own_authorities(tmp_path, monkeypatch, bmc, configuration, words):
    address, own = bmc
    (tmp_path / "other").mkdir()
    other = certificate(tmp_path / "other")[0]
    config = tmp_path / "ironic.conf"
    config.write_text(configuration.format(own=own, other=other))
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "OS_REDFISH__VERIFY_CA"):
        monkeypatch.delenv(name, raising=False)
    hosts = [bmh(address), bmh(address, "any", disableCertificateVerification=True),
             bmh(address.replace("redfish:", "redfish+http:"), "plain"), bmh("ipmi://127.0.0.1", "ipmi"), bmh(None,
                                                                                                              "none")]
    found, warnings = bmc_reach.distrusted(hosts, HERE, str(config))
    assert warnings == [] and [problem.subject for problem in found] == (["BareMetalHost h"] if words else [])
    assert all(words in problem.actual.replace("self signed", "self-signed") and "asked from the pod" in problem.actual
               for problem in found)


def test_the_environment_of_ironics_container_goes_before_its_file(tmp_path, monkeypatch, bmc):
    address, own = bmc
    config = tmp_path / "ironic.conf"
    config.write_text("[redfish]\nverify_ca = /none\n")
    monkeypatch.setenv("OS_REDFISH__VERIFY_CA", str(own))
    assert bmc_reach.distrusted([bmh(address)], HERE, str(config)) == ([], [])


def test_a_bmc_that_does_not_answer_is_no_question_of_trust(tmp_path):
    config = tmp_path / "ironic.conf"
    config.write_text("[redfish]\nverify_ca = true\n")
    assert bmc_reach.distrusted([bmh("redfish://127.0.0.1:1")], HERE, str(config)) == ([], [])
    assert trust.answers([("redfish+http://127.0.0.1", True)], HERE) == [None]


def test_nobody_to_ask_about_trust_is_a_warning(here, there):
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["address"] = "redfish://127.0.0.1:1"
    found, (warning,) = bmc_reach.distrusted([bmh("redfish://127.0.0.1:1")], NOBODY, None)
    assert found == [] and "was not asked from the pod" in warning
    for item in (bmh("ipmi://127.0.0.1:1"),):
        _found, warnings = bmc_reach.from_where(
            asking.from_here(), [item], {"reach_from": "here", "ironic_config": None})
        assert [text for text in warnings if "no ironic_config" in text]


# Address and DHCP of the provisioning network


def ironic(name="ironic", address="192.0.2.20", serves="192.0.2.30,192.0.2.60", **options):
    """Return the Deployment and the ConfigMap of an Ironic."""
    item = deployment(name, available=1, hostNetwork=True, **options)
    item["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": name + "-configmap"}}]
    if serves:
        item["spec"]["template"]["spec"]["containers"].append({"name": "ironic-dnsmasq", "image": "i"})
    config = obj("v1", "ConfigMap", name + "-configmap", data={"PROVISIONING_IP": address, "DHCP_RANGE": serves})
    config["metadata"]["namespace"] = IRONIC[0]
    return item, config


def test_the_address_of_the_ironic_that_lets_go_is_not_free(here, there):
    put(there, *ironic(serves=""))
    (text,) = refused(here, there, machine_ironic={"ip": "192.0.2.20", "dhcp_networks": []})
    assert text.startswith("Deployment baremetal-operator-system/ironic: "
                           "spec.template.spec.containers.env.PROVISIONING_IP: found "
                           "192.0.2.20, which this machine has, expected an address of its own")
    assert attempt(here, there, machine_ironic={"ip": "ironic.example.org", "dhcp_networks": []})["changed"]


def test_two_dhcp_servers_on_a_wire_are_refused_with_what_stops_one(here, there):
    put(there, *ironic())
    (text,) = refused(here, there, machine_ironic={"ip": "", "dhcp_networks": ["192.0.2.10/24", "not one"]})
    assert "env.DHCP_RANGE: found DHCP in 192.0.2.0/24, in which this machine serves it, too, expected one" in text
    assert "stop its dnsmasq: run playbook provisioning_network with provisioning_network_dhcp_ranges: []" in text
    others = ["198.51.100.1/24", "2001:db8::1/64"]
    assert attempt(here, there, machine_ironic={"ip": "", "dhcp_networks": others})["changed"]


def keepalived(deployment, config, replicas=0):
    """Return an Ironic whose address keepalived holds, by default one that waits without a pod."""
    deployment["spec"]["replicas"] = replicas
    deployment["spec"]["template"]["spec"]["containers"].append({"name": "ironic-endpoint-keepalived", "image": "i"})
    return deployment, config


BOTH = {"starts": True, "address": True, "dhcp": True}


def test_an_address_and_dhcp_move_with_an_ironic_that_waits(here, there):
    put(there, *keepalived(*ironic()))
    machine = {"ip": "192.0.2.20", "dhcp_networks": ["192.0.2.10/24"], "keepalived_ip": "192.0.2.20/24"}
    found = attempt(here, there, machine_ironic=machine)
    assert found["handover"] == BOTH
    assert ("Ironic over there: it is started when the former one has stopped; address 192.0.2.20 and DHCP move with it"
            in found["fits"])


def test_they_move_between_two_clusters_too(here, there):
    put(here, *keepalived(*ironic(), replicas=1))
    put(there, *keepalived(*ironic()))
    assert attempt(here, there, former_ironic_deployment="ironic")["handover"] == BOTH


@pytest.mark.parametrize("held, former_is_held, replicas, missing", [
    (True, False, 0, ["have keepalived hold it for this machine", "provisioning_network_keepalived_address"]),
    (False, True, 0, ["install this one with ironic_keepalived"]),
    (True, True, 1, ["install this one with ironic_standby, or scale it to 0"]),
    (False, False, 1, ["have keepalived hold it", "ironic_keepalived", "ironic_standby"])])
def test_an_address_that_can_not_move_is_refused_with_what_is_missing(
        here, there, held, former_is_held, replicas, missing):
    deployment, config = ironic(serves="")
    deployment["spec"]["replicas"] = replicas
    put(there, *(keepalived(deployment, config, replicas) if held else (deployment, config)))
    (text,) = refused(here, there, machine_ironic={
        "ip": "192.0.2.20", "dhcp_networks": [], "keepalived_ip": "192.0.2.20/24" if former_is_held else ""})
    hint = text.partition("or let it move: ")[2]
    assert hint and all(words in hint for words in missing), text
    assert hint.count(", ") + 1 >= len(missing)


def test_an_ironic_that_waits_with_an_address_of_its_own_takes_nothing_along(here, there):
    put(there, *keepalived(*ironic(serves="")))
    found = attempt(here, there, machine_ironic={"ip": "192.0.2.9", "dhcp_networks": ["192.0.2.10/24"]})
    assert found["handover"] == {"starts": True, "address": False, "dhcp": False}
    assert "Ironic over there: it is started when the former one has stopped" in found["fits"]


def test_a_run_that_was_killed_when_the_other_ironic_had_started_goes_on(here, there):
    put(there, *keepalived(*ironic(), replicas=1))
    machine = {"ip": "192.0.2.20", "dhcp_networks": ["192.0.2.10/24"], "keepalived_ip": "192.0.2.20/24"}
    assert len(refused(here, there, machine_ironic=machine)) == 2
    assert attempt(here, there, machine_ironic=dict(machine, let_go=["address", "dhcp"]))["changed"]
    put(here, *keepalived(*ironic()))
    assert attempt(here, there, former_ironic_deployment="ironic")["changed"]


def started(deployment, config, uid="a-kube-system"):
    """Return an Ironic that a move has started, by default from the plane that lets go."""
    deployment["metadata"]["annotations"] = {STARTED_BY_MOVE: uid}
    return deployment, config


def test_what_goes_back_is_said_as_long_as_nothing_over_there_is_in_use(here, there):
    """A run that was killed before its record may have started the Ironic over there."""
    put(here, *keepalived(*ironic()))
    put(there, *started(*keepalived(*ironic(), replicas=1)))
    back = {"former_ironic_deployment": "ironic", "state": "undone"}
    assert undone(here, there, **back)["handover"] == dict(BOTH, starts=False)
    there.objects["BareMetalHost", "theirs"] = copy.deepcopy(here.objects["BareMetalHost", "free"])
    assert not any(undone(here, there, **back)["handover"].values())


def test_where_no_move_is_recorded_nothing_is_stopped_over_there_without_the_number_of_hosts(here, there):
    """The Ironic over there may be at work for others."""
    put(here, *keepalived(*ironic()))
    put(there, *started(*keepalived(*ironic(), replicas=1)))
    back = {"former_ironic_deployment": "ironic", "state": "undone"}
    for confirm, is_asked in ((None, True), ("1", True), ("ironic", True), ("2", False), ("free,used", False)):
        found = undone(here, there, **back, confirm=confirm)
        assert found["handover"] == dict(BOTH, starts=False) and bool(found["confirmation"]) is is_asked
        assert not is_asked or "metal3_confirm=2" in found["confirmation"]
    put(there, *ironic(address="192.0.2.9", serves=""))
    found = undone(here, there, **back, confirm=None)
    assert not any(found["handover"].values()) and found["confirmation"] == ""


@pytest.mark.parametrize("status, is_used", [(None, True), (403, False), (404, False)])
def test_an_ironic_with_hosts_of_another_namespace_is_in_use(here, there, monkeypatch, status, is_used):
    put(here, *keepalived(*ironic()))
    put(there, *started(*keepalived(*ironic(), replicas=1)))
    listed = there.list

    def of_all(resource, namespace=None, *more):
        if resource.kind != "BareMetalHost" or namespace is not None:
            return listed(resource, namespace, *more)
        if status:
            raise KubeError("no", status)
        return [here.objects["BareMetalHost", "free"]], "1"

    monkeypatch.setattr(there, "list", of_all)
    found = undone(here, there, former_ironic_deployment="ironic", state="undone", confirm=None)
    assert any(found["handover"].values()) is not is_used and bool(found["confirmation"]) is not is_used


@pytest.mark.parametrize("confirm", [None, "2"])
@pytest.mark.parametrize("mark", [lambda *item: item, functools.partial(started, uid="c-kube-system"),
                                  functools.partial(started, uid=["a-kube-system"])],
                         ids=["none", "of another plane", "no text"])
def test_an_ironic_that_no_move_has_started_is_not_stopped_for_the_number_of_hosts(here, there, mark, confirm):
    """It may have nodes without hosts, which are somebody else's servers."""
    put(here, *keepalived(*ironic()))
    put(there, *mark(*keepalived(*ironic(), replicas=1)))
    with pytest.raises(RefusedError) as found:
        undone(here, there, former_ironic_deployment="ironic", state="undone", confirm=confirm)
    (text,) = map(str, found.value.problems)
    assert text == (
        "Deployment baremetal-operator-system/ironic: spec.replicas: found an Ironic that runs and that no move from "
        "here has started, expected one that a move has started, or none that runs; no move is recorded, and its nodes "
        "may be somebody else's servers: list them by ironic_node_info; when nobody needs it, stop it by plane_scale "
        "(replicas: 0, confirm: its name), then run again")


def test_what_keeps_nothing_over_there_from_work_needs_no_move_that_started_it(here, there):
    put(here, *keepalived(*ironic()))
    back = {"former_ironic_deployment": "ironic", "state": "undone"}
    # Killed before it was started, or stopped by hand.
    put(there, *keepalived(*ironic()))
    assert undone(here, there, **back)["handover"] == BOTH
    # Shares nothing, so that nothing goes back.
    put(there, *ironic(address="192.0.2.9", serves=""))
    assert not any(undone(here, there, **back)["handover"].values())
    # A process, which has no Deployment.
    machine = {"ip": "192.0.2.20", "dhcp_networks": ["192.0.2.10/24"]}
    found = undone(here, there, **back, reach_from="here", machine_ironic=machine)
    assert found["handover"]["address"] and found["ironic"] is None


def test_the_ironic_that_takes_over_is_read_once(here, there):
    item, config = ironic()
    item["status"] = {}
    put(there, item, config, node())
    there.requests.clear()
    assert attempt(here, there, reach_from="auto")["ironic"]["uid"] == "uid-Deployment-ironic"
    assert [request[2] for request in there.requests if request[:2] == ("GET", "Deployment")] == ["ironic"]


def of_generation(number, deployment, config):
    deployment["metadata"]["generation"] = number
    return deployment, config


def test_a_move_says_which_deployments_of_ironic_it_has_checked(here, there, monkeypatch):
    """Whoever starts or stops one by the result finds out when it is another one."""
    put(here, *of_generation(5, *keepalived(*ironic(), replicas=1)))
    put(there, *of_generation(3, *keepalived(*ironic())))
    uid = "uid-Deployment-ironic"
    reads, get = [], there.get

    def changing(resource, namespace, name):
        if resource.kind == "Deployment" and name == "ironic":
            reads.append(name)
            there.objects["Deployment", "ironic"]["metadata"]["generation"] = 2 + len(reads)
        return copy.deepcopy(get(resource, namespace, name))

    monkeypatch.setattr(there, "get", changing)
    found = attempt(here, there, former_ironic_deployment="ironic")
    assert (found["former_ironic"], found["ironic"]) == ({"uid": uid, "generation": 5}, {"uid": uid, "generation": 3})
    assert attempt(here, there, former_ironic_mode="external")["former_ironic"] is None


def test_what_goes_back_says_which_deployment_a_move_has_started(here, there):
    put(here, *of_generation(5, *keepalived(*ironic())))
    put(there, *of_generation(7, *started(*keepalived(*ironic(), replicas=1))))
    found = undone(here, there, former_ironic_deployment="ironic", state="undone")
    assert found["ironic"]["generation"] == 7 and found["former_ironic"]["generation"] == 5


def test_a_move_says_for_which_plane_it_starts_ironic_over_there(here, there):
    put(there, *keepalived(*ironic()))
    assert attempt(here, there)["from_uid"] == "a-kube-system"


def test_two_pods_with_dhcp_and_the_way_back_to_a_machine(here, there):
    put(here, *ironic(address="192.0.2.9"))
    put(there, *ironic())
    (text,) = refused(here, there, former_ironic_deployment="ironic")
    assert "in which Deployment baremetal-operator-system/ironic serves it" in text and "scale Deployment" in text
    for name in ("free", "used"):
        here.objects["BareMetalHost", name]["spec"]["bmc"] = {}
    (text,) = refused(here, there, former_ironic_deployment="ironic", reach_from="here",
                      machine_ironic={"ip": "", "dhcp_networks": ["192.0.2.10/24"]})
    assert text.startswith("this machine: DHCP_RANGE: found DHCP in 192.0.2.0/24") and "scale Deployment" in text
    here.objects["Deployment", "ironic"]["spec"]["replicas"] = 0
    assert attempt(here, there, former_ironic_deployment="ironic")["changed"]


@pytest.mark.parametrize("text, network", [
    ("192.0.2.30,192.0.2.60", "192.0.2.0/24"), ("192.0.2.30,192.0.2.60,255.255.255.128,1h", "192.0.2.0/25"),
    ("192.0.2.30,192.0.2.60,26", "192.0.2.0/26"), ("2001:db8::10,2001:db8::20", "2001:db8::/64"), ("", None), ("x,y",
                                                                                                               None)])
def test_ranges_of_dnsmasq_are_read(text, network):
    item, config = ironic(serves=text or "")
    found = provisioning.of_deployment(item, {"ironic-configmap": config}).networks
    assert [str(each) for each in found] == ([network] if network else [])


@pytest.mark.parametrize("said, words", [("elsewhere", "found 192.0.2.20, where another machine answers"), ("here", ""),
                                         ("nobody", "")])
def test_an_address_that_somebody_else_has_is_not_free(here, there, monkeypatch, said, words):
    put(there, *ironic(serves=""))
    for name in ("free", "used"):
        here.objects["BareMetalHost", name]["spec"]["bmc"] = {}
    asked = []

    def ask(questions, where, *_more):
        asked.append((questions, where.place))
        return [{"reached": True, "words": said} for _question in questions]

    monkeypatch.setattr(asking, "ask", ask)
    options = {"reach_from": "auto"}
    if words:
        (text,) = refused(here, there, **options)
        assert words in text
    else:
        assert attempt(here, there, **options)["changed"]
    assert ([["holder", "192.0.2.20", [6385, 6180, 22], 3]], "Deployment baremetal-operator-system/ironic") in asked


def test_who_has_an_address_is_asked_by_the_program_that_the_pod_gets():
    assert address_holder.answer("127.0.0.1", HERE) == "here"


# Networks of servers, and media


def machine(name, address):
    return {"metadata": {"name": name}, "status": {"addresses": [{"type": "InternalIP",
                                                                  "address": address}] if address else []}}


def test_a_refusal_has_come_by_the_servers_network_and_silence_proves_nothing():
    assert node_reach.warnings([machine("none", "")], HERE) == ([], "")

    def run(program):
        assert "192.0.2.1" in program.decode()
        return asking.Printed(json.dumps([{"reached": True}, {"words": "connection refused"},
                                          {"words": "no answer within 5 s"}][:answers]).encode(), b"", 0)

    asked = asking.Asked(run, "the pod")
    machines = [machine(f"m{number}", f"192.0.2.{number}") for number in (1, 2, 3)]
    answers = 2
    assert node_reach.warnings(machines[:2], asked) == (
        [], "servers: 2 of 2 nodes answer the pod where they were inspected")
    answers = 3
    warned, fits = node_reach.warnings(machines, asked)
    assert warned == [] and fits.startswith("servers: 2 of 3 nodes answer the pod where they were inspected; not ")
    assert "Machines m3 (192.0.2.3: no answer within 5 s)" in fits
    (warning,), _fits = node_reach.warnings(machines, NOBODY)
    assert "was not asked from the pod" in warning


def test_a_bmc_that_did_not_take_the_medium_is_in_the_way(here, there):
    check = {"check": "media", "status": "problem", "subject": "used", "hint": "correct the path of the URL",
             "actual": "Cd did not take http://192.0.2.1/p.iso: HTTP 500", "expected": "a BMC that reads it"}
    (text,) = refused(here, there, media_checks=[check, dict(check, subject="free", status="unknown")])
    assert text.startswith("BareMetalHost used: spec.bmc.address: found Cd did not take http://192.0.2.1/p.iso: HTTP")
