#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the disk image of nodes, or takes one from elsewhere, verifies and publishes it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: node_image
short_description: Build or download a disk image for nodes, verify and publish it
version_added: "0.1.0"
description:
  - Builds a whole-disk image of Debian 12 with a kernel for servers, cloud-init, containerd, kubelet, kubeadm and
    kubectl. It
    boots by UEFI, with secure boot, and by BIOS; its root file system grows to the size of the disk.
  - Kubernetes comes from packages of a repository or from given programs; both are asked for their version.
  - The image goes to a cache folder whose name depends on all options and on the contents of all files; what is there
    is not
    built again. Packages that Debian updated meanwhile do not count as a change; set another O(revision) to get them.
  - With O(download) nothing is built; the image is taken from a URL and verified by its checksum.
  - In both cases the image is looked at before it is published. One with a backing file, an external data file or
    encryption is refused, as is one that is larger than the disks in O(disks).
  - Writes the image, a checksum file that ends in C(.sha256), and C(<name>.json), which says what it was made from,
    to a
    folder that an image server reads. A failed or interrupted run leaves what was published before.
options:
  directory:
    description: Folder that an image server reads. It is created if it is missing.
    type: path
    required: true
  name:
    description: Name of the file. An image that is built here ends with C(.qcow2).
    type: str
    default: node.qcow2
  source_dir:
    description: The collection's folder C(roles/node_image/files/recipe). Required without O(download).
    type: path
  cache_dir:
    description:
      - Folder for what is slow to build, by default C(metal3.baremetal) in the user's cache folder.
      - One that others may write into is refused.
    type: path
  download:
    description: An image to take from elsewhere, as qcow2 or as a raw disk. Options of a build are refused then.
    type: dict
    suboptions:
      url:
        description: Its address, with C(http) or C(https).
        type: str
        required: true
      checksum:
        description: C(sha256:) and 64 hexadecimal digits.
        type: str
        required: true
  ca_file:
    description: File with the certificate authority of O(download), by default those of this machine.
    type: path
  disks:
    description: >-
      For each host the size in bytes of the disk that gets the image. An image that does not fit on one of them is not
      published.
    type: dict
    default: {}
  kubernetes_version:
    description: Version of Kubernetes, for example V(v1.35.4). Required without O(download).
    type: str
    default: ""
  kubernetes_dir:
    description:
      - Folder on the target with the programs C(kubeadm), C(kubelet) and C(kubectl), all of O(kubernetes_version).
      - They are run here and on each node, so only root and the user of the task may be able to write folder and
        programs, and links do not lead out of the folder.
    type: path
  kubernetes_repository:
    description: Repository of Debian packages C(kubeadm), C(kubelet) and C(kubectl), in place of O(kubernetes_dir).
    type: dict
    suboptions:
      source:
        description: Its line of a C(sources.list), without options.
        type: str
        required: true
      key:
        description: The OpenPGP key that it is signed with, in ASCII armour.
        type: str
        required: true
  packages:
    description: >-
      Debian packages to install beside those of the recipe, each with C(=<version>) where one is wanted. Firmware of
      network
      cards is in packages of Debian's component C(non-free-firmware), which O(debian_sources) then needs.
    type: list
    elements: str
    default: []
  debian_sources:
    description: Lines of a C(sources.list) in place of those of this machine.
    type: list
    elements: str
    default: []
  ca_certificates:
    description: Texts with certificate authorities in PEM form, which the node trusts beside Debian's.
    type: list
    elements: str
    default: []
  files:
    description: Files to add to the image, or to replace in it.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path in the image, without links; for example C(/usr/lib) in place of C(/lib).
        type: str
        required: true
      source:
        description: Path of the file on the target.
        type: path
      content:
        description: Its contents, in place of O(files[].source).
        type: str
      mode:
        description: Its permissions, V(0) and three octal digits in quotes, without which YAML reads another number.
        type: str
        default: "0644"
  image_archives:
    description: >-
      Files on the target with container images, as C(docker save) or C(skopeo) write them, which the node then has
      without a
      registry.
    type: list
    elements: path
    default: []
  kernel_parameters:
    description: Parameters of the kernel, by default C(console=tty0 console=ttyS0).
    type: list
    elements: str
    default: []
  disk_size_gib:
    description: Size of the disk that the image describes. On a larger disk the root file system grows.
    type: int
    default: 6
  revision:
    description: Any text. Another one builds again, with the newest Debian packages.
    type: str
    default: ""
requirements:
  - root, and a machine of x86_64, for a build
  - mmdebstrap
  - qemu-img
  - sfdisk
  - mkfs.ext4
  - mtools
  - dosfstools
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Build a node image with packages of Kubernetes
  metal3.baremetal.node_image:
    source_dir: "{{ playbook_dir }}/collections/ansible_collections/metal3/baremetal/roles/node_image/files/recipe"
    directory: /srv/www/images
    name: node-v1.35.4.qcow2
    kubernetes_version: v1.35.4
    kubernetes_repository:
      source: deb https://packages.example.org/kubernetes/v1.35/deb/ /
      key: "{{ lookup('ansible.builtin.file', 'kubernetes.asc') }}"

- name: Take an image that somebody else has built, for two hosts
  metal3.baremetal.node_image:
    directory: /srv/www/images
    name: debian-12.qcow2
    download:
      url: https://images.example.org/debian-12.qcow2
      checksum: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
    disks:
      rack1-03: 480103981056
      rack1-04: 480103981056
"""

RETURN = r"""
path:
  description: Path of the published image.
  returned: success
  type: str
  sample: /srv/www/images/node-v1.35.4.qcow2
sha256:
  description: Its checksum, hexadecimal.
  returned: success, unless check mode predicts a change
  type: str
  sample: 8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
checksum_type:
  description: V(sha256), as the image of a host takes it.
  returned: success, unless check mode predicts a change
  type: str
  sample: sha256
size_bytes:
  description: Size of the file.
  returned: success, unless check mode predicts a change
  type: int
  sample: 490995712
disk_bytes:
  description: Size of the disk that the image describes.
  returned: success, unless check mode predicts a change
  type: int
  sample: 6442450944
format:
  description: Format of the image, V(qcow2) or V(raw).
  returned: success, unless check mode predicts a change
  type: str
  sample: qcow2
image_dir:
  description: Cache folder with the image as it was built.
  returned: success, without O(download)
  type: str
  sample: /home/me/.cache/metal3.baremetal/node-images/0c5d6a2f9b1e4d37
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
  sample: [{"object": "/srv/www/images/node.qcow2", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._images.module import run_node_image


def main():
    """Run the module."""
    run_node_image()


if __name__ == "__main__":
    main()
