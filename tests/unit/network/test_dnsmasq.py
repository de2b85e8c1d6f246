# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real dnsmasq with the rendered configuration answers questions as firmware asks them, in a network namespace."""
from __future__ import annotations

import ipaddress
import json
import os
import pathlib
import signal
import subprocess
import sys

import jinja2
import pytest
from network.test_description import GOOD

from ansible_collections.metal3.baremetal.plugins.module_utils._boot.traces import Traces
from ansible_collections.metal3.baremetal.plugins.module_utils._network import description, dnsmasq

KNOWN, UNKNOWN = "00:5c:52:31:3a:01", "00:5c:52:31:3a:77"
# The link-local address of the first server's card, see wire.py.
FIRST = "fe80::ff:fe00:1"
SCRIPT = "http://172.22.0.1:6180/boot.ipxe"
HTTP_LOADER = "http://172.22.0.1:6180/shimx64.efi"
# Name of a question → the client, and the file that its firmware must be given.
BOOTS = {
    "BIOS": ({"mac": KNOWN, "architecture": 0}, "undionly.kpxe"),
    "UEFI as OVMF": ({"mac": KNOWN, "architecture": 7}, "shim/shimx64.efi"),
    "UEFI as others": ({"mac": KNOWN, "architecture": 9}, "shim/shimx64.efi"),
    "UEFI on ARM": ({"mac": KNOWN, "architecture": 11}, "snponly-arm64.efi"),
    "iPXE on BIOS": ({"mac": KNOWN, "architecture": 0, "user_class": "iPXE"}, SCRIPT),
    "iPXE on UEFI": ({"mac": KNOWN, "architecture": 7, "user_class": "iPXE"}, SCRIPT),
    "UEFI by HTTP": ({"mac": KNOWN, "architecture": 16}, HTTP_LOADER),
}


def network(tmp_path, **dhcp):
    (tmp_path / "tftp").mkdir(exist_ok=True)
    settings = dict(GOOD["dhcp"], tftp_root=str(tmp_path / "tftp"), http_boot_url=HTTP_LOADER, **dhcp)
    settings["ranges"] = [given for given in settings["ranges"] if ":" not in given["first"]]
    settings["hosts"] = [dict(host, addresses=[text for text in host["addresses"] if ":" not in text])
                         for host in settings["hosts"]]
    return dict(GOOD, name="prov", addresses=["172.22.0.1/24"], dhcp=settings)


