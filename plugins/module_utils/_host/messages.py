# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of hosts as one text, in which options bear the names by which the reader knows them; pure."""
from __future__ import annotations

import re

from . import inventory as host_inventory

# Fields that no variable of their own stands for.
_NO_VARIABLES = ("hosts", "name", "state", "bmc")


def message(problems, names=None):
    """Return all problems as one text, a line for each.

    :param names: ``{option: name}`` by which the reader knows an option, see :func:`renamed`
    """
    count = len(problems)
    lines = ["%d problem%s in the list of hosts, nothing was written:" % (count, "" if count == 1 else "s")]
    lines += [f"- {problem.host}: {line(problem, names)}" for problem in problems]
    return "\n".join(lines)


def line(problem, names=None):
    """Return one problem as text, without its host; see :func:`message`."""
    return "%s: seen %s; expected %s; %s" % (
        renamed_field(problem.field, names), problem.seen, renamed(problem.expected, names),
        renamed(problem.next_step, names))


def renamed(text, names):
    """Return a text in which options bear the names by which the reader knows them.

    :param names: ``{option: name}``, for example ``{"bmc.address": "bmc_address"}``, or None
    """
    # Plain words such as "image" may be meant as words, except where something is to be done with the option.
    options = [option for option in names or () if "." in option or "_" in option]
    if not options:
        return text
    plain = [option for option in names if option not in options]
    text = re.sub(r"(?<=\b(?:set|put)\s)(%s)(?![\w/.])|(?<=\(perhaps )(%s)(?= is meant\))" % (
        (_longest_first(plain),) * 2), lambda match: names[match.group()], text) if plain else text
    return re.sub(rf"(?<![\w./])({_longest_first(options)})(?![\w/])", lambda match: names[match.group(1)], text)


def _longest_first(options):
    return "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))


def renamed_field(path, names):
    """Return the path of an option by the name under which the reader knows it; see :func:`renamed`."""
    head = re.match(r"^[a-z_]+", path)
    if names and head and path not in names and head.group() in names:
        return names[head.group()] + path[head.end():]
    if names and "bmc.address" in names and path not in names and path not in _NO_VARIABLES:
        return host_inventory.PREFIX + path
    return (names or {}).get(path, path)
