# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""At which of the 15 steps of CAPM3's deployment workflow a machine is, since when, and what it waits for; pure.

Source: CAPM3 ``docs/deployment_workflow.md``.
"""
from __future__ import annotations

from ..._common.texts.formats import duration, moment
from ..._host.description import annotations as host_annotations
from ..._host.state.goals import state_of
from ..._kube.objects.conditions import condition, is_true
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..description.spec import METALSTACK
from . import departure, metalstack
from .etcd_member import lost_member
from .remediations import remediation_text
from .snapshot import is_control_plane, message, node_name

STEPS = {
    1: "Cluster API takes the Metal3Cluster and the control plane over",
    2: "CAPM3 checks the control plane's endpoint",
    3: "Cluster API notes that the infrastructure is ready",
    4: "Cluster API sets the owner of the control plane",
    5: "the owner makes the Machine, its Metal3Machine and its KubeadmConfig",
    6: "CABPK makes the user data",
    7: "Cluster API hands the user data to the Machine",
    8: "CAPM3 chooses a BareMetalHost",
    9: "CAPM3 asks for meta data and network data",
    10: "CAPM3 renders meta data and network data",
    11: "CAPM3 writes image and data into the BareMetalHost",
    12: "the Bare Metal Operator deploys the host",
    13: "the machine boots and joins, and CAPM3 finds its Node",
    14: "Cluster API links Machine and Node",
    15: "the node becomes ready, and the remaining machines follow",
}
# The same numbers without CAPM3's own steps, 9 to 11.
METALSTACK_STEPS = {
    **STEPS,
    1: "Cluster API takes the MetalStackCluster and the control plane over",
    2: "the provider of metal-stack takes node network, firewall and endpoint",
    5: "the owner makes the Machine, its MetalStackMachine and its KubeadmConfig",
    8: "the provider allocates a machine of metal-stack",
    12: "metal-stack installs the machine",
    13: "the machine has phoned home, and Cluster API notes it",
    14: "the machine joins, and metal-stack's cloud controller gives its Node the provider ID",
}
# While the Bare Metal Operator works.
DEPLOYMENT = 12
LAST_STEP = 15
# Kubernetes has clusters of up to 5000 nodes; an owner's replicas may be 2^31.
_MOST_MISSING = 5000


def machine_steps(snapshot):
    """Return where each machine is, those that are yet to be made included.

    :param snapshot: a Snapshot
    :returns: list of dicts with ``machine`` (None when there is none yet), ``owner``, ``role``, ``host`` (name of its
        BareMetalHost, or id of its machine in metal-stack), ``node``,
        ``step`` (1 to 15), ``title``, ``since`` (RFC 3339 or None), ``waits_for`` (text), ``error`` (of its host, None
        when it has none), ``complete`` (boolean) and ``deleting`` (boolean)
    """
    result = []
    for owner in snapshot.owners():
        machines = snapshot.machines_of(owner)
        result += [_machine(snapshot, owner, machine) for machine in machines]
        if owner["kind"] == "Machine":
            continue
        alive = [machine for machine in machines if not is_going(machine)]
        wanted = (owner.get("spec") or {}).get("replicas")
        missing = min((1 if wanted is None else wanted) - len(alive), _MOST_MISSING)
        result += [_missing(snapshot, owner, bool(alive)) for _number in range(missing)]
    if snapshot.provider.name == METALSTACK:
        result = [dict(entry, title=METALSTACK_STEPS[entry["step"]]) for entry in result]
    return result


def step_text(step, now):
    """Return at which step a machine is and for how long: ``step 6 of 15, CABPK makes the user data, for 2 min 10 s``.

    :param step: an entry of :func:`machine_steps`
    :param now: seconds since 1970
    """
    since = moment(step["since"])
    return f"step {step['step']} of {LAST_STEP}, {step['title']}" + (
        "" if since is None else f", for {duration(now - since)}")


def phase_text(snapshot, step, now, phase):
    """Return where the server of a machine is while its host is deployed, or deprovisioned, in brackets.

    Empty when nothing is known.

    :param step: an entry of :func:`machine_steps`
    :param now: seconds since 1970
    :param phase: callable that takes a BareMetalHost and for how many seconds it has been deployed, and returns a text
    """
    host = snapshot.get("BareMetalHost", step["host"]) if step["host"] else None
    if step["step"] != DEPLOYMENT and not (step["deleting"] and state_of(host) == departure.DEPROVISIONING):
        return ""
    text = phase(host, now - (moment(step["since"]) or now)) if host else ""
    return f" ({text})" if text else ""


def _entry(owner, step, since, waits_for, **more):
    entry = {"machine": None, "owner": owner["metadata"]["name"], "role": _role(owner), "host": None, "node": None,
             "step": step, "title": STEPS[step], "since": since, "waits_for": waits_for, "error": None,
             "complete": False, "deleting": False}
    entry.update(more)
    return entry


def _role(owner):
    return "control-plane" if owner["kind"] == "KubeadmControlPlane" else "worker"


def _cluster_step(snapshot):
    """Return ``(step, since, waits_for)`` while the cluster itself is not ready for machines, else None."""
    cluster, infrastructure, plane = snapshot.cluster, snapshot.infrastructure, snapshot.control_plane
    if cluster is None:
        return 1, None, f"a Cluster {snapshot.cluster_name}"
    made = cluster["metadata"].get("creationTimestamp")
    if infrastructure is None:
        return 1, made, f"a {snapshot.provider.cluster_kind}"
    if not _owned(infrastructure, cluster):
        return 1, made, f"an ownerReference on {title_of(infrastructure)}"
    if not ((infrastructure.get("status") or {}).get("initialization") or {}).get("provisioned"):
        ready = condition(infrastructure, "Ready")
        return 2, ready.get("lastTransitionTime") or infrastructure["metadata"].get("creationTimestamp"), \
            metalstack.cluster_waits_for(infrastructure) or message(
                ready, f"{title_of(infrastructure)} to be ready")
    if not ((cluster.get("status") or {}).get("initialization") or {}).get("infrastructureProvisioned"):
        ready = condition(cluster, "InfrastructureReady")
        return 3, ready.get("lastTransitionTime") or made, message(ready, "Cluster's infrastructureProvisioned")
    if plane is None:
        return 4, made, "a KubeadmControlPlane"
    if not _owned(plane, cluster):
        return 4, made, f"an ownerReference on KubeadmControlPlane {plane['metadata']['name']}"
    return None


def _owned(obj, owner):
    return any(reference.get("kind") == owner["kind"] and reference.get("name") == owner["metadata"]["name"]
               for reference in obj["metadata"].get("ownerReferences") or [])


def _missing(snapshot, owner, has_others):
    early = _cluster_step(snapshot)
    if early:
        return _entry(owner, *early)
    initialized = is_true(snapshot.control_plane, "Initialized")
    scaling = condition(owner, "ScalingUp")
    since = scaling.get("lastTransitionTime") or owner["metadata"].get("creationTimestamp")
    if owner["kind"] == "KubeadmControlPlane" and has_others:
        return _entry(owner, 15, since, message(
            scaling, "its turn: control plane machines are made one after the other"))
    fallback = f"{owner['kind']} to make the Machine"
    if not initialized and owner["kind"] != "KubeadmControlPlane":
        fallback = "the first control plane machine"
    return _entry(owner, 5, since, message(scaling, fallback))


def _machine(snapshot, owner, machine):
    infrastructure = snapshot.infrastructure_machine(machine)
    host = snapshot.host(infrastructure)
    node = node_name(machine)
    about = {"machine": machine["metadata"]["name"], "node": node,
             "host": host["metadata"]["name"] if host else metalstack.server_of(infrastructure),
             "error": _host_error(host)}
    if is_going(machine):
        return _entry(owner, LAST_STEP, machine["metadata"]["deletionTimestamp"], departure.waits_for(machine, host),
                      deleting=True, **about)
    step, since, waits_for = _cluster_step(snapshot) or _machine_step(snapshot, machine, infrastructure, host)
    remediation = remediation_text(snapshot.remediation(machine))
    if remediation:
        waits_for = f"{remediation}; {waits_for}" if waits_for else remediation
    # What says since when may be older than the machine: conditions of the cluster, an earlier deployment of its host.
    since = max(since or "", machine["metadata"].get("creationTimestamp") or "") or None
    return _entry(owner, step, since, waits_for, complete=waits_for is None, **about)


_REPLACE_MEMBER = "; when it does not come back, run the playbook remediate with remediate=replace"


def _host_error(host):
    status = (host or {}).get("status") or {}
    if status.get("operationalStatus") != "error":
        return None
    return " ".join((status.get("errorMessage") or "").split()) or status.get("errorType")


def _machine_step(snapshot, machine, metal3_machine, host):
    if snapshot.provider.name == METALSTACK:
        return _making(snapshot, machine, metal3_machine) or _bootstrap(snapshot, machine, metal3_machine) \
            or metalstack.step(machine, metal3_machine) or _ready(machine)
    for part in (_making, _bootstrap, _association, _data):
        found = part(snapshot, machine, metal3_machine)
        if found:
            return found
    return _deployment(machine, metal3_machine, host) or _node(snapshot, machine, host)


def _making(snapshot, machine, metal3_machine):
    made = machine["metadata"].get("creationTimestamp")
    if metal3_machine is None:
        return 5, made, f"its {snapshot.provider.machine_kind}"
    if snapshot.bootstrap_config(machine) is None and not machine["spec"]["bootstrap"].get("dataSecretName"):
        return 5, made, "its KubeadmConfig"
    return None


def _bootstrap(snapshot, machine, _metal3_machine):
    if machine["spec"]["bootstrap"].get("dataSecretName"):
        return None
    config = snapshot.bootstrap_config(machine)
    if not (config.get("status") or {}).get("dataSecretName"):
        available = condition(config, "DataSecretAvailable")
        waits_for = message(available, f"user data from KubeadmConfig {config['metadata']['name']}")
        if not is_control_plane(machine) and not is_true(snapshot.control_plane, "Initialized"):
            waits_for = "the control plane to be initialized"
        return 6, available.get("lastTransitionTime") or config["metadata"].get("creationTimestamp"), waits_for
    ready = condition(machine, "BootstrapConfigReady")
    return 7, ready.get("lastTransitionTime"), "Cluster API to copy the Secret's name"


def _association(snapshot, _machine_object, metal3_machine):
    if snapshot.host(metal3_machine) is not None:
        return None
    associated = condition(metal3_machine, "AssociateBareMetalHost")
    deleted = snapshot.deleted_host(metal3_machine)
    return 8, associated.get("lastTransitionTime") or metal3_machine["metadata"].get("creationTimestamp"), \
        f"BareMetalHost {deleted}, which it was given and which was deleted" if deleted else \
        message(associated, "a BareMetalHost that matches its selector")


def _data(snapshot, _machine_object, metal3_machine):
    if not metal3_machine["spec"].get("dataTemplate"):
        return None
    name = metal3_machine["metadata"]["name"]
    # CAPM3 names the claim after the Metal3Machine.
    claim = snapshot.get("Metal3DataClaim", name)
    rendered = ((metal3_machine.get("status") or {}).get("renderedData") or
                ((claim or {}).get("status") or {}).get("renderedData") or {}).get("name")
    waiting = condition(metal3_machine, "Metal3DataReady")
    since = waiting.get("lastTransitionTime") or condition(metal3_machine, "AssociateBareMetalHost").get(
        "lastTransitionTime")
    if claim is None and not rendered:
        return 9, since, f"a Metal3DataClaim {name}"
    data = snapshot.get("Metal3Data", rendered)
    if data is None:
        error = ((claim or {}).get("status") or {}).get("errorMessage")
        return 10, since, error or f"a Metal3Data of template {metal3_machine['spec']['dataTemplate']['name']}"
    if not (data.get("status") or {}).get("ready"):
        since = data["metadata"].get("creationTimestamp")
        return 10, since, (data.get("status") or {}).get("errorMessage") or _claims(snapshot, data)
    return None


def _claims(snapshot, data):
    """Return what a Metal3Data waits for: the address claims that have no answer, or its Secrets."""
    open_claims = []
    for claim in snapshot.all("IPClaim"):
        owners = claim["metadata"].get("ownerReferences") or []
        mine = any(owner.get("name") == data["metadata"]["name"] for owner in owners)
        if mine and not (claim.get("status") or {}).get("address"):
            error = (claim.get("status") or {}).get("errorMessage")
            open_claims.append("%s%s" % (claim["spec"]["pool"]["name"], f" ({error})" if error else ""))
    if open_claims:
        return f"an address of pool {', '.join(open_claims)}"
    return f"the Secrets of Metal3Data {data['metadata']['name']}"


def _deployment(machine, metal3_machine, host):
    consumer = host["spec"].get("consumerRef") or {}
    since = condition(metal3_machine, "AssociateBareMetalHost").get("lastTransitionTime")
    asked = host["spec"].get("image") or host["spec"].get("customDeploy")
    if consumer.get("name") != metal3_machine["metadata"]["name"] or not asked:
        return 11, since, f"BareMetalHost {host['metadata']['name']} to be written"
    status = host.get("status") or {}
    state = (status.get("provisioning") or {}).get("state") or ""
    if state == "provisioned" or node_name(machine):
        return None
    started = ((status.get("operationHistory") or {}).get("provision") or {}).get("start")
    waits_for = f"host {host['metadata']['name']}, in state {state or '(none yet)'}"
    if host_annotations.PAUSED in host_annotations.of(host):
        waits_for += ", which is paused"
    elif _host_error(host):
        waits_for += f": {_host_error(host)}"
    elif status.get("operationalStatus") in ("delayed", "detached"):
        waits_for += f", which is {status['operationalStatus']}"
    return DEPLOYMENT, started or since, waits_for


def _node(snapshot, machine, host):
    status = machine.get("status") or {}
    done = (((host.get("status") or {}).get("operationHistory") or {}).get("provision") or {}).get("end")
    if not (status.get("initialization") or {}).get("infrastructureProvisioned"):
        ready = condition(machine, "InfrastructureReady")
        mark = "the provider ID that a cloud controller gives it" if snapshot.has_cloud_provider \
            else "the label metal3.io/uuid of its host"
        return 13, done or ready.get("lastTransitionTime"), f"a Node with {mark}"
    if not node_name(machine):
        healthy = condition(machine, "NodeHealthy")
        return 14, healthy.get("lastTransitionTime") or done, message(
            healthy, f"a Node with providerID {machine['spec'].get('providerID')}")
    return _ready(machine)


def _ready(machine):
    ready = condition(machine, "Ready")
    lost = lost_member(machine)
    if lost:
        return 15, ready.get("lastTransitionTime"), lost.text + (_REPLACE_MEMBER if lost.replaceable else "")
    if ready.get("status") != "True":
        return 15, ready.get("lastTransitionTime"), message(ready, "the node to be ready")
    return 15, ready.get("lastTransitionTime"), None
