# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python environments in the cache: their key, and that only a finished one looks finished."""
from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading

import pytest
from python_environment import lock_lines

from ansible_collections.metal3.baremetal.plugins.module_utils.lab import python_environment

REPOSITORY = pathlib.Path(__file__).parents[3]
SCRIPT = REPOSITORY / "lab" / "python_environment.py"
LOCK_FILES = ["requirements", "requirements-dev", "requirements-bench", "lab/requirements",
              "tests/lab/requirements-agent"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def lock_file(tmp_path):
    """A lock file that asks for nothing, so that no network is needed."""
    path = tmp_path / "requirements.txt"
    path.write_text("# nothing\n")
    return path


def test_path_depends_on_the_lock_file_and_the_cache(cache, lock_file):
    first = python_environment.venv_path("control", lock_file)
    assert first.startswith(str(cache / "metal3.baremetal" / "venv" / "control-"))
    assert python_environment.venv_path("control", lock_file) == first
    lock_file.write_text("# something\n")
    assert python_environment.venv_path("control", lock_file) != first


def test_an_old_python_is_refused_with_what_to_type():
    with pytest.raises(python_environment.VenvError, match=r"Python 3\.9\.2 is too old: 3\.11 or newer.*make PYTHON="):
        python_environment.check_python((3, 9, 2))
    python_environment.check_python((3, 11, 0))


def test_made_once(cache, lock_file, capfd):
    told = []
    path = python_environment.ensure("control", lock_file, told.append)
    python = os.path.join(path, "bin", "python")
    assert subprocess.run([python, "-c", "import sys; print(sys.prefix)"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip() == path
    assert "made in" in told[-1]
    del told[:]
    assert python_environment.ensure("control", lock_file, told.append) == path
    assert (told, capfd.readouterr()) == ([], ("", ""))


def test_a_failed_installation_is_told_and_never_looks_finished(cache, lock_file):
    lock_file.write_text("--no-index\nno-such-package-here==1.0\n")
    with pytest.raises(python_environment.VenvError, match=r"installing .* failed \(exit code 1\): .*no-such-package"):
        python_environment.ensure("control", lock_file, print)
    assert not python_environment.is_finished(python_environment.venv_path("control", lock_file))


def test_a_killed_run_is_made_good_by_the_next(cache, lock_file):
    path = pathlib.Path(python_environment.venv_path("control", lock_file))
    killed = subprocess.Popen([sys.executable, SCRIPT, "ensure", "control", lock_file], stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, start_new_session=True)
    pause = threading.Event()
    while not (path / "bin").exists():
        assert killed.poll() is None
        pause.wait(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert path.exists()
    assert not python_environment.is_finished(path)
    assert python_environment.ensure("control", lock_file, print) == str(path)
    assert python_environment.is_finished(path)


def test_lock_lines_are_sorted_pins():
    report = {"install": [{"metadata": {"name": name, "version": version}}
                          for name, version in [("PyYAML", "6.0.3"), ("ansible_core", "2.19.14"), ("Jinja2", "3.1.6")]]}
    assert lock_lines(report) == ["ansible_core==2.19.14", "Jinja2==3.1.6", "PyYAML==6.0.3"]


@pytest.mark.parametrize("name", LOCK_FILES)
def test_lock_files_pin_each_package_once_and_hold_the_direct_requirements(name):
    def pins(text):
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        return [line.lower().replace("_", "-") for line in lines if line and not line.startswith("-")]

    locked = pins((REPOSITORY / (name + ".txt")).read_text())
    assert all(line.count("==") == 1 for line in locked)
    packages = [line.partition("==")[0] for line in locked]
    assert len(packages) == len(set(packages))
    direct = pins((REPOSITORY / (name + ".in")).read_text())
    assert direct
    assert set(direct) <= set(locked)


@pytest.mark.parametrize("name", ["requirements-dev", "requirements-bench"])
def test_the_gates_run_with_the_versions_that_the_playbooks_run_with(name):
    def pins(path):
        return {line for line in (REPOSITORY / path).read_text().splitlines() if not line.startswith("#")}

    assert pins("requirements.txt") <= pins(name + ".txt")
