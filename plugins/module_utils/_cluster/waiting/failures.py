# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends a wait for a cluster early, because waiting would not help; pure."""
from __future__ import annotations

from collections import namedtuple

from ..._common.texts.formats import duration, moment
from ..._common.texts.plain_text import shortened
from ..._host.description import annotations as host_annotations
from ..._host.state.error_count import error_count
from ..._host.state.errors import OF_DISKS, explain
from ..._host.state.goals import error_of
from ..._kube.objects.conditions import condition, older_conditions
from ..._kube.objects.finalizers import HINT, deletion_of, is_going
from ..._kube.objects.precondition import uid_of
from ..._kube.objects.titles import title_of
from ..checks.hosts import keeper, matching, on_its_way, refusal
from ..description.spec import METALSTACK
from ..workflow.rollout_stop import OWNERS, is_paused_by_others
from ..workflow.snapshot import PAUSED_ANNOTATION, is_paused, is_standalone, node_name
from ..workflow.steps import DEPLOYMENT, machine_steps
from ..workflow.topology import RECONCILED

# subject: the object that shows it; cause and next_step: sentences.
Failure = namedtuple("Failure", ["subject", "cause", "next_step"])
# counted: see :func:`failures`.
_Limits = namedtuple("_Limits", ["node_startup_timeout_seconds", "counted"])

# A failure that may pass must have lasted this long.
GRACE_SECONDS = 30
# With addresses kept for hosts CAPM3 1.13 says this of a claim that it has just made, or that is still going, until it
# looks again.
_NOT_YET, NOT_YET_SECONDS = "pool not found in cache", 180
# Templates may be written after the class that names them.
TOPOLOGY_SECONDS = 60
_TOPOLOGY_FAILED = "ReconcileFailed"
# BMO tries again by itself; this many errors of an operation in a row are not bad luck any more.
ERROR_LIMIT = 3
# A failure from before a run may be the old state that the run has just put right; it must outlast this.
OLD_FAILURE_SECONDS = 180
# Cluster API's reason for a Machine whose Node was there.
_NODE_DELETED = "NodeDeleted"
_BOOTSTRAP_FAILED = ("DataSecretGenerationFailed", "CertificatesGenerationFailed", "CertificatesCorrupted")


def failures(snapshot, now, node_startup_timeout_seconds, reusing=(), counted=error_count):
    """Return what keeps a cluster from ever becoming ready as things stand.

    :param snapshot: a Snapshot
    :param now: seconds since 1970
    :param node_startup_timeout_seconds: how long a deployed machine may take to become a Node
    :param reusing: names of the owners whose machines get the hosts of those before them (``node_reuse``)
    :param counted: callable that takes a host and says how many of its errors count
    :returns: list of Failure, empty when it is worth waiting
    """
    steps = machine_steps(snapshot)
    found = paused(snapshot) + _paused_owners(snapshot, steps) + _topology(snapshot, now)
    limits = _Limits(node_startup_timeout_seconds, counted)
    of_steps = [_of_step(snapshot, step, now, limits, reusing) for step in steps]
    return found + [failure for failure in of_steps if failure]


def of_machine(snapshot, name, now):
    """Return what keeps one Machine from ever running as things stand, None when it is worth waiting.

    :param snapshot: a Snapshot
    :param name: of the Machine
    :param now: seconds since 1970
    """
    step = next((step for step in machine_steps(snapshot) if step["machine"] == name), None)
    return _of_step(snapshot, step, now, _Limits(0, error_count), ()) if step else None


def _of_step(snapshot, step, now, limits, reusing):
    if step["complete"] or step["deleting"] or not step["machine"]:
        return None
    machine = snapshot.get("Machine", step["machine"])
    metal3_machine = snapshot.infrastructure_machine(machine)
    checks = _METALSTACK if snapshot.provider.name == METALSTACK else _METAL3
    for check in checks:
        failure = check(snapshot, step, machine, metal3_machine, now, limits)
        if failure:
            return _with_deletion(_with_other_host(failure, step, snapshot, reusing), step, machine)
    return None


