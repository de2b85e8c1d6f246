# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ironic that lets go: one that is not found has not stopped, and one that would come back is refused."""
from __future__ import annotations

import copy
import json
import os

import pytest
from fakes import refused_moves
from fakes.plane_server import definition
from fakes.planes import obj
from fakes.refused_moves import attempt, ironic

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.handover import (
    former_nodes,
    former_reading,
    former_said,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._move.handover.machine_ironics import (
    IronicProcess,
    MachineIronics,
)

NAMESPACE = "baremetal-operator-system"
NAME = f"Deployment {NAMESPACE}/ironic"
CLUSTER = {"former_ironic_deployment": "ironic"}
CLAIM = {"name": "mariadb-data", "persistentVolumeClaim": {"claimName": "ironic-db"}}


@pytest.fixture(autouse=True)
def versions(monkeypatch, here):
    return refused_moves.complete(monkeypatch, here)


def put(side, *items):
    for item in items:
        side.objects[item["kind"], item["metadata"]["name"]] = item


def operated(name="ironic", namespace=NAMESPACE):
    item = obj("ironic.metal3.io/v1alpha1", "Ironic", name, spec={})
    item["metadata"]["namespace"] = namespace
    return item


def operator(endpoint):
    item = obj("apps/v1", "Deployment", "operator", spec={"replicas": 1, "template": {"spec": {"containers": [{
        "name": "manager", "image": "quay.io/metal3-io/baremetal-operator:v0.13.2", "envFrom": [
            {"configMapRef": {"name": "ironic"}}]}]}}})
    config = obj("v1", "ConfigMap", "ironic", data={"IRONIC_ENDPOINT": endpoint})
    for part in (item, config):
        part["metadata"]["namespace"] = NAMESPACE
    return item, config


def owned(deployment):
    deployment["metadata"]["ownerReferences"] = [{"kind": "Ironic", "name": "ironic", "uid": "uid-Ironic-ironic"}]
    return deployment


def refused(here, there, check_mode=True, **options):
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError) as found:
        attempt(here, there, check_mode, **options)
    assert (here.objects, there.objects) == before
    return [problem for problem in found.value.problems if problem.code == "move-former-ironic"]


@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "run"])
@pytest.mark.parametrize("mode", [None, "process", "none"])
def test_from_a_cluster_whose_ironic_nobody_names_nothing_moves(here, there, mode, check_mode):
    """The default is a process of this machine, which is not there: it would count as stopped."""
    put(here, ironic("metal3-ironic", "ironic-b"))
    (problem,) = refused(here, there, check_mode, former_ironic_mode=mode)
    assert str(problem).startswith("Deployment metal3-ironic/ironic-b: spec.replicas: found an Ironic that runs in the")
    assert "pivot_ironic_mode=cluster, pivot_ironic_namespace=metal3-ironic, pivot_ironic_deployment=ironic-b" \
        in problem.hint and "pivot_ironic_mode=external" in problem.hint
    here.objects["Deployment", "ironic-b"]["spec"]["replicas"] = 0
    assert attempt(here, there, True, former_ironic_mode=mode)["due"]


def test_a_deployment_that_is_not_there_has_not_stopped(here, there):
    put(here, ironic("metal3-ironic", "ironic-service"))
    (problem,) = refused(here, there, **CLUSTER)
    assert str(problem).startswith(f"{NAME}: found none; Ironic is in Deployment metal3-ironic/ironic-service,")
    del here.objects["Deployment", "ironic-service"]
    (problem,) = refused(here, there, **CLUSTER)
    assert str(problem).startswith(f"{NAME}: found none, expected the Ironic that lets go")


