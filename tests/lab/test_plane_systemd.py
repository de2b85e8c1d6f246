# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane under a real systemd, whose machine is restarted: an unprivileged user's plane, and root's.

No lab takes part: the machine is this one's root file system in namespaces, with a network of its own.
"""
from __future__ import annotations

import time

import pytest
import systemd_machine
from plane_operator import HOME, PROGRAMS, UNIT, USER, Operator, add_user, linger, share_programs
from support import REPOSITORY, eventually, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = [pytest.mark.nodes, pytest.mark.plane]


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """The machine, with the programs built."""
    module("plane_programs", source_dir=str(REPOSITORY / "lab" / "engine"), cache_dir=user_folders.cache_dir())
    with systemd_machine.Machine(tmp_path_factory.mktemp("machine")) as found:
        found.start()
        add_user(found)
        share_programs(found)
        yield found


@pytest.fixture(scope="module")
def operator(machine):
    return Operator(machine, USER, HOME)


def test_a_user_whose_units_end_with_the_login_gets_none_unless_asked_for(operator):
    reason = f"units of {USER} run only during a login"
    operator.playbook("install", "--check").says(f"Nothing does: {reason}; run: loginctl enable-linger {USER}")
    operator.playbook("install", fails=True, bootstrap_plane_service="user").says(
        f'bootstrap_plane_service: found "user", but the {reason}')
    operator.playbook("install", fails=True, bootstrap_plane_service="system").says(
        f'found "system", but {USER} is not root, expected user')
    assert operator.run("test", "-e", operator.dir, check=False).returncode


def test_a_user_that_lingers_runs_all_of_it_by_a_unit(machine, operator):
    linger(machine)
    began = time.monotonic()
    operator.playbook("install")
    print(f"installed in {time.monotonic() - began:.1f} s")
    path = f"{HOME}/.config/systemd/user/{UNIT}"
    verified = operator.run("systemd-analyze", "--user", "verify", path)
    assert (verified.stdout + verified.stderr).strip() == ""
    assert operator.systemctl("is-enabled", UNIT).stdout == "enabled\n"
    assert operator.systemctl("is-active", UNIT).stdout == "active\n"
    found = operator.processes()
    assert len(found) >= PROGRAMS and {user for user, _command in found} == {USER}
    assert operator.playbook("install").changed() == 0
    operator.kubectl("create", "configmap", "kept", "--from-literal=a=b")


def test_only_what_servers_need_listens_on_the_address(machine, operator):
    lines = [line.split() for line in machine.run("ss", "-Htln").stdout.splitlines()]
    addresses = {line[3] for line in lines}
    assert {item for item in addresses if not item.startswith("127.0.0.1:")} == {
        f"{systemd_machine.ADDRESS}:6385", f"{systemd_machine.ADDRESS}:6183"}, addresses


def test_what_is_killed_is_started_again_and_what_is_stopped_stays_stopped(machine, operator):
    first = operator.systemctl("show", "--value", "--property=MainPID", UNIT).stdout.strip()
    machine.run("kill", "-KILL", first)
    eventually(lambda: operator.systemctl("show", "--value", "--property=MainPID", UNIT).stdout.strip()
               not in ("0", first), 60, "another supervisord")
    print(f"ready {operator.until_ready():.1f} s after supervisord was killed")
    commands = [command for _user, command in operator.processes() if "/bin/etcd" in command]
    assert len(commands) == 1
    operator.systemctl("stop", UNIT, seconds=120)
    assert operator.processes() == []
    assert operator.playbook("install").changed() > 0
    assert operator.systemctl("is-active", UNIT).stdout == "active\n"


def test_it_is_back_after_a_restart_of_the_machine_whose_address_is_late(machine, operator):
    machine.power_off()
    began = time.monotonic()
    # Programs that find no address yet are started again.
    machine.start(address_after=lambda: eventually(
        lambda: "/bin/etcd" in str(operator.processes()), 60, "the first program"))
    booted = time.monotonic()
    operator.until_ready()
    print(f"ready {time.monotonic() - began:.1f} s after power on, {time.monotonic() - booted:.1f} s after systemd")
    assert "kept" in operator.kubectl("get", "configmaps")
    assert {user for user, _command in operator.processes()} == {USER}
    assert operator.playbook("install").changed() == 0


def test_it_is_back_after_a_power_cut(machine, operator):
    machine.cut_power()
    began = time.monotonic()
    machine.start()
    operator.until_ready()
    print(f"ready {time.monotonic() - began:.1f} s after a power cut")
    assert "kept" in operator.kubectl("get", "configmaps")


def test_a_removed_plane_leaves_no_unit(machine, operator):
    operator.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}")
    assert operator.run("test", "-e", operator.dir, check=False).returncode
    assert operator.systemctl("is-enabled", UNIT, check=False).stdout in ("", "not-found\n")
    assert operator.processes() == []


def test_roots_plane_is_a_unit_of_the_machine(machine):
    root = Operator(machine, None, "/root")
    root.playbook("install")
    path = f"/etc/systemd/system/{UNIT}"
    verified = machine.run("systemd-analyze", "verify", path)
    assert (verified.stdout + verified.stderr).strip() == ""
    assert root.systemctl("is-active", UNIT).stdout == "active\n"
    machine.power_off()
    machine.start()
    root.until_ready()
    assert root.playbook("install").changed() == 0
    # Without a unit it goes on, until the machine's end.
    assert root.playbook("install", bootstrap_plane_service="none").changed() > 0
    assert root.run("test", "-e", path, check=False).returncode
    assert root.systemctl("is-active", UNIT).stdout == "active\n"
    root.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}")
    assert root.processes() == []
