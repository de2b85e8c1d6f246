# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not happen while a plane moves or is upgraded: a cluster that does not answer, a server that is reset."""
from __future__ import annotations

import re
import threading
import time
from collections import namedtuple

from consoles import Console
from support import HOST, NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

# What must not change of a host and of a machine.
Facts = namedtuple("Facts", ["hosts", "machines"])


def facts(client):
    """Return what a plane says of its hosts and machines."""
    hosts = dict((item["metadata"]["name"], (
        item["status"]["provisioning"]["state"], item["status"]["operationalStatus"], item["status"].get("poweredOn"),
        (item["spec"].get("consumerRef") or {}).get("name"))) for item in client.list(HOST, NAMESPACE)[0])
    machines = dict((item["metadata"]["name"], (item["spec"].get("providerID"), item["status"]["nodeRef"]["name"]))
                    for item in client.list(KNOWN["Machine"], NAMESPACE)[0])
    return Facts(hosts, machines)


class Repeated:
    """Something that is done several times a second in a thread of its own; a context manager."""

    INTERVAL_SECONDS = 0.1

    def __init__(self):
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def ask(self):
        """Do it once."""
        raise NotImplementedError

    def _run(self):
        while not self._stop.wait(self.INTERVAL_SECONDS):
            self.ask()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._stop.set()
        self._thread.join(30)


class Polled(Repeated):
    """Asks a cluster's API server several times a second, and counts what was not answered.

    :param kubeconfig: path of the cluster's kubeconfig
    :param timeout_seconds: how long an answer may take
    """

    def __init__(self, kubeconfig, timeout_seconds=10):
        super().__init__()
        self._client, self._timeout_seconds = KubeClient({"kubeconfig": str(kubeconfig)}), timeout_seconds
        self.asked, self.failed = 0, []
        # From the first question without an answer to the next answer; of the longest such time.
        self.longest_silence_seconds, self._silent_since = 0.0, None

    def ask(self):
        self.asked += 1
        began = time.monotonic()
        try:
            self._client.request("GET", "/version", timeout_seconds=self._timeout_seconds)
        except KubeError as error:
            self.failed.append(f"{time.strftime('%X')} {error}")
            self._silent_since = self._silent_since or began
        else:
            self._end_silence()

    def _end_silence(self):
        if self._silent_since is not None:
            self.longest_silence_seconds = max(self.longest_silence_seconds, time.monotonic() - self._silent_since)
            self._silent_since = None

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._end_silence()

    def __str__(self):
        return (f"{self.asked} requests, {len(self.failed)} without an answer, "
                f"{self.longest_silence_seconds:.1f} s at most until the next answer")


class States(Repeated):
    """All states in which a plane's hosts were found meanwhile."""

    INTERVAL_SECONDS = 0.3

    def __init__(self, client):
        super().__init__()
        self._client, self.looked = client, 0
        # Name of a host → its states.
        self.found = {}

    def ask(self):
        try:
            hosts = self._client.list(HOST, NAMESPACE)[0]
        except KubeError:
            # Whether it answers is Polled's question.
            return
        for item in hosts:
            status = item.get("status") or {}
            self.found.setdefault(item["metadata"]["name"], set()).add(
                ((status.get("provisioning") or {}).get("state"), status.get("operationalStatus")))
        self.looked += 1


class Untouched:
    """What BMCs are asked for meanwhile."""

    def __init__(self, lab):
        self._consoles = dict((name, Console(lab.dir / "machines" / name / "console.log")) for name in lab.servers)

    def resets(self):
        return dict((name, found) for name, console in self._consoles.items()
                    for found in [[line for line in console.lines() if re.search(r"BMC: (reset|boot)", line)]] if found)
