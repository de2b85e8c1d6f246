# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What servers and nodes of a site must reach, as the variables of the machine that manages it say; pure."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from .._common.addresses import ip_texts, web_ports
from .._plane.cluster.ironic import HTTP_PORT
from .._plane.process.site_figures import DEFAULT_PORTS, NETWORK_BOOT
from .description import LOADERS

Object = dict[str, Any]

# Variable with a URL → what is there, as messages call it.
URLS = {
    "ironic_url": "Ironic", "bmo_deploy_kernel_url": "the agent's kernel", "bmo_deploy_ramdisk_url":
    "the agent's ramdisk", "bmo_deploy_iso_url": "the agent's ISO image",
    "provisioning_network_ipxe_script_url": "iPXE's script", "provisioning_network_http_boot_url": "HTTP boot"}
# What a machine with firmware of either kind loads first.
_FIRMWARE = ("bios", "x86_64")


def of_site(variables: Mapping[str, Any]) -> dict[str, list[Object]]:
    """Return ``tcp`` and ``tftp`` as the module ``network_check`` takes them, each port and file once.

    :param variables: of the roles ``bootstrap_plane``, ``ironic``, ``bmo``, ``image_server`` and
        ``provisioning_network``; what is not set, or of another type, asks nothing
    """
    ports: dict[tuple[str, int], list[str]] = {}
    for name, host, given in (*_of_plane(variables), *_of_image_server(variables), *_of_urls(variables)):
        # What is no number is refused by the role that uses it.
        if not (str(given).isascii() and str(given).isdecimal()):
            continue
        names = ports.setdefault((host, int(given)), [])
        if name not in names:
            names.append(name)
    return {"tcp": [{"name": ", ".join(names), "host": host, "port": port} for (host, port), names in ports.items()],
            "tftp": list(_files(variables))}


def _of_plane(variables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    plane = variables.get("management_plane")
    plane = plane if isinstance(plane, Mapping) else {}
    if plane.get("mode") == "process" and isinstance(plane.get("address"), str):
        given = plane.get("ports")
        ports = dict(DEFAULT_PORTS, **given) if isinstance(given, Mapping) else DEFAULT_PORTS
        yield "Ironic", plane["address"], ports["ironic"]
        yield "the plane's image server", plane["address"], ports["image_server"]
        if _is_true(variables.get("bootstrap_plane_network_boot", False)):
            yield "the plane's network boot", plane["address"], ports[NETWORK_BOOT]
    address = variables.get("ironic_provisioning_ip")
    if variables.get("ironic_mode") == "cluster" and isinstance(address, str) and address:
        yield "Ironic", address, DEFAULT_PORTS["ironic"]
        yield "Ironic's boot files", address, variables.get("ironic_http_port") or HTTP_PORT


def _of_image_server(variables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    if variables.get("image_server_state", "present") != "present":
        return
    tls = _is_true(variables.get("image_server_tls", True))
    port = variables.get("image_server_port") or web_ports.BY_SCHEME["https" if tls else "http"]
    for address in _texts(variables.get("image_server_addresses")):
        # Of all addresses none says where others reach it.
        if not (ip_texts.is_address(address) and ip_texts.address(address).is_unspecified):
            yield "the image server", address, port


def _of_urls(variables: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    for variable, name in URLS.items():
        url = variables.get(variable)
        try:
            parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
            if parts.scheme in web_ports.BY_SCHEME and parts.hostname:
                yield name, parts.hostname, parts.port or web_ports.BY_SCHEME[parts.scheme]
        except ValueError:
            # What is no URL, or has no port of a number, is refused by the role that uses it.
            continue


def _files(variables: Mapping[str, Any]) -> Iterator[Object]:
    if (not isinstance(variables.get("provisioning_network_tftp_root"), str)
            or not variables.get("provisioning_network_dhcp_ranges")
            or variables.get("provisioning_network_state", "present") != "present"):
        return
    given = variables.get("provisioning_network_loaders")
    # As dnsmasq's file has it: an empty one is that of the firmware's kind.
    loaders = {**LOADERS, **{kind: file for kind, file in (given if isinstance(given, Mapping) else {}).items()
                             if file and isinstance(file, str)}}
    for address in _texts(variables.get("provisioning_network_addresses")):
        host = address.partition("/")[0]
        if ip_texts.is_address(host):
            for kind in _FIRMWARE:
                yield {"name": f"boot loader of {kind}", "host": host, "path": loaders[kind]}


def _is_true(value: Any) -> bool:
    return str(value).lower() not in ("false", "no", "off", "0")


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
