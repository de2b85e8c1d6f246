# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management cluster in memory whose Cluster API makes control plane machines, and the cluster that they serve."""
from __future__ import annotations

import base64
import copy
import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from fakes.kubernetes import Server
from fakes.merge_patch import merged

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import PAUSED_ANNOTATION
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import control_plane

NAMESPACE, NAME = "metal3", "prod"
OLD, NEW = f"{NAME}-control-plane-old", f"{NAME}-control-plane-new"
LABELS = {"cluster.x-k8s.io/cluster-name": NAME, "cluster.x-k8s.io/control-plane": ""}
KUBEADM = {"clusterConfiguration": {}, "files": [{"path": "/etc/own", "content": "own"}],
           "initConfiguration": {"nodeRegistration": {"name": "n", "ignorePreflightErrors": ["SystemVerification"]}},
           "joinConfiguration": {}}


def authority():
    """Return the data of a Secret with an authority of certificates."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "etcd-ca")])
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256()))
    own = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return {"tls.crt": base64.b64encode(certificate.public_bytes(serialization.Encoding.PEM)).decode(),
            "tls.key": base64.b64encode(own).decode()}


class Workload(Server):
    """The cluster: it answers when there is a control plane."""

    def __init__(self, uid="uid-of-prod"):
        super().__init__()
        self.answers = True
        self.add("Namespace", "kube-system", metadata={"uid": uid})
        # As the snapshot has it, whose server is that of the new one.
        self.add_node(OLD, control_plane=True, made="2026-01-01T00:00:00Z", ready="Unknown")
        self.add_node("worker", control_plane=False)

    def add(self, kind, name, metadata=None, **fields):
        self.objects[kind, name] = dict({"metadata": dict({
            "name": name, "uid": f"uid-{name}", "resourceVersion": "1"}, **(metadata or {}))}, **fields)

    def add_node(self, name, control_plane, made="2026-01-03T00:00:00Z", ready="True"):
        labels = {"node-role.kubernetes.io/control-plane": ""} if control_plane else {}
        self.add("Node", name, metadata={"labels": labels, "creationTimestamp": made},
                 status={"conditions": [{"type": "Ready", "status": ready}]})
        if control_plane:
            url = "--initial-advertise-peer-urls=https://192.0.2.7:2380"
            self.add("Pod", f"etcd-{name}", spec={"containers": [{"command": ["etcd", url]}]})

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        found, version = super().list(resource, namespace)
        if label_selector:
            found = [item for item in found if label_selector in item["metadata"].get("labels", {})]
        return found, version


class Plane(Server):
    """The management cluster; its controllers work whenever somebody waits."""

    def __init__(self, workload, replicas=3):
        super().__init__()
        self.workload, self.made = workload, 0
        # Of the machine that is made.
        self.host = "rack1-02"
        # Whether a controller that is behind takes the control plane for initialized once more.
        self.lags = 1
        self.has_taken = False
        self.add("Cluster", NAME, spec={
            "controlPlaneRef": {"kind": "KubeadmControlPlane", "name": f"{NAME}-control-plane"},
            "infrastructureRef": {"kind": "Metal3Cluster", "name": NAME},
            "controlPlaneEndpoint": {"host": "192.0.2.1", "port": 6443}}, status=self._initialized("Cluster"))
        self.add("KubeadmControlPlane", f"{NAME}-control-plane", spec={
            "version": "v1.35.4", "replicas": replicas, "kubeadmConfigSpec": copy.deepcopy(KUBEADM),
            "machineTemplate": {}}, status=self._initialized("KubeadmControlPlane"))
        self.add("Namespace", "kube-system", metadata={"uid": "uid-of-the-plane"})
        for name in ("ca", "etcd"):
            self.add("Secret", f"{NAME}-{name}", data=authority())
        self.add_machine(OLD, {control_plane.HOOK: ""}, node=OLD)

    @staticmethod
    def _initialized(kind):
        name = {"Cluster": "ControlPlaneInitialized", "KubeadmControlPlane": "Initialized"}[kind]
        return {"initialization": {"controlPlaneInitialized": True},
                "conditions": [{"type": name, "status": "True"}, {"type": "Other", "status": "True"}]}

    def add(self, kind, name, metadata=None, **fields):
        self.objects[kind, name] = dict({"kind": kind, "metadata": dict({
            "name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "resourceVersion": "1",
            "creationTimestamp": "2026-01-02T00:00:00Z"}, **(metadata or {}))}, **fields)

    def add_machine(self, name, annotations, node=None, kubeadm=None):
        metadata = {"labels": dict(LABELS), "annotations": dict(annotations)}
        self.add("Machine", name, metadata=metadata, spec={
            "clusterName": NAME, "bootstrap": {"configRef": {"kind": "KubeadmConfig", "name": name}},
            "infrastructureRef": {"kind": "Metal3Machine", "name": name}},
            status={"nodeRef": {"name": node} if node else {}})
        self.add("KubeadmConfig", name, metadata=copy.deepcopy(metadata), spec=copy.deepcopy(kubeadm or KUBEADM))
        self.add("Metal3Machine", name, metadata=copy.deepcopy(metadata), spec={},
                 status={"renderedData": {"name": f"{name}-data"}})
        self.add("IPClaim", f"{name}-claim", metadata={"ownerReferences": [{"name": f"{name}-data"}]})
        self.add("IPAddress", f"{name}-address", spec={
            "address": "192.0.2.7", "claim": {"name": f"{name}-claim"}})

    def of(self, kind, name=None):
        """Return the one object of a kind, or that of a name."""
        found = [item for (its_kind, its_name), item in self.objects.items() if its_kind == kind
                 and name in (None, its_name)]
        assert len(found) == 1, [item["metadata"]["name"] for item in found]
        return found[0]

    def patch(self, resource, namespace, name, body, content_type=None, subresource=None, dry_run=False, checked=None):
        self._request("PATCH", resource, name, dry_run)
        self._meet("PATCH", resource, name, checked)
        stored = self.objects[resource.kind, name]
        changed = merged(stored, {key: value for key, value in body.items()
                                  if (key == "status") == (subresource == "status")})
        self.version += 1
        changed["metadata"] = dict(changed["metadata"], uid=stored["metadata"]["uid"],
                                   resourceVersion=f"{self.version + 1000}")
        self.objects[resource.kind, name] = changed
        return self._answer("PATCH", resource, name, copy.deepcopy(changed), dry_run)

    def delete(self, resource, namespace, name, propagation="Background", uid=None, dry_run=False, checked=None):
        if resource.kind == "Machine":
            assert control_plane.HOOK not in self.objects["Machine", name]["metadata"]["annotations"]
            assert PAUSED_ANNOTATION in self.of("KubeadmControlPlane")["metadata"]["annotations"]
            self.workload.answers = False
            if PAUSED_ANNOTATION in self.objects["Machine", name]["metadata"]["annotations"]:
                # Cluster API 1.13 sets its finalizer, and then leaves a Machine alone that is paused.
                self._meet("DELETE", resource, name, checked)
                self.objects["Machine", name]["metadata"]["deletionTimestamp"] = "2026-01-04T00:00:00Z"
                return copy.deepcopy(self.objects["Machine", name])
        return super().delete(resource, namespace, name, propagation, uid, dry_run, checked)

    def sleep(self, _seconds):
        """Let the controllers work."""
        for key, item in list(self.objects.items()):
            if "deletionTimestamp" in item["metadata"] and PAUSED_ANNOTATION not in item["metadata"]["annotations"]:
                del self.objects[key]
        cluster, plane = self.of("Cluster"), self.of("KubeadmControlPlane")
        if self.lags and not cluster["status"]["initialization"]["controlPlaneInitialized"]:
            self.lags -= 1
            cluster["status"] = self._initialized("Cluster")
        number = cluster["spec"].get("topology", {}).get("controlPlane", {}).get("replicas")
        if number is not None:
            # The controller of topologies does not look at the annotation.
            plane["spec"]["replicas"] = number
        if PAUSED_ANNOTATION in plane["metadata"].get("annotations", {}):
            return
        machines = [item for (kind, _name), item in self.objects.items() if kind == "Machine"]
        if not machines:
            initialized = [item["status"]["initialization"]["controlPlaneInitialized"] for item in (cluster, plane)]
            assert initialized == [False, False], "the machine would join what is not there"
            self.made += 1
            annotations = plane["spec"]["machineTemplate"]["metadata"]["annotations"]
            kubeadm = dict(plane["spec"]["kubeadmConfigSpec"])
            del kubeadm["joinConfiguration"]
            self.add_machine(NEW if self.made == 1 else f"{NEW}-{self.made}", annotations, kubeadm=kubeadm)
        elif self.has_taken and ("Node", OLD) in self.workload.objects:
            # CAPM3 links none of two Nodes with the label of one host.
            return
        elif self.has_taken:
            machines[0]["status"]["nodeRef"] = {"name": machines[0]["metadata"]["name"]}
            for item, kind in ((cluster, "Cluster"), (plane, "KubeadmControlPlane")):
                item["status"] = self._initialized(kind)
