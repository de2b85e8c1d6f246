# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Definitions of operators that are not in the lab, generated from the Go modules of their APIs."""
from __future__ import annotations

import os
import subprocess

import yaml
from support import REPOSITORY, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import monitor
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import toolchain

GENERATOR = "sigs.k8s.io/controller-tools/cmd/controller-gen"
LOCK = REPOSITORY / "lab" / "engine" / toolchain.LOCK_FILE
GO = "1.26.0"
SECONDS = 900
# Of the Prometheus operator.
MONITORS = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"


def generate(source, api, name):
    """Return a CustomResourceDefinition.

    :param source: folder of tests/lab/data whose go.mod pins the API and the generator
    :param api: the API's Go package
    :param name: of the definition
    """
    chosen = toolchain.choose(GO, user_folders.cache_dir(), str(LOCK))
    toolchain.ensure(chosen, GO, Progress())
    done = subprocess.run(
        [chosen.program, "run", "-mod=readonly", GENERATOR, "crd", f"paths={api}", "output:stdout"],
        cwd=REPOSITORY / "tests" / "lab" / "data" / source,
        env=dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="", CGO_ENABLED="0",
                 PATH=os.path.dirname(chosen.program) + ":" + os.environ["PATH"]),
        capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = dict((item["metadata"]["name"], item) for item in yaml.load_all(done.stdout, loader) if item)
    assert name in found, sorted(found)
    return found[name]


def serve_monitors(client):
    """Have an API server serve ServiceMonitors, as the Prometheus operator brings them along."""
    definition = generate("prometheus-operator", MONITORS, "servicemonitors.monitoring.coreos.com")
    client.apply(KNOWN["CustomResourceDefinition"], None, definition)
    eventually(lambda: client.list(monitor.MONITORS)[0] == [], 60, "ServiceMonitors served", not_yet=KubeError)


def holds(found, expected):
    """Say whether a stored object has all that was written."""
    if isinstance(expected, dict):
        return all(key in found and holds(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(holds, found, expected))
    return found == expected
