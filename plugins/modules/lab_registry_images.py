#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills a lab's registry with the controllers' container images."""
from __future__ import annotations

DOCUMENTATION = r"""
module: lab_registry_images
short_description: Fill a lab's registry with the controllers' container images
version_added: "0.1.0"
description:
  - Creates a container image of each controller of the management plane from the program that
    M(metal3.baremetal.plane_programs) built, and pushes it to a registry under the name that it has upstream. The host
    of that name is the first folder, so that C(quay.io/metal3-io/baremetal-operator) is
    C(quay.io/metal3-io/baremetal-operator) on the registry's own host.
  - An image holds one static program, its user is C(65532), its entry point the one of upstream's image. The same
    program gives the same image. The images are kept in a cache folder whose name depends on the programs and their
    versions.
  - With O(ironic_source_dir) also an image of Ironic, with the entry points, variables, probes and user of Metal3's
    ironic-image, from Debian and the Ironic that the lab runs; it has no DHCP server. That needs root and takes a
    minute. Its second name, C(quay.io/metal3-io/ironic-ipa-downloader), is for the init container of the manifests.
  - With O(keepalived_source_dir) also an image of keepalived, which gives Ironic's pod its address, with the entry
    point, variables and user of Metal3's. That needs root, too.
  - With O(mariadb_source_dir) also an image of MariaDB, Ironic's database in its pod, likewise.
  - What the registry has already is not pushed again.
options:
  url:
    description: Address of the registry, with C(https).
    type: str
    required: true
  ca_file:
    description: Certificates of the authorities that the registry's certificate is verified with.
    type: path
    required: true
  username_file:
    description: File with the name of a user who may push.
    type: path
    required: true
  password_file:
    description: File with that user's password.
    type: path
    required: true
  engine_dir:
    description: What M(metal3.baremetal.plane_programs) returned as
      RV(metal3.baremetal.plane_programs#module:engine_dir), built with the set V(management).
    type: path
    required: true
  versions:
    description: What it returned as RV(metal3.baremetal.plane_programs#module:versions).
    type: dict
    required: true
  cache_dir:
    description: Folder for what is slow to make and shared by all labs.
    type: path
    required: true
  ironic_source_dir:
    description: Folder C(lab/ironic_image) of the collection. Requires O(services_python).
    type: path
  keepalived_source_dir:
    description: Folder C(lab/keepalived_image) of the collection.
    type: path
  mariadb_source_dir:
    description: Folder C(lab/mariadb_image) of the collection.
    type: path
  services_python:
    description: The Python interpreter that runs the lab's Ironic; of Debian 12's version, 3.11.
    type: path
requirements:
  - skopeo
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Build the programs of the management plane
  metal3.baremetal.plane_programs:
    source_dir: "{{ role_path }}/../../lab/engine"
  register: engine

- name: Fill the lab's registry
  metal3.baremetal.lab_registry_images:
    url: "{{ management_plane.urls.registry }}"
    ca_file: "{{ management_plane.dir }}/pki/ca.crt"
    username_file: "{{ management_plane.dir }}/secrets/registry_username"
    password_file: "{{ management_plane.dir }}/secrets/registry_password"
    engine_dir: "{{ engine.engine_dir }}"
    versions: "{{ engine.versions }}"
    cache_dir: "{{ management_plane.cache_dir }}"
"""

RETURN = r"""
images:
  description: Digest of each image's manifest by the image's upstream name and tag.
  returned: when the images are there, which they are not always in check mode
  type: dict
  sample:
    quay.io/metal3-io/baremetal-operator:v0.13.2: sha256:0f3a6a2f9b1e4d370c5d
pushed:
  description: Names of the images that were pushed, or would be in check mode.
  returned: always
  type: list
  elements: str
  sample: [quay.io/metal3-io/baremetal-operator:v0.13.2]
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
  sample: [{"object": "image quay.io/metal3-io/ip-address-manager:v1.13.0", "action": "created"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.module import run_lab_registry_images


def main():
    """Run the module."""
    run_lab_registry_images()


if __name__ == "__main__":
    main()
