#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the images of the deploy agent, or takes them from elsewhere, and publishes them."""
from __future__ import annotations

DOCUMENTATION = r"""
module: agent_image
short_description: Build or download the deploy agent's ramdisk and publish it
version_added: "0.1.0"
description:
  - Builds the ramdisk that servers boot for inspection, cleaning and deployment. It has Debian 12 with its kernel, and
    C(ironic-python-agent) from PyPI, in the versions that a lock file with hashes pins.
  - What takes minutes to build goes to a cache folder, whose name depends on the recipe and on the options O(packages),
    O(debian_sources), O(python_requirements), O(kernel_modules) and O(revision), and on whether O(ssh_keys),
    O(ntp_servers) and O(rescue) are set; what is there is not built again. All other options are added to it in
    seconds.
  - The same recipe, options and Debian packages give the same bytes. Packages that Debian updated meanwhile do not
    count as
    a change; set another O(revision) to get them, and O(debian_sources) to stay with those of a day.
  - Writes C(vmlinuz), C(initrd), C(esp.img), C(snponly.efi) and C(agent.iso) to a folder that an image server reads,
    each
    with a checksum file that ends in C(.sha256). C(image.json) says what they were made from.
  - With O(downloads) nothing is built; the files are taken from URLs and verified.
  - A failed or interrupted run leaves what was published before.
  - Whoever can read the image server can read everything in the ramdisk. Put no private keys and no passwords into it.
options:
  directory:
    description: Folder that an image server reads. It is created if it is missing.
    type: path
    required: true
  source_dir:
    description: The collection's folder C(lab/agent_image). Required without O(downloads).
    type: path
  cache_dir:
    description:
      - Folder for what is slow to build, by default C(metal3.baremetal) in the user's cache folder.
      - One that others may write into is refused.
    type: path
  downloads:
    description: Files to take from elsewhere in place of a build. Options of a build are refused then.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the file in O(directory).
        type: str
        required: true
        choices: [vmlinuz, initrd, esp.img, snponly.efi, agent.iso]
      url:
        description: Address of the file, or of a tar archive that has it, with C(http) or C(https).
        type: str
        required: true
      checksum:
        description: C(sha256:) and 64 hexadecimal digits, of what is at the URL.
        type: str
        required: true
      member:
        description: Path of the file in the archive, when the URL is that of an archive.
        type: str
  ca_file:
    description: File with the certificate authority of O(downloads), by default those of this machine.
    type: path
  iso:
    description:
      - Whether to write C(agent.iso), which boots by UEFI, with secure boot, and by BIOS.
      - Ironic makes an ISO of its own for each boot by virtual media; this one is for C(DEPLOY_ISO_URL) and for
        starting a
        server by hand.
    type: bool
    default: true
  ca_certificates:
    description: Texts with certificate authorities in PEM form, which the agent trusts beside Debian's.
    type: list
    elements: str
    default: []
  ssh_keys:
    description:
      - Public keys that log in as root, as lines of an C(authorized_keys) file. With one an ssh server is installed.
      - Its host key is made at each boot; there is none in the image.
    type: list
    elements: str
    default: []
  root_password_hash:
    description:
      - Hash of a password with which root logs in on a console, for debugging, as C(openssl passwd -6) prints it.
        Without
        this option nobody can log in with a password.
      - By ssh it is never accepted. The hash can be read by whoever can read the image server.
    type: str
    default: ""
  rescue:
    description:
      - Whether servers can be rescued with this ramdisk, see V(rescue) of
        O(metal3.baremetal.ironic_node_action#module:action). Without it the agent refuses a rescue, and Ironic reports
        C(rescue failed).
      - There is no password in the ramdisk. With a rescue Ironic gives the agent the hash of
        O(metal3.baremetal.ironic_node_action#module:rescue_password); the agent ends, and the user C(rescue) is
        added, who logs in by ssh or on a console and may do everything by C(sudo). In any other use of the ramdisk
        there is no such user, and without O(ssh_keys) no ssh server runs.
      - An ssh server and C(sudo) are installed, about 3 MB.
    type: bool
    default: false
  packages:
    description: Debian packages to install beside those of the recipe, each with C(=<version>) where one is wanted.
    type: list
    elements: str
    default: []
  debian_sources:
    description:
      - Lines of a C(sources.list) in place of those of this machine, for example with a mirror's state of one day, from
        which a build can be repeated later.
    type: list
    elements: str
    default: []
  python_requirements:
    description: >-
      Text of a requirements file with Python packages to install beside the agent, for example with hardware
      managers, each
      with its version and hashes.
    type: str
    default: ""
  kernel_modules:
    description: >-
      Kernel modules to load at boot. They and what they depend on stay in the ramdisk, which has no drivers for
      sound, graphics,
      wireless networks and other hardware that no server is deployed with.
    type: list
    elements: str
    default: []
  kernel_parameters:
    description:
      - Parameters of the kernel, for example C(ipa-api-url=https://ironic.example.org:6385) and
        C(ipa-inspection-collectors=default,logs), without which the agent of O(iso) does not find Ironic and does not
        inspect.
      - They are written into C(agent.iso). For all other ways to boot, Ironic gives the parameters;
        RV(kernel_parameters) is
        what to put into its settings C(kernel_append_params).
    type: list
    elements: str
    default: []
  consoles:
    description: >-
      Consoles, for example C(ttyS0,115200n8), which become kernel parameters. The last one gets the system's
      messages.
    type: list
    elements: str
    default: []
  ntp_servers:
    description: Names or addresses of time servers, from which the clock is set before the agent starts.
    type: list
    elements: str
    default: []
  hardware_managers:
    description: Python files with hardware managers, which the agent loads.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the Python module, in lower case.
        type: str
        required: true
      class_name:
        description: Name of the hardware manager's class in the file.
        type: str
        required: true
      source:
        description: Path of the file on the target.
        type: path
      content:
        description: Its contents, in place of O(hardware_managers[].source).
        type: str
  files:
    description: Files to add to the ramdisk, or to replace in it.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path in the ramdisk, without links; for example C(/usr/lib) in place of C(/lib).
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
  network_data:
    description:
      - Network data of servers without DHCP, in the form of OpenStack's C(network_data.json). The agent uses the first
        document with the MAC address of one of the server's interfaces.
      - Only for servers that boot C(agent.iso), or by iPXE. On virtual media of Ironic's the data is that of the host's
        O(metal3.baremetal.baremetal_host#module:hosts[].preprovisioning_network_data), which comes first.
    type: list
    elements: dict
    default: []
  initramfs_limit_mb:
    description: >-
      Size of C(initrd), in MB of 1000000 bytes, above which nothing is published. GRUB reports "out of memory" for
      one of 200
      MB on a server with 4 GiB.
    type: int
    default: 100
  revision:
    description: Any text. Another one builds again, with the newest Debian packages.
    type: str
    default: ""
requirements:
  - root, and a machine of x86_64, for a build
  - mmdebstrap
  - cpio
  - zstd
  - mtools
  - dosfstools
  - xorriso, grub-common and grub-pc-bin for O(iso)
  - shim-signed, grub-efi-amd64-signed and ipxe of Debian
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Build and publish the deploy agent's images
  metal3.baremetal.agent_image:
    source_dir: "{{ playbook_dir }}/collections/ansible_collections/metal3/baremetal/lab/agent_image"
    directory: /srv/www/agent
    ca_certificates:
      - "{{ lookup('ansible.builtin.file', '/etc/ssl/site-ca.pem') }}"
    ssh_keys:
      - "{{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519.pub') }}"
    consoles: [tty0, "ttyS0,115200n8"]
    ntp_servers: [ntp.example.org]
    kernel_parameters: ["ipa-api-url=https://ironic.example.org:6385", "ipa-inspection-collectors=default,logs"]

- name: Add a hardware manager and the tool that it runs
  metal3.baremetal.agent_image:
    source_dir: "{{ playbook_dir }}/collections/ansible_collections/metal3/baremetal/lab/agent_image"
    directory: /srv/www/agent
    packages: [lldpd]
    hardware_managers:
      - name: site_hardware
        class_name: SiteHardwareManager
        source: /srv/agent/site_hardware.py

- name: Take a ramdisk that somebody else has built
  metal3.baremetal.agent_image:
    directory: /srv/www/agent
    downloads:
      - name: vmlinuz
        url: https://images.example.org/ipa-centos9.tar.gz
        checksum: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
        member: ipa-centos9.kernel
      - name: initrd
        url: https://images.example.org/ipa-centos9.tar.gz
        checksum: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
        member: ipa-centos9.initramfs
"""

