# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""LabelSelectors: what they select, and how a LIST takes them."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import label_selector
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import deployment_pod

POD = {"metadata": {"name": "p", "labels": {"app": "a", "tier": "x"}}}


def rule(key, operator, *values):
    return {"matchExpressions": [dict({"key": key, "operator": operator}, **({"values": list(values)} if values
                                                                             else {}))]}


@pytest.mark.parametrize("selector, is_chosen, text", [
    ({"matchLabels": {"tier": "x", "app": "a"}}, True, "app=a,tier=x"),
    ({"matchLabels": {"app": "b"}}, False, "app=b"), ({"matchLabels": {"other": "a"}}, False, "other=a"),
    (rule("app", "In", "a", "b"), True, "app in (a,b)"), (rule("other", "In", "a"), False, "other in (a)"),
    (rule("app", "NotIn", "a"), False, "app notin (a)"), (rule("other", "NotIn", "a"), True, "other notin (a)"),
    (rule("app", "Exists"), True, "app"), (rule("other", "Exists"), False, "other"),
    (rule("app", "DoesNotExist"), False, "!app"), (rule("other", "DoesNotExist"), True, "!other"),
    (dict(rule("tier", "Exists"), matchLabels={"app": "b"}), False, "app=b,tier")])
def test_a_selector_selects_by_labels_and_by_expressions(selector, is_chosen, text):
    assert label_selector.selects({"spec": {"selector": selector}}, POD) is is_chosen
    assert label_selector.text(selector) == text


@pytest.mark.parametrize("selector", [{}, None, "app=a"])
def test_without_a_selector_an_object_has_no_pods(selector):
    assert label_selector.selects({"spec": {"selector": selector}}, POD) is False
    assert label_selector.matches(selector, POD["metadata"]["labels"]) and label_selector.text(selector) == ""


def test_the_pods_of_a_deployment_are_listed_by_its_whole_selector():
    asked = []

    class Client:
        def list(self, resource, namespace, selector):
            asked.append((resource.kind, namespace, selector))
            return [POD], "1"

    for selector in (rule("app", "In", "a"), {}):
        found = deployment_pod.selected(Client(), "n", {"spec": {"selector": selector}})
        assert found == ([POD] if selector else [])
    assert asked == [("Pod", "n", "app in (a)")]
