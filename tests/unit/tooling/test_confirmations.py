# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All tasks of the playbooks that may destroy or interrupt, found by walking them: each asks for its number.

An assertion before it is no question where a run begins with the task itself (``--start-at-task``), or where it alone
is left out (``--step``).
"""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from tooling import ansible_yaml

REPOSITORY = Path(__file__).resolve().parents[3]
PLAYBOOKS = REPOSITORY / "playbooks"
PREFIX = "metal3.baremetal."
INTERRUPTING = ("power_off", "reboot", "reboot_hold", "detach")
ERASING = ("abort", "clean", "deploy", "hold", "inspect", "power_off", "provide", "reboot", "rebuild", "rescue",
           "service", "undeploy", "unrescue")


def _may_be(value, names):
    """Say whether an option may have one of these values; an expression may have any."""
    return value is not None and ("{{" in str(value) or value in names)


# Module → whether a task of it may cost something, by its arguments.
DESTROYING = {
    "baremetal_host": lambda given: "absent" in str(given.get("hosts")) or any(
        given.get(option) for option in ("allow_deprovision", "allow_power_off", "delete_only_detached")),
    "baremetal_host_action": lambda given: _may_be(given.get("action"), INTERRUPTING),
    "cluster": lambda given: True,
    "host_claim": lambda given: _may_be(given.get("state"), ("absent",)),
    "ip_claim": lambda given: _may_be(given.get("state"), ("absent",)),
    "ip_pool": lambda given: _may_be(given.get("state"), ("absent",)),
    "ironic_audit": lambda given: bool(given.get("repair")),
    "ironic_node": lambda given: "absent" in str(given.get("nodes")) or given.get("force_nodes") is not None,
    "ironic_node_action": lambda given: _may_be(given.get("action"), ERASING),
    "etcd_restore": lambda given: True,
    "host_maintenance": lambda given: _may_be(given.get("state"), ("drained",)),
    "host_remediation": lambda given: True,
    "ironic_port": lambda given: "absent" in str(given.get("ports")),
    "machine_action": lambda given: _may_be(given.get("action"), ("replace",)),
    "plane_components": lambda given: _may_be(given.get("state"), ("absent",)),
    "plane_move": lambda given: True,
    # Of a restore: the operator works on what is released.
    "plane_move_hosts": lambda given: _may_be(given.get("state"), ("held",)) or given.get("held_for") is not None,
    "plane_processes": lambda given: _may_be(given.get("state"), ("absent",)),
    "plane_restore": lambda given: True,
    "plane_scale": lambda given: given.get("replicas") == 0,
    "plane_site": lambda given: _may_be(given.get("state"), ("absent",)),
    "provisioning_network": lambda given: _may_be(given.get("state"), ("absent",)),
    "systemd_service": lambda given: given.get("state") == "stopped",
}


def _loaded(path):
    return ansible_yaml.read(path) or []


def _role_file(role, name):
    return REPOSITORY / "roles" / role.removeprefix(PREFIX) / "tasks" / (
        name if name.endswith((".yml", ".yaml")) else name + ".yml")


def _when(task):
    value = task.get("when", [])
    return value if isinstance(value, list) else [value]


def _walk(tasks, folder, before=(), conditions=()):
    """Yield ``(task, the tasks before it)`` of a list of tasks and of all that it imports.

    :param conditions: of what they are imported by; a task has its own and these as ``conditions``
    """
    before = list(before)
    for task in tasks:
        own = [*conditions, *_when(task)]
        if "block" in task:
            inner = list(_walk(task["block"], folder, before, own))
        elif "ansible.builtin.import_tasks" in task or "ansible.builtin.include_tasks" in task:
            given = task.get("ansible.builtin.import_tasks") or task["ansible.builtin.include_tasks"]
            path = folder / (given["file"] if isinstance(given, dict) else given)
            inner = list(_walk(_loaded(path), path.parent, before, own))
        elif "ansible.builtin.import_role" in task:
            given = task["ansible.builtin.import_role"]
            path = _role_file(given["name"], given.get("tasks_from", "main"))
            # Of an entry point that an expression chooses, all are walked elsewhere.
            inner = list(_walk(_loaded(path), path.parent, before, own)) if path.is_file() else []
        else:
            inner = [(dict(task, conditions=own), list(before))]
        yield from inner
        before += [entry for entry, _earlier in inner]


def _plays():
    for path in sorted(PLAYBOOKS.glob("*.yml")):
        for play in _loaded(path):
            if "import_playbook" in play:
                continue
            tasks = list(play.get("pre_tasks") or [])
            tasks += [{"ansible.builtin.import_role": {"name": role["role"] if isinstance(role, dict) else role}}
                      for role in play.get("roles") or []]
            tasks += [*play.get("tasks", []), *play.get("post_tasks", [])]
            yield path.name, list(_walk(tasks, path.parent)), play.get("vars", {})


def _counts(condition):
    """Say whether an assertion is made whenever something may be interrupted."""
    return condition in ("not ansible_check_mode", ["not ansible_check_mode", "maintenance_step != 'return'"])


def _asks(task, given, before):
    """Say how a task asks for its number: by the module, an option of it, or an assertion before it; empty when not."""
    if "metal3_confirm" in str(given.get("confirm")) or "confirmed_parts" in str(given.get("confirm")):
        return "module"
    allowed = [given[option] for option in ("allow_deprovision", "allow_power_off") if option in given]
    if allowed and all("confirmed" in str(value) or value is False for value in allowed):
        return "option"
    for earlier in before:
        condition = str((earlier.get("ansible.builtin.assert") or {}).get("that"))
        if "confirm" in condition and _counts(earlier.get("when", "not ansible_check_mode")):
            return "assertion"
    return "check mode" if task.get("check_mode") is True else ""


def _variables():
    """Return the variables of all roles."""
    found = {}
    for path in (REPOSITORY / "roles").glob("*/vars/main.yml"):
        found.update(ansible_yaml.read(path))
    return found


VARIABLES = _variables()


def _mentioned(value, variables, known=frozenset()):
    """Return a value as text, with the variables of roles and of the play that it leads to."""
    text = str(value)
    names = set(re.findall(r"[a-z][a-z0-9_]+", text)) & set(variables) - known
    return " ".join([text, *(_mentioned(variables[name], variables, known | names) for name in names)])


def _holds_by_itself(task, before, variables):
    """Say whether a task fails where the question was left out: by its own condition, or that of one that it needs."""
    if any(re.search(r"_must_be_confirmed\b", str(condition)) for condition in task["conditions"]):
        return True
    text = _mentioned(task, variables)
    return any(_holds_by_itself(earlier, before[:number], variables) for number, earlier in enumerate(before)
               if earlier.get("register") and re.search(rf"\b{earlier['register']}\b", text))


def destroying_tasks():
    found = {}
    for playbook, tasks, own in _plays():
        for task, before in tasks:
            for module, costs in DESTROYING.items():
                given = task.get(PREFIX + module, task.get("ansible.builtin." + module))
                if isinstance(given, dict) and costs(given):
                    asks = _asks(task, given, before)
                    is_late = asks == "assertion" and task.get("check_mode") is not True
                    found[playbook, task["name"]] = asks if not is_late or _holds_by_itself(
                        task, before, {**VARIABLES, **own}) else ""
    return found


FOUND = destroying_tasks()
# That each is found; a new one is added here by who has thought of what it costs.
EXPECTED = {
    ("install.yml", "Install or remove cert-manager"),
    ("cluster.yml", "Create or change the cluster"),
    ("deprovision_hosts.yml", "Remove the image from the servers"),
    ("enroll.yml", "Enrol the servers"),
    ("firmware.yml", "Check whether the servers in use could be rebooted"),
    ("firmware.yml", "Reboot the servers in use for which something is pending"),
    ("host_action.yml", "Act on the servers"),
    ("install.yml", "Install or remove Cluster API Provider Metal3"),
    ("install.yml", "Install or remove Cluster API and its kubeadm providers"),
    ("install.yml", "Install or remove the Bare Metal Operator"),
    ("install.yml", "Install or remove the IP address manager"),
    ("ironic_audit.yml", "Look again, and repair what was named"),
    ("ironic_delete.yml", "Delete the nodes"),
    ("ironic_delete.yml", "Find the nodes"),
    ("ironic_deploy.yml", "Write the image to the servers"),
    ("ironic_nodes.yml", "Find the servers on which a system may be deployed"),
    ("ironic_nodes.yml", "Inspect those that are new and switched off, and those that were named"),
    ("ironic_nodes.yml", "Make them available"),
    ("ironic_undeploy.yml", "Remove the image from the servers"),
    ("machine_action.yml", "Act on machines of the cluster"),
    ("maintain.yml", "Check whether the servers in use could be rebooted"),
    ("metalstack.yml", "Create or change the cluster"),
    ("metalstack_teardown.yml", "Delete the cluster"),
    ("maintain.yml", "Reboot the servers"),
    ("maintain.yml", "Reboot the servers in use for which something is pending"),
    ("pivot.yml", "Delete the hosts' nodes"),
    ("provision.yml", "Ask for the images"),
    ("provision.yml", "Remove the image from the servers"),
    ("provision.yml", "Write the image to the servers"),
    ("renew_certificates.yml", "Install or remove the Bare Metal Operator"),
    ("rotate_certificates.yml", "Create or change the cluster"),
    ("rotate_credentials.yml", "Install or remove the Bare Metal Operator"),
    ("teardown.yml", "Delete the cluster"),
    ("unenroll.yml", "Delete the hosts"),
    ("unenroll.yml", "Detach the hosts"),
    ("upgrade.yml", "Create or change the cluster"),
    ("uninstall.yml", "Remove the parts, the last first"),
    ("etcd_restore.yml", "Restore the snapshot into a new control plane"),
    ("image_server.yml", "Stop the service"),
    ("install.yml", "Stop the processes of another way to run Ironic"),
    ("maintain.yml", "Drain the servers' nodes"),
    ("pivot.yml", "Ask Ironic for the hosts' nodes"),
    ("pivot.yml", "Check both planes"),
    ("pivot.yml", "Hold the hosts and save their status"),
    ("pivot.yml", "Look what goes back"),
    ("pivot.yml", "Look whether Ironic runs in the cluster"),
    ("pivot.yml", "Look whether the Ironic that lets go has pods"),
    ("pivot.yml", "Move hosts and clusters"),
    ("pivot.yml", "Stop Ironic's pod"),
    ("pivot.yml", "Stop Ironic's processes"),
    ("pivot.yml", "Stop the Ironic over there"),
    ("pivot.yml", "Stop the services"),
    ("pivot.yml", "Take the move back"),
    ("provisioning_network.yml", "Bring the interface to its state"),
    ("provisioning_network.yml", "Stop keepalived"),
    ("provisioning_network.yml", "Stop the service"),
    ("remediate.yml", "Bring the servers back"),
    ("renew_certificates.yml", "Stop the processes of another way to run Ironic"),
    ("restore.yml", "Look what would become of the servers"),
    ("restore.yml", "Release the hosts and wait until they are what they were"),
    ("restore.yml", "Restore what is not there"),
    ("rotate_credentials.yml", "Stop the processes of another way to run Ironic"),
    ("uninstall.yml", "Leave nothing of the plane"),
}
# Of what the run itself has just installed.
UNASKED = {("image_server.yml", "Stop the system's own server, which nobody asked for")}
# Ironic is started again in each case. Where that is an upgrade, install has asked before it wrote the figures that
# name the new Ironic, without which this task fails: tests/unit/roles/test_process_upgrade_order.py.
UNASKED |= {(playbook, "Stop Ironic before its database gets another schema")
            for playbook in ("install.yml", "renew_certificates.yml", "rotate_credentials.yml")}


def test_all_tasks_that_may_cost_something_are_known():
    assert set(FOUND) == EXPECTED | UNASKED


@pytest.mark.parametrize("place", sorted(set(FOUND) - UNASKED), ids=" ".join)
def test_a_task_that_may_cost_something_asks_for_its_number(place):
    assert FOUND[place], place


# Playbook → the variable by which one that imports it keeps its number for another stage.
NUMBERED = {"install": "install_confirmable", "enroll": "hosts_confirmable", "provision": "hosts_confirmable"}
CHAINS = [path.name for path in sorted(PLAYBOOKS.glob("*.yml"))
          if sum("import_playbook" in play for play in _loaded(path)) > 1]


@pytest.mark.parametrize("playbook", CHAINS)
def test_a_number_counts_for_one_stage_of_a_playbook(playbook):
    """Whoever repeats the number of hosts that move has not been asked for as many parts that an upgrade interrupts."""
    for play in _loaded(PLAYBOOKS / playbook):
        variable = NUMBERED.get(str(play.get("import_playbook")).removesuffix(".yml"))
        if variable:
            assert (play.get("vars") or {}).get(variable) is False, play["name"]


def test_playbooks_of_several_stages_are_looked_at():
    assert {"site.yml", "repivot.yml"} <= set(CHAINS)
