# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a move, which both planes keep as a ConfigMap: what a later run needs to finish or undo it; pure."""
from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._cluster.workflow.snapshot import node_name
from ..._common.documents.document_text import from_json
from ..._common.problems.problem import Problem
from ..._host.state.goals import state_of
from . import copies
from .graph import Graph, key

Object = dict[str, Any]

NAME = "metal3-baremetal-move"
# Of the ConfigMap, as of other objects that are read.
KEY = ("", "ConfigMap", NAME)
MOVING, MOVED = "moving", "moved"
_FILE = "record.json.gz"
# Of a ConfigMap's data together (``MaxSecretSize`` of Kubernetes, which holds for both kinds).
_STORED_LIMIT_BYTES = 1024 ** 2
# Of the two digests that an object may have, which no compression makes smaller than half of their digits.
_DIGESTS_BYTES = 22
# Of the unpacked record: some bytes for each object, of which a plane has some ten thousand.
_LIMIT_BYTES = 64 * 1024 ** 2


class Entry(NamedTuple):
    """An object that is moved.

    Its path is not kept: others may write ConfigMaps, and each plane says itself where its kinds are.

    :ivar group: API group
    :ivar kind: name of the kind
    :ivar name: its name
    :ivar uid: its uid where it comes from
    :ivar digests: by which its content is known again, with spaces between, see :func:`copies.digest`; empty for none
    """

    group: str
    kind: str
    name: str
    uid: str
    digests: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What the object is in both planes."""
        return self.group, self.kind, self.name


class Record(NamedTuple):
    """A move.

    :ivar state: one of MOVING and MOVED
    :ivar source: uid of the Namespace kube-system of the plane it goes from
    :ivar target: the same of the other one
    :ivar entries: Entries, owners before what they own
    :ivar hosts: host's name → what must be the same afterwards
    :ivar machines: machine's name → the same
    :ivar holder: the machine and folder from which it runs, see ``holder_of`` of ``_common/files/holder.py``
    """

    state: str
    source: str
    target: str
    entries: tuple[Entry, ...]
    hosts: dict[str, dict[str, Any]]
    machines: dict[str, dict[str, Any]]
    holder: str = ""

    def names(self, group: str, kind: str) -> list[str]:
        """Return the names of the objects of a kind that are moved, sorted."""
        return sorted(entry.name for entry in self.entries if entry.key[:2] == (group, kind))


def with_digests(of: Record, moving: Iterable[Object], arriving: Mapping[tuple[str, str, str], Object],
                 secret: bytes) -> Record:
    """Return the record of a move that begins with digests of each object: as it is, and with defaults of over there.

    :param moving: its objects
    :param arriving: the same as the plane that takes over would store them, as far as that is known
    :param secret: see :func:`copies.digest`
    """
    found = dict((key(obj), sorted(set(copies.digest(item, secret) for item in (obj, arriving.get(key(obj), obj)))))
                 for obj in moving)
    return of._replace(entries=tuple(entry._replace(digests=" ".join(found[entry.key])) for entry in of.entries))


def made(source: str, target: str, graph: Graph, holder: str) -> Record:
    """Return the record of a move that begins.

    :param source: uid of the Namespace kube-system there
    :param target: the same of the other side
    :param graph: of what is moved
    :param holder: from ``holder_of``
    """
    entries = tuple(Entry(*key(obj), obj["metadata"]["uid"]) for obj in graph.moved)
    return Record(MOVING, source, target, entries,
                  dict((host["metadata"]["name"], host_facts(host)) for host in graph.of("BareMetalHost")),
                  dict((item["metadata"]["name"], machine_facts(item)) for item in graph.of("Machine")), holder)


def host_facts(host: Object) -> dict[str, Any]:
    """Return what of a host must be the same before and after a move."""
    spec, status = host.get("spec") or {}, host.get("status") or {}
    provisioning = status.get("provisioning") or {}
    return {"state": state_of(host), "online": spec.get("online"), "powered_on": status.get("poweredOn"),
            "consumer": (spec.get("consumerRef") or {}).get("name"),
            "image": (provisioning.get("image") or {}).get("url") or None,
            "boot_mac_address": spec.get("bootMACAddress")}


def machine_facts(machine: Object) -> dict[str, Any]:
    """Return what of a Machine must be the same before and after a move."""
    status = machine.get("status") or {}
    # Controllers write the status again over there, the phase last.
    return {"node": node_name(machine), "phase": status.get("phase"),
            "provider_id": (machine.get("spec") or {}).get("providerID")}


def config_map(record: Record, namespace: str) -> Object:
    """Return the ConfigMap with a record."""
    text = json.dumps({"entries": record.entries, "hosts": record.hosts, "machines": record.machines}, sort_keys=True)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": namespace},
            "data": {"state": record.state, "source": record.source, "target": record.target,
                     "holder": record.holder},
            "binaryData": {_FILE: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()}}


def too_large(of: Record, namespace: str) -> list[Problem]:
    """Return the problem of a move that no ConfigMap has room for: it could not begin when all hosts are held.

    :param of: the move
    :param namespace: of its ConfigMap
    """
    packed = config_map(of, namespace)["binaryData"][_FILE]
    needed = len(base64.b64decode(packed)) + len(of.entries) * _DIGESTS_BYTES
    if needed <= _STORED_LIMIT_BYTES:
        return []
    return [Problem("move-record-size", f"ConfigMap {namespace}/{NAME}", "",
                    f"{len(of.entries)} objects, whose record needs about {needed // 1024} KiB",
                    f"at most {_STORED_LIMIT_BYTES // 1024} KiB, which a ConfigMap has room for",
                    "let free hosts change planes first, some at a time, by the playbook move_hosts")]


def read(config: Object | None) -> Record | None:
    """Return the record that a ConfigMap has; None when there is none, or it is none of ours.

    :param config: the ConfigMap, which anyone who may write ConfigMaps can have written, or None
    """
    try:
        data = (config or {})["data"]
        packed = base64.b64decode((config or {})["binaryData"][_FILE], validate=True)
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            text = stream.read(_LIMIT_BYTES + 1)
        if len(text) > _LIMIT_BYTES:
            return None
        found = from_json(text)
        entries = tuple(Entry(*entry) for entry in found["entries"])
        hosts, machines = found["hosts"], found["machines"]
        sides, holder = (data["source"], data["target"]), data.get("holder", "")
    except (KeyError, TypeError, ValueError, OSError, EOFError, AttributeError, zlib.error):
        return None
    texts = [*sides, holder, *(part for entry in entries for part in entry)]
    if not all(isinstance(part, str) for part in texts) or data.get("state") not in (MOVING, MOVED) \
            or not all(isinstance(facts, dict) for facts in (hosts, machines)) \
            or not all(isinstance(facts, dict) for facts in [*hosts.values(), *machines.values()]):
        return None
    return Record(data["state"], *sides, entries, hosts, machines, holder)


def not_ended(namespace: str) -> Problem:
    """Return the problem of a namespace with the record of a move that is on its way."""
    return Problem("move-not-ended", f"ConfigMap {namespace}/{NAME}", "", "the record of a move that has not ended",
                   "none, or that of a move that has ended", "finish or take back the move by the playbook pivot; when "
                   "the other plane is lost for good, delete this ConfigMap")


def differences(before: dict[str, Any], now: dict[str, Any] | None) -> list[str]:
    """Return in words what is not as it was.

    :param before: facts from the record
    :param now: the same by now, or None when the object is not there
    """
    if now is None:
        return ["it is not there"]
    return [f"{name}: found {now.get(name)}, expected {value} as before the move"
            for name, value in sorted(before.items()) if now.get(name) != value]
