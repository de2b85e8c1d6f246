# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module finds Ironic."""
from __future__ import annotations

import re
import textwrap


class ModuleDocFragment:
    """Options of ``ironic_argument_spec`` in ``module_utils/_ironic/api/client.py``: a module's, and ``ironic``'s."""

    DOCUMENTATION = r"""
options:
  cloud:
    description:
      - Name of a cloud in C(clouds.yaml), as openstacksdk reads it; the way for an Ironic with Keystone.
      - Falls back to E(OS_CLOUD). Without it and without O(endpoint), openstacksdk's own environment variables count,
        E(OS_AUTH_URL) among them.
    type: str
  clouds_file:
    description: Path of a C(clouds.yaml). Falls back to E(OS_CLIENT_CONFIG_FILE), then to where openstacksdk looks.
    type: path
  endpoint:
    description:
      - URL of an Ironic without Keystone, for example V(https://192.0.2.1:6385). Excludes O(cloud), and wins over
        E(OS_CLOUD).
      - Falls back to E(OS_ENDPOINT) when no cloud is given.
    type: str
  auth_type:
    description:
      - How to log in at O(endpoint). Falls back to E(OS_AUTH_TYPE), then to V(http_basic) with a user name and V(none)
        without.
    type: str
    choices: [none, http_basic]
  username:
    description:
      - User name for V(http_basic). Falls back to E(OS_USERNAME).
      - E(OS_USERNAME), E(OS_PASSWORD) and E(OS_AUTH_TYPE) are not read when O(endpoint) is an option and E(OS_ENDPOINT)
        or E(OS_AUTH_URL) names another server, whose login they are.
    type: str
  password:
    description: Password for V(http_basic). Falls back to E(OS_PASSWORD) as O(username) does. Never shown.
    type: str
  ca_cert:
    description:
      - Path of a file with the authority of Ironic's certificate. Falls back to the cloud's setting, or with
        O(endpoint) to E(OS_CACERT).
    type: path
  client_cert:
    description: Path of a client certificate.
    type: path
  client_key:
    description: Path of the key of O(client_cert).
    type: path
  validate_certs:
    description:
      - Whether Ironic's certificate is verified. By default it is, unless the cloud's setting or, with O(endpoint),
        E(OS_INSECURE) says otherwise.
    type: bool
  request_timeout_seconds:
    description: How long one request may take, in seconds.
    type: int
    default: 60
attributes:
  action_group:
    description: Use C(group/metal3.baremetal.ironic) in C(module_defaults) to set defaults for this module.
    support: full
    membership:
      - metal3.baremetal.ironic
requirements:
  - openstacksdk >= 4.0
  - Ironic 2024.1 (API version 1.87) or newer
"""

    # The same ones below the option ``ironic``, which the plugin or another fragment describes. Annotated, because
    # ansible-test takes each plain assignment here for a literal.
    SUBOPTIONS: str = "options:\n  ironic:\n    suboptions:\n" + textwrap.indent(
        re.sub(r"O\((\w+)\)", r"O(ironic.\1)", DOCUMENTATION.partition("options:\n")[2].partition("attributes:\n")[0]),
        "    ")
