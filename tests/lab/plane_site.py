# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site whose management plane is pods of a cluster of the lab's: variables of ``install``, and what is there."""
from __future__ import annotations

import contextlib
import ipaddress
import re
from pathlib import Path

import bmc_certificates
import pytest
import small_cluster
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from support import REPOSITORY, only

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

# Of the lab's image, which has the Ironic that the lab itself runs.
PINS = (REPOSITORY / "lab" / "requirements.txt").read_text()
IRONIC_VERSION = "v" + re.search(r"^ironic==(\S+)", PINS, re.MULTILINE).group(1)
SECONDS = 1500
GROUPS = ("cluster.x-k8s.io", "metal3.io")
# Of the lab's network, where no node has them: an address that keepalived gives to Ironic's machine, and what is lent.
HELD_NUMBER, LENT_NUMBERS = 88, (221, 229)
# What uninstall removes.
PARTS = [*(part.name for part in RENDERED), "ironic"]


@contextlib.contextmanager
def cluster(lab, name, image=None, host_selector=None, seconds=SECONDS, **changes):
    """A cluster of one machine for the time of a test module: its kubeconfig's path.

    :param image: what differs from the image of the lab's cluster
    :param host_selector: labels of the host that becomes the machine; None for any
    :param changes: further variables of the playbook ``cluster``
    """
    variables = dict(
        small_cluster.variables(lab, name, image or {}, endpoint=13), cluster_control_plane={
            "replicas": 1, "node_taints": [], **({"host_selector": host_selector} if host_selector else {})}, **changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        try:
            lab.playbook("cluster", seconds=seconds, extra=variables).ok()
            yield variables["cluster_workload_kubeconfig"]
        finally:
            lab.playbook("teardown", seconds=seconds, extra=dict(variables, **small_cluster.teardown(name))).ok()


def workload(lab):
    """Return the path of the kubeconfig of the lab's workload cluster, which is created when there is none."""
    path = lab.dir / "kubeconfigs" / "workload"
    if not path.exists():
        lab.playbook("cluster", seconds=SECONDS, environment={"LAB_CLUSTER": "workload"}).ok()
    return path


def client(kubeconfig):
    return KubeClient({"kubeconfig": str(kubeconfig)})


def bridge(lab):
    """Return the lab's address that pods reach."""
    return lab.figures["bridge"]["address"].partition("/")[0]


def image_server(lab):
    return f"https://{bridge(lab)}:{lab.figures['ports']['image_server']}"


def node_address(target):
    """Return the address of the cluster's node."""
    return address_of(target.list(KNOWN["Node"])[0][0])


def address_of(node):
    """Return the address of a Node."""
    return next(item["address"] for item in node["status"]["addresses"] if item["type"] == "InternalIP")


def plane(lab, kubeconfig, folder, address=None, others=()):
    """Return the variables of a plane with Ironic, all of it in the cluster, without cert-manager.

    :param folder: for Ironic's certificate
    :param address: of Ironic, by default that of the cluster's node
    :param others: further addresses that its certificate is for
    """
    return dict(parts(lab, folder, address or node_address(client(kubeconfig)), others), management_plane={
        "mode": "cluster", "kubeconfig": str(kubeconfig), "certificates": "collection", "definitions": "remove"})


def parts(lab, folder, address, others=()):
    """Return the variables of the parts of such a plane.

    :param folder: for Ironic's certificate
    :param address: of the node that Ironic runs on
    :param others: see :func:`plane`
    """
    certificate, key = issue(lab, folder, address, others)
    return {
        "ironic_mode": "cluster", "ironic_tls": "files", "ironic_tls_certificate_file": certificate,
        "ironic_tls_key_file": key, "ironic_provisioning_ip": address, "ironic_image_version": IRONIC_VERSION,
        "bmo_deploy_kernel_url": image_server(lab) + "/agent/vmlinuz",
        "bmo_deploy_ramdisk_url": image_server(lab) + "/agent/initrd",
        "ironic_bmc_addresses": [], "ironic_bmc_schemes": ["redfish-virtualmedia"],
        # As roles/ironic/templates/ironic.conf.j2 has them, with its reasons.
        "ironic_environment": {
            "BOOTLOADER": image_server(lab) + "/agent/esp.img",
            "OS_DEFAULT__GRUB_CONFIG_PATH": "EFI/BOOT/grub.cfg",
            "OS_REDFISH__VERIFY_CA": "/certs/ca/ironic/tls.crt",
            "OS_AGENT__COMMAND_WAIT_INTERVAL": "1",
            "OS_AGENT__POST_DEPLOY_GET_POWER_STATE_RETRY_INTERVAL": "1",
            "OS_AGENT__POST_DEPLOY_GET_POWER_STATE_RETRIES": "30",
            "OS_DEPLOY__FAST_TRACK_TIMEOUT": "60",
            "OS_DATABASE__SQLITE_MAX_WAIT_FOR_RETRY": "120"}}


def issue(lab, folder, address, others=()):
    """Have the lab's authority issue a certificate for addresses; return the paths of it and of its key."""
    authority = x509.load_pem_x509_certificate((lab.dir / "pki" / "ca.crt").read_bytes())
    key = serialization.load_pem_private_key((lab.dir / "pki" / "ca.key").read_bytes(), None)
    return bmc_certificates.issue(Path(folder), "ironic", address=address, issuer=(authority.subject, key),
                                  others=others)[0]


def server(lab, name, kubeconfig):
    """Return the variables with which the plane in the cluster gets one of the lab's servers."""
    path = lab.servers[name]["bmc"]["address"].partition("/redfish/")[2]
    images = image_server(lab) + "/images/lab.raw"
    return {"metal3_kubeconfig": str(kubeconfig),
            "bmc_address": f"redfish-virtualmedia+https://{bridge(lab)}:{lab.figures['ports']['redfish']}/redfish/"
                           + path,
            "bmh_image": {"url": images, "checksum": images + ".sha256", "checksum_type": "sha256", "format": "raw"}}


def numbered(lab, number):
    """Return an address of the lab's network by its number there."""
    return str(ipaddress.ip_network(lab.figures["bridge"]["network"])[number])


def held(lab):
    """Return the address that no machine has, for keepalived."""
    return numbered(lab, HELD_NUMBER)


def lent(lab):
    """Return the first and the last address that a DHCP server of a test's lends."""
    return [numbered(lab, number) for number in LENT_NUMBERS]


@contextlib.contextmanager
def two_let_go(lab, kubeconfig, seconds):
    """Do as :func:`let_go` for two servers that are available and that nobody uses."""
    names = [name for name, host in sorted(lab.hosts().items())
             if not host["spec"].get("consumerRef") and lab.state(name) == "available"][:2]
    assert len(names) == 2
    with let_go(lab, names, kubeconfig, seconds) as found:
        yield found


@contextlib.contextmanager
def let_go(lab, names, kubeconfig, seconds):
    """Take servers from the lab's own plane for another one; give their variables by name."""
    lab.remove_hosts(*names)
    try:
        yield dict((name, server(lab, name, kubeconfig)) for name in names)
    finally:
        lab.playbook("enroll", *only(*names), seconds=seconds).ok()


def namespaces(target):
    return set(item["metadata"]["name"] for item in target.list(KNOWN["Namespace"])[0])


def definitions(target):
    return set(item["metadata"]["name"] for item in target.list(KNOWN["CustomResourceDefinition"])[0]
               if item["spec"]["group"].endswith(GROUPS))


def managers(target):
    """Return the Deployments of the plane by name."""
    return dict((item["metadata"]["name"], item) for part in RENDERED
                for item in target.list(KNOWN["Deployment"], part.namespace)[0])


def not_ready(target):
    """Return in words which Deployments and containers of the cluster are not ready."""
    found = [f"Deployment {name}" for name, item in managers(target).items()
             if (item.get("status") or {}).get("availableReplicas", 0) != item["spec"].get("replicas", 1)]
    # Of a Deployment that has just changed, the former pod may still be on its way out.
    for pod in (pod for pod in target.list(KNOWN["Pod"])[0] if not pod["metadata"].get("deletionTimestamp")):
        found += [f"Pod {pod['metadata']['name']}: {item['name']}"
                  for item in (pod.get("status") or {}).get("containerStatuses") or [] if not item["ready"]]
    return found
