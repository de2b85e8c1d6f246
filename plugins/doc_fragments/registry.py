# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules that log in at a registry of images."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``_LOGIN`` in ``module_utils/_mirror/module.py``."""

    DOCUMENTATION = r"""
options:
  ca_file:
    description: File with the certificate authority of the registry; the system's by default.
    type: path
  username_file:
    description: File with the name of a user of the registry. Without it nobody logs in.
    type: path
  password_file:
    description: File with that user's password.
    type: path
"""
