# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user says of the Ironic that lets go, and words that are said of each; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._host.description import annotations as host_annotations
from ..objects.graph import HOST, key

Object = dict[str, Any]

# How it runs, as ``pivot_ironic_mode`` has it.
PROCESS, CLUSTER, EXTERNAL, NONE = "process", "cluster", "external", "none"
MODES = (PROCESS, CLUSTER, EXTERNAL, NONE)
CODE = "move-former-ironic"
GOES_ON = ("set former_ironic_mode to external (playbook: pivot_ironic_mode=external, with pivot_ironic_url and its "
           "login), by which it goes on without the nodes of these hosts")

_SHOWN = 5


class Said(NamedTuple):
    """What the user says of it.

    :ivar mode: one of MODES
    :ivar namespace: of its Deployment
    :ivar deployment: name of its Deployment, in the mode CLUSTER
    :ivar url: by which the hosts' nodes are deleted, empty for none
    :ivar address: of its API, in the mode PROCESS; empty when it is not known
    :ivar directory: folder of its processes, in the mode PROCESS; empty when it is not known
    :ivar machine: name of the machine that they are processes of
    """

    mode: str
    namespace: str
    deployment: str
    url: str
    address: str
    directory: str = ""
    machine: str = ""

    @property
    def title(self) -> str:
        """Its Deployment, as messages name it."""
        return f"Deployment {self.namespace}/{self.deployment}"

    @property
    def place(self) -> str:
        """Which Ironic it is, as one text that is kept at the hosts which are held for its end; empty if not known."""
        texts = {PROCESS: f"{self.machine}:{self.directory}" if self.directory else "",
                 CLUSTER: f"{self.namespace}/{self.deployment}" if self.deployment else "",
                 EXTERNAL: _address(self.url) if self.url else ""}
        return plain(f"{self.mode} {texts[self.mode]}") if texts.get(self.mode) else ""


def said(params: Mapping[str, Any], machine: str = "") -> Said:
    """Return what the parameters of the module ``plane_move`` say.

    :param machine: name of this machine
    """
    name = params.get("former_ironic_deployment") or ""
    mode = params.get("former_ironic_mode") or (CLUSTER if name else PROCESS)
    return Said(mode, params.get("former_ironic_namespace") or "", name, params.get("former_ironic_url") or "",
                (params.get("machine_ironic") or {}).get("ip") or "",
                (params.get("former_ironic_directory") or "").rstrip("/"), machine)


def noted(what: Said, objects: Iterable[Object]) -> list[Problem]:
    """Return why hosts that an earlier run has held are not moved by this one: it has not stopped another Ironic.

    :param what: what the user says; with the mode NONE that it has stopped for good
    :param objects: of the plane that lets go
    """
    names: dict[str, list[str]] = {}
    for obj in objects:
        found = host_annotations.of(obj)
        note = found.get(host_annotations.FORMER_IRONIC)
        if key(obj)[:2] == HOST and found.get(host_annotations.PAUSED) == host_annotations.FOR_MOVE and note:
            names.setdefault(str(note), []).append(str(obj["metadata"]["name"]))
    return [Problem(
        CODE, f"BareMetalHost {few(sorted(hosts), _SHOWN)}", f"metadata.annotations.{host_annotations.FORMER_IRONIC}",
        plain(note), what.place or f"one of the mode {what.mode}, of which no more is said",
        "an earlier run has held them for the end of that Ironic, and may not have come to it: run again with the "
        "variables of that run, on its machine; or take it back so (playbook: pivot_state=undone); "
        "when that Ironic has stopped for good, set former_ironic_mode to none (playbook: pivot_ironic_mode=none)")
        for note, hosts in sorted(names.items())
        if what.mode != NONE and note != what.place]


def without_url(subject: str, database: str) -> Problem:
    """Return the problem of an Ironic whose database outlives it, and whose nodes nobody deletes.

    :param subject: which Ironic it is
    :param database: in words
    """
    return Problem(
        CODE, subject, "former_ironic_url", f"no URL, and a database that outlives it: {plain(database)}",
        "the URL of its API, by which the hosts' nodes are deleted: with them it would have power over the servers "
        "when it is started again",
        "set pivot_ironic_url, pivot_ironic_ca_file, pivot_ironic_username_file and pivot_ironic_password_file")


def without_login(url: str) -> str:
    """Return scheme, host and port of a URL."""
    return _address(url, False)


def _address(url: str, with_path: bool = True) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a URL that cannot be read"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" + (parts.path.rstrip("/") if with_path else "")
