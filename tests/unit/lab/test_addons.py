# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's add-ons: a build that does not come to an end."""
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common import timed_run
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import addons

SOURCE = Path(__file__).resolve().parents[3] / "lab" / "engine" / "addons"


def test_a_build_that_does_not_come_to_an_end_is_ended(tmp_path, monkeypatch):
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\ncase $1 in env) echo go1.99.0 ;; *) sleep 60 ;; esac\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    made = addons.Addons(str(SOURCE), str(tmp_path / "cache"))
    monkeypatch.setattr(timed_run, "DOWNLOAD_LIMIT_SECONDS", 1)
    with pytest.raises(addons.AddonsError, match=r"^coredns: go build did not end within 1 s, and was ended; "
                                                 r"check whether the module proxy answers .*run again$"):
        made.build(Progress())
    assert not made.complete()
