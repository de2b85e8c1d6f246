# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ironic has, found by name, UUID and MAC address."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.known import Known

NODES = [{"uuid": "u1", "name": "a"}, {"uuid": "u2", "name": None}, {"uuid": "u3", "name": "b"}]
PORTS = [{"address": "00:5C:52:00:00:01", "node_uuid": "u1"}, {"address": "00:5c:52:00:00:02", "node_uuid": "u9"}]


def test_each_list_is_gone_through_once_however_often_is_asked():
    """Else a run over n nodes with their ports would take time with the square of n."""
    known = Known(iter(NODES), iter(PORTS))
    for _attempt in range(2):
        assert known.node({"name": "b"}) is NODES[2] and known.node({"name": "a", "uuid": "U2"}) is NODES[1]
        assert known.node({"name": "c"}) is None and known.node({"name": "a", "uuid": "u4"}) is None
        assert known.node_called("a") is NODES[0] and known.node_called("u2") is NODES[1]
        assert known.node_called("") is None and known.node_called(None) is None
        assert known.port("00:5c:52:00:00:01") is PORTS[0] and known.port("00:5c:52:00:00:03") is None
        assert known.node_of(PORTS[0]) is NODES[0]
        assert known.node_of(PORTS[1]) is None and known.node_of(None) is None
