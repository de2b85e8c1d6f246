# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module that waits for hosts looks at their boots."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``boot_argument_spec`` in ``module_utils/_boot/watch.py``; ``ironic.suboptions`` has the rest."""

    DOCUMENTATION = r"""
options:
  ironic:
    description:
      - How to reach the Ironic behind the hosts, so that the progress of a wait says where it is with each of them, for
        example C(the agent is at erase_devices_metadata), and not only C(inspecting). When Ironic refuses, a warning
        says so, and the wait goes on.
      - M(metal3.baremetal.baremetal_host) also asks it, once hosts are V(available) or V(provisioned), for the hardware
        RAID volumes that it has found. A host without those that it was prepared with fails - Ironic takes a volume
        that a controller could not make at the next boot for made. Nothing else depends on this option.
      - V({}) lets the environment decide, as for M(metal3.baremetal.ironic_node_info). Without the option Ironic is not
        asked. Needs openstacksdk.
    type: dict
  boot_logs:
    description:
      - Paths of logs of what the servers boot from, on the machine on which the module runs - dnsmasq's, and those of
        web servers in the combined format of nginx and Apache. What comes to them in a wait says in its progress how
        far a boot is - an address by DHCP, the boot script, the kernel, the first call of the agent.
      - What cannot be read is named by a warning, and the wait goes on.
    type: list
    elements: path
    default: []
  boot_pod:
    description:
      - Pod of Ironic in a cluster, whose containers C(dnsmasq) and C(httpd) say what those logs say; they are read by
        the API server every few seconds of a wait. The kubeconfig needs to get the Deployment, to list Pods, and to
        get C(pods/log) in the namespace.
      - What cannot be read is named by a warning, and the wait goes on.
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
  boot_consoles:
    description:
      - Paths of logs of the servers' serial consoles, by the name of the BareMetalHost, on the machine on which the
        module runs, as conserver writes them. What comes to them in a wait is looked through for known signs of why a
        boot does not get on - a kernel panic, a certificate that the agent refuses, firmware that gets no answer, a
        boot loader that secure boot refuses. The wait's progress, and what is said when it ends, name the cause then.
      - Nothing of a console is shown. What cannot be read is named by a warning, and the wait goes on.
    type: dict
    default: {}
  boot_ca_file:
    description:
      - Path of a file with the certificate authorities of BMCs and image servers, on the machine on which the module
        runs; without it those of the system. With O(ironic), a wait asks the BMC of a host for power, once each time
        its agent has fallen silent, with the credentials of its Secret, and the server of its image for the size of
        that.
        Where neither answers, the wait goes on without them.
      - With O(boot_bmc_ca_files) it is for image servers alone.
    type: path
  boot_bmc_ca_files:
    description:
      - By which authorities the BMC of each host is verified, where hosts have different ones. The filter
        P(metal3.baremetal.bmc_authorities#filter) makes it of an inventory.
      - A BMC without a file, and one whose file cannot be read, is not asked for power, unless its certificate is not
        verified (C(disableCertificateVerification) of the host, or an address without TLS).
    type: dict
    suboptions:
      hosts:
        description: Paths of files as O(boot_ca_file), by the name of the BareMetalHost; an empty one stands for those
          of the system, null for none.
        type: dict
        default: {}
      others:
        description: The file of hosts that are not in O(boot_bmc_ca_files.hosts); an empty one stands for those of the
          system.
        type: path
"""
