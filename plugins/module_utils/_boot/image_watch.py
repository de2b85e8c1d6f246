# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads how much of their images agents have been sent, where the image server runs on this machine."""
from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping

from .._common.transfer import image_server
from . import image_sent
from .image_sent import Download

_SECONDS = 10


def sockets(ports: str) -> str:
    """Return what ``ss`` prints of the connections of this machine's servers.

    :param ports: a filter of ``ss``
    :raises OSError: when the program is missing or does not end
    """
    try:
        return subprocess.run(["ss", "-tinHO", "state", "established", f"( {ports} )"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS).stdout
    except subprocess.TimeoutExpired as exc:
        raise OSError("no answer in time") from exc


class ImageWatch:
    """Knows what agents have been sent.

    :param ca_file: path of a file with the image servers' certificate authorities, None for the system's
    :param list_sockets: as :func:`sockets`
    :param size_of: callable that takes URL and ``ca_file`` and returns the image's size, see ``image_server.size_of``
    """

    def __init__(self, ca_file: str | None, list_sockets: Callable[[str], str] = sockets,
                 size_of: Callable[[str, str | None], int | None] = image_server.size_of) -> None:
        self._ca_file = ca_file
        self._sockets = list_sockets
        self._size_of = size_of
        self._sizes: dict[str, int | None] = {}

    def look(self, downloads: Mapping[str, Download]) -> dict[str, str]:
        """Return what is to be said of each download that has a connection.

        :param downloads: Download by node
        """
        if not downloads:
            return {}
        try:
            found = image_sent.sent(self._sockets(image_sent.ports_filter(downloads.values())), downloads)
        except OSError:
            # Without iproute2, for example.
            return {}
        return dict((node, image_sent.text(sent, self._size(downloads[node].url))) for node, sent in found.items())

    def _size(self, url: str) -> int | None:
        if url not in self._sizes:
            try:
                self._sizes[url] = self._size_of(url, self._ca_file)
            except (OSError, ValueError):
                self._sizes[url] = None
        return self._sizes[url]