def test_the_run_that_writes_wants_it_stopped(here, there):
    put(here, ironic())
    assert attempt(here, there, True, **CLUSTER)["due"]
    (problem,) = refused(here, there, False, **CLUSTER)
    assert str(problem).startswith(f"{NAME}: spec.replicas: found 1 (pods: none yet), an Ironic that still has power")
    # A pod of it that ends still works.
    stopped = ironic(replicas=0)
    stopped["spec"]["selector"] = {"matchLabels": {"app": "ironic"}}
    pods = [obj("v1", "Pod", name) for name in ("ironic-x", "other")]
    for pod in pods:
        pod["metadata"].update(namespace=NAMESPACE, labels={"app": pod["metadata"]["name"].partition("-")[0]})
    put(here, stopped, *pods)
    (problem,) = refused(here, there, False, **CLUSTER)
    assert str(problem).startswith(f"{NAME}: spec.replicas: found 0 (pods: ironic-x), an Ironic that still has power")
    del here.objects["Pod", "ironic-x"]
    with pytest.raises(AssertionError, match="clusterctl was run"):
        attempt(here, there, False, **CLUSTER)


@pytest.mark.parametrize("options", [{}, CLUSTER, {"former_ironic_mode": "none"}], ids=["process", "cluster", "none"])
def test_an_ironic_of_the_ironic_operator_is_started_again_by_it(here, there, options):
    put(here, operated())
    if options is CLUSTER:
        put(here, owned(ironic()))
    problems = [problem for problem in refused(here, there, **options) if problem.subject.startswith("Ironic ")]
    (problem,) = problems
    assert str(problem).startswith(f"Ironic {NAMESPACE}/ironic: found an Ironic of the Ironic operator, which starts")
    assert "pivot_ironic_mode=external" in problem.hint
    assert attempt(here, there, True, former_ironic_mode="external")["due"]


def test_an_ironic_in_the_namespace_of_the_hosts_is_not_left_behind_by_mistake(here, there):
    kind = definition("ironic.metal3.io", "ironics", "Ironic", "v1alpha1")
    kind["spec"].update(scope="Namespaced", versions=[{"name": "v1alpha1", "served": True, "storage": True}])
    put(here, kind, operated(namespace="metal3"))
    assert attempt(here, there, True, former_ironic_mode="external")["due"]


def test_a_deployment_of_the_ironic_operator_is_known_by_its_owner(here, there):
    """Who may not list its resources, or has deleted one that waits for its finalizer."""
    put(here, owned(ironic()))
    (problem,) = refused(here, there, **CLUSTER)
    assert problem.subject == f"Ironic {NAMESPACE}/ironic"


def test_an_ironic_that_is_for_others_is_none_of_a_problem(here, there):
    put(here, ironic(), operated("other", "elsewhere"), ironic("elsewhere", "other-service"))
    (warning,) = attempt(here, there, True, **CLUSTER)["warnings"]
    assert warning.startswith(f"Deployment elsewhere/other-service: runs Ironic, too, beside {NAME}, which is stopped")


@pytest.mark.parametrize("endpoint, address, is_refused", [
    ("https://192.0.2.9:6385/v1/", "192.0.2.1", True), ("https://[2001:db8::9]:6385", "2001:db8::1", True),
    ("https://me:secret@ironic.example:6385", "192.0.2.1", True), ("https://192.0.2.1:6385", "192.0.2.1", False),
    ("https://[2001:db8:0::1]:6385", "[2001:db8::1]", False), ("https://192.0.2.9:6385", "", False),
    ("", "192.0.2.1", False), ("https://[broken", "192.0.2.1", False)])
def test_a_process_is_the_one_that_the_operator_works_with(here, there, endpoint, address, is_refused):
    put(here, *operator(endpoint))
    options = {"machine_ironic": {"ip": address, "dhcp_networks": []}}
    if not is_refused:
        assert attempt(here, there, True, **options)["due"]
        return
    (problem,) = refused(here, there, **options)
    netloc = endpoint.removesuffix("/v1/").removeprefix("https://").rpartition("@")[2]
    assert problem.field == "IRONIC_ENDPOINT" and problem.actual == f"https://{netloc}"
    assert "secret" not in str(problem)


