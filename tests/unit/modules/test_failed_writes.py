# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that cannot be read or written, or a full disk, is an error of a plane's modules and no traceback."""
from __future__ import annotations

import importlib
import json
import pathlib

import pytest
from ansible.module_utils.testing import patch_module_args

ENGINE = str(pathlib.Path(__file__).parents[3] / "lab" / "engine")


@pytest.mark.parametrize("name, arguments", [
    ("plane_processes", lambda folder: {
        "supervisor_dir": f"{folder}/supervisor", "programs": [{"name": "etcd", "command": ["/bin/etcd"]}]}),
    ("plane_upgrade_plan", lambda folder: {"management_plane": {"dir": folder, "engine_dir": folder}}),
    ("plane_programs", lambda folder: {"source_dir": ENGINE, "cache_dir": folder})],
    ids=["plane_processes", "plane_upgrade_plan", "plane_programs"])
def test_what_the_system_refuses_is_an_error_with_the_path(name, arguments, tmp_path, capfd):
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "plane")
    module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.{name}")
    with patch_module_args(dict(arguments(folder), _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
        module.main()
    answer = json.loads(capfd.readouterr().out)
    assert answer["failed"] and answer["msg"].endswith(": Not a directory") and folder in answer["msg"], answer
