# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import layout
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import site_figures

PLANE = {"name": "mysite", "address": "192.0.2.10", "dir": "/var/lib/metal3/mysite"}


def compute(plane=None, ports=None):
    return site_figures.compute(plane or PLANE, ports or {}, "/var/cache/metal3")


def test_only_ironic_and_the_image_server_are_reached_from_elsewhere():
    where = compute()["listens_on"]
    assert sorted(part for part, address in where.items() if address != "127.0.0.1") == ["image_server", "ironic"]


def test_network_boot_has_a_port_only_where_it_is_asked_for():
    figures = compute(dict(PLANE, network_boot=True))
    assert (figures["ports"]["network_boot"], figures["listens_on"]["network_boot"]) == (6180, "192.0.2.10")
    assert figures["urls"]["network_boot"] == "http://192.0.2.10:6180"
    figures = compute(ports={"network_boot": 8080})
    assert not any("network_boot" in figures[field] for field in ("ports", "listens_on", "urls"))


def test_conductors_have_addresses_only_where_they_are_processes_of_their_own():
    assert "conductor_addresses" not in compute()
    figures = compute(dict(PLANE, ironic_separate=True), {"etcd_client": 20100})
    assert figures["conductor_addresses"] == [f"127.78.132.{number}" for number in (1, 2, 3, 4)]


def test_a_port_that_nothing_uses_may_be_another_parts():
    assert site_figures.problems(PLANE, {"image_server": 6180}) == []
    found, = site_figures.problems(dict(PLANE, network_boot=True), {"image_server": 6180})
    assert str(found).startswith("management_plane.ports.image_server: found 6180, expected another port than that of "
                                 "network_boot")


def test_the_api_server_is_reached_from_elsewhere_when_asked():
    figures = compute(dict(PLANE, kubernetes_address="192.0.2.10"))
    assert (figures["listens_on"]["kube_apiserver"], figures["ports"]["kube_apiserver"]) == ("192.0.2.10", 20003)
    assert figures["urls"]["kubernetes"] == "https://192.0.2.10:20003"


def test_urls_of_an_ipv6_address_have_brackets():
    assert compute(dict(PLANE, address="2001:db8::10"))["urls"]["ironic"] == "https://[2001:db8::10]:6385"


def test_a_folder_is_written_one_way():
    assert compute(dict(PLANE, dir="/srv//plane/"))["dir"] == "/srv/plane"


def test_the_default_ports_are_no_labs():
    assert not [port for port in site_figures.DEFAULT_PORTS.values() if port >= layout.BASE_PORT]


def test_a_good_description_has_no_problems():
    assert site_figures.problems(PLANE, {"ironic": 16385}) == []


@pytest.mark.parametrize(("plane", "ports", "line"), [
    (dict(PLANE, name=None), {}, "management_plane.name: not set, expected a lower case letter"),
    (dict(PLANE, name="../x"), {}, 'management_plane.name: found "../x", expected a lower case letter'),
    (dict(PLANE, address=None), {}, "management_plane.address: not set, expected an IP address of this machine"),
    (dict(PLANE, address="bastion"), {}, 'management_plane.address: found "bastion", expected an IP address'),
    (dict(PLANE, dir="plane"), {}, 'management_plane.dir: found "plane", expected an absolute path'),
    (dict(PLANE, dir="/a\nserver {}"), {}, 'management_plane.dir: found "/a\\nserver {}", expected an absolute path'),
    (dict(PLANE, address="fe80::1%x; }"), {}, 'management_plane.address: found "fe80::1%x; }", expected an IP address'),
    (dict(PLANE, dir=None), {}, "management_plane.dir: not set, expected an absolute path without spaces and "),
    *((dict(PLANE, dir=f"/srv/a{sign}b"), {}, f'management_plane.dir: found "/srv/a{sign}b", expected an absolute path')
      for sign in " %;$,*?[]{}"),
    (PLANE, {"ironik": 1}, "management_plane.ports.ironik: found 1, expected one of "),
    (PLANE, {"ironic": True}, "management_plane.ports.ironic: found true, expected 1 to 65535"),
    (PLANE, {"ironic": 6183},
     "management_plane.ports.ironic: found 6183, expected another port than that of image_server"),
])
def test_a_problem_is_reported(plane, ports, line):
    found, = site_figures.problems(plane, ports)
    assert str(found).startswith(line)


@pytest.mark.parametrize(("images", "lines"), [
    ({"iso": "https://images.example.com/ipa.iso"}, []),
    ({"kernel": "http://i/k", "ramdisk": "http://i/r", "bootloader": "http://i/e"}, []),
    ({}, ["bmo_deploy_kernel_url: not set", "bmo_deploy_ramdisk_url: not set", "ironic_bootloader_url: not set"]),
    ({"iso": "http://i/i", "kernel": "http://i/k"}, ["bmo_deploy_ramdisk_url: not set", "ironic_bootloader_url: not"]),
    ({"iso": "http://i/i", "external_url_v6": "http://[2001:db8::1]:6180"}, []),
    ({"iso": "http://i/i", "external_url_v6": "https://images.example.com/ironic"}, []),
    ({"iso": "http://i/i", "external_url_v6": "http://[2001:db8::1/"},
     ['bmo_ironic_external_url_v6: found "http://[2001:db8::1/", expected an http or https URL']),
    ({"iso": "http://i/i", "external_url_v6": "http://2001:db8::1/"}, ["bmo_ironic_external_url_v6: found"]),
    ({"iso": "/srv/ipa.iso"}, ['bmo_deploy_iso_url: found "/srv/ipa.iso", expected an http or https URL']),
])
def test_what_servers_boot_from_is_whole(images, lines):
    found = [str(problem) for problem in site_figures.boot_problems(images)]
    assert len(found) == len(lines)
    assert all(text.startswith(line) for text, line in zip(found, lines)), found
