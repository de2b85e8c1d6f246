# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a bootstrap plane: what its folders, ports and URLs are by what a site says of it; pure."""
from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ..._common.addresses import ip_texts
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._metal3.ironic_rpc import conductor_addresses

NAME_RULE = re.compile(r"^[a-z][a-z0-9-]{0,19}\Z")
_NAME_EXPECTED = "a lower case letter, then at most 19 lower case letters, digits or dashes"
# It is in the configurations of supervisord, nginx and Ironic, where these have a meaning: they end or fill in values.
_DIR_SIGNS = "%;$,*?[]{}"
_DIR_RULE = re.compile(rf"/[^\s{re.escape(_DIR_SIGNS)}]*\Z")
LOOPBACK = "127.0.0.1"
_URL_RULE = re.compile(r"^https?://[^\s/]+/\S+\Z")
# Of a server rather than a file; what the operator cannot read ends it.
_BASE_URL_RULE = re.compile(r"^https?://(\[[0-9A-Fa-f:.]+\]|[^\s/\[\]:]+)(:\d+)?(/\S*)?\Z")
_EXTERNAL = "external_url_v6"
BOOT_VARIABLES = {
    "kernel": "bmo_deploy_kernel_url",
    "ramdisk": "bmo_deploy_ramdisk_url",
    "bootloader": "ironic_bootloader_url",
    "iso": "bmo_deploy_iso_url",
    _EXTERNAL: "bmo_ironic_external_url_v6",
}

# What is there only when it is asked for.
NETWORK_BOOT = "network_boot"
# Ironic's, the image server's and that of network boot are those of ironic-image, which a site's firewall may know; the
# others are reached on loopback only. The block lies below those of labs, which begin at 21000.
DEFAULT_PORTS = {
    "etcd_client": 20000,
    "etcd_peer": 20001,
    "kube_apiserver": 20003,
    "kube_controller_manager": 20004,
    "ironic": 6385,
    "image_server": 6183,
    NETWORK_BOOT: 6180,
    "bmo_webhook": 20020,
    "bmo_health": 20021,
    "bmo_metrics": 20022,
    "capi_webhook": 20023,
    "capi_health": 20024,
    "capi_metrics": 20025,
    "cabpk_webhook": 20026,
    "cabpk_health": 20027,
    "cabpk_metrics": 20028,
    "kcp_webhook": 20029,
    "kcp_health": 20030,
    "kcp_metrics": 20031,
    "capm3_webhook": 20032,
    "capm3_health": 20033,
    "capm3_metrics": 20034,
    "ipam_webhook": 20035,
    "ipam_health": 20036,
    "ipam_metrics": 20037,
}
# Folders in the plane's folder that its programs write to or are configured in; each is its owner's only.
FOLDERS = (
    "image-server",
    "ironic/bin",
    "ironic/certificates",
    "ironic/images/master",
    "ironic/isos",
    "ironic/tftp/master",
    "ironic/tmp",
    "log",
    "secrets",
    "www/images",
    "www/ironic",
)
# What BMCs and agents must reach.
ON_ADDRESS = ("image_server", "ironic")


def problems(plane: Mapping[str, Any], ports: Mapping[str, Any] | None = None) -> list[Problem]:
    """Return the problems of a plane's description, whatever the machine it runs on.

    :param plane: the variable ``management_plane``: ``name``, ``address``, ``dir``, and if they are set
        ``kubernetes_address``, ``network_boot``, whether firmware gets its files by plain HTTP, and
        ``ironic_separate``, whether Ironic's conductors are processes of their own
    :param ports: port of a part, part → port; those that are not named have the default
    """
    found = []
    name = plane.get("name")
    if not isinstance(name, str) or not NAME_RULE.match(name):
        found.append(_problem("plane-name", "name", name, _NAME_EXPECTED, "set management_plane.name"))
    for field in ("address", "kubernetes_address"):
        value = plane.get(field)
        if value is None and field != "address":
            continue
        if _address(value) is None:
            found.append(_problem("plane-address", field, value, "an IP address of this machine",
                                  f"set management_plane.{field}"))
    directory = plane.get("dir")
    if not (isinstance(directory, str) and _DIR_RULE.match(directory) and directory.isprintable()):
        found.append(_problem("plane-dir", "dir", directory, f"an absolute path without spaces and {_DIR_SIGNS}",
                              "set management_plane.dir"))
    return found + _port_problems(ports or {}, bool(plane.get(NETWORK_BOOT)))


