# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says which pod of Ironic is asked what Ironic reaches."""
from __future__ import annotations

from jinja2 import pass_context

DOCUMENTATION = r"""
name: ironic_pod
short_description: Option ironic_pod of the modules that ask from where Ironic runs
version_added: "0.1.0"
description:
  - Where the variable C(ironic_mode) is V(cluster), it returns the pod in the plane's cluster and in the namespace
    C(ironic_namespace); elsewhere nothing.
options:
  _input:
    description: The variable C(management_plane), or nothing.
    type: dict
    required: true
seealso:
  - module: metal3.baremetal.bmc_preflight
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask for the images from Ironic's pod, too
  metal3.baremetal.baremetal_host:
    hosts: "{{ hostvars | metal3.baremetal.host_entries(groups['baremetal']) }}"
    check_images: true
    ironic_pod: "{{ management_plane | default({}) | metal3.baremetal.ironic_pod or omit }}"
"""

RETURN = r"""
_value:
  description: The option, empty for none.
  type: dict
"""


@pass_context
def ironic_pod(context, plane):
    """Return the option; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.ironic_place import by_default

    if context.get("ironic_mode") != "cluster" or not plane or not plane.get("kubeconfig"):
        return {}
    namespace = context.get("ironic_namespace") or by_default(plane, context.get("bmo_options"))["namespace"]
    return {"kubeconfig": plane["kubeconfig"], "context": plane.get("context"), "namespace": namespace}


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_pod": ironic_pod}
