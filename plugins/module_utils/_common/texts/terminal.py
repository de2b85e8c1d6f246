# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How wide the terminal is on which tables are printed."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO

# Ansible detaches modules from the terminal: the action plugin (plugin_utils/_progress.py) names its width here.
COLUMNS_VARIABLE = "METAL3_TERMINAL_COLUMNS"


def columns(stream: IO | None = None, environment: Mapping[str, str] | None = None) -> int | None:
    """Return the number of columns; None when there is no terminal, as for a log file.

    :param stream: where the table goes; None when only the environment says it
    :param environment: environment variables, those of the process by default; ``COLUMNS`` is the user's own
    """
    environment = os.environ if environment is None else environment
    for name in (COLUMNS_VARIABLE, "COLUMNS"):
        value = environment.get(name, "")
        if value.isdecimal() and int(value):
            return int(value)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream and stream.isatty() else None
    except (OSError, ValueError):
        return None
