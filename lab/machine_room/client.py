"""Client of the machine room's API, for tests and tools; standard library only."""
from __future__ import annotations

import json
import os
import urllib.parse

from .web import Web


class MachineRoomError(Exception):
    """The machine room refused a request."""


class MachineRoomClient:
    """A lab's machine room.

    :param url: its URL
    :param token: the lab's token for it
    :param ca_file: the lab's CA certificate
    """

    def __init__(self, url, token, ca_file):
        self._url = url
        self._token = token
        self._web = Web(ca_file)

    @classmethod
    def of_lab(cls, directory):
        """Return the client for the lab in a folder.

        :param directory: the lab's folder, with ``lab.json``, ``pki`` and ``secrets``
        """
        with open(os.path.join(directory, "lab.json"), encoding="utf-8") as file:
            url = json.load(file)["urls"]["machine_room"]
        with open(os.path.join(directory, "secrets", "machine_room_token"), encoding="utf-8") as file:
            token = file.read().strip()
        return cls(url, token, os.path.join(directory, "pki", "ca.crt"))

    def _request(self, method, path, body=None, **query):
        query = {name: value for name, value in query.items() if value is not None}
        url = f"{self._url}/v1/{path}{'?' + urllib.parse.urlencode(query) if query else ''}"
        answer = self._web.request(url, method, body, {"Authorization": "Bearer " + self._token})
        if answer.status != 200:
            raise MachineRoomError(f"{method} {path}: {answer.status} {answer.text()}")
        return answer.json()

    def servers(self):
        """Return all servers, a list of mappings."""
        return self._request("GET", "servers")["servers"]

    def server(self, name):
        """Return one server: power, boot device, what runs, knobs, disks."""
        return self._request("GET", f"servers/{name}")

    def set_knobs(self, name, **knobs):
        """Set some of a server's knobs; see knobs.py."""
        return self._request("PUT", f"servers/{name}/knobs", knobs)

    def clear_knobs(self, name):
        """Turn all of a server's knobs off."""
        return self._request("DELETE", f"servers/{name}/knobs")

    def reset_account(self, name):
        """Give the account of a server's BMC the password that it was delivered with."""
        return self._request("DELETE", f"servers/{name}/account")

    def power(self, name, action):
        """Act as somebody at the machine: ``power_on``, ``power_off``, ``soft_off`` or ``restart``."""
        return self._request("POST", f"servers/{name}/power", {"action": action})

    def console(self, name, lines=100):
        """Return the last lines of a server's console."""
        return self._request("GET", f"servers/{name}/console", lines=lines)["lines"]

    def disk(self, name, disk, algorithm="sha256", offset=None, length=None):
        """Return a disk's digest and partitions.

        :param disk: name without its folder, like ``sda``
        :param offset: byte to start the digest at, by default the first
        :param length: bytes to digest, by default all
        """
        return self._request("GET", f"servers/{name}/disks/{disk}", algorithm=algorithm, offset=offset,
                             length=length)
