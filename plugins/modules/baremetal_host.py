#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes, changes, provisions and deletes BareMetalHosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: baremetal_host
short_description: Enrol, change, provision and delete bare metal hosts
version_added: "0.1.0"
description:
  - Takes a list of hosts and creates or changes their BareMetalHost objects (C(metal3.io/v1alpha1)) and the Secrets
    with their BMC credentials and config drive data.
  - The whole list is checked before anything is written, by itself and against the hosts that are there; all faults are
    reported at once, each with host, option, what was found, what was expected and the next step.
  - Current objects are read by one request, only differences are written, side by side.
  - With O(wait_for) it waits for all hosts on one watch. When the module runs on the controller, progress is printed
    while it waits. A host that can't get to the goal ends its part of the wait early, with the cause.
  - Options of a host that are left out leave their field as it is; empty ones (C({}), C([]), C("")) remove it.
  - >-
    A host in use (it has a C(consumerRef)) is protected: O(hosts[].online), O(hosts[].image),
    O(hosts[].custom_deploy), O(hosts[].user_data), O(hosts[].network_data) and O(hosts[].meta_data) stay as they are,
    so does O(hosts[].consumer_ref) that was not set by this module, and the host is neither deleted nor detached for a
    change of its BMC, unless it is named in O(force_hosts).