RETURN = r"""
files:
  description: The published files, by name. In check mode, for files that would be written, only the path is known.
  returned: success
  type: dict
  contains:
    path:
      description: Path of the file.
      type: str
    sha256:
      description: Its checksum, hexadecimal.
      type: str
    size_bytes:
      description: Its size.
      type: int
  sample:
    vmlinuz:
      path: /srv/www/agent/vmlinuz
      sha256: 8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
      size_bytes: 8247232
published:
  description: Names of the files that had other contents or were missing; in check mode those that would be written.
  returned: success
  type: list
  elements: str
  sample: [vmlinuz, initrd, esp.img, snponly.efi, agent.iso]
kernel_parameters:
  description: Parameters of the kernel that follow from O(consoles) and O(kernel_parameters).
  returned: success, without O(downloads)
  type: str
  sample: console=tty0 console=ttyS0,115200n8 ipa-api-url=https://ironic.example.org:6385
image_dir:
  description: Cache folder with what takes minutes to build.
  returned: success, without O(downloads)
  type: str
  sample: /home/me/.cache/metal3.baremetal/agent-image/0c5d6a2f9b1e4d37
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
  sample: [{"object": "/srv/www/agent/vmlinuz", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._images.module import run_agent_image


def main():
    """Run the module."""
    run_agent_image()


if __name__ == "__main__":
    main()
