# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How playbooks refer to each other, and their tags."""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml, role_pages

REPOSITORY = Path(__file__).resolve().parents[3]
PLAYBOOKS = REPOSITORY / "playbooks"
LOCAL = "{ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}"


def test_playbooks_are_imported_by_file_name():
    """galaxy-importer's ansible-lint doesn't find those that are imported by full name: "Failed to find playbook"."""
    imported = [(path.name, play["import_playbook"]) for path in sorted(PLAYBOOKS.glob("*.yml"))
                for play in ansible_yaml.read(path) if "import_playbook" in play]
    assert len(imported) >= 5
    for importer, name in imported:
        assert (PLAYBOOKS / name).is_file(), f"{importer} imports {name}"


def test_each_play_has_a_tag():
    for path in PLAYBOOKS.glob("*.yml"):
        for play in ansible_yaml.read(path):
            assert "import_playbook" in play or play.get("tags"), f"{path.name}: {play['name']}"


def test_each_play_has_its_strategy():
    """With free in an ansible.cfg, run_once and any_errors_fatal would have no effect."""
    for path in PLAYBOOKS.glob("*.yml"):
        for play in ansible_yaml.read(path):
            assert "import_playbook" in play or play["hosts"] == "localhost" or play.get("strategy") == "linear", (
                f"{path.name}: {play['name']}")


def test_sizes_of_batches_are_checked():
    """Ansible takes 0 for all hosts at once, and ends by a traceback where a size is no number."""
    sizes = [play["serial"] for path in PLAYBOOKS.glob("*.yml") for play in ansible_yaml.read(path) if "serial" in play]
    assert len(sizes) == 3 and all("metal3.baremetal.batch_sizes(" in size for size in sizes)


@pytest.mark.parametrize("name, given", [("upgrade", "0"), ("upgrade", ""), ("upgrade", "1,a"),
                                         ("rotate_certificates", "0"), ("rotate_certificates", "[a]")])
def test_a_wrong_size_ends_the_run_before_anything_is_done(tmp_path, name, given):
    inventory = f"all: {{children: {{management: {{hosts: {{m1: {LOCAL}}}}}, clusters: {{hosts: {{c1: {LOCAL}}}}}}}}}"
    code, output = playbook.play(tmp_path, inventory, "", f"metal3.baremetal.{name}", "-e",
                                 json.dumps({f"{name}_serial": given}), K8S_AUTH_HOST="https://127.0.0.1:1")
    output = " ".join(output.split())
    assert code and f'{name}_serial: found "{given}", expected a number from 1 on' in output, output
    assert "Traceback" not in output and "TASK [metal3.baremetal." not in output


def test_tags_reach_every_task():
    """A tag of a play does not reach the tasks of an include: with --tags the question for confirmation was skipped."""
    for path in [*PLAYBOOKS.rglob("*.yml"), *(REPOSITORY / "roles").rglob("*.yml")]:
        text = path.read_text().replace("ansible.builtin.include_vars", "")
        # Included is what needs another collection, where an import would fail without it, and what is done in a loop.
        assert text.count("ansible.builtin.include_") == text.count("apply:"), path


def test_a_role_resets_no_connection_by_a_meta_task():
    """It has no condition, and warns of each that it inherits; wait_for_connection resets before each attempt."""
    found = [path for path in [*PLAYBOOKS.rglob("*.yml"), *(REPOSITORY / "roles").rglob("*.yml")]
             if re.search(r"meta:.*reset_connection", path.read_text())]
    assert found == []


@pytest.mark.parametrize("name, entry_point", [
    ("deprovision", "deprovision"), ("absent", "absent"), ("mine", "absent")])
def test_a_tag_does_not_skip_the_confirmation(tmp_path, name, entry_point):
    text = json.dumps([{"hosts": "baremetal", "gather_facts": False, "tags": [name], "tasks": [
        {"import_role": {"name": "metal3.baremetal.hosts", "tasks_from": entry_point}}]}])
    code, output = playbook.play(tmp_path, f"baremetal: {{hosts: {{h1: {LOCAL}}}}}", text, "play.yml", "--tags", name,
                                 K8S_AUTH_HOST="https://127.0.0.1:1")
    assert code != 0 and "To continue, set metal3_confirm=1." in output, output


