#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a bootstrap plane its figures, reads them, stops it or removes it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_site
short_description: Give a bootstrap plane its figures, stop it or remove it
version_added: "0.1.0"
description:
  - With O(state=present), checks what a site says of its bootstrap plane, a management plane of processes on this
    machine for real servers, and keeps all that follows from it in C(lab.json) in the plane's folder, with the folders
    that its programs need, all readable by their owner only.
  - Addresses, ports, folder, boot images and programs are checked together, before anything is written.
  - With O(state=absent), ends the plane's processes and deletes its folder with all data. It is refused while
    BareMetalHosts, Clusters or Machines are in the plane, and while its API server does not answer. It is refused, too,
    while its Ironic has nodes that are no BareMetalHosts, as the playbook C(ironic_nodes) makes them; an Ironic that
    does not answer is only reported.
  - With O(state=stopped), ends its processes and removes its systemd unit, and keeps the folder, so that it can be
    started again. It is refused while BareMetalHosts, Clusters or Machines are in the plane, too.
  - With O(state=found), only reads what was kept.
options:
  name:
    description:
      - Name of the plane, a lower case letter, then at most 19 lower case letters, digits or dashes.
      - Required unless O(state=found).
    type: str
  state:
    description: Whether the plane has figures, does not run, or nothing of it is left; V(found) only reads its figures.
    type: str
    choices: [present, stopped, absent, found]
    default: present
  dir:
    description: Absolute path of the folder that holds all of the plane, secrets too. Required with O(state=found).
    type: str
  address:
    description: IP address of this machine that BMCs and agents reach. Ironic and the image server listen on it.
    type: str
  kubernetes_address:
    description: IP address of this machine that the API server listens on, by default 127.0.0.1.
    type: str
  ports:
    description: Port of a part, part to port, for those that do not have the default.
    type: dict
    default: {}
  network_boot:
    description:
      - Whether firmware and iPXE get their files by plain HTTP, at the port C(network_boot) of O(ports). Without it the
        port is not taken, and need not be free.
    type: bool
    default: false
  ironic_separate:
    description:
      - Whether Ironic's conductors are processes of their own (C(ironic_processes=separate) of the role C(ironic)).
        Each listens on port 8089 of a loopback address, which must be free then.
    type: bool
    default: false
  boot_images:
    description: What servers boot the agent from, an ISO or kernel, ramdisk and boot loader.
    type: dict
    default: {}
    suboptions:
      kernel:
        description: URL of the kernel.
        type: str
      ramdisk:
        description: URL of the ramdisk.
        type: str
      bootloader:
        description: URL of an EFI system partition with the boot loader, as a file.
        type: str
      iso:
        description: URL of an ISO image.
        type: str
      external_url_v6:
        description: URL at which BMCs with an IPv6 address reach the folder that Ironic publishes virtual media in.
        type: str
  nginx_program:
    description: Path of nginx, the web server that serves images.
    type: path
    default: /usr/sbin/nginx
  source_dir:
    description: Folder with the engine's C(go.mod) and C(go.sum). Required with O(state=present).
    type: path
  services_python:
    description:
      - Python program of the environment that has Ironic and supervisor.
      - By default the environment that O(requirements_file) describes, which is created in the cache unless
        it is there. With O(state=present) one of the two is required.
    type: path
  requirements_file:
    description: Requirements file in which all packages of that environment are pinned.
    type: path
  programs:
    description:
      - Whether the plane runs the programs that M(metal3.baremetal.plane_programs) builds, or those that
        M(metal3.baremetal.plane_image_programs) takes out of images.
    type: str
    choices: [build, images]
    default: build
  service:
    description:
      - Whether a systemd unit, C(metal3-plane-<name>.service), starts the plane with this machine and again when it is
        killed.
      - V(system) is a unit of the machine's, which root writes; V(user) one of the user that runs this module, who must
        linger (C(loginctl enable-linger)), so that the unit does not end with the login; V(none) is no unit.
      - V(auto) is V(system) for root, V(user) for a user that lingers, and V(none) for others and where systemd is not
        the machine's init.
    type: str
    choices: [auto, none, user, system]
    default: auto
  confirm:
    description:
      - With O(state=absent), the number of programs that are stopped; V(1), for the folder, if none is configured.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.confirmation.planes
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give the bootstrap plane its figures
  metal3.baremetal.plane_site:
    name: rack1
    dir: /var/lib/metal3/rack1
    address: 192.0.2.10
    boot_images:
      iso: https://images.example.com/ipa.iso
    source_dir: "{{ role_path }}/../../lab/engine"
    requirements_file: "{{ role_path }}/../../lab/requirements.txt"

- name: Stop the bootstrap plane, from which everything has moved
  metal3.baremetal.plane_site:
    name: rack1
    dir: /var/lib/metal3/rack1
    state: stopped

- name: Leave nothing of the bootstrap plane
  metal3.baremetal.plane_site:
    name: rack1
    dir: /var/lib/metal3/rack1
    state: absent
    confirm: "11"

- name: Read where the bootstrap plane's Ironic is
  metal3.baremetal.plane_site:
    dir: /var/lib/metal3/rack1
    state: found
"""

RETURN = r"""
management_plane:
  description: The plane's figures, the contents of its C(lab.json); empty with O(state=found) when there are none.
  returned: when O(state=present) or O(state=found)
  type: dict
differing:
  description: Files and folders that were created, or would be in check mode.
  returned: when O(state=present)
  type: list
  elements: str
existed:
  description: Whether the plane had its figures before.
  returned: when O(state=present) or O(state=found)
  type: bool
service:
  description: What starts the plane with its machine.
  returned: when O(state=present)
  type: dict
  contains:
    kind:
      description: V(none), V(user) or V(system).
      type: str
    unit:
      description: Name of the unit, empty without one.
      type: str
    path:
      description: Its file, empty without one.
      type: str
    reason:
      description: Why O(service=auto) has chosen none, else empty.
      type: str
  sample:
    kind: system
    unit: metal3-plane-rack1.service
    path: /etc/systemd/system/metal3-plane-rack1.service
    reason: ""
removed:
  description: What was removed or ended.
  returned: when O(state=absent) or O(state=stopped)
  type: list
  elements: str
  sample: [process 4711, folder /var/lib/metal3/rack1]
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
  sample: [{"object": "/var/lib/metal3/rack1/lab.json", "action": "written"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.site_module import run_plane_site


def main():
    """Run the module."""
    run_plane_site()


if __name__ == "__main__":
    main()