def not_deprovisioned(hosts, names, errors, seconds):
    """Return the first host that can't be deprovisioned, None while there is none.

    :param hosts: BareMetalHosts
    :param names: names of those that are meant
    :param errors: HostErrors of the wait, brought up to date
    :param seconds: how long they have been waited for
    :returns: its name, the Explanation, and the operator's message
    """
    errors.look(hosts)
    for host in sorted(hosts, key=lambda item: item["metadata"]["name"]):
        kind, message, count = error_of(host)
        if host["metadata"]["name"] not in names or not (kind or message or count):
            continue
        # What was wrong before, such as a deployment that failed, deprovisioning puts right.
        if errors.is_old(host) and seconds < OLD_FAILURE_SECONDS:
            continue
        explanation = explain(kind, message)
        if explanation.definitive or errors.counted(host) >= ERROR_LIMIT:
            return host["metadata"]["name"], explanation, " ".join(message.split())
    return None


def paused(snapshot):
    """Return that Cluster API does nothing with a cluster, because it is paused; a list of no or one Failure."""
    return [Failure(f"Cluster {snapshot.cluster_name}",
                    "it is paused (spec.paused), so that Cluster API and its providers do nothing with it",
                    "resume it; the playbooks pivot and restore resume what a run that was killed has paused")] \
        if is_paused(snapshot.cluster) else []


def deleted(before, cluster):
    """Return that a Cluster is not there, or not for long; a list of no or one Failure.

    A deletion can't be taken back, so that there is nothing to wait for.

    :param before: the Cluster as the wait has read it first, None when it has read none yet
    :param cluster: as it is now, None for none
    """
    if cluster is None and before is not None:
        return [Failure(title_of(before), "it was deleted by somebody else", "run again, which makes another one")]
    if is_going(cluster):
        return [Failure(title_of(cluster), f"it is {deletion_of(cluster)}", HINT)]
    if before is not None and uid_of(cluster) != uid_of(before):
        return [Failure(title_of(cluster), "it is another one than the one that was waited for",
                        "look at it, then run again")]
    return []


def _paused_owners(snapshot, steps):
    """Return the owners of machines that somebody has paused before they were done; a list of Failure."""
    behind = set(step["owner"] for step in steps if not step["complete"])
    return [Failure(title_of(item),
                    f"it is paused (annotation {PAUSED_ANNOTATION}), so that Cluster API does nothing with it",
                    "find out who has paused it, and take the annotation away")
            for item in snapshot.owners() if item["kind"] in OWNERS and is_paused_by_others(item)
            and (item["metadata"]["name"] in behind or (item.get("status") or {}).get("observedGeneration", 0)
                 < (item["metadata"].get("generation") or 0))]


def paused_parts(snapshot):
    """Return which objects of a cluster Cluster API does not delete, because others have paused them.

    What a stopped rollout has paused is released before a deletion.

    :param snapshot: a Snapshot
    :returns: a list of Failure
    """
    kinds = [kind for kind in snapshot.provider.workflow_kinds if kind != "Cluster"]
    parts = [snapshot.cluster] if snapshot.cluster else []
    parts += [item for kind in kinds for item in snapshot.mine(kind)]
    return [Failure(title_of(item),
                    f"it is paused (annotation {PAUSED_ANNOTATION}), so that Cluster API does not delete it",
                    "end what has paused it (a run of etcd_restore that was killed is ended by the next), or remove "
                    "the annotation") for item in parts if is_paused_by_others(item)]


def _topology(snapshot, now):
    """Return why Cluster API makes nothing of a Cluster's topology; later it has made something, and may go on."""
    state = condition(snapshot.cluster, RECONCILED)
    if snapshot.control_plane is not None or state.get("status") != "False" \
            or state.get("reason") != _TOPOLOGY_FAILED or not _lasted(state.get("lastTransitionTime"), now,
                                                                      TOPOLOGY_SECONDS):
        return []
    return [Failure(f"Cluster {snapshot.cluster_name}",
                    f"Cluster API can't make it of its class: {' '.join((state.get('message') or '').split())}",
                    "correct the ClusterClass, its templates or the variables")]


