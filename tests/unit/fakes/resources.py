# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes API server in memory for the resources beside BareMetalHost."""
from __future__ import annotations

import copy

from fakes.kubernetes import Server


class Cluster(Server):
    """The server, with status as a subresource, and with an operator that looks at settings when they change."""

    def __init__(self):
        super().__init__()
        self.cleared = []

    def add(self, kind, name, **parts):
        self.objects[kind, name] = dict({"kind": kind, "metadata": {
            "name": name, "namespace": "metal3", "uid": "uid-" + name, "resourceVersion": "0"}}, **parts)

    def patch(self, resource, namespace, name, body, content_type=None, subresource=None, dry_run=False, checked=None):
        if subresource == "status":
            self._request("STATUS", resource, name, dry_run)
            self._meet("STATUS", resource, name, checked)
            assert body == {"status": {"conditions": None}}
            self.objects[resource.kind, name]["status"].pop("conditions")
            self.cleared.append(name)
            self.change(resource.kind, name)
            return copy.deepcopy(self.objects[resource.kind, name])
        return super().patch(resource, namespace, name, body, content_type, subresource, dry_run, checked)