def ask(folder, *questions):
    """Return what each question was answered; every file ``<interface>.conf`` of a folder is a server."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    program = pathlib.Path(__file__).with_name("wire.py")
    paths = os.pathsep.join(path for path in sys.path if path)
    command = ["unshare", *own, "--net", sys.executable, str(program), str(folder), json.dumps(questions)]
    run = subprocess.run(command, env=dict(os.environ, PYTHONPATH=paths), capture_output=True, text=True, timeout=120,
                         check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def write(folder, described):
    # Folders of pytest have names of their own, which a site's need not be: only the rest is checked.
    assert [problem for problem in description.problems(described) if problem.field != "dhcp.tftp_root"] == []
    name = described["name"]
    (folder / f"{name}.conf").write_text(dnsmasq.configuration(described, str(folder / f"{name}.leases"),
                                                               str(folder / f"{name}.log")))


def test_each_firmware_is_given_what_it_can_boot(tmp_path):
    write(tmp_path, network(tmp_path))
    answers = ask(tmp_path, *(dict(question, wanted=1) for question, _file in BOOTS.values()))
    found = {name: [offer["boot_file"] for offer in answer] for name, answer in zip(BOOTS, answers)}
    assert found == {name: [file] for name, (_question, file) in BOOTS.items()}
    by_http = answers[list(BOOTS).index("UEFI by HTTP")][0]
    assert by_http["vendor_class"] == "HTTPClient"
    assert {(offer["server"], offer["address"], *offer["routers"], *offer["name_servers"])
            for answer in answers for offer in answer} == {
                ("172.22.0.1", "172.22.0.11", "172.22.0.254", "172.22.0.253")}


@pytest.mark.parametrize(("unknown_hosts", "servers"), [(False, []), (True, ["172.22.0.1"])])
def test_an_unknown_client_is_answered_only_where_that_is_wanted(tmp_path, unknown_hosts, servers):
    write(tmp_path, network(tmp_path, unknown_hosts=unknown_hosts))
    (answer,) = ask(tmp_path, {"mac": UNKNOWN, "architecture": 7})
    assert [offer["server"] for offer in answer] == servers


def test_an_address_of_a_range_that_is_kept_for_a_server_is_lent_to_nobody_else(tmp_path):
    """So it may be among those of a range."""
    described = network(tmp_path, unknown_hosts=True)
    described["dhcp"]["ranges"] = [{"first": "172.22.0.11", "last": "172.22.0.12"}]
    write(tmp_path, described)
    assert [[offer["address"] for offer in answer] for answer in ask(
        tmp_path, {"mac": UNKNOWN}, {"mac": "00:5c:52:31:3a:78"}, {"mac": KNOWN})] == [
            ["172.22.0.12"], ["172.22.0.12"], ["172.22.0.11"]]


def test_its_log_says_how_far_a_boot_is(tmp_path):
    write(tmp_path, network(tmp_path))
    ask(tmp_path, {"mac": KNOWN, "architecture": 7, "wanted": 1}, {"mac": UNKNOWN, "architecture": 7})
    traces = Traces()
    traces.known = frozenset([KNOWN, UNKNOWN])
    for line in (tmp_path / "prov.log").read_text().splitlines():
        traces.take(line, 0)
    assert [traces.last([mac]).text for mac in (KNOWN, UNKNOWN)] == [
        "was offered an address by DHCP", "DHCP ignores its MAC address"]


def test_a_network_without_a_gateway_names_no_router(tmp_path):
    write(tmp_path, dict(network(tmp_path), gateway=None))
    (answer,) = ask(tmp_path, {"mac": KNOWN})
    assert [offer["routers"] for offer in answer] == [[]]


def test_a_second_server_on_the_wire_is_found_with_its_address(tmp_path):
    first = network(tmp_path)
    write(tmp_path, first)
    other = dict(first, name="stranger", addresses=["172.22.0.2/24"], dhcp=dict(
        first["dhcp"], unknown_hosts=True, ranges=[{"first": "172.22.0.200", "last": "172.22.0.210"}], hosts=[]))
    write(tmp_path, other)
    known, unknown = ask(tmp_path, {"mac": KNOWN}, {"mac": UNKNOWN})
    assert [offer["server"] for offer in known] == ["172.22.0.1", "172.22.0.2"]
    assert len({offer["server_mac"] for offer in known}) == 2
    assert [offer["server"] for offer in unknown] == ["172.22.0.2"]


def with_ipv6(described, first, **dhcp):
    """Return a description of a network of both families, whose addresses of IPv6 begin with the digit ``first``."""
    ranges = [*described["dhcp"]["ranges"], {"first": f"fd00:22::{first}0", "last": f"fd00:22::{first}9"}]
    return dict(described, addresses=[*described["addresses"], f"fd00:22::{first}/64"],
                dhcp=dict(described["dhcp"], ranges=ranges, **dhcp))


def test_other_servers_and_routers_of_ipv6_are_found_and_this_machine_is_not_among_them(tmp_path):
    write(tmp_path, with_ipv6(network(tmp_path), "1", hosts=[{"mac": KNOWN, "addresses": ["fd00:22::11"]}]))
    other = dict(network(tmp_path), name="second", addresses=["172.22.0.2/24"])
    write(tmp_path, with_ipv6(other, "2", unknown_hosts=True, hosts=[]))
    known, unknown, from_the_first = ask(
        tmp_path, {"macs": [KNOWN], "wanted": 4}, {"macs": [UNKNOWN]}, {"macs": [KNOWN], "interface": "prov"})
    assert sorted(offer["address"][:-1] for offer in known["servers"]) == ["fd00:22::1", "fd00:22::2"]
    assert "fd00:22::11" in [offer["address"] for offer in known["servers"]]
    assert [offer["address"][:-1] for offer in unknown["servers"]] == ["fd00:22::2"]
    assert [router["prefixes"] for router in known["routers"]] == [["fd00:22::/64"]] * 2
    (second,), (router,) = from_the_first["servers"], from_the_first["routers"]
    assert (second["server_address"], second["server_mac"]) == (router["address"], router["mac"])
    assert (router["lifetime_seconds"], router["managed"]) == (0, True)
    assert ipaddress.ip_address(second["server_address"]).is_link_local
    assert f"duid {second['server']}" in (tmp_path / "second.leases").read_text().splitlines()


def test_network_check_finds_servers_and_routers_of_both_families(tmp_path):
    write(tmp_path, with_ipv6(network(tmp_path), "1", hosts=[
        {"mac": KNOWN, "addresses": ["172.22.0.11", "fd00:22::11"]}]))
    # From where a server would be, on an interface without addresses; and from the machine that serves.
    outside = {"interface": "client", "mac": KNOWN, "seconds": 5, "expected_servers": ["172.22.0.1"]}
    named = dict(outside, expected_servers=["172.22.0.1", FIRST], allowed_routers=[FIRST])
    questions = [dict(outside, ipv6=True), {"interface": "prov", "mac": KNOWN, "seconds": 4}, dict(outside, seconds=2),
                 named, dict(named, mac=UNKNOWN)]
    answer, = ask(tmp_path, {"dhcp": questions})
    router = f"router {FIRST} advertises fd00:22::/64"
    of_both = f"172.22.0.1 offers 172.22.0.11, {FIRST} offers fd00:22::11, {router}"
    assert answer["found"] == [of_both, "no offer", "172.22.0.1 offers 172.22.0.11", of_both, f"no offer, {router}"]
    unwanted = [("interface client: found a DHCPv6 server with the DUID 00:", f" at {FIRST} (card 02:00:00:00:00:01)"),
                (f"interface client: found router advertisements of {FIRST} ", "(card 02:00:00:00:00:01)")]
    missing = [(f"interface client: dhcp: found no offer from {server}", f"an offer for {UNKNOWN}")
               for server in ("172.22.0.1", FIRST)]
    assert len(answer["problems"]) == 4 and all(
        problem.startswith(start) and end in problem
        for problem, (start, end) in zip(answer["problems"], unwanted + missing)), answer["problems"]


def test_dnsmasq_takes_a_configuration_of_both_families(tmp_path):
    file = tmp_path / "both.conf"
    file.write_text(dnsmasq.configuration(dict(GOOD, dhcp=dict(GOOD["dhcp"], http_boot_url=HTTP_LOADER)),
                                          str(tmp_path / "leases")))
    run = subprocess.run(["dnsmasq", "--test", f"--conf-file={file}"], capture_output=True, text=True, check=False)
    assert (run.returncode, "syntax check OK" in run.stderr) == (0, True), run.stderr


@pytest.mark.parametrize(("name", "is_given"), [
    ("rack1-01", True), ("3d-printer", True), ("s", True), ("12a", True), ("ignored", True),
    ("101", False), ("3d", False), ("10m", False), ("10M", False), ("1", False), ("infinite", False),
    ("ignore", False)])
def test_a_name_that_dnsmasq_takes_for_something_else_is_not_given(tmp_path, name, is_given):
    """A time is a lease's, and a server with the name ``ignore`` would be answered never."""
    described = network(tmp_path, hosts=[{"name": name, "mac": KNOWN, "addresses": ["172.22.0.11"]}])
    text = dnsmasq.configuration(described, str(tmp_path / "leases"))
    assert f"dhcp-host={KNOWN},172.22.0.11{',' + name if is_given else ''}\n" in text


