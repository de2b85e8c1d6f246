#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts manifests of Cluster API and CAPM3 from v1beta1 to v1beta2."""
from __future__ import annotations

DOCUMENTATION = r"""
module: manifest_conversion
short_description: Convert manifests of Cluster API and CAPM3 from v1beta1 to v1beta2
version_added: "0.1.0"
description:
  - Reads a site's own manifests, for example those in a Git repository, and writes the objects of Cluster API, its
    kubeadm providers and CAPM3 that are in C(v1beta1) as what they are in C(v1beta2). It needs no management cluster.
  - It follows the conversion functions of Cluster API 1.13 and CAPM3 1.13, with two differences. C(noCloudProvider),
    which those drop, becomes C(cloudProviderEnabled). And a C(false) that the manifest says is kept.
  - Converted are Cluster, Machine, MachineDeployment, MachineHealthCheck, KubeadmConfig, KubeadmConfigTemplate,
    KubeadmControlPlane, KubeadmControlPlaneTemplate, Metal3Cluster, Metal3ClusterTemplate, Metal3Machine,
    Metal3MachineTemplate, Metal3DataTemplate and Metal3RemediationTemplate, and patches of them that have
    C(apiVersion) and C(kind). Names stay, so that no machine is replaced when the result is applied.
  - What stays in C(v1beta1) is in RV(files[].kept) and a warning, other kinds and a Cluster with a C(topology) among
    it. What C(v1beta2) has no place for is left out, is in RV(files[].lost) and a warning.
  - Documents in which nothing is converted stay as they are. Comments in the others are left out.
options:
  src:
    description:
      - Path of a file, or of a folder, whose files ending with C(.yaml) or C(.yml) are converted, those of the folders
        in it too. Links and folders whose name begins with a dot are not followed.
      - A file that is no YAML is refused, such as a template of Helm; convert what comes out of it.
    type: path
    required: true
  dest:
    description:
      - Path of the file, or of the folder, that is written; O(src) itself to replace what is there. Only files in which
        something is converted are written. Without it nothing is.
      - Nobody may read a file that is written who may not read the one that it is made of.
    type: path
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Of the objects that are converted. Contents of files, commands, passwords and tokens are hidden.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.cluster_template
  - module: metal3.baremetal.manifests
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say what of a repository is still in v1beta1
  metal3.baremetal.manifest_conversion:
    src: clusters

- name: Convert it where it is
  metal3.baremetal.manifest_conversion:
    src: clusters
    dest: clusters
"""

RETURN = r"""
files:
  description: The files that have an object of Cluster API or CAPM3 in C(v1beta1).
  returned: success
  type: list
  elements: dict
  contains:
    path:
      description: Path in the folder O(src), or the file's name.
      type: str
      returned: always
    converted:
      description: The objects that are converted, by kind, namespace and name.
      type: list
      elements: str
      returned: always
    kept:
      description: Those that stay in C(v1beta1), as C(object), each with the C(reason).
      type: list
      elements: dict
      returned: always
    lost:
      description: What is left out, as C(object) and the path of the C(field).
      type: list
      elements: dict
      returned: always
  sample:
    - path: prod/cluster.yaml
      converted: [Cluster metal3/prod, KubeadmControlPlane metal3/prod]
      kept: []
      lost: [{object: KubeadmControlPlane metal3/prod, field: spec.kubeadmConfigSpec.useExperimentalRetryJoin}]
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

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.conversion.module import (
    run_manifest_conversion,
)


def main():
    """Run the module."""
    run_manifest_conversion()


if __name__ == "__main__":
    main()
