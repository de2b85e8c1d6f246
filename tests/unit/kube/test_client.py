# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests whose form decides whether check mode is one."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN


class Recorder(KubeClient):
    """Records requests in place of sending them."""

    def __init__(self):
        self.sent = []

    def request(self, method, path, query=None, body=None, *_arguments, **_options):
        self.sent.append((method, query, body))
        return {}


def test_a_delete_on_trial_says_so_where_the_server_looks():
    """With a body the API server ignores the query's options, so that a dry run there would delete."""
    client = Recorder()
    client.delete(KNOWN["Secret"], "n", "a", uid="1", dry_run=True)
    client.delete(KNOWN["Secret"], "n", "a")
    (dummy, query, trial), (dummy, dummy, real) = client.sent
    assert not query
    assert trial == {"propagationPolicy": "Background", "preconditions": {"uid": "1"}, "dryRun": ["All"]}
    assert "dryRun" not in real
