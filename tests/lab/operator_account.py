# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The account of docs/rbac, made as its README says: what the playbooks need, and no administrator."""
from __future__ import annotations

import json
import os
import subprocess

from support import NAMESPACE, REPOSITORY

RBAC = REPOSITORY / "docs" / "rbac"
ACCOUNT = "metal3-operator"


def kubectl(lab, *arguments, kubeconfig=None):
    """Run kubectl against the lab and return the finished process.

    :param kubeconfig: path, by default the administrator's
    """
    return subprocess.run(
        [os.path.join(lab.figures["engine_dir"], "bin", "kubectl"), "--kubeconfig",
         str(kubeconfig or lab.dir / "kubeconfig"), *arguments],
        capture_output=True, text=True, check=False, timeout=60)


def make(lab, directory):
    """Apply docs/rbac and return the path of a kubeconfig whose only credential is the account's token.

    :param directory: where the kubeconfig is written
    """
    applied = kubectl(lab, "apply", "-f", str(RBAC / "roles.yml"), "-f", str(RBAC / "bindings.yml"))
    assert applied.returncode == 0, applied.stderr
    asked = kubectl(lab, "create", "token", ACCOUNT, "--namespace", NAMESPACE, "--duration", "8h")
    assert asked.returncode == 0, asked.stderr
    admin = json.loads(kubectl(lab, "config", "view", "--raw", "--flatten", "-o", "json").stdout)
    path = directory / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": ACCOUNT, "clusters": admin["clusters"],
        "users": [{"name": ACCOUNT, "user": {"token": asked.stdout.strip()}}],
        "contexts": [{"name": ACCOUNT, "context": {"cluster": admin["clusters"][0]["name"], "user": ACCOUNT}}]}))
    return path
