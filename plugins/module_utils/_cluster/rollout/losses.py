# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines a change of a cluster deletes, and its confirmation; pure.

What is on their disks is lost, also when another machine has taken their place before.
"""
from __future__ import annotations

from collections import namedtuple

from ..._common.options import confirmation
from ..._common.problems.problem import Problem
from ..._host.state import lock as host_lock
from ..._kube.objects.finalizers import is_going
from ..machines.actions import is_preferred
from ..workflow.metalstack import server_of
from ..workflow.topology import groups_of

# REPLACED: others take their place afterwards, ROLLED: before.
REMOVED, SCALED, REPLACED, ROLLED = "removed", "scaled", "replaced", "rolled"

# owner, kind: of the machines; cause: one of those above; count: how many machines go; machines: (Machine, host or
# None) of all that it may be, which for fewer replicas are all of the owner's.
Loss = namedtuple("Loss", ["owner", "kind", "cause", "count", "machines"])


def losses(description, changes, removed, snapshot):
    """Return the Losses of a plan.

    :param changes: as ``cluster_rollout.preview`` returns them
    :param removed: objects that the plan deletes
    :param snapshot: a workflow Snapshot of the present state
    """
    in_place = dict((owner, not makes_room_first(group))
                    for owner, group in groups_of(description, snapshot.owners()).items())
    found = []
    for change in changes:
        owner = snapshot.get(change["kind"], change["owner"])
        machines = _machines(snapshot, owner) if owner else []
        after = change["replicas_after"]
        fewer = after is not None and after < (change["replicas_before"] or 0)
        replaced = [(machine, host) for machine, host in machines if machine in change["machines"]]
        # Nothing is on a machine that has never become a node, such as one whose description is being corrected.
        nodes = [(machine, host) for machine, host in replaced if snapshot.node_of(machine)]
        if change["rolls"] and in_place.get(change["owner"]) and replaced:
            found.append(Loss(change["owner"], change["kind"], REPLACED, len(replaced), replaced))
        elif change["rolls"] and nodes:
            found.append(Loss(change["owner"], change["kind"], ROLLED, len(nodes), nodes))
        else:
            replaced = []
        if fewer:
            # Those that are replaced are counted already; of the others too many may be left.
            rest = [item for item in machines if item not in replaced]
            found.append(_scaled(change, rest, max(0, len(rest) - after), snapshot))
    found += [Loss(item["metadata"]["name"], item["kind"], REMOVED, len(_machines(snapshot, item)),
                   _machines(snapshot, item)) for item in removed if item["kind"] in ("MachineDeployment", "Machine")]
    return [loss for loss in found if loss.count]


def _scaled(change, machines, number, snapshot):
    """Return the Loss by fewer replicas: those that are marked to go first, when these are all."""
    marked = [(machine, host) for machine, host in machines if is_preferred(snapshot.get("Machine", machine))]
    return Loss(change["owner"], change["kind"], SCALED, number, marked if len(marked) == number else machines)


def _rolled(change, snapshot):
    machines = _machines(snapshot, snapshot.get(change["kind"], change["owner"]))
    return Loss(change["owner"], change["kind"], ROLLED, len(change["machines"]),
                [item for item in machines if item[0] in change["machines"]])


def makes_room_first(group):
    """Say whether a rollout makes a new machine before it takes an old one away, and never has less than wanted.

    :param group: as ``cluster_description.groups`` returns it
    """
    return not (_is_zero(group.get("max_surge")) or not _is_zero(group.get("max_unavailable") or 0))


def _is_zero(value):
    return value is not None and str(value).rstrip("%").strip("0") == ""


def _machines(snapshot, owner):
    """Return ``(Machine, host or None)`` of the machines of an owner that are not going already."""
    found = []
    for machine in snapshot.machines_of(owner):
        if not is_going(machine):
            infrastructure = snapshot.infrastructure_machine(machine)
            host = snapshot.host(infrastructure)
            found.append((machine["metadata"]["name"],
                          host["metadata"]["name"] if host else server_of(infrastructure)))
    return found


def lock_problems(subject, found, changes, snapshot, now):
    """Return why machines do not go: somebody has locked their hosts.

    :param subject: what messages call the cluster
    :param found: list of Loss
    :param changes: as ``cluster_rollout.preview`` returns them; machines that are no Loss go, too
    :param snapshot: a workflow Snapshot of the present state
    :param now: seconds since 1970
    """
    result, counted = [], [loss.owner for loss in found]
    unlost = [_rolled(change, snapshot) for change in changes
              if change["rolls"] and change["machines"] and change["owner"] not in counted]
    for loss in found + unlost:
        hosts = [snapshot.get("BareMetalHost", host) for _machine, host in loss.machines if host]
        problems = host_lock.problems(f"{subject}: {loss.kind} {loss.owner}", "", hosts, now)
        if loss.cause == SCALED and loss.count < len(loss.machines):
            # Cluster API chooses; those that are marked go first.
            problems = [problem._replace(hint=f"{problem.hint}, or mark {_number(loss.count)} on other hosts (playbook "
                                         "machine_action, mark_for_scale_in)") for problem in problems]
        result += problems
    return result


def count(found):
    """Return how many machines go in all."""
    return sum(loss.count for loss in found)


def by_owner(found):
    """Return ``{(kind, name): list of its Losses}``: of one owner some may be replaced while others go."""
    result = {}
    for loss in found:
        result.setdefault((loss.kind, loss.owner), []).append(loss)
    return result


def lines(found):
    """Return a line for each Loss, with its machines and their hosts."""
    return ["%s %s %s: %s" % (loss.kind, loss.owner, _what(loss), ", ".join(
        "%s %s" % (machine, f"on host {host}" if host else "without a host") for machine, host in loss.machines))
        for loss in found]


def _what(loss):
    total = len(loss.machines)
    if loss.cause == REMOVED:
        return f"is deleted with its {_number(total)}"
    if loss.cause == REPLACED:
        return f"replaces its {_number(total)}, each before another has taken its place (max_surge, max_unavailable)"
    if loss.cause == ROLLED:
        return f"replaces its {_number(total)}, one after another, each when another has taken its place"
    return "loses %s%s" % (_number(loss.count), f" out of these {total}" if total > loss.count else "")


def _number(number):
    return "%d machine%s" % (number, "" if number == 1 else "s")


def confirmation_problem(cluster, found, given, by_name=False, notes=(), figures=()):
    """Return the Problem when the number of machines was not repeated as it is, else None.

    :param cluster: ``<namespace>/<name>`` of the cluster
    :param found: list of Loss
    :param given: the option ``confirm``: the number, or ``<namespace>/<name>:<number>``, several with commas between
    :param by_name: whether a number alone does not count, because it would count for each cluster of the run
    :param notes: lines that who confirms should know
    :param figures: lines about time, hosts, addresses and disks
    """
    number = count(found)
    named = f"{cluster}:{number}"
    texts = [part.strip() for part in str(given or "").split(",")]
    if not number or named in texts or (not by_name and texts == [str(number)]):
        return None
    expected = f"{number}, the number of machines that this deletes with what is on their disks"
    advice = f"set metal3_confirm={number} (module option confirm)"
    if by_name:
        expected = f"{named}, the cluster with {expected}"
        advice = (f"set metal3_confirm={named} (module option confirm; several with commas between): the run is for "
                  "several clusters, and a number alone would count for each of them")
    asked = Problem("confirmation-missing", f"cluster {cluster}", "confirm", given or None, expected,
                    f"correct the description, or to continue {advice}")
    return confirmation.with_lines(asked, [*lines(found), *figures], notes)


def going(found):
    """Return ``{owner: (Machine, host or None) of those that go}``, without those of which Cluster API chooses some."""
    return dict((owner, [machine for loss in entries if loss.count == len(loss.machines) for machine in loss.machines])
                for (_kind, owner), entries in by_owner(found).items())


def owners_of_replaced(found):
    """Return the names of the owners that make other machines in the place of those that go."""
    return sorted(set(loss.owner for loss in found if loss.cause in (REPLACED, ROLLED)))


def as_result(found):
    """Return Losses as a module returns them."""
    return [{"owner": loss.owner, "kind": loss.kind, "cause": loss.cause, "count": loss.count,
             "machines": [{"machine": machine, "host": host} for machine, host in loss.machines]} for loss in found]
