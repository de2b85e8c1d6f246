# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which modules stay in the ramdisk."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import kernel_modules

LISTED = """kernel/drivers/a.ko: kernel/lib/b.ko kernel/lib/c-d.ko
kernel/lib/b.ko: kernel/lib/c-d.ko
kernel/lib/c-d.ko:
kernel/other.ko.xz:
"""


@pytest.mark.parametrize("names, needed", [
    ([], set()),
    (["a"], {"kernel/drivers/a.ko", "kernel/lib/b.ko", "kernel/lib/c-d.ko"}),
    (["c_d"], {"kernel/lib/c-d.ko"}), (["c-d"], {"kernel/lib/c-d.ko"}),
    (["other"], {"kernel/other.ko.xz"}), (["ext-5"], set())])
def test_a_module_comes_with_what_it_depends_on(names, needed):
    assert kernel_modules.closure(LISTED, "kernel/fs/ext_5.ko\n", names) == (needed, [])


def test_an_unknown_module_is_named():
    assert kernel_modules.closure(LISTED, "", ["a", "nothing"])[1] == ["nothing"]
