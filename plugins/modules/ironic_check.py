#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that an Ironic is one that the Bare Metal Operator can use."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_check
short_description: Check that the Bare Metal Operator can use an Ironic
version_added: "0.1.0"
description:
  - Asks an Ironic that somebody else runs for all that the Bare Metal Operator 0.13 will need of it, before the
    operator does, and fails with all that does not fit at once.
  - These are the API over TLS that is verified, the login, the API version (1.89 or newer), a conductor that is alive,
    hardware types and interfaces for the BMC addresses of the hosts, the difference of the clocks, and the boot images.
  - An Ironic without login is refused unless O(auth_type=none) says that it is meant, and so is one that lets in
    everybody although O(username) is given.
  - What is asked is asked from where the module runs; the servers' own way to the boot images may be another one. With
    O(from_pod) a pod of the operator's cluster asks whether Ironic's API answers there, too.
  - Nothing is changed, but for that pod, which is removed again.
options:
  bmc_addresses:
    description: BMC addresses of the hosts; their hardware types and interfaces must be enabled.
    type: list
    elements: str
    default: []
  bmc_schemes:
    description: Schemes of BMC addresses, such as V(redfish-virtualmedia), for hosts that do not exist yet.
    type: list
    elements: str
    default: []
  boot_images:
    description: The agent's boot images, as the operator is given them; each URL must be there.
    type: dict
    suboptions:
      kernel_url:
        description: The kernel, C(DEPLOY_KERNEL_URL). It needs O(boot_images.ramdisk_url).
        type: str
      ramdisk_url:
        description: The ramdisk, C(DEPLOY_RAMDISK_URL). It needs O(boot_images.kernel_url).
        type: str
      iso_url:
        description: The ISO image, C(DEPLOY_ISO_URL).
        type: str
  image_ca_cert:
    description: Path of a file with the certificate authority of the boot images' servers; the system's by default.
    type: path
  maximum_clock_difference_seconds:
    description: How far Ironic's clock may be from that of the machine where the module runs.
    type: int
    default: 30
  from_pod:
    description:
      - Asks for Ironic's API out of a short-lived pod, too, which has the way that the operator's pod has - address,
        TLS by O(ca_cert), an answer. The login and O(client_key) are not given to it; with O(client_cert) it only
        connects.
      - A proxy of the operator's, and NetworkPolicies that choose its pods by their labels, do not count.
      - In check mode no pod is created, and nothing is asked from one.
extends_documentation_fragment:
  - metal3.baremetal.short_pod.from_pod
  - metal3.baremetal.ironic
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.ironic_node_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check the site's Ironic
  metal3.baremetal.ironic_check:
    endpoint: https://ironic.example.org:6385
    ca_cert: /etc/ssl/certs/site-ca.pem
    username: bmo
    password: "{{ vault_ironic_password }}"
    bmc_schemes: [redfish-virtualmedia, ipmi]
    boot_images:
      kernel_url: https://images.example.org/ipa.kernel
      ramdisk_url: https://images.example.org/ipa.initramfs

- name: Ask for it from the cluster in which the Bare Metal Operator runs, too
  metal3.baremetal.ironic_check:
    endpoint: https://ironic.example.org:6385
    from_pod:
      kubeconfig: ~/.kube/management
      image: quay.io/metal3-io/ironic:v35.0.0
"""

RETURN = r"""
server:
  description: URL of Ironic's API.
  returned: success
  type: str
  sample: https://ironic.example.org:6385/v1
api_version:
  description: Newest API version that both Ironic and this collection know.
  returned: success
  type: str
  sample: "1.110"
drivers:
  description: Enabled hardware types.
  returned: success
  type: list
  elements: str
  sample: [idrac, ipmi, redfish]
conductors:
  description: Ironic's conductors.
  returned: success
  type: list
  elements: dict
  contains:
    hostname:
      description: Its name.
      type: str
    alive:
      description: Whether it has said so lately. With SQLite none does, and drivers show that one works.
      type: bool
clock_difference_seconds:
  description: By how much Ironic's clock is ahead; V(null) when Ironic's answers have no time.
  returned: success
  type: float
warnings:
  description: What works and needs attention, such as a conductor that is offline.
  returned: success
  type: list
  elements: str
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when something does not fit
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_check


def main():
    """Run the module."""
    run_ironic_check()


if __name__ == "__main__":
    main()
