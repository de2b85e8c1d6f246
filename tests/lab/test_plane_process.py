# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane of a site beside the lab: it takes one of the lab's servers, and outlives what happens to it."""
from __future__ import annotations

import json
import os
import re
import socket
import ssl
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from bootstrap_site import ADDRESS, PROGRAMS, SERVER, Site
from consoles import Console
from support import HOST, NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import IronicClient
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans

pytestmark = pytest.mark.plane


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """A site that has taken over a server which the lab's own plane does not manage."""
    if lab.host(SERVER):
        lab.remove_hosts(SERVER)
    found = Site(lab, tmp_path_factory.mktemp("site"))
    # What a server finds that boots from the network is the lab's own plane.
    found.host["bmc_address"] = "redfish-virtualmedia+" + found.host["bmc_address"].partition("+")[2]
    found.variables.update(ironic_kernel_params="console=ttyS1 site.rack=7", ironic_vlan_interfaces="eno1.7",
                           bootstrap_plane_network_boot=True,
                           ironic_settings={"DEFAULT": {"enabled_rescue_interfaces": "no-rescue,agent"}})
    yield found
    if found.dir.exists():
        orphans.stop_processes(str(found.dir))


def test_all_mistakes_are_refused_before_anything_is_written(site):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        port = other.getsockname()[1]
        run = site.playbook("install", address="203.0.113.9", kubernetes_address="127.0.0.1", dir=str(site.file))
        run.failed("2 problems, nothing was changed:",
                   'management_plane.address: found "203.0.113.9", expected an address of this machine',
                   f'management_plane.dir: found "{site.file}", which is no folder')
        run = site.playbook("install", "-e", "bmo_deploy_kernel_url=", ports={"capi_health": port})
        run.failed("2 problems, nothing was changed:", "bmo_deploy_kernel_url: not set",
                   f"management_plane.ports.capi_health: found {port}, taken by pid {os.getpid()} (")
    assert not site.dir.exists()


def test_a_plane_that_is_not_there_is_planned_without_writing(site):
    run = site.playbook("install", "--check", "--diff").ok()
    assert "There is no plane rack1 yet" in run.output and not site.dir.exists()


def test_a_run_that_is_killed_is_finished_by_the_next(site):
    for moment in ("lab.json", "supervisor/supervisord.pid", "ironic/ironic.db", "kubeconfigs/bmo"):
        running = site.start("install")
        # With each run the plane has come farther, on a machine that others use as well.
        eventually((site.dir / moment).exists, 600, moment)
        running.kill()
    run = site.playbook("install").ok()
    assert run.changed() > 0 and len(site.programs()) == PROGRAMS
    assert site.playbook("install").ok().changed() == 0
    assert site.playbook("install", "--check", "--diff").ok().changed() == 0


