# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An etcd and a kube-apiserver of the benchmark's own, on free loopback ports, without any controller."""
from __future__ import annotations

import secrets
import subprocess
import time
from pathlib import Path

import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import free_ports

READY_SECONDS = 60


class ControlPlane:
    """A context in which the API server answers and knows the Bare Metal Operator's CRDs.

    :param engine_dir: folder with ``bin`` and the rendered manifests, as the lab's engine has it
    :param work_dir: empty private folder for state, keys and logs
    """

    def __init__(self, engine_dir, work_dir):
        self._bin = Path(engine_dir) / "bin"
        self._crds = Path(engine_dir) / manifests.FOLDER / "bmo.yaml"
        self._dir = Path(work_dir)
        self._processes = []
        self.kubeconfig = self._dir / "kubeconfig"

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_exception):
        self._stop()

    def _start(self):
        client_port, peer_port, port = free_ports(3)
        token = secrets.token_urlsafe(32)
        client, peer = (f"http://127.0.0.1:{number}" for number in (client_port, peer_port))
        self._run("etcd", "--data-dir", self._dir / "etcd", "--listen-client-urls", client,
                  "--advertise-client-urls", client, "--listen-peer-urls", peer,
                  "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--unsafe-no-fsync")
        key = self._dir / "service-account.key"
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key],
                       check=True, capture_output=True)
        (self._dir / "tokens").write_text(f'{token},benchmark,1,"system:masters"\n')
        self._run("kube-apiserver", "--etcd-servers", client, "--bind-address", "127.0.0.1", "--secure-port", port,
                  "--cert-dir", self._dir / "certificates", "--token-auth-file", self._dir / "tokens",
                  "--authorization-mode", "RBAC", "--service-account-key-file", key,
                  "--service-account-signing-key-file", key, "--service-account-issuer", "https://benchmark.invalid",
                  "--service-cluster-ip-range", "198.18.0.0/24")
        self.kubeconfig.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "benchmark",
            "clusters": [{"name": "benchmark", "cluster": {
                "server": f"https://127.0.0.1:{port}",
                "certificate-authority": str(self._dir / "certificates" / "apiserver.crt")}}],
            "users": [{"name": "benchmark", "user": {"token": token}}],
            "contexts": [{"name": "benchmark", "context": {"cluster": "benchmark", "user": "benchmark"}}]}))
        self._until(lambda: self.client().request("GET", "/readyz", any_content=True), "ready")
        with self._crds.open() as stream:
            for document in yaml.safe_load_all(stream):
                if document and document["kind"] == "CustomResourceDefinition":
                    self.client().apply(KNOWN["CustomResourceDefinition"], None, document)
        self._until(lambda: self.client().list(KNOWN["BareMetalHost"], "default"), "serving BareMetalHosts")

    def client(self):
        """Return a client with connections of its own."""
        return KubeClient({"kubeconfig": str(self.kubeconfig)})

    def make_namespace(self, name):
        """Make a namespace for one measurement and return its name."""
        self.client().create(KNOWN["Namespace"], None, {"metadata": {"name": name}})
        return name

    def _run(self, program, *arguments):
        with (self._dir / (program + ".log")).open("w") as log:
            self._processes.append(subprocess.Popen(
                [str(self._bin / program), *(str(argument) for argument in arguments)],
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True))

    def _until(self, ask, what):
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                return ask()
            except (KubeError, OSError) as exc:
                if time.monotonic() > deadline or any(process.poll() is not None for process in self._processes):
                    logs = "".join(f"\n{path.name}:\n{path.read_text(errors='replace')[-1500:]}"
                                   for path in self._dir.glob("*.log"))
                    raise RuntimeError(f"API server not {what}: {exc}{logs}") from exc
            time.sleep(0.2)

    def _stop(self):
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
