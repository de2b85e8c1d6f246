# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On which servers the role ``hosts`` works: those of the batch, and never all because none was meant."""
from __future__ import annotations

import json
import pathlib
import re

import pytest
import yaml
from fakes import playbook
from fakes.api_server import ApiServer
from fakes.used_hosts import in_use

ROOT = pathlib.Path(__file__).parents[3]
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    baremetal: {hosts: {h1: , h2: , h3: }}
    others: {hosts: {o1: , o2: }}
"""
# Each entry point is refused before any request: nothing is confirmed, or there is no server.
PLAY = """\
- hosts: %s
  gather_facts: false
  serial: 1
  tasks:
"""
ENTRY_POINT = """\
    - block:
        - include_role: {name: metal3.baremetal.hosts, tasks_from: %(name)s}
          vars: {hosts_action: power_off}
          run_once: true
      rescue:
        - debug: {msg: "%(name)s of {{ ansible_play_batch | join(',') }}: {{ ansible_failed_result.msg }}"}
          run_once: true
"""


def play(folder, text, *arguments):
    code, output = playbook.play(folder, INVENTORY, text, *arguments, K8S_AUTH_HOST="https://127.0.0.1:1")
    return code, " ".join(output.split())


def each(hosts, *names):
    """Return a play that tries each of the role's entry points, one host after the other."""
    return PLAY % hosts + "".join(ENTRY_POINT % {"name": name} for name in names)


def test_each_batch_is_for_its_own_servers(tmp_path):
    code, output = play(tmp_path, each("baremetal", "absent", "deprovision", "action"), "play.yml")
    assert code == 0, output
    for entry_point in ("absent", "deprovision", "action"):
        for name in ("h1", "h2", "h3"):
            assert f"{entry_point} of {name}: This " in output
            assert (f" 1 server ({name}). To continue, set metal3_confirm=h1,h2,h3: the play has several batches"
                    in output)


def test_in_a_play_of_several_batches_names_count_and_no_number(tmp_path):
    """A number would confirm as many servers of each batch as were meant of one."""
    text = PLAY % "baremetal" + """\
    - include_role: {name: metal3.baremetal.hosts, tasks_from: confirm}
      vars: {hosts_confirm_effect: wipes the disks of %s}
      run_once: true
"""
    for given, succeeds in (("1", False), ("3", False), ("h1,h2,h3", True), ("h1,h2", False), ("h1,h2,h3,h4", False)):
        code, output = play(tmp_path, text, "play.yml", "-e", f"metal3_confirm={given}")
        assert (code == 0) is succeeds, output
        assert succeeds or f'metal3_confirm: found "{given}", expected names.' in output.replace("\\", ""), output


def test_check_mode_asks_for_no_confirmation_and_says_what_a_run_would_ask_for(tmp_path):
    text = PLAY.replace("serial: 1", "serial: 3") % "baremetal" + """\
    - include_role: {name: metal3.baremetal.hosts, tasks_from: confirm}
      vars: {hosts_confirm_effect: wipes the disks of %s}
      run_once: true
"""
    message = "This wipes the disks of 3 servers (h1, h2, h3). To continue, set metal3_confirm=3."
    code, output = play(tmp_path, text, "play.yml", "--check")
    assert code == 0 and f"Without check mode this would be refused: {message}" in output, output
    code, output = play(tmp_path, text, "play.yml", "--check", "-e", "metal3_confirm=3")
    assert code == 0 and "would be refused" not in output, output
    assert play(tmp_path, text, "play.yml")[0] != 0


def test_a_play_without_servers_does_not_mean_all_of_them(tmp_path):
    names = ("absent", "deprovision", "action", "provision", "inspect", "firmware")
    code, output = play(tmp_path, each("o1", *names), "play.yml")
    assert code == 0, output
    for entry_point in names:
        assert f"{entry_point} of o1: hosts_names: none of the play's hosts (o1) is in the group baremetal" in output


SHOW = """\
- hosts: %s
  gather_facts: false
  serial: 2
  tasks:
    - include_vars: %s/roles/hosts/defaults/main.yml
    - include_vars: %s/roles/hosts/vars/main.yml
    - debug: {msg: "absent {{ hosts_absent_entries | to_json }}"}
      run_once: true
    - debug: {msg: "confirmed {{ hosts_enrolled_confirmed }}"}
      run_once: true
    - debug: {msg: "enrolled {{ hosts_enrolled_entries | map(attribute='name') | join(',') }}"}
      run_once: true
      when: show_enrolled | default(true) | bool
"""


