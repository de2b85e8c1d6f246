# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module finds a workload cluster."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``workload_argument_spec`` beside those of the fragment ``kubernetes``."""

    DOCUMENTATION = r"""
options:
  cluster_name:
    description:
      - Name of a workload cluster. The module then works on that cluster, with the kubeconfig that Cluster API keeps in
        the management cluster, which the connection options lead to. Of that, only server, certificates, key and token
        are used; a kubeconfig with anything else, for example C(exec), is refused, and so is one that leads to another
        host than C(spec.controlPlaneEndpoint) of its Cluster.
      - Without it, the module works on the cluster that the connection options lead to.
    type: str
  cluster_namespace:
    description: Namespace of the workload cluster's objects in the management cluster.
    type: str
    default: metal3
"""
