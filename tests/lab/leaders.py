# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of several pods of a manager acts, by the lease that its leader holds; and a leader that is killed."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN


def apart(deployment):
    """Return an affinity by which a Deployment's pods are on nodes of their own, where there are enough."""
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
        "weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {
            "matchLabels": deployment["spec"]["selector"]["matchLabels"]}}}]}}


def pods(target, deployment):
    """Return name → pod, of those pods of a Deployment that are not on their way out."""
    selector = ",".join(f"{key}={value}" for key, value in deployment["spec"]["selector"]["matchLabels"].items())
    return dict((item["metadata"]["name"], item)
                for item in target.list(KNOWN["Pod"], deployment["metadata"]["namespace"], selector)[0]
                if not item["metadata"].get("deletionTimestamp"))


def usable_nodes(target, pod):
    """Return the names of the nodes that a pod like this one may run on, by their taints."""
    tolerated = pod["spec"].get("tolerations") or []

    def keeps_out(taint):
        return taint["effect"] != "PreferNoSchedule" and not any(
            item.get("key") in (None, taint["key"]) and item.get("effect") in (None, "", taint["effect"])
            for item in tolerated)

    return [node["metadata"]["name"] for node in target.list(KNOWN["Node"])[0]
            if not any(keeps_out(taint) for taint in node["spec"].get("taints") or [])]


def holders(target, deployment):
    """Return name → name of the pod that holds it, of the leases that pods of a Deployment hold or have held."""
    metadata, found = deployment["metadata"], {}
    for item in target.list(KNOWN["Lease"], metadata["namespace"])[0]:
        # controller-runtime's pkg/leaderelection: the host's name, an underscore, a UUID.
        holder = (item["spec"].get("holderIdentity") or "").partition("_")[0]
        if holder.startswith(metadata["name"] + "-"):
            found[item["metadata"]["name"]] = holder
    return found


def kill(target, namespace, name):
    """Kill a pod at once, so that it gives nothing back on its way out."""
    target.request("DELETE", KNOWN["Pod"].path(namespace, name), None, {"gracePeriodSeconds": 0}, subject=f"Pod {name}")
