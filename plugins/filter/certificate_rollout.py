# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that decides which machines of a control plane are replaced to renew their certificates."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: certificate_rollout
short_description: Up to when machines must have been made to be replaced for their certificates
version_added: "0.1.0"
description:
  - Returns the time to give to C(control_plane.rollout_after) of M(metal3.baremetal.cluster), so that the machines are
    replaced whose certificates end soon. It depends on the machines alone - a run that was interrupted goes on with
    those that are left.
positional: days, before, unknown
options:
  _input:
    description: RV(metal3.baremetal.cluster_info#module:clusters[].certificates).
    type: list
    elements: dict
    required: true
  days:
    description: Certificates with fewer days left are renewed.
    type: int
    default: 30
  before:
    description: Certificates that end before this time, RFC 3339 in UTC, are renewed as well.
    type: str
  unknown:
    description:
      - Whether those of a machine are renewed as well that has a Node and of which it is not known when they end. A
        machine without a Node is still being made.
    type: bool
    default: false
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say whether machines would be replaced
  ansible.builtin.debug:
    msg: "{{ clusters.clusters[0].certificates | metal3.baremetal.certificate_rollout(60) }}"
"""

RETURN = r"""
_value:
  description: The time, RFC 3339 in UTC; empty when no certificate is to be renewed.
  type: str
"""


def certificate_rollout(certificates, days=30, before=None, unknown=False):
    """Return the time; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import (
        certificates as cluster_certificates,
    )

    try:
        return cluster_certificates.rollout_after(certificates, int(days), before or None, unknown)
    except (TypeError, ValueError, KeyError) as exc:
        raise AnsibleFilterError(
            f"certificate_rollout: {exc}; give certificates as cluster_info returns them, a number of days, and a time "
            "such as 2027-01-31T00:00:00Z") from exc


class FilterModule:
    """The filter under its name."""

    def filters(self):
        """Return the filter."""
        return {"certificate_rollout": certificate_rollout}