ONE_CLUSTER = f"""\
all:
  vars: {LOCAL}
  children:
    clusters: {{hosts: {{prod: }}}}
"""
PLANE = "    management: {hosts: {bastion: }}\n"


# Playbooks of hosts that do not refuse an inventory in which their group has none, and why.
WITHOUT_A_GROUP = {
    "lab": "tasks/lab_inventory.yml refuses what describes no lab, and a lab has the machine of its plane",
    "lab_down": "as lab",
    "lab_status": "as lab",
    "mirror_gather": "what planes and clusters pull comes beside what is gathered without an inventory",
    "site": "each stage is for what the inventory has of it; without any the playbook refuses it itself"}
NAMES = sorted(path.stem for path in PLAYBOOKS.glob("*.yml"))
CHECKED = [name for name in NAMES if name not in WITHOUT_A_GROUP and role_pages.hosts(name, "localhost")]


def imports(play):
    """Return the imported task files of a play's tasks, each with the variables that it has."""
    found = []
    for task in play["tasks"]:
        name = task["ansible.builtin.import_tasks"]
        inner = {} if name.endswith("/required_group.yml") else ansible_yaml.read(PLAYBOOKS / name)[0]["vars"]
        found.append((name, {**inner, **task.get("vars", {})}))
    return found


def group_of(name):
    """Return the group without which a playbook is of no use."""
    return imports(role_pages.plays(name)[0])[0][1]["required_group"]


def test_a_playbook_that_needs_no_hosts_is_still_there():
    assert set(WITHOUT_A_GROUP) <= set(NAMES) and len(CHECKED) > 40
    assert all(role_pages.hosts(name, "localhost") for name in WITHOUT_A_GROUP)


@pytest.mark.parametrize("name", CHECKED)
def test_a_playbook_begins_with_the_question_whether_there_are_hosts(name):
    """Before anything is asked or written, with each tag, and for the hosts that its own plays have."""
    check, *others = role_pages.plays(name)
    assert role_pages.checks_groups(check) and check["hosts"] == "localhost" and check["gather_facts"] is False
    assert set(check["tags"]) & {"always"} or set(role_pages.tags_of(others)) - {"always"} <= set(check["tags"])
    patterns = role_pages.hosts(name, "localhost")
    for file, given in imports(check):
        assert (PLAYBOOKS / file).is_file()
        assert given.get("required_pattern", given["required_group"]) in patterns, (file, patterns)
        # The message names it.
        assert ("required_pattern" in given) == ("required_variable" in given)
        assert "required_pattern" not in given or given["required_pattern"] == (
            f"{{{{ {given['required_variable']} | default('{given['required_group']}') }}}}")


@pytest.mark.parametrize("name", CHECKED)
def test_an_inventory_without_the_hosts_of_a_playbook_is_no_success(tmp_path, name):
    group = group_of(name)
    code, output = playbook.play(tmp_path, f"all: {{vars: {LOCAL}}}\n", "", "metal3.baremetal." + name)
    assert code != 0 and f"group {group}: found no host, expected" in output, output
    assert f"make the group, for example {group}: {{" in output, output
    # Of a host that is named Ansible looks for another Python, which has not the packages of the modules.
    assert "{localhost:" not in output or f"ansible_python_interpreter: {sys.executable}" in output, output
    assert playbook.recap(output) == {"localhost": (0, 1)}, output


# A machine that Ansible could not reach, whose login is for others.
ODD = """\
all:
  vars: {ansible_become: true, ansible_become_password: unknown, ansible_connection: ssh, ansible_host: 192.0.2.1}
  children: {management: {hosts: {localhost: {ansible_python_interpreter: /nowhere}}}, baremetal: {}}
"""


@pytest.mark.parametrize("arguments", [(), ("--check",), ("--tags", "preflight"), ("-b", "-e", "metal3_confirm=1")])
def test_the_machine_that_runs_ansible_is_not_connected_to(tmp_path, arguments):
    code, output = playbook.play(tmp_path, ODD, "", "metal3.baremetal.enroll", *arguments)
    assert code != 0 and "group baremetal: found no host, expected the servers" in output, output
    assert playbook.recap(output) == {"localhost": (0, 1)}, output


