# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of reports, in folders into which others may write, too."""
from __future__ import annotations

import os
import threading

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.metal3.baremetal.plugins.plugin_utils import _report_file as report_file


def write(path, text="new\n", check_mode=False):
    return report_file.write(str(path), text, check_mode)


def test_a_report_is_written_when_it_differs(tmp_path):
    path = tmp_path / "report.sarif"
    assert write(path, check_mode=True) and not path.exists()
    assert write(path) and path.read_text() == "new\n" and not write(path)
    path.chmod(0o600)
    assert write(path, "other\n") and path.stat().st_mode & 0o777 == 0o600


def test_what_others_have_put_there_is_replaced(tmp_path):
    """A link would lead to any file of the user who lints, a pipe would be waited for."""
    own = tmp_path / "own"
    own.write_text("kept\n")
    (tmp_path / "link").symlink_to(own)
    os.mkfifo(tmp_path / "pipe")
    done: list[bool] = []
    for name in ("link", "pipe"):
        running = threading.Thread(target=lambda name=name: done.append(write(tmp_path / name)), daemon=True)
        running.start()
        running.join(20)
        assert done.pop() and (tmp_path / name).read_text() == "new\n" and not (tmp_path / name).is_symlink()
    assert own.read_text() == "kept\n"


def test_a_folder_is_no_file_of_a_report(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(AnsibleActionFail, match="expected a file that can be written"):
        write(tmp_path / "folder")
