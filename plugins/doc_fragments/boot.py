# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module that waits for hosts looks at their boots."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``boot_argument_spec`` in ``module_utils/_boot/watch.py``."""

    DOCUMENTATION = r"""
options:
  ironic:
    description:
      - How to reach the Ironic behind the hosts, so that the progress of a wait says where it is with each of them, for
        example C(the agent is at erase_devices_metadata), and not only C(inspecting). Nothing else depends on it - when
        Ironic refuses, a warning says so, and the wait goes on.
      - V({}) lets the environment decide, as for M(metal3.baremetal.ironic_node_info). Without the option Ironic is not
        asked. Needs openstacksdk.
    type: dict
    suboptions:
      cloud:
        description: Name of a cloud in C(clouds.yaml). Falls back to E(OS_CLOUD).
        type: str
      clouds_file:
        description: Path of a C(clouds.yaml). Falls back to E(OS_CLIENT_CONFIG_FILE), then to where openstacksdk looks.
        type: path
      endpoint:
        description: URL of an Ironic without Keystone. Excludes O(ironic.cloud). Falls back to E(OS_ENDPOINT).
        type: str
      auth_type:
        description:
          - How to log in at O(ironic.endpoint), V(http_basic) with a user name and V(none) without by default. Falls
            back to E(OS_AUTH_TYPE).
        type: str
        choices: [none, http_basic]
      username:
        description: User name for V(http_basic). Falls back to E(OS_USERNAME).
        type: str
      password:
        description: Password for V(http_basic). Falls back to E(OS_PASSWORD). Never shown.
        type: str
      ca_cert:
        description: Path of a file with the authority of Ironic's certificate. Falls back to E(OS_CACERT).
        type: path
      client_cert:
        description: Path of a client certificate.
        type: path
      client_key:
        description: Path of the key of O(ironic.client_cert).
        type: path
      validate_certs:
        description: Whether Ironic's certificate is verified. By default it is, unless the cloud says otherwise.
        type: bool
      request_timeout_seconds:
        description: How long one request may take, in seconds.
        type: int
        default: 60
  boot_logs:
    description:
      - Paths of logs of what the servers boot from, on the machine on which the module runs - dnsmasq's, and those of
        web servers in the combined format of nginx and Apache. What comes to them in a wait says in its progress how
        far a boot is - an address by DHCP, the boot script, the kernel, the first call of the agent.
      - What cannot be read is named by a warning, and the wait goes on.
    type: list
    elements: path
    default: []
"""
