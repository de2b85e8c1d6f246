# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules that ask from where Ironic runs, too."""
from __future__ import annotations


class ModuleDocFragment:
    """The option of ``POD_OPTIONS`` in ``module_utils/_metal3/ironic_place.py``."""

    DOCUMENTATION = r"""
options:
  ironic_pod:
    description:
      - Pod of Ironic in a cluster, from whose container it is asked, too, by the container's Python. What is not
        reached from there is a problem; that the pod could not be asked is a warning.
      - The kubeconfig needs to get the Deployment, to list Pods, and to get and create C(pods/exec) in the namespace.
    type: dict
    suboptions:
      kubeconfig:
        description: Kubeconfig of the cluster.
        type: path
        required: true
      context:
        description: Context in it, by default its current one.
        type: str
      namespace:
        description: Namespace of the Deployment.
        type: str
        default: baremetal-operator-system
      deployment:
        description: Name of the Deployment.
        type: str
        default: ironic
"""
