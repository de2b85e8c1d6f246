# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What skopeo writes for a registry: a file without end is cut off before it fills the disk."""
from __future__ import annotations

import os

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import registry

# As Go says it, whose programs get an error in place of the signal.
ENDLESS = """#!/bin/sh
trap '' XFSZ
for last; do :; done
head -c 1000000 /dev/zero >"${last#dir:}/blob" && exit 0
echo 'level=fatal msg="writing blob: write: file too large"' >&2
exit 1
"""


@pytest.fixture()
def skopeo(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "skopeo"
    program.parent.mkdir()
    program.write_text(ENDLESS)
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize("name, limited", [("fetch_artifact", True), ("fetch_one", False), ("fetch", False)])
def test_a_file_without_end_is_cut_off(skopeo, monkeypatch, name, limited):
    monkeypatch.setattr(registry._copy, "__defaults__", (True, 4096))
    folder = skopeo / "folder"
    if limited:
        folder.mkdir()
    with pytest.raises(registry.RegistryError, match="file too large; find out why the registry sends"):
        getattr(registry, name)(registry.Registry("r.test"), "a:1", "sha256:0", str(folder),
                                *([8192] if limited else []))
    assert os.path.getsize(folder / "blob") == (8192 if limited else 4096)


def test_a_file_that_is_within_the_limit_is_written(skopeo):
    registry.fetch_artifact(registry.Registry("r.test"), "a", "sha256:0", str(skopeo), 1000000)
    assert os.path.getsize(skopeo / "blob") == 1000000
