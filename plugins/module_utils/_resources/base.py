# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Bare Metal Operator's resources beside the BareMetalHost have in common: fields, checks, verdicts; pure.

A family is one kind. Its description is all that the shared service (``service.py``) and the modules know of it.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._common.options import field_checks
from .._common.options.field_checks import show, text_of
from .._common.options.fields import METADATA, Field, as_read, check_fields, to_crd
from .._common.problems.problem import Problem
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._host.actions.actions import contains
from .._host.description import annotations as host_annotations
from .._host.description.objects import API_VERSION
from .._host.state import lock as host_lock
from .._host.state.errors import explain
from .._host.state.goals import error_of

HOST = "BareMetalHost"
Object = dict[str, Any]


class Family:
    """Base of all families; the attributes are those of a kind that needs nothing special.

    :ivar kind: the Kubernetes kind
    :ivar option: name of the module's list option, and of the list in results
    :ivar fields: Fields of ``spec``
    :ivar goals: goals that a wait can have, beside ``deleted``
    :ivar of_host: whether an object bears its host's name
    :ivar removable: whether objects can be absent; False for what BMO makes for each host
    :ivar metadata: Fields of an entry beside ``spec``
    :ivar reads: kinds that checks and facts look at beside their own
    :ivar watches: kinds that a wait looks at beside its own
    :ivar has_table: whether results have a table
    :ivar has_schema: whether objects have a schema that can be shown
    :ivar wakes_hosts: whether BMO is asked to look at the hosts at once when what was waited for is done
    :ivar moves_server: whether BMO switches, boots or flashes the server for a change, which a lock of the host forbids
    :ivar clears_conditions: whether the conditions go before the spec is changed, so that BMO sets them again
    """

    kind: str
    option: str
    fields: tuple[Field, ...] = ()
    goals: tuple[str, ...] = ()
    of_host = True
    removable = True
    metadata: tuple[Field, ...] = METADATA
    reads: tuple[str, ...] = (HOST,)
    watches: tuple[str, ...] = (HOST,)
    clears_conditions = wakes_hosts = moves_server = False
    has_table = has_schema = False

    def check(self, label: str, entry: Object) -> list[Problem]:
        """Return the Problems of a well-typed entry by itself."""
        return []

    def check_list(self, labelled: list[tuple[str, Object]]) -> list[Problem]:
        """Return the Problems that show only when all entries are compared with each other.

        :param labelled: list of pairs: label, well-typed entry
        """
        return []

    def check_against(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        """Return the Problems of an entry against what is there.

        :param current: the stored object, or None
        :param index: an ObjectIndex
        """
        return []

    def secrets(self, entry: Object) -> list[tuple[str | None, str]]:
        """Return namespace (None for the entry's own) and name of the Secrets that :meth:`check_against` looks at."""
        return []

    def spec(self, entry: Object) -> Object:
        """Return the ``spec`` that an entry asks for."""
        return to_crd(self.fields, entry)

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """Return the Verdict on an object.

        :param obj: the object, or None
        :param index: an ObjectIndex
        :param goal: one of :attr:`goals`
        :param before: the host as it was before the wait, or None
        """
        return Verdict(REACHED, "", "")

    def is_lasting(self, obj: Any, verdict: Verdict) -> bool:
        """True when a failure stays one, whatever becomes of the host."""
        return False

    def doubts(self, before: Any, obj: Any) -> list[str]:
        """Return as texts what about an object that has reached the goal V(applied) is not certain.

        :param before: the object before the run, or None
        :param obj: the object after the wait
        """
        return []

    def is_held_up(self, obj: Any, index: ObjectIndex, before: Any) -> bool:
        """True when BMO pauses after a failure that was there before the wait, and would do now what is asked for."""
        return False

    def has_new_pause(self, obj: Any, index: ObjectIndex) -> bool:
        """True when BMO has finished what was asked for, and nobody has ended its pauses since."""
        return False

    def deletion_verdict(self, obj: Any, index: ObjectIndex) -> Verdict:
        """Return the Verdict on an object that is to be gone."""
        return Verdict(REACHED, "", "") if obj is None else Verdict(WAITING, "its finalizer is still there", "")

    def since(self, obj: Any, before: Any) -> Any:
        """Return an object without what is of the time before this run has changed it, for the verdict on it.

        :param obj: the object by now, or None
        :param before: the object before the run, or None
        """
        return obj

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """Return what results say of an object, beside name and namespace."""
        return {}

    def schema(self, obj: Any, index: ObjectIndex) -> Object:
        """Return the schema of an object; of families with :attr:`has_schema` only."""
        return {}

    def table(self, items: list[Object], width: int | None = None) -> list[str]:
        """Return the lines of a table of results; none when the family has no table.

        :param items: results
        :param width: columns of the terminal; None for any number
        """
        return []


class ObjectIndex:
    """Objects by kind, namespace and name.

    :param objects: ``{kind: list of objects}``
    """

    def __init__(self, objects: Mapping[str, list[Object]]) -> None:
        self._objects: dict[tuple[str, Any, Any], Object] = {}
        for kind, items in objects.items():
            self.add(kind, items)

    def add(self, kind: str, items: list[Object]) -> None:
        """Take in more objects of a kind."""
        self._objects.update(((kind, item["metadata"].get("namespace"), item["metadata"]["name"]), item)
                             for item in items)

    def get(self, kind: str, namespace: Any, name: Any) -> Any:
        """Return one object, or None."""
        return self._objects.get((kind, namespace, name))

    def host_of(self, obj: Any) -> Any:
        """Return the BareMetalHost of an object's name, or None."""
        return self.get(HOST, obj["metadata"].get("namespace"), obj["metadata"]["name"])


def check_host(family: Family, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
    """Return the Problem of an object to be made that would bear the name of a host that is not there.

    :param current: the stored object, or None
    :param index: an ObjectIndex
    """
    if not family.of_host or current is not None or index.get(HOST, entry.get("namespace"), entry["name"]):
        return []
    return [Problem("resource", label, "name", show(entry["name"]), "the name of a BareMetalHost of namespace %s" % (
        entry.get("namespace")), "correct it, or enrol the host first")]


def check_lock(family: Family, entry: Object, current: Object | None, index: ObjectIndex, now: float) -> list[Problem]:
    """Return the Problem of a change for which the server of a locked host would be switched or booted, in a list.

    :param current: the stored object, or None
    :param index: an ObjectIndex
    :param now: seconds since 1970
    """
    stored = (current or {}).get("spec") or {}
    if not family.moves_server or all(contains(stored.get(key), value) for key, value in family.spec(entry).items()):
        return []
    bmh = index.get(HOST, entry.get("namespace"), entry["name"])
    return host_lock.problems(entry["name"], family.option, [bmh], now)


def entry_fields(family: Family) -> tuple[Field, ...]:
    """Return the Fields of a family's entries."""
    return family.metadata + family.fields


def label_of(family: Family, entry: Object, position: int) -> str:
    """Return the name by which problems call an entry."""
    name = entry.get("name") if isinstance(entry, dict) else None
    return f"{family.kind} {name}" if isinstance(name, str) and name else f"{family.option}[{position}]"


def check_raw(family: Family, entries: Any) -> list[Problem]:
    """Check entries of any type, with all mistakes reported.

    :param entries: what was given as the family's option
    :returns: list of Problem
    """
    if not isinstance(entries, list):
        return [
            Problem("resource", family.option, "", field_checks.show(entries), "a list", "give a list of dictionaries")
        ]
    problems, typed = [], []
    for position, entry in enumerate(entries):
        if isinstance(entry, dict):
            entry = as_read(entry_fields(family), entry)
        label = label_of(family, entry, position)
        if not isinstance(entry, dict):
            problems.append(Problem("resource", label, "", field_checks.show(entry), "a dictionary", "correct it"))
            continue
        wrong = check_fields(label, "", entry_fields(family), entry)
        problems += wrong
        faulty = set(_head(item.field) for item in wrong)
        # An option that is left out here because of its type must not be called missing as well.
        typed.append((label, dict((option, value) for option, value in entry.items() if option not in faulty)))
    reported = set((item.subject, _head(item.field)) for item in problems)
    return problems + [item for item in check_typed(family, typed) if (item.subject, _head(item.field)) not in reported]


def _head(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def check_typed(family: Family, labelled: list[tuple[str, Object]]) -> list[Problem]:
    """Check well-typed entries by themselves and against each other.

    :param labelled: list of pairs: label, entry
    :returns: list of Problem
    """
    problems, names = [], set()
    for label, entry in labelled:
        name = entry.get("name")
        if not field_checks.is_name(name or ""):
            problems.append(
                Problem("resource", label, "name", field_checks.show(name or ""), field_checks.NAME_RULE, "rename it")
            )
        if name in names:
            problems.append(
                Problem("resource", label, "name", "it twice", "one entry for each name", "join or remove one of them")
            )
        names.add(name)
        problems += field_checks.check_metadata(label, entry)
        if entry.get("state") != "absent":
            problems += family.check(label, entry)
    present = [(label, entry) for label, entry in labelled if entry.get("state") != "absent"]
    return problems + family.check_list(present)


def desired(family: Family, entry: Object, namespace: str | None) -> Object:
    """Return the object that an entry asks for."""
    metadata = {"name": entry["name"], "namespace": namespace}
    for kind in ("labels", "annotations"):
        if entry.get(kind):
            metadata[kind] = dict((str(key), text_of(value)) for key, value in entry[kind].items())
    return {"apiVersion": API_VERSION, "kind": family.kind, "metadata": metadata, "spec": family.spec(entry)}


def host_verdict(host: Any, before: Any) -> Verdict:
    """Return why a host can't be worked with, or what it is doing: a Verdict that is FAILED or WAITING.

    :param host: the BareMetalHost, or None
    :param before: the host before the wait, or None: an error that was there then is not this run's
    """
    if host is None:
        return Verdict(FAILED, "there is no BareMetalHost of this name", "enrol the host first")
    if host_annotations.PAUSED in host_annotations.of(host):
        return Verdict(FAILED, "the host is paused, so BMO does nothing with it",
                       f"remove the annotation {host_annotations.PAUSED}")
    if (host.get("status") or {}).get("operationalStatus") == "detached":
        return Verdict(FAILED, "the host is detached, so BMO does not manage it",
                       f"remove the annotation {host_annotations.DETACHED}")
    kind, text, count = error_of(host)
    if count:
        explanation = explain(kind, text)
        old = error_of(before)
        fresh = count > old[2] or text != old[1]
        return Verdict(FAILED if fresh else WAITING, explanation.cause, explanation.next_step, f"{kind}: {text}")
    return Verdict(WAITING, "", "")


def is_working(host: Any) -> bool:
    """True while a host's firmware may be in change: it is prepared or serviced."""
    status = (host or {}).get("status") or {}
    return (status.get("provisioning") or {}).get("state") == "preparing" \
        or status.get("operationalStatus") == "servicing"
