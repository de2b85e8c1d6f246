# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What servers and nodes of a site must reach, and the playbook that asks for it."""
from __future__ import annotations

import json
import socket

import pytest
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._network import site_questions

PROCESS = {"mode": "process", "name": "rack1", "address": "192.0.2.10"}
NETWORK = {"provisioning_network_addresses": ["172.22.0.1/24"], "provisioning_network_tftp_root": "/srv/tftp",
           "provisioning_network_dhcp_ranges": [{"first": "172.22.0.10", "last": "172.22.0.20"}]}


def asked(**variables):
    found = site_questions.of_site(variables)
    return [(entry["name"], entry["host"], entry["port"]) for entry in found["tcp"]], [
        (entry["host"], entry["path"]) for entry in found["tftp"]]


@pytest.mark.parametrize("variables, expected", [
    ({"management_plane": PROCESS}, [
        ("Ironic", "192.0.2.10", 6385), ("the plane's image server", "192.0.2.10", 6183)]),
    ({"management_plane": dict(PROCESS, ports={"ironic": 16385})}, [
        ("Ironic", "192.0.2.10", 16385), ("the plane's image server", "192.0.2.10", 6183)]),
    ({"management_plane": dict(PROCESS, ports={"ironic": 16385}), "bootstrap_plane_network_boot": "yes"}, [
        ("Ironic", "192.0.2.10", 16385), ("the plane's image server", "192.0.2.10", 6183),
        ("the plane's network boot", "192.0.2.10", 6180)]),
    ({"management_plane": PROCESS, "bootstrap_plane_network_boot": "false"}, [
        ("Ironic", "192.0.2.10", 6385), ("the plane's image server", "192.0.2.10", 6183)]),
    ({"management_plane": {"mode": "cluster"}, "bootstrap_plane_network_boot": True, "ironic_mode": "cluster",
      "ironic_provisioning_ip": "192.0.2.2"}, [
        ("Ironic", "192.0.2.2", 6385), ("Ironic's boot files", "192.0.2.2", 6180)]),
    ({"ironic_mode": "cluster", "ironic_provisioning_ip": "192.0.2.2", "ironic_http_port": "8080"}, [
        ("Ironic", "192.0.2.2", 6385), ("Ironic's boot files", "192.0.2.2", 8080)]),
    ({"ironic_mode": "external", "ironic_provisioning_ip": "192.0.2.2", "ironic_url": "https://ironic.example:6385"}, [
        ("Ironic", "ironic.example", 6385)]),
    ({"bmo_deploy_iso_url": "https://images.example/a.iso", "bmo_deploy_kernel_url": "http://images.example/k",
      "bmo_deploy_ramdisk_url": "http://images.example/r"}, [
          ("the agent's kernel, the agent's ramdisk", "images.example", 80),
          ("the agent's ISO image", "images.example", 443)]),
    ({"image_server_addresses": ["172.22.0.1", "0.0.0.0", "::"]}, [("the image server", "172.22.0.1", 443)]),
    ({"image_server_addresses": ["172.22.0.1"], "image_server_tls": "false"}, [("the image server", "172.22.0.1", 80)]),
    ({"image_server_addresses": ["2001:db8::1"], "image_server_port": 8443}, [
        ("the image server", "2001:db8::1", 8443)]),
    ({"image_server_addresses": ["172.22.0.1"], "image_server_state": "absent"}, []),
    ({"provisioning_network_ipxe_script_url": "http://172.22.0.1:6180/boot.ipxe",
      "provisioning_network_http_boot_url": "http://172.22.0.1:6180/s.efi"}, [
          ("iPXE's script, HTTP boot", "172.22.0.1", 6180)]),
    # What is downloaded into a pod is no other machine's to reach; the rest is refused by the roles.
    ({"bmo_deploy_kernel_url": "file:///shared/html/images/k", "bmo_deploy_iso_url": "https://[broken", "ironic_url": 5,
      "bmo_deploy_ramdisk_url": "http://images.example:port/", "management_plane": "process",
      "image_server_addresses": "172.22.0.1"}, []),
    ({"management_plane": dict(PROCESS, ports={"ironic": "16385", "image_server": "https"}), "ironic_mode": "cluster",
      "ironic_provisioning_ip": "192.0.2.2", "ironic_http_port": "http", "image_server_addresses": ["172.22.0.1"],
      "image_server_port": "alt"}, [("Ironic", "192.0.2.10", 16385), ("Ironic", "192.0.2.2", 6385)]),
])
def test_ports(variables, expected):
    assert asked(**variables) == (expected, [])


