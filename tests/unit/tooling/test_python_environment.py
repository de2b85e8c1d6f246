# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python environments in the cache: their key, and that only a finished one looks finished."""
from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_environment import VenvError, lock_text, pins, wheel_fits, wheel_hashes, without_hashes

from ansible_collections.metal3.baremetal.plugins.module_utils._common import timed_run
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import python_environment

REPOSITORY = pathlib.Path(__file__).parents[3]
SCRIPT = REPOSITORY / "lab" / "python_environment.py"
LOCK_FILES = ["requirements", "requirements-dev", "requirements-bench", "requirements-awx", "lab/requirements",
              "lab/engine/toolchain",
              "lab/agent_image/requirements", "docs/site/requirements", "tests/galaxy/requirements",
              "tests/lab/data/older_ironic/requirements"]
HASH = "a" * 64


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


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A virtual environment as Python makes it."""
    path = tmp_path_factory.mktemp("venv") / "empty"
    subprocess.run([sys.executable, "-m", "venv", path], check=True)
    return path


@pytest.fixture
def copied(empty, monkeypatch):
    """Of the steps, the first is a copy of what it would make; to make it again takes seconds."""
    real = python_environment.run

    def run(arguments, what):
        if list(arguments[:3]) == [sys.executable, "-m", "venv"]:
            shutil.copytree(empty, arguments[3], symlinks=True)
        else:
            real(arguments, what)
    monkeypatch.setattr(python_environment, "run", run)


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
    output = []
    path = python_environment.ensure("control", lock_file, output.append)
    python = os.path.join(path, "bin", "python")
    assert subprocess.run([python, "-c", "import sys; print(sys.prefix)"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip() == path
    assert "made in" in output[-1]
    del output[:]
    assert python_environment.ensure("control", lock_file, output.append) == path
    assert (output, capfd.readouterr()) == ([], ("", ""))


@pytest.mark.usefixtures("copied")
def test_a_failed_installation_is_reported_and_never_looks_finished(cache, lock_file):
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


@pytest.mark.usefixtures("copied")
def test_a_wheel_without_the_locked_hash_is_not_installed(cache, lock_file, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "harmless-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("harmless.py", "")
        wheel.writestr("harmless-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: harmless\nVersion: 1.0\n")
        wheel.writestr("harmless-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("harmless-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    for line, message in (("harmless==1.0", "Hashes are required"),
                          ("harmless==1.0 --hash=sha256:" + "0" * 64, "DO NOT MATCH THE HASHES")):
        lock_file.write_text(line + "\n")
        with pytest.raises(python_environment.VenvError, match=message):
            python_environment.ensure("control", lock_file, print)
    digest = hashlib.sha256((tmp_path / "harmless-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    lock_file.write_text(f"harmless==1.0 --hash=sha256:{digest}\n")
    python_environment.ensure("control", lock_file, print)


@pytest.mark.usefixtures("copied", "cache")
def test_an_index_that_never_answers_is_given_up(lock_file, monkeypatch):
    monkeypatch.setattr(timed_run, "DOWNLOAD_LIMIT_SECONDS", 3)
    lock_file.write_text(f"harmless==1.0 --hash=sha256:{HASH}\n")
    # It takes connections, and says nothing.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        with pytest.raises(python_environment.VenvError, match=(
                r"^installing .*requirements.txt: .* -m pip .* did not end within 3 s, and was ended; check whether "
                r"the package index answers .*then run again: what pip has")):
            python_environment.ensure("control", lock_file, print)
    assert not python_environment.is_finished(python_environment.venv_path("control", lock_file))


def test_pins_are_sorted():
    report = {"install": [{"metadata": {"name": name, "version": version}}
                          for name, version in [("PyYAML", "6.0.3"), ("ansible_core", "2.19.14"), ("Jinja2", "3.1.6")]]}
    assert pins(report) == [("ansible_core", "2.19.14"), ("Jinja2", "3.1.6"), ("PyYAML", "6.0.3")]


@pytest.mark.parametrize("name, fits", [
    ("a-1.0-py3-none-any.whl", True),
    ("a-1.0-py2.py3-none-any.whl", True),
    ("a-1.0-1-py3-none-any.whl", True),
    ("a-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
    ("a-1.0-cp313-cp313-manylinux_2_17_aarch64.whl", True),
    ("a-1.0-cp39-abi3-manylinux_2_28_x86_64.whl", True),
    ("a-1.0-py3-none-manylinux_2_17_x86_64.whl", True),
    ("a-1.0-cp310-cp310-manylinux_2_17_x86_64.whl", False),
    ("a-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl", False),
    ("a-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", False),
    ("a-1.0-cp311-cp311-macosx_11_0_arm64.whl", False),
    ("a-1.0-cp311-cp311-win_amd64.whl", False),
    ("a-1.0-py2-none-any.whl", False),
    ("a-1.0.1-py3-none-any.whl", False),
    ("a-1.0.tar.gz", False),
    ("a-1.0-py3-none-any.whl.metadata", False),
])
def test_wheels_that_can_be_met_are_locked(name, fits):
    assert wheel_fits(name, "1.0") is fits


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=60), st.text(max_size=10))
def test_an_index_may_list_any_file_name(name, version):
    assert wheel_fits(name, version) in (True, False)


def test_a_release_without_wheels_is_refused():
    with pytest.raises(VenvError, match=r"a 1\.0: the package index has no wheel"):
        wheel_hashes([{"filename": "a-1.0.tar.gz", "hashes": {"sha256": HASH}}], "a", "1.0")


def test_a_lock_file_made_and_read_again():
    text = lock_text("some/requirements.in", [("a", "1.0"), ("B.c", "2")], lambda name: [
        {"filename": f"{name}-{version}-py3-none-any.whl", "hashes": {"sha256": digest * 64}}
        for version, digest in (("1.0", "1"), ("2", "2"), ("3", "3"))])
    assert text.splitlines() == [
        "# Made by `make lock` from requirements.in: change that file, not this one.",
        "--require-hashes", "--only-binary :all:",
        "a==1.0 \\", "    --hash=sha256:" + "1" * 64, "B.c==2 \\", "    --hash=sha256:" + "2" * 64]
    assert without_hashes(text) == "a==1.0\nB.c==2\n"


def locked(name):
    """Return a lock file's pins."""
    return without_hashes((REPOSITORY / (name + ".txt")).read_text()).splitlines()


