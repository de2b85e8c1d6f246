#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the ramdisk of the deploy agent, and publishes it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: lab_agent_image
short_description: Build the deploy agent's ramdisk and publish it
version_added: "0.1.0"
description:
  - Builds the ramdisk that virtual servers boot for inspection, cleaning and deployment. It has Debian 12 with its
    kernel, and C(ironic-python-agent) from PyPI, in the versions that a lock file with hashes pins.
  - The result goes to a cache folder whose name depends on the source folder; what is there is not built again.
    Packages that Debian updated meanwhile do not count as a change; remove the folder to get them.
  - Copies the files to a folder that an image server reads, each with a checksum file that ends in C(.sha256). The
    ramdisk gets files of the lab on top, for example the certificate authority.
  - A failed or interrupted build leaves nothing.
options:
  source_dir:
    description: The collection's folder C(lab/agent_image).
    type: path
    required: true
  cache_dir:
    description: Folder for what is slow to build and shared by all labs.
    type: path
    required: true
  directory:
    description: Folder for C(vmlinuz), C(initrd), C(esp.img) and C(snponly.efi).
    type: path
    required: true
  files:
    description: Files to add to the ramdisk.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path in the ramdisk.
        type: str
        required: true
      source:
        description: Path of the file on the target.
        type: path
        required: true
requirements:
  - root
  - mmdebstrap
  - cpio
  - zstd
  - mtools
  - dosfstools
  - shim-signed, grub-efi-amd64-signed and ipxe of Debian
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Build and publish the deploy agent's ramdisk
  metal3.baremetal.lab_agent_image:
    source_dir: "{{ role_path }}/../../lab/agent_image"
    cache_dir: "{{ management_plane.cache_dir }}"
    directory: "{{ management_plane.dir }}/www/agent"
    files:
      - path: /etc/ironic-python-agent/ca.crt
        source: "{{ management_plane.dir }}/pki/ca.crt"
"""

RETURN = r"""
image_dir:
  description: Cache folder with the files as they were built.
  returned: always
  type: str
  sample: /home/me/.cache/metal3.baremetal/agent-image/0c5d6a2f9b1e4d37
published:
  description: Names of the files that were written to O(directory), or would be.
  returned: always
  type: list
  elements: str
  sample: [vmlinuz, initrd, esp.img, snponly.efi]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.module import run_lab_agent_image


def main():
    """Run the module."""
    run_lab_agent_image()


if __name__ == "__main__":
    main()
