# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A list option means the same in all modules: names, or dictionaries for which a plain name may stand."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.modules import MODULES, spec_of

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import reader as description
from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.given import refuse_structures
from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.plain_names import with_dictionaries
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.modules import baremetal_host_action

NAME = "a-name.of_1"
# Entries that need more than a name: a plain name is refused, because it can't be one.
NEED_MORE = {
    "plane_certificate.certificates", "cluster.dhcp.hosts", "cluster.neighbours", "cluster.neighbours.groups",
    "cluster.neighbours.own_pools",
    "cluster.virtual_routers", "provisioning_network.keepalived.others",
    "host_firmware_components.hosts", "host_firmware_settings.hosts", "ironic_node.nodes.ports", "ironic_port.ports",
    "baremetal_host.hosts.raid.hardware_raid_volumes", "baremetal_host_action.checked", "mirror_gather.files",
    "host_maintenance.checked", "host_compliance.places",
    "metalstack_firewall.firewalls", "metalstack_ip.ips", "metalstack_machine.machines", "metalstack_network.networks",
    "bmc_account.hosts", "host_bmc_credentials.hosts",
    "agent_image.downloads", "agent_image.hardware_managers",
    "provisioning_dhcp.dhcp.hosts", "provisioning_network.dhcp.hosts", "network_check.tcp", "network_check.tftp",
    "network_check.dhcp", "network_check.http", "plane_ironic_operator.extra_config",
}


def lists(spec, path=()):
    """Yield ``(path, option)`` for each list option of a spec; a step below a list is its first element."""
    for name, option in spec.items():
        if option.get("type") == "list":
            yield (*path, name), option
        if option.get("options"):
            yield from lists(option["options"], (*path, name))


def given_at(spec, path, value):
    """Return options that hold a value at a path, in one element of each list on the way."""
    name, option = path[0], spec[path[0]]
    if path[1:]:
        value = given_at(option["options"], path[1:], value)
        value = [value] if option.get("type") == "list" else value
    return {name: value}


def value_at(given, path):
    for name in path:
        given = (given[0] if isinstance(given, list) else given)[name]
    return given


OPTIONS = [(module, path, option) for module in MODULES for path, option in lists(spec_of(module))]
OF_DICTIONARIES = [item for item in OPTIONS if item[2].get("elements") == "dict"]
OF_TEXTS = [item for item in OPTIONS if item[2].get("elements") in ("str", "path")]


def named(items):
    return [pytest.param(*item, id=".".join((item[0], *item[1]))) for item in items]


def has_name(path, option):
    return "name" in (option.get("options") or {}) or path[-1] == "users"


@pytest.mark.parametrize("module, path, option", named(OF_DICTIONARIES))
def test_a_plain_name_is_a_dictionary_with_only_the_name(module, path, option):
    spec = spec_of(module)
    found = value_at(with_dictionaries(spec, given_at(spec, path, [NAME, {"name": "b", "dummy": 1}, 3])), path)
    takes = has_name(path, option) and ".".join((module, *path)) not in NEED_MORE
    assert found == [{"name": NAME} if takes else NAME, {"name": "b", "dummy": 1}, 3]
    # Ansible reads these as dictionaries by itself.
    for text in ("name=a state=absent", '{"name": "a"}', ""):
        assert value_at(with_dictionaries(spec, given_at(spec, path, [text])), path) == [text]


@pytest.mark.parametrize("module, path, option", named(OF_TEXTS))
def test_a_dictionary_where_a_name_is_expected_is_refused_by_name(module, path, option):
    spec = spec_of(module)
    with pytest.raises(RefusedError) as caught:
        refuse_structures(spec, given_at(spec, path, ["a", {"name": NAME, "password": "dummy"}]))
    problem, = caught.value.problems
    assert NAME in str(problem) and "dummy" not in str(problem) and problem.field.endswith(f"{path[-1]}[1]")


def test_there_are_lists_of_all_kinds():
    assert len(OF_DICTIONARIES) > 40 and len(OF_TEXTS) > 60
    known = {".".join((module, *path)) for module, path, dummy in OF_DICTIONARIES}
    assert known >= NEED_MORE


def run(module, capsys, tmp_path, **arguments):
    with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
        module.main()
    return json.loads(capsys.readouterr().out)


def test_a_module_takes_plain_names(capsys, tmp_path):
    answer = run(baremetal_host_action, capsys, tmp_path, hosts=["h1", {"name": "h1"}], action="power_on",
                 host="https://127.0.0.1:1", api_key="dummy")
    # The two are one host.
    assert "h1" in answer["msg"] and "twice" in answer["msg"], answer


def test_a_cluster_takes_names_of_domains_and_users_wherever_it_takes_users():
    params = {"name": "c1", "namespace": "metal3", "failure_domains": ["a", {"name": "b", "control_plane": False}],
              "users": ["me"], "control_plane": {"users": ["you", {"name": "they"}]},
              "workers": {"p": {"users": ["x"]}}}
    read, problems = description.read(params)
    assert [problem for problem in problems if "users" in problem.field or "domains" in problem.field] == []
    assert [(domain["name"], domain["control_plane"]) for domain in read.failure_domains] == [("a", True), ("b", False)]
    assert read.machines["users"] == [{"name": "me"}]
    assert read.control_plane["users"] == [{"name": "you"}, {"name": "they"}]
    assert read.workers["p"]["users"] == [{"name": "x"}]
