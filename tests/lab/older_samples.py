# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of v1beta1 with all fields of a status, as no controller writes them at once."""
from __future__ import annotations

from played_metal3 import condition

NAMESPACE, NAME, KUBERNETES = "metal3", "prod", "v1.33.1"


def status(state, **more):
    """Return a status with conditions of both forms, as v1beta1 has it."""
    return dict({"conditions": [condition("Ready", state, severity="Error", reason="Old", message="of before")],
                 "v1beta2": {"conditions": [condition("Ready", state, reason="New", message="of now")]}}, **more)


def of_metal3(kind, spec, state):
    return {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": kind, "spec": spec, "status": state,
            "metadata": {"name": "sample", "namespace": NAMESPACE}}


REFERENCE = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "name": "a", "namespace": NAMESPACE}
SAMPLES = [
    of_metal3("Metal3Data", {"index": 2, "claim": dict(REFERENCE, kind="Metal3DataClaim"), "templateReference": "old",
                             "template": dict(REFERENCE, kind="Metal3DataTemplate"),
                             "metaData": {"name": "m", "namespace": NAMESPACE}},
              {"ready": True, "errorMessage": "none"}),
    of_metal3("Metal3DataClaim", {"template": dict(REFERENCE, kind="Metal3DataTemplate")},
              {"renderedData": dict(REFERENCE, kind="Metal3Data"), "errorMessage": "none"}),
    of_metal3("Metal3DataTemplate", {"clusterName": NAME},
              {"indexes": {"b": 0, "a": 2, "c": 1}, "lastUpdated": "2026-11-28T00:00:00Z"}),
    of_metal3("Metal3Remediation", {"strategy": {"type": "Reboot", "retryLimit": 2, "timeout": "5m0s"}},
              {"phase": "Running", "retryCount": 1, "lastRemediated": "2026-11-28T00:00:00Z"}),
    of_metal3("Metal3RemediationTemplate", {"template": {"spec": {"strategy": {
        "type": "Reboot", "retryLimit": 2, "timeout": "5m0s"}}}}, {}),
    of_metal3("Metal3Machine", {"image": {"url": "http://a", "checksum": "http://b", "format": "raw"},
                                "dataTemplate": dict(REFERENCE, kind="Metal3DataTemplate")},
              status("False", phase="Old", failureReason="CreateError", failureMessage="no",
                     renderedData=dict(REFERENCE, kind="Metal3Data"))),
    of_metal3("Metal3Cluster",
              {"controlPlaneEndpoint": {"host": "a", "port": 6443},
               "failureDomains": {"rack-2": {"controlPlane": True}, "rack-1": {"attributes": {"row": "1"}}}},
              status("True", ready=True, failureDomains={"rack-2": {"controlPlane": True}, "rack-1": {}},
                     failureReason="CreateError", failureMessage="no")),
    {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineHealthCheck", "metadata": {"name": "sample"}, "spec": {
        "clusterName": NAME, "selector": {"matchLabels": {"a": "b"}}, "nodeStartupTimeout": "10m0s",
        "maxUnhealthy": "40%", "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "5m0s"}]},
     "status": status("True", expectedMachines=2, currentHealthy=1, remediationsAllowed=1, targets=["a", "b"],
                      observedGeneration=3)},
    {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineSet", "metadata": {"name": "sample"}, "spec": {
        "clusterName": NAME, "replicas": 2, "minReadySeconds": 5, "deletePolicy": "Oldest", "selector": {},
        "template": {"spec": {"clusterName": NAME, "bootstrap": {"dataSecretName": "a"}, "nodeDrainTimeout": "1m0s",
                              "infrastructureRef": dict(REFERENCE, kind="Metal3MachineTemplate")}}},
     "status": status("True", replicas=2, readyReplicas=1, availableReplicas=1, fullyLabeledReplicas=2,
                      failureReason="CreateError", failureMessage="no")},
    {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "sample"}, "spec": {
        "paused": True, "topology": {"class": "c", "classNamespace": "n", "version": KUBERNETES, "controlPlane": {
            "replicas": 1, "nodeDeletionTimeout": "10s", "machineHealthCheck": {
                "enable": True, "nodeStartupTimeout": "9m0s", "maxUnhealthy": 1}},
            "workers": {"machineDeployments": [{"class": "w", "name": "p", "replicas": 1, "strategy": {
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "deletePolicy": "Newest"},
                "remediation": {"maxInFlight": 1}}, "nodeDrainTimeout": "1m0s", "minReadySeconds": 3}]},
            "variables": [{"name": "v", "value": 1, "definitionFrom": "x"}]}},
     "status": status("True", infrastructureReady=True, controlPlaneReady=True, phase="Provisioned",
                      failureDomains={"b": {"controlPlane": True}, "a": {}}, failureReason="UpdateError",
                      failureMessage="no")},
    {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": {"name": "sample"}, "spec": {
        "clusterName": NAME, "bootstrap": {"dataSecretName": "a"}, "nodeVolumeDetachTimeout": "1m0s",
        "infrastructureRef": dict(REFERENCE, kind="Metal3Machine")},
     "status": status("False", bootstrapReady=True, infrastructureReady=False, failureReason="CreateError",
                      failureMessage="no", certificatesExpiryDate="2027-11-28T00:00:00Z", phase="Failed",
                      lastUpdated="2026-11-28T00:00:00Z", nodeRef={"kind": "Node", "apiVersion": "v1", "name": "n",
                                                                   "uid": "u"},
                      deletion={"nodeDrainStartTime": "2026-11-28T00:00:00Z"},
                      addresses=[{"type": "InternalIP", "address": "198.18.0.2"}])},
    {"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "KubeadmControlPlane",
     "metadata": {"name": "sample"}, "spec": {"version": KUBERNETES, "kubeadmConfigSpec": {}, "machineTemplate": {
         "infrastructureRef": dict(REFERENCE, kind="Metal3MachineTemplate")}},
     "status": status("True", initialized=True, ready=True, replicas=3, readyReplicas=2, updatedReplicas=1,
                      unavailableReplicas=1, version=KUBERNETES, selector="a=b", failureReason="CreateError",
                      failureMessage="no", observedGeneration=4, lastRemediation={
                          "machine": "m", "timestamp": "2026-11-28T00:00:00Z", "retryCount": 1})},
    {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta1", "kind": "KubeadmConfig", "metadata": {"name": "sample"},
     "spec": {}, "status": status("True", ready=True, dataSecretName="s", failureReason="a", failureMessage="b")},
    {"apiVersion": "ipam.cluster.x-k8s.io/v1beta1", "kind": "IPAddressClaim", "metadata": {"name": "sample"},
     "spec": {"clusterName": NAME, "poolRef": {"apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": "p"}},
     "status": status("True", addressRef={"name": "a"})},
]
