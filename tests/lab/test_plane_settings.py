# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of Ironic and the Bare Metal Operator as pods, and what servers do with them.

The agent's kernel and ramdisk come from a folder of the site (``CACHEURL``) into the pod, its boot files from a port of
one's own; the operator does not verify Ironic's certificate. Ironic's address is one that no machine has: keepalived
gives it to the node. Its database is MariaDB on a volume of the node, and the pod lends addresses. Then Ironic speaks
plain HTTP, with SQLite and an ISO image alone in the place of the agent's kernel and ramdisk, and then the first one is
there again, behind a server that asks the operator for a certificate. It is replaced by the same Ironic under a newer
version, after one that does not start, and its passwords are rotated.
"""
from __future__ import annotations

import base64
import contextlib
import ipaddress
import json
import re
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import dhcp_client
import folder_server
import plane_site
import pytest
import registry_store
from consoles import Console
from demanding_proxy import DemandingProxy
from support import eventually, only
from watching import Untouched

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import table
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic as plane_ironic
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import MARIADB_PASSWORD

pytestmark = [pytest.mark.nodes, pytest.mark.plane]

SECONDS = 900
NAMESPACE, OPERATORS = "metal3", "baremetal-operator-system"
HTTP_PORT = 6181
UNKNOWN = "00:5c:52:31:3a:77"
# Nobody asks it.
NAME_SERVER = "203.0.113.53"
CLAIM, OWN_SECRET = "ironic-database", "operators-certificate"
VOLUMES = dict((resource.kind, resource) for resource in table(
    "", "v1", ("persistentvolumes", "PersistentVolume", False),
    ("persistentvolumeclaims", "PersistentVolumeClaim", True)))
AGENT_FILES = {"ironic-python-agent.kernel": "vmlinuz", "ironic-python-agent.initramfs": "initrd"}


@pytest.fixture(scope="module")
def cache(lab, tmp_path_factory):
    """A folder of the site's with the agent's files, by plain HTTP at the address that pods reach."""
    folder = tmp_path_factory.mktemp("cache")
    for name, published in AGENT_FILES.items():
        (folder / name).write_bytes((lab.dir / "www" / "agent" / published).read_bytes())
    with folder_server.running(folder, plane_site.bridge(lab)) as found:
        yield found


@pytest.fixture(scope="module")
def claim(target):
    """A volume of the node's, in a folder that Debian leaves empty."""
    node = target.list(KNOWN["Node"])[0][0]["metadata"]["labels"]["kubernetes.io/hostname"]
    size = {"storage": "1Gi"}
    target.apply(VOLUMES["PersistentVolume"], None, {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": CLAIM}, "spec": {
            "capacity": size, "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand",
            "local": {"path": "/srv"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}})
    target.apply(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OPERATORS}})
    target.apply(VOLUMES["PersistentVolumeClaim"], OPERATORS, {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": CLAIM, "namespace": OPERATORS},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand", "resources": {"requests": size}}})
    return CLAIM


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, cache, claim, tmp_path_factory):
    certificate, key = plane_site.issue(lab, tmp_path_factory.mktemp("mariadb"), "127.0.0.1")
    return dict(
        plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"), address(lab)),
        ironic_keepalived=True, ironic_provisioning_interface="eno1",
        ironic_mariadb=True, ironic_mariadb_claim=claim, ironic_mariadb_certificate_file=certificate,
        ironic_mariadb_key_file=key,
        ironic_dhcp_range=",".join(plane_site.lent(lab)), ironic_gateway_ip=plane_site.bridge(lab),
        ironic_dns_ip=NAME_SERVER,
        ironic_cache_url=cache.url,
        bmo_deploy_kernel_url="file:///shared/html/images/ironic-python-agent.kernel",
        bmo_deploy_ramdisk_url="file:///shared/html/images/ironic-python-agent.initramfs",
        ironic_http_port=HTTP_PORT, ironic_kernel_params="console=ttyS1 site.rack=7", ironic_vlan_interfaces="eno1.7",
        bmo_ironic_ca_secret="", bmo_ironic_insecure=True)