@pytest.mark.parametrize("volumes, mounts, env, words", [
    ([CLAIM], [], [], "that on the PersistentVolumeClaim ironic-db"),
    ([{"name": "db", "persistentVolumeClaim": {"claimName": "x"}}], [{"name": "db", "mountPath": "/var/lib/mysql"}], [],
     "that on the volume db at /var/lib/mysql"),
    ([{"name": "db", "hostPath": {"path": "/srv"}}], [{"name": "db", "mountPath": "/var/lib/ironic/"}], [],
     "that on the volume db at /var/lib/ironic/"),
    ([], [], [{"name": "MARIADB_HOST", "value": "db.example"}], "that on db.example"),
    ([{"name": "images", "persistentVolumeClaim": {"claimName": "x"}}], [{"name": "images", "mountPath": "/shared"}],
     [], None),
    ([{"name": "db", "emptyDir": {}}], [{"name": "db", "mountPath": "/var/lib/mysql"}], [], None),
    ([], [], [{"name": "MARIADB_HOST", "value": "127.0.0.1"}], None)])
def test_a_database_that_outlives_its_pods_needs_the_url_by_which_nodes_are_deleted(
        here, there, volumes, mounts, env, words):
    put(here, ironic(volumes=volumes, mounts=mounts, env=env))
    if words is None:
        assert attempt(here, there, True, **CLUSTER)["due"]
        return
    (problem,) = refused(here, there, **CLUSTER)
    assert str(problem).startswith(
        f"{NAME}: former_ironic_url: found no URL, and a database that outlives it: {words}, expected the URL")
    assert "set pivot_ironic_url" in problem.hint
    assert attempt(here, there, True, **CLUSTER, former_ironic_url="https://192.0.2.1:6385")["due"]


def test_an_ironic_that_somebody_has_stopped_still_has_its_nodes(here, there):
    """When it is started again it would have power over servers that another plane has."""
    options = dict(CLUSTER, former_ironic_url="https://192.0.2.1:6385")
    put(here, ironic(replicas=0, volumes=[CLAIM]))
    # A run that was killed has held the hosts, and deleted the nodes, before it has stopped Ironic.
    assert attempt(here, there, True, **options)["due"]
    del here.objects["BareMetalHost", "free"]["metadata"]["annotations"]
    (problem,) = refused(here, there, **options)
    assert str(problem).startswith(f"{NAME}: spec.replicas: found 0, and a database that outlives its pods: that on")
    put(here, ironic(replicas=0))
    assert attempt(here, there, True, **options)["due"]


OWN, OTHER = IronicProcess("/plane", "ironic", 12), IronicProcess("/other", "ironic-conductor-1", 13)
PROCESS = {"former_ironic_mode": "process", "former_ironic_directory": "/plane/",
           "former_ironic_url": "https://192.0.2.1:6385"}


@pytest.fixture
def machine(monkeypatch):
    """Return a callable that says what this machine has of Ironic."""
    def has(*configured, **others):
        monkeypatch.setattr(former_reading.machine_reading, "read",
                            lambda directory, url: MachineIronics(configured, **others))
    return has


def test_a_process_that_is_not_found_has_not_stopped(here, there, machine):
    machine()
    assert attempt(here, there, True, **PROCESS)["due"]
    del here.objects["BareMetalHost", "free"]["metadata"]["annotations"]
    (problem,) = refused(here, there, **PROCESS)
    assert str(problem).startswith("Ironic: found no process of it on this machine, expected the one that lets go")
    assert "pivot_ironic_mode to cluster" in problem.hint
    machine(others=(OTHER,))
    (problem,) = refused(here, there, **PROCESS)
    assert problem.actual == ("no process of it on this machine in /plane; others are ironic-conductor-1 in /other "
                              "(pid 13)")
    for mode in ("none", "external"):
        assert attempt(here, there, True, **dict(PROCESS, former_ironic_mode=mode))["due"]


def test_a_process_without_a_url_keeps_its_nodes(here, there, machine):
    machine("ironic", running=(OWN,))
    options = {**PROCESS, "former_ironic_url": ""}
    (problem,) = refused(here, there, **options)
    assert str(problem).startswith("Ironic: former_ironic_url: found no URL, and a database that outlives it: that in")
    assert attempt(here, there, True, **PROCESS)["due"]