@pytest.mark.parametrize("hosts, texts", [
    ("baremetal", ['enrolled h1,h2"', 'enrolled h3"']), ("o1", ['enrolled h1,h2,h3"', 'absent []"'])])
def test_enrolment_takes_the_batch_or_all(tmp_path, hosts, texts):
    code, output = play(tmp_path, SHOW % (hosts, ROOT, ROOT), "play.yml")
    assert code == 0, output
    assert all(text in output for text in texts), output


@pytest.mark.parametrize("variable, code", [
    ("metal3_namespace: other", 2), ("metal3_kubeconfig: '{{ of_play }}/x'", 0),
    ("metal3_kubeconfig: '{{ of_play }}'", 0)])
def test_servers_of_two_planes_are_not_enrolled_in_one(tmp_path, variable, code):
    """What only the play has says nothing of a server."""
    inventory = INVENTORY.replace("h2: ,", f"h2: {{{variable}}},")
    found, output = playbook.play(tmp_path, inventory, SHOW.replace("serial: 2", "vars: {of_play: /folder}") % (
        "baremetal", ROOT, ROOT), "play.yml")
    assert found == code, output
    assert ("found servers of several planes or namespaces" in " ".join(output.split())) is bool(code), output


@pytest.mark.parametrize("hosts, confirm, answers", [
    ("baremetal", "", ["False", "False"]), ("baremetal", "2", ["False", "False"]),
    ("baremetal", "h1,h2", ["True", "False"]), ("baremetal", "h1,h2,h3", ["True", "True"]),
    # Elsewhere all servers are enrolled, so that an empty list of names confirms nothing.
    ("o1", "", ["False"]), ("o1", "0", ["False"]), ("o1", "3", ["True"])])
def test_enrolment_is_confirmed_for_the_servers_that_it_takes(tmp_path, hosts, confirm, answers):
    code, output = play(tmp_path, SHOW % (hosts, ROOT, ROOT), "play.yml", "-e", f'{{"metal3_confirm": "{confirm}"}}')
    assert code == 0, output
    assert re.findall(r"confirmed (True|False)", output) == answers


REBOOT = """\
- hosts: baremetal
  gather_facts: false
  vars_files: ["%s/roles/hosts/vars/main.yml"]
  vars: {hosts_confirmable: true}
  tasks:
    - import_tasks: %s/roles/hosts/tasks/firmware_confirm.yml
"""


@pytest.mark.parametrize("values, refused", [
    ({"hosts_firmware_live": ["h2"]}, True),
    # All servers of the run are not those that are rebooted.
    ({"hosts_firmware_live": ["h2"], "metal3_confirm": "3"}, True),
    ({"hosts_firmware_live": ["h2"], "metal3_confirm": "1"}, False),
    ({"hosts_firmware_live": ["h2"], "metal3_confirm": "h2"}, False),
    ({"hosts_firmware_live": []}, False),
])
def test_servers_in_use_are_rebooted_only_when_that_is_confirmed(tmp_path, values, refused):
    given = dict({"hosts_firmware_reboot": "soft", "metal3_confirm": "", "hosts_names": ["h1", "h2", "h3"]}, **values)
    code, output = play(tmp_path, REBOOT % (ROOT, ROOT), "play.yml", "-e", json.dumps(given))
    assert (code != 0) is refused, output
    assert ("This reboots 1 server (h2), in use by a deployed system. To continue, set metal3_confirm=1." in output
            ) is refused


@pytest.mark.parametrize("counted, live, confirm, late", [
    # As many as somebody was asked about, and not those.
    (["h1"], ["h2"], "1", ["h2"]), (["h1", "h2"], ["h1", "h3"], "2", ["h3"]), ([], ["h1"], "1", ["h1"]),
    (["h1"], ["h2"], 1, ["h2"]),
    (["h1", "h2"], ["h1"], "1", []), (["h1"], ["h1"], "1", []),
    # Names say who is meant.
    (["h1"], ["h2"], "h2", [])])