def _with_other_host(failure, step, snapshot, reusing):
    """Add how an owner that keeps its hosts gets away from one whose disk is broken.

    When the machine goes, CAPM3 labels the host for the owner's next one, and prefers it to all others; a mark
    unhealthy counts before that label (CAPM3, baremetal/metal3machine_manager.go: Delete, chooseHost).
    """
    host = snapshot.get("BareMetalHost", step["host"]) if step["host"] and step["owner"] in reusing else None
    status = (host or {}).get("status") or {}
    if status.get("operationalStatus") != "error" or failure.subject != f"BareMetalHost {step['host']}" \
            or explain(status.get("errorType"), status.get("errorMessage")).cause not in OF_DISKS:
        return failure
    return failure._replace(next_step=(
        f"{failure.next_step}; with node_reuse the next machine of {step['owner']} gets this host again, so when it "
        f"can't be repaired, mark it unhealthy first (playbook host_action, host_action=mark_unhealthy, --limit "
        f"{step['host']}), then replace Machine {step['machine']} (playbook machine_action, machine_action=replace), "
        "and let a stopped rollout go on (cluster_rollout=resume): it takes another free host"))


def _with_deletion(failure, step, machine):
    """Add which Machine to delete when a corrected description does not take effect without that."""
    # Cluster API, KubeadmControlPlane's scale.go (preflightChecks): no rollout while one of its Machines has no Node.
    if step["role"] != "control-plane" or condition(machine, "UpToDate").get("status") != "False":
        return failure
    advice = (f"Machine {step['machine']} is older than the description, and KubeadmControlPlane {step['owner']} "
              "replaces none while one has no Node: when the description is right, delete that Machine")
    return failure._replace(next_step=f"{failure.next_step}; {advice}")


def _anew(machine, of_an_owner):
    """Return how another machine comes in the place of one.

    :param of_an_owner: the same for one whose owner makes another; nobody does it for a standalone one
    """
    return ("take it out of standalone_machines by state: absent (playbook cluster), and describe it again"
            if is_standalone(machine) else of_an_owner)


def _reported(_snapshot, _step, machine, metal3_machine, _now, _limits):
    for obj in (machine, metal3_machine):
        old = (((obj or {}).get("status") or {}).get("deprecated") or {}).get("v1beta1") or {}
        if old.get("failureMessage") or old.get("failureReason"):
            return Failure(title_of(obj),
                           f"it failed for good: {old.get('failureMessage') or old['failureReason']}",
                           _anew(machine, "delete the Machine, so that its owner makes another"))
    return None


def _bootstrap(snapshot, step, machine, _metal3_machine, _now, _limits):
    config = snapshot.bootstrap_config(machine)
    for entry in older_conditions(config):
        if step["step"] <= 7 and entry.get("status") == "False" and entry.get("reason") in _BOOTSTRAP_FAILED:
            return Failure(f"KubeadmConfig {config['metadata']['name']}",
                           f"the user data can't be made: {entry.get('message') or entry['reason']}",
                           "look at the Secrets that the description's files and users refer to")
    return None


def _host_deleted(snapshot, _step, machine, metal3_machine, now, _limits):
    """Return that the host of a machine goes, or is gone: CAPM3 gives the machine no other one."""
    name = machine["metadata"]["name"]
    other = _anew(machine, f"replace Machine {name} (playbook machine_action, machine_action=replace), so that its "
                           "owner makes another one on a free host")
    gone, host = snapshot.deleted_host(metal3_machine), snapshot.host(metal3_machine)
    if gone:
        return Failure(f"BareMetalHost {gone}",
                       f"it was deleted, and CAPM3 gives Machine {name}, which had it, no other one",
                       f"{other}; or enrol the host again by the same name (playbook enroll): CAPM3 deploys it then")
    if not is_going(host) or not _lasted(host["metadata"]["deletionTimestamp"], now):
        return None
    return Failure(f"BareMetalHost {host['metadata']['name']}",
                   f"it is {deletion_of(host)}: Machine {name} loses its server, and CAPM3 gives it no other one",
                   other)


