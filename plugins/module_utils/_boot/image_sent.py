# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of its image an agent has been sent, by the sockets of an image server; pure.

The agent says nothing of it while it downloads (ironic_python_agent 13, extensions/standby.py), and a web server's log
only at the end.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .._common.addresses import web_ports

_MIB = 1024 ** 2
# One line of ``ss -tinHO state established``: queues, this end, the other end, figures.
_SOCKET = re.compile(r"^\s*\d+\s+\d+\s+(\S+):(\d+)\s+(\S+):\d+\s.*\bbytes_acked:(\d+)\b")


class Download(NamedTuple):
    """What an agent reads.

    :ivar address: of the agent
    :ivar port: TCP port of the image server
    :ivar url: of the image
    """

    address: str
    port: int
    url: str


def download_of(node: Mapping[str, Any], bmh: Mapping[str, Any]) -> Download | None:
    """Return what the agent of a node reads, None when it deploys nothing, or nothing by HTTP.

    :param node: Ironic's node
    :param bmh: the BareMetalHost
    """
    info, image = node.get("driver_internal_info"), (bmh.get("spec") or {}).get("image")
    url = image.get("url") if isinstance(image, dict) else None
    if node.get("provision_state") != "wait call-back" or not isinstance(info, dict) or not isinstance(url, str):
        return None
    try:
        agent, server = urlsplit(str(info.get("agent_url") or "")).hostname, urlsplit(url)
        port = server.port or web_ports.BY_SCHEME.get(server.scheme)
    except ValueError:
        return None
    return Download(agent, port, url) if agent and port and server.scheme in web_ports.BY_SCHEME else None


def sent(output: str, downloads: Mapping[str, Download]) -> dict[str, int]:
    """Return how many bytes each agent has confirmed of what it was sent over its present connection.

    :param output: what ``ss -tinHO state established`` prints on the machine of the image server
    :param downloads: Download by any key
    :returns: bytes by that key; of agents with a connection whose address is no other one's, too
    """
    shared = Counter(download.address for download in downloads.values())
    found: dict[tuple[str, int], int] = {}
    for line in output.splitlines():
        match = _SOCKET.match(line)
        if match:
            key = _plain(match.group(3)), int(match.group(2))
            found[key] = max(found.get(key, 0), int(match.group(4)))
    return dict((name, found[download.address, download.port]) for name, download in downloads.items()
                if shared[download.address] == 1 and (download.address, download.port) in found)


def ports_filter(downloads: Iterable[Download]) -> str:
    """Return the filter of ``ss`` for sockets of the image servers.

    :param downloads: Downloads
    """
    return " or ".join(f"sport = :{port}" for port in sorted({download.port for download in downloads}))


def text(sent_bytes: int, size_bytes: int | None) -> str:
    """Return what a wait says of it.

    :param sent_bytes: what was sent
    :param size_bytes: the image's size, None when it is not known
    """
    if size_bytes is None:
        return f"{sent_bytes // _MIB} MiB sent"
    # Encryption and headers are sent, too.
    return f"{min(sent_bytes, size_bytes) // _MIB} of {-(-size_bytes // _MIB)} MiB sent"


def _plain(address: str) -> str:
    """Return an address as URLs have it, without brackets, zone and the prefix of IPv4 in IPv6."""
    bare = address.strip("[]").partition("%")[0].lower()
    return bare[len("::ffff:"):] if bare.startswith("::ffff:") and "." in bare else bare