options:
  namespace:
    description: Namespace of the hosts and their Secrets.
    type: str
    default: metal3
  create_namespace:
    description: Whether to make the namespace when it is missing.
    type: bool
    default: false
  hosts:
    description:
      - The hosts, with the fields of the BareMetalHost's C(spec) as in its CRD, in snake case
        (C(bootMACAddress) is O(hosts[].boot_mac_address)).
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description:
          - Name of the host.
          - No UUID; lower case letters, digits, C(-) and C(.).
        type: str
        required: true
      state:
        description:
          - Whether the host must exist.
          - >-
            V(absent) deletes the BareMetalHost; the operator deprovisions and powers off the server first, and the
            Secrets go with the host.
          - With V(absent), O(wait_for) must be V(deleted) or be left out. A host that is paused, or detached so that
            its deletion waits, is refused, because its server would be wiped later, when somebody resumes or attaches
            it.
        type: str
        choices: [present, absent]
        default: present
      labels:
        description:
          - Labels. Those that this module set before and that are not given any more are removed; others stay.
          - When the option is left out, labels stay as they are.
        type: dict
      annotations:
        description:
          - Annotations, treated as O(hosts[].labels).
        type: dict
      online:
        description:
          - Whether the server must be powered on. A new host is V(true).
          - An image is only written to a host with O(hosts[].online=true).
        type: bool
      bmc:
        description:
          - Baseboard management controller.
        type: dict
        suboptions:
          address:
            description:
              - Address with a scheme that names the driver, for example
                V(redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1).
              - >-
                C(ipmi) and C(libvirt); each of C(redfish), C(ilo5-redfish), C(idrac-redfish),
                C(redfish-virtualmedia), C(ilo5-virtualmedia), C(idrac-virtualmedia) and C(redfish-uefihttp), bare
                (https) or with C(+http) or C(+https). Without a scheme it is IPMI.
              - Changes while the host is registering, and else with O(allow_detach).
            type: str
          username:
            description:
              - User name for the BMC. With O(hosts[].bmc.password) the module creates the credentials Secret.
            type: str
          password:
            description:
              - Password for the BMC. Never shown.
            type: str
          credentials_name:
            description:
              - Name of the credentials Secret (keys C(username) and C(password)).
              - Without user name and password it must exist; with them it is the name of the Secret to create,
                C(<name>-bmc-secret) by default.
            type: str
          disable_certificate_verification:
            description:
              - Whether Ironic does not verify the BMC's TLS certificate. Changes as O(hosts[].bmc.address) does.
            type: bool
      boot_mac_address:
        description:
          - MAC address of the NIC that the server boots from. Can't be changed once it is set.
          - Needed by all schemes but C(ipmi) and virtual media, and by all when inspection is disabled.
        type: str
      boot_mode:
        description:
          - How the server boots; UEFI when never set.
        type: str
        choices: [UEFI, UEFISecureBoot, legacy, ""]
      description:
        description:
          - A text for users.
        type: str
      architecture:
        description:
          - CPU architecture, for example V(x86_64); else taken from inspection.
        type: str
      automated_cleaning_mode:
        description:
          - Whether partition tables are wiped when the host is enrolled and deprovisioned.
        type: str
        choices: [metadata, disabled, ""]
      inspection_mode:
        description:
          - Whether the server's hardware is inspected.
        type: str
        choices: [agent, disabled, ""]
      disable_power_off:
        description:
          - Never power the server off, only reboot it.
        type: bool
      externally_provisioned:
        description:
          - The server runs something that was not put there by the operator. Can only be set on a new or an available
            host and never be taken back. An O(hosts[].image) beside it is only kept.
        type: bool
      consumer_ref:
        description:
          - What uses the host. Set by Cluster API's provider; by hand, it reserves the host.
        type: dict
        suboptions:
          api_version:
            description:
              - API version of the consumer.
            type: str
          kind:
            description:
              - Kind of the consumer.
            type: str
          name:
            description:
              - Name of the consumer.
            type: str
          namespace:
            description:
              - Namespace of the consumer.
            type: str
          field_path:
            description:
              - Part of the consumer that is meant.
            type: str
          resource_version:
            description:
              - Resource version of the consumer.
            type: str
          uid:
            description:
              - UID of the consumer.
            type: str
      root_device_hints:
        description:
          - Which disk the image goes to; all hints given must match.
        type: dict
        suboptions: &root_device_hints
          device_name:
            description:
              - Path in C(/dev/) or C(/dev/disk/by-path/).
            type: str
          hctl:
            description:
              - SCSI address like V(0:0:0:0).
            type: str
          model:
            description:
              - Part of the model's name.
            type: str
          vendor:
            description:
              - Part of the vendor's name.
            type: str
          serial_number:
            description:
              - Serial number.
            type: str
          min_size_gigabytes:
            description:
              - Least size in gigabytes.
            type: int
          wwn:
            description:
              - World wide name.
            type: str
          wwn_with_extension:
            description:
              - World wide name with the vendor's extension.
            type: str
          wwn_vendor_extension:
            description:
              - The vendor's extension of the world wide name.
            type: str
          rotational:
            description:
              - Whether the disk is a rotating one.
            type: bool
      raid:
        description:
          - RAID volumes to make when the host is prepared. Hardware or software volumes, not both; hardware RAID
            needs a Redfish scheme.
          - An available host is prepared again when they change, and all its volumes of that kind are made once more,
            which loses what is on them. The Bare Metal Operator 0.13 does it to no host that has an image.
          - With O(wait_for=available) the wait ends when it has.
        type: dict
        suboptions:
          hardware_raid_volumes:
            description:
              - Volumes of the RAID controller. An empty list deletes all that it has; without the option, and without
                O(hosts[].raid), the operator leaves them as they are.
              - Ironic 39 does not notice when a controller that makes volumes at the next boot fails at that. The host
                is available then, without the volume.
            type: list
            elements: dict
            suboptions:
              level:
                description:
                  - RAID level. Ironic 39 makes no V(2) by Redfish, so that it is refused; V(1) takes two disks.
                type: str
                required: true
                choices: ["0", "1", "2", "5", "6", "1+0", "5+0", "6+0"]
              size_gibibytes:
                description:
                  - Size in gibibytes. Left out, it is all there is, which can only be had of named C(physical_disks).
                type: int
              name:
                description:
                  - Name of the volume.
                type: str
              rotational:
                description:
                  - Whether to take rotating or solid-state disks; any by default.
                type: bool
              number_of_physical_disks:
                description:
                  - How many disks to use.
                type: int
              controller:
                description:
                  - Name of the RAID controller. Ironic 39 does not compare it with anything; which controller it is
                    follows from the disks.
                type: str
              physical_disks:
                description:
                  - Names of the disks to use, C(Id) of the drives at the BMC; needs C(controller).
                type: list
                elements: str
          software_raid_volumes:
            description:
              - Volumes of Linux' software RAID, at most two; the first must be RAID 1.
            type: list
            elements: dict
            suboptions:
              level:
                description:
                  - RAID level.
                type: str
                required: true
                choices: ["0", "1", "1+0"]
              size_gibibytes:
                description:
                  - Size in gibibytes; all there is when left out or 0.
                type: int
              physical_disks:
                description:
                  - Hints for the disks to use, at least two.
                type: list
                elements: dict
                suboptions: *root_device_hints
      image:
        description:
          - Image to write to the server's disk. Ignored with O(deploy=false).
          - Another URL on a provisioned host deprovisions it and writes the new image. A change of anything else does
            nothing until the host is deprovisioned and provisioned again; the module warns of it.
          - Left out, the host keeps what it has; an empty dictionary removes the image, which deprovisions the host.
        type: dict
        suboptions:
          url:
            description:
              - >-
                URL of the image: http, https, ftp, gopher, file or oci.
            type: str
          checksum:
            description:
              - Checksum, or the URL of a checksum file. Needed except for C(live-iso) and oci images.
            type: str
          checksum_type:
            description:
              - Kind of the checksum; when never set, its length decides.
            type: str
            choices: [md5, sha256, sha512, auto]
          format:
            description:
              - Format of the image. V(live-iso) is booted and not written.
            type: str
            choices: [raw, qcow2, vdi, vmdk, live-iso]
          oci_auth_secret_name:
            description:
              - Name of a Secret with registry credentials, for oci images.
            type: str
      custom_deploy:
        description:
          - Custom deploy method, in place of an image. Ignored with O(deploy=false); left out and empty as for
            O(hosts[].image).
        type: dict
        suboptions:
          method:
            description:
              - Name of the method, as the deploy ramdisk knows it.
            type: str
      user_data:
        description:
          - User data (cloud-config) for the config drive. Ignored with O(deploy=false); left out and empty as for
            O(hosts[].image).
        type: dict
        suboptions:
          name:
            description:
              - Name of the Secret. Without C(content) it must exist; with it, it is the name of the Secret to create,
                C(<name>-user-data) by default. A Secret of that name that others have made is refused, and so is other
                content for one that hosts outside of the run have.
            type: str
          content:
            description:
              - The data itself, as text; pass a dictionary through the filter C(to_json). The module creates a Secret,
                which goes away with the host. Never shown.
            type: str
      network_data:
        description:
          - Network data (OpenStack's format) for the config drive, as O(hosts[].user_data).
          - Links that cannot stand on one another and second default routes are refused, in JSON, in YAML and in a
            Secret that is there.
        type: dict
        suboptions:
          name:
            description:
              - Name of the Secret. Without C(content) it must exist; with it, it is the name of the Secret to create,
                C(<name>-network-data) by default. A Secret of that name that others have made is refused, and so is
                other content for one that hosts outside of the run have.
            type: str
          content:
            description:
              - The data itself, as text; pass a dictionary through the filter C(to_json). The module creates a Secret,
                which goes away with the host. Never shown.
            type: str
      meta_data:
        description:
          - Meta data for the config drive, as O(hosts[].user_data).
        type: dict
        suboptions:
          name:
            description:
              - Name of the Secret. Without C(content) it must exist; with it, it is the name of the Secret to create,
                C(<name>-meta-data) by default. A Secret of that name that others have made is refused, and so is other
                content for one that hosts outside of the run have.
            type: str
          content:
            description:
              - The data itself, as text; pass a dictionary through the filter C(to_json). The module creates a Secret,
                which goes away with the host. Never shown.
            type: str
      preprovisioning_network_data:
        description:
          - Network data for the deploy ramdisk, checked as O(hosts[].network_data), and for what Ironic requires of it.
          - YAML and Secrets that have none of C(links), C(networks) and C(services) are taken for the format of a
            controller that builds the ramdisk's images.
        type: dict
        suboptions:
          name:
            description:
              - Name of the Secret. Without C(content) it must exist; with it, it is the name of the Secret to create,
                C(<name>-preprovisioning-network-data) by default. A Secret of that name that others have made is
                refused, and so is other content for one that hosts outside of the run have.
            type: str
          content:
            description:
              - The data itself, as text; pass a dictionary through the filter C(to_json). The module creates a Secret,
                which goes away with the host. Never shown.
            type: str
      firmware:
        description:
          - Old firmware settings; no driver of current releases takes them, so any value is refused.
        type: dict
        suboptions:
          simultaneous_multithreading_enabled:
            description:
              - Simultaneous multithreading.
            type: bool
          sriov_enabled:
            description:
              - SR-IOV.
            type: bool
          virtualization_enabled:
            description:
              - Virtualization support.
            type: bool
      hardware_profile:
        description:
          - Name of a hardware profile; deprecated upstream. Of a host without O(hosts[].root_device_hints) it says
            which disk the image goes to.
          - V(empty) lets the deploy agent take the smallest disk of 4 GiB or more, for example an array of software
            RAID. Without a profile it is C(/dev/sda). A change after the first inspection has no effect.
        type: str
      taints:
        description:
          - Taints; deprecated upstream, without effect.
        type: list
        elements: dict
        suboptions:
          key:
            description:
              - Key of the taint.
            type: str
            required: true
          effect:
            description:
              - >-
                V(NoSchedule), V(PreferNoSchedule) or V(NoExecute).
            type: str
            required: true
          value:
            description:
              - Value of the taint.
            type: str
          time_added:
            description:
              - When the taint was added.
            type: str
  deploy:
    description:
      - Whether to apply the options that deploy something (O(hosts[].image), O(hosts[].custom_deploy),
        O(hosts[].user_data), O(hosts[].network_data), O(hosts[].meta_data)).
      - V(false) checks them and leaves the hosts' fields as they are, so that hosts can be enrolled from an inventory
        that also says what is to be deployed.
    type: bool
    default: true
  force_hosts:
    description: Names of hosts that may be changed, detached or deleted although they have a consumer.
    type: list
    elements: str
    default: []
  allow_detach:
    description:
      - Whether a host that is available or provisioned is detached when its BMC changes (O(hosts[].bmc.address),
        O(hosts[].bmc.disable_certificate_verification)), and attached again. What runs on the server goes on; its node
        in Ironic is created again.
      - A host that is still registering is detached for such a change in any case, because the operator informs Ironic
        of it only so.
      - A host in use must be named in O(force_hosts) as well.
    type: bool
    default: false
  allow_deprovision:
    description:
      - Whether a provisioned host may lose what is deployed on it, because its image is removed or has another URL, or
        its custom deployment is removed or has another method. What is on the server's disks is lost with it.
      - Without it such a change is refused before anything is written. Of hosts in use nothing is taken unless they
        are named in O(force_hosts) as well.
      - The same holds for a host that an ended run has left detached for a change of its BMC, and whose image or custom
        deployment somebody has changed since; this run attaches it.
    type: bool
    default: false
  allow_power_off:
    description:
      - Whether a host that is provisioned or externally provisioned may be powered off by O(hosts[].online=false).
      - Without it such a change is refused before anything is written. The power of hosts in use is not changed unless
        they are named in O(force_hosts) as well.
      - The same holds for a host that an ended run has left detached for a change of its BMC, and that has been given
        C(spec.online) C(false) or an annotation C(reboot.metal3.io) since; this run attaches it.
    type: bool
    default: false
  delete_only_detached:
    description:
      - Whether only detached hosts may be deleted, whose servers go on running. One that is attached by then, for
        example by somebody else after M(metal3.baremetal.baremetal_host_action) has detached it, would be powered off
        and cleaned; it is refused.
      - In check mode it has no effect, because what check mode detaches stays attached.
    type: bool
    default: false
  refuse_protected:
    description:
      - Whether an entry is refused when one of its options would not be applied, because the host is in use and not
        named in O(force_hosts). Without it the field stays as it is, and RV(hosts[].protected) names the option.
    type: bool
    default: false
  confirm_names:
    description:
      - Names of the servers that the variable C(metal3_confirm) of the playbooks is about. With them, a refusal for
        want of O(allow_deprovision) or O(allow_power_off) says what to set C(metal3_confirm) to, and not which option.
    type: list
    elements: str
  confirm_among:
    description: Names of all servers of the play, for O(confirm_names), when it runs in several batches (C(serial)).
    type: list
    elements: str
    default: []
  confirm_playbook:
    description:
      - Name of the playbook that takes C(metal3_confirm), for O(confirm_names), when it is not the one that runs.
    type: str
    default: ""
  check_images:
    description:
      - Whether image servers are asked, by HTTP and before anything is written, whether the images are there and their
        checksum files speak of them. Only images that a host does not have yet are asked for.
      - With O(ironic_pod) the servers are asked from there, too, whether they answer for these URLs. Logins and queries
        of URLs are left out of that question, and certificates are not looked at.
    type: bool
    default: false
  image_ca_file:
    description: File with the certificate authority of the image servers, for O(check_images). The system's by default.
    type: path
  field_names:
    description:
      - How errors name fields. V(options) by the options of this module, V(variables) by the inventory variables from
        which the filter P(metal3.baremetal.host_entries#filter) makes the list, and by the variables of the role
        P(metal3.baremetal.hosts#role).
    type: str
    choices: [options, variables]
    default: options
  wait_for:
    description:
      - State to wait for; nothing is waited for by default.
      - V(registered) requires that the BMC's credentials are verified.
      - V(inspected) requires that the hardware is known, or inspection disabled.
      - V(available) requires that the host is ready for an image. A host that has been through it and holds its image,
        is getting it, or is externally provisioned, counts too.
      - V(provisioned) requires that the host's image is on its disk and the deployment is done.
      - V(deleted) requires that the BareMetalHost is gone. It deletes nothing by itself; each host of the list must be
        O(hosts[].state=absent).
    type: str
    choices: [registered, inspected, available, provisioned, deleted]
  system_port:
    description:
      - TCP port, for example V(22), on which the system of each host must answer before it counts as provisioned, with
        O(wait_for=provisioned). The operator calls a host provisioned when the server was set to boot from its disk
        and powered on.
      - The progress says how far the system has booted where O(boot_consoles) has its console.
      - V(0), or no port, waits for no system.
    type: int
  system_addresses:
    description:
      - Addresses of the systems by the name of the BareMetalHost, for O(system_port), as the machine on which the
        module runs reaches them. A host without one is asked by its name.
    type: dict
    default: {}
  wait_timeout_seconds:
    description:
      - How long to wait in all. An API server that does not answer is tried until then.
    type: int
    default: 1800
  error_limit:
    description:
      - The operator tries again by itself after an error. This many errors in one run end the wait for a host; errors
        that no new attempt can cure (such as refused credentials) end it at once.
      - An error from before the run counts when it still stands after 180 seconds.
    type: int
    default: 3
  show_table:
    description: Whether to print a table of the hosts at the end, when the module runs on the controller.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.boot
  - metal3.baremetal.ironic.suboptions
  - metal3.baremetal.ironic_pod
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server checks the changes by a dry run. Goals are not waited for.
  diff_mode:
    support: full
    details:
      - Values in Secrets are shown as marks that differ when the value changes.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.baremetal_host_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Enrol two servers and wait until they can be used
  metal3.baremetal.baremetal_host:
    namespace: metal3
    hosts:
      - name: rack1-01
        boot_mac_address: "00:5c:52:31:3a:01"
        bmc:
          address: redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1
          username: admin
          password: "{{ vault_bmc_password }}"
        root_device_hints:
          min_size_gigabytes: 200
      - name: rack1-02
        boot_mac_address: "00:5c:52:31:3a:02"
        bmc:
          address: redfish-virtualmedia://192.0.2.12/redfish/v1/Systems/1
          credentials_name: rack1-02-bmc
    wait_for: available

- name: Provision a server without Cluster API
  metal3.baremetal.baremetal_host:
    hosts:
      - name: rack1-01
        online: true
        image:
          url: http://192.0.2.1/images/debian.qcow2
          checksum: http://192.0.2.1/images/debian.qcow2.sha256sum
          checksum_type: sha256
          format: qcow2
        user_data:
          content: "{{ lookup('ansible.builtin.template', 'user-data.yml.j2') }}"
    wait_for: provisioned

- name: Deprovision it
  metal3.baremetal.baremetal_host:
    hosts:
      - name: rack1-01
        image: {}
        user_data: {}
    allow_deprovision: true
    wait_for: available

- name: Delete a host
  metal3.baremetal.baremetal_host:
    hosts:
      - name: rack1-02
        state: absent
    wait_for: deleted
"""

RETURN = r"""
hosts:
  description:
    - Each host of the list, in its order.
    - Only C(name), C(state), C(action), C(changed), C(failed) and C(error) when a host failed.
  returned: when the list was accepted
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
    changed:
      description: Whether something of the host changed.
      type: bool
      returned: always
    failed:
      description: Whether the host could not be written or did not get to the goal.
      type: bool
      returned: always
    error:
      description: What went wrong, and the next step; empty when nothing did.
      type: str
      returned: always
    protected:
      description: Options that were given but not applied because the host has a consumer.
      type: list
      elements: str
      returned: success
    seconds:
      description: How long the host took to get to the goal, in seconds.
      type: float
      returned: success
    state:
      description: Provisioning state, V(new) before the operator has read the host, V(absent) when there is none.
      type: str
      returned: always
    powered_on:
      description: Whether the server is powered on.
      type: bool
      returned: when the host exists
    hardware:
      description: Inspected hardware, empty before inspection. See M(metal3.baremetal.baremetal_host_info).
      type: dict
      returned: when the host exists
  sample:
    - {name: rack1-01, action: created, changed: true, failed: false, error: "", state: available, seconds: 61.2}
counts:
  description: How many hosts were created, updated, deleted or left unchanged, and how many failed.
  returned: when the list was accepted
  type: dict
  sample: {total: 2, created: 2, updated: 0, deleted: 0, unchanged: 0, failed: 0}
seconds:
  description: How long the module worked, in seconds.
  returned: when the list was accepted
  type: float
  sample: 61.4
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
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
written:
  description: What the run had stored before it failed, objects of other kinds included.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "BareMetalHost metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._host.module import run_baremetal_host


def main():
    """Run the module."""
    run_baremetal_host()


if __name__ == "__main__":
    main()
