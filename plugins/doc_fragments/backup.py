# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a module that writes encrypted backups."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``argument_spec`` in ``module_utils/_backup/files.py``."""

    DOCUMENTATION = r"""
options:
  directory:
    description: Folder for the files; it is made when it is missing.
    type: path
    required: true
  recipients:
    description: Public keys, C(age1…) or of ssh; the owner of any of the secret keys can read the files.
    type: list
    elements: str
    required: true
  identity_file:
    description:
      - Path of a file with a secret key, with which each written file is read again and compared. Keep it on another
        machine when the files are to be safe from who can read this one; they are not verified then.
    type: path
  keep:
    description:
      - How many files whose names differ in the time only are kept in O(directory), the new one counted. Older ones
        are deleted once the new one is written, and verified as far as that was asked for. Without it all are kept.
      - A file counts, and is deleted, by the record that the run which has written it leaves beside it
        (C(.<name>.json), with its length and digest). What somebody has copied into the folder, renamed or written over
        stays and does not count; a warning names what has the name of such a file and no record that fits.
      - A file that has turned out to be none that can be used does not count, and goes with those of its time. Files
        whose time is later than that of the new one, as of a clock that was wrong, stay and do not count.
    type: int
requirements:
  - pyrage >= 1.2
"""
