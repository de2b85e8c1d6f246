# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine's limit that nodes reach: raised once, put back by the last lab."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import host_limits


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "setting").write_text("128\n")
    (tmp_path / "links").mkdir()
    return {"setting": str(tmp_path / "setting"), "kept": str(tmp_path / "kept")}


def limit(tmp_path):
    return int((tmp_path / "setting").read_text())


def test_it_is_raised_once_and_put_back(paths, tmp_path):
    assert host_limits.ensure(**paths) == [f"{paths['setting']}: 128, wanted 8192"]
    assert limit(tmp_path) == host_limits.WANTED
    assert host_limits.ensure(**paths) == []
    assert host_limits.restore(links=str(tmp_path / "links"), **paths) == ["raised limit " + paths["setting"]]
    assert limit(tmp_path) == 128
    assert host_limits.restore(links=str(tmp_path / "links"), **paths) == []


def test_it_stays_while_another_lab_has_a_bridge(paths, tmp_path):
    host_limits.ensure(**paths)
    (tmp_path / "links" / "m3lab3").mkdir()
    assert host_limits.restore(links=str(tmp_path / "links"), **paths) == []
    assert limit(tmp_path) == host_limits.WANTED


def test_check_mode_reports_and_changes_nothing(paths, tmp_path):
    assert host_limits.ensure(check_mode=True, **paths)
    assert limit(tmp_path) == 128
    assert not (tmp_path / "kept").exists()


def test_a_higher_limit_is_left_alone(paths, tmp_path):
    (tmp_path / "setting").write_text("100000\n")
    assert host_limits.ensure(**paths) == []
    assert host_limits.restore(links=str(tmp_path / "links"), **paths) == []
    assert limit(tmp_path) == 100000