def boot_problems(images: Mapping[str, str | None]) -> list[Problem]:
    """Return the problems of what servers boot the agent from: an ISO, or kernel, ramdisk and boot loader.

    :param images: ``kernel``, ``ramdisk``, ``bootloader``, ``iso``, and ``external_url_v6``, where BMCs with IPv6 get
        virtual media from → URL; None or empty for what is not given
    """
    found, given = [], dict((name, url) for name, url in images.items() if url)
    for name, url in sorted(given.items()):
        if not (_BASE_URL_RULE if name == _EXTERNAL else _URL_RULE).match(url):
            found.append(Problem("boot-image", "", BOOT_VARIABLES[name], show(url), "an http or https URL",
                                 "set it to one that the servers and their BMCs reach"))
    apart = ("kernel", "ramdisk", "bootloader")
    if "iso" not in given or any(name in given for name in apart):
        # Ironic puts an ISO for UEFI together from all three.
        found += [Problem("boot-image", "", BOOT_VARIABLES[name], None, "the URL of a file of the agent's ramdisk",
                          f"set {BOOT_VARIABLES[name]}, or {BOOT_VARIABLES['iso']} alone")
                  for name in apart if name not in given]
    return found


def _ports_used(ports: Mapping[str, Any], network_boot: bool) -> dict[str, Any]:
    every = dict(DEFAULT_PORTS, **ports)
    if not network_boot:
        del every[NETWORK_BOOT]
    return every


def _port_problems(ports: Mapping[str, Any], network_boot: bool) -> list[Problem]:
    found = []
    for part, port in sorted(ports.items()):
        if part not in DEFAULT_PORTS:
            found.append(_problem("plane-port", f"ports.{part}", port, "one of " + ", ".join(sorted(DEFAULT_PORTS)),
                                  "correct the name"))
        elif not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65535:
            found.append(_problem("plane-port", f"ports.{part}", port, "1 to 65535",
                                  f"leave it out for {DEFAULT_PORTS[part]}"))
    if found:
        return found
    parts: dict[int, list[str]] = {}
    for part, port in _ports_used(ports, network_boot).items():
        parts.setdefault(port, []).append(part)
    return [_problem("plane-port", f"ports.{names[0]}", port, f"another port than that of {', '.join(names[1:])}",
                     "give each part a port of its own")
            for port, names in sorted(parts.items()) if len(names) > 1]


def compute(plane: Mapping[str, Any], ports: Mapping[str, int], cache_dir: str) -> dict[str, Any]:
    """Return the figures of a plane without problems, as the roles of its parts take them.

    :param plane: see :func:`problems`
    :param ports: see :func:`problems`
    :param cache_dir: folder for what is slow to make
    """
    network_boot = bool(plane.get(NETWORK_BOOT))
    every = _ports_used(ports, network_boot)
    address, kubernetes = plane["address"], plane.get("kubernetes_address") or LOOPBACK
    urls = {
        "kubernetes": _url(kubernetes, every["kube_apiserver"]),
        "ironic": _url(address, every["ironic"]),
        "image_server": _url(address, every["image_server"]),
    }
    if network_boot:
        urls[NETWORK_BOOT] = _url(address, every[NETWORK_BOOT], "http")
    # Only then somebody listens there.
    conductors = {"conductor_addresses": conductor_addresses(every["etcd_client"])} \
        if plane.get("ironic_separate") else {}
    return {
        **conductors,
        "name": plane["name"],
        "mode": "process",
        "dir": os.path.normpath(plane["dir"]),
        "cache_dir": cache_dir,
        "address": address,
        "kubernetes_address": kubernetes,
        "listens_on": _listens_on(address, kubernetes, network_boot),
        "ports": every,
        "urls": urls,
    }


def _listens_on(address: str, kubernetes_address: str, network_boot: bool) -> dict[str, str]:
    """Return the address of each part that listens elsewhere than on loopback."""
    parts = (*ON_ADDRESS, NETWORK_BOOT) if network_boot else ON_ADDRESS
    return dict(dict.fromkeys(parts, address), kube_apiserver=kubernetes_address)


def _address(value: Any) -> Any:
    try:
        # An integer would be an address to it.
        return ip_texts.address(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _url(address: str, port: int, scheme: str = "https") -> str:
    return f"{scheme}://[{address}]:{port}" if ":" in address else f"{scheme}://{address}:{port}"


def _problem(code: str, field: str, value: Any, expected: str, hint: str) -> Problem:
    actual = None if value is None else show(value)
    return Problem(code, "", f"management_plane.{field}", actual, expected, hint)