@pytest.mark.parametrize("configured, running, words", [
    (("ironic",), (), "ironic"), ((), (OWN,), "ironic in /plane (pid 12)"),
    (("ironic",), (OWN, OWN._replace(pid=14)), "ironic in /plane (pid 12 14)")])
def test_a_process_that_is_left_has_not_stopped(here, there, machine, configured, running, words):
    """With --step its end may have been left out, or its supervisord was killed."""
    machine(*configured, running=running, others=(OTHER,))
    (problem,) = refused(here, there, False, **PROCESS)
    assert str(problem).startswith(f"Ironic: found {words}, an Ironic that still has power over the servers, expected")


def test_a_process_that_its_supervisord_has_lost_is_named_before_hosts_are_held(here, there, machine):
    machine("ironic-api", running=(OWN,))
    (problem,) = refused(here, there, **PROCESS)
    assert problem.actual == "ironic in /plane (pid 12), which no supervisord has any more"
    assert "kill 12" in problem.hint


def test_another_ironic_of_this_machine_at_the_url_is_not_the_one_that_is_stopped(here, there, machine):
    machine("ironic", running=(OWN,), others=(OTHER,), holder="pid 13, program ironic in /other")
    (problem,) = refused(here, there, **PROCESS)
    assert str(problem).startswith("Ironic: former_ironic_url: found https://192.0.2.1:6385, where pid 13, program "
                                   "ironic in /other answers, expected a process of the folder /plane")
    assert "two Ironics are on this machine" in problem.hint


@pytest.mark.parametrize("endpoint, is_refused", [
    ("https://192.0.2.1:6385", False), ("https://192.0.2.1:16385", True), ("https://192.0.2.1", True),
    ("https://192.0.2.2:6385", True), ("", False), ("https://[broken", False)])
def test_of_two_ironics_on_one_machine_the_operators_is_known_by_its_port(here, there, machine, endpoint, is_refused):
    machine("ironic", running=(OWN,))
    put(here, *operator(endpoint))
    options = dict(PROCESS, machine_ironic={"ip": "192.0.2.1", "dhcp_networks": []})
    if not is_refused:
        assert attempt(here, there, True, **options)["due"]
        return
    (problem,) = refused(here, there, **options)
    assert (problem.field, problem.actual) == ("IRONIC_ENDPOINT", endpoint)
    assert problem.expected.startswith("https://192.0.2.1:6385, the Ironic that is a process of this machine")
    # The run that writes does not know the machine's address, but the URL.
    machine()
    assert refused(here, there, False, **PROCESS)[0].field == "IRONIC_ENDPOINT"


@pytest.mark.parametrize("endpoint, address, url, is_refused", [
    ("https://192.0.2.9:6385", "192.0.2.1", "", True), ("https://192.0.2.1:6385", "192.0.2.1", "", False),
    ("https://me:word@192.0.2.9:6385", "192.0.2.1", "", True), ("https://[2001:db8::9]:6385", "192.0.2.1", "", True),
    ("https://ironic.example:6385", "192.0.2.1", "", False), ("https://192.0.2.9:6385", "", "", False),
    ("https://192.0.2.9:6385", "192.0.2.1", "https://192.0.2.1:6385", False), ("", "192.0.2.1", "", False)])
@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "run"])
def test_a_deployment_at_another_address_than_the_operators_ironic_is_not_the_one_that_lets_go(
        here, there, endpoint, address, url, is_refused, check_mode):
    """With another Ironic that goes on, two have power over the servers; by a URL its nodes are asked for."""
    of_address = [{"name": "PROVISIONING_IP", "value": address}]
    put(here, ironic(replicas=int(check_mode), env=of_address), *operator(endpoint))
    options = dict(CLUSTER, former_ironic_url=url)
    if is_refused:
        (problem,) = refused(here, there, check_mode, **options)
        netloc = endpoint.removeprefix("https://").rpartition("@")[2]
        assert str(problem).startswith(
            f"Bare Metal Operator: IRONIC_ENDPOINT: found https://{netloc}, expected {address}, the address of {NAME}")
        assert "set former_ironic_url (playbook: pivot_ironic_url" in problem.hint and "word" not in str(problem)
    elif check_mode:
        assert attempt(here, there, True, **options)["due"]
    else:
        with pytest.raises(AssertionError, match="clusterctl was run"):
            attempt(here, there, False, **options)


