# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the start of the providers shows of the objects that it writes."""
from __future__ import annotations

import base64

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.plan import CREATE, UPDATE, Entry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import provider_service


def test_no_difference_shows_what_a_secret_holds():
    before, after = ({"data": {"password": base64.b64encode(text).decode()}} for text in (b"old-word", b"a-word"))
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}, **after}
    entries = [Entry(KNOWN["Secret"], "n", "s", UPDATE, body, {}, before, after),
               Entry(KNOWN["Secret"], "n", "t", CREATE, body, None, {}, after)]
    changed, made = provider_service._diff(entries)
    for content in (before, after):
        assert content["data"]["password"] not in str([changed, made])
    assert changed["before_header"] == changed["after_header"] == "Secret n/s" and changed["before"] != changed["after"]
    assert made["after"] == "(new object)\n"
