# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host selectors of a description: what CAPM3 could not read is refused, the rest is compared as hosts are labelled."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    hosts as cluster_hosts,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    validation as cluster_validation,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import text_of


def description(selector):
    described, mistakes = cluster_description.read({
        "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"},
        "image": {"url": "https://images.example.org/node.qcow2", "checksum": "0" * 64}, "host_selector": selector})
    assert mistakes == []
    return described


@pytest.mark.parametrize("selector, words", [
    ({"match_labels": {"rack": "r1"}},
     "host_selector.match_labels: found {\"rack\": \"r1\"}, expected the value of a label; "
     "write the labels themselves: host_selector: {rack: r1}"),
    ({"matchLabels": {"rack": "r1", "row": 2}}, "write the labels themselves: host_selector: {rack: r1, row: 2}"),
    ({"matchExpressions": [{"key": "rack", "operator": "Exists"}]}, "write them in host_selector_expressions"),
    ({"rack": ["r1", "r2"]}, "host_selector.rack: found [\"r1\", \"r2\"], expected the value of a label; "
                             "for several values use host_selector_expressions"),
    ({"rack": None}, "host_selector.rack: not set, expected the value of a label"),
    ({"rack": "r 1"}, 'host_selector.rack: found "r 1", expected at most 63 letters, digits, '),
    ({"the rack": "r1"}, 'host_selector.the rack: found the key "the rack", expected [prefix/]name'),
])
def test_what_is_no_label_is_refused(selector, words):
    found = cluster_validation.description_problems(description(selector))
    assert len(found) == 1 and words in str(found[0]), found
    assert str(found[0]).startswith("cluster metal3/c1: control_plane.host_selector."), found


@pytest.mark.parametrize("value", ["r1", 1, 1.5, True, False, ""])
def test_a_selector_finds_the_hosts_that_are_labelled_with_the_same_value(value):
    """The value in the inventory of both; YAML's true is the label ``true``."""
    described = description({"example.org/rack": value})
    assert cluster_validation.description_problems(described) == []
    host = {"metadata": {"name": "h", "labels": {"example.org/rack": text_of(value)}}}
    assert cluster_hosts.matches(host, described.groups[0])
    template = next(item for item in cluster_render.render(described) if item["kind"] == "Metal3MachineTemplate")
    assert template["spec"]["template"]["spec"]["hostSelector"]["matchLabels"] == host["metadata"]["labels"]
