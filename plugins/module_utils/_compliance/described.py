# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an inventory expects of a server: its mistakes, by the rules of the module host_compliance; pure."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._common.options.option_reader import OptionReader
from .._common.problems.problem import Problem
from .profile import mistakes, profile_options

# Inventory variable of which the playbook makes the option.
VARIABLE = "bmh_expected"
_OPTION = "expected"
_READER = OptionReader("metal3.baremetal.host_compliance")
# Dictionaries that Ansible leaves as they were written.
_FREE = ("firmware", "settings")


def problems(name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with what is expected of a server; fields are paths that begin with the variable.

    :param name: the server in the inventory
    :param variables: mapping of its variables
    """
    given = variables.get(VARIABLE)
    if given is None:
        return []
    values, found = _READER.read(_OPTION, profile_options(), given)
    if isinstance(given, dict):
        # A version that was left empty by mistake is one of the mistakes, so that it must not be left out here.
        values = {**values, **dict((option, given[option]) for option in _FREE if isinstance(given.get(option), dict))}
        faulty = set(re.split(r"[.\[]", problem.field + ".")[1] for problem in found)
        found += mistakes(name, dict((option, value) for option, value in values.items() if option not in faulty))
    return [problem._replace(subject=name, field=VARIABLE + problem.field.removeprefix(_OPTION)) for problem in found]
