# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CronJob of backups on a real API server: its rights, its command and its settings, by its own account.

No pod is started: what its container would run is run here, as in a pod by the token of its account and with what its
volumes would hold.
"""
from __future__ import annotations

import base64
import hashlib
import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import backup_schedule
import pytest
import yaml
from backup_schedule import CRON_JOB, NAME, NAMESPACE, finished
from fakes import move_planes

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import age, files
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import archive

# Builds clusterctl when it is not there.
pytestmark = pytest.mark.pivot

# Where a pod has the token of its account.
ACCOUNT = "/run/secrets/kubernetes.io/serviceaccount"


class Site(backup_schedule.Site):
    """A site whose CronJob's container is run on this machine."""

    def token(self):
        done = subprocess.run([os.path.join(move_planes.programs(), "kubectl"), "--kubeconfig", self.kubeconfig,
                               "create", "token", NAME, "--namespace", NAME], check=True, capture_output=True,
                              text=True)
        return done.stdout.strip()

    def container(self):
        """Run what the CronJob's container runs, with its volumes in the site's folder; return exit code and output."""
        pod = self.kube.get(CRON_JOB, NAME, NAME)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        container, = pod["containers"]
        paths = dict((mount["mountPath"], str(self.folder / mount["name"])) for mount in container["volumeMounts"])
        for path in paths.values():
            Path(path).mkdir(exist_ok=True)
        config = next(volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume)
        for name, content in self.kube.get(KNOWN["ConfigMap"], NAME, config)["data"].items():
            (self.folder / "inventory" / name).write_text(placed(content, paths))
        access = self.folder / "account"
        access.mkdir(exist_ok=True)
        (access / "token").write_text(self.token())
        cluster = yaml.safe_load(Path(self.kubeconfig).read_text())["clusters"][0]["cluster"]
        (access / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        url = urlsplit(cluster["server"])
        # Of the image: its programs and its collections.
        environment = {"PATH": os.environ["PATH"], "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"],
                       "KUBERNETES_SERVICE_HOST": url.hostname, "KUBERNETES_SERVICE_PORT": str(url.port),
                       **dict((item["name"], placed(item["value"], paths)) for item in container["env"])}
        return finished(
            ["unshare", "--mount", "sh", "-ec", f'mount -t tmpfs none /run; mkdir -p {ACCOUNT}; cp "$0"/* {ACCOUNT}; '
             'exec "$@"', str(access), *container["command"], *[placed(text, paths) for text in container["args"]]],
            environment)


def placed(text, paths):
    for inside, outside in paths.items():
        text = text.replace(inside, outside)
    return text


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with move_planes.planes() as servers:
        yield Site(servers.kubeconfig("here"), tmp_path_factory.mktemp("site"))


def test_mistakes_are_refused_together_and_check_mode_writes_nothing(site):
    code, output = site.schedule(backup_recipients=[], backup_schedule_volume={}, backup_schedule_namespace=NAMESPACE)
    words = " ".join(output.split())
    assert code != 0 and all(name in words for name in (
        "backup_recipients: found none", "backup_schedule_volume: found 0", "the namespace of the hosts")), output
    secret = Path(site.identity).read_text().splitlines()[-1]
    code, output = site.schedule(backup_recipients=[secret])
    assert code != 0 and "found a secret key" in " ".join(output.split()) and secret not in output, output
    code, output = site.schedule("--check", "--diff")
    assert code == 0 and "changed=1" in output, output
    assert site.kube.get(KNOWN["Namespace"], None, NAME) is None


def test_a_second_run_changes_nothing_and_only_public_keys_are_in_the_cluster(site):
    code, output = site.schedule()
    assert code == 0 and "changed=1" in output, output
    code, output = site.schedule()
    # This machine is in it, too, by the check of the inventory.
    assert code == 0 and output.count("changed=0") == 2, output
    job = site.kube.get(CRON_JOB, NAME, NAME)
    assert job["spec"]["schedule"] == "15 3 * * *" and job["spec"]["concurrencyPolicy"] == "Forbid"
    assert site.kube.list(KNOWN["Secret"], NAME)[0] == []
    assert site.recipient in site.kube.get(KNOWN["ConfigMap"], NAME, NAME)["data"]["hosts.yml"]


def test_what_its_container_runs_writes_a_backup_that_the_secret_key_opens(site):
    before = move_planes.objects(site.kube, NAMESPACE)
    code, output = site.container()
    assert code == 0, output
    path, = (site.folder / "backups").glob("*.age")
    backup, problems = archive.unpacked(age.decrypt(path.read_bytes(), str(site.identity)), path.name)
    assert problems == [] and len(backup.objects) == site.total
    assert {obj["metadata"]["name"] for obj in backup.objects if obj["kind"] == "BareMetalHost"} == {
        "host-000", "host-001"}
    assert path.stat().st_mode & 0o777 == 0o600 and move_planes.objects(site.kube, NAMESPACE) == before


def test_older_backups_are_deleted(site):
    prefix = files.prefix_of(NAMESPACE, site.kube.get(KNOWN["Namespace"], None, "kube-system")[
        "metadata"]["uid"])
    old = [site.folder / "backups" / files.name_of(prefix, f"2026-01-0{day}T00:00:00Z") for day in (1, 2)]
    for path in old:
        path.write_bytes(b"")
        files.record(str(path), 0, hashlib.sha256().hexdigest(), True)
    code, output = site.container()
    left = list((site.folder / "backups").glob("*.age"))
    assert code == 0 and len(left) == 2 and not set(left) & set(old), output


def test_its_account_writes_nothing_and_reads_nothing_else(site):
    kubectl = [os.path.join(move_planes.programs(), "kubectl"), "--kubeconfig", site.kubeconfig, "--as",
               f"system:serviceaccount:{NAME}:{NAME}", "auth", "can-i"]

    def may(*words):
        return finished([*kubectl, *words], os.environ)[1].split()[-1] == "yes"

    assert may("list", "baremetalhosts.metal3.io", "-n", NAMESPACE) and may("list", "secrets", "-n", NAMESPACE)
    for words in (("list", "secrets", "-n", NAME), ("list", "secrets", "-n", "kube-system"), ("list", "nodes"),
                  ("get", "namespaces"), ("create", "pods", "-n", NAME),
                  ("get", "secrets/c-kubeconfig", "-n", NAMESPACE),
                  *((verb, kind, "-n", NAMESPACE) for verb in ("create", "patch", "update", "delete", "watch")
                    for kind in ("baremetalhosts.metal3.io", "clusters.cluster.x-k8s.io", "secrets", "configmaps"))):
        assert not may(*words), words


def test_a_run_without_its_rights_fails(site):
    site.kube.delete(KNOWN["RoleBinding"], NAMESPACE, NAME)
    count = len(list((site.folder / "backups").iterdir()))
    code, output = site.container()
    assert code != 0 and "forbidden" in output.lower(), output
    assert len(list((site.folder / "backups").iterdir())) == count
    code, output = site.schedule()
    assert code == 0 and "changed=1" in output and site.container()[0] == 0, output
