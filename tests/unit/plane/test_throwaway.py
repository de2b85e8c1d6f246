# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers for the time of a rehearsal that cannot be started: what is said, and that nothing is left.

With the real programs: ``tests/lab/test_rehearsal.py``.
"""
from __future__ import annotations

import signal
import stat
import tempfile

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import throwaway


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the servers keep their files."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


def programs(tmp_path, script):
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(stat.S_IRWXU)
    return str(tmp_path)


def test_what_is_missing_is_named(tmp_path, folder):
    with pytest.raises(throwaway.ThrowawayError, match=rf"{tmp_path}/etcd, {tmp_path}/kube-apiserver.*plane_programs"):
        throwaway.ThrowawayServers(str(tmp_path), ["here"]).__enter__()
    assert not list(folder.iterdir())


def test_a_program_that_ends_is_named_with_its_last_lines_and_nothing_is_left(tmp_path, folder):
    with pytest.raises(throwaway.ThrowawayError, match=r"etcd is not ready: .* last lines: no space left"):
        throwaway.ThrowawayServers(programs(tmp_path, "echo no space left; exit 3"), ["here"]).__enter__()
    assert not list(folder.iterdir())


def test_an_interruption_leaves_nothing(tmp_path, folder, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(throwaway.readiness, "wait", interrupt)
    servers = throwaway.ThrowawayServers(programs(tmp_path, "exec sleep 600"), ["here"])
    with pytest.raises(KeyboardInterrupt):
        servers.__enter__()
    assert not list(folder.iterdir()) and not servers._processes


@pytest.fixture
def running(tmp_path, folder, monkeypatch):
    """API servers that answer at once, played by a program that does nothing."""
    with monkeypatch.context() as patched:
        patched.setattr(throwaway.readiness, "wait", lambda *_arguments: {})
        servers = throwaway.ThrowawayServers(programs(tmp_path, "exec sleep 600"), ["here"]).__enter__()
    yield servers
    servers.__exit__()


def test_another_program_has_the_environment_that_is_given_and_no_other(running, tmp_path, monkeypatch):
    monkeypatch.setenv("IRONIC_PASSWORD", "secret")
    (tmp_path / "operator").write_text(f"#!/bin/sh\nenv\necho $*\ntouch {tmp_path}/ready\nexec sleep 600\n")
    (tmp_path / "operator").chmod(stat.S_IRWXU)
    running.add("bmo", "operator", ["-test-mode", "x"], {"PATH": "/usr/bin:/bin", "TMPDIR": "/t"},
                {"file": str(tmp_path / "ready")})
    running.require("bmo")
    lines = running.log("bmo").splitlines()
    assert lines[-1] == "-test-mode x"
    assert set(line.partition("=")[0] for line in lines[:-1]) - {"PWD", "SHLVL", "_"} == {"PATH", "TMPDIR"}
    process = running._processes["bmo"]
    running.__exit__()
    assert process.returncode == -signal.SIGKILL


def test_another_program_that_is_missing_or_ends_is_named(running, tmp_path):
    with pytest.raises(throwaway.ThrowawayError, match=rf"found no {tmp_path}/operator, .* do without operator"):
        running.add("bmo", "operator", [], {}, {})
    (tmp_path / "operator").write_text("#!/bin/sh\necho no kind HostClaim\nexit 1\n")
    (tmp_path / "operator").chmod(stat.S_IRWXU)
    with pytest.raises(throwaway.ThrowawayError, match=r"bmo is not ready: .* last lines: no kind HostClaim"):
        running.add("bmo", "operator", [], {"PATH": "/usr/bin:/bin"}, {"file": str(tmp_path / "never")})
    with pytest.raises(throwaway.ThrowawayError, match="bmo has ended; its last lines: no kind HostClaim"):
        running.require("bmo")