ONE_SERVER = f"baremetal:\n  hosts: {{h1: {LOCAL}}}\n"


@pytest.mark.parametrize("arguments", [(), ("--limit", "h1"), ("--start-at-task", "Act on the servers")])
def test_with_its_hosts_a_playbook_goes_on(tmp_path, arguments):
    code, output = playbook.play(tmp_path, ONE_SERVER, "", "metal3.baremetal.host_action", *arguments)
    assert code != 0 and "found no host, expected" not in output and "fatal: [h1" in output, output


@pytest.mark.parametrize("optional, is_refused", [
    (["baremetal"], False), ("clusters,baremetal", False), ("baremetal-too", True), ([], True), (None, True)])
def test_a_group_that_may_be_empty_is_named(tmp_path, optional, is_refused):
    code, output = playbook.play(tmp_path, f"all: {{vars: {LOCAL}}}\n", "", "metal3.baremetal.enroll", "-e",
                                 json.dumps({"metal3_optional_groups": optional}))
    assert (code != 0, "a group that may be empty is named in metal3_optional_groups" in output) == (
        is_refused, is_refused), output


@pytest.mark.parametrize("name, variable, given, is_found", [
    ("cluster", "cluster_hosts", "prod", True), ("cluster", "cluster_hosts", ["none", "pr*"], True),
    ("cluster", "cluster_hosts", "all:!clusters", False), ("cluster", "cluster_hosts", [], False),
    ("cluster", "cluster_hosts", "prd", False), ("cluster", "cluster_hosts", ["prd"], False),
    ("install", "install_hosts", "prod", True), ("install", "install_hosts", "bastion", False)])
def test_hosts_that_a_variable_names_in_place_of_the_group_are_there(tmp_path, name, variable, given, is_found):
    # A group that may be empty is another thing than a name that is wrong.
    optional = ["clusters", "management"] if given else []
    code, output = playbook.play(tmp_path, ONE_CLUSTER, "", f"metal3.baremetal.{name}", "-e",
                                 json.dumps({variable: given, "metal3_optional_groups": optional}))
    words = " ".join(output.split())
    assert code != 0 and (f"{variable}: found {json.dumps(given)}, by which the inventory has no host" in words) is (
        not is_found), output
    assert ("fatal: [prod" in output) is is_found, output


MEDIA = ("-e", "network_check_media_url=https://192.0.2.1/probe.iso")
AGENTS = ("-e", "network_check_agents=true")
QUESTION = ("-e", json.dumps({"network_check_tcp": [{"name": "a", "host": "127.0.0.1", "port": 1}]}))


@pytest.mark.parametrize("inventory, arguments, group", [
    ("all: {}", (), "management"), ("all: {}", QUESTION, "management"), ("all: {}", MEDIA, "baremetal"),
    ("all: {}", AGENTS, "baremetal"), (ONE_SERVER, (), "management"), (ONE_SERVER, (*MEDIA, *QUESTION), "management"),
    (ONE_SERVER + "  vars: {network_check_agents: true}\n", (), None), (ONE_SERVER, MEDIA, None),
    (ONE_SERVER, (*MEDIA, "-e", "network_check_from=h1"), None)])
def test_a_network_is_checked_from_what_is_asked(tmp_path, inventory, arguments, group):
    """BMCs and agents are asked without a machine, and machines without a server."""
    code, output = playbook.play(tmp_path, inventory, "", "metal3.baremetal.network_check", *arguments)
    assert code != 0 and ("found no host, expected" in output) is (group is not None), output
    assert group is None or f"group {group}: found no host, expected" in output, output


def test_a_part_of_a_plane_is_not_installed_without_a_plane(tmp_path):
    code, output = playbook.play(tmp_path, f"managment: {{hosts: {{bastion: {LOCAL}}}}}\n", "",
                                 "metal3.baremetal.install", "--tags", "ironic")
    assert code != 0 and "group management: found no host, expected" in output, output


@pytest.mark.parametrize("inventory, host", [(ONE_SERVER, "h1"), (ONE_CLUSTER, "prod")], ids=["servers", "clusters"])
def test_a_site_needs_no_plane_servers_or_clusters(tmp_path, inventory, host):
    """Its servers may be managed by a plane that others run, and it may have no cluster yet."""
    code, output = playbook.play(tmp_path, inventory, "", "metal3.baremetal.site")
    assert code != 0 and "found no host, expected" not in output and f"fatal: [{host}" in output, output