def _no_host(snapshot, step, _machine, metal3_machine, now, _limits):
    if step["step"] != 8 or not _lasted(step["since"], now):
        return None
    hosts = matching(snapshot.all("BareMetalHost"), metal3_machine)
    leaving = any(is_going(machine) for machine in snapshot.all("Machine"))
    mine = keeper(step["role"], step["owner"])
    if leaving or any(refusal(host, mine) is None or on_its_way(host, mine) for host in hosts):
        return None
    name = metal3_machine["metadata"]["name"]
    if not hosts:
        count = len(snapshot.all("BareMetalHost"))
        return Failure(f"Metal3Machine {name}", f"no host matches its selector, of {count} in the namespace",
                       "compare host_selector with the hosts' labels, or enrol more hosts")
    reasons = "; ".join(f"{host['metadata']['name']} is {refusal(host, mine)}" for host in hosts)
    return Failure(f"Metal3Machine {name}", f"no host is free, of {len(hosts)} that match: {reasons}",
                   "free or enrol hosts, or ask for fewer replicas")


def _host_error(snapshot, step, _machine, metal3_machine, _now, limits):
    host = snapshot.host(metal3_machine)
    status = (host or {}).get("status") or {}
    if step["step"] not in (11, 12) or status.get("operationalStatus") != "error":
        return None
    explanation = explain(status.get("errorType"), status.get("errorMessage"))
    if not explanation.definitive and limits.counted(host) < ERROR_LIMIT:
        return None
    return Failure(f"BareMetalHost {host['metadata']['name']}",
                   f"{explanation.cause} ({' '.join((status.get('errorMessage') or '').split())})",
                   explanation.next_step)


def _host_left_alone(snapshot, step, _machine, metal3_machine, now, _limits):
    """Return that BMO does not go on with the deployment of a host, which nothing but its annotations says."""
    host = snapshot.host(metal3_machine)
    if step["step"] != DEPLOYMENT or host is None or not _lasted(step["since"], now):
        return None
    paused = host_annotations.of(host).get(host_annotations.PAUSED)
    subject = f"BareMetalHost {host['metadata']['name']}"
    # CAPM3 takes its own pause away with that of the Cluster.
    if paused is not None and paused != host_annotations.PAUSED_BY_CAPM3:
        playbook = host_annotations.kept_by(host).get(host_annotations.PAUSED)
        by_whom = f" by {shortened(paused)}" if paused else ""
        return Failure(subject, f"it is paused{by_whom}, so that BMO deploys nothing",
                       f"run the playbook {playbook} again, which ends what has paused it" if playbook else
                       "find out who has paused it, and let it go on (playbook host_action, host_action=resume)")
    if (host.get("status") or {}).get("operationalStatus") == "detached":
        return Failure(subject, "it is detached, so that BMO deploys nothing",
                       "attach it (playbook host_action, host_action=attach)")
    return None


def _addresses(snapshot, step, _machine, metal3_machine, now, _limits):
    if step["step"] != 10 or not _lasted(step["since"], now):
        return None
    rendered = (metal3_machine.get("status") or {}).get("renderedData") or {}
    claim = snapshot.get("Metal3DataClaim", metal3_machine["metadata"]["name"])
    name = rendered.get("name") or (((claim or {}).get("status") or {}).get("renderedData") or {}).get("name")
    data = snapshot.get("Metal3Data", name)
    for claim in snapshot.all("IPClaim"):
        owners = [owner.get("name") for owner in claim["metadata"].get("ownerReferences") or []]
        error = (claim.get("status") or {}).get("errorMessage")
        if data and data["metadata"]["name"] in owners and error:
            return Failure(f"IPClaim {claim['metadata']['name']}",
                           f"pool {claim['spec']['pool']['name']} gives no address: {error}",
                           "widen the pool's ranges; IPAM does not try a refused claim again, so delete it then")
    error = ((data or {}).get("status") or {}).get("errorMessage")
    if error and (_NOT_YET not in error or _lasted(step["since"], now, NOT_YET_SECONDS)):
        return Failure(f"Metal3Data {name}", f"meta data or network data can't be rendered: {error}",
                       "compare networks and metadata with the host's hardware and labels")
    return None


