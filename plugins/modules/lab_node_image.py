#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the disk image of a lab's Kubernetes nodes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: lab_node_image
short_description: Build the disk image of a lab's Kubernetes nodes
version_added: "0.1.0"
description:
  - Builds a whole-disk image of Debian 12 with systemd, cloud-init, containerd, kubelet, kubeadm, kubectl, CNI
    plugins and keepalived. All container images that kubeadm needs, those of flannel, kube-vip and a test program
    are in it.
  - Kubernetes' programs are those that M(metal3.baremetal.plane_programs) built; CoreDNS, flannel, kube-vip and the
    test program are built here from the versions that a C(go.mod) pins; everything else comes from Debian.
  - The image goes to a cache folder whose name depends on all of that; what is there already is not built again.
    Packages that Debian updated meanwhile don't count as a change; remove the folder to get them.
  - A failed or interrupted build leaves nothing.
options:
  source_dir:
    description: The collection's folder C(lab/node_image).
    type: path
    required: true
  addons_source_dir:
    description: The collection's folder C(lab/engine/addons).
    type: path
    required: true
  engine_dir:
    description: What M(metal3.baremetal.plane_programs) returned as
      RV(metal3.baremetal.plane_programs#module:engine_dir), built with the set V(node) and
      with V(management) or V(control-plane).
    type: path
    required: true
  cache_dir:
    description: Folder for what is slow to make and shared by all labs.
    type: path
    required: true
requirements:
  - root
  - gcc
  - mmdebstrap
  - qemu-img
  - sfdisk
  - mkfs.ext4
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Build the programs of the management plane and of nodes
  metal3.baremetal.plane_programs:
    source_dir: "{{ role_path }}/../../lab/engine"
    cache_dir: "{{ management_plane.cache_dir }}"
    sets: [management, node]
  register: engine

- name: Build the node image
  metal3.baremetal.lab_node_image:
    source_dir: "{{ role_path }}/../../lab/node_image"
    addons_source_dir: "{{ role_path }}/../../lab/engine/addons"
    engine_dir: "{{ engine.engine_dir }}"
    cache_dir: "{{ management_plane.cache_dir }}"
"""

RETURN = r"""
image_dir:
  description:
    - Cache folder with C(node.qcow2), C(node.raw) and their checksum files, which end in C(.sha256).
  returned: always
  type: str
  sample: /home/me/.cache/metal3.baremetal/node-image/0c5d6a2f9b1e4d37
kubernetes_version:
  description: Version of Kubernetes in the image.
  returned: when the image is there
  type: str
  sample: v1.35.4
container_images:
  description: Short name of each container image in it, and its reference.
  returned: when the image is there
  type: dict
  sample: {flannel: "lab.local/flannel-io/flannel:v0.28.0"}
disk_bytes:
  description: Size of the disk that the image describes.
  returned: when the image is there
  type: int
  sample: 6442450944
written:
  description: What the run had stored before it failed.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: A path, or the object as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "/var/cache/metal3.baremetal/addons/0123456789abcdef", "action": "created"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.module import run_lab_node_image


def main():
    """Run the module."""
    run_lab_node_image()


if __name__ == "__main__":
    main()
