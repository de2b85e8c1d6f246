#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether BMCs read media of an image server."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_media_check
short_description: Check whether BMCs can read media of an image server
version_added: "0.1.0"
description:
  - Lets each BMC insert a file of an image server as a virtual CD, reads back by Redfish what became of it, and ejects
    it again. So a firewall, a name that the BMC cannot resolve, or a certificate that it does not trust is found before
    servers are enrolled.
  - Only an empty virtual CD is used. What holds a medium, for example Ironic's, is left alone and said to be in use.
  - The server is not restarted, and its boot device stays as it is. A running operating system sees a CD come and go.
  - Some BMCs read a medium only when a server boots from it. They show it as inserted although they may not reach the
    image server; whether a request came, the image server's log says.
options:
  url:
    description:
      - The file, for example a small ISO of the image server that Ironic uses for virtual media. Without user name,
        password and query.
    type: str
    required: true
  timeout_seconds:
    description:
      - How long a BMC may take until it shows the medium as inserted, and until it shows it as ejected.
      - One that has not shown it by then is looked at for as long again, and a medium that comes is ejected. After that
        the verdict says what to eject at which BMC, if it still comes.
    type: int
    default: 60
  fail:
    description: Whether the module fails when a BMC can not read it.
    type: bool
    default: true
extends_documentation_fragment:
  - metal3.baremetal.bmc
  - metal3.baremetal.bmc.field_names
  - metal3.baremetal.bmc.hosts
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Says which device would be tried. No medium is inserted.
  diff_mode:
    support: none
    details:
      - What was inserted is ejected again.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.bmc_preflight
  - module: metal3.baremetal.network_check
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check that all BMCs read media of the provisioning network's image server
  metal3.baremetal.bmc_media_check:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal']) }}"
    url: https://172.22.0.1:6183/images/probe.iso
    field_names: variables
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
hosts:
  description: What was found, in the order of O(hosts).
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
    address:
      description: Address of the BMC in its shortest form, empty when the given one can't be read.
      type: str
      returned: always
    verdict:
      description: V(ok), V(problem), or V(unknown) when nothing was tried.
      type: str
      returned: always
      sample: ok
    checks:
      description: The verdict as a problem record, as M(metal3.baremetal.bmc_preflight) returns it.
      type: list
      elements: dict
      returned: always
      sample:
        - check: media
          status: problem
          code: bmc-media
          subject: rack1-01
          field: bmc.address
          actual: "Cd did not take https://172.22.0.1:6183/images/probe.iso: HTTP 500 (certificate verify failed)"
          expected: a BMC that reads media of that server
          hint: >-
            the BMC does not trust the image server's certificate: import its authority into the BMC, switch the BMC's
            verification of media servers off, or serve images for virtual media by HTTP
    failed:
      description: Whether the server makes the task fail, which O(fail) says.
      type: bool
      returned: always
    failing:
      description: What makes it fail, as texts with the server's name; empty when nothing does.
      type: list
      elements: str
      returned: always
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.module import run_bmc_media_check


def main():
    """Run the module."""
    run_bmc_media_check()


if __name__ == "__main__":
    main()
