# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module finds metal-api."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``metal_argument_spec`` in ``module_utils/_metalstack/client.py``."""

    DOCUMENTATION = r"""
options:
  api_url:
    description:
      - URL of metal-api with its base path, for example V(https://api.metal-stack.example/metal). Falls back to
        E(METAL_API_URL).
    type: str
  hmac_key:
    description:
      - Key by which requests are signed; either this or O(token). Falls back to E(METAL_API_HMAC). Never shown.
      - E(METAL_API_HMAC) and E(METAL_API_TOKEN) are not read when O(api_url) is an option and E(METAL_API_URL) names
        another server, whose login they are.
    type: str
  hmac_user:
    description: Whose key it is. Falls back to E(METAL_API_HMAC_AUTH_TYPE), then to V(Metal-Admin).
    type: str
    choices: [Metal-View, Metal-Edit, Metal-Admin]
  token:
    description: Bearer token. Falls back to E(METAL_API_TOKEN) as O(hmac_key) does. Never shown.
    type: str
  ca_cert:
    description: Path of a file with the authority of metal-api's certificate; by default those of the system.
    type: path
  validate_certs:
    description: Whether metal-api's certificate is verified.
    type: bool
    default: true
  request_timeout_seconds:
    description: How long metal-api may be silent during one request, in seconds.
    type: int
    default: 60
attributes:
  action_group:
    description: Use C(group/metal3.baremetal.metalstack) in C(module_defaults) to set defaults for this module.
    support: full
    membership:
      - metal3.baremetal.metalstack
requirements:
  - metal-python >= 0.45
"""
