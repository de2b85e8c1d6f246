# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An upgrade of a plane's parts: its steps in order, what stands against it, and what it interrupts; pure."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._bmc.addresses.schemes import REMOVED
from ..._common.options import confirmation
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._host.state.goals import AVAILABLE, RUNNING
from ..parts import matrix
from ..parts.catalogue import PARTS, Part
from ..parts.fit import Plane, Planned, number

Object = dict[str, Any]

# How many objects a message names.
NAMED = 5
# States that a host leaves only when somebody changes its spec; "" and None have no work behind them yet.
SETTLED = ("", None, "unmanaged", *AVAILABLE, *RUNNING)
# Parts that work on hosts.
ON_HOSTS = ("bmo", "capm3", "ironic")
_EFFECT = ("upgrades %s: until each is up again, nothing is done for what it manages, and the definitions of another "
           "minor cannot go back once objects are stored by them")
_SCHEME = re.compile(r"([A-Za-z0-9-]+)(?:\+https?)?:")
_LEGACY_PROVIDER_ID = re.compile(r"metal3://[^/]+")


class Step(NamedTuple):
    """One part that becomes newer.

    :ivar part: the Part
    :ivar found: version that is there
    :ivar planned: version that is to be installed
    :ivar namespace: where it is, None for upstream's
    """

    part: Part
    found: str
    planned: str
    namespace: str | None = None

    @property
    def minors(self) -> int:
        """How many minors the step has; of another major more than any part may have."""
        before, after = number(self.found), number(self.planned)
        return after[1] - before[1] if after[0] == before[0] else 1000


class Managed(NamedTuple):
    """What the parts manage, as far as gates ask for it.

    :ivar hosts: BareMetalHosts of all namespaces
    :ivar machines: Metal3Machines of all namespaces
    :ivar deployments: Deployments of all namespaces
    """

    hosts: list[Object]
    machines: list[Object]
    deployments: list[Object]


def steps(there: Plane, planned: Mapping[str, Planned], parts: Iterable[Part] = PARTS) -> list[Step]:
    """Return the parts that become newer, in the order in which they are upgraded.

    :param there: what is in the cluster
    :param planned: part's name → what is to be installed
    :param parts: all parts, in the order in which they are upgraded
    """
    found = []
    for part in parts:
        mine, item = planned.get(part.name), there.parts.get(part.name)
        if mine is not None and item is not None and () < number(item.version) < number(mine.version):
            found.append(Step(part, str(item.version), str(mine.version), item.namespace))
    return found


def problems(due: Iterable[Step], managed: Managed) -> list[Problem]:
    """Return what stands against an upgrade, of all its steps.

    :param due: from :func:`steps`
    """
    found = []
    for step in due:
        found += _length(step)
        if step.part.name == "bmo":
            found += _schemes(step, managed.hosts)
        found += _provider_ids(step, managed.machines)
    names = [step.part.name for step in due if step.part.name in ON_HOSTS]
    return found + (transitions(names, managed.hosts) if names else [])


def _length(step: Step) -> list[Problem]:
    limit = matrix.STEP.get(step.part.name, matrix.OTHER_STEP)
    if step.minors <= limit:
        return []
    minors = "one minor" if limit == 1 else f"{limit} minors"
    return [Problem("upgrade-too-far", f"part {step.part.name}", "version", f"{step.found} to {step.planned}",
                    f"a step of at most {minors}", "install a version between first")]


def _schemes(step: Step, hosts: list[Object]) -> list[Problem]:
    """Return hosts whose BMC address the new operator no longer knows, and with it the driver in Ironic."""
    found = []
    for host in hosts:
        address = str(((host.get("spec") or {}).get("bmc") or {}).get("address") or "")
        match = _SCHEME.match(address)
        removed, instead = REMOVED.get(match.group(1) if match else "", ("", ""))
        if removed and number(f"{removed}.0")[:2] <= number(step.planned)[:2]:
            found.append(Problem("upgrade-scheme-removed", f"BareMetalHost {_name(host)}", "spec.bmc.address",
                                 f"the scheme {match.group(1) if match else ''}",
                                 f"one that {step.part.title} {step.planned} has; {removed} removed this one",
                                 f"change the address to {instead} first"))
    return found


