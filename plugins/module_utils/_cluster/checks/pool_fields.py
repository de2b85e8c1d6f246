# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a pool that a cluster makes for itself is wrong with a network of its description; pure."""
from __future__ import annotations

from collections.abc import Iterable

from ..._common.problems.problem import Problem
from ..._ipam.validation import label
from ..description.model import ClusterDescription


def of_networks(problems: Iterable[Problem], description: ClusterDescription) -> list[Problem]:
    """Return Problems of a cluster's pools with the options that they stand in; others as they are.

    :param problems: as ``pool_problems`` and ``change_problems`` return them
    :param description: of the cluster whose networks use the pools
    """
    networks = dict((label(use.pool, description.namespace), f"networks.{use.network}.{use.family}")
                    for use in description.pool_uses)
    return [
        problem._replace(subject=description.subject, field=".".join(
            filter(None, (networks[problem.subject], problem.field)))) if problem.subject in networks else problem
        for problem in problems]