def test_a_server_that_is_called_ignore_is_answered(tmp_path):
    write(tmp_path, network(tmp_path, hosts=[{"name": "ignore", "mac": KNOWN, "addresses": ["172.22.0.11"]}]))
    assert [offer["address"] for offer in ask(tmp_path, {"mac": KNOWN})[0]] == ["172.22.0.11"]


TEMPLATES = pathlib.Path(__file__).resolve().parents[3] / "roles" / "provisioning_network" / "templates"


def unit(tmp_path):
    """Return the lines of the service's unit, without comments."""
    text = jinja2.Template((TEMPLATES / "dnsmasq.service.j2").read_text()).render(
        provisioning_network_name="prov", provisioning_network_program="dnsmasq",
        provisioning_network_config_file=tmp_path / "prov.conf", provisioning_network_pid_file=tmp_path / "prov.pid")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("has_folder", [True, False])
def test_who_starts_the_service_learns_whether_it_serves(tmp_path, has_folder):
    """The file is a good one: the folder of boot loaders, the port or the log may keep it from running all the same."""
    write(tmp_path, network(tmp_path))
    if not has_folder:
        (tmp_path / "tftp").rmdir()
    lines = unit(tmp_path)
    assert "Type=forking" in lines and f"PIDFile={tmp_path}/prov.pid" in lines
    command, = [line.partition("=")[2].split() for line in lines if line.startswith("ExecStart=")]
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(["unshare", *own, "--net", *command, "--user=root", "--group=root"], capture_output=True,
                          text=True, timeout=20, check=False)
    if has_folder:
        os.kill(int((tmp_path / "prov.pid").read_text()), signal.SIGTERM)
    assert (done.returncode == 0) is has_folder, done.stderr
    assert has_folder or f"TFTP directory {tmp_path}/tftp inaccessible" in done.stderr


def test_the_service_waits_for_its_interface_when_the_machine_starts(tmp_path):
    """Without an interface dnsmasq takes port 67 of all, and some of what is for another network's dnsmasq."""
    lines = unit(tmp_path)
    assert "After=network-online.target" in lines and "Wants=network-online.target" in lines
