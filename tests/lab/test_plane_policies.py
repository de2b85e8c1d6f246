# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NetworkPolicies of the parts of a plane on a real API server, which judges them; there are no pods here.

Nothing enforces them: the lab's network add-on does not. test_plane_installed.py compares them with what pods serve.
"""
from __future__ import annotations

import bare_plane
import pytest
from bare_plane import install

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import network_policy
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = pytest.mark.plane

WEBHOOKS = 9443
IRONIC = {"to": [{"ipBlock": {"cidr": "192.0.2.1/32"}}], "ports": [{"protocol": "TCP", "port": 6385}]}


@pytest.fixture(scope="module")
def servers():
    """An API server without controllers."""
    with bare_plane.served() as found:
        yield found


@pytest.fixture(scope="module")
def target(servers):
    return bare_plane.client(servers)


def stored(target):
    return dict((item["metadata"]["name"], item["spec"]) for item in target.list(network_policy.POLICIES)[0])


def test_a_rule_that_is_none_is_refused_by_the_api_server_and_nothing_is_written(servers, target):
    wrong = {"to": [{"ipBlock": {"cidr": "192.0.2.1/99"}}]}
    # Objects of a namespace that is yet to be made are not asked for.
    for part in RENDERED:
        target.apply(KNOWN["Namespace"], None, {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": part.namespace}})
    with pytest.raises(AssertionError) as caught:
        install(servers, network_policy=True, network_policy_egress=[wrong])
    for part in RENDERED:
        name = network_policy.name_of(next(iter(part.images)))
        assert (f"NetworkPolicy {part.namespace}/{name}: spec.egress[0].to[0].ipBlock.cidr: "
                'Invalid value: "192.0.2.1/99"') in str(caught.value)
    assert stored(target) == {} and target.list(KNOWN["Deployment"])[0] == []


def test_every_manager_is_reached_at_its_webhooks_only_and_a_second_run_changes_nothing(servers, target):
    assert install(servers, network_policy=True, network_policy_egress=[IRONIC])["changed"]
    managers = target.list(KNOWN["Deployment"])[0]
    assert len(managers) == len(RENDERED)
    policies = stored(target)
    assert policies == dict((network_policy.name_of(item["metadata"]["name"]), {
        "podSelector": item["spec"]["selector"], "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": [{"protocol": "TCP", "port": WEBHOOKS}]}], "egress": [IRONIC]}) for item in managers)
    assert not install(servers, network_policy=True, network_policy_egress=[IRONIC])["changed"]


def test_without_rules_for_what_goes_out_it_is_free_again(servers, target):
    assert install(servers, network_policy=True)["changed"]
    assert all(spec["policyTypes"] == ["Ingress"] and "egress" not in spec for spec in stored(target).values())


def test_what_is_not_asked_for_any_more_is_deleted(servers, target):
    planned = install(servers, "--check")
    assert planned["counts"]["deleted"] == len(RENDERED) == len(stored(target))
    assert install(servers)["counts"]["deleted"] == len(RENDERED) and stored(target) == {}
    assert not install(servers)["changed"]
