# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site that has backups taken by a CronJob: its inventory, its pair of keys, and the playbook."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from fakes import move_planes

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import Resource

NAMESPACE, NAME = "metal3", "metal3-backup"
HOSTS = 2
SECONDS = 300
CRON_JOB = Resource("batch", "v1", "cronjobs", "CronJob", True)


class Site:
    """A plane with hosts and a cluster, and an inventory whose playbooks work on it.

    :param kubeconfig: path of the plane's kubeconfig
    :param folder: Path of an empty folder
    """

    def __init__(self, kubeconfig, folder):
        self.kubeconfig, self.folder = kubeconfig, folder
        self.kube = KubeClient({"kubeconfig": kubeconfig})
        self.total = move_planes.populate(self.kube, NAMESPACE, HOSTS, held=False)
        self.identity = folder / "identity.txt"
        subprocess.run(["age-keygen", "-o", str(self.identity)], check=True, capture_output=True)
        self.recipient = next(line.rpartition(" ")[2] for line in self.identity.read_text().splitlines()
                              if "public key" in line)
        (folder / "hosts.yml").write_text(json.dumps({"management": {"hosts": {"here": {
            "ansible_connection": "local", "ansible_python_interpreter": sys.executable}}}}))

    def schedule(self, *arguments, **variables):
        """Run the playbook; return its exit code and output."""
        given = dict({"metal3_kubeconfig": self.kubeconfig, "metal3_namespace": NAMESPACE, "backup_keep": 2,
                      "backup_recipients": [self.recipient], "backup_schedule_image": "registry.example.org/ee:1",
                      "backup_schedule_volume": {"persistentVolumeClaim": {"claimName": "backups"}}}, **variables)
        return finished([str(Path(sys.executable).parent / "ansible-playbook"), "metal3.baremetal.backup_schedule",
                         "-i", str(self.folder / "hosts.yml"), "-e", json.dumps(given), *arguments], os.environ)


def finished(arguments, environment):
    """Run a program; return its exit code and output."""
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=SECONDS, env=dict(environment))
    return done.returncode, done.stdout
