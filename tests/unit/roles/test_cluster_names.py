# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a cluster: roles, filter and lint agree, whatever Ansible's hash seed and further groups of its host."""
from __future__ import annotations

import json
import os

import pytest
from fakes.ansible_process import module_interpreter, settings_in
from program_forks import ProgramForks

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)

# The description lacks nearly everything, so that each role's module refuses it, under its name, before any request.
INVENTORY = """\
all:
  children:
    clusters:
      hosts:
        alone:
      children:
        prod: {hosts: {prod-cluster: }}
        staging: {hosts: {staging-cluster: {cluster_name: by-hand}}}
        both: {hosts: {twice: }}
        either: {hosts: {twice: }}
        former: {hosts: {former-cluster: {image: {}, workers: {}}}}
        pair: {hosts: {pair-a: , pair-b: }}
        site-a: {children: {inner: {hosts: {inner-cluster: }}}}
        site-b: {children: {chosen: {hosts: {chosen-cluster: {cluster_name: chosen}}}}}
    eu: {hosts: {prod-cluster: , staging-cluster: }}
    a-site: {hosts: {prod-cluster: , alone: }}
    zone-1: {hosts: {prod-cluster: , pair-a: }}
"""
PLAY = """\
- hosts: clusters
  gather_facts: false
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  tasks:
    - block: [{include_role: {name: metal3.baremetal.cluster}}]
      rescue: [{set_fact: {made: "{{ ansible_failed_result.msg }}"}}]
    - block: [{include_role: {name: metal3.baremetal.teardown}}]
      rescue: [{set_fact: {torn: "{{ ansible_failed_result.msg }}"}}]
    - set_fact:
        needs: "{{ hostvars | metal3.baremetal.cluster_needs([inventory_hostname]) | map(attribute='name') }}"
    - metal3.baremetal.site_lint: {}
      ignore_errors: true
      register: lint
      run_once: true
    - set_fact:
        summary:
          host: "{{ inventory_hostname }}"
          made: "{{ made }}"
          torn: "{{ torn }}"
          needs: "{{ needs }}"
          lint: "{{ lint.findings | selectattr('code', 'equalto', 'cluster-identity') | map(attribute='subject') }}"
          nested: "{{ lint.findings | selectattr('code', 'equalto', 'cluster-group-nested') }}"
    - copy:
        content: "{{ ansible_play_hosts | map('extract', hostvars) | map(attribute='summary') | to_json }}"
        dest: "{{ playbook_dir }}/summaries.json"
        mode: "0600"
      run_once: true
"""


def summaries(tmp_path, seed):
    """Return what the roles, the filter and the lint say of each cluster in a run of ansible-playbook."""
    (tmp_path / "hosts.yml").write_text(INVENTORY)
    (tmp_path / "play.yml").write_text(PLAY)
    home = tmp_path / "home"
    home.mkdir()
    settings = dict(settings_in(str(home)), PYTHONHASHSEED=seed)
    inherited = dict((name, value) for name, value in os.environ.items()
                     if not name.startswith(("ANSIBLE_", "KUBE", "K8S_AUTH_", "PYTHONHASHSEED")))
    # The seed is read when Python begins.
    with ProgramForks(home, settings) as programs:
        code, output, errors = programs.run(
            ["ansible-playbook", "-i", "hosts.yml", "play.yml",
             "-e", f"ansible_python_interpreter={module_interpreter()}"], tmp_path,
            dict(inherited, **settings, K8S_AUTH_HOST="https://127.0.0.1:1"))
    assert code == 0, output + errors
    return dict((entry["host"], entry) for entry in json.loads((tmp_path / "summaries.json").read_text()))


# With these, sets of the groups that each of the hosts is in begin with different ones.
@pytest.mark.parametrize("seed", ["1", "5"])
def test_roles_filter_and_lint_agree_on_each_name(tmp_path, seed):
    found = summaries(tmp_path, seed)
    assert sorted(found) == ["alone", "chosen-cluster", "former-cluster", "inner-cluster", "pair-a", "pair-b",
                             "prod-cluster", "staging-cluster", "twice"]
    for host, name in (("alone", "alone"), ("prod-cluster", "prod"), ("staging-cluster", "by-hand"),
                       ("inner-cluster", "site-a"), ("chosen-cluster", "chosen")):
        assert f"cluster metal3/{name}: cluster_kubernetes_version: not set" in found[host]["made"]
        assert f"cluster metal3/{name}: confirm: not set" in found[host]["torn"]
        assert found[host]["needs"] == [name]
    for role in ("made", "torn"):
        assert "the groups both, either, expected one group directly below clusters" in found["twice"][role]
        assert "metal3/pair, as of inventory host pair-b, expected a name of its own" in found["pair-a"][role]
        assert "metal3/pair, as of inventory host pair-a, expected a name of its own" in found["pair-b"][role]
    assert "2 problems" in found["former-cluster"]["made"]
    for option in ("image", "workers"):
        assert f"rename the variable {option} to cluster_{option}" in found["former-cluster"]["made"]
    assert found["twice"]["needs"] == []
    assert sorted(found["alone"]["lint"]) == ["pair-a", "pair-b", "twice"]
    (nested,) = found["alone"]["nested"]
    assert (nested["subject"], nested["level"]) == ("inner-cluster", "warning")
    assert "the group site-a with groups below it" in nested["actual"]
    assert "set cluster_name: the cluster's name would be site-a" in nested["hint"]


CHILDREN = [("prod", ["a", "b"]), ("other", ["b"])]


@pytest.mark.parametrize("host, variables, name", [
    ("a", {}, "prod"), ("c", {"group_names": ["site"]}, "c"), ("b", {"cluster_name": "by-hand"}, "by-hand")])
def test_a_name_comes_from_the_groups_below_clusters_only(host, variables, name):
    assert cluster_inventory.name_of(host, variables, CHILDREN) == name


def test_without_the_inventory_s_tree_nothing_is_guessed():
    assert cluster_inventory.name_of("a", {"group_names": ["all", "clusters", "prod"]}) == "prod"
    with pytest.raises(cluster_inventory.ClusterNameError, match="set cluster_name for this host"):
        cluster_inventory.name_of("a", {"group_names": ["clusters", "eu", "prod"]})


def test_the_same_name_in_another_namespace_is_another_cluster():
    clusters = {"a": {"cluster_name": "c"}, "b": {"cluster_name": "c", "cluster_namespace": "n"}}
    assert cluster_inventory.name_problems(clusters, []) == {}
    clusters["d"] = {"cluster_name": "c", "metal3_namespace": "n"}
    assert sorted(cluster_inventory.name_problems(clusters, [])) == ["b", "d"]
