# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CronJob of backups in a cluster of real nodes: its pods, from an image with the built collection, at their time.

The plane that is backed up has no controllers there, as no server of the test is to be managed twice.
"""
from __future__ import annotations

import base64

import backup_schedule
import execution_image
import pytest
import small_cluster
from backup_schedule import CRON_JOB, NAME, NAMESPACE
from fakes import move_planes
from support import eventually
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import age
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import KNOWN, Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import archive

pytestmark = [pytest.mark.nodes, pytest.mark.pivot]

CLUSTER = "backed-up"
SECONDS = 1500
# Where the volume is on the node.
FOLDER = "/var/lib/backups"
JOB = Resource("batch", "v1", "jobs", "Job", True)
POD = Resource("", "v1", "pods", "Pod", True)
VOLUME = Resource("", "v1", "persistentvolumes", "PersistentVolume", False)
CLAIM = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True)


@pytest.fixture(scope="module")
def cluster(lab):
    """A cluster of one machine that pods may run on, and of a plane's definitions; deleted afterwards."""
    variables = dict(small_cluster.variables(lab, CLUSTER, {}, endpoint=13),
                     cluster_control_plane={"replicas": 1, "node_taints": []})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        try:
            lab.playbook("cluster", extra=variables, seconds=SECONDS).ok()
            found = Workload(lab, CLUSTER, variables["cluster_workload_kubeconfig"])
            move_planes.install(found.client, ("CustomResourceDefinition", "Namespace", "Provider"))
            yield found
        finally:
            lab.playbook("teardown", extra=dict(variables, **small_cluster.teardown(CLUSTER)), seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def site(lab, cluster, tmp_path_factory):
    found = backup_schedule.Site(cluster.kubeconfig, tmp_path_factory.mktemp("site"))
    found.variables = {"backup_schedule_image": execution_image.pushed(lab, tmp_path_factory.mktemp("image")),
                       "backup_schedule_cron": "* * * * *"}
    return found


def ended(site):
    """Return the condition and the name of each Job that has ended, the oldest first."""
    jobs = sorted(site.kube.list(JOB, NAME)[0], key=lambda job: job["metadata"]["creationTimestamp"])
    return [(entry["type"], job["metadata"]["name"]) for job in jobs
            for entry in job.get("status", {}).get("conditions") or []
            if entry["status"] == "True" and entry["type"] in ("Complete", "Failed")]


def logs(site):
    """Return what the pods have printed."""
    pods = [item["metadata"]["name"] for item in site.kube.list(POD, NAME)[0]]
    return "\n".join(str(site.kube.request("GET", f"/api/v1/namespaces/{NAME}/pods/{pod}/log", any_content=True))
                     for pod in pods)


def test_a_pod_takes_the_backup_when_it_is_time(site, cluster):
    server, = cluster.hosts().values()
    node, = cluster.nodes()
    cluster.inside(server, "mkdir", FOLDER)
    site.kube.create(VOLUME, None, {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "backups"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
            "local": {"path": FOLDER}, "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}})
    code, output = site.schedule(**site.variables)
    assert code == 0, output
    site.kube.create(CLAIM, NAME, {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "backups"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "backups",
            "resources": {"requests": {"storage": "1Gi"}}}})
    eventually(lambda: ended(site), SECONDS, "the first Job of the CronJob has ended")
    # No other begins while this is looked at.
    code, output = site.schedule(backup_schedule_suspended=True, **site.variables)
    assert code == 0 and site.kube.get(CRON_JOB, NAME, NAME)["spec"]["suspend"] is True, output
    eventually(lambda: len(ended(site)) == len(site.kube.list(JOB, NAME)[0]), SECONDS, "all Jobs have ended")
    printed = logs(site)
    assert set(kind for kind, _job in ended(site)) == {"Complete"}, printed
    assert base64.b64decode(move_planes.PASSWORD).decode() not in printed and move_planes.PASSWORD not in printed
    names = cluster.inside(server, "ls", FOLDER).split()
    assert len(names) == len(ended(site)) <= 2
    for name in names:
        content = base64.b64decode(cluster.inside(server, "base64", f"{FOLDER}/{name}"))
        backup, problems = archive.unpacked(age.decrypt(content, str(site.identity)), name)
        assert problems == [] and len(backup.objects) == site.total
    owner, = set(cluster.inside(server, "stat", "-c", "%u %a", *(f"{FOLDER}/{name}" for name in names)).splitlines())
    assert owner == "1000 600"


def test_a_backup_that_fails_is_a_failed_job(site):
    """Its account may not read the hosts any more: no Job is Complete without a backup."""
    before = ended(site)
    site.kube.delete(KNOWN["RoleBinding"], NAMESPACE, NAME)
    # A plain Job, as an operator makes it to try; not by the CronJob's time, as its run would give the rights back.
    template = site.kube.get(CRON_JOB, NAME, NAME)["spec"]["jobTemplate"]
    site.kube.create(JOB, NAME, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "tried"},
                                 "spec": dict(template["spec"], backoffLimit=0)})
    eventually(lambda: len(ended(site)) > len(before), SECONDS, "the Job has ended")
    assert ("Failed", "tried") in ended(site)
    assert "forbidden" in logs(site).lower()
