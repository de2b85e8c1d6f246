"""Turns network data into systemd-networkd's files, for networks without DHCP.

Ironic puts them on the boot medium, from the host's preprovisioning network data, in OpenStack's form (nova:
network_data.json). Without such a medium those count that were built into the ramdisk for one of the machine's MAC
addresses.
"""
from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
import subprocess
import sys

LABEL = "config-2"
PATH_ON_MEDIUM = "openstack/latest/network_data.json"
FOLDER = "/etc/systemd/network"
BUILT_IN = "/etc/agent-network"
# A larger disk on USB is the machine's own.
USB_LIMIT_BYTES = 4 * 1024 ** 3
INTERFACES = "/sys/class/net"
# What uses DHCP everywhere; a link that nobody describes is not to be waited for.
DEFAULT = "99-all.network"
MOUNT_POINT = "/run/agent-network"
PHYSICAL = ("phy", "vif", "ovs", "tap", "hw_veb", "hyperv", "vhostuser", "bridge")
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}\Z")
MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
BOND_MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb")


class NetworkDataError(Exception):
    """The network data cannot be used."""


def _checked(value, rule, what):
    text = str(value)
    if not rule.fullmatch(text):
        raise NetworkDataError(f"{what}: found {text!r}, expected {rule.pattern}")
    return text


def _mac(link):
    return _checked(str(link.get("ethernet_mac_address") or link.get("vlan_mac_address") or "").lower(), MAC,
                    f"link {link.get('id')}: MAC address")


def _number(value, low, high, what):
    if not str(value).isdigit() or not low <= int(value) <= high:
        raise NetworkDataError(f"{what}: found {value!r}, expected {low} to {high}")
    return int(value)


def _without_zone(text):
    """Return a text, unless it has the zone of an IPv6 address: to ``ipaddress`` that is any text, line breaks too.

    :raises ValueError: when it has
    """
    if "%" in text:
        raise ValueError("an address with a zone")
    return text


def _address(value, what):
    try:
        return str(ipaddress.ip_address(_without_zone(str(value))))
    except ValueError:
        raise NetworkDataError(f"{what}: found {value!r}, expected an IP address") from None


def _prefix(network, what):
    mask = network.get("netmask")
    text = str(network.get("ip_address"))
    try:
        return str(ipaddress.ip_interface(_without_zone(
            text if "/" in text or mask in (None, "") else f"{text}/{mask}")))
    except ValueError:
        raise NetworkDataError(f"{what}: found {text!r} with netmask {mask!r}, expected an address") from None


def _destination(route, what):
    mask, network = route.get("netmask"), str(route.get("network"))
    try:
        return str(ipaddress.ip_network(_without_zone(
            network if mask in (None, "") else f"{network}/{mask}"), strict=False))
    except ValueError:
        raise NetworkDataError(f"{what}: found {network!r} with netmask {mask!r}, expected a network") from None


def _of_network(network, lines, sections):
    what = f"network {network.get('id')}"
    kind = str(network.get("type"))
    if kind == "ipv4_dhcp":
        lines.append("DHCP=ipv4")
    elif kind in ("ipv6_dhcp", "ipv6_dhcpv6-stateful"):
        lines.append("DHCP=ipv6")
    elif kind in ("ipv6_slaac", "ipv6_dhcpv6-stateless"):
        lines.append("IPv6AcceptRA=yes")
    elif kind in ("ipv4", "ipv6"):
        lines.append("Address=" + _prefix(network, what))
        if network.get("gateway"):
            sections.append(f"[Route]\nGateway={_address(network['gateway'], what)}\n")
        for route in network.get("routes") or []:
            sections.append(f"[Route]\nDestination={_destination(route, what)}\n"
                            f"Gateway={_address(route.get('gateway'), what)}\n")
    else:
        raise NetworkDataError(f"{what}: found type {kind!r}, expected ipv4, ipv6, ipv4_dhcp, ipv6_dhcp or ipv6_slaac")
    for service in network.get("services") or []:
        _of_service(service, lines)


def _of_service(service, lines):
    if service.get("type") == "dns":
        lines.append("DNS=" + _address(service.get("address"), "service dns"))


def _device(link):
    """Return the text of a link's ``.netdev`` file, None for a physical one."""
    kind, name = str(link.get("type")), link["id"]
    if kind in PHYSICAL:
        return None
    if kind == "vlan":
        number = _number(link.get("vlan_id"), 1, 4094, f"link {name}: vlan_id")
        return f"[NetDev]\nName={name}\nKind=vlan\n\n[VLAN]\nId={number}\n"
    if kind == "bond":
        mode = str(link.get("bond_mode"))
        if mode not in BOND_MODES:
            raise NetworkDataError(f"link {name}: found bond_mode {mode!r}, expected one of {', '.join(BOND_MODES)}")
        mac = f"MACAddress={_mac(link)}\n" if link.get("ethernet_mac_address") else ""
        interval = _number(link.get("bond_miimon") or 100, 1, 60000, f"link {name}: bond_miimon")
        return f"[NetDev]\nName={name}\nKind=bond\n{mac}\n[Bond]\nMode={mode}\nMIIMonitorSec={interval}ms\n"
    raise NetworkDataError(f"link {name}: found type {kind!r}, expected phy, vlan or bond")


