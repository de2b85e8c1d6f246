# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BareMetalHosts as an API server has those of servers in use."""
from __future__ import annotations


def in_use(name):
    """Return the host of a server in use, in no cluster."""
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
            "metadata": {"name": name, "namespace": "metal3", "generation": 1}, "spec": {"online": True}, "status": {
                "operationalStatus": "OK", "poweredOn": True, "provisioning": {"state": "provisioned"}}}
