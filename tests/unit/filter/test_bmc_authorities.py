# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which files a wait verifies BMCs: those of each server, what the play gives, or none at all."""
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from jinja2 import StrictUndefined

from ansible_collections.metal3.baremetal.plugins.filter.bmc_authorities import bmc_authorities

OF_HOSTS = ["hosts_boot_ca_file", "metal3_ca_file"]
OF_CLUSTER = ["cluster_boot_ca_file", "metal3_ca_file"]
HOSTVARS = {
    "a": {"hosts_boot_ca_file": "/a", "metal3_ca_file": "/not"}, "b": {"metal3_ca_file": "/b"},
    "c": {"hosts_boot_ca_file": "", "metal3_ca_file": "/not"}, "d": {}}
OWN = {"a": "/a", "b": "/b", "c": "", "d": ""}


@pytest.mark.parametrize(("acting", "counts"), [("a", "/a"), ("b", "/b"), ("c", ""), ("d", object()), ("d", None)])
def test_each_server_has_its_own_whoever_acts(acting, counts):
    assert bmc_authorities(HOSTVARS, list("abcd"), OF_HOSTS, acting, counts) == {"hosts": OWN}


@pytest.mark.parametrize(("counts", "others"), [("/given", "/given"), ("", ""), (object(), "")])
def test_what_the_play_gives_is_for_all(counts, others):
    assert bmc_authorities(HOSTVARS, list("abcd"), OF_HOSTS, "a", counts) == {"hosts": {}, "others": others}


def test_of_whom_nothing_is_known_has_no_file():
    """Its BMC is not asked: somebody else's file could vouch for it."""
    unknown = StrictUndefined(name="y")
    hostvars = dict(HOSTVARS, x={"metal3_ca_file": unknown}, y={"hosts_boot_ca_file": unknown, "metal3_ca_file": "/y"},
                    z={"hosts_boot_ca_file": "/z", "metal3_ca_file": unknown})
    found = bmc_authorities(hostvars, ["a", "x", "y", "z", "elsewhere"], OF_HOSTS, "a", "/a")
    assert found == {"hosts": {"a": "/a", "x": None, "y": None, "z": "/z"}}
    # Nor that of others.
    found = of_cluster({"cluster_boot_ca_file": "/c1"}, "/c1", x={"cluster_boot_ca_file": unknown})
    assert found == {"hosts": {"x": None}, "others": "/c1"}


@pytest.mark.parametrize("names", ["a", None])
def test_what_is_no_list_is_refused(names):
    with pytest.raises(AnsibleFilterError, match=r"^bmc_authorities: found .*, expected a list of names"):
        bmc_authorities(HOSTVARS, names, OF_HOSTS, "a")


def of_cluster(variables, counts, **servers):
    hostvars = dict(servers, c1=variables)
    return bmc_authorities(hostvars, list(servers), OF_CLUSTER, "c1", counts, cluster=True)


SERVERS = {"a": {"cluster_boot_ca_file": "/a", "metal3_ca_file": "/not"}, "b": {"metal3_ca_file": "/b"}, "d": {}}


@pytest.mark.parametrize(("variables", "counts", "expected"), [
    # A cluster's own metal3_ca_file is for its connections to image servers.
    ({"metal3_ca_file": "/c1"}, "/c1", {"hosts": {"a": "/a", "b": "/b", "d": ""}}),
    ({}, object(), {"hosts": {"a": "/a", "b": "/b", "d": ""}}),
    # This one can only be meant for BMCs.
    ({"cluster_boot_ca_file": "/c1", "metal3_ca_file": "/not"}, "/c1",
     {"hosts": {"a": "/a", "b": "/c1", "d": "/c1"}, "others": "/c1"}),
    ({"cluster_boot_ca_file": ""}, "", {"hosts": {"a": "/a", "b": "", "d": ""}, "others": ""}),
    ({"cluster_boot_ca_file": "/c1"}, "/given", {"hosts": {}, "others": "/given"})])
def test_a_cluster_speaks_for_servers_that_do_not_say_it(variables, counts, expected):
    assert of_cluster(variables, counts, **SERVERS) == expected


def test_servers_of_other_planes_and_namespaces_are_none_of_a_clusters():
    """A host there may have the same name."""
    servers = {
        "same": {"metal3_kubeconfig": "/plane/../plane/config"}, "unnamed": {}, "named": {"hosts_namespace": "metal3"},
        "plane": {"metal3_kubeconfig": "/other"}, "namespace": {"metal3_namespace": "other"},
        "own": {"hosts_namespace": "other", "metal3_namespace": "metal3"}}
    assert set(of_cluster({"metal3_kubeconfig": "/plane/config"}, "", **servers)["hosts"]) == {
        "same", "unnamed", "named"}
    assert set(of_cluster({"cluster_kubeconfig": "/other", "metal3_kubeconfig": "/plane/config"}, "", **servers)[
        "hosts"]) == {"plane", "unnamed", "named"}
    assert set(of_cluster({"cluster_namespace": "other"}, "", **servers)["hosts"]) == {"namespace", "own"}