def asks_for_machines(step: Step) -> bool:
    """Say whether a step asks what Metal3Machines have; of any other one they need not be read.

    A release that stores them in another version reads those of before through its webhook, which a run that was killed
    after the definitions, or went back to the former pods, has left without a program: the next run must come up to it.
    """
    before, after = number(step.found), number(step.planned)
    return step.part.name == "capm3" and before[1] <= matrix.LEGACY_PROVIDER_ID < after[1]


def _provider_ids(step: Step, machines: list[Object]) -> list[Problem]:
    if not asks_for_machines(step):
        return []
    names = [_name(item) for item in machines
             if _LEGACY_PROVIDER_ID.fullmatch(str((item.get("spec") or {}).get("providerID") or ""))]
    return [Problem("upgrade-provider-id", "Metal3Machine", "spec.providerID",
                    f"{len(names)} with the UID of a host alone ({few(names, NAMED)})",
                    f"metal3://<namespace>/<host>/<machine>, which is all that {step.part.title} {step.planned} knows",
                    "replace these machines first, for example by a rollout of their MachineDeployment")
            ] if names else []


def transitions(names: list[str], hosts: list[Object]) -> list[Problem]:
    """Return a problem with hosts that are worked on; of one in error nothing is lost.

    :param names: names of the parts that are started again
    :param hosts: BareMetalHosts
    """
    busy = sorted(f"{_name(host)}: {_activity(host)}" for host in hosts if _activity(host))
    return [Problem("upgrade-host-in-transition", f"part {' and '.join(names)}", "BareMetalHost",
                    f"{len(busy)} in transition ({few(busy, NAMED)})", "none",
                    "wait until they have reached their state, then run again")] if busy else []


def _activity(host: Object) -> str:
    status = host.get("status") or {}
    state = (status.get("provisioning") or {}).get("state")
    if status.get("errorType"):
        return ""
    if state not in SETTLED:
        return str(state)
    return "servicing" if status.get("operationalStatus") == "servicing" else ""


def interrupted(due: Iterable[Step], deployments: list[Object]) -> list[str]:
    """Return the names of parts whose upgrade must be confirmed.

    A patch replaces pod by pod, and can go back to the release before. That of another minor brings definitions that
    cannot go back once objects are stored by them, and a Deployment that is stopped first does not answer meanwhile.
    """
    stopped = set((item["metadata"].get("namespace"), item["metadata"]["name"]) for item in deployments
                  if (item["spec"].get("strategy") or {}).get("type") == "Recreate")
    return [step.part.name for step in due if step.minors or any(
        (step.namespace or step.part.namespace, name) in stopped for name in step.part.images)]


def described(due: Iterable[Step], names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the steps as modules return them.

    :param names: from :func:`interrupted`
    """
    names = list(names)
    return [{"part": step.part.name, "found": step.found, "planned": step.planned,
             "interrupts": step.part.name in names} for step in due]


def newer(name: str, found: str | None, planned: str | None, hint: str) -> list[Problem]:
    """Return a problem with a part that would become older.

    :param name: of the part
    :param found: version that is there, or None when nothing says which
    :param planned: version that is to be installed, or None
    :param hint: what to do
    """
    if not number(found) > number(planned) > ():
        return []
    return [Problem("part-newer", f"part {name}", "version", show(found), f"{planned} or older", hint)]


def unconfirmed(upgrades: Iterable[Mapping[str, Any]], given: Any, planes: Sequence[str]) -> str:
    """Return the message that asks for the confirmation of what interrupts, empty when it is confirmed.

    :param upgrades: from :func:`described`
    :param given: what the user gave; None or empty for nothing
    :param planes: names of all planes that get what the user gave
    """
    names = [item["part"] for item in upgrades if item["interrupts"]]
    return confirmation.missing(_EFFECT, names, given, "part", planes) if names else ""


def _name(obj: Object) -> str:
    return "/".join(filter(None, (obj["metadata"].get("namespace"), obj["metadata"]["name"])))
