#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a small disk image."""
from __future__ import annotations

DOCUMENTATION = r"""
module: lab_disk_image
short_description: Create a small whole-disk image to try out provisioning with
version_added: "0.1.0"
description:
  - Creates a raw disk image with a partition table (GPT) and one ext4 file system that holds the given files, and
    beside it the checksum file C(<path>.sha256) in the format of C(sha256sum).
  - An image that is there and fits its checksum file stays unchanged, whatever its contents.
author:
  - metal3.baremetal contributors (@metal3-community)
requirements:
  - Programs C(sfdisk) (Debian package C(fdisk)) and C(mkfs.ext4) (Debian package C(e2fsprogs)).
options:
  path:
    description: Path of the image. The folder must exist.
    type: path
    required: true
  size_mib:
    description: Size of the disk in MiB, at least 8.
    type: int
    default: 32
  files:
    description: Files of the file system's root, name to text.
    type: dict
    default: {}
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
"""

EXAMPLES = r"""
- name: Make an image for trying out provisioning
  metal3.baremetal.lab_disk_image:
    path: /srv/images/small.raw
    files:
      readme.txt: Written by Ironic.
"""

RETURN = r"""
path:
  description: Path of the image.
  type: str
  returned: always
  sample: /srv/images/small.raw
sha256:
  description: Checksum of the image; absent in check mode as long as there is no image.
  type: str
  returned: when there is an image
  sample: 9b881b9ceb22da6a2e0a41fb1b396a428be3b14757523155c7d361047a5ea6ba
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.module import run_lab_disk_image


def main():
    """Run the module."""
    run_lab_disk_image()


if __name__ == "__main__":
    main()
