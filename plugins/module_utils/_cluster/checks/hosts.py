# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts a group of machines can have, by CAPM3's own rules, and whether there are enough; pure.

Sources: CAPM3 ``baremetal/metal3machine_manager.go`` (chooseHost). It chooses detached hosts like others, and BMO
deploys nothing on them (``host_state_machine.go``, checkDetachedHost).
"""
from __future__ import annotations

import collections

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._host.description import annotations as host_annotations
from ..._host.description import selector as host_selector
from ..._host.state.goals import AVAILABLE
from ..._kube.objects.finalizers import is_going
from ..description.model import CONTROL_PLANE

# States that lead to available without anybody's help.
_COMING = ("", "registering", "inspecting", "match profile", "preparing", "deprovisioning")
_NODE_REUSE_LABEL = "infrastructure.cluster.x-k8s.io/node-reuse"


def matches(host, group):
    """Say whether a BareMetalHost's labels satisfy the selector of a group."""
    return _satisfies(host, group.get("host_selector"), group.get("host_selector_expressions"))


def matching(hosts, metal3_machine):
    """Return the BareMetalHosts whose labels satisfy the selector of a Metal3Machine."""
    selector = (metal3_machine.get("spec") or {}).get("hostSelector") or {}
    return [host for host in hosts if _satisfies(host, selector.get("matchLabels"), selector.get("matchExpressions"))]


def _satisfies(host, labels, expressions):
    selector = host_selector.Selector(labels or {}, [
        host_selector.Expression(entry["key"], entry["operator"], entry.get("values") or [])
        for entry in expressions or []])
    return host_selector.matches(host["metadata"].get("labels") or {}, selector)


def keeper(role, owner):
    """Return what the label for node reuse says on the hosts that CAPM3 keeps for an owner's machines.

    :param role: of the machines, ``control-plane`` or another
    :param owner: name of their KubeadmControlPlane or MachineDeployment
    """
    # CAPM3, getControlPlaneName and getMachineDeploymentName.
    return f"{'cp' if role == CONTROL_PLANE else 'md'}-{owner}"


def refusal(host, keeper_name):
    """Return why a machine can't have a host, or none would come of it, or None when it is free.

    :param keeper_name: what :func:`keeper` returns for the machines that want a host
    """
    status = host.get("status") or {}
    consumer = (host.get("spec") or {}).get("consumerRef")
    annotations = host["metadata"].get("annotations") or {}
    state = (status.get("provisioning") or {}).get("state") or ""
    if consumer:
        return f"in use by {consumer.get('kind')} {consumer.get('name')}"
    if _is_kept(host, keeper_name):
        return f"kept for {host['metadata']['labels'][_NODE_REUSE_LABEL] or 'nobody'} (label {_NODE_REUSE_LABEL})"
    if is_going(host):
        return "being deleted"
    if status.get("errorMessage"):
        return f"in error: {' '.join(status['errorMessage'].split())}"
    if host_annotations.PAUSED in annotations:
        return f"paused (annotation {host_annotations.PAUSED})"
    for name in host_annotations.UNHEALTHY_MARKS:
        if name in annotations:
            return f"marked unhealthy (annotation {name})"
    if host_annotations.DETACHED in annotations:
        return f"detached (annotation {host_annotations.DETACHED})"
    if state not in AVAILABLE:
        return f"in state {state or '(none yet)'}"
    return None


def _is_kept(host, keeper_name):
    """Say whether a host waits for the machines of another owner, by its label for node reuse."""
    return (host["metadata"].get("labels") or {}).get(_NODE_REUSE_LABEL, keeper_name) != keeper_name


def is_free(host, group):
    """Say whether the machines of a group can have a host, as it is now."""
    return matches(host, group) and refusal(host, _keeper_of(group)) is None


def _keeper_of(group):
    return keeper(group.role, group.owner)


def mark_warnings(description, hosts):
    """Return a warning for each host whose mark does, or does not, keep it from the machines that match it.

    The mark unhealthy stays when the cause is gone: who has set it, or remediated its machine, must take it away. That
    of maintenance is this collection's own, also on a host whose machine was deleted meanwhile, and CAPM3 takes it.

    :param description: a ClusterDescription
    :param hosts: BareMetalHosts of its namespace
    """
    result = []
    for host in hosts:
        annotations = host["metadata"].get("annotations") or {}
        # One that comes from another plane is marked until it has arrived.
        marks = [name for name in host_annotations.UNHEALTHY_MARKS
                 if annotations.get(name, host_annotations.FOR_HOST_MOVE) != host_annotations.FOR_HOST_MOVE]
        if marks and any(is_free(_without(host, marks), group) for group in description.groups):
            reason = plain(annotations[marks[0]])
            result.append(
                f"BareMetalHost {host['metadata']['name']} matches and is marked unhealthy"
                f"{f' ({reason})' if reason else ''}, so that no machine takes it; once it is repaired, take the mark "
                "away (playbook host_action, mark_healthy)")
        elif host_annotations.MAINTENANCE in annotations and any(
                is_free(host, group) for group in description.groups):
            result.append(
                f"BareMetalHost {host['metadata']['name']} matches and is being maintained "
                f"({plain(annotations[host_annotations.MAINTENANCE])}), which does not keep machines from it: mark it "
                "unhealthy until it is done (playbook host_action, mark_unhealthy), or give it back (playbook "
                "maintain, return)")
        elif host_annotations.DETACHED in annotations and any(
                is_free(_without(host, [host_annotations.DETACHED]), group) for group in description.groups):
            result.append(
                f"BareMetalHost {host['metadata']['name']} matches and is detached, which does not keep machines from "
                "it, and nothing is deployed on it: attach it (playbook host_action, attach), or mark it unhealthy "
                "until then (mark_unhealthy)")
    return result


