# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP headers of subscriptions: BMO 0.13 can't begin with one that has them."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.base import ObjectIndex
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

SPEC = {"hostName": "h1", "destination": "https://x/", "httpHeadersRef": {"name": "s", "namespace": "metal3"}}


def _texts(problems):
    return [str(problem) for problem in problems]


def refused(current, **options):
    entry = dict({"name": "e", "namespace": "metal3", "host_name": "h1", "destination": "https://x/",
                  "http_headers_ref": {"name": "s"}}, **options)
    index = ObjectIndex({"BareMetalHost": [{"metadata": {"name": "h1", "namespace": "metal3"}}]})
    return _texts(FAMILIES["BMCEventSubscription"].check_against("BMCEventSubscription e", entry, current, index))


@pytest.mark.parametrize("current", [None, {"metadata": {"name": "e"}, "spec": SPEC}])
def test_headers_are_refused_with_the_version_and_the_way_out(current):
    lines = refused(current)
    assert len(lines) == 1, lines
    for text in ("e: http_headers_ref", "BMO 0.13", "webhook", "finalizer", "remove it", "path"):
        assert text in str(lines[0]), lines
    assert refused(current, http_headers_ref=None) == []


def test_a_subscription_that_bmo_has_taken_on_keeps_its_headers():
    assert refused({"metadata": {"name": "e", "finalizers": ["f"]}, "spec": SPEC}) == []
