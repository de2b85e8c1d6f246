# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports that are written on the controller."""
from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.utils.path import unfrackpath

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import whole_file


def write(path, content, check_mode):
    """Write a report, whole, and return whether its file changed, or would have.

    :param path: of the file; a link at its end, which others may have put there, is replaced and not followed
    :param content: its text
    :param check_mode: write nothing
    :raises AnsibleActionFail: when it cannot be written
    """
    path = unfrackpath(path, follow=False)
    try:
        return whole_file.write_report(path, content, check_mode)
    except OSError as exc:
        raise AnsibleActionFail(f"{path}: found {exc.strerror}, expected a file that can be written; correct the "
                                "path") from exc