def test_a_number_is_not_for_servers_in_use_only_since_it_was_asked_for(tmp_path, counted, live, confirm, late):
    steps = dict((task["name"], task) for task in yaml.safe_load(
        (ROOT / "roles" / "hosts" / "tasks" / "firmware.yml").read_text()))
    text = json.dumps([{
        "hosts": "baremetal", "gather_facts": False, "vars_files": [f"{ROOT}/roles/hosts/vars/main.yml"],
        "vars": {"hosts_confirmable": True}, "tasks": [
            dict(steps["Note the servers that somebody was asked about"], vars={"hosts_firmware_live": counted}),
            dict(steps["Refuse servers that are in use only since somebody was asked"],
                 vars={"hosts_firmware_live": live, "hosts_firmware_asked": []})]}])
    code, output = play(tmp_path, text, "play.yml", "-e", json.dumps({"metal3_confirm": confirm}))
    assert (code != 0) is bool(late), output
    assert (f"{', '.join(late)}: found in use by a deployed system since the run has asked, which was about "
            f"{', '.join(counted) or 'none'}, expected no other server" in output) is bool(late)


@pytest.mark.parametrize("given, output_has", [
    ((), "This wipes the disks of 2 servers (h1, h3). To continue, set metal3_confirm=2."),
    (("-e", "metal3_confirm=3"),
     "metal3_confirm: found \"3\", expected 2. This wipes the disks of 2 servers (h1, h3). To continue, set"),
    # A number that is meant for something else, as in the playbook site, confirms nothing.
    (("-e", "metal3_confirm=2", "-e", "hosts_confirmable=false"), "This wipes the disks of 2 servers (h1, h3). "
     "To continue, run the playbook metal3.baremetal.unenroll on its own, with metal3_confirm=2."),
    (("-e", "unenroll_confirm=2"), "unenroll_confirm: unknown variable, replaced by metal3_confirm"),
    (("-e", "metal3_confirm=2", "-e", "hosts_confirm=2"), "hosts_confirm: unknown variable, replaced by")])
def test_a_playbook_asks_for_its_confirmation(tmp_path, given, output_has):
    code, output = play(tmp_path, "", "metal3.baremetal.unenroll", "--limit", "h1,h3", *given)
    assert code != 0
    assert output_has in output.replace("\\", ""), output


def test_no_playbook_has_a_confirmation_variable_of_its_own():
    for path in [*(ROOT / "playbooks").glob("*.yml"), *(ROOT / "roles").rglob("*.yml"),
                 *(ROOT / "roles").glob("*/*.md")]:
        assert set(re.findall(r"\b[a-z][a-z0-9_]*_confirm\b(?!\.yml)", path.read_text())) <= {"metal3_confirm"}, path


def test_a_reboot_is_confirmed_before_anything_is_written():
    def tasks(name):
        return yaml.safe_load((ROOT / "roles" / "hosts" / "tasks" / name).read_text())

    steps = [task.get("ansible.builtin.import_tasks", task["name"]) for task in tasks("firmware.yml")]
    assert steps.index("firmware_check.yml") < steps.index("Set when firmware of servers in use may change")
    assert steps[steps.index("Reboot the servers in use for which something is pending") - 1] == "firmware_confirm.yml"
    assert tasks("firmware_check.yml")[-1]["ansible.builtin.import_tasks"] == "firmware_confirm.yml"


def test_names_of_any_form_are_names(tmp_path):
    """The list of what is deleted is built as data: a name is no part of a text that is read as JSON."""
    (tmp_path / "values.json").write_text(json.dumps(
        {"hosts_names": ['a", "state": "present', "b"], "show_enrolled": False}))
    code, output = play(tmp_path, SHOW % ("o1", ROOT, ROOT), "play.yml", "-e", "@values.json")
    assert code == 0, output
    shown = json.loads('"%s"' % output.partition('"msg": "absent ')[2].partition('" }')[0])
    assert json.loads(shown) == [{"name": 'a", "state": "present', "state": "absent"}, {"name": "b", "state": "absent"}]


def test_a_missing_or_unknown_action_is_reported_with_all_that_there_are(tmp_path):
    for given, seen in (((), "nothing"), (("-e", "host_action=explode"), "explode")):
        code, output = play(tmp_path, "", "metal3.baremetal.host_action", *given)
        assert code != 0
        assert f"host_action: found {seen}, expected one of attach, detach, inspect," in output
        assert "-e host_action=<action>" in output


