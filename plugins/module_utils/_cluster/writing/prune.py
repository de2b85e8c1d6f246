# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a cluster nobody needs any more: pools of workers, templates, pools of addresses; pure."""
from __future__ import annotations

from ..._host.description.objects import MANAGED_BY_LABEL, MANAGER
from ..._ipam.claim import pool_of
from ..._ipam.usage import CLAIM_KINDS, usage
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..description.model import named_pools
from ..description.providers import CLASS_KINDS
from ..render.objects import MACHINE_TEMPLATE_KINDS, TEMPLATE_KINDS
from ..workflow.snapshot import CLUSTER_LABEL, SET_LABEL, cloned_from, is_standalone
from ..workflow.topology import is_made_of_topology

# Kinds whose absence from the description takes the object away.
PRUNED_KINDS = ("MachineDeployment", "Machine", "Metal3Machine", "KubeadmConfig", "MachineHealthCheck",
                "Metal3RemediationTemplate")


def ours(obj, cluster):
    """Say whether an object was made by this collection for a cluster."""
    labels = obj["metadata"].get("labels") or {}
    return labels.get(MANAGED_BY_LABEL) == MANAGER and labels.get(CLUSTER_LABEL) == cluster


def undescribed(objects, desired, cluster):
    """Return objects of ours that the description has no more: pools of workers and what belongs to them.

    :param objects: dict of kind to list of objects
    :param desired: list of rendered objects
    """
    wanted = set((item["kind"], item["metadata"]["name"]) for item in desired)
    return [item for kind in PRUNED_KINDS for item in objects.get(kind) or []
            if ours(item, cluster) and (kind, item["metadata"]["name"]) not in wanted
            and not _goes_with_another(item) and not is_made_of_topology(item)]


def _goes_with_another(item):
    """Say whether an object is deleted by what owns it; a Machine that was never made owns nothing yet."""
    if item["kind"] == "Machine":
        return not is_standalone(item)
    return item["kind"] in ("Metal3Machine", "KubeadmConfig") and bool(item["metadata"].get("ownerReferences"))


def removed(objects, desired, description, prune):
    """Return what an apply of a description deletes: what it has no more, or only the pools that it says are absent.

    :param objects: dict of kind to list of objects
    :param desired: list of rendered objects, and of stored ones that stay
    :param prune: whether what is not described any more goes
    """
    found = undescribed(objects, desired, description.name)
    names = set(f"{description.name}-{name}"
                for name in description.absent_workers + description.absent_standalone_machines)
    return [item for item in found if prune or item["metadata"]["name"] in names]


def unused_templates(objects, desired, cluster):
    """Return the templates of ours that neither the description nor a machine refers to.

    :param objects: dict of kind to list of objects: templates, MachineSets, Machines, Metal3Machines, KubeadmConfigs
    :param desired: list of rendered objects
    """
    kinds = (*TEMPLATE_KINDS, *CLASS_KINDS)
    used = set((item["kind"], item["metadata"]["name"]) for item in desired if item["kind"] in kinds)
    machines = objects.get("Machine") or []
    known = set(machine["metadata"].get("uid") for machine in machines)
    sets = set((machine["metadata"].get("labels") or {}).get(SET_LABEL) for machine in machines)
    for machine in objects.get("Metal3Machine") or []:
        used.add(("Metal3MachineTemplate", cloned_from(machine)))
        used.add(("Metal3DataTemplate", (machine["spec"].get("dataTemplate") or {}).get("name")))
    used |= set(("MetalStackMachineTemplate", cloned_from(item)) for item in objects.get("MetalStackMachine") or [])
    for config in objects.get("KubeadmConfig") or []:
        # The garbage collector takes those of Machines that are gone away in its own time.
        if not _is_orphan(config, known):
            used.add(("KubeadmConfigTemplate", cloned_from(config)))
    for item in objects.get("MachineSet") or []:
        # Not by its status, which says some time later that there is no machine any more.
        if item["spec"].get("replicas") or item["metadata"]["name"] in sets:
            template = item["spec"]["template"]["spec"]
            used |= set((kind, template["infrastructureRef"]["name"]) for kind in MACHINE_TEMPLATE_KINDS)
            used.add(("KubeadmConfigTemplate", (template["bootstrap"].get("configRef") or {}).get("name")))
    for template in objects.get("Metal3MachineTemplate") or []:
        if ("Metal3MachineTemplate", template["metadata"]["name"]) in used:
            data = template["spec"]["template"]["spec"].get("dataTemplate") or {}
            used.add(("Metal3DataTemplate", data.get("name")))
    return [item for kind in kinds for item in objects.get(kind) or []
            if ours(item, cluster) and (kind, item["metadata"]["name"]) not in used
            and not is_going(item) and not is_made_of_topology(item)]


