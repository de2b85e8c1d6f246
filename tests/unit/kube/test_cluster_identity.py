# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster an API server is that of: what one task has checked, the next one writes to."""
from __future__ import annotations

import pytest
from fakes.planes import server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import cluster_identity
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError


def test_a_cluster_is_known_by_its_namespace_kube_system():
    assert cluster_identity.uid_of(server("a", "https://192.0.2.1:6443")) == "a-kube-system"


def test_an_api_server_without_it_is_none_of_a_cluster():
    found = server("a", "https://192.0.2.1:6443")
    del found.objects["Namespace", "kube-system"]
    with pytest.raises(KubeError, match=r"Namespace kube-system: found none at https://192\.0\.2\.1:6443"):
        cluster_identity.require(found, "a-kube-system")


@pytest.mark.parametrize("checked", [None, "", "a-kube-system"])
def test_the_cluster_that_was_checked_is_written_to(checked):
    found = server("a", "https://192.0.2.1:6443")
    cluster_identity.require(found, checked)
    assert bool(found.requests) is bool(checked)


def test_another_one_is_refused_by_the_option_that_names_it():
    with pytest.raises(RefusedError) as caught:
        cluster_identity.require(server("b", "https://192.0.2.1:6443"), "a-kube-system", cluster_identity.TO_OPTION)
    (problem,) = caught.value.problems
    assert str(problem).startswith("API server https://192.0.2.1:6443: to_cluster_uid: found b-kube-system, expected "
                                   "a-kube-system, the cluster that was checked; the kubeconfig, its current context")
