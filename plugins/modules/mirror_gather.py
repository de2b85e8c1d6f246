#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathers images and files for a site without the internet into one archive."""
from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_gather
short_description: Gather images and files for a site without the internet
version_added: "0.1.0"
description:
  - Copies the container images of the plane's parts, further images, and files such as the agent's ramdisk, a node
    image or manifests of a release into one archive, which M(metal3.baremetal.mirror_unpack) unpacks elsewhere.
  - The archive begins with its bill of materials, which names all of it by SHA-256, also as SPDX 2.3
    (C(bill.spdx.json)) and as CycloneDX 1.6 (C(bill.cdx.json)).
  - Images are copied byte for byte and for all architectures, so that their digests stay what upstream says. Each is
    asked for by the digest that its tag has at the beginning of the run.
  - A run that was cut goes on - images that are whole and the begun part of a file are kept in O(work_dir). Everything
    is read again and compared with its digest before the archive is written.
options:
  archive:
    description: Path of the archive.
    type: path
    required: true
  work_dir:
    description:
      - Folder for what is gathered. By default C(<archive>.d), which is removed when the archive is complete.
      - One that is there must be the own user's, and nobody else may write into it or exchange it.
    type: path
  release:
    description: What the archive is for, such as the collection's version. It is in the bill.
    type: str
    required: true
  parts:
    description: Parts of the plane, whose images are taken at the version that O(source_dir) pins.
    type: list
    elements: str
    choices: [cert_manager, capi, cabpk, kcp, ipam, bmo, capm3]
    default: [capi, cabpk, kcp, ipam, bmo, capm3]
  source_dir:
    description: Folder with the C(go.mod) that pins O(parts).
    type: path
  images:
    description:
      - Further images, by registry, path and tag. With C(@) and a digest behind its name the image that has it is
        gathered, whatever its tag stands for by now.
    type: list
    elements: str
    default: []
  image_lists:
    description:
      - Files that name further images, one in a line, such as what C(kubeadm config images list) prints with the
        kubeadm of the nodes' version. Empty lines and those that begin with C(#) are left out.
    type: list
    elements: path
    default: []
  cluster_add_ons:
    description:
      - What clusters of this collection have that brings images of its own, at the versions that it names -
        V(flannel) as O(metal3.baremetal.cluster#module:network_addon), V(kube-vip) as holder in
        O(metal3.baremetal.cluster#module:endpoint).
    type: list
    elements: str
    choices: [flannel, kube-vip]
    default: []
  planes:
    description:
      - Planes in clusters, whose images beside those of O(parts) are gathered without being named, as the playbook
        C(install) has them pulled. The playbook C(mirror_gather) reads them from its inventory.
    type: list
    elements: dict
    default: []
    suboptions:
      parts:
        description: Parts that are installed from manifests of their own, such as cert-manager.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Name of the part.
            type: str
            required: true
            choices: [cert_manager, capi, cabpk, kcp, ipam, bmo, capm3]
          version:
            description: Version that the manifests are of; without it the one that O(planes[].parts[].source_dir) pins.
            type: str
          source_dir:
            description: Folder with the C(go.mod) that pins the part.
            type: path
      ironic:
        description: The Ironic in the cluster, with options of M(metal3.baremetal.plane_ironic). None without one.
        type: dict
        suboptions:
          image_version:
            description: Tag of Ironic's image.
            type: str
            default: v35.0.0
          digest:
            description: Its digest.
            type: str
          images:
            description: Tags and digests of the images beside Ironic's own.
            type: dict
            suboptions:
              ipa_downloader: &image
                description: The image of that name.
                type: dict
                suboptions:
                  version:
                    description: Its tag; V(latest) without it.
                    type: str
                  digest:
                    description: Its digest.
                    type: str
              keepalived: *image
              mariadb: *image
          cache_url:
            description: Where the pod downloads the agent's ramdisk from, which it does by an image of its own.
            type: str
          keepalived:
            description: Whether keepalived gives a node Ironic's address.
            type: bool
            default: false
          mariadb:
            description: Whether the pod has a MariaDB.
            type: bool
            default: false
      ironic_operator:
        description:
          - An Ironic that the Ironic operator runs, with options of M(metal3.baremetal.plane_ironic_operator). None
            without one.
          - Its images are those of the resource, of its version, of flags and environment of the operator's
            Deployment, and of the operator's release, in this order.
        type: dict
        suboptions:
          manifests:
            description:
              - File with the manifests that the operator is installed from, such as C(install.yaml) of its release,
                with the ConfigMap of its environment. Its images are gathered as well.
              - Without it only what the resource says is known; a warning names the rest.
            type: path
          registry_mirror:
            description: Registry, and path if any, of the site, behind which images are gathered by upstream's names.
            type: str
          version:
            description: Version of Ironic in the resource.
            type: str
          images:
            description: Images in the resource.
            type: dict
            suboptions:
              ironic:
                description: Image of Ironic.
                type: str
              keepalived:
                description: Image of keepalived.
                type: str
              deploy_ramdisk_downloader:
                description: Image that downloads the agent's ramdisk.
                type: str
          disable_downloader:
            description: Whether the pod downloads no ramdisk.
            type: bool
            default: false
          keepalived:
            description: Whether keepalived gives a node Ironic's address.
            type: bool
            default: false
          other_images:
            description: Images of containers that the resource adds.
            type: list
            elements: str
            default: []
  files:
    description: Files to download.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name in the archive, and on the image server.
        type: str
        required: true
      url:
        description: Where it is, HTTP or HTTPS.
        type: str
        required: true
      checksum:
        description: C(sha256:) and its checksum.
        type: str
        required: true
  files_ca_file:
    description: File with the certificate authority of the servers of O(files); the system's by default.
    type: path
  source_registry:
    description:
      - Registry, and path if any, that images are read from in place of their own, with their whole name behind it,
        such as V(mirror.example.org/all) for C(mirror.example.org/all/quay.io/metal3-io/…).
    type: str
    default: ""
  programs:
    description:
      - Whether the images are gathered that a plane of processes takes its programs out of, at the versions that
        O(source_dir) pins; see M(metal3.baremetal.plane_image_programs).
    type: bool
    default: false
  manifests:
    description:
      - Whether the manifests of the plane's parts are gathered that M(metal3.baremetal.plane_programs) has rendered of
        O(source_dir), for a site where nothing can be rendered.
    type: bool
    default: false
  cache_dir:
    description:
      - Where they were rendered, by default C(metal3.baremetal) in E(XDG_CACHE_HOME) or in C(~/.cache).
    type: path
  folders:
    description:
      - Folders of this machine whose files are gathered, such as one that C(pip download) has filled with the packages
        of Ironic. A link in one is refused.
    type: list
    elements: path
    default: []
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
  - module: metal3.baremetal.mirror_unpack
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Gather the plane, Ironic and the agent's ramdisk
  metal3.baremetal.mirror_gather:
    archive: /srv/metal3.tar
    release: 0.1.0
    source_dir: "{{ playbook_dir }}/../lab/engine"
    planes:
      - parts:
          - name: cert_manager
            version: v1.21.2
        ironic:
          keepalived: true
    files:
      - name: ipa.initramfs
        url: https://images.example.org/ipa.initramfs
        checksum: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
"""

RETURN = r"""
archive:
  description: Path of the archive.
  returned: success
  type: str
  sample: /srv/metal3.tar
bill:
  description: What is in the archive; its C(files[].bytes) is 0 in check mode.
  returned: success
  type: dict
  sample:
    format: 1
    release: 0.1.0
    images: [{name: "quay.io/metal3-io/ip-address-manager:v1.13.2", digest: "sha256:8f1c…"}]
    files: []
checksum:
  description:
    - Checksum of the bill, which M(metal3.baremetal.mirror_unpack) takes. It stands for all of the archive.
    - V(null) when check mode predicts a change.
  returned: success
  type: str
  sample: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
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

from ansible_collections.metal3.baremetal.plugins.module_utils._mirror.module import run_mirror_gather


def main():
    """Run the module."""
    run_mirror_gather()


if __name__ == "__main__":
    main()
