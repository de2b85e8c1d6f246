# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a LabelSelector selects, as apimachinery reads it."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.label_selector import selects


@pytest.mark.parametrize("selector, chosen", [
    (None, False), ({}, True),
    ({"matchLabels": {"app": "a"}}, True), ({"matchLabels": {"app": "a", "tier": "x"}}, False),
    ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["b", "a"]}]}, True),
    ({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["x"]}]}, False),
    ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),
    ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}, True),
    ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
    ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}, False),
])
def test_an_object_is_selected_when_its_labels_satisfy_all_of_a_selector(selector, chosen):
    assert selects(selector, {"metadata": {"labels": {"app": "a"}}}) is chosen