def _is_orphan(obj, known):
    """Say whether an object is owned by Machines of which none is there.

    :param known: uids of the Machines
    """
    owners = [owner.get("uid") for owner in obj["metadata"].get("ownerReferences") or [] if owner["kind"] == "Machine"]
    return bool(owners) and not known.intersection(owners)


def undescribed_pools(objects, addresses, desired, cluster):
    """Return the IPPools of ours that the description has no more, as ``(pool, users)``.

    :param objects: dict of kind to list of objects: templates and what uses them, IPPools and claims
    :param addresses: IPAddress objects of both kinds
    :param desired: list of rendered objects
    :returns: list of pairs; ``users`` is a list of words for what still needs the pool. A claim that is being deleted
        does not: IPAM keeps a pool that is being deleted until the last of them is gone.
    """
    wanted = set(item["metadata"]["name"] for item in desired if item["kind"] == "IPPool")
    unused = set(item["metadata"]["name"] for item in unused_templates(objects, desired, cluster))
    templates = [item for item in objects.get("Metal3DataTemplate") or [] if item["metadata"]["name"] not in unused]
    claims = [claim for kind in CLAIM_KINDS for claim in objects.get(kind) or []]
    return [(pool, _templates_with(templates, pool) + _holders(pool, addresses, claims))
            for pool in objects.get("IPPool") or []
            if ours(pool, cluster) and pool["metadata"]["name"] not in wanted and not is_going(pool)]


def used_by_others(objects, pool, cluster):
    """Return in words who else needs an IPPool of a cluster: other clusters, and claims that are nobody's.

    What is being deleted does not count, nor what is left of a cluster that is not there any more.

    :param objects: dict of kind to list of objects: Clusters, Metal3DataTemplates and claims
    :param cluster: name of the cluster that goes
    """
    name = pool["metadata"]["name"]
    others = set(item["metadata"]["name"] for item in objects.get("Cluster") or [] if not is_going(item)) - {cluster}
    templates = [item for item in objects.get("Metal3DataTemplate") or []
                 if _cluster_of(item) in others and not is_going(item) and name in named_pools(item.get("spec"))]
    claims = [claim for kind in CLAIM_KINDS for claim in objects.get(kind) or []
              if pool_of(claim) == name and not is_going(claim)
              and (_cluster_of(claim) in others or _is_nobodys(claim))]
    return sorted(f"{title_of(item)} of {_owner_in_words(item)}" for item in templates + claims)


def _cluster_of(item):
    return (item["metadata"].get("labels") or {}).get(CLUSTER_LABEL) or (item.get("spec") or {}).get("clusterName")


def _is_nobodys(claim):
    """Say whether a claim was made by hand; CAPM3's have the Metal3Data of their machine as owner."""
    return _cluster_of(claim) is None and not claim["metadata"].get("ownerReferences")


def _owner_in_words(item):
    cluster = _cluster_of(item)
    return f"cluster {cluster}" if cluster else "no cluster"


def _templates_with(templates, pool):
    return [f"Metal3DataTemplate {item['metadata']['name']}" for item in templates
            if _mentions(item["spec"], pool["metadata"]["name"])]


def _mentions(value, name):
    if isinstance(value, dict):
        return any(_mentions(item, name) for item in value.values())
    if isinstance(value, list):
        return any(_mentions(item, name) for item in value)
    return value == name


def _holders(pool, addresses, claims):
    going = set(claim["metadata"]["name"] for claim in claims if is_going(claim))
    used = usage(pool, addresses, claims)
    return [f"{entry['address']} of {entry['owner'] or entry['claim'] or entry['object']}"
            for entry in used["allocations"] if entry["claim"] not in going] + [
        entry["claim"] for entry in used["unanswered"] if entry["claim"].partition("/")[2] not in going]
