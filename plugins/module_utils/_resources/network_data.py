# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network data that a resource names in a Secret is checked as a host's is; pure."""
from __future__ import annotations

from .._common.problems.problem import Problem
from .._host.rules import data as host_data_rules
from .base import Family, Object, ObjectIndex


def problems(family: Family, code: str, label: str, field: str, entry: Object, index: ObjectIndex) -> list[Problem]:
    """Return what is wrong with the network data in the Secrets that an entry names; a missing one says nothing.

    Ironic does not get it.

    :param family: whose ``secrets`` says which they are
    :param code: of the problems
    :param label: what messages call the entry
    :param field: the option that names the Secret
    :param index: with the Secrets that are there
    """
    found = []
    for namespace, name in family.secrets(entry):
        secret = index.get("Secret", namespace or entry["namespace"], name)
        if secret:
            found += host_data_rules.stored_problems(code, label, field, name, secret, for_ironic=False)
    return found
