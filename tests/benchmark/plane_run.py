# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the playbook install against clusterctl and kubectl with the same manifests, in a cluster of the lab LAB.

clusterctl installs Cluster API, its providers and IPAM; kubectl applies the Bare Metal Operator's kustomization. Both
sides have cert-manager's certificates, and cert-manager is there before. Images are pulled once before the first run.
Prints a line for each run, the ratio, and the memory of the plane's pods. Exit code 1 when the goal is missed.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import registry
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import labs_dir
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import inventory, objects, release
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine, go_mod

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "workload"
GOAL = 1.05
TIMEOUT_SECONDS = 900
INTERVAL_SECONDS = 2
CERT_MANAGER = str(REPOSITORY / "lab" / "engine" / "cert_manager")
SETS = ["cert-manager", "cert-manager-manifests"]
# Named by clusterctl; the operator is no provider.
FLAGS = {"CoreProvider": "--core", "BootstrapProvider": "--bootstrap", "ControlPlaneProvider": "--control-plane",
         "InfrastructureProvider": "--infrastructure", "IPAMProvider": "--ipam"}
PROVIDERS = [part for part in catalogue.RENDERED if part.type]
OPERATOR = catalogue.BY_NAME["bmo"]
DEPLOYMENTS = [(part.namespace, name) for part in catalogue.RENDERED for name in part.images]