@pytest.fixture(scope="module")
def servers(lab, kubeconfig):
    """Two servers that the lab's own plane lets go: name → variables."""
    with plane_site.two_let_go(lab, kubeconfig, SECONDS) as found:
        yield found


@pytest.fixture(scope="module")
def consoles(lab, servers):
    """What the servers print from before they are enrolled."""
    return dict((name, Console(lab.dir / "machines" / name / "console.log")) for name in servers)


@pytest.fixture(scope="module")
def enrolled(lab, target, servers, consoles, variables):
    """The servers are enrolled; what each has printed."""
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    shared = dict(next(iter(servers.values())))
    del shared["bmc_address"], shared["bmh_image"]
    inventory = lab.inventory(dict((name, {"bmc_address": item["bmc_address"]}) for name, item in servers.items()))
    run = lab.playbook("enroll", "-i", str(inventory), *only(*servers), extra=shared, seconds=SECONDS).ok()
    print(run.output)
    return dict((name, "\n".join(console.lines())) for name, console in consoles.items())


def address(lab):
    return plane_site.held(lab)


def nodes(lab, kubeconfig, scheme="https"):
    """Return Ironic's nodes by the names of their hosts."""
    login = ":".join(Path(f"{kubeconfig}.ironic", name).read_text().strip() for name in ("username", "password"))
    request = urllib.request.Request(f"{scheme}://{address(lab)}:6385/v1/nodes/detail", headers={
        "Authorization": "Basic " + base64.b64encode(login.encode()).decode(),
        "X-OpenStack-Ironic-API-Version": "1.80"})
    context = ssl.create_default_context(cafile=str(lab.dir / "pki" / "ca.crt"))
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        return dict((node["name"].partition("~")[2], node) for node in json.load(answer)["nodes"])


def made(found):
    """Return when each node came into the database."""
    return dict((name, (node["uuid"], node["created_at"])) for name, node in found.items())


@pytest.fixture(scope="module")
def first(lab, kubeconfig, enrolled):
    """The nodes in MariaDB."""
    return made(nodes(lab, kubeconfig))


def status(target, name):
    try:
        return (target.get(KNOWN["BareMetalHost"], NAMESPACE, name) or {}).get("status") or {}
    except KubeError:
        return {}


def state(target, name):
    return (status(target, name).get("provisioning") or {}).get("state")


def test_both_servers_are_enrolled(target, servers, enrolled):
    assert {state(target, name) for name in servers} == {"available"}


def test_the_agent_comes_from_the_folder_of_the_site(cache, enrolled):
    assert {(name, 200) for name in AGENT_FILES} <= set(cache.requested)


def test_the_agents_command_line_has_what_the_site_asks_for(enrolled):
    for name, printed in enrolled.items():
        for word in ("console=ttyS1", "site.rack=7", "ipa-enable-vlan-interfaces=eno1.7"):
            assert word in printed, f"{name}: {word}: {printed}"


def test_boot_files_are_served_on_the_port_of_the_site(lab, enrolled):
    """The BMCs have read the agent's medium there: no other port serves it."""
    with urllib.request.urlopen(f"http://{address(lab)}:{HTTP_PORT}/", timeout=10) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://{address(lab)}:{plane_ironic.HTTP_PORT}/", timeout=10)


def test_firmware_on_the_wire_is_offered_an_address_and_what_it_boots_by_the_pod_alone(lab, target, enrolled):
    first, last = map(ipaddress.ip_address, plane_site.lent(lab))
    with dhcp_client.asking(lab) as ask:
        for architecture, file in ((0, "undionly.kpxe"), (7, "snponly-x86_64.efi")):
            offer, = ask(mac=UNKNOWN, architecture=architecture)
            assert offer["boot_file"] == "/" + file and offer["routers"] == [plane_site.bridge(lab)], offer
            assert first <= ipaddress.ip_address(offer["address"]) <= last, offer
            assert offer["name_servers"] == [NAME_SERVER], offer
            assert offer["server"] == plane_site.node_address(target), offer
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.settimeout(30)
        # RFC 1350: a request to read, and the first block.
        asked.sendto(b"\0\1" + file.encode() + b"\0octet\0", (address(lab), 69))
        block = asked.recv(1024)
    assert block[:4] == b"\0\3\0\1" and block[4:6] == b"MZ", block[:64]


