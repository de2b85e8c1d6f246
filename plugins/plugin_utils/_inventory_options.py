# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options in the file of an inventory plugin that the plugin does not have, which Ansible passes over in silence."""
from __future__ import annotations

import difflib


def mistake(given, known):
    """Return what is wrong with the options in a plugin's file as one sentence, empty when nothing is.

    :param given: names in the file
    :param known: names of the plugin's options
    """
    unknown = sorted(str(name) for name in given if name not in known)
    if not unknown:
        return ""
    near = [(name, difflib.get_close_matches(name, known, 1)) for name in unknown]
    hints = ", ".join(f"{found[0]} instead of {name}" for name, found in near if found)
    return "found unknown option%s %s, expected options of the plugin; correct %s" % (
        "" if len(unknown) == 1 else "s", ", ".join(unknown), f"(perhaps {hints})" if hints else "or remove it")
