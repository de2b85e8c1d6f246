# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installer of Debian packages, with stand-ins for dpkg-query, apt-get, sudo and update-rc.d on PATH."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import debian_packages
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

REPOSITORY = pathlib.Path(__file__).parents[3]

DPKG_QUERY = """#!/bin/sh
shift 2
for package; do
  if grep -qx "$package" {state}/installed; then echo "$package installed"; else echo "$package not-installed"; fi
done
"""
APT_GET = """#!/bin/sh
echo "apt-get $*" >> {state}/calls
if [ -e {state}/stale ]; then case "$*" in *update*) echo "E: source is gone"; exit 100;; esac; fi
if [ -e {state}/broken ]; then echo "E: no space left"; exit 100; fi
case "$*" in *install*)
  test -x {state}/policy || echo "services may start" >> {state}/calls
  for service in nginx nginx.service cron; do
    if {state}/policy $service start; then echo "$service may start" >> {state}/calls; fi
  done
  if [ -e {state}/slow ]; then echo $$ > {state}/pid; exec sleep 60; fi
  for word; do echo "$word" >> {state}/installed; done
  case "$*" in *nginx-light*) touch {state}/init.d/nginx;; *podman*) touch {state}/systemd/podman.service;; esac;;
esac
"""
RECORD = """#!/bin/sh
echo "{name} $*" >> {state}/calls
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A Debian machine with one package installed, where the caller is root."""
    programs = {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET,
                **dict.fromkeys(("update-rc.d", "systemctl", "sudo"), RECORD)}
    (tmp_path / "bin").mkdir()
    for name, text in programs.items():
        program = tmp_path / "bin" / name
        program.write_text(text.format(state=tmp_path, name=name))
        program.chmod(0o755)
    (tmp_path / "installed").write_text("git\n")
    (tmp_path / "calls").write_text("")
    (tmp_path / "list").write_text("git\nnginx-light service:nginx  # images\nxorriso\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(debian_packages, "POLICY_PROGRAM", str(tmp_path / "policy"))
    (tmp_path / "init.d").mkdir()
    (tmp_path / "init.d" / "cron").write_text("")
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd" / "ssh.service").write_text("")
    monkeypatch.setattr(debian_packages, "SERVICE_FOLDERS", (str(tmp_path / "init.d"), str(tmp_path / "systemd")))
    return tmp_path


def calls(machine):
    return (machine / "calls").read_text().splitlines()


def test_installs_what_is_missing_and_keeps_its_services_down(machine, capfd):
    assert debian_packages.main([str(machine / "list")]) == 0
    update, install, existing, disable = calls(machine)
    assert update.endswith(" update")
    # What the machine has already is not stopped from starting, and nothing is removed for what is installed.
    assert existing == "cron may start"
    assert install.endswith(" --no-remove install --yes --no-install-recommends nginx-light xorriso")
    assert disable == "update-rc.d nginx disable"
    assert not (machine / "policy").exists()
    out, err = capfd.readouterr()
    assert (out, err) == ("", "Debian packages: installing nginx-light, xorriso\n")


def test_units_of_systemd_alone_are_kept_down_too(machine):
    (machine / "list").write_text("podman service:podman service:podman.socket\n")
    assert debian_packages.main([str(machine / "list")]) == 0
    assert calls(machine)[-2:] == ["systemctl --quiet disable podman", "systemctl --quiet disable podman.socket"]


def test_does_and_says_nothing_when_all_is_there(machine, capfd):
    (machine / "installed").write_text("git\nnginx-light\nxorriso\n")
    assert debian_packages.main([str(machine / "list")]) == 0
    assert calls(machine) == []
    assert capfd.readouterr() == ("", "")


def test_a_policy_of_the_machine_is_left_alone(machine):
    (machine / "policy").write_text("#!/bin/sh\nexit 101\n")
    (machine / "policy").chmod(0o755)
    assert debian_packages.main([str(machine / "list")]) == 0
    assert (machine / "policy").read_text() == "#!/bin/sh\nexit 101\n"


@pytest.mark.parametrize("path", ["init.d/nginx", "systemd/nginx.service"])
def test_a_service_that_the_machine_had_before_is_left_as_it_is(machine, path):
    """Somebody's own nginx, from another package or built by hand, starts at the next boot as before."""
    (machine / path).write_text("")
    assert debian_packages.main([str(machine / "list")]) == 0
    assert "nginx-light" in (machine / "installed").read_text()
    assert not [call for call in calls(machine) if call.startswith("update-rc.d")]
    assert "nginx may start" in calls(machine) and "nginx.service may start" in calls(machine)


def test_a_program_of_the_machines_own_makes_its_package_unnecessary(machine):
    (machine / "list").write_text("nginx-light service:nginx program:nginx\n")
    program = machine / "bin" / "nginx"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert debian_packages.main([str(machine / "list")]) == 0
    assert calls(machine) == []


@pytest.fixture
def killed(machine, monkeypatch):
    """The pid of apt-get, whose installation goes on; the run that had started it was killed with SIGKILL."""
    (machine / "slow").write_text("")
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            debian_packages.main([str(machine / "list")])
        os._exit(1)
    for_it = threading.Event()
    while not ((machine / "pid").exists() and (machine / "pid").read_text().endswith("\n")):
        assert os.waitpid(pid, os.WNOHANG) == (0, 0)
        for_it.wait(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    apt_get = int((machine / "pid").read_text())
    yield apt_get
    with contextlib.suppress(ProcessLookupError):
        os.kill(apt_get, signal.SIGKILL)


def may_start(machine, service):
    return subprocess.run([str(machine / "policy"), service, "start"], check=False, timeout=30).returncode == 0


def test_the_policy_of_a_killed_run_holds_as_long_as_its_installation(machine, killed):
    assert not may_start(machine, "nginx")
    debian_packages.remove_leftover()
    assert (machine / "policy").exists()


def test_the_policy_of_a_killed_run_takes_itself_away(machine, killed):
    """Else no service that is installed later would ever start."""
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: may_start(machine, "nginx"))
    assert not (machine / "policy").exists()


def test_the_next_run_removes_the_policy_of_a_killed_one(machine, killed):
    os.kill(killed, signal.SIGKILL)
    (machine / "installed").write_text("git\nnginx-light\nxorriso\n")

    def removed():
        assert debian_packages.main([str(machine / "list")]) == 0
        return not (machine / "policy").exists()

    eventually(removed)


def eventually(ask):
    """Wait until a process that was killed has let go of its files."""
    pause, deadline = threading.Event(), time.monotonic() + 30
    while not ask():
        assert time.monotonic() < deadline
        pause.wait(0.01)


def test_a_run_that_gets_a_signal_to_end_takes_its_policy_back_first(machine):
    seen = []
    former = signal.signal(signal.SIGTERM, lambda number, _frame: seen.append((machine / "policy").exists()))
    try:
        with debian_packages.services_stay_down([]):
            os.kill(os.getpid(), signal.SIGTERM)
            assert (machine / "policy").exists() and not seen
        assert seen == [False]
    finally:
        signal.signal(signal.SIGTERM, former)


def test_a_failure_of_apt_get_is_reported_with_its_output(machine, capfd):
    (machine / "broken").write_text("")
    assert debian_packages.main([str(machine / "list")]) == 1
    err = capfd.readouterr().err
    assert "exit code 100" in err
    assert "E: no space left" in err
    assert not (machine / "policy").exists()


def test_a_broken_package_source_is_reported_but_does_not_stop_the_rest(machine, capfd):
    (machine / "stale").write_text("")
    assert debian_packages.main([str(machine / "list")]) == 0
    assert "xorriso" in (machine / "installed").read_text()
    assert "E: source is gone" in capfd.readouterr().err


def test_an_ordinary_user_gets_the_command_before_sudo_asks(machine, monkeypatch, capfd):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert debian_packages.main([str(machine / "list")]) == 0
    assert "nginx-light, xorriso are missing; sudo is going to install them" in capfd.readouterr().err
    assert [call.split()[0] for call in calls(machine)] == ["sudo"]
    assert calls(machine)[0].endswith(f"debian_packages.py {machine / 'list'}")


def test_without_root_and_sudo_the_command_to_type_is_reported(machine, monkeypatch, capfd):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(debian_packages.shutil, "which", lambda name, path=None: None if name in (
        "sudo", "nginx") else "/usr/bin/" + name)
    assert debian_packages.main([str(machine / "list")]) == 1
    assert "as root: apt-get install nginx-light xorriso" in capfd.readouterr().err
    assert calls(machine) == []


@pytest.mark.parametrize("word", ["xorriso", "service:", "conflicts:nginx", ":nginx"])
def test_a_word_that_is_neither_service_nor_program_is_refused(word):
    with pytest.raises(debian_packages.PackagesError, match=rf"expected 'service:<name>'.*found '{word}'"):
        debian_packages.parse(f"nginx-light {word}\n")


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=80))
def test_any_list_is_read_or_refused(text):
    try:
        found = debian_packages.parse(text)
    except debian_packages.PackagesError as error:
        assert "line " in str(error)
    else:
        assert all(name and isinstance(package.services, list) for name, package in found.items())


@pytest.mark.parametrize("path", ["lab/debian-packages.txt", "tests/debian-packages.txt"])
def test_the_lists_say_why_for_each_package(path):
    text = (REPOSITORY / path).read_text()
    assert debian_packages.parse(text)
    for line in text.splitlines():
        assert line.partition("#")[2].strip(), line


def test_each_target_whose_lab_has_virtual_servers_installs_what_these_need():
    makefile, found = (REPOSITORY / "Makefile").read_text(), []
    for target, path in re.findall(r"^(\S+): export LAB_INVENTORY := (\S+\.yml)$", makefile, re.MULTILINE):
        if "kind: virtual" in (REPOSITORY / path).read_text():
            found.append(target)
            assert re.search(
                rf"^{target}: export (LAB_KIND := virtual|LAB_FURTHER_PACKAGES := lab/virtual-packages\.txt)$",
                makefile, re.MULTILINE), target
    assert found
