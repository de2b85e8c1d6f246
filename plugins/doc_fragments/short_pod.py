# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules that ask from short-lived pods."""
from __future__ import annotations

_PODS = """
      kubeconfig:
        description: Path of the kubeconfig of the cluster.
        type: path
      context:
        description: Context in it.
        type: str
      image:
        description: Image of the pods, one with C(python3), for example Ironic's.
        type: str
        required: true
      node_selector:
        description: Labels of nodes that a pod may run on.
        type: dict
      tolerations:
        description: Tolerations of the pods, as in a pod's specification, for example of the taint of control planes.
        type: list
        elements: dict
      pull_secrets:
        description: Names of Secrets in the pods' namespace that their image is pulled with.
        type: list
        elements: str
      timeout_seconds:
        description: How long a pod may take to run and to ask.
        type: int
        default: 120
"""


class ModuleDocFragment:
    """What options have of ``OPTIONS`` in ``module_utils/_kube/pods/short_pod.py``.

    Their descriptions are the modules' own.
    Fragments merge no suboptions, so that those of one module are here, too. With a type, yamllint's sanity test does
    not expect each of them to be one literal.
    """

    # Of ironic_check.
    FROM_POD: str = r"""
options:
  from_pod:
    type: dict
    suboptions:
      namespace:
        description: Namespace of the pod, that of the operator; while there is none of this name, C(default).
        type: str
        default: baremetal-operator-system
""" + _PODS

    # Of network_check.
    FROM_PODS: str = r"""
options:
  from_pods:
    type: dict
    suboptions:
      namespace:
        description: Namespace of the pods, for example that of the operator.
        type: str
        default: default
      nodes:
        description: Names of nodes, from each of which a pod asks. Without them one pod asks from where the scheduler
          puts it.
        type: list
        elements: str
        default: []
      host_network:
        description: Whether the pods have the network of their node, as Ironic's pod has. Their namespace must allow
          it.
        type: bool
        default: false
""" + _PODS
