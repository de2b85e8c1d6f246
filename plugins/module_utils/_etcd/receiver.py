# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first machine of a restored control plane, which waits for etcd's data before kubeadm runs; pure.

A KubeadmConfig gets files and a command that Cluster API knows nothing of, and loses them again when they have done
their work: a KubeadmControlPlane replaces machines whose KubeadmConfig is not as it describes them.
"""
from __future__ import annotations

import base64
import re
from typing import Any

from .._cluster.workflow.snapshot import CLUSTER_LABEL
from .._metal3.kinds import KNOWN

Object = dict[str, Any]

DEFAULT_DATA_DIR = "/var/lib/etcd"
# Of memory: a reboot leaves nothing of the key.
FOLDER = "/run/metal3-etcd-restore"
PROGRAM, CERTIFICATE, KEY = "receive.py", "tls.crt", "tls.key"
# Where kubeadm's API server will answer, so that the way to it is open; nothing else answers there yet.
DEFAULT_PORT = 6443
ANSWER = b"received\n"
_BEGINNING = f"until python3 {FOLDER}/{PROGRAM} "
_PATH = re.compile(r"(/[A-Za-z0-9][A-Za-z0-9._-]*)+")


def data_dir(kubeadm: Object) -> str | None:
    """Return etcd's folder on the nodes by a KubeadmConfigSpec, None when there can be no such folder.

    :param kubeadm: ``spec.kubeadmConfigSpec`` of a KubeadmControlPlane, or ``spec`` of a KubeadmConfig
    """
    local = (((kubeadm.get("clusterConfiguration") or {}).get("etcd") or {}).get("local") or {})
    path = local.get("dataDir") or DEFAULT_DATA_DIR
    return path if isinstance(path, str) and _PATH.fullmatch(path) else None


def port(kubeadm: Object) -> int:
    """Return the port of a machine's API server by a KubeadmConfigSpec."""
    local = (kubeadm.get("initConfiguration") or {}).get("localAPIEndpoint") or {}
    return local.get("bindPort") or DEFAULT_PORT


def secret_name(cluster: str) -> str:
    """Return the name of the Secret with the files of the machine."""
    return f"{cluster}-etcd-restore"


def secret(cluster: Object, program: str, certificate: bytes, key: bytes) -> Object:
    """Return the Secret with the files of the machine, which Cluster API reads when it makes the user data.

    :param cluster: the Cluster, with which it goes when nobody ends what a killed run has begun
    :param program: source of ``_elsewhere/etcd_receiver.py``
    """
    contents = {PROGRAM: program.encode(), CERTIFICATE: certificate, KEY: key}
    metadata, resource = cluster["metadata"], KNOWN["Cluster"]
    owner = {"apiVersion": resource.api_version, "kind": resource.kind, "name": metadata["name"],
             "uid": metadata["uid"]}
    return {
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": secret_name(metadata["name"]), "namespace": metadata["namespace"],
                     "labels": {CLUSTER_LABEL: metadata["name"]}, "ownerReferences": [owner]},
        "data": dict((name, base64.b64encode(content).decode()) for name, content in contents.items())}


def is_secret(obj: Object) -> bool:
    """Say whether a Secret holds what :func:`secret` writes, and nothing else."""
    return set(obj.get("data") or {}) == {PROGRAM, CERTIFICATE, KEY}


def with_receiver(config: Object, cluster: str, machine: str, size: int, digest: str) -> Object:
    """Return the merge patch by which the machine of a KubeadmConfig waits for the data.

    :param config: the KubeadmConfig
    :param cluster: name of the cluster
    :param machine: name of the Machine
    :param size: of what is sent, in bytes
    :param digest: its SHA-256, hexadecimal
    """
    spec, folder = config["spec"], data_dir(config["spec"])
    files = [{"path": f"{FOLDER}/{name}", "owner": "root:root", "permissions": "0600",
              "contentFrom": {"secret": {"name": secret_name(cluster), "key": name}}}
             for name in (PROGRAM, CERTIFICATE, KEY)]
    # It does not go on without the data: kubeadm would make a new cluster, and workers would stop what runs on them.
    command = f"{_BEGINNING}{port(spec)} {size} {digest} {folder}; do sleep 5; done"
    init = dict(spec.get("initConfiguration") or {})
    registration = dict(init.get("nodeRegistration") or {})
    registration["ignorePreflightErrors"] = [*(registration.get("ignorePreflightErrors") or []), _ignored(folder)]
    # The snapshot may have a Node with the name of its host. Kubelet would take that over with the provider ID of the
    # former Machine, which nobody may change, and CAPM3 would not know the Node (SetProviderIDFromNodeLabel).
    registration["name"] = machine
    return {"spec": {"files": [*_own(spec.get("files")), *files],
                     "preKubeadmCommands": [*(spec.get("preKubeadmCommands") or []), command],
                     "initConfiguration": {"nodeRegistration": registration}}}


def without_receiver(config: Object, described: Object) -> Object | None:
    """Return the merge patch that makes a KubeadmConfig what it was, None when it is.

    :param config: the KubeadmConfig
    :param described: ``spec.kubeadmConfigSpec`` of its KubeadmControlPlane
    """
    spec = config["spec"]
    if not any(command.startswith(_BEGINNING) for command in spec.get("preKubeadmCommands") or []):
        return None
    registration = ((described.get("initConfiguration") or {}).get("nodeRegistration") or {})
    return {"spec": {
        "files": _own(spec.get("files")) or None,
        "preKubeadmCommands": [command for command in spec["preKubeadmCommands"]
                               if not command.startswith(_BEGINNING)] or None,
        "initConfiguration": {"nodeRegistration": {
            "name": registration.get("name"),
            "ignorePreflightErrors": registration.get("ignorePreflightErrors") or None}}}}


def _own(files: list[Object] | None) -> list[Object]:
    return [entry for entry in files or [] if not entry["path"].startswith(FOLDER + "/")]


def _ignored(folder: str | None) -> str:
    # kubeadm, cmd/kubeadm/app/preflight/checks.go: DirAvailableCheck.Name.
    return "DirAvailable-" + (folder or DEFAULT_DATA_DIR).replace("/", "-")
