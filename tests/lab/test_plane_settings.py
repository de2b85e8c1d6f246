# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of Ironic and the Bare Metal Operator as pods, and what servers do with them.

The agent's kernel and ramdisk come from a folder of the site (``CACHEURL``) into the pod, its boot files from a port of
one's own; the operator does not verify Ironic's certificate. Ironic's address is one that no machine has: keepalived
gives it to the node.
"""
from __future__ import annotations

import threading
import urllib.error
import urllib.request
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import plane_site
import pytest
from consoles import Console
from support import eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic as plane_ironic

pytestmark = [pytest.mark.nodes, pytest.mark.plane]

SECONDS = 900
NAMESPACE, OPERATORS = "metal3", "baremetal-operator-system"
HTTP_PORT = 6181
# Of the addresses that nodes get, the last one but one.
ADDRESS_NUMBER = 88
AGENT_FILES = {"ironic-python-agent.kernel": "vmlinuz", "ironic-python-agent.initramfs": "initrd"}


@pytest.fixture(scope="module")
def kubeconfig(lab):
    with plane_site.cluster(lab, "plane") as path:
        yield path


@pytest.fixture(scope="module")
def target(kubeconfig):
    return plane_site.client(kubeconfig)


class Cache:
    """A folder of the site's with the agent's files, by plain HTTP at the address that pods reach."""

    def __init__(self, lab, folder):
        requested = self.requested = []
        for name, published in AGENT_FILES.items():
            (folder / name).write_bytes((lab.dir / "www" / "agent" / published).read_bytes())

        class Handler(SimpleHTTPRequestHandler):
            def log_request(self, code="-", size="-"):
                requested.append((self.path.rpartition("/")[2], int(code)))

        self.server = ThreadingHTTPServer((plane_site.bridge(lab), 0), partial(Handler, directory=str(folder)))
        self.url = "http://%s:%d" % self.server.server_address
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def cache(lab, tmp_path_factory):
    made = Cache(lab, tmp_path_factory.mktemp("cache"))
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, cache, tmp_path_factory):
    return dict(
        plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"), address(lab)),
        ironic_keepalived=True, ironic_provisioning_interface="eno1",
        ironic_cache_url=cache.url, ironic_boot_kernel_url="", ironic_boot_ramdisk_url="",
        bmo_deploy_kernel_url="file:///shared/html/images/ironic-python-agent.kernel",
        bmo_deploy_ramdisk_url="file:///shared/html/images/ironic-python-agent.initramfs",
        ironic_http_port=HTTP_PORT, ironic_kernel_params="console=ttyS1 site.rack=7", ironic_vlan_interfaces="eno1.7",
        bmo_ironic_ca_secret="", bmo_ironic_insecure=True)


@pytest.fixture(scope="module")
def servers(lab, kubeconfig):
    """Two servers that the lab's own plane lets go: name → variables."""
    names = [name for name, host in sorted(lab.hosts().items())
             if not host["spec"].get("consumerRef") and lab.state(name) == "available"][:2]
    assert len(names) == 2
    lab.remove_hosts(*names)
    yield dict((name, plane_site.server(lab, name, kubeconfig)) for name in names)
    lab.playbook("enroll", *only(*names), seconds=SECONDS).ok()


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
    return "{}.{}".format(lab.figures["bridge"]["network"].rpartition(".")[0], ADDRESS_NUMBER)


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


def test_the_address_is_keepaliveds_and_comes_back_with_the_pod(lab, target, enrolled):
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


def test_an_inspected_server_is_not_booted_again_before_it_is_deployed(enrolled):
    for name, printed in enrolled.items():
        assert printed.count("kernel command line: ") == 1, f"{name}: {printed}"


def test_all_goes_again(lab, target, servers, variables):
    shared = dict(next(iter(servers.values())))
    del shared["bmc_address"], shared["bmh_image"]
    lab.playbook("unenroll", *only(*servers), extra=dict(shared, metal3_confirm=len(servers)), seconds=SECONDS).ok()
    assert not [name for name in servers if status(target, name)]
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(plane_site.PARTS)), seconds=SECONDS).ok()
    assert not plane_site.definitions(target)
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://{address(lab)}:{HTTP_PORT}/", timeout=10)
