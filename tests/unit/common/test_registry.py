# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""URLs of registries: what is refused of them."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import registry

SECRET = "canary-registry-7"


@pytest.mark.parametrize("url", [f"https://user:{SECRET}@registry.example", f"user:{SECRET}@registry.example/path"])
def test_a_registry_is_named_without_a_login(url):
    with pytest.raises(registry.RegistryError, match="set username_file and password_file") as failed:
        registry.parse(url)
    assert SECRET not in str(failed.value)
