# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By what names problems call the options of a cluster that an inventory describes."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle.run import read_description
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError


@pytest.mark.parametrize("options, field", [
    ({"node_labls": {}}, "cluster_options.node_labls"), ({"node_labels": 7}, "cluster_options.node_labels"),
    ({"image": 7}, "cluster_options.image")])
def test_what_stands_in_cluster_options_is_named_so(options, field):
    variables = {"cluster_name": "c1", "cluster_options": options}
    with pytest.raises(RefusedError) as refused:
        read_description(inventory.parameters("host", variables), inventory.field_names(options))
    assert f"{field}: found " in str(refused.value)


def test_an_option_of_an_own_variable_is_named_by_it():
    variables = {"cluster_name": "c1", "cluster_kubernetes_version": "1"}
    with pytest.raises(RefusedError, match="cluster_kubernetes_version: found "):
        read_description(inventory.parameters("host", variables), inventory.field_names(None))
