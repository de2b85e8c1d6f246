# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores a snapshot of etcd into a new control plane of a cluster whose control plane is lost.

Cluster API makes the machine from the cluster's description, with the authorities that it has kept in the management
cluster; the machine waits before kubeadm until it has etcd's data (receiver), so that no API server ever answers
without it. A run that was interrupted begins again with another machine, unless the restored API server answers.
"""
from __future__ import annotations

import contextlib
import inspect
import os
import time
from collections.abc import Callable
from typing import Any

from .._backup import age
from .._cluster.maintenance import node as cluster_node
from .._cluster.waiting import failures as cluster_failures
from .._cluster.workflow.reading import snapshot_of
from .._cluster.workflow.snapshot import is_control_plane, node_name
from .._cluster.workflow.steps import machine_steps, step_text
from .._common.files import file_digest, private_folder, regular_file
from .._common.files import holder as holders
from .._common.files.run_locks import RunLocks
from .._common.options import confirmation
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._common.texts.formats import duration, timestamp
from .._common.texts.plain_text import plain
from .._elsewhere import etcd_receiver
from .._host.description import annotations as host_annotations
from .._host.state import lock as host_lock
from .._host.state.host_errors import HostErrors
from .._kube.api import cluster_identity
from .._kube.api.cluster_clock import ahead_seconds_of, clock_of
from .._kube.kinds.resources import KNOWN as BASE
from .._kube.objects.conditions import is_true
from .._kube.objects.finalizers import is_going
from .._kube.objects.precondition import ABSENT
from .._kube.reconcile.diff import owned_tree
from .._kube.responses.errors import KubeError
from .._metal3.kinds import CAPI_VERSION, KNOWN
from . import control_plane as planes
from . import delivery, machine_address, receiver, restore_checks, restored_nodes
from . import site as sites
from .errors import EtcdError
from .restore_steps import RestoreSteps
from .snapshot import About, unpacked

Object = dict[str, Any]

_FOLDER_PREFIX = "metal3-etcd-restore-"
# Cluster API's caches are behind for milliseconds; what it has not changed for so long stays.
_SETTLED_SECONDS = 4


class Restore:
    """One restore of one cluster.

    :param client: a KubeClient of the management cluster
    :param params: the module's parameters
    :param check_mode: only say what would be done
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param clock: monotonic clock, in seconds
    :param now: callable that returns seconds since 1970, by default by the clock of the API server
    :param workload: callable that takes a Site and returns a KubeClient of the cluster
    :param send: see :func:`delivery.is_sent`
    :param locks: by which runs of this machine keep each other from one cluster; those of the user by default
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep, clock: Callable[[], float] = time.monotonic,
                 now: Callable[[], float] | None = None, workload: Callable[[Any], Any] | None = None,
                 send: Callable[[delivery.Data, str, int], str] = delivery.is_sent, locks: RunLocks | None = None):
        self._locks = locks or RunLocks()
        self._client, self._params, self._check_mode, self._progress = client, params, check_mode, progress
        self._sleep, self._clock, self._now, self._send = sleep, clock, now or clock_of(client), send
        self._workload = workload or (lambda site: sites.workload_of(client, site))
        self._namespace, self._name = params["namespace"], params["cluster_name"]
        self._subject = sites.subject_of(self._namespace, self._name)
        self._began_at = clock()
        self._etcdutl_version: str | None = None
        self._warnings: list[str] = []
        # What has been done so far, for a run that fails later on.
        self.done: dict[str, Any] = {"changed": False}
        self._steps = RestoreSteps(client, self._namespace, self._subject, self.done, progress,
                                   self._began_at + params["wait_timeout_seconds"], clock, sleep)

    def run(self) -> Object:
        """Do it all and return the module's result.

        :raises RefusedError: with all that is wrong; nothing was written then
        :raises EtcdError: when the snapshot can't be used, or a step does not come to its end in time
        """
        uid = str(sites.read(self._client, self._namespace, self._name).cluster["metadata"]["uid"])
        # With the second run a restored machine would be one of before, which goes, and its number is confirmed.
        lock = contextlib.nullcontext(True) if self._check_mode else self._locks.alone("etcd-restore", uid)
        with lock as is_alone, private_folder.folder(_FOLDER_PREFIX) as folder:
            if not is_alone:
                raise RefusedError([Problem(
                    "etcd-running", self._subject, "", "another run on this machine that restores it",
                    "one restore at a time", "wait until it has ended, then look at the cluster")])
            database = os.path.join(folder, "snapshot.db")
            about, sha256 = self._read(database)
            site = sites.read(self._client, self._namespace, self._name)
            self._refuse_older()
            snapshot = snapshot_of(self._client, self._namespace, self._name)
            is_there = self._has_taken(site, sha256) and self._is_restored(site, about)
            doomed = [] if is_there else site.machines
            self._refuse(about, sha256, site, snapshot, doomed)
            result = {"changed": True, "cluster": self._name, "sha256": sha256, "taken_at": about.taken_at,
                      "deleted_machines": [machine["metadata"]["name"] for machine in doomed]}
            if self._check_mode:
                return dict(result, warnings=self._warnings, machine=None, node=None, removed_nodes=[],
                            missing_nodes=[], seconds=None)
            if not is_there:
                # Before anything goes: what etcdutl refuses costs nothing.
                data = delivery.made(self._params["etcdutl"], database, folder, ahead_seconds_of(self._client))
                self._replace(self._checked_again(site, about, sha256), sha256, data, about)
        return dict(result, **self._finished(), seconds=round(self._clock() - self._began_at, 1))

    def _refuse_older(self) -> None:
        """Refuse a management cluster whose control planes are written in another version than the steps write."""
        version = self._client.version_of(KNOWN["KubeadmControlPlane"])
        if version != CAPI_VERSION:
            raise RefusedError([Problem(
                "etcd-version", self._subject, "", f"KubeadmControlPlanes that are served in {version} only",
                f"{CAPI_VERSION}, in which alone the steps of a restore are written",
                "upgrade the management cluster's Cluster API, or restore by hand")])

    def _read(self, database: str) -> tuple[About, str]:
        path = self._params["path"]
        try:
            with regular_file.reading(path, follow=True) as (stream, _status):
                # Of what is decrypted.
                digested = file_digest.Digested(stream)
                with open(database + ".tar.gz", "w+b") as archive, open(database, "wb") as target:
                    age.decrypt_stream(digested, archive, self._params["identity_file"])
                    sha256 = digested.rest()
                    archive.seek(0)
                    about = unpacked(archive, target)
        except OSError as exc:
            raise EtcdError(f"{exc.filename or path}: {exc.strerror or exc}; correct path, or make room") from exc
        os.unlink(database + ".tar.gz")
        return about, sha256

    def _checked_again(self, before: Any, about: About, sha256: str) -> Any:
        """Return the cluster as it is by now, which is the one that was confirmed: etcdutl may have taken minutes.

        :raises RefusedError: when it has other machines by now, or something stands against it
        """
        site = sites.read(self._client, self._namespace, self._name)
        names, others = ([(machine["metadata"]["uid"], machine["metadata"]["name"]) for machine in item.machines]
                         for item in (before, site))
        if names != others:
            found = ", ".join(name for _uid, name in others) or "none"
            raise RefusedError([Problem(
                "etcd-changed", self._subject, "delete_machines", f"other control plane machines by now ({found})",
                "those that were confirmed", "look who works on the control plane, then run again")])
        self._refuse(about, sha256, site, snapshot_of(self._client, self._namespace, self._name), site.machines)
        return site

    def _refuse(self, about: About, sha256: str, site: Any, snapshot: Any, doomed: list[Object]) -> None:
        if self._etcdutl_version is None:
            self._etcdutl_version = delivery.version_of(self._params["etcdutl"])
        found = self._elsewhere(site.control_plane)
        found += restore_checks.problems(about, sha256, self._params["sha256"], site, self._etcdutl_version,
                                         self._subject)
        hosts = [snapshot.host(snapshot.metal3_machine(machine)) for machine in doomed]
        if cluster_identity.uid_of(self._client) == about.uid:
            found.append(Problem(
                "etcd-own-plane", self._subject, "cluster_name", "the cluster that is its own management cluster",
                "another one, which stays while this one gets another control plane",
                "restore the plane's backup into another plane first (playbook restore)"))
        found += self._of_others(self._files())
        found += host_lock.problems(self._subject, "machines", [host for host in hosts if host], self._now())
        if found:
            raise RefusedError(found)
        names = [machine["metadata"]["name"] for machine in doomed]
        found = restore_checks.unconfirmed(
            self._params["confirm"], self._params["delete_machines"], names,
            [host["metadata"]["name"] if host else None for host in hosts], self._subject, self._name)
        self._warnings = confirmation.required_by(found, self._check_mode)

    @staticmethod
    def _has_taken(site: Any, sha256: str) -> bool:
        """Say whether the control plane is the machine to which a run before has sent this file's data."""
        note = planes.note_of(site.control_plane)
        # All snapshots of a cluster have its uid: nothing that answers says which of them it has.
        return note is not None and note.sha256 == sha256 and [
            machine["metadata"]["uid"] for machine in site.machines] == [note.machine]

    def _is_restored(self, site: Any, about: About) -> bool:
        """Say whether an API server answers that is the cluster's; the one of before has the same uid."""
        try:
            return cluster_identity.uid_of(self._workload(site)) == about.uid
        except (KubeError, EtcdError):
            return False

    def _replace(self, site: Any, sha256: str, data: delivery.Data, about: About) -> None:
        """Have a machine made that takes the data, and wait until its API server answers with it."""
        self._progress.event(f"{self._subject}: another control plane is made, of one machine")
        self._steps.patch("KubeadmControlPlane", site.control_plane, lambda obj: self._begun(obj, sha256))
        self._steps.patch("Cluster", site.cluster, lambda obj: planes.sized(obj, 1))
        self._keep_from_checks(site.machines)
        self._delete(site.machines)
        self._uninitialize()
        # A topology may have written its number over it before it had another one.
        self._steps.wait(lambda: self._control_plane()["spec"].get("replicas") == 1,
                         "the topology gives the control plane one machine")
        self._steps.patch("KubeadmControlPlane", site.control_plane, planes.released)
        machine, config, infrastructure = self._steps.wait(self._made_machine, "Cluster API makes the machine")
        self._steps.patch("KubeadmControlPlane", site.control_plane, planes.paused)
        self._give_files(site.cluster, data)
        self._steps.patch("KubeadmConfig", config,
                          lambda obj: receiver.with_receiver(obj, self._name, machine["metadata"]["name"], data.size,
                                                             data.sha256))
        # Machines that are made later on are not paused.
        self._steps.patch("KubeadmControlPlane", site.control_plane, planes.template_released)
        for kind, obj in (("KubeadmConfig", config), (infrastructure["kind"], infrastructure), ("Machine", machine)):
            self._steps.patch(kind, obj, planes.released)
        self._progress.event(f"Machine {machine['metadata']['name']}: waits for etcd's data when its server has booted")
        self._deliver(machine, config, data)
        self._steps.patch("KubeadmControlPlane", site.control_plane, lambda obj: planes.delivered(obj, machine))
        self._steps.wait(lambda: self._is_restored(site, about), "the restored API server answers")
        self._progress.event(f"{self._subject}: the API server answers with what was restored")

    def _begun(self, control_plane: Object, sha256: str) -> Object:
        # Another one may have begun since it was checked.
        found = self._elsewhere(control_plane)
        if found:
            raise RefusedError(found)
        return planes.begun(control_plane, sha256, self._locks.holder)

    def _elsewhere(self, control_plane: Object) -> list[Problem]:
        """Return the problem of a restore that another machine has begun."""
        note = planes.note_of(control_plane)
        return holders.elsewhere(
            "etcd-elsewhere", self._subject, ("a restore", "delete the machine that one of them has made"),
            note.holder if note else "", self._locks.holder, self._params["take_over"], "Ansible", "etcd_take_over")

    def _keep_from_checks(self, doomed: list[Object]) -> None:
        """Keep health checks from the other machines: of Nodes that the snapshot does not know they would replace all.

        They wait for nothing where a Node is not there, so that this must be before an API server answers.
        """
        going = set(machine["metadata"]["uid"] for machine in doomed)
        self._steps.patch_all("Machine", [
            machine for machine in self._machines()
            if node_name(machine) and machine["metadata"]["uid"] not in going and not is_going(machine)],
            cluster_node.keep)

    def _give_to_checks(self, missing: list[str]) -> None:
        """Let health checks look at the machines again whose Nodes are there, unless they are being maintained.

        :param missing: names of the Machines whose Nodes are not
        """
        snapshot = snapshot_of(self._client, self._namespace, self._name)

        def is_due(machine: Object) -> bool:
            host = snapshot.host(snapshot.infrastructure_machine(machine))
            return machine["metadata"]["name"] not in missing \
                and host_annotations.MAINTENANCE not in host_annotations.of(host or {})

        self._steps.patch_all("Machine", list(filter(is_due, snapshot.mine("Machine"))), cluster_node.give_back)

    def _give_files(self, cluster: Object, data: delivery.Data) -> None:
        """Write the Secret with the files of the machine, over one that a run of before has left."""
        stored = self._files()
        found = self._of_others(stored)
        if found:
            raise RefusedError(found)
        self._client.apply(BASE["Secret"], self._namespace,
                           receiver.secret(cluster, inspect.getsource(etcd_receiver), data.certificate, data.key),
                           checked=stored or ABSENT)

    def _files(self) -> Object | None:
        found: Object | None = self._client.get(BASE["Secret"], self._namespace, receiver.secret_name(self._name))
        return found

    def _of_others(self, secret: Object | None) -> list[Problem]:
        """Return the problem of a Secret that has the name of the machine's files and is somebody else's."""
        # Not by its field manager alone, which is that of whatever a user applies by this collection.
        if secret is None or (owned_tree(secret) and receiver.is_secret(secret)):
            return []
        return [Problem("etcd-secret", f"Secret {self._namespace}/{receiver.secret_name(self._name)}", "",
                        "one that this collection has not written", "none, or one that an earlier restore has left",
                        "find out whose it is, and delete it or give it another name")]

    def _delete(self, machines: list[Object]) -> None:
        snapshot = snapshot_of(self._client, self._namespace, self._name)
        hosts = set(host["metadata"]["name"] for machine in machines
                    for host in [snapshot.host(snapshot.infrastructure_machine(machine))] if host)
        errors, began_at = HostErrors(snapshot.all("BareMetalHost")), self._clock()
        for machine in machines:
            self._steps.patch("Machine", machine, planes.without_hook)
            self._client.delete(KNOWN["Machine"], self._namespace, machine["metadata"]["name"],
                                uid=machine["metadata"]["uid"])
            self._progress.wrote(f"Machine {self._namespace}/{machine['metadata']['name']}", "deleted")
            # One that a run before has had made and not given back: Cluster API deletes no Machine that is paused. It
            # may be gone by now.
            with contextlib.suppress(EtcdError):
                self._steps.patch("Machine", machine, planes.released)
        doomed = set(machine["metadata"]["uid"] for machine in machines)

        def are_gone() -> bool:
            snapshot = snapshot_of(self._client, self._namespace, self._name)
            more = [item["metadata"]["name"] for item in snapshot.mine("Machine")
                    if is_control_plane(item) and item["metadata"]["uid"] not in doomed]
            if more:
                # Its controller was at work when it was paused. With that machine it would make none that waits.
                raise EtcdError(f"{self._subject}: found {', '.join(more)}, which came while the others were deleted, "
                                "expected no other machine of the control plane; run again with its number")
            if not [item for item in snapshot.all("Machine") if item["metadata"]["uid"] in doomed]:
                return True
            found = cluster_failures.not_deprovisioned(snapshot.all("BareMetalHost"), hosts, errors,
                                                       self._clock() - began_at)
            if found:
                name, explanation, message = found
                raise EtcdError(f"{self._subject}: BareMetalHost {self._namespace}/{name} can't be deprovisioned: "
                                f"{explanation.cause} ({plain(message)}); {explanation.next_step}, then run again")
            return False

        self._steps.wait(are_gone, "the machines of before are gone, their hosts deprovisioned")

    def _uninitialize(self) -> None:
        """Let Cluster API take the control plane for one that is still to be made, until it stays so."""
        settled_at = [self._clock()]

        def is_settled() -> bool:
            plane = self._control_plane()
            for kind, obj in (("KubeadmControlPlane", plane),
                              ("Cluster", self._client.get(KNOWN["Cluster"], self._namespace, self._name))):
                if planes.is_initialized(obj):
                    self._client.patch(KNOWN[kind], self._namespace, obj["metadata"]["name"],
                                       planes.uninitialized(obj, timestamp(self._now())), subresource="status",
                                       checked=obj)
                    settled_at[0] = self._clock()
            return self._clock() - settled_at[0] >= _SETTLED_SECONDS

        self._steps.wait(is_settled, "Cluster API takes the control plane for one that is to be made")

    def _made_machine(self) -> tuple[Object, Object, Object] | None:
        site = sites.read(self._client, self._namespace, self._name)
        found = [machine for machine in site.machines if not is_going(machine)]
        if not found:
            return None
        machine = found[0]
        config = self._client.get(KNOWN["KubeadmConfig"], self._namespace,
                                  machine["spec"]["bootstrap"]["configRef"]["name"])
        reference = machine["spec"]["infrastructureRef"]
        infrastructure = self._client.get(KNOWN[reference["kind"]], self._namespace, reference["name"])
        return (machine, config, infrastructure) if config and infrastructure else None

    def _deliver(self, machine: Object, config: Object, data: delivery.Data) -> None:
        name, said = machine["metadata"]["name"], [""]
        port = receiver.port(config["spec"])

        def is_delivered() -> bool:
            snapshot = snapshot_of(self._client, self._namespace, self._name)
            self._report_steps(snapshot)
            for host, its_port in machine_address.candidates(self._client, snapshot, name, port):
                said[0] = self._send(data, host, its_port)
                if not said[0]:
                    return True
            failure = cluster_failures.of_machine(snapshot, name, self._now())
            if failure:
                raise EtcdError(f"{self._subject}: Machine {name} can't take etcd's data: {failure.subject}: "
                                f"{plain(failure.cause)}; {failure.next_step}, then run again")
            return False

        try:
            self._steps.wait(is_delivered, f"Machine {name} takes etcd's data")
        except EtcdError as exc:
            raise EtcdError(f"{exc}; last: {said[0] or 'no address of the machine is known'}") from exc
        self._progress.event(f"Machine {name}: has taken etcd's data")

    def _report_steps(self, snapshot: Any) -> None:
        steps = [step_text(step, self._now()) for step in machine_steps(snapshot) if step["role"] == "control-plane"]
        self._progress.status("; ".join(steps), f"{duration(self._clock() - self._began_at)} of at most "
                                                f"{duration(self._params['wait_timeout_seconds'])}")

    def _finished(self) -> Object:
        """Bring everything to what it was, but for the machine, and wait until that is a node."""
        site = sites.read(self._client, self._namespace, self._name)
        machine, config, infrastructure = self._steps.wait(self._made_machine, "the machine that was made")
        kubeadm = site.control_plane["spec"]["kubeadmConfigSpec"]
        self._steps.patch("KubeadmConfig", config, lambda obj: receiver.without_receiver(obj, kubeadm))
        secret = self._files()
        if secret is not None and not self._of_others(secret):
            self._client.delete(BASE["Secret"], self._namespace, secret["metadata"]["name"], checked=secret)
        self._steps.patch("KubeadmControlPlane", site.control_plane, planes.template_released)
        self._steps.patch("KubeadmControlPlane", site.control_plane, planes.released)
        workload = self._workload(site)
        name = machine["metadata"]["name"]
        removed: list[str] = []

        def linked_node() -> str | None:
            # CAPM3 knows a Node by its host's label: two of one host are none to it.
            machines = self._machines()
            node = next((node_name(item) for item in machines if item["metadata"]["name"] == name), None)
            stale = restored_nodes.delete_stale(workload, machine, machines, bool(node), self._progress)
            removed.extend(stale)
            if stale and node is None:
                self._look_again(infrastructure)
            return node

        node = self._steps.wait(linked_node, f"Machine {name} is a Node")
        self._steps.wait(lambda: is_true(workload.get(BASE["Node"], None, node), "Ready"), f"Node {node} is Ready")
        self._steps.wait(lambda: restored_nodes.has_own_address(self._client, workload, site, node, self._progress),
                         f"etcd on Node {node} has its address")
        nodes = set(item["metadata"]["name"] for item in workload.list(BASE["Node"])[0])
        missing = [item["metadata"]["name"] for item in self._machines()
                   if node_name(item) and node_name(item) not in nodes]
        self._give_to_checks(missing)
        note = planes.note_of(site.control_plane)
        if note is not None:
            self._steps.patch("Cluster", site.cluster, lambda obj: planes.sized(obj, note.replicas))
        # The last write: without the note the next run begins again.
        self._steps.patch("KubeadmControlPlane", site.control_plane, planes.ended)
        # The playbook shows the Node's name as it is, which the workload cluster gives.
        return {"machine": name, "node": plain(node), "removed_nodes": sorted(removed),
                "missing_nodes": sorted(missing)}

    def _machines(self) -> list[Object]:
        return snapshot_of(self._client, self._namespace, self._name).mine("Machine")

    def _look_again(self, infrastructure: Object) -> None:
        """Have CAPM3 look for the Node at once: while there were two, each of its pauses was twice the one before."""
        mark = {"metadata": {"annotations": {host_annotations.RETRY: timestamp(self._now())}}}
        self._steps.patch(infrastructure["kind"], infrastructure, lambda _obj: mark)

    def _control_plane(self) -> Object:
        return sites.read(self._client, self._namespace, self._name).control_plane