def _without(host, names):
    """Return a host as it would be without some of its annotations."""
    return dict(host, metadata=dict(host["metadata"], annotations=dict(
        (name, value) for name, value in host["metadata"]["annotations"].items() if name not in names)))


def as_free(host):
    """Return a host as it is when its machine is gone, or when it has come to where it is on its way to."""
    metadata = dict(host["metadata"], annotations={}, labels=dict(
        (name, value) for name, value in (host["metadata"].get("labels") or {}).items() if name != _NODE_REUSE_LABEL))
    spec = dict((name, value) for name, value in (host.get("spec") or {}).items() if name != "consumerRef")
    return dict(host, metadata=metadata, spec=spec, status={"provisioning": {"state": AVAILABLE[0]}})


def on_its_way(host, keeper_name):
    """Say whether a host that is not free will be, if nobody interferes; parameters as in :func:`refusal`."""
    status = host.get("status") or {}
    annotations = host["metadata"].get("annotations") or {}
    blocked = status.get("errorMessage") or is_going(host) \
        or any(name in annotations for name in (
            host_annotations.PAUSED, host_annotations.DETACHED, *host_annotations.UNHEALTHY_MARKS))
    state = (status.get("provisioning") or {}).get("state") or ""
    in_use = (host.get("spec") or {}).get("consumerRef") and state != "deprovisioning"
    return not blocked and not in_use and not _is_kept(host, keeper_name) and state in _COMING


def shortage(description, wanted, hosts, neighbours=()):
    """Return a mistake for each group that can't have as many hosts as it still needs.

    Groups whose selectors overlap share hosts; each host is counted for one of them only. Groups of clusters that are
    made at the same time count too, and those that have too few are reported when this cluster takes a host that they
    could have: the runs of both clusters decide alike, so that neither begins.

    :param description: the cluster's description
    :param wanted: list of ``(group, number of hosts still needed)``
    :param hosts: BareMetalHosts of the cluster's namespace
    :param neighbours: list of ``(needs, group, number of hosts still needed)``, see ``cluster_needs``
    """
    rows = [(description, group, count) for group, count in wanted] + list(neighbours)
    mine = description.subject
    return [line for line, takers in _too_few(sorted(rows, key=lambda row: row[0].name), hosts)
            if mine in takers or line.subject == mine]


def shortages(wanted, hosts):
    """Return the same for all groups of several clusters that share hosts.

    :param wanted: list of ``(the cluster's description, group, number of hosts still needed)``
    :param hosts: BareMetalHosts of the clusters' namespace
    """
    return [line for line, _takers in _too_few(wanted, hosts)]


def _too_few(wanted, hosts):
    """Yield ``(mistake, clusters that take hosts which the group could have)`` for each group that has too few."""
    candidates = [[number for number, host in enumerate(hosts) if is_free(host, group)]
                  for description, group, _count in wanted]
    holder = {}
    for number, (_description, _group, count) in enumerate(wanted):
        for _slot in range(count):
            # Without one now there is none later either; others may want any number of replicas.
            if not _take(number, candidates, holder):
                break
    for number, (description, group, count) in enumerate(wanted):
        got = list(holder.values()).count(number)
        if got < count:
            lost = dict((host, wanted[holder[host]][:2]) for host in candidates[number] if holder[host] != number)
            taken = dict((hosts[host]["metadata"]["name"], taker) for host, taker in lost.items())
            yield _mistake(description, group, count, got, hosts, taken), set(
                taker.subject for taker, _group in lost.values())


def _take(number, candidates, holder):
    """Find a host for one more machine of a group, moving other groups to other hosts where that helps.

    :returns: whether there is one
    """
    # By which group each host was found, and by which of its hosts each group: such a chain may be as long as there
    # are hosts.
    found_by, given_up = {}, {number: None}
    groups = collections.deque(given_up)
    while groups:
        group = groups.popleft()
        for host in candidates[group]:
            if host in found_by:
                continue
            found_by[host] = group
            if host not in holder:
                while host is not None:
                    holder[host] = found_by[host]
                    host = given_up[found_by[host]]
                return True
            if holder[host] not in given_up:
                given_up[holder[host]] = host
                groups.append(holder[host])
    return False


def _mistake(description, group, count, got, hosts, taken):
    """Return the mistake of a group with too few hosts.

    :param taken: name of a host to the description and the group that take it
    """
    matching = [host for host in hosts if matches(host, group)]
    if not hosts:
        actual = f"no BareMetalHost in namespace {description.namespace}"
        advice = "enrol servers first"
    elif not matching:
        actual = f"none of {len(hosts)} hosts with these labels"
        advice = "compare the selector with the hosts' labels"
    else:
        refusals = [(host["metadata"]["name"], refusal(host, _keeper_of(group))) for host in matching]
        reasons = [f"{name} is {reason}" for name, reason in refusals if reason]
        reasons += [f"{name} goes to {other.field} of {taker.subject}"
                    for name, (taker, other) in sorted(taken.items())]
        why = f" ({'; '.join(reasons)})" if reasons else ""
        actual = f"{got} free of {len(matching)} hosts that match{why}"
        advice = "free or enrol hosts, or ask for fewer replicas"
    return Problem("host-capacity", description.subject, group.field + ".host_selector", actual,
                   f"{count} available for as many machines", advice)
