#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the programs of a plane of processes out of container images of a registry."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_image_programs
short_description: Take the programs of a plane of processes out of container images of a registry
version_added: "0.1.0"
description:
  - Copies upstream's images of etcd, Kubernetes, Cluster API, the Metal3 providers and the Bare Metal Operator from a
    registry, at the versions that a C(go.mod) pins, and takes the program out of each, without a container engine.
  - M(metal3.baremetal.plane_programs) builds them, which takes minutes in place of seconds.
  - An image is asked for by its digest - that of O(digests) or O(bill_file), else the one that an earlier run has taken
    it by, which C(images.json) beside the programs keeps. A program is taken again when another digest is given.
  - An image whose digest nobody knows is refused, since a registry would say what the plane runs; O(trust_registry)
    allows it.
  - Manifests are taken from O(manifests_dir), or rendered from the pinned modules; for that Go and its module proxy are
    needed, but nothing is built.
  - The webhooks of upstream's programs listen on all addresses of the machine; those that
    M(metal3.baremetal.plane_programs) builds listen on loopback. Cluster API has no image with C(clusterctl).
options:
  source_dir:
    description: Folder with the C(go.mod) and C(go.sum) that pin the versions.
    type: path
    required: true
  cache_dir:
    description:
      - Folder for what is slow to make, by default C(metal3.baremetal) in E(XDG_CACHE_HOME) or in C(~/.cache).
    type: path
  registry:
    description:
      - Registry, and path if any, that images are read from in place of their own, with their whole name behind it,
        such as V(registry.example.org/mirror) for C(registry.example.org/mirror/quay.io/metal3-io/…).
    type: str
    default: ""
  digests:
    description: Digest of an image, name with tag to C(sha256:) and its checksum, for those that must not be another.
    type: dict
    default: {}
  bill_file:
    description:
      - Bill of an archive that M(metal3.baremetal.mirror_unpack) has written, whose digests are used.
      - One that others than root and the user of the module may write is refused.
    type: path
  trust_registry:
    description:
      - Whether an image without a digest is taken by that which its tag has in the registry when the run begins.
        RV(unpinned) names such images, and RV(digests) has their digests, by which later runs take them.
    type: bool
    default: false
  manifests_dir:
    description:
      - Folder into which M(metal3.baremetal.mirror_unpack) has put the rendered manifests of these pins.
      - They are applied as they are, so that a folder or file that others than root and the user of the module may
        write is refused.
    type: path
requirements:
  - skopeo
  - PyYAML >= 6.0
extends_documentation_fragment:
  - metal3.baremetal.registry
  - metal3.baremetal.attributes.without_diff
seealso:
  - module: metal3.baremetal.plane_programs
  - module: metal3.baremetal.mirror_unpack
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Take the programs out of the images of the site's registry
  metal3.baremetal.plane_image_programs:
    source_dir: "{{ role_path }}/../../lab/engine"
    registry: registry.example.org/mirror
    bill_file: /srv/metal3/bill.json
    manifests_dir: /srv/www/images
"""

RETURN = r"""
engine_dir:
  description: Cache folder of these programs, with C(bin) and the rendered manifests.
  returned: success
  type: str
  sample: /home/me/.cache/metal3.baremetal/engine/images-2f6c1b9a0d3e4f55
taken:
  description: Names of the programs that were taken, or would be in check mode.
  returned: success
  type: list
  elements: str
  sample: [etcd, kube-apiserver]
versions:
  description: Version of each program.
  returned: success
  type: dict
  sample: {kube-apiserver: v1.35.4}
digests:
  description: Digest of each image that a program was taken out of; in check mode of those of earlier runs.
  returned: success
  type: dict
  sample: {"registry.k8s.io/kube-apiserver:v1.35.4": "sha256:8f1c…"}
unpinned:
  description: Names of the images that are taken by the digest that the registry says, because nobody has given one.
  returned: success
  type: list
  elements: str
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
      description: A path, or the object as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "/var/cache/metal3.baremetal/engine/images-0123456789abcdef/bin/etcd", "action": "created"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._mirror.module import run_plane_image_programs


def main():
    """Run the module."""
    run_plane_image_programs()


if __name__ == "__main__":
    main()