def _no_node(snapshot, step, machine, _metal3_machine, now, limits):
    limit = limits.node_startup_timeout_seconds
    if step["step"] not in (13, 14) or not limit or not _lasted(step["since"], now, limit):
        return None
    if step["step"] == 13 and snapshot.has_cloud_provider:
        return Failure(f"Machine {machine['metadata']['name']}",
                       f"host {step['host']} is deployed, but no Node has its provider ID within {duration(limit)}; "
                       "with cloud_provider_enabled only a cloud controller sets it",
                       "look whether the Node is there (kubectl get nodes of the cluster) and whether a cloud "
                       "controller runs; without one, leave cloud_provider_enabled out")
    return Failure(f"Machine {machine['metadata']['name']}",
                   f"bootstrap failed: host {step['host']} is deployed, but no node of it has joined within "
                   f"{duration(limit)}",
                   "look at the machine's console and, on it, /var/log/cloud-init-output.log and "
                   "journalctl -u kubelet; cloud-init does not begin again on the same disk, so "
                   + _anew(machine, "delete the Machine for its owner to make another"))


def _no_node_again(_snapshot, _step, machine, _metal3_machine, now, _limits):
    """CAPM3 gives a Node its provider ID once (``IsProvisioned`` of ``metal3machine_manager.go``)."""
    healthy = condition(machine, "NodeHealthy")
    if healthy.get("reason") != _NODE_DELETED or is_going(machine) \
            or not _lasted(healthy.get("lastTransitionTime"), now, OLD_FAILURE_SECONDS):
        return None
    return Failure(f"Machine {machine['metadata']['name']}",
                   f"Node {node_name(machine)} was deleted, and no other one has the providerID "
                   f"{machine['spec'].get('providerID')}",
                   "look whether the Node has joined again (kubectl get nodes of the cluster): write this ID into its "
                   "spec.providerID, which CAPM3 does once only; if it does not come, "
                   + _anew(machine, "delete the Machine for its owner to make another"))


def _given_up(_snapshot, _step, _machine, infrastructure, _now, _limits):
    """The provider of metal-stack writes the v1beta1 contract's fields into the status itself."""
    status = (infrastructure or {}).get("status") or {}
    if not (status.get("failureMessage") or status.get("failureReason")):
        return None
    return Failure(f"MetalStackMachine {infrastructure['metadata']['name']}",
                   f"it failed for good: {status.get('failureMessage') or status['failureReason']}",
                   "look for it in metal-stack (metalstack_info), then delete the Machine, so that its owner makes "
                   "another")


def _no_node_of_metalstack(_snapshot, step, machine, _infrastructure, now, limits):
    limit = limits.node_startup_timeout_seconds
    if step["step"] not in (13, 14) or not limit or not _lasted(step["since"], now, limit):
        return None
    return Failure(f"Machine {machine['metadata']['name']}",
                   f"machine {step['host']} of metal-stack has phoned home, but no Node has its provider ID within "
                   f"{duration(limit)}",
                   "look at its console (metalctl machine console) for kubeadm's messages, and whether the cluster "
                   "runs metal-ccm, metal-stack's cloud controller, which cluster_manifests must bring")


_METAL3 = (_reported, _bootstrap, _host_deleted, _no_host, _host_left_alone, _host_error, _addresses, _no_node,
           _no_node_again)
_METALSTACK = (_reported, _given_up, _bootstrap, _no_node_of_metalstack)


def _lasted(since, now, seconds=GRACE_SECONDS):
    started = moment(since)
    return started is not None and now - started >= seconds
