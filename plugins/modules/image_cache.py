#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps images of other servers in a folder of an image server: downloaded, verified, converted."""
from __future__ import annotations

DOCUMENTATION = r"""
module: image_cache
short_description: Keep images of other servers in a folder of an image server
version_added: "0.1.0"
description:
  - Takes images from URLs or from files of the target, verifies their checksums, converts them where asked for, and
    publishes each with a checksum file that ends in C(.sha256).
  - A download goes to a folder that nobody else can enter, C(.metal3-cache) below O(directory). A run that was killed
    is taken up by the next one where it stopped. The free space is compared with what the server announces before a
    download, and with the data of the image before a conversion.
  - A disk image is looked at before it is opened. One with a backing file, an external data file or encryption is
    refused. Other files, such as ISO images or kernels, are published as they are.
  - Each image is published under its name, and under a name with the first 12 digits of its checksum, which stays the
    same file when another image gets the name. O(keep_versions) is the number of former ones that are kept.
  - A second run reads no image. It compares size and time of each file with those that it was published with.
  - Redirections are followed to other addresses with C(http) or C(https), and never from C(https) to C(http). Their
    answers are verified like all others.
options:
  directory:
    description: Folder that an image server reads. It is created if it is missing.
    type: path
    required: true
  images:
    description: The images. One that is not in the list stays.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the file.
        type: str
        required: true
      url:
        description: Its address, with C(http) or C(https).
        type: str
      path:
        description: A file of the target, in place of O(images[].url). A link to one is followed if root or the user of
          this module has made it.
        type: path
      checksum:
        description:
          - Hexadecimal digits of a SHA-256 or SHA-512, C(sha256:) or C(sha512:) before them or not, or the URL of a
            checksum file with C(https). Required with O(images[].url).
          - A checksum file is read in each run. When it names another checksum, the image is downloaded again.
        type: str
      checksum_type:
        description: The type that the checksum must have. Without it that of its length is taken.
        type: str
        choices: [sha256, sha512]
      format:
        description:
          - Format that is served. V(as_is) converts nothing.
        type: str
        choices: [as_is, qcow2, raw]
        default: as_is
      state:
        description: V(absent) removes an image that this module published, with its versions.
        type: str
        choices: [present, absent]
        default: present
  keep_versions:
    description: How many former versions of each image are kept.
    type: int
    default: 1
  ca_file:
    description: File with the certificate authority of the servers, by default those of this machine.
    type: path
  state:
    description: >-
      V(absent) removes all images of the folder that this module published, and the folder if it is empty then.
    type: str
    choices: [present, absent]
    default: present
requirements:
  - qemu-img, for disk images
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Keep two images, one of them as a raw disk
  metal3.baremetal.image_cache:
    directory: /srv/www
    images:
      - name: debian-12.raw
        url: https://images.example.org/debian-12-generic-amd64.qcow2
        checksum: https://images.example.org/SHA512SUMS
        checksum_type: sha512
        format: raw
      - name: agent.iso
        path: /var/tmp/agent.iso

- name: Remove one of them
  metal3.baremetal.image_cache:
    directory: /srv/www
    images:
      - name: agent.iso
        state: absent
"""

RETURN = r"""
images:
  description: The images that are not absent.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the file.
      type: str
    path:
      description: Its path.
      type: str
    changed:
      description: Whether the image was published, or something of its versions changed.
      type: bool
    version:
      description: Name under which the same file stays when another one gets the image's name.
      type: str
    sha256:
      description: Its checksum, hexadecimal. Missing when check mode predicts a change, as all below.
      type: str
    checksum_type:
      description: V(sha256), as the image of a host takes it.
      type: str
    size_bytes:
      description: Size of the file.
      type: int
    format:
      description: Format of a disk image, V(qcow2) or V(raw).
      type: str
    disk_bytes:
      description: Size of the disk that it describes.
      type: int
  sample:
    - name: debian-12.raw
      path: /srv/www/debian-12.raw
      changed: true
      version: debian-12.8f1c2b9d0a7e.raw
      sha256: 8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
      checksum_type: sha256
      size_bytes: 2147483648
      format: raw
      disk_bytes: 2147483648
removed:
  description: Names of the images that were removed.
  returned: success
  type: list
  elements: str
  sample: [agent.iso]
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
  description: What the run had stored before it failed.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: A path.
      type: str
    action:
      description: What became of it, for example V(created) or V(updated).
      type: str
  sample: [{"object": "/srv/www/debian-12.raw", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._images.module import run_image_cache


def main():
    """Run the module."""
    run_image_cache()


if __name__ == "__main__":
    main()
