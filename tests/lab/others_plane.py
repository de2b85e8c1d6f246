# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane as others make it: cert-manager and the Bare Metal Operator by kubectl apply, the rest by clusterctl init."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import outside_ironic
import releases
import yaml
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME

SECONDS = 900
# clusterctl's flag for each type of provider.
FLAGS = {"CoreProvider": "--core", "BootstrapProvider": "--bootstrap", "ControlPlaneProvider": "--control-plane",
         "InfrastructureProvider": "--infrastructure", "IPAMProvider": "--ipam"}
_MANAGER = "baremetal-operator-controller-manager"


class Others:
    """Somebody who has never heard of this collection.

    :param lab: the lab
    :param kubeconfig: path of the cluster's kubeconfig
    :param folder: an empty one for what they have downloaded
    :param with_pods: whether it is a cluster that runs pods, which are waited for
    """

    def __init__(self, lab, kubeconfig, folder, with_pods=True):
        self._lab, self._kubeconfig, self._folder, self._with_pods = lab, str(kubeconfig), Path(folder), with_pods
        self._config = releases.repositories(lab, self._folder / "repositories", newer="ipam", for_use=True)

    def kubectl(self, *arguments):
        """Run kubectl and return the finished process."""
        return self._run("kubectl", "--kubeconfig", self._kubeconfig, *arguments)

    def clusterctl(self, *arguments):
        """Run clusterctl and return the finished process."""
        return self._run("clusterctl", *arguments, "--config", str(self._config), "--kubeconfig", self._kubeconfig)

    def _run(self, program, *arguments):
        return subprocess.run(
            [os.path.join(self._lab.figures["engine_dir"], "bin", program), *arguments], capture_output=True, text=True,
            check=False, timeout=SECONDS, env=dict(os.environ, XDG_CONFIG_HOME=str(self._folder),
                                                   CLUSTERCTL_DISABLE_VERSIONCHECK="true"))

    def cert_manager(self, built):
        """Apply the manifests of cert-manager, and wait until its pods run.

        :param built: from ``cert_manager.push``
        """
        part, path = BY_NAME["cert_manager"], self._folder / "cert-manager.yaml"
        shipped = manifests.load(built.manifests_of(part))
        manifests.dump(releases.released(part, shipped, built.pins.version(part.module)), path)
        done = self.kubectl("apply", "--server-side", "-f", str(path))
        assert done.returncode == 0, done.stderr
        self.until_ready(part)

    def until_ready(self, part):
        """Wait until the Deployments of a part are available."""
        for name in part.images if self._with_pods else ():
            done = self.kubectl("--namespace", part.namespace, "rollout", "status", f"deployment/{name}",
                                f"--timeout={SECONDS}s")
            assert done.returncode == 0, done.stderr

    def init(self, *names):
        """Have clusterctl install providers, and wait for their pods.

        :param names: of parts of the plane
        """
        done = self.clusterctl("init", *(["--wait-providers"] if self._with_pods else []), *self.named(*names))
        assert done.returncode == 0, json.dumps(vars(done))

    @staticmethod
    def named(*names):
        """Return the arguments of clusterctl that name parts with their versions."""
        return [word for part in map(BY_NAME.__getitem__, names)
                for word in (FLAGS[part.type], f"{part.provider_name}:{releases.version(part)}")]

    def operator(self, url):
        """Apply the Bare Metal Operator's manifests with a kustomization that says where Ironic is, and wait for it.

        :param url: of Ironic, with ``/v1/``
        """
        part, folder = BY_NAME["bmo"], self._folder / "operator"
        folder.mkdir()
        manifests.dump(releases.released(part, releases.rendered(self._lab, part), releases.version(part)),
                       folder / "bmo.yaml")
        agent = outside_ironic.agent(self._lab)
        mounts = (("auth", outside_ironic.CREDENTIALS, "/opt/metal3/auth/ironic"),
                  ("authority", outside_ironic.AUTHORITY, "/opt/metal3/certs/ca"))
        patches = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "ironic", "namespace": part.namespace}, "data": {
                "IRONIC_ENDPOINT": url, "DEPLOY_KERNEL_URL": agent["bmo_deploy_kernel_url"],
                "DEPLOY_RAMDISK_URL": agent["bmo_deploy_ramdisk_url"]}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
                "name": _MANAGER, "namespace": part.namespace}, "spec": {"template": {"spec": {
                    "containers": [{"name": "manager", "volumeMounts": [
                        {"name": name, "mountPath": path, "readOnly": True} for name, _secret, path in mounts]}],
                    "volumes": [{"name": name, "secret": {"secretName": secret}} for name, secret, _path in mounts]}}}}]
        (folder / "kustomization.yaml").write_text(yaml.safe_dump({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["bmo.yaml"],
            "patches": [{"patch": yaml.safe_dump(patch)} for patch in patches]}))
        # cert-manager's webhook answers a moment after its pod is ready.
        eventually(lambda: self.kubectl("apply", "--server-side", "-k", str(folder)).returncode == 0, 120,
                   "the operator's manifests are applied")
        self.until_ready(part)
