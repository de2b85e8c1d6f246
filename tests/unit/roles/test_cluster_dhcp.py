# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DHCP lends is known to the role cluster where the role provisioning_network serves it."""
from __future__ import annotations

import json
import pathlib
import re

import pytest
import yaml
from fakes import playbook

ROLE = pathlib.Path(__file__).parents[3] / "roles" / "cluster"
RANGE = {"first": "172.22.0.10", "last": "172.22.0.99"}
KEPT = {"mac": "00:5c:52:31:3a:01", "addresses": ["172.22.0.10"]}


@pytest.mark.parametrize(("management", "expected"), [
    ({}, {"ranges": [], "hosts": []}),
    ({"provisioning_network_name": "prov"}, {"ranges": [], "hosts": []}),
    ({"provisioning_network_dhcp_ranges": [RANGE]}, {"ranges": [RANGE], "hosts": []}),
    ({"provisioning_network_dhcp_ranges": ["{{ range }}"], "range": RANGE, "provisioning_network_dhcp_hosts": [KEPT]},
     {"ranges": [RANGE], "hosts": [KEPT]}),
], ids=["no machine of the plane says", "no DHCP", "nothing kept", "kept"])
def test_it_is_what_the_machines_of_the_plane_say(tmp_path, management, expected):
    code, output = lent(tmp_path, management)
    assert code == 0, output
    assert json.loads(re.search(r"lent (.*) ends", output).group(1).replace('\\"', '"')) == expected


@pytest.mark.parametrize("name", ["provisioning_network_dhcp_ranges", "provisioning_network_dhcp_hosts"])
def test_a_machine_that_cannot_say_what_it_lends_is_named(tmp_path, name):
    """Left out, addresses that DHCP lends would be given to machines of a cluster, too."""
    code, output = lent(tmp_path, dict({"provisioning_network_dhcp_ranges": [RANGE]}, **{name: "{{ nowhere.range }}"}))
    assert code != 0 and f"boot: {name}: found what cannot be templated" in " ".join(output.split()), output


OTHER = {"first": "172.22.0.100", "last": "172.22.0.200"}


@pytest.mark.parametrize(("cluster", "expected"), [
    ("/srv/rack1/kubeconfig", [RANGE]), ("/srv/rack2/../rack2/kubeconfig", [OTHER]), ("", [RANGE, OTHER]),
    # After a pivot that only the clusters know of: it may be either's.
    ("/srv/pivoted/kubeconfig", [RANGE, OTHER])], ids=["first plane", "second plane", "not named", "nobody's"])
def test_machines_of_another_plane_lend_nothing_to_a_clusters_servers(tmp_path, cluster, expected):
    """Two sites with the same private addresses: each other's ranges were refused for pools and endpoint."""
    code, output = lent(
        tmp_path, {"provisioning_network_dhcp_ranges": [RANGE], "metal3_kubeconfig": "/srv/rack1/kubeconfig"},
        {"second": {"provisioning_network_dhcp_ranges": [OTHER],
                    "management_plane": {"mode": "process", "name": "rack2", "dir": "/srv/rack2"}}},
        {"metal3_kubeconfig": cluster})
    assert code == 0, output
    assert json.loads(re.search(r"lent (.*) ends", output).group(1).replace('\\"', '"'))["ranges"] == expected


def lent(tmp_path, management, further=None, cluster=None):
    variables = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())
    variables["cluster_dhcp"] = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())["cluster_dhcp"]
    inventory = {"all": {
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "children": {"clusters": {"hosts": {"prod-cluster": cluster}},
                     "management": {"hosts": dict({"boot": management}, **(further or {}))}}}}
    play = [{"hosts": "clusters", "gather_facts": False, "vars": variables,
             "tasks": [{"debug": {"msg": "lent {{ cluster_dhcp | to_json }} ends"}}]}]
    return playbook.play(tmp_path, yaml.safe_dump(inventory), yaml.safe_dump(play, width=1000), "play.yml")
