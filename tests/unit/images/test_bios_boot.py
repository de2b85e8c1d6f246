# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GRUB's parts know where on the disk they are; that it starts is for `make test-metal`."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian.debian_root import ImageBuildError
from ansible_collections.metal3.baremetal.plugins.module_utils._images.disks import bios_boot

BOOT, CORE = b"\xeb" * 512, b"\x90" * 2000


def test_the_parts_name_the_sectors_of_the_next():
    code, core = bios_boot.linked(BOOT, CORE, 2048)
    assert code == b"\xeb" * 0x5c + (2048).to_bytes(8, "little") + b"\xeb" * (440 - 0x64)
    # The number of sectors and the address behind it stay.
    assert core == b"\x90" * 500 + (2049).to_bytes(8, "little") + b"\x90" * (2000 - 508)


@pytest.mark.parametrize("core", [b"", b"\x90" * 512, b"\x90" * (1024 * 1024 + 1)])
def test_a_core_that_does_not_fit_is_refused(core):
    with pytest.raises(ImageBuildError, match=f"core.img: found {len(core)} bytes"):
        bios_boot.linked(BOOT, core, 2048)