def _without_ipv6(networks, lines):
    """Return what keeps a link from addresses that nobody has described; inspection would report them."""
    if not any(str(network.get("type")).startswith("ipv6") for network in networks):
        return ["IPv6AcceptRA=no", "LinkLocalAddressing=no"]
    return [] if "DHCP=ipv6" in lines or "IPv6AcceptRA=yes" in lines else ["IPv6AcceptRA=no"]


def files(data):
    """Return systemd-networkd's files: name → text.

    :param data: the network data
    :raises NetworkDataError: for what cannot be turned into them
    """
    if not isinstance(data, dict):
        raise NetworkDataError(f"found {type(data).__name__}, expected a mapping")
    links = {}
    for link in data.get("links") or []:
        links[_checked(link.get("id"), NAME, "link: id")] = link
    result, children = {}, dict((name, []) for name in links)
    for name, link in links.items():
        if link.get("type") == "vlan":
            children[_known(links, link.get("vlan_link"), f"link {name}: vlan_link")].append("VLAN=" + name)
        for member in link.get("bond_links") or []:
            children[_known(links, member, f"link {name}: bond_links")].append("Bond=" + name)
    networks = dict((name, []) for name in links)
    for network in data.get("networks") or []:
        networks[_known(links, network.get("link"), f"network {network.get('id')}: link")].append(network)
    for name, link in links.items():
        lines, sections = list(children[name]), []
        device = _device(link)
        for network in networks[name]:
            _of_network(network, lines, sections)
        for service in data.get("services") or []:
            _of_service(service, lines)
        # A bond and its members, and a VLAN and its link, have one address.
        match = f"Name={name}" if device else f"MACAddress={_mac(link)}\nKind=!*"
        mtu = f"\n[Link]\nMTUBytes={_number(link['mtu'], 68, 65535, f'link {name}: mtu')}\n" if link.get("mtu") else ""
        lines += _without_ipv6(networks[name], lines)
        result[f"05-{name}.network"] = "\n".join([f"[Match]\n{match}\n{mtu}", "[Network]", *lines, "", *sections])
        if device:
            result[f"05-{name}.netdev"] = device
    return result


def _known(links, name, what):
    if name not in links:
        raise NetworkDataError(f"{what}: found {name!r}, expected one of {', '.join(links) or 'no link at all'}")
    return name


def medium():
    """Return the device of the boot medium, or None; a BMC shows it as a CD, or as a small disk on USB.

    What has the label on any other disk was written by a system that ran on this machine before.
    """
    command = ["lsblk", "--json", "--bytes", "--output", "PATH,TYPE,LABEL,TRAN,SIZE"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    for device in json.loads(listed.stdout)["blockdevices"]:
        if device["label"] == LABEL and (device["type"] == "rom" or _is_of_a_bmc(device)):
            return device["path"]
    return None


def _is_of_a_bmc(device):
    # The agent has the same rule for media from which it takes its configuration.
    return device["type"] == "disk" and device["tran"] == "usb" and int(device["size"]) < USB_LIMIT_BYTES


def addresses(data):
    """Return the MAC addresses of a document's physical links, in lower case.

    :param data: the network data
    """
    return set(_mac(link) for link in data.get("links") or [] if str(link.get("type")) in PHYSICAL)


def present():
    """Return the MAC addresses of this machine."""
    found = set()
    for name in os.listdir(INTERFACES):
        # Of the module bonding there is a file among them.
        with contextlib.suppress(OSError), open(os.path.join(INTERFACES, name, "address"), encoding="ascii") as stream:
            found.add(stream.read().strip().lower())
    return found


def built_in(there):
    """Return the path and the contents of the first document of the ramdisk for one of some addresses, or None.

    :param there: MAC addresses
    """
    for name in sorted(os.listdir(BUILT_IN)) if os.path.isdir(BUILT_IN) else []:
        path = os.path.join(BUILT_IN, name)
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
        if addresses(data) & there:
            return path, data
    return None


def on_medium():
    """Return where the boot medium's network data is, and the data; None without a medium or without data on it."""
    device = medium()
    if device is None:
        return None
    os.makedirs(MOUNT_POINT, exist_ok=True)
    subprocess.run(["mount", "-o", "ro", device, MOUNT_POINT], check=True)
    try:
        with open(os.path.join(MOUNT_POINT, PATH_ON_MEDIUM), encoding="utf-8") as stream:
            return f"{device}: {PATH_ON_MEDIUM}", json.load(stream)
    except FileNotFoundError:
        print(f"{device} has no {PATH_ON_MEDIUM}")
        return None
    finally:
        subprocess.run(["umount", MOUNT_POINT], check=True)


def main():
    """Write the files, if there is network data for this machine."""
    where = "network data"
    try:
        found = on_medium() or built_in(present())
        if found is None:
            print("neither a boot medium nor the ramdisk has network data for this machine: DHCP is used")
            return 0
        where = found[0]
        made = files(found[1])
    except (NetworkDataError, ValueError, AttributeError, TypeError) as error:
        print(f"{where}: {error}: DHCP is used", file=sys.stderr)
        return 1
    for name, text in made.items():
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as stream:
            stream.write(text)
    os.unlink(os.path.join(FOLDER, DEFAULT))
    print(f"{where}: {', '.join(sorted(made))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