class Bench:
    """Both ways to install the plane into the lab's cluster.

    :param lab: name of the running lab
    :param work_dir: empty private folder
    """

    def __init__(self, lab, work_dir):
        self.dir = Path(labs_dir()) / lab
        self.work_dir = Path(work_dir)
        self.figures = json.loads((self.dir / "lab.json").read_text())
        self.engine_dir = Path(self.figures["engine_dir"])
        self.kubeconfig = self.dir / "kubeconfigs" / NAME
        self.environment = dict(os.environ, LAB=lab, LAB_CLUSTER=NAME, XDG_CONFIG_HOME=str(self.work_dir))
        pins = go_mod.GoMod((REPOSITORY / "lab" / "engine" / "go.mod").read_text())
        self.versions = dict((part.name, pins.version(part.module)) for part in catalogue.RENDERED)
        self.variables = {
            "management_plane": {"mode": "cluster", "kubeconfig": str(self.kubeconfig), "definitions": "remove"},
            "bmo_ironic_url": "https://192.0.2.1:6385/v1/", "bmo_ironic_insecure": True}

    def playbook(self, name, variables):
        """Run a playbook.

        :raises RuntimeError: when it fails
        """
        given = self.work_dir / "variables.json"
        given.write_text(json.dumps(variables))
        self._run([Path(sys.executable).parent / "ansible-playbook", "metal3.baremetal." + name, "-i",
                   REPOSITORY / "inventory" / "lab", "-e", f"@{given}"])

    def kubectl(self, *arguments):
        """Run kubectl against the cluster."""
        self._run([self.engine_dir / "bin" / "kubectl", "--kubeconfig", self.kubeconfig, *arguments])

    def _run(self, command):
        done = subprocess.run([str(item) for item in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=False, env=self.environment)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command[:3]))}: {done.stdout[-3000:]}{done.stderr[-3000:]}")

    def prepare(self):
        """Make the cluster, put cert-manager into it, and write clusterctl's repositories."""
        # By the lab's own plane.
        self.playbook("cluster", {})
        built = engine.Engine(CERT_MANAGER, user_folders.cache_dir())
        built.build(SETS, Progress())
        images = registry.ControllerImages(built.directory, built.versions(SETS), user_folders.cache_dir())
        images.build(Progress())
        secrets = self.dir / "secrets"
        registry.push(registry.Registry(
            self.figures["urls"]["registry"], str(self.dir / "pki" / "ca.crt"), str(secrets / "registry_username"),
            str(secrets / "registry_password")), images.layouts())
        self.cert_manager("present")
        self._write_repositories()

    def cert_manager(self, state):
        """Install or remove cert-manager by its role."""
        play = self.work_dir / "cert_manager.yml"
        play.write_text(yaml.safe_dump([{
            "hosts": "management", "gather_facts": False, "roles": [{"role": "metal3.baremetal.cert_manager"}]}]))
        given = self.work_dir / "variables.json"
        given.write_text(json.dumps(dict(
            self.variables, cert_manager_mode="cluster", cert_manager_source_dir=CERT_MANAGER, metal3_confirm="1",
            cert_manager_state=state)))
        self._run([Path(sys.executable).parent / "ansible-playbook", play, "-i", REPOSITORY / "inventory" / "lab",
                   "-e", f"@{given}"])

    def _write_repositories(self):
        """Write a repository of each provider as clusterctl reads them: what the engine has rendered."""
        providers = []
        for part in PROVIDERS:
            version = self.versions[part.name]
            folder = self.work_dir / "repositories" / part.label / version
            folder.mkdir(parents=True)
            manifests.dump(self._released(part), folder / release.names(part)[0])
            major, minor = version.lstrip("v").split(".")[:2]
            (folder / "metadata.yaml").write_text(yaml.safe_dump({
                "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Metadata", "releaseSeries": [
                    {"major": int(major), "minor": int(minor), "contract": part.contract}]}))
            providers.append({"name": part.provider_name, "type": part.type,
                              "url": str(folder / release.names(part)[0])})
        (self.work_dir / "clusterctl.yaml").write_text(yaml.safe_dump({"providers": providers}))
        folder = self.work_dir / "operator"
        folder.mkdir()
        manifests.dump(self._released(OPERATOR), folder / "bmo.yaml")
        (folder / "kustomization.yaml").write_text(yaml.safe_dump({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["bmo.yaml"],
            "patches": [{"target": {"kind": "Deployment"}, "patch": yaml.safe_dump([
                {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": item} for item in (
                    {"name": "IRONIC_ENDPOINT", "value": "https://192.0.2.1:6385/v1/"},
                    {"name": "IRONIC_INSECURE", "value": "true"})])}]}))

    def _released(self, part):
        """Return a part's objects as a release has them: with its version's images, without what clusterctl adds."""
        shipped = manifests.load(self.engine_dir / manifests.FOLDER / f"{part.name}.yaml")
        return [item for item in objects.desired(part, shipped, {}, self.versions[part.name])
                if item["kind"] != "Provider" and item["metadata"]["name"] != inventory.NAME]

    def by_playbook(self):
        """Install by the playbook; return the seconds until all parts are ready."""
        began = time.monotonic()
        self.playbook("install", self.variables)
        return time.monotonic() - began

    def by_clusterctl(self):
        """Install as upstream says; return the seconds until all parts are ready."""
        began = time.monotonic()
        self.kubectl("apply", "--server-side", "-k", self.work_dir / "operator")
        names = [argument for part in PROVIDERS for argument in (
            FLAGS[part.type], f"{part.provider_name}:{self.versions[part.name]}")]
        self._run([self.engine_dir / "bin" / "clusterctl", "init", "--config", self.work_dir / "clusterctl.yaml",
                   "--kubeconfig", self.kubeconfig, "--wait-providers", *names])
        for namespace, name in DEPLOYMENTS:
            self.kubectl("--namespace", namespace, "rollout", "status", f"deployment/{name}",
                         f"--timeout={TIMEOUT_SECONDS}s")
        return time.monotonic() - began

    def memory(self):
        """Return the working set of each pod of the plane in MiB, once the kubelet has measured all of them."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            found = self._working_sets()
            if found and all(found.values()):
                return found
            if time.monotonic() > deadline:
                raise RuntimeError(f"the kubelet reports no memory of {[name for name in found if not found[name]]}")
            time.sleep(INTERVAL_SECONDS)

    def _working_sets(self):
        """Return the working set of each pod of the plane in MiB, as the kubelet reports it."""
        client = KubeClient({"kubeconfig": str(self.kubeconfig)})
        spaces = set(part.namespace for part in catalogue.PARTS)
        found = {}
        for node in client.list(KNOWN["Node"])[0]:
            stats = client.request("GET", f"/api/v1/nodes/{node['metadata']['name']}/proxy/stats/summary")
            found.update((f"{pod['podRef']['namespace']}/{pod['podRef']['name']}",
                          pod["memory"]["workingSetBytes"] / 2 ** 20) for pod in stats["pods"]
                         if pod["podRef"]["namespace"] in spaces)
        return found

    def remove(self):
        """Delete what either way has installed, the namespaces and definitions included."""
        path = self.work_dir / "all.yaml"
        manifests.dump([item for part in catalogue.RENDERED for item in manifests.load(
            self.engine_dir / manifests.FOLDER / f"{part.name}.yaml") if item["kind"] != "Provider"], path)
        self.kubectl("delete", "--ignore-not-found", "--wait=true", f"--timeout={TIMEOUT_SECONDS}s", "-f", path)


def main():
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(os.environ["LAB"], work)
        bench.prepare()
        # Pulls the images.
        bench.by_playbook()
        bench.remove()
        ours, theirs = [], []
        for number in range(rounds):
            ours.append(bench.by_playbook())
            if number == 0:
                memory = bench.memory()
            bench.remove()
            theirs.append(bench.by_clusterctl())
            bench.remove()
            print(f"round {number + 1}: install {ours[-1]:.1f} s, clusterctl and kubectl {theirs[-1]:.1f} s",
                  flush=True)
        for name, size in sorted(memory.items()):
            print(f"{name}: {size:.0f} MiB")
        print(f"memory of the plane's pods: {sum(memory.values()):.0f} MiB in {len(memory)} pods")
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"ratio {ratio:.2f}, goal {GOAL}")
        return int(ratio > GOAL)


if __name__ == "__main__":
    sys.exit(main())
