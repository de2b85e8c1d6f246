#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacks an archive of images and files into a registry and a folder of an image server."""
from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_unpack
short_description: Unpack an archive of images and files at a site without the internet
version_added: "0.1.0"
description:
  - Pushes the images of an archive of M(metal3.baremetal.mirror_gather) into a registry, under their whole names, and
    puts its files into a folder of an image server.
  - Nothing is pushed or placed before the whole archive was found to be what its bill says. Of the archive only what
    the bill names is taken, under names that are made of the bill, and each content is compared with its SHA-256 while
    it is written. An archive with anything else in it is refused.
  - What the registry and the folder have already, by digest, stays unchanged, so that an interrupted run goes on.
options:
  archive:
    description: Path of the archive.
    type: path
    required: true
  checksum:
    description: >-
      Checksum of the bill, as M(metal3.baremetal.mirror_gather) returned it. Another archive is refused, and so is an
      empty text. Without this option any archive is taken.
    type: str
  work_dir:
    description:
      - Folder to extract into. By default C(<archive>.d), which is removed at the end.
      - One that is there must be the own user's, and nobody else may write into it or exchange it.
    type: path
  registry:
    description: Registry, and path if any, to push to, such as V(registry.example.org/mirror).
    type: str
  files_dir:
    description: Folder of the image server.
    type: path
  bill_file:
    description:
      - Where the bill is written once all else is in its place. M(metal3.baremetal.plane_image_programs) takes digests
        from it.
    type: path
requirements:
  - skopeo
extends_documentation_fragment:
  - metal3.baremetal.registry
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.mirror_gather
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Fill the site's registry and image server
  metal3.baremetal.mirror_unpack:
    archive: /media/usb/metal3.tar
    checksum: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
    registry: registry.example.org/mirror
    username_file: ~/registry_username
    password_file: ~/registry_password
    files_dir: /srv/www/images
"""

RETURN = r"""
bill:
  description: What is in the archive.
  returned: success
  type: dict
  sample:
    format: 1
    release: 0.1.0
    images: [{name: "quay.io/metal3-io/ip-address-manager:v1.13.2", digest: "sha256:8f1c…"}]
    files: []
pushed:
  description: Images that were pushed, or would be in check mode.
  returned: success
  type: list
  elements: str
placed:
  description: Files that were put into O(files_dir), or would be in check mode.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._mirror.module import run_mirror_unpack


def main():
    """Run the module."""
    run_mirror_unpack()


if __name__ == "__main__":
    main()
