# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where everything of a lab is: folders, ports and addresses, all derived from its name and its index."""
from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from typing import Any

from .._common.files import user_folders
from .._plane.process import site_figures
from .servers import IPMI_LIMIT

NAME_RULE = re.compile(r"^[a-z][a-z0-9-]{0,19}$")
INDEX_LIMIT = 100
BASE_PORT = 21000
PORTS_PER_LAB = 100
# RFC 2544's benchmarking range: neither on the Internet nor in anyone's office.
NETWORK = ipaddress.ip_network("198.18.0.0/15")
NETWORK_PREFIX = 23

PORT_OFFSETS = {
    "etcd_client": 0,
    "etcd_peer": 1,
    "kube_apiserver": 3,
    "kube_controller_manager": 4,
    "ironic": 10,
    "image_server": 11,
    "registry": 12,
    "redfish": 13,
    "machine_room": 14,
    "network_boot": 15,
    "bmo_webhook": 20,
    "bmo_health": 21,
    "bmo_metrics": 22,
    "capi_webhook": 23,
    "capi_health": 24,
    "capi_metrics": 25,
    "cabpk_webhook": 26,
    "cabpk_health": 27,
    "cabpk_metrics": 28,
    "kcp_webhook": 29,
    "kcp_health": 30,
    "kcp_metrics": 31,
    "capm3_webhook": 32,
    "capm3_health": 33,
    "capm3_metrics": 34,
    "ipam_webhook": 35,
    "ipam_health": 36,
    "ipam_metrics": 37,
}

# UDP: BMCs that speak IPMI have a port each, from this one on.
IPMI_OFFSET = PORTS_PER_LAB - IPMI_LIMIT

# Folders in the lab's folder that its programs write to or are configured in; each is its owner's only.
FOLDERS = tuple(sorted((
    *site_figures.FOLDERS,
    "dhcp/tftp",
    "machines",
    "redfish",
    "registry/storage",
    "www/agent",
)))


def labs_dir(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder that holds one folder for each lab.

    Symbolic links in its path are resolved: the lab's processes and mounts are recognised by this path.

    :param environ: mapping of environment variables (METAL3_LAB_HOME, XDG_STATE_HOME, HOME); see ``cache_dir``
    :raises ValueError: for a relative METAL3_LAB_HOME: the next command, typed elsewhere, would look elsewhere
    """
    home = (os.environ if environ is None else environ).get("METAL3_LAB_HOME")
    if home and not os.path.isabs(home):
        raise ValueError(f"METAL3_LAB_HOME {home!r}: expected an absolute path, as in "
                         f"METAL3_LAB_HOME={os.path.join('$PWD', home)}")
    state = user_folders.base(environ, "XDG_STATE_HOME", os.path.join(".local", "state"))
    return os.path.realpath(home or os.path.join(state, "metal3.baremetal", "labs"))


def lab_dir(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the folder of a lab.

    :param name: lab name; a lower case letter, then at most 19 lower case letters, digits or dashes
    :param environ: see ``labs_dir``
    :raises ValueError: for another name, and as ``labs_dir`` does
    """
    if not NAME_RULE.match(name):
        raise ValueError(f"lab name {name!r}: expected a lower case letter, then at most 19 lower case letters, digits "
                         "or dashes")
    return os.path.join(labs_dir(environ), name)


def layout(name: str, index: int, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the figures of a lab as a dict of plain data, the contents of its ``lab.json``.

    :param name: lab name; lower case letters, digits and dashes, at most 20 characters
    :param index: 0 to 99, unique among the labs of this machine
    :param environ: mapping of environment variables
    :raises ValueError: for a name or an index outside these rules
    """
    directory = lab_dir(name, environ)
    if not 0 <= index < INDEX_LIMIT:
        raise ValueError(f"lab index {index!r}: expected 0 to {INDEX_LIMIT - 1}")
    first = BASE_PORT + PORTS_PER_LAB * index
    network: Any = list(NETWORK.subnets(new_prefix=NETWORK_PREFIX))[index]
    ports = dict((part, first + offset) for part, offset in PORT_OFFSETS.items())
    return {
        "name": name,
        "index": index,
        "dir": directory,
        "cache_dir": user_folders.cache_dir(environ),
        "address": "127.0.0.1",
        "ports": ports,
        "ipmi_first_port": first + IPMI_OFFSET,
        "urls": {
            "kubernetes": f"https://127.0.0.1:{ports['kube_apiserver']}",
            "ironic": f"https://127.0.0.1:{ports['ironic']}",
            "image_server": f"https://127.0.0.1:{ports['image_server']}",
            "registry": f"https://127.0.0.1:{ports['registry']}",
            "redfish": f"https://127.0.0.1:{ports['redfish']}",
            "machine_room": f"https://127.0.0.1:{ports['machine_room']}",
        },
        "bridge": {
            "name": f"m3lab{index}",
            "network": str(network),
            "address": f"{network[1]}/{NETWORK_PREFIX}",
        },
    }
