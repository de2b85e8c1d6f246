# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The removal of a bootstrap plane's folder, however the run before ended."""
from __future__ import annotations

import json
import shutil

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import figures, site_removal_service


def installed(folder):
    """Put into a folder what a plane has whose API server has never run."""
    for name in ("etcd/wal", "pki", "supervisor/conf.d"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "etcd" / "wal" / "0").write_text("data")
    (folder / "pki" / "ca.crt").write_text("certificate")
    (folder / figures.FILE).write_text(json.dumps({"mode": "process", "name": "a", "dir": str(folder), "ports": {}}))


def remove(folder):
    return site_removal_service.absent({"dir": str(folder), "name": "a", "confirm": "1", "confirm_among": ["m"]}, False,
                                       Progress(None))


@pytest.mark.parametrize("again", [False, True], ids=["removed again", "installed again, then removed"])
def test_a_removal_after_one_that_was_killed(tmp_path, monkeypatch, again):
    folder = tmp_path / "plane"
    installed(folder)

    def killed(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(folder)
    assert (folder / "etcd.removed").is_dir() and (folder / figures.FILE).exists()
    if again:
        installed(folder)
    assert remove(folder)["changed"] and not folder.exists()
    assert not remove(folder)["changed"]
