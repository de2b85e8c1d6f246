# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounts of docs/rbac, made as its README says: what the playbooks need, and no administrator."""
from __future__ import annotations

import json
import os
import subprocess

from support import NAMESPACE, REPOSITORY

RBAC = REPOSITORY / "docs" / "rbac"
ACCOUNT, INSTALLER = "metal3-operator", "metal3-installer"
# What an administrator applies for each.
_FILES = {ACCOUNT: ("roles.yml", "bindings.yml"), INSTALLER: ("plane.yml",)}


def kubectl(lab, *arguments, kubeconfig=None):
    """Run kubectl against the lab and return the finished process.

    :param kubeconfig: path, by default the administrator's
    """
    return subprocess.run(
        [os.path.join(lab.figures["engine_dir"], "bin", "kubectl"), "--kubeconfig",
         str(kubeconfig or lab.dir / "kubeconfig"), *arguments],
        capture_output=True, text=True, check=False, timeout=60)


def make(lab, directory, account=ACCOUNT, kubeconfig=None):
    """Apply docs/rbac and return the path of a kubeconfig whose only credential is the account's token.

    :param directory: where the kubeconfig is written
    :param kubeconfig: the administrator's, by default the lab's
    """
    def asked_for(*arguments):
        found = kubectl(lab, *arguments, kubeconfig=kubeconfig)
        assert found.returncode == 0, found.stderr
        return found.stdout

    asked_for("apply", *(word for name in _FILES[account] for word in ("-f", str(RBAC / name))))
    token = asked_for("create", "token", account, "--namespace", NAMESPACE, "--duration", "8h").strip()
    admin = json.loads(asked_for("config", "view", "--raw", "--flatten", "-o", "json"))
    path = directory / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": account, "clusters": admin["clusters"],
        "users": [{"name": account, "user": {"token": token}}],
        "contexts": [{"name": account, "context": {"cluster": admin["clusters"][0]["name"], "user": account}}]}))
    return path