@pytest.mark.parametrize("changes, expected", [
    ({}, [("172.22.0.1", "undionly.kpxe"), ("172.22.0.1", "snponly.efi")]),
    ({"provisioning_network_loaders": {"x86_64": "shim.efi"}}, [
        ("172.22.0.1", "undionly.kpxe"), ("172.22.0.1", "shim.efi")]),
    ({"provisioning_network_addresses": ["172.22.0.1/24", "fd00::1/64", "any"]}, [
        ("172.22.0.1", "undionly.kpxe"), ("172.22.0.1", "snponly.efi"), ("fd00::1", "undionly.kpxe"),
        ("fd00::1", "snponly.efi")]),
    ({"provisioning_network_loaders": {"bios": "", "x86_64": None}}, [
        ("172.22.0.1", "undionly.kpxe"), ("172.22.0.1", "snponly.efi")]),
    ({"provisioning_network_state": "absent"}, []),
    ({"provisioning_network_dhcp_ranges": []}, []), ({"provisioning_network_tftp_root": None}, []),
])
def test_boot_loaders(changes, expected):
    assert asked(**dict(NETWORK, **changes)) == ([], expected)


INVENTORY = """\
all:
  vars: {{ansible_connection: local, ansible_python_interpreter: "{{{{ ansible_playbook_python }}}}"}}
  children:
    management: {{hosts: {{m1: {{management_plane: {plane}}}}}}}
    nodes: {{hosts: {{n1: }}}}
"""
PLAY = "- import_playbook: metal3.baremetal.network_check\n"


@pytest.fixture
def plane():
    """A plane of which Ironic's port answers and the image server's does not."""
    with socket.create_server(("127.0.0.1", 0)) as ironic, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield {"mode": "process", "address": "127.0.0.1", "ports": {
            "ironic": ironic.getsockname()[1], "image_server": taken.getsockname()[1]}}


def run(folder, plane, *arguments):
    code, output = playbook.play(folder, INVENTORY.format(plane=json.dumps(plane)), PLAY, "play.yml", "-e",
                                 "network_check_from=nodes", *arguments)
    return code, " ".join(output.split())


def test_the_ports_of_the_site_are_asked_for_from_the_machines_of_a_group(tmp_path, plane):
    code, output = run(tmp_path, plane)
    target = f"127.0.0.1:{plane['ports']['image_server']}"
    assert code and f"the plane's image server ({target}): tcp: found connection refused" in output, output
    assert "1 of 2 checks failed" in output and "n1 : ok=" in output
    port = plane["ports"]["ironic"]
    code, output = run(tmp_path, dict(plane, ports={"ironic": port, "image_server": port}))
    assert code == 0 and f"Ironic, the plane's image server 127.0.0.1:{port}: a connection" in output


def test_own_questions_take_their_place_or_come_beside_them(tmp_path, plane):
    given = json.dumps({"network_check_tcp": [
        {"name": "mine", "host": "127.0.0.1", "port": plane["ports"]["image_server"], "reachable": False}]})
    assert run(tmp_path, plane, "-e", given)[0] == 0
    code, output = run(tmp_path, plane, "-e", given, "-e", "network_check_of_site=true")
    assert code and "1 of 3 checks failed" in output


def test_a_site_without_a_description_is_refused(tmp_path):
    code, output = run(tmp_path, {"mode": "external"})
    assert code and "not set, and the group management says nothing of a plane" in output