def test_only_the_owner_reads_and_data_is_kept(site):
    for path in (site.dir, site.dir / "secrets", site.dir / "pki", site.dir / "etcd"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    for name in ("kubeconfig", "clouds.yaml", "lab.json", "ironic/ironic.conf", "secrets/ironic_password"):
        assert stat.S_IMODE((site.dir / name).stat().st_mode) == 0o600, name
    assert "unsafe-no-fsync" not in (site.dir / "supervisor" / "conf.d" / "etcd.conf").read_text()
    configuration = (site.dir / "ironic" / "ironic.conf").read_text()
    assert "sqlite_synchronous" not in configuration and "deploy_callback_timeout = 4800" in configuration
    assert re.search(r"(?m)^api_ca_file = .*/plane/pki/ca.crt$", configuration)


def test_only_ironic_and_the_web_server_listen_for_servers(site):
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    figures = json.loads((site.dir / "lab.json").read_text())
    ports = dict((port, part) for part, port in figures["ports"].items())
    found = dict((ports[port], fields[1].split(":")[0]) for fields in lines if fields[3] == "0A"
                 for port in [int(fields[1].split(":")[1], 16)] if port in ports)
    there = set(part for part, address in found.items() if address == "0200007F")
    assert there == {"ironic", "image_server", "network_boot"}
    assert set(address for part, address in found.items() if part not in there) == {"0100007F"}


def asked(site, url):
    """Return status and content of what a web server of the site's answers."""
    context = ssl.create_default_context(cafile=str(site.dir / "pki" / "ca.crt"))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(url, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as exc:
        return exc.code, b""


def test_firmware_reads_boot_files_without_encryption_and_nothing_else(site):
    plain, encrypted = f"http://{ADDRESS}:6180", f"https://{ADDRESS}:6183"
    configuration = (site.dir / "ironic" / "ironic.conf").read_text()
    assert f"\nhttp_url = {plain}/ironic\n" in configuration
    assert f"\nexternal_http_url = {encrypted}/ironic\n" in configuration
    status, script = asked(site, plain + "/ironic/boot.ipxe")
    assert status == 200 and script.startswith(b"#!ipxe") and b"chain pxelinux.cfg/" in script
    served = site.dir / "www"
    media, image, handed = (served / name for name in (
        "ironic/redfish/boot-of-a-test.iso", "images/of-a-test", "ironic/agent_images/of-a-test"))
    made = [path.parent for path in (media, handed) if not path.parent.exists()]
    for path in (media, image, handed):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"of a test")
    try:
        for path in (media, image):
            name = str(path.relative_to(served))
            assert asked(site, f"{encrypted}/{name}") == (200, b"of a test"), name
            assert asked(site, f"{plain}/{name}")[0] == 404, name
        # By way of the other server, whose certificate is verified.
        assert asked(site, plain + "/ironic/agent_images/of-a-test") == (200, b"of a test")
        assert asked(site, plain + "/healthz")[0] == 404
    finally:
        for path in (media, image, handed):
            path.unlink()
        for folder in made:
            folder.rmdir()


def test_options_of_ironic_itself_count(site):
    client = IronicClient({"cloud": "metal3-lab", "clouds_file": str(site.dir / "clouds.yaml")})
    redfish, = [driver for driver in client.list_drivers_in_detail() if driver["name"] == "redfish"]
    assert set(redfish["enabled_rescue_interfaces"]) == {"no-rescue", "agent"}


def test_a_server_is_enrolled_and_outlives_the_plane(site):
    console = Console(site.lab.dir / "machines" / SERVER / "console.log")
    site.playbook("enroll").ok()
    printed = "\n".join(console.lines())
    # It came by virtual media, which is served by HTTPS only.
    for word in ("console=ttyS1", "site.rack=7", "ipa-enable-vlan-interfaces=eno1.7"):
        assert word in printed, f"{word}: {printed}"
    before = site.kube().get(HOST, NAMESPACE, SERVER)
    assert before["status"]["provisioning"]["state"] == "available"
    site.kill()
    site.playbook("install").ok()
    assert site.playbook("enroll").ok().changed() == 0
    after = site.kube().get(HOST, NAMESPACE, SERVER)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["provisioning"]["ID"] == before["status"]["provisioning"]["ID"]
    assert after["status"]["provisioning"]["state"] == "available" and not after["status"].get("errorType")


def test_a_plane_with_hosts_is_not_removed(site):
    run = site.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}")
    run.failed("BareMetalHost: found 1 (" + f"{NAMESPACE}/{SERVER})", "delete them, or move them to another plane")
    site.kill()
    run = site.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}")
    run.failed("API server", "run the playbook metal3.baremetal.install")
    site.playbook("install").ok()


def test_nothing_is_left_of_a_removed_plane(site):
    site.playbook("unenroll", "-e", "metal3_confirm=1").ok()
    site.playbook("uninstall").failed(f"stops {PROGRAMS} programs", f"set metal3_confirm={PROGRAMS}")
    site.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}").ok()
    assert not site.dir.exists() and orphans.processes(str(site.dir)) == []
    assert site.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}").ok().changed() == 0
