# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of the operating system end a module with a message and no traceback."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    ReportedError,
    os_errors_reported,
)


@pytest.mark.parametrize("error, text", [
    (FileNotFoundError(2, "No such file or directory", "/srv/a"), "/srv/a: No such file or directory"),
    (OSError(28, "No space left on device"), "image: No space left on device"),
    (OSError("cannot read"), "image: cannot read")])
def test_an_error_names_the_file_or_the_subject(error, text):
    with pytest.raises(ReportedError) as caught, os_errors_reported("image"):
        raise error
    assert str(caught.value) == text


def test_a_missing_permission_has_a_next_step():
    with pytest.raises(ReportedError) as caught, os_errors_reported("network", "run as root (become: true)"):
        raise PermissionError(13, "Permission denied", "/etc/a")
    assert str(caught.value) == "/etc/a: Permission denied; run as root (become: true)"


def test_other_errors_are_left_alone():
    with pytest.raises(KeyError), os_errors_reported("image"):
        raise KeyError("a")
