# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option by which a module knows hosts as its caller has checked them."""
from __future__ import annotations


class ModuleDocFragment:
    """The option of ``checked_option`` in ``module_utils/_host/actions/action_rules.py``."""

    DOCUMENTATION = r"""
options:
  checked:
    description:
      - Hosts as they were when the caller checked them, RV(metal3.baremetal.host_maintenance#module:checked) of a run
        with V(planned) before the hosts are drained, or with V(drained) after that.
      - Another host of the name is refused, as is one that has another consumer by now, and one that another run has
        given back or maintains since, also when the caller forces what is done to it.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      uid:
        description: Its uid.
        type: str
        required: true
      consumer:
        description:
          - Kind, namespace and name of its consumer, such as C(Metal3Machine metal3/prod-x8j5d), empty for none.
        type: str
        default: ""
      maintained:
        description:
          - Since when it is being maintained, as its mark says, empty for a mark that does not say it. Without it that
            does not matter.
        type: str
"""
