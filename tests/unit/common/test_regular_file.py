# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who could have written a file."""
from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import regular_file


@pytest.mark.parametrize(("owner", "mode", "expected"), [
    (1000, 0o644, False), (0, 0o644, False), (1000, 0o700, False), (33, 0o644, True), (33, 0o400, True),
    (1000, 0o664, True), (1000, 0o646, True), (0, 0o620, True)])
def test_who_could_have_written_a_file(monkeypatch, owner, mode, expected):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert regular_file.others_may_write(SimpleNamespace(st_uid=owner, st_mode=mode)) is expected
