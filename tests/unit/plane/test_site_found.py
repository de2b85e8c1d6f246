# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a plane in a folder: there, not there, damaged."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import site_service

FIGURES = {"name": "rack1", "mode": "process", "dir": "/var/lib/metal3/rack1", "ports": {},
           "urls": {"ironic": "https://192.0.2.10:6385"}}


def found(folder):
    return site_service.found({"dir": str(folder)}, False, Progress(None))


def test_the_figures_of_a_plane_are_read(tmp_path):
    (tmp_path / "lab.json").write_text(json.dumps(FIGURES))
    assert found(tmp_path) == {"changed": False, "existed": True, "management_plane": FIGURES}


@pytest.mark.parametrize("folder", [".", "missing"])
def test_without_a_plane_there_are_none(tmp_path, folder):
    assert found(tmp_path / folder) == {"changed": False, "existed": False, "management_plane": {}}


@pytest.mark.parametrize("text", ["{", "[]", json.dumps(dict(FIGURES, ports=None))])
def test_damaged_figures_are_an_error(tmp_path, text):
    (tmp_path / "lab.json").write_text(text)
    with pytest.raises(ReportedError, match=r"lab\.json"):
        found(tmp_path)


@pytest.mark.parametrize("state", ["absent", "stopped"])
def test_a_copy_of_a_planes_folder_stops_nothing_of_the_plane(tmp_path, monkeypatch, state):
    original, copy = tmp_path / "rack1", tmp_path / "rack1.copy"
    for folder in (original, copy):
        folder.mkdir()
        (folder / "lab.json").write_text(json.dumps(dict(FIGURES, dir=str(original))))
    monkeypatch.setattr(site_service.orphans, "clear", lambda figures: pytest.fail(f"cleared {figures['dir']}"))
    with pytest.raises(ReportedError, match=r"a copy of .*rack1"):
        getattr(site_service, state)({"dir": str(copy), "name": "rack1", "confirm": "0"}, False, Progress(None))
    assert (copy / "lab.json").exists() and (original / "lab.json").exists()
