# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a lab is kept."""
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.user_folders import cache_dir
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import lab_dir, labs_dir, layout


def test_a_lab_home_that_is_a_link_is_resolved(tmp_path):
    """The lab's processes and mounts are recognised by their real path."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert labs_dir({"METAL3_LAB_HOME": str(tmp_path / "link")}) == str(tmp_path / "real")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".local").symlink_to(tmp_path / "real")
    assert layout("a", 0, {"HOME": str(tmp_path / "home")})["dir"] == str(
        tmp_path / "real" / "state" / "metal3.baremetal" / "labs" / "a")


def test_a_relative_lab_home_is_refused():
    with pytest.raises(ValueError, match=r"METAL3_LAB_HOME 'labs': expected an absolute path.*=\$PWD/labs"):
        labs_dir({"METAL3_LAB_HOME": "labs"})


def test_relative_xdg_folders_are_ignored():
    environ = {"HOME": "/home/me", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache"}
    assert labs_dir(environ) == "/home/me/.local/state/metal3.baremetal/labs"
    assert cache_dir(environ) == "/home/me/.cache/metal3.baremetal"


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=30) | st.from_regex(r"[a-z./][a-z0-9./-]{0,22}", fullmatch=True))
def test_any_name_is_a_folder_of_the_labs_or_refused(name):
    environ = {"METAL3_LAB_HOME": "/nowhere/labs"}
    try:
        path = lab_dir(name, environ)
    except ValueError as error:
        assert "lower case" in str(error)
    else:
        assert path == "/nowhere/labs/" + name and "/" not in name and name not in (".", "..")