def test_the_address_is_keepaliveds_and_comes_back_with_the_pod_and_mariadb_still_has_the_nodes(
        lab, target, kubeconfig, servers, enrolled, first):
    assert set(first) == set(servers)
    node = target.list(KNOWN["Node"])[0][0]
    assert address(lab) not in [entry["address"] for entry in node["status"]["addresses"]]
    pod, = [item for item in target.list(KNOWN["Pod"], OPERATORS)[0] if item["metadata"]["name"].startswith("ironic-")]
    target.delete(KNOWN["Pod"], OPERATORS, pod["metadata"]["name"])

    def answers():
        with urllib.request.urlopen(f"http://{address(lab)}:{HTTP_PORT}/", timeout=2) as answer:
            return answer.status == 200

    def refuses():
        try:
            return not answers()
        except OSError:
            return True

    eventually(refuses, 120, "the address goes with the pod")
    eventually(answers, 240, "the address comes with the next pod", not_yet=OSError, interval_seconds=1)
    found = eventually(lambda: nodes(lab, kubeconfig), 240, "Ironic answers", not_yet=OSError, interval_seconds=1)
    assert made(found) == first


def test_an_inspected_server_is_not_booted_again_before_it_is_deployed(enrolled):
    for name, printed in enrolled.items():
        assert printed.count("kernel command line: ") == 1, f"{name}: {printed}"


@pytest.fixture
def iso(lab):
    """URL of a file in the place of the agent's ISO; no server boots it here."""
    path = lab.dir / "www" / "agent" / "agent.iso"
    path.write_bytes(b"no server boots it")
    yield f"{plane_site.image_server(lab)}/agent/{path.name}"
    path.unlink()


def test_ironic_speaks_plain_http_with_another_database_and_the_operator_registers_its_hosts_there(
        lab, target, kubeconfig, variables, first, iso):
    lab.playbook("install", extra=dict(
        variables, ironic_tls="none", ironic_mariadb=False, ironic_mariadb_claim="", bmo_ironic_insecure=False,
        ironic_cache_url="", bmo_deploy_kernel_url="", bmo_deploy_ramdisk_url="", bmo_deploy_iso_url=iso,
        # The authority of the BMCs' certificates is in the pod with TLS only.
        ironic_environment=dict(variables["ironic_environment"], OS_REDFISH__VERIFY_CA="False"), bmo_concurrency=3,
        # Its nodes go with the database of before.
        metal3_confirm="ironic"), seconds=SECONDS).ok()

    def boot_from():
        # The operator names it once Ironic has verified the node.
        return dict((name, node["driver_info"].get("deploy_iso"))
                    for name, node in nodes(lab, kubeconfig, "http").items())

    with contextlib.suppress(AssertionError):
        eventually(lambda: boot_from() == dict.fromkeys(first, iso), 300, "nodes in SQLite", not_yet=OSError,
                   interval_seconds=1)
    # What it is says more than that time is up.
    assert boot_from() == dict.fromkeys(first, iso)
    assert not set(made(nodes(lab, kubeconfig, "http")).items()) & set(first.items())
    with pytest.raises(OSError):
        nodes(lab, kubeconfig)
    # The controller of host claims has one worker, whatever is asked for.
    assert {entry["worker count"] for entry in operator_lines(target)
            if "worker count" in entry and entry["controller"] != "hostclaim"} == {3}