@pytest.mark.parametrize("name", LOCK_FILES)
def test_lock_files_pin_each_package_once_and_hold_the_direct_requirements(name):
    lines = [line.lower().replace("_", "-") for line in locked(name)]
    assert lines and all(line.count("==") == 1 for line in lines)
    packages = [line.partition("==")[0] for line in lines]
    assert len(packages) == len(set(packages))
    wanted = [line.partition("#")[0].strip().lower() for line in (REPOSITORY / (name + ".in")).read_text().splitlines()]
    direct = [line for line in wanted if line and not line.startswith("-")]
    assert direct
    for line in direct:
        assert line in lines or ("==" not in line and line in packages), line


@pytest.mark.parametrize("name", LOCK_FILES)
def test_every_locked_package_has_its_hashes(name):
    text = (REPOSITORY / (name + ".txt")).read_text()
    assert "\n--require-hashes\n--only-binary :all:\n" in text
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]
    assert len(entries) == len(locked(name)) > 0
    for entry in entries:
        assert re.fullmatch(r"\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", entry), entry


def test_every_lock_file_is_made_by_make_and_tested_here():
    made = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.txt"], cwd=REPOSITORY, check=True,
                          text=True, stdout=subprocess.PIPE).stdout.split()
    files = [path for path in made if not (REPOSITORY / path).is_symlink()]
    assert sorted(path for path in files if "Made by `make lock`" in (REPOSITORY / path).read_text()) == sorted(
        name + ".txt" for name in LOCK_FILES)
    recipe = re.search(r"(?ms)^lock:.*?^\tdone$", (REPOSITORY / "Makefile").read_text()).group(0)
    assert set(LOCK_FILES) <= set(recipe.replace(";", " ").split())


@pytest.mark.parametrize("name", ["requirements-dev", "requirements-bench"])
def test_the_gates_run_with_the_versions_that_the_playbooks_run_with(name):
    assert locked("requirements")
    assert set(locked("requirements")) <= set(locked(name))