@pytest.mark.parametrize("port, env, ports, is_refused", [
    ("7000", {}, [], True), ("6385", {"IRONIC_ACCESS_PORT": "7000"}, [], True), ("6385", {}, [], False),
    ("7000", {"IRONIC_ACCESS_PORT": "7000"}, [], False), ("7000", {"IRONIC_LISTEN_PORT": "7000"}, [], False),
    ("7000", {}, [{"containerPort": 7000}, {"containerPort": "x"}], False),
    ("7000", {"IRONIC_LISTEN_PORT": "$(PORT)"}, [], False),
    ("7000", {"IRONIC_ACCESS_PORT": {"secretKeyRef": {}}}, [], False)],
    ids=["default", "another", "the same default", "access", "listen", "declared", "not known", "of a Secret"])
@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "run"])
def test_of_two_at_one_address_the_port_decides(here, there, port, env, ports, is_refused, check_mode):
    values = [{"name": name, **({"value": value} if isinstance(value, str) else {"valueFrom": value})}
              for name, value in dict(env, PROVISIONING_IP="2001:db8::1").items()]
    deployment = ironic(replicas=int(check_mode), env=values)
    deployment["spec"]["template"]["spec"]["containers"][0]["ports"] = ports
    put(here, deployment, *operator(f"https://[2001:db8::1]:{port}"))
    if is_refused:
        (problem,) = refused(here, there, check_mode, **CLUSTER)
        own = env.get("IRONIC_ACCESS_PORT", "6385")
        assert str(problem).startswith(
            f"Bare Metal Operator: IRONIC_ENDPOINT: found https://[2001:db8::1]:{port}, expected port {own} of "
            f"2001:db8::1, the address of {NAME}, or one of a Service of its pods")
    elif check_mode:
        assert attempt(here, there, True, **CLUSTER)["due"]
    else:
        with pytest.raises(AssertionError, match="clusterctl was run"):
            attempt(here, there, False, **CLUSTER)


def service(labels, namespace=NAMESPACE, status=None, ports=({"port": 6385},), **spec):
    item = obj("v1", "Service", "ironic", spec=dict(spec, selector=labels, ports=list(ports)))
    item["metadata"]["namespace"] = namespace
    return dict(item, status=status or {})


def is_the_operators(here, there, endpoint):
    """Return whether a Deployment at 192.0.2.1 is taken for the operator's Ironic, beside a Service."""
    deployment = ironic(env=[{"name": "PROVISIONING_IP", "value": "192.0.2.1"}])
    deployment["spec"]["template"]["metadata"] = {"labels": {"app": "ironic"}}
    put(here, deployment, *operator(endpoint))
    try:
        return bool(attempt(here, there, True, **CLUSTER)["due"])
    except RefusedError as exc:
        fields = [problem.field for problem in exc.problems if problem.code == "move-former-ironic"]
        assert fields == ["IRONIC_ENDPOINT"]
        return False