def test_a_status_is_restored_from_what_was_saved(tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "h1.json").write_text('{"provisioning": {"state": "{{ 6 * 7 }}"}}')
    given = ("metal3.baremetal.host_action", "--limit", "h1,h2", "-e", "host_action=restore_status")
    dummy, output = play(tmp_path, "", *given)
    assert "hosts_action_status_dir: found nothing, expected the folder" in output
    given += ("-e", f"hosts_action_status_dir={tmp_path / 'saved'}")
    dummy, output = play(tmp_path, "", *given)
    assert f"missing: {tmp_path / 'saved' / 'h2.json'}" in output
    (tmp_path / "saved" / "h2.json").write_text('{"power": true}')
    dummy, output = play(tmp_path, "", *given)
    assert "h2: hosts_action_status_dir.power: found an unknown field" in output
    assert "42" not in output


def test_nothing_to_provision_is_reported(tmp_path):
    code, output = play(tmp_path, "", "metal3.baremetal.provision", "--limit", "h1,h2")
    assert code != 0
    assert "bmh_image: not set for h1, h2, expected an image" in output


def test_no_name_of_an_answer_is_part_of_a_path():
    steps = yaml.safe_load((ROOT / "roles" / "hosts" / "tasks" / "action.yml").read_text())
    blocks = [task for step in steps for task in step.get("block", [])]
    write = next(task for task in blocks if task["name"] == "Write a file for each host")
    assert write["loop"] == "{{ hosts_names }}" and "item.name" not in str(write)
    assert "[item] | metal3.baremetal.status_files(" in write["ansible.builtin.copy"]["dest"]


def test_the_bmcs_of_the_named_servers_are_checked_before_enrolment():
    steps = yaml.safe_load((ROOT / "playbooks" / "enroll.yml").read_text())[-1]["tasks"]
    check = next(step for step in steps if step["name"] == "Check the BMCs")
    assert check["vars"]["preflight_names"] == "{{ hosts_names | default(ansible_play_batch) }}"


def test_a_redeployment_asks_for_the_servers_that_have_an_image(tmp_path):
    inventory = INVENTORY.replace("h2: ", "h2: {bmh_image: {url: 'https://images.example/a.raw', format: raw}}")
    text = PLAY.replace("serial: 1", "serial: 3") % "baremetal" + """\
    - include_role: {name: metal3.baremetal.hosts, tasks_from: provision}
      vars: {hosts_reprovision: true, hosts_check_images: false}
"""
    code, output = playbook.play(tmp_path, inventory, text, "play.yml", "-e", "metal3_confirm=3",
                                 K8S_AUTH_HOST="https://127.0.0.1:1")
    assert code != 0
    assert ("expected 1. This wipes the disks of 1 server (h2). To continue, set metal3_confirm=1."
            in " ".join(output.split())), output


def test_servers_that_are_to_be_removed_in_several_ways_are_not_removed_in_that_of_the_first(tmp_path):
    """The group of those that must never be wiped has a variable of its own."""
    with ApiServer([in_use("h1"), in_use("h2")]) as server:
        code, output = playbook.play(
            tmp_path, INVENTORY.replace("h2: ,", "h2: {hosts_remove_by: detach},"), "", "metal3.baremetal.unenroll",
            "--limit", "h1,h2", "-e", "metal3_confirm=2", "-e", "hosts_wait_timeout_seconds=1", "-e",
            '{"hosts_force": ["h1", "h2"]}', K8S_AUTH_HOST=server.url, K8S_AUTH_API_KEY="a-token")
        assert code != 0 and server.stored == [], output
        assert "hosts_remove_by: found deprovision, which would count for all servers of the run, and detach for" in (
            output)


def test_servers_of_two_planes_are_refused_before_one_of_them_is_detached(tmp_path):
    """The operator works no more on a server that is detached and not deleted."""
    with ApiServer([in_use("h1")]) as server:
        code, output = playbook.play(
            tmp_path, INVENTORY.replace("h2: ,", "h2: {metal3_namespace: other},"), "", "metal3.baremetal.unenroll",
            "--limit", "h1,h2", "-e", "metal3_confirm=2", "-e", "hosts_wait_timeout_seconds=1", "-e",
            "hosts_remove_by=detach", K8S_AUTH_HOST=server.url, K8S_AUTH_API_KEY="a-token")
        assert code != 0 and "found servers of several planes or namespaces" in output, output
        assert server.stored == [], server.stored
