# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a login is that the modules of archives are given."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import module

LOGIN = {"ca_file": None, "username_file": "/user", "password_file": "/password"}


def test_a_login_without_its_registry_is_refused_and_not_left_out():
    with pytest.raises(RefusedError, match='username_file: found "/user", expected none without source_registry'):
        module._registry(LOGIN, "", "source_registry")


@pytest.mark.parametrize(("login", "url", "prefix"), [
    (LOGIN, "https://r.test/all/", "r.test/all"), (dict.fromkeys(LOGIN), "", "")])
def test_a_login_is_that_of_the_registry(login, url, prefix):
    found = module._registry(login, url)
    assert (found.prefix, found.username_file) == (prefix, login["username_file"])
