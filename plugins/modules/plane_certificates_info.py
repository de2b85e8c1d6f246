#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports the certificates of a management plane."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_certificates_info
short_description: Report who serves and who trusts which certificate of a management plane
version_added: "0.1.0"
description:
  - Lists the certificates of a plane with the days that are left - those of processes; those of webhooks, with the
    authority by which the API server verifies each; those that Ironic's pod mounts, of Secrets of any type; those of
    other TLS Secrets in the namespaces of the plane's parts, wherever their Deployments are; and of workload clusters
    the authorities, the client certificates of their kubeconfigs, and when those of the control plane's Machines end,
    as Cluster API has noted it. Those of a Machine with a Node of which it has noted nothing are V(unreadable).
  - A certificate that was not signed by the authority which it is verified with is reported as V(untrusted).
  - Ironic's pod reads its certificates at its start. One that was issued after it, as cert-manager does before the
    former one ends, is reported as V(outdated) - Ironic still serves the former one.
  - What the credentials cannot read is left out, with a warning. Keys are neither read from files nor returned.
options:
  pki_dir:
    description:
      - Folder with C(ca.crt) and the certificates of processes, on the machine that the module runs on, such as
        C(<lab dir>/pki). Not needed when all parts are in a cluster.
    type: path
  namespaces:
    description: Namespaces of workload clusters, beside those of the plane's parts.
    type: list
    elements: str
    default: [metal3]
  warn_days:
    description: A certificate with fewer days left is reported as V(expiring).
    type: int
    default: 30
  show_table:
    description: Whether a table is printed.
    type: bool
    default: false
requirements:
  - cryptography >= 42
  - kubernetes >= 31
  - PyYAML >= 6.0
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.plane_certificate
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Look for certificates that end soon
  metal3.baremetal.plane_certificates_info:
    kubeconfig: ~/.kube/management
    warn_days: 60
    show_table: true
  register: certificates

- name: Fail when there is one
  ansible.builtin.assert:
    that: certificates.urgent == []
"""

RETURN = r"""
certificates:
  description: The certificates, the most urgent first.
  returned: success
  type: list
  elements: dict
  contains:
    place:
      description: File, Secret or Machine; the Service when no Secret was found for it.
      type: str
    holder:
      description: Who serves or shows it.
      type: str
    trusted_by:
      description: Who verifies it.
      type: list
      elements: str
    subject:
      description: Its subject.
      type: str
    issuer:
      description: Who has signed it.
      type: str
    names:
      description: DNS names and addresses that it is valid for.
      type: list
      elements: str
    not_after:
      description: Its end, RFC 3339 in UTC.
      type: str
    days_left:
      description: Days until then; V(null) when it cannot be read.
      type: int
    status:
      description: V(ok), V(expiring), V(expired), V(untrusted), V(outdated) or V(unreadable).
      type: str
  sample:
    - place: Secret capm3-system/capm3-webhook-service-cert
      holder: webhook capm3-webhook-service.capm3-system.svc
      trusted_by: [MutatingWebhookConfiguration capm3-mutating-webhook-configuration, 7 more]
      subject: ""
      issuer: ""
      names: [capm3-webhook-service.capm3-system.svc]
      not_after: "2027-02-21T02:20:00Z"
      days_left: 89
      status: ok
urgent:
  description: RV(certificates[].place) of those that are not V(ok).
  returned: success
  type: list
  elements: str
table:
  description: All of them as lines of a table.
  returned: success
  type: list
  elements: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.certificates_info_module import (
    run_plane_certificates_info,
)


def main():
    """Run the module."""
    run_plane_certificates_info()


if __name__ == "__main__":
    main()
