# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts that an option names, among those of a namespace, and their Machines; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._kube.objects.precondition import uid_of

Object = dict[str, Any]


def subject_of(namespace: str, name: str) -> str:
    """Return how messages name a host."""
    return f"BareMetalHost {namespace}/{name}"


def find(code: str, names: Iterable[str], objects: Mapping[str, list[Object]],
         namespace: str) -> tuple[list[Object], list[Problem]]:
    """Return the hosts that are named once and are there, in the order of their names, and what is wrong with others.

    :param code: of the problems
    :param names: names of BareMetalHosts, of the option ``hosts``
    :param objects: dict of kind to list of objects of the namespace
    :param namespace: the namespace
    """
    hosts = dict((item["metadata"]["name"], item) for item in objects["BareMetalHost"])
    names, found, wrong = list(names), [], []
    for name in names:
        subject = subject_of(namespace, name)
        if names.count(name) > 1:
            wrong.append(Problem(code, subject, "hosts", "named twice", "each host once"))
        elif name not in hosts:
            wrong.append(Problem(code, subject, "hosts", "no such BareMetalHost", "a host of this namespace",
                                 "correct the name or namespace"))
        else:
            found.append(hosts[name])
    return found, wrong


def machine_of(host: Object, objects: Mapping[str, list[Object]]) -> Object | None:
    """Return the Machine whose Metal3Machine a host's consumerRef names, or None.

    :param objects: dict of kind to list of objects of the namespace
    """
    consumer = (host.get("spec") or {}).get("consumerRef") or {}
    metal3_machine = next((item for item in objects["Metal3Machine"] if consumer.get("kind") == "Metal3Machine"
                           and item["metadata"]["name"] == consumer.get("name")), None)
    owner = next((reference["name"] for reference in ((metal3_machine or {}).get("metadata") or {}).get(
        "ownerReferences") or [] if reference.get("kind") == "Machine"), None)
    return next((item for item in objects["Machine"] if item["metadata"]["name"] == owner), None)


def lost(host: Object, machine: Object | None, host_now: Object | None, machine_now: Object | None) -> str:
    """Return what of a host and its Machine is gone, or another one, by now, in words; empty when nothing is.

    A host that had no Machine may have one by now.

    :param host: the BareMetalHost as it was checked
    :param machine: its Machine then, or None
    :param host_now: the BareMetalHost of the name by now, or None
    :param machine_now: the Machine that is on it by now, or None
    """
    if host_now is None:
        return "found no such BareMetalHost any more; look for who has deleted it"
    if uid_of(host_now) != uid_of(host):
        return "found another BareMetalHost of this name, expected the one of before; look at it, then run again"
    if machine is not None and uid_of(machine_now) != uid_of(machine):
        found = f"Machine {machine_now['metadata']['name']}" if machine_now else "no Machine"
        return f"found {found} on it by now, expected the one of before; run again"
    return ""
