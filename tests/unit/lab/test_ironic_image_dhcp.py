# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP of the lab's image of Ironic: a real dnsmasq with its configuration answers questions as firmware asks them."""
from __future__ import annotations

import subprocess

import pytest
from ironic_image import dhcp, settings
from network.test_dnsmasq import ask

CLIENT = "00:5c:52:31:3a:77"
BOOTS = {
    "BIOS": ({"architecture": 0}, "/undionly.kpxe"), "UEFI": ({"architecture": 7}, "/snponly-x86_64.efi"),
    "UEFI as others": ({"architecture": 9}, "/snponly-x86_64.efi"),
    "UEFI on ARM": ({"architecture": 11}, "/snponly-arm64.efi"),
}


def configured(tmp_path, address="172.22.0.1", **environ):
    found = settings.Settings(dict(environ, HTTP_PORT="6180"), address, True, "")
    return dhcp.configuration(found, "prov", str(tmp_path / "prov.leases"))


def write(tmp_path, **environ):
    text = configured(tmp_path, DHCP_RANGE="172.22.0.10,172.22.0.20", **environ)
    # Its folder is the container's, whose log is what it prints.
    (tmp_path / "prov.conf").write_text(
        text.replace(settings.TFTP, str(tmp_path)) + f"\nlog-facility={tmp_path / 'prov.log'}\n")


def test_each_firmware_is_offered_an_address_and_what_it_can_boot(tmp_path):
    write(tmp_path, GATEWAY_IP="172.22.0.254")
    answers = ask(tmp_path, *(dict(question, mac=CLIENT, wanted=1) for question, _file in BOOTS.values()))
    offers = [offer for answer in answers for offer in answer]
    assert [offer["boot_file"] for offer in offers] == [file for _question, file in BOOTS.values()]
    assert {(offer["server"], tuple(offer["routers"])) for offer in offers} == {("172.22.0.1", ("172.22.0.254",))}
    assert {f"172.22.0.{number}" for number in range(10, 21)} >= {offer["address"] for offer in offers}


def test_without_a_gateway_no_router_is_named_and_whom_the_site_ignores_is_not_answered(tmp_path):
    write(tmp_path, DHCP_IGNORE="tag:!known", DHCP_HOSTS=CLIENT)
    known, unknown = ask(tmp_path, {"mac": CLIENT, "wanted": 1}, {"mac": "00:5c:52:31:3a:78"})
    assert ([offer["routers"] for offer in known], unknown) == ([[]], [])


def test_ipxe_goes_on_with_the_script_of_this_ironic(tmp_path):
    lines = configured(tmp_path).splitlines()
    assert "dhcp-boot=tag:ipxe,http://172.22.0.1:6180/boot.ipxe" in lines and "dhcp-match=ipxe,175" in lines
    assert "dhcp-option=6" in lines
    assert "dhcp-option=option:dns-server,172.22.0.1" in configured(tmp_path, DNS_IP="provisioning").splitlines()


@pytest.mark.parametrize("address", ["172.22.0.1", "fd00:22::1"])
def test_dnsmasq_takes_it_with_every_variable(tmp_path, address):
    first, last, name_server = ("172.22.0.10", "172.22.0.20", "172.22.0.1") if "." in address else (
        "fd00:22::10", "fd00:22::20", "[fd00:22::1]")
    file = tmp_path / "prov.conf"
    file.write_text(configured(
        tmp_path, address, DHCP_RANGE=f"{first},{last}", DNS_IP=name_server, GATEWAY_IP="172.22.0.254",
        DHCP_OPTIONS="option:ntp-server,172.22.0.1", DHCP_HOSTS=f"{CLIENT};00:5c:52:31:3a:78", DHCP_IGNORE="tag:!known",
        DNSMASQ_EXCEPT_INTERFACE="lo,eno2").replace(settings.TFTP, str(tmp_path)))
    done = subprocess.run(["dnsmasq", "--test", f"--conf-file={file}"], capture_output=True, text=True, check=False)
    assert (done.returncode, "syntax check OK" in done.stderr) == (0, True), done.stderr


def test_the_interface_is_the_one_that_has_the_address():
    links = [{"ifname": "lo", "addr_info": [{"local": "127.0.0.1"}]},
             {"ifname": "eno1", "addr_info": [{"local": "192.0.2.11"}, {"local": "192.0.2.2"}]}]
    assert settings.interface_of(links, "192.0.2.2") == "eno1" and settings.interface_of(links, "192.0.2.3") is None