def of_operator(target, names):
    """Return what the operator says of its hosts, each with its node."""
    found = dict((name, status(target, name)) for name in names)
    return dict((name, (said.get("operationalStatus"), said.get("errorMessage"),
                        *((said.get("provisioning") or {}).get(field) for field in ("state", "ID"))))
                for name, said in found.items())


def operator_lines(target):
    """Return what the operator has logged, as objects."""
    pods = [item["metadata"] for item in target.list(KNOWN["Pod"], OPERATORS)[0]]
    pod, = [item["name"] for item in pods
            if item["name"].startswith("baremetal-operator-") and not item.get("deletionTimestamp")]
    text = target.beginning(KNOWN["Pod"].path(OPERATORS, pod, "log"), {}, pod, 10_000_000).decode()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_the_operator_shows_its_certificate_and_mariadb_has_its_nodes_again(
        lab, target, kubeconfig, variables, first, tmp_path):
    pair = plane_site.issue(lab, tmp_path, plane_site.bridge(lab))
    proxy = DemandingProxy(plane_site.bridge(lab), pair, str(lab.dir / "pki" / "ca.crt"), (address(lab), 6385))
    certificate, key = plane_site.issue(lab, tmp_path, "127.0.0.1")
    target.apply(KNOWN["Secret"], OPERATORS, {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": OWN_SECRET, "namespace": OPERATORS},
        "type": "kubernetes.io/tls", "stringData": {
            "tls.crt": Path(certificate).read_text(), "tls.key": Path(key).read_text()}})
    try:
        lab.playbook("install", extra=dict(
            variables, bmo_ironic_url=proxy.url, bmo_ironic_insecure=False, bmo_ironic_ca_secret="ironic-cacert",
            bmo_ironic_client_secret=OWN_SECRET), seconds=SECONDS).ok()
        eventually(lambda: set(proxy.clients) == {"ironic"}, 120, "the operator has come in")
        assert made(nodes(lab, kubeconfig)) == first and proxy.refused == 0
    finally:
        proxy.close()
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    # As ironic_audit says of a database with other nodes of the same names.
    for name in first:
        secret = target.get(KNOWN["BareMetalHost"], NAMESPACE, name)["spec"]["bmc"]["credentialsName"]
        target.patch(KNOWN["Secret"], NAMESPACE, secret, {"metadata": {"annotations": {"example.org/changed": "now"}}})
    expected = dict((name, ("OK", "", "available", uuid)) for name, (uuid, _created) in first.items())
    with contextlib.suppress(AssertionError):
        eventually(lambda: of_operator(target, first) == expected, 300, "hosts with their nodes", interval_seconds=1)
    assert of_operator(target, first) == expected
    # The operator makes a node available when it provisions the host, not before.
    found = nodes(lab, kubeconfig)
    assert {(node["provision_state"], node["last_error"]) for node in found.values()} == {("manageable", None)}


@pytest.fixture(scope="module")
def newer(lab, tmp_path_factory):
    """The version of another image of the same Ironic."""
    store = registry_store.access(lab, tmp_path_factory.mktemp("store"))
    version = re.sub(r"\d+$", lambda match: str(int(match.group()) + 1), plane_site.IRONIC_VERSION)
    registry_store.copied(store, f"docker://{store.host}/{plane_ironic.IMAGE}:{plane_site.IRONIC_VERSION}",
                          f"{plane_ironic.IMAGE}:{version}", registry_store.SAME)
    return version


def image(target):
    """Return the image of Ironic's pod."""
    pod, = [item for item in target.list(KNOWN["Pod"], OPERATORS)[0] if item["metadata"]["name"].startswith("ironic-")
            and not item["metadata"].get("deletionTimestamp")]
    return next(item["image"] for item in pod["spec"]["containers"] if item["name"] == "ironic").rpartition(":")[2]


def again(lab, kubeconfig):
    """Return Ironic's nodes once it answers."""
    return made(eventually(lambda: nodes(lab, kubeconfig), 240, "Ironic answers", not_yet=OSError, interval_seconds=1))


