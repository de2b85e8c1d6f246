# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network boot by a bootstrap plane: what its web server gives to firmware, what Ironic says of it, what DHCP names."""
from __future__ import annotations

import contextlib
import http.client
import json
import socket

import pytest
from fakes import nginx, playbook
from fakes.ironic_role import GIVEN, INVENTORY, rendered

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import site_figures

ROLES = playbook.ROOT / "roles"
SECONDS = 20
NODE = "0b6c5a52-7c3c-4d2e-9f6e-4a4f2f0c1d11"
# As Ironic names them below [deploy]http_root.
FOR_FIRMWARE = ["boot.ipxe", "inspector.ipxe", "snponly.efi", "undionly.kpxe", "pxelinux.cfg/00-5c-52-31-3a-01",
                *(f"{NODE}/{name}" for name in ("config", "deploy_kernel", "deploy_ramdisk", "rescue_kernel",
                                                "rescue_ramdisk", "kernel", "ramdisk"))]
OF_OTHERS = [f"redfish/boot-{NODE}.iso", f"redfish/configdrive-{NODE}.iso.gz", f"firmware/{NODE}/bios.bin", "boot.iso",
             f"{NODE}/boot_iso", f"{NODE}/ks.cfg", f"{NODE}/ks.cfg.template", f"{NODE}/LiveOS/squashfs.img",
             ".hidden.efi", "other/boot.ipxe"]
IMAGE = f"agent_images/{NODE}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def template(role, name, variables="{}"):
    return f"lookup('ansible.builtin.template', '{ROLES}/{role}/templates/{name}', template_vars={variables})"


def shown(folder, role, expressions, variables):
    """Return what a role's defaults and variables, and templates with them, are by Ansible, name → text."""
    files = [str(ROLES / role / part / "main.yml") for part in ("defaults", "vars")]
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars_files": files, "tasks": [
        {"ansible.builtin.copy": {"dest": str(folder / name), "content": "{{ %s }}" % expression}}
        for name, expression in expressions.items()]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(variables))
    assert code == 0, output
    return dict((name, (folder / name).read_text()) for name in expressions)


@pytest.fixture(name="plane", scope="module")
def plane_that_serves(tmp_path_factory):
    """Yield the port of a plane's web server for firmware, and the URL of its image server."""
    folder = tmp_path_factory.mktemp("plane")
    boot = folder / "www" / "ironic"
    for name in (*FOR_FIRMWARE, *OF_OTHERS, IMAGE, "../images/node.qcow2"):
        path = boot / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    card = boot / "pxelinux.cfg" / "00-5c-52-31-3a-01"
    card.unlink()
    card.symlink_to(f"../{NODE}/config")
    (folder / "image-server").mkdir()
    figures = site_figures.compute({"name": "rack1", "dir": str(folder), "address": "127.0.0.1", "network_boot": True},
                                   {"network_boot": free_port(), "image_server": free_port()}, str(folder))
    # Without TLS, so that no authority is needed.
    without_tls = "{'image_server_nginx': bootstrap_plane_image_server | combine({'certificate': ''})}"
    texts = shown(folder, "bootstrap_plane", {
        "network_boot.server": template("bootstrap_plane", "network_boot.server.j2"),
        "nginx.conf": template("image_server", "nginx.conf.j2", without_tls)}, {"management_plane": figures})
    for name, text in texts.items():
        (folder / "image-server" / name).write_text(text)
    with nginx.running(folder / "image-server" / "nginx.conf", figures["ports"]["network_boot"]):
        yield figures["ports"]["network_boot"], figures["urls"]["image_server"]


def asked(port, path, method="GET"):
    """Return status, content and target of a redirection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers.get("Location")


@pytest.mark.parametrize("name", FOR_FIRMWARE)
def test_firmware_gets_what_ironic_made_for_it(plane, name):
    expected = f"{NODE}/config" if name.startswith("pxelinux") else name
    assert asked(plane[0], f"/ironic/{name}") == (200, expected, None)


@pytest.mark.parametrize("path", [*(f"/ironic/{name}" for name in OF_OTHERS), "/images/node.qcow2", "/healthz", "/",
                                  "/ironic/", f"/ironic/{NODE}/", f"/ironic/{NODE}/../redfish/boot-{NODE}.iso",
                                  f"/ironic/{NODE}/%2e%2e/redfish/boot-{NODE}.iso",
                                  f"/ironic//redfish/boot-{NODE}.iso"])
def test_nothing_else_is_there_without_encryption(plane, path):
    assert asked(plane[0], path)[0] == 404


def test_nothing_is_written(plane):
    assert asked(plane[0], "/ironic/boot.ipxe", "PUT")[0] == 405


def test_an_image_that_ironic_hands_to_agents_is_fetched_from_the_image_server(plane):
    status, dummy, target = asked(plane[0], f"/ironic/{IMAGE}?a=b")
    assert (status, target) == (307, f"{plane[1]}/ironic/{IMAGE}?a=b")


def test_ironic_tells_firmware_the_plain_url_and_bmcs_the_other(tmp_path):
    urls = dict(GIVEN["management_plane"]["urls"], network_boot="http://192.0.2.1:6180")
    deploy = rendered(tmp_path, management_plane=dict(GIVEN["management_plane"], urls=urls))["conf"]["deploy"]
    assert (deploy["http_url"], deploy["external_http_url"]) == ("http://192.0.2.1:6180/ironic", "https://192.0.2.1/ironic")


def test_without_it_both_are_encrypted(tmp_path):
    deploy = rendered(tmp_path)["conf"]["deploy"]
    assert deploy["http_url"] == "https://192.0.2.1/ironic" and "external_http_url" not in deploy


PLANE = {"mode": "process", "name": "rack1", "address": "192.0.2.10"}
NETWORK = {"provisioning_network_name": "prov", "provisioning_network_tftp_root": "/srv/tftp",
           "provisioning_network_dhcp_ranges": [{"first": "192.0.2.50", "last": "192.0.2.60"}]}
NONE = "none"


@pytest.mark.parametrize("changes, expected", [
    ({}, f"http://192.0.2.10:{site_figures.DEFAULT_PORTS['network_boot']}/ironic/boot.ipxe"),
    ({"management_plane": dict(PLANE, ports={"network_boot": 8080})}, "http://192.0.2.10:8080/ironic/boot.ipxe"),
    ({"management_plane": dict(PLANE, address="2001:db8::1")}, "http://[2001:db8::1]:6180/ironic/boot.ipxe"),
    ({"provisioning_network_ipxe_script_url": "http://192.0.2.9/own.ipxe"}, "http://192.0.2.9/own.ipxe"),
    ({"bootstrap_plane_network_boot": False}, NONE),
    ({"management_plane": dict(PLANE, mode="cluster")}, NONE),
    ({"management_plane": None}, NONE),
    # The module wants the folder of boot loaders with a script.
    ({"provisioning_network_dhcp_ranges": []}, NONE),
])
def test_dhcp_names_the_planes_script(tmp_path, changes, expected):
    variables = dict(dict(NETWORK, management_plane=PLANE, bootstrap_plane_network_boot=True), **changes)
    found = shown(tmp_path, "provisioning_network", {
        "url": f"'{NONE}' if provisioning_network_ipxe_script_url == omit else provisioning_network_ipxe_script_url"},
        variables)
    assert found["url"] == expected
