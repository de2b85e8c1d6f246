# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where servers are managed, by their variables."""
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from jinja2 import StrictUndefined

from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts


def test_a_variable_that_is_made_of_what_only_the_play_has_does_not_count():
    """Its value is undefined for a filter, and raises when it is looked at."""
    later = StrictUndefined(name="kubeconfig_of_the_play")
    assert named_hosts.plane_of({"metal3_kubeconfig": later, "metal3_namespace": "site"}) == (
        "namespace site of the kubeconfig that is found")
    assert named_hosts.ironic_of({"ironic_nodes_cloud": later}) == (
        "the cloud that the environment names in the clouds.yaml that is found")


@pytest.mark.parametrize("why, hint", [
    ("'y' is undefined", "expected a value; define what it is made of, or leave out bmc_password"),
    ("Attempting to decrypt but no vault secrets found.",
     "expected a value; give the vault's password, by --ask-vault-pass or --vault-password-file; define what it is "
     "made of, or leave out bmc_password")])
def test_what_cannot_be_known_for_want_of_a_password_asks_for_it(why, hint):
    with pytest.raises(AnsibleFilterError) as caught:
        named_hosts.require_known("bmc_entries", {"one": {"bmc_password": why}})
    assert str(caught.value).endswith(hint)
