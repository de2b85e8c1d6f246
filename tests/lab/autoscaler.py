# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests of Cluster API's cluster autoscaler, as it makes them; the autoscaler itself is served by no registry here.

Source: kubernetes/autoscaler, ``cloudprovider/clusterapi`` (``clusterapi_unstructured.go``) and ``core/scaledown``.
"""
from __future__ import annotations

import time

from operator_account import kubectl
from support import NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

DELETE = "cluster.x-k8s.io/delete-machine"
_TAINT = "ToBeDeletedByClusterAutoscaler"


def scale(lab, pool, replicas):
    """Set the number of a pool's machines."""
    lab.kube.patch(KNOWN["MachineDeployment"], NAMESPACE, pool, {"spec": {"replicas": replicas}}, subresource="scale")


def take(lab, workload, pool, machine, replicas):
    """Take a machine's node out of service, mark the Machine, and make the pool smaller.

    :param machine: name of the Machine, which is its node's
    :param replicas: how many machines stay
    """
    for arguments in (("taint", "node", machine, f"{_TAINT}={int(time.time())}:NoSchedule"), ("cordon", machine),
                      ("drain", machine, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=50s")):
        done = kubectl(lab, *arguments, kubeconfig=workload.kubeconfig)
        assert done.returncode == 0, done.stdout + done.stderr
    lab.kube.patch(KNOWN["Machine"], NAMESPACE, machine, {"metadata": {"annotations": {
        DELETE: time.strftime("%Y-%m-%d %H:%M:%S +0000 UTC", time.gmtime())}}})
    scale(lab, pool, replicas)