@pytest.mark.parametrize("of_service, leads", [
    (service({"app": "ironic"}, clusterIP="192.0.2.9"), True),
    (service({"app": "ironic"}, clusterIP="10.0.0.1", clusterIPs=["10.0.0.1", "192.0.2.9"]), True),
    (service({"app": "ironic"}, clusterIP="None", externalIPs=["192.0.2.9"]), True),
    (service({"app": "ironic"}, status={"loadBalancer": {"ingress": [{"hostname": "x"}, {"ip": "192.0.2.9"}]}}), True),
    (service({"app": "ironic"}, clusterIP="192.0.2.8", status={"loadBalancer": {"ingress": "x"}}), False),
    (service({"app": "other"}, clusterIP="192.0.2.9"), False),
    (service({"app": "ironic", "side": "b"}, clusterIP="192.0.2.9"), False),
    (service({}, clusterIP="192.0.2.9"), False),
    # An address that Services of several Ironics share.
    (service({"app": "ironic"}, ports=[{"port": 7000}], externalIPs=["192.0.2.9"]), False),
    (service({"app": "ironic"}, ports=[{"port": 7000, "nodePort": 6385}], clusterIP="192.0.2.8"), False),
    (service({"app": "ironic"}, "elsewhere", clusterIP="192.0.2.9"), False)],
    ids=["address", "second", "external", "balancer", "another address", "other pods", "some pods", "no pods",
         "another port", "node port of another address", "another namespace"])
def test_a_service_of_its_pods_may_have_the_operators_address(here, there, of_service, leads):
    put(here, of_service)
    assert is_the_operators(here, there, "https://192.0.2.9:6385") is leads


@pytest.mark.parametrize("of_service, leads", [
    (service({"app": "ironic"}, ports=[{"port": 80, "nodePort": 30385}], clusterIP="10.0.0.1"), True),
    (service({"app": "ironic"}, ports=[{"port": 30385}], clusterIP="10.0.0.1", externalIPs=["192.0.2.1"]), True),
    (service({"app": "ironic"}, ports=[{"port": 30385}], clusterIP="10.0.0.1"), False),
    (service({"app": "other"}, ports=[{"port": 80, "nodePort": 30385}], clusterIP="10.0.0.1"), False)],
    ids=["node port", "external", "another address", "other pods"])
def test_a_service_of_its_pods_may_have_the_operators_port(here, there, of_service, leads):
    put(here, of_service)
    assert is_the_operators(here, there, "https://192.0.2.1:30385") is leads


def held_for(here, place):
    for name in ("free", "used"):
        here.objects["BareMetalHost", name]["metadata"]["annotations"][host_annotations.FORMER_IRONIC] = place


@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "run"])
def test_what_another_run_has_held_for_another_ironic_may_not_have_stopped_it(here, there, machine, check_mode):
    """On this machine, or in this folder, it is not found: held hosts would count for its end."""
    machine()
    held_for(here, "process other-machine:/plane")
    (problem,) = refused(here, there, check_mode, **PROCESS)
    assert str(problem).startswith(
        f"BareMetalHost free, used: metadata.annotations.{host_annotations.FORMER_IRONIC}: found process other-machine:"
        f"/plane, expected process {os.uname().nodename}:/plane; an earlier run has held them for the end of that ")
    for options in (dict(PROCESS, former_ironic_mode="external"), CLUSTER, {}):
        put(here, ironic(replicas=0))
        assert "found process other-machine:/plane" in str(refused(here, there, check_mode, **options)[0])


@pytest.mark.parametrize("place, options", [
    (f"process {os.uname().nodename}:/plane", PROCESS), (f"cluster {NAMESPACE}/ironic", CLUSTER),
    ("external https://192.0.2.1:6385", dict(PROCESS, former_ironic_mode="external")),
    ("external https://192.0.2.1:6385", dict(PROCESS, former_ironic_mode="external",
                                             former_ironic_url="https://me:word@192.0.2.1:6385/")),
    ("process elsewhere:/plane", {"former_ironic_mode": "none"})])
def test_the_run_that_has_held_them_goes_on(here, there, machine, place, options):
    """With the mode none its user says that it has stopped for good."""
    machine()
    put(here, ironic(replicas=0))
    held_for(here, place)
    result = attempt(here, there, True, **options)
    assert result["due"] and result["former_ironic_place"] in (place, "") and "word" not in str(result)


UUID = "1be26c0b-03f2-4d2e-ae87-c02d7f33c123"


