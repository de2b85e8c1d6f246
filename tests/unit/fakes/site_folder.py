# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubeconfig of a site's own cluster, as Cluster API keeps it."""
from __future__ import annotations

import base64

CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()


def config(url="https://192.0.2.9:6443", ca=CA, token="one"):
    """Return it.

    :param ca: base64 of the authority
    """
    return {"apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority-data": ca}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}