def test_a_site_without_a_host_is_no_success(tmp_path):
    code, output = playbook.play(tmp_path, f"baremetl: {{hosts: {{h1: {LOCAL}}}}}\n", "", "metal3.baremetal.site")
    assert code != 0 and "groups management, baremetal and clusters: found no host, expected" in output, output


RANGE = {"provisioning_network_dhcp_ranges": [{"first": "192.0.2.200", "last": "192.0.2.240"}]}
IMAGE = {"image_server_images": [{"name": "a.raw", "path": "/a.raw"}]}


@pytest.mark.parametrize("name, described, missing", [
    ("provisioning_network", RANGE, "provisioning_network_name"),
    ("provisioning_network", {"provisioning_network_state": "absent"}, "provisioning_network_name"),
    ("image_server", IMAGE, "image_server_addresses"),
    ("image_server", {"image_server_state": "absent"}, "image_server_addresses")])
def test_a_description_that_is_of_no_machine_is_no_success(tmp_path, name, described, missing):
    inventory = {"management": {"hosts": {"bastion": {"ansible_connection": "local"}}, "vars": described}}
    code, output = playbook.play(tmp_path, json.dumps(inventory), "", f"metal3.baremetal.{name}")
    found, = described
    assert code != 0 and f"{missing}: not set for a machine of the group management" in " ".join(output.split()), output
    assert f"because {found} is set and would have no effect" in " ".join(output.split()), output


@pytest.mark.parametrize("name, described, missing", [
    ("provisioning_network", RANGE, "provisioning_network_name"), ("image_server", IMAGE, "image_server_addresses")])
def test_machines_may_share_what_only_one_of_them_is_for(tmp_path, name, described, missing):
    hosts = {"m1": {"ansible_connection": "local"}, "m2": {missing: ["a"]}}
    inventory = {"management": {"hosts": hosts, "vars": described}}
    code, output = playbook.play(tmp_path, json.dumps(inventory), "", f"metal3.baremetal.{name}", "--limit", "m1")
    assert code == 0 and "skipping: [m1]" in output, output


@pytest.mark.parametrize("name, mistyped, missing", [
    ("provisioning_network", "provisioning_network_nmae", "provisioning_network_name"),
    ("image_server", "image_server_adresses", "image_server_addresses")])
def test_a_run_for_what_no_machine_has_is_no_success(tmp_path, name, mistyped, missing):
    """A site leaves the stage out; on its own the playbook has been asked to do something."""
    inventory = json.dumps({"management": {"hosts": {"m1": {"ansible_connection": "local", mistyped: ["a"]}}}})
    code, output = playbook.play(tmp_path, inventory, "", f"metal3.baremetal.{name}")
    output = " ".join(output.split())
    assert code and f"{missing}: not set for a machine of the group management, expected the " in output, output
    assert f"; set {missing} for the machine that is meant" in output and "because" not in output, output
    code, output = playbook.play(tmp_path, inventory, "", f"metal3.baremetal.{name}",
                                 "-e", '{"metal3_optional_groups": ["management"]}')
    assert code == 0, output


@pytest.mark.parametrize("plane", [
    {}, {"management_plane": {"name": "rack1", "dir": "/plane", "address": "192.0.2.10"}},
    {"management_plane": {"kubeconfig": "/kubeconfig"}}])
def test_a_plane_without_a_mode_is_refused_before_anything_is_done(tmp_path, plane):
    """Ironic's role failed for want of a figure (services_python), after it had made a folder."""
    inventory = {"management": {"hosts": {"bastion": {"ansible_connection": "local", **plane}}}}
    code, output = playbook.play(tmp_path, json.dumps(inventory), "", "metal3.baremetal.install")
    assert code and "management_plane.mode: not set, expected process, cluster or external" in output, output
    assert "changed=0" in output, output


