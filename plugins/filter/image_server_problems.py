# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says what is wrong with the description of an image server."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: image_server_problems
short_description: What is wrong with the description of an image server
version_added: "0.1.0"
description:
  - Returns the problems of the variables of the role C(image_server) as one text, all of them at once.
options:
  _input:
    description:
      - The variables C(name), C(addresses), C(port), C(names), C(directory), C(tls), C(certificate_file), C(key_file),
        C(ca_certificate_file), C(ca_key_file), C(keep_versions) and C(images) of the role C(image_server), without its
        prefix.
    type: dict
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check the description of an image server
  ansible.builtin.assert:
    that: described | metal3.baremetal.image_server_problems | length == 0
    fail_msg: "{{ described | metal3.baremetal.image_server_problems }}"
  vars:
    described:
      name: images
      addresses: [172.22.0.1]
      port: 443
      names: []
      directory: /srv/www
      tls: true
      certificate_file: ""
      key_file: ""
      ca_certificate_file: ""
      ca_key_file: ""
      keep_versions: 1
      images: []
"""

RETURN = r"""
_value:
  description: The problems, a line each after one with their number; empty when there is none.
  type: str
"""


def image_server_problems(described):
    """Return what is wrong as a text; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems import problem
    from ansible_collections.metal3.baremetal.plugins.module_utils._images.cache import server_options

    try:
        found = server_options.problems(described)
    except (KeyError, TypeError) as exc:
        raise AnsibleFilterError(f"image_server_problems: expected the variables of an image server: {exc!r}") from exc
    return problem.message(found) if found else ""


class FilterModule:
    """The filter."""

    def filters(self):
        """Return the filter by name."""
        return {"image_server_problems": image_server_problems}
