# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A workload cluster from the outside: its nodes, machines and hosts, a Service in it, and its servers from within."""
from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
import time
from pathlib import Path

import yaml
from support import HOST, NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

NODE_PORT = 30080
# Every node image of the lab has it.
AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:1.35.4"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"

# Two pods on two nodes, of which a disruption takes one at a time; an ended one is asked no more before it goes. A new
# one waits for the network: a node of the lab is Ready before flannel has made it known to the others.
ECHO = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: echo, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: echo}}
  template:
    metadata: {labels: {app: echo}}
    spec:
      terminationGracePeriodSeconds: 30
      tolerations:
        - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 10}
        - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 10}
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway,
           labelSelector: {matchLabels: {app: echo}}}
      initContainers:
        - name: network
          image: %s
          args: [connect, --timeout=60s, "$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)"]
      containers:
        - name: echo
          image: %s
          args: [netexec, --http-port=8080]
          lifecycle: {preStop: {sleep: {seconds: 8}}}
          readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: echo, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: echo}}}
---
apiVersion: v1
kind: Service
metadata: {name: echo, namespace: default}
spec:
  type: NodePort
  selector: {app: echo}
  ports: [{port: 80, targetPort: 8080, nodePort: %d}]
"""


class Workload:
    """One workload cluster of the lab.

    :param lab: a Lab
    :param name: the cluster's name
    :param kubeconfig: path of its kubeconfig
    """

    def __init__(self, lab, name, kubeconfig):
        self.lab, self.name, self.kubeconfig = lab, name, str(kubeconfig)

    @property
    def client(self):
        return KubeClient({"kubeconfig": self.kubeconfig})

    def nodes(self):
        """Return the nodes by name."""
        return dict((node["metadata"]["name"], node) for node in self.client.list(KNOWN["Node"])[0])

    def ready(self):
        """Return the names of the nodes that are Ready; none while the API server does not answer."""
        try:
            return sorted(name for name, node in self.nodes().items() if any(
                entry["type"] == "Ready" and entry["status"] == "True" for entry in node["status"]["conditions"]))
        except KubeError:
            return []

    def machines(self, part=""):
        """Return the Machines by name, those whose names have ``part`` in them, without those that are going."""
        return dict((item["metadata"]["name"], item) for item in self.lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
                    if item["spec"]["clusterName"] == self.name and part in item["metadata"]["name"]
                    and not item["metadata"].get("deletionTimestamp"))

    def hosts(self, part=""):
        """Return the name of the host of each such Machine."""
        return dict((name, self.host_of(item)) for name, item in self.machines(part).items())

    def host_of(self, machine):
        consumer = machine["spec"]["infrastructureRef"]["name"]
        return next((item["metadata"]["name"] for item in self.lab.kube.list(HOST, NAMESPACE)[0]
                     if (item["spec"].get("consumerRef") or {}).get("name") == consumer), None)

    def nodes_of_echo(self):
        """Return the name of the node of each pod of the Service that is Ready and is not going."""
        return [pod["spec"].get("nodeName") for pod in self.client.list(KNOWN["Pod"], "default")[0]
                if pod["metadata"]["labels"].get("app") == "echo" and "deletionTimestamp" not in pod["metadata"]
                and any(entry["type"] == "Ready" and entry["status"] == "True"
                        for entry in pod["status"].get("conditions") or [])]

    def addresses(self):
        """Return the addresses that the cluster's machines have been given, by the management cluster.

        Those of Machines are what the inspection has found.
        """
        return [item["spec"]["address"] for item in self.lab.kube.list(KNOWN["IPAddress"], NAMESPACE)[0]
                if item["spec"]["pool"]["name"] == f"{self.name}-nodes"]

    def address(self, control_plane):
        """Return the address of a node of the control plane, or of a worker."""
        return next(entry["address"] for node in self.nodes().values()
                    if (_CONTROL_PLANE in node["metadata"]["labels"]) == control_plane
                    for entry in node["status"]["addresses"] if entry["type"] == "InternalIP")

    def inside(self, server, *command):
        """Run a program in a server's namespaces and return what it prints."""
        run = json.loads(Path(self.lab.dir, "machines", server, "system", "run.json").read_text())["pid"]
        init = Path(f"/proc/{run}/task/{run}/children").read_text().split()[0]
        done = subprocess.run(
            ["nsenter", "--target", init, "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def kubernetes_versions(self):
        """Return the versions of what kubeadm has made: its own configuration, the static pods, kube-proxy."""
        client = self.client
        stored = client.get(KNOWN["ConfigMap"], "kube-system", "kubeadm-config")["data"]["ClusterConfiguration"]
        pods = client.list(KNOWN["Pod"], "kube-system")[0]
        images = [container["image"] for pod in pods for container in pod["spec"]["containers"]]
        programs = [image for image in images
                    if re.search(r"/kube-(apiserver|controller-manager|scheduler|proxy):", image)]
        assert len(set(image.rpartition(":")[0] for image in programs)) == 4, images
        return {yaml.safe_load(stored)["kubernetesVersion"], *(image.rpartition(":")[2] for image in programs)}

    def answers(self, address):
        """Return whether the Service answers at a node."""
        return ask(address) == ""


def ask(address):
    """Ask the Service once; return what was wrong, empty when it has answered."""
    connection = http.client.HTTPConnection(address, NODE_PORT, timeout=5)
    try:
        connection.request("GET", "/hostname")
        answer = connection.getresponse()
        return "" if answer.status == 200 and answer.read() else f"HTTP {answer.status}"
    except (OSError, http.client.HTTPException) as exc:
        return repr(exc)
    finally:
        connection.close()


class Polled:
    """Asks the Service ten times a second, and counts what was not answered; a context manager.

    :param addresses: of nodes, of which one has to answer, as behind a load balancer
    :param workload: a Workload whose nodes are asked, those that come later too; by default none
    """

    def __init__(self, *addresses, workload=None):
        self._addresses, self._workload = list(addresses), workload
        self._looked_at = 0.0
        self.asked, self.failed = 0, []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def _ask(self):
        while not self._stop.wait(0.1):
            self.asked += 1
            problem = self._problem()
            if problem:
                self.failed.append(f"{time.strftime('%X')} {problem}")

    def _look(self):
        """Note once a second which nodes there are, as a load balancer does that is told of each."""
        if self._workload is None or time.monotonic() - self._looked_at < 1:
            return
        self._looked_at = time.monotonic()
        try:
            found = self._workload.addresses()
        except KubeError:
            # Those that it knows stay.
            return
        self._addresses = [address for address in self._addresses if address in found] + [
            address for address in found if address not in self._addresses]

    def _problem(self):
        self._look()
        problems = []
        # The one that has answered last is asked first.
        for address in list(self._addresses):
            problem = ask(address)
            if not problem:
                self._addresses.insert(0, self._addresses.pop(self._addresses.index(address)))
                return ""
            problems.append(f"{address}: {problem}")
        return "; ".join(problems) or "there is no node"

    def __enter__(self):
        eventually(lambda: not self._problem(), 180,
                   f"the Service answers at {' or '.join(self._addresses) or 'a node'}")
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._stop.set()
        self._thread.join(30)
