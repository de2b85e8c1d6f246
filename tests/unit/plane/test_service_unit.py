# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd unit of a bootstrap plane: which one, its text, and what systemd is asked for."""
from __future__ import annotations

import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    process_group,
    service_manager,
    service_unit,
)

ROOT = service_unit.Machine(systemd=True, root=True, user="root", user_manager=False, lingers=False)
LINGERING = service_unit.Machine(systemd=True, root=False, user="rack1", user_manager=True, lingers=True)
LOGGED_IN = LINGERING._replace(lingers=False)
WITHOUT = ROOT._replace(systemd=False)
FIGURES = {"name": "rack1", "dir": "/srv/a plane/100%", "service": "user", "services_python": '/opt/$x/"y"/python'}


@pytest.mark.parametrize("service, machine, kind, reason", [
    ("auto", ROOT, "system", ""), ("auto", LINGERING, "user", ""), ("none", ROOT, "none", ""),
    ("user", ROOT, "user", ""),
    ("auto", LOGGED_IN, "none", "units of rack1 run only during a login; run: loginctl enable-linger rack1"),
    ("auto", WITHOUT, "none", "systemd is not the init of this machine")])
def test_auto_chooses_what_outlives_a_restart(service, machine, kind, reason):
    assert service_unit.chosen(service, machine) == (kind, reason)


@pytest.mark.parametrize("service, machine, text", [
    ("auto", WITHOUT, None), ("none", WITHOUT, None), ("system", ROOT, None), ("user", LINGERING, None),
    ("system", WITHOUT, 'found "system", but systemd is not the init of this machine, expected none'),
    ("system", LINGERING, 'found "system", but rack1 is not root, expected user'),
    ("user", LOGGED_IN, "have root run: loginctl enable-linger rack1"),
    ("user", LINGERING._replace(user_manager=False), "expected a user that lingers")])
def test_a_unit_that_cannot_be_is_refused(service, machine, text):
    found = [str(problem) for problem in service_unit.problems(service, machine)]
    assert not found if text is None else text in found[0] and found[0].startswith("bootstrap_plane_service: ")


def test_nothing_in_a_units_values_is_expanded():
    lines = service_unit.text(FIGURES, "/srv/a plane/100%/supervisord.conf", {"HOME": "/home/rack1"}).splitlines()
    assert ('ExecStart="/opt/$$x/\\"y\\"/python" "-m" "supervisor.supervisord" "--nodaemon" "-c" '
            '"/srv/a plane/100%%/supervisord.conf"') in lines
    assert ('ExecStop=-"/opt/$$x/\\"y\\"/python" "-m" "supervisor.supervisorctl" "-c" '
            '"/srv/a plane/100%%/supervisord.conf" "stop" "all"') in lines
    assert "WorkingDirectory=/srv/a plane/100%%" in lines and 'Environment="HOME=/home/rack1"' in lines
    assert "WantedBy=default.target" in lines and not [line for line in lines if "network-online" in line]
    lines = service_unit.text(dict(FIGURES, service="system"), "/x", {}).splitlines()
    assert "WantedBy=multi-user.target" in lines and "After=network-online.target" in lines


@pytest.mark.parametrize("service", ["user", "system"])
def test_systemd_takes_the_unit(tmp_path, service):
    figures = {"name": "rack1", "dir": str(tmp_path / "a b"), "service": service, "services_python": "/bin/sh"}
    path = tmp_path / service_unit.name("rack1")
    path.write_text(service_unit.text(figures, "/srv/100%/supervisord.conf", {"HOME": "/root"}))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True,
                          check=False)
    assert [line for line in (done.stdout + done.stderr).splitlines() if "rack1" in line] == []


