# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks that a site's cables and switches can't carry."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    links as cluster_links,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    validation as cluster_validation,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)

NETWORKS = {"nodes": {"interface": "eno1"}, "storage": {"bond": {"mode": "802.3ad", "interfaces": ["eno2", "eno3"]}},
            "backup": {"vlan": {"id": 5, "network": "nodes"}}}


def problems(supported, **changes):
    params = dict({"name": "c1", "networks": NETWORKS, "supported_links": supported}, **changes)
    description, mistakes = cluster_description.read(params)
    assert mistakes == []
    return cluster_links.link_problems("cluster metal3/c1", description)


@pytest.mark.parametrize("supported, fields", [
    (None, []), (["ethernet", "bond", "vlan"], []), (["ethernet", "vlan"], ["networks.storage.bond"]),
    (["ethernet"], ["networks.backup.vlan", "networks.storage.bond"]),
    (["vlan"], ["networks.nodes.interface", "networks.storage.bond"])])
def test_each_network_that_is_not_supported_is_reported(supported, fields):
    lines = problems(supported)
    assert [line.field for line in lines] == fields
    assert all(line.subject == "cluster metal3/c1" for line in lines)


def test_the_kinds_that_are_supported_are_reported():
    assert str(problems(["ethernet"])[0]) == (
        "cluster metal3/c1: networks.backup.vlan: found \"vlan\", expected a link of supported_links, which are "
        "ethernet; "
        "describe the network without it, or add it to supported_links where the site has it")


def test_links_of_network_data_count_for_the_groups_that_have_them():
    links = {"links": {"vlans": [{"id": "v"}], "ethernets": [{"id": "e"}]}}
    lines = problems(["ethernet"], networks={}, workers={"one": {"network_data": links}, "two": {}})
    assert [line.field for line in lines] == ["workers.one.network_data.links.vlans"]
    lines = problems(["ethernet"], networks={}, network_data=links, workers={"one": {}})
    assert [line.field for line in lines] == ["control_plane.network_data.links.vlans",
                                              "workers.one.network_data.links.vlans"]


def test_the_description_is_refused():
    description, _mistakes = cluster_description.read({
        "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"}, "networks": NETWORKS,
        "image": {"url": "https://x/a.raw", "checksum": "0" * 64}, "supported_links": ["ethernet", "vlan"]})
    assert [line.field for line in cluster_validation.description_problems(description)] == ["networks.storage.bond"]
