# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is added to a cluster's rendering because of what is stored, so that an apply wipes no machine unasked; pure."""
from __future__ import annotations

import re

from ..._kube.objects.finalizers import is_going
from ..render import autoscaler as cluster_autoscaler
from ..render.objects import TEMPLATE_KINDS, with_changes_in_place
from ..render.parts import HASH_LENGTH, common_labels
from ..workflow.snapshot import is_standalone
from .prune import ours, unused_templates


def with_stored_replicas(description, desired, objects, goes_away):
    """Return the rendered objects, each owner without a described number with that which an apply would take away.

    An apply without a field that nobody else owns takes the field away, and Cluster API's webhook then makes it 1,
    which wipes the other machines. Once an autoscaler, or a person with ``kubectl scale``, has set the number of a
    MachineDeployment, it is theirs and stays without us. With the autoscaler's annotations the webhook itself keeps the
    number in their range. A KubeadmControlPlane must name its number.

    :param desired: list of rendered objects
    :param objects: dict of kind to list of stored objects
    :param goes_away: callable that takes an object and a field's path and says whether an apply without the field
        takes it away
    """
    stored = dict(((kind, item["metadata"]["name"]), item) for kind in ("KubeadmControlPlane", "MachineDeployment")
                  for item in objects.get(kind) or [])
    counted = set(group.owner for group in description.groups if group.get("replicas") is not None)
    result = []
    for item in desired:
        current = stored.get((item["kind"], item["metadata"]["name"]))
        if current is not None and item["metadata"]["name"] not in counted and (
                item["kind"] == "KubeadmControlPlane"
                or (not _is_autoscaled(item, current) and goes_away(current, ("spec", "replicas")))):
            item = dict(item, spec=dict(item["spec"], replicas=current["spec"]["replicas"]))
        result.append(item)
    return result


def kept_pools(description, objects):
    """Return the stored pools of workers that stay because the description names none, with what they refer to.

    Likewise the standalone Machines.

    :param objects: dict of kind to list of stored objects
    """
    machines = [item for item in objects.get("Machine") or [] if description.keeps_standalone_machines
                and ours(item, description.name) and is_standalone(item)]
    if not description.keeps_workers:
        return machines
    pools = [item for item in objects.get("MachineDeployment") or [] if ours(item, description.name)]
    names = set(item["metadata"]["name"] for item in pools)
    named = set()
    for item in pools:
        template = item["spec"]["template"]["spec"]
        for reference in (template.get("infrastructureRef"), (template.get("bootstrap") or {}).get("configRef")):
            if reference:
                named.add((reference.get("kind"), reference.get("name")))
    beside = [item for kind in ("MachineHealthCheck", "Metal3RemediationTemplate") for item in objects.get(kind) or []
              if item["metadata"]["name"] in names]
    templates = [item for kind in TEMPLATE_KINDS for item in objects.get(kind) or []
                 if (kind, item["metadata"]["name"]) in named]
    return machines + pools + beside + templates


def _is_autoscaled(*items):
    names = set(name for item in items for name in item["metadata"].get("annotations") or {})
    return all(annotation in names for _option, annotation in cluster_autoscaler.SIZES)


def templates_in_use(description, objects, desired):
    """Return the Metal3MachineTemplates of before that machines are of, with what is to change in place.

    A group's cleaning mode and host reuse are for the machines that go in a rollout, which are of the templates of
    before.

    :param objects: dict of kind to list of stored objects
    :param desired: list of rendered objects
    """
    rendered = set(item["metadata"]["name"] for item in desired if item["kind"] == "Metal3MachineTemplate")
    unused = set(item["metadata"]["name"] for item in unused_templates(objects, desired, description.name))
    result = []
    for group in description.groups:
        names = re.compile(f"{re.escape(group.owner)}-[0-9a-f]{{{HASH_LENGTH}}}")
        result += [_restated(description, item, with_changes_in_place(item["spec"], group))
                   for item in objects.get("Metal3MachineTemplate") or []
                   if ours(item, description.name) and names.fullmatch(item["metadata"]["name"])
                   and item["metadata"]["name"] not in rendered | unused and not is_going(item)]
    return result


def _restated(description, item, spec):
    metadata = {"name": item["metadata"]["name"], "namespace": item["metadata"]["namespace"],
                "labels": common_labels(description)}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata, "spec": spec}