@pytest.mark.parametrize("known, is_held, expected", [
    (UUID.upper(), False, {"uuid": UUID, "must_exist": True}), (UUID, True, {"uuid": UUID, "must_exist": False}),
    ("../nodes", False, {"must_exist": False}), ("", False, {"must_exist": False}),
    (None, False, {"must_exist": False})])
def test_the_nodes_of_the_hosts_are_known_by_what_the_operator_says(here, there, known, is_held, expected):
    """By their UUIDs another Ironic is known, with nodes of the same names or with none."""
    free = here.objects["BareMetalHost", "free"]
    free["status"]["provisioning"]["ID"] = known
    if not is_held:
        del free["metadata"]["annotations"]
    nodes = attempt(here, there, True, former_ironic_mode="none")["nodes"]
    assert dict({"name": "metal3~free"}, **expected) in nodes and len(nodes) == 2


def test_of_a_host_without_a_status_the_saved_one_says_its_node(here, there):
    free = here.objects["BareMetalHost", "free"]
    free["metadata"]["annotations"][host_annotations.STATUS] = json.dumps({"provisioning": {"ID": UUID}})
    assert {"name": "metal3~free", "uuid": UUID, "must_exist": False} in former_nodes.of_hosts(
        ["free"], [dict(free, status={})], "metal3")


@pytest.mark.parametrize("kind, is_named", [("list", False), ("get", True)])
def test_what_may_not_be_read_is_said(here, there, monkeypatch, kind, is_named):
    put(here, ironic())
    asked = getattr(here, kind)

    def forbidden(resource, *arguments, **more):
        if resource.kind == "Deployment":
            raise KubeError("deployments.apps is forbidden", 403)
        return asked(resource, *arguments, **more)

    monkeypatch.setattr(here, kind, forbidden)
    if is_named:
        (problem,) = refused(here, there, **CLUSTER)
        assert "found what may not be read: deployments.apps is forbidden" in str(problem)
        return
    warnings = attempt(here, there, True, **CLUSTER)["warnings"]
    assert len([text for text in warnings if text.startswith("whether another Ironic than the one that is named")]) == 1


@pytest.mark.parametrize("is_detached", [False, True])
def test_with_hosts_in_other_namespaces_ironic_goes_on(here, there, is_detached):
    other = obj("metal3.io/v1alpha1", "BareMetalHost", "apart", spec={"bmc": {"address": "ipmi://192.0.2.77"}},
                status={"provisioning": {"state": "available"}})
    other["metadata"].update(namespace="rack2", annotations={host_annotations.DETACHED: ""} if is_detached else {})
    put(here, other)
    assert attempt(here, there, True, former_ironic_mode="external")["due"]
    if is_detached:
        assert attempt(here, there, True)["due"]
    else:
        with pytest.raises(RefusedError, match=r"1 hosts in other namespaces .* \(rack2/apart\)"):
            attempt(here, there, True)


def test_an_external_ironic_that_is_a_deployment_of_this_plane_is_named_because_it_is_not_stopped(here, there):
    put(here, ironic())
    (warning,) = attempt(here, there, True, former_ironic_mode="external")["warnings"]
    assert warning.startswith(f"{NAME}: runs Ironic and is not stopped, as the mode is external; the nodes of these ")
    assert f"pivot_ironic_mode=cluster, pivot_ironic_namespace={NAMESPACE}, pivot_ironic_deployment=ironic" in warning
    put(here, ironic(replicas=0))
    assert not attempt(here, there, True, former_ironic_mode="external")["warnings"]


def test_all_checks_go_by_one_read_of_it(here, there):
    put(here, ironic(env=[{"name": "MARIADB_HOST", "value": "127.0.0.1"}]))
    here.requests.clear()
    assert attempt(here, there, True, **CLUSTER)["former_ironic"]["uid"] == "uid-Deployment-ironic"
    assert [request[:3] for request in here.requests if request[:2] == ("GET", "Deployment")] == [
        ("GET", "Deployment", "ironic")]


def test_the_modes_are_those_of_the_role():
    assert former_said.MODES == ("process", "cluster", "external", "none")