@pytest.mark.parametrize("name", ["certificates", "collect_logs"])
def test_a_plane_that_others_run_is_found_by_its_kubeconfig_alone(tmp_path, name):
    code, output = playbook.play(tmp_path, ONE_CLUSTER + PLANE, "", "metal3.baremetal." + name,
                                 "-e", "metal3_kubeconfig=/nonexistent/kubeconfig")
    assert code != 0 and "kubeconfig: found no file /nonexistent/kubeconfig" in output, output


@pytest.mark.parametrize("plane, found, way", [
    ({}, "found nothing, expected cluster or process", "set management_plane as the playbook install had it"),
    ({"mode": "external"}, "found external, expected cluster or process", "a plane that others run"),
    ({"mode": "process", "index": 1}, "found process, of a lab, expected", "a lab is taken down by lab_down")])
def test_a_removal_names_the_plane_that_it_found(tmp_path, plane, found, way):
    code, output = playbook.play(tmp_path, ONE_CLUSTER + PLANE, "", "metal3.baremetal.uninstall",
                                 "-e", json.dumps({"management_plane": plane}))
    assert code != 0 and f"management_plane.mode: {found}" in output and way in output, output


def test_a_file_that_discovery_did_not_write_is_not_said_to_be_written(tmp_path):
    code, output = playbook.play(
        tmp_path, ONE_CLUSTER, "", "metal3.baremetal.discover", "-e", json.dumps({
            "discover_addresses": ["127.0.0.1"], "discover_ports": [1], "discover_username": "a",
            "discover_password": "b"}))
    assert code != 0 and "0 servers found, nothing was written; but:" in output, output
    assert not (tmp_path / "00-discovered.yml").exists()


@pytest.mark.parametrize("plane, arguments", [
    (PLANE, ["--limit", "prod"]), ("", ["--limit", "prod"]),
    (PLANE, ["--tags", "upgrade", "-e", json.dumps({"backup_directory": "backups", "backup_recipients": ["age1"]})])])
def test_an_upgrade_is_not_begun_without_its_backup(tmp_path, plane, arguments):
    code, output = playbook.play(tmp_path, ONE_CLUSTER + plane, "", "metal3.baremetal.upgrade", *arguments)
    assert code != 0 and "upgrade_backup: found no backup of this run" in output, output
    code, output = playbook.play(tmp_path, ONE_CLUSTER + plane, "", "metal3.baremetal.upgrade", *arguments,
                                 "-e", "upgrade_backup=false")
    assert code != 0 and "found no backup" not in output and "no Kubernetes API server given" in output, output


def test_an_upgrade_is_planned_before_its_backup_is_begun(tmp_path):
    """A change that is refused needs no backup, and none of its keys."""
    code, output = playbook.play(tmp_path, ONE_CLUSTER + PLANE, "", "metal3.baremetal.upgrade",
                                 "-e", "metal3_kubeconfig=/nonexistent/kubeconfig")
    assert code != 0 and "found no file /nonexistent/kubeconfig" in output, output
    assert "Note where the backup is written" in output and "PLAY [Back up" not in output, output
    assert "backup_directory" not in output and "backup_recipients" not in output, output


@pytest.mark.parametrize("connection, refused", [("ssh", True), ("local", False)])
def test_a_lab_is_taken_down_on_this_machine_only(tmp_path, connection, refused):
    inventory = f"management: {{hosts: {{m1: {{ansible_connection: {connection}}}}}, vars: {{lab_name: none-such}}}}"
    code, output = playbook.play(tmp_path, inventory, "", "metal3.baremetal.lab_down", "--check", "-e", "lab_name=none")
    assert ("ansible_connection: found" in output) is refused, output
    assert (code != 0) or not refused


def _tasks(entries):
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from _tasks(entry.get(part) or [])


def test_a_login_does_not_go_where_a_server_leads_to():
    found = []
    for path in [*PLAYBOOKS.rglob("*.yml"), *(REPOSITORY / "roles").glob("*/tasks/*.yml")]:
        for task in _tasks(entry for entry in ansible_yaml.read(path) or []):
            asked = task.get("ansible.builtin.uri") or task.get("ansible.builtin.get_url") or {}
            if "url_password" in asked:
                found.append((path.name, task["name"], asked.get("follow_redirects")))
    assert len(found) >= 2 and all(follow == "none" for _file, _name, follow in found), found
