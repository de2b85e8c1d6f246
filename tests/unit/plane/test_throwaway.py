# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers for the time of a rehearsal that cannot be started: what is said, and that nothing is left.

With the real programs: ``tests/lab/test_rehearsal.py``.
"""
from __future__ import annotations

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