def test_another_version_is_in_the_plan_and_asks_for_the_number(lab, target, kubeconfig, variables, first, newer):
    changed, version = dict(variables, ironic_image_version=newer), plane_site.IRONIC_VERSION
    planned = lab.playbook("install", "--check", extra=changed, seconds=SECONDS).ok().output
    assert re.search(rf"\bironic +{re.escape(version)} +{re.escape(newer)}\b", planned), planned
    assert "upgrades 1 part (ironic)" in planned
    for given in (changed, dict(changed, metal3_confirm=2)):
        lab.playbook("install", extra=given, seconds=SECONDS).failed("upgrades 1 part (ironic)", "set metal3_confirm=1")
    assert image(target) == version and made(nodes(lab, kubeconfig)) == first


def test_a_version_that_does_not_come_up_is_rolled_back(lab, target, kubeconfig, variables, first, newer):
    missing = newer + "-missing"
    lab.playbook("install", extra=dict(variables, ironic_image_version=missing, metal3_confirm=1,
                                       ironic_wait_timeout_seconds=120), seconds=SECONDS).failed(
        f"the upgrade of Ironic from quay.io/metal3-io/ironic:{plane_site.IRONIC_VERSION} to ", "was rolled back",
        f"ironic:{missing}: not found")
    assert image(target) == plane_site.IRONIC_VERSION and again(lab, kubeconfig) == first
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_with_the_number_ironic_is_upgraded_and_no_host_leaves_its_state(
        lab, target, kubeconfig, variables, servers, first, newer):
    untouched, before = Untouched(lab), of_operator(target, servers)
    lab.playbook("install", extra=dict(variables, ironic_image_version=newer, metal3_confirm=1), seconds=SECONDS).ok()
    assert image(target) == newer and again(lab, kubeconfig) == first
    assert of_operator(target, servers) == before and untouched.resets() == {}


def test_its_database_does_not_go_back(lab, target, variables, newer):
    lab.playbook("install", extra=dict(variables, metal3_confirm=1), seconds=SECONDS).failed(
        "part ironic: version: found", f"set ironic_image_version={newer} or newer", CLAIM)
    assert image(target) == newer


def test_a_rotation_also_replaces_mariadbs_password(lab, target, kubeconfig, variables, servers, first, newer):
    def stored():
        return tuple(target.get(KNOWN["Secret"], OPERATORS, name)["data"]["password"]
                     for name in (MARIADB_PASSWORD, plane_ironic.CREDENTIALS))

    before = stored()
    lab.playbook("rotate_credentials", extra=dict(variables, ironic_image_version=newer), seconds=SECONDS).ok()
    after = stored()
    assert all(old != new for old, new in zip(before, after)) and again(lab, kubeconfig) == first
    assert {found[:2] for found in of_operator(target, servers).values()} == {("OK", "")}


def test_all_goes_again(lab, target, servers, variables):
    shared = dict(next(iter(servers.values())))
    del shared["bmc_address"], shared["bmh_image"]
    lab.playbook("unenroll", *only(*servers), extra=dict(shared, metal3_confirm=len(servers)), seconds=SECONDS).ok()
    assert not [name for name in servers if status(target, name)]
    confirmed = dict(variables, metal3_confirm=len(plane_site.PARTS))
    lab.playbook("uninstall", extra=confirmed, seconds=SECONDS).failed(*(
        f"Namespace {OPERATORS}: found {kept}, expected nothing but the parts"
        for kept in (f"PersistentVolumeClaim {CLAIM}", f"Secret {OWN_SECRET}")))
    target.delete(KNOWN["Secret"], OPERATORS, OWN_SECRET)
    # Ironic's pod still uses it.
    target.delete(VOLUMES["PersistentVolumeClaim"], OPERATORS, CLAIM)
    lab.playbook("uninstall", extra=confirmed, seconds=SECONDS).ok()
    assert not plane_site.definitions(target)
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://{address(lab)}:{HTTP_PORT}/", timeout=10)