class Systemctl:
    """Records what systemd is asked for; nothing is enabled before it is."""

    def __init__(self, refuses=()):
        self.asked, self.refuses, self.enabled, self.answer = [], refuses, False, ""

    def __call__(self, command, environ):
        self.asked.append((" ".join(command), environ.get("XDG_RUNTIME_DIR")))
        verb = next(word for word in command[1:] if not word.startswith("-"))
        self.enabled = {"enable": True, "disable": False}.get(verb, self.enabled)
        code = int(verb in self.refuses or (verb == "is-enabled" and not self.enabled))
        return subprocess.CompletedProcess(command, code, self.answer, "Unit is masked." if code else "")

    def verbs(self):
        return [next(word for word in text.split()[1:] if not word.startswith("-")) for text, _folder in self.asked]


@pytest.fixture
def figures(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return {"name": "rack1", "dir": str(tmp_path / "plane"), "service": "user", "services_python": "/usr/bin/python3"}


def test_a_unit_is_written_once_and_removed(figures, tmp_path):
    systemctl = Systemctl()
    service = service_manager.Service(figures, systemctl)
    assert service.path == str(tmp_path / "config" / "systemd" / "user" / "metal3-plane-rack1.service")
    assert service.differs() and not service.is_of_another()
    service.write()
    assert not service.differs() and service.stored() == service.text()
    assert systemctl.verbs()[-4:] == ["daemon-reload", "enable", "is-enabled", "show"]
    assert all(text.startswith("systemctl --user ") and folder for text, folder in systemctl.asked)
    assert service.remove(stop=True) and service.stored() is None
    assert "disable --now" in systemctl.asked[-2][0] and not service.remove(stop=True)


def test_a_unit_that_systemd_has_not_read_is_written_again(figures):
    """A run was killed, or systemd did not answer, between the file and the daemon's reload."""
    systemctl = Systemctl()
    service = service_manager.Service(figures, systemctl)
    service.write()
    systemctl.answer = "yes\n"
    assert service.differs()
    assert systemctl.asked[-1][0].endswith("show --property=NeedDaemonReload --value metal3-plane-rack1.service")
    systemctl.answer = "no\n"
    assert not service.differs()


def test_a_unit_of_a_plane_in_another_folder_is_left_as_it_is(figures):
    service_manager.Service(figures, Systemctl()).write()
    systemctl = Systemctl()
    other = service_manager.Service(dict(figures, dir=figures["dir"] + "2"), systemctl)
    assert other.is_of_another() and not other.remove(stop=True) and other.stored() is not None
    with pytest.raises(service_manager.ServiceError, match="found that of a plane in another folder, expected that of"):
        other.start()
    assert systemctl.asked == []


def test_what_systemd_refuses_is_reported_with_the_place_to_look(figures):
    service = service_manager.Service(figures, Systemctl(refuses=("start",)))
    with pytest.raises(service_manager.ServiceError, match=r"start .*: Unit is masked\.; see journalctl --user"):
        service.start()


def test_a_plane_of_a_release_without_units_has_none(figures):
    assert service_manager.of(None) is None and service_manager.of({"name": "lab"}) is None
    assert service_manager.of(dict(figures, service="none")) is None and service_manager.of(figures) is not None


class Stopped:
    """A supervisord that does not run, with one program."""

    def __init__(self, layout):
        self.layout, self.done = layout, []

    def write_config(self, check_mode):
        return False

    def processes(self):
        return {}

    def alive(self):
        return False

    def start(self, python):
        self.done.append(f"started by {python}")

    def until_alive(self):
        self.done.append("waited for")


@pytest.mark.parametrize("service, done", [
    ("none", ["started by /usr/bin/python3"]), ("user", ["unit started", "waited for"])])
def test_a_plane_with_a_unit_is_started_by_systemd(figures, tmp_path, monkeypatch, service, done):
    supervisor = Stopped(process_group.Layout(str(tmp_path / "supervisor")))
    monkeypatch.setattr(process_group.figures_file, "read", lambda directory: dict(figures, service=service))
    monkeypatch.setattr(service_manager.Service, "start", lambda self: supervisor.done.append("unit started"))
    process_group.start(supervisor, [])
    assert supervisor.done == done
