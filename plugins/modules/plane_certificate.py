#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a lab's certificate authority and the certificates it signs."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_certificate
short_description: Keep a lab's certificate authority and the certificates it signs
version_added: "0.1.0"
description:
  - Creates a certificate authority in a folder, and keys and certificates signed by it. In production cert-manager has
    this task.
  - A certificate is created again only when it is missing, its subject, names or usages differ, it is within 30 days of
    its end, or another authority signed it.
  - An authority that a site has given, known by O(authority_given) or by a name of its own, is never replaced. One that
    cannot sign is refused, and of one that ends within 30 days a warning says so.
  - Private keys and kubeconfigs are readable by their owner only, and are never part of a result.
options:
  directory:
    description: Folder of the authority; C(ca.crt), C(ca.key) and C(<name>.crt), C(<name>.key) are in it.
    type: path
    required: true
  authority:
    description: Common name of the authority, used when it is created.
    type: str
    default: metal3.baremetal lab
  authority_given:
    description: Whether the authority's files in O(directory) are those that a site has given.
    type: bool
    default: false
  certificates:
    description: The certificates.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of its files.
        type: str
        required: true
      common_name:
        description: Common name of its subject; to Kubernetes the user's name.
        type: str
        required: true
      organizations:
        description: Organizations of its subject; to Kubernetes the user's groups.
        type: list
        elements: str
        default: []
      sans:
        description: Alternative names, DNS names or IP addresses.
        type: list
        elements: str
        default: []
      usages:
        description: What it is for.
        type: list
        elements: str
        choices: [server, client]
        default: [server]
      kubeconfig:
        description: Also write a kubeconfig with this certificate and its key.
        type: dict
        suboptions:
          path:
            description: File to write.
            type: path
            required: true
          server:
            description: URL of the API server.
            type: str
            required: true
          namespace:
            description: Namespace of its context.
            type: str
            default: default
  key_pairs:
    description: Names of key pairs without certificate, C(<name>.key) and C(<name>.pub), for signing tokens.
    type: list
    elements: str
    default: []
requirements:
  - cryptography >= 42
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Make a serving certificate and an administrator's kubeconfig
  metal3.baremetal.plane_certificate:
    directory: "{{ management_plane.dir }}/pki"
    certificates:
      - name: kube-apiserver
        common_name: kube-apiserver
        sans: [localhost, 127.0.0.1]
      - name: admin
        common_name: admin
        organizations: ["system:masters"]
        usages: [client]
        kubeconfig:
          path: "{{ management_plane.dir }}/kubeconfig"
          server: "{{ management_plane.urls.kubernetes }}"
"""

RETURN = r"""
made:
  description: What was created, or would be in check mode, and why.
  returned: always
  type: list
  elements: dict
  sample: [{name: kube-apiserver, reason: missing}]
  contains:
    name:
      description: Name of the certificate or key pair, or path of the kubeconfig.
      type: str
    reason:
      description: Why it was created.
      type: str
ca_file:
  description: File with the authority's certificate.
  returned: always
  type: str
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when the input was refused
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule that was broken.
      type: str
    subject:
      description: The object that it is about.
      type: str
    field:
      description: Path of the option; empty when the whole object is meant.
      type: str
    actual:
      description: What was found, V(null) when it is not set; never a secret value.
      type: str
    expected:
      description: What is allowed.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
written:
  description: What the run had stored before it failed, objects of other kinds included.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "certificate etcd", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.certificate_module import run_plane_certificate


def main():
    """Run the module."""
    run_plane_certificate()


if __name__ == "__main__":
    main()
