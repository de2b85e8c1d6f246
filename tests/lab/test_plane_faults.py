# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps the plane from coming up in a cluster: cause and next step; and runs that are killed half way.

Each fault is put right by the next run with right values.
"""
from __future__ import annotations

import contextlib
import json
import socket
import ssl
import urllib.error
import urllib.request

import bmc_certificates
import plane_site
import pytest
from support import eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.plane

SECONDS = 900
NAMESPACE, OPERATORS = "metal3", "baremetal-operator-system"


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, tmp_path_factory):
    return plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))


def install(lab, variables, **changes):
    return lab.playbook("install", extra=dict(variables, **changes), seconds=SECONDS)


def deployment(target, name, namespace=OPERATORS):
    # Of a namespace or kind that is not there yet.
    with contextlib.suppress(KubeError):
        return target.get(KNOWN["Deployment"], namespace, name)
    return None


def test_a_run_that_is_killed_five_times_is_continued(lab, target, variables):
    moments = {
        "the plan": lambda: "TASK [Plan all parts]" in running.output,
        "Ironic's pod is coming": lambda: deployment(target, "ironic"),
        "half of the operator's definitions": lambda: len(plane_site.definitions(target)) > 5,
        "the operator's pod is coming": lambda: deployment(target, "baremetal-operator-controller-manager"),
        "Cluster API's pods are coming": lambda: deployment(target, "capi-controller-manager", "capi-system")}
    for moment, reached in moments.items():
        # No run before has come to the end.
        assert deployment(target, "capm3-controller-manager", "capm3-system") is None, moment
        running = lab.start("install", extra=variables)
        eventually(reached, SECONDS, moment, interval_seconds=0.05)
        assert running.process.poll() is None, running.output
        running.kill()
    install(lab, variables).ok()
    assert plane_site.not_ready(target) == []
    assert install(lab, variables).ok().changed() == 0


def test_a_wrong_authority_or_address_is_refused_before_anything_is_written(lab, target, variables, tmp_path):
    (other, other_key), _signer = bmc_certificates.issue(tmp_path, "other")
    before = deployment(target, "ironic")["metadata"]["resourceVersion"]
    install(lab, variables, ironic_ca_file=other).failed(
        'ironic: tls_authority: found "CN=other"', "give the certificate of the authority that issued it")
    install(lab, variables, ironic_tls_key_file=other_key, ironic_provisioning_ip="192.0.2.1").failed(
        "ironic: tls_key: found", "ironic: tls_certificate: found", "issue it for provisioning_ip")
    assert deployment(target, "ironic")["metadata"]["resourceVersion"] == before


def test_an_image_that_the_registry_does_not_have_is_named_and_the_one_before_runs_again(lab, target, variables):
    before = deployment(target, "ironic")["spec"]
    install(lab, variables, ironic_image_version="v0.0.1").failed(
        "Deployment baremetal-operator-system/ironic: ", "ImagePullBackOff: container ironic",
        "ironic:v0.0.1: not found", "put the image into the registry, or correct its name or tag",
        "failed and was rolled back")
    assert deployment(target, "ironic")["spec"] == before and plane_site.not_ready(target) == []


def test_a_registry_that_nobody_reaches_is_named(lab, variables):
    with socket.socket() as closed:
        # Bound and not listening: refuses.
        closed.bind((plane_site.bridge(lab), 0))
        install(lab, variables, ironic_image_registry_mirror="%s:%d" % closed.getsockname()).failed(
            "Deployment baremetal-operator-system/ironic: ", "connection refused",
            "make the nodes reach the registry, or set another one by image_registry_mirror")


def test_a_node_without_room_is_named_and_all_is_put_right_by_the_next_run(lab, target, variables):
    # Ironic comes back first, so that the operator is all that the short wait is for.
    install(lab, variables).ok()
    plane = dict(variables["management_plane"], wait_timeout_seconds=90)
    resources = {"requests": {"memory": "900Gi"}}
    install(lab, variables, management_plane=plane, bmo_options={"resources": resources}).failed(
        "Deployment baremetal-operator-system/baremetal-operator-controller-manager: ", "Insufficient memory",
        "lower the request for memory in resources, or add a node that has as much free")
    install(lab, variables).ok()
    eventually(lambda: plane_site.not_ready(target) == [], 60, "all parts ready")
    assert install(lab, variables).ok().changed() == 0


def test_no_login_is_refused_unless_asked_for(lab, target, variables, tmp_path):
    for name in ("username", "password"):
        (tmp_path / name).write_text("somebody")
    install(lab, variables, ironic_auth_type="none").ok()
    external = dict(variables, ironic_mode="external", ironic_url=f"https://{variables['ironic_provisioning_ip']}:6385",
                    ironic_username_file=str(tmp_path / "username"), ironic_password_file=str(tmp_path / "password"))
    lab.playbook("install", "--tags", "ironic", extra=external, seconds=SECONDS).failed(
        "which answers without a login", "set auth_type to none if everybody who reaches it may use it")
    lab.playbook("install", "--tags", "ironic", extra=dict(external, ironic_auth_type="none"), seconds=SECONDS).ok()


@pytest.fixture
def server(lab, kubeconfig):
    """A server that the lab's own plane lets go; its name and variables."""
    name = min(name for name, host in lab.hosts().items()
               if not host["spec"].get("consumerRef") and lab.state(name) == "available")
    lab.remove_hosts(name)
    yield name, plane_site.server(lab, name, kubeconfig)
    lab.playbook("enroll", *only(name), seconds=SECONDS).ok()


def nodes(lab, variables):
    """Return Ironic's nodes by the names of their hosts; nobody logs in."""
    request = urllib.request.Request(f"https://{variables['ironic_provisioning_ip']}:6385/v1/nodes/detail",
                                     headers={"X-OpenStack-Ironic-API-Version": "1.80"})
    context = ssl.create_default_context(cafile=str(lab.dir / "pki" / "ca.crt"))
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        return dict((node["name"].partition("~")[2], node["uuid"]) for node in json.load(answer)["nodes"])


def test_without_a_login_a_server_becomes_available_and_stays_so_once_there_is_one(lab, target, variables, server):
    """Agents call an Ironic without a login as any other; Ironic's database goes with its pod."""
    name, of_server = server
    assert install(lab, variables, ironic_auth_type="none").ok().changed() == 0
    lab.playbook("enroll", *only(name), extra=of_server, seconds=SECONDS).ok()

    def status():
        return target.get(KNOWN["BareMetalHost"], NAMESPACE, name)["status"]
    without = status()
    assert without["provisioning"]["state"] == "available"
    assert nodes(lab, variables) == {name: without["provisioning"]["ID"]}
    # Not through the lab's own plane.
    assert lab.host(name) is None and name not in lab.nodes()

    install(lab, variables).ok()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        nodes(lab, variables)
    eventually(lambda: status()["provisioning"].get("ID") not in (None, "", without["provisioning"]["ID"]), 300,
               "a node in the new database", interval_seconds=1)
    assert status()["provisioning"]["state"] == "available" and not status().get("errorType")
    assert install(lab, variables).ok().changed() == 0
    lab.playbook("unenroll", *only(name), extra=dict(of_server, metal3_confirm=1), seconds=SECONDS).ok()


def test_all_goes_again(lab, target, variables):
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(plane_site.PARTS)), seconds=SECONDS).ok()
    assert not plane_site.definitions(target)
