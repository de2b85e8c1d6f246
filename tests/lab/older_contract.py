# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs and manifests of Cluster API 1.10, which knows only v1beta1, and the definitions of such a CAPM3.

Of CAPM3 the module proxy serves no version of that time: its definitions are the present ones without v1beta2.
"""
from __future__ import annotations

import copy
import os
from pathlib import Path

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine

SOURCE = Path(__file__).with_name("data") / "cluster-api-1.10"
NAME = "cluster-api"
# The catalogue's name of a part → its program.
PROGRAMS = {"capi": "cluster-api", "cabpk": "cluster-api-bootstrap-kubeadm",
            "kcp": "cluster-api-control-plane-kubeadm"}
OLD, NEW = "v1beta1", "v1beta2"
CONTRACT = "cluster.x-k8s.io"


class OlderEngine(engine.Engine):
    """What is built of the pins of Cluster API 1.10."""

    def __init__(self):
        super().__init__(str(SOURCE), user_folders.cache_dir())

    def rendered(self, kubectl):
        """Return part's name → its objects as upstream ships them; renders them when they are not there.

        :param kubectl: path of the program
        """
        work = Path(self.directory) / "work"
        os.makedirs(self.manifests_dir, exist_ok=True)
        for name in PROGRAMS:
            part = catalogue.BY_NAME[name]
            path = self.manifests_of(part)
            if not os.path.exists(path):
                manifests.render(part, self.pins.version(part.module), self._module_dir(
                    part.module, self._environ(str(work))), kubectl, str(work / name), path + ".partial")
                os.rename(path + ".partial", path)
        return dict((name, manifests.load(self.manifests_of(catalogue.BY_NAME[name]))) for name in PROGRAMS)


def built(monkeypatch):
    """Return the engine with its programs, which are built when they are not there.

    :param monkeypatch: a MonkeyPatch; nobody else builds these programs alone
    """
    monkeypatch.setitem(engine.SETS, NAME, tuple(
        program for program in engine.SETS[engine.MANIFEST_SET] if program.name in PROGRAMS.values()))
    found = OlderEngine()
    found.build([NAME], Progress())
    return found


def of_older_provider(definitions):
    """Return CustomResourceDefinitions of CAPM3 without what came with v1beta2: the version, and its contract.

    :param definitions: as the present manifests have them
    """
    result = []
    for item in copy.deepcopy(definitions):
        spec = item["spec"]
        spec["versions"] = [version for version in spec["versions"] if version["name"] != NEW]
        for version in spec["versions"]:
            version["storage"] = version["name"] == OLD
        spec["conversion"] = {"strategy": "None"}
        labels = item["metadata"].get("labels") or {}
        labels.pop(f"{CONTRACT}/{NEW}", None)
        result.append(item)
    return result
