# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules for a plane whose hosts another plane takes over."""
from __future__ import annotations


class ModuleDocFragment:
    """Options of ``_planes_argument_spec`` in ``module_utils/_move/module.py``."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description: Path of the kubeconfig of the plane that has the hosts.
    type: path
    required: true
  context:
    description: Context in O(kubeconfig); its current one by default.
    type: str
  to_kubeconfig:
    description: Path of the kubeconfig of the plane that takes over.
    type: path
    required: true
  to_context:
    description: Context in O(to_kubeconfig); its current one by default.
    type: str
  ironic_namespace:
    description: Namespace of O(ironic_deployment).
    type: str
    default: baremetal-operator-system
  ironic_deployment:
    description: Name of the Deployment of the Ironic that takes over, whose environment says its address and ports.
    type: str
    default: ironic
"""

    REACH = r"""
options:
  reach_from:
    description:
      - From where it is asked whether the BMCs of the hosts are reached, by a connection or an IPMI question without a
        login.
      - V(auto) asks from the container of O(ironic_deployment), by the container's Python, and warns when it cannot be
        asked.
      - V(here) asks from the machine that the module runs on, for an Ironic that runs on it.
    type: str
    choices: [auto, here, none]
    default: none
  ironic_config:
    description:
      - Path of the C(ironic.conf) of the Ironic that takes over, where it runs, which says by which authorities it
        verifies BMCs. For O(reach_from=here) it is needed to ask that; in a pod it is found where Ironic's images have
        it.
    type: path
"""

    IDENTITY = r"""
options:
  to_cluster_uid:
    description:
      - What O(cluster_uid) is for the plane of O(kubeconfig), for the plane of O(to_kubeconfig), such as
        RV(metal3.baremetal.plane_move#module:to_uid).
    type: str
"""
