# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad hosts are refused before anything is written, by name, field and cause."""
from __future__ import annotations

import base64
import json
import re

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems import problem as common_problem
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import fields as host_fields
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import validation as host_validation

ADDRESS = "redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1"
SUM = "http://192.0.2.1/image.sha256sum"
SHA256 = "a" * 64


def host(**changes):
    """Return a host without fault, changed; ``bmc`` is merged."""
    entry = {"name": "h1", "state": "present", "boot_mac_address": "00:5c:52:31:3a:01",
             "bmc": dict({"address": ADDRESS, "username": "admin", "password": "secret-word"},
                         **changes.pop("bmc", {}))}
    entry.update(changes)
    return entry


def image(**values):
    return dict({"url": "http://192.0.2.1/image.qcow2", "checksum": SUM}, **values)


def volume(level, **values):
    """Return a hardware RAID volume of a size."""
    return dict({"level": level, "size_gibibytes": 5}, **values)


@pytest.mark.parametrize("entry", [
    host(),
    host(name="rack1-01.example.org"),
    host(boot_mac_address="00:5C:52:AA:BB:CC"),
    host(boot_mac_address=None),
    host(bmc={"username": None, "password": None, "credentials_name": "shared"}),
    host(image=image()),
    host(image=image(checksum=SHA256)),
    host(image=image(checksum=SHA256, checksum_type="sha256")),
    host(image={"url": "http://192.0.2.1/live.iso", "format": "live-iso"}),
    host(image={"url": "oci://registry.example.org/image:1"}),
    host(image={"url": None, "checksum": None}),
    host(root_device_hints={"device_name": "/dev/disk/by-path/pci-0000:01:00.0-scsi-0:2:0:0", "hctl": "0:0:0:0"}),
    host(raid={"software_raid_volumes": [{"level": "1", "size_gibibytes": 10}, {"level": "0"}]}),
    host(raid={"hardware_raid_volumes": [{"level": "5", "controller": "c", "physical_disks": ["a", "b", "c"],
                                          "number_of_physical_disks": 3}]}),
    host(raid={"hardware_raid_volumes": []}),
    host(raid={"hardware_raid_volumes": [volume("1+0", number_of_physical_disks=6), volume("1", name="data")]}),
    host(annotations={"reboot.metal3.io": '{"mode": "hard"}', "baremetalhost.metal3.io/detached": "yes"}),
    host(boot_mode="UEFISecureBoot"),
    host(boot_mode="", inspection_mode="", automated_cleaning_mode=""),
    host(disable_power_off=True, online=True),
    host(network_data={"content": '{"links": []}'}, user_data={"content": "#cloud-config\n"}),
    {"name": "h1", "state": "present"},
    {"name": "h1", "state": "absent"},
])
def test_hosts_without_fault(entry):
    assert host_validation.check_values([dict(entry)]) == []
    assert host_validation.check_list([entry]) == []


# One fault each: the entry, the field that must be named, and a part of the message.
# Options that take any text, or the values of a list that the argument spec has.
ANYTHING = {"architecture", "automated_cleaning_mode", "consumer_ref", "description", "disable_power_off",
            "externally_provisioned", "hardware_profile", "meta_data", "state"}
SINGLE = [
    (host(name=None), "name", "a name"),
    (host(name="Rack1"), "name", "lower case"),
    (host(name="rack_1"), "name", "lower case"),
    (host(name="-rack"), "name", "lower case"),
    (host(name="a..b"), "name", "lower case"),
    (host(name="x" * 254), "name", "at most 253"),
    (host(name="1b4e28ba-2fa1-11d2-883f-0016d3cca427"), "name", "no UUID"),
    (host(bmc={"address": "redfsh://192.0.2.1/x"}), "bmc.address", "perhaps redfish"),
    (host(bmc={"address": "ilo5://192.0.2.1"}), "bmc.address", "BMO 0.12"),
    (host(bmc={"address": "redfish-virtualmedia://my-.example.org/x"}), "bmc.address", "DNS host name"),
    (host(bmc={"address": "redfish-virtualmedia://192.0.2.1:99999/x"}), "bmc.address", "a port"),
    (host(bmc={"address": "redfish-virtualmedia://root:pw@192.0.2.1/x"}), "bmc.address", "without user name"),
    (host(bmc={"password": None}), "bmc.password", "bmc.username is given"),
    (host(bmc={"password": ""}), "bmc.password", "bmc.username is given"),
    (host(bmc={"username": None}), "bmc.username", "bmc.password is given"),
    (host(bmc={"username": None, "password": None}), "bmc", "credentials_name"),
    (host(bmc={"address": None}), "bmc.address", "credentials are given"),
    (host(bmc={"password": "secret-word\n"}), "bmc.password", "control characters"),
    (host(bmc={"address": "ipmi://192.0.2.1", "password": "p" * 21}), "bmc.password", "at most 20 bytes"),
    (host(bmc={"address": "ipmi://192.0.2.1", "username": "ü" * 9}), "bmc.username", "at most 16 bytes"),
    (host(bmc={"username": None, "password": None, "credentials_name": "My Secret"}), "bmc.credentials_name",
     "a Secret's name"),
    (host(bmc={"address": "redfish+http://192.0.2.1/x", "disable_certificate_verification": True}),
     "bmc.disable_certificate_verification", "does not use TLS"),
    (host(boot_mac_address="00:5c:52:31:3a"), "boot_mac_address", "six pairs"),
    (host(boot_mac_address="00-5c-52-31-3a-01"), "boot_mac_address", "six pairs"),
    (host(boot_mac_address="00:5c:52:zz:3a:01"), "boot_mac_address", "six pairs"),
    (host(boot_mac_address=""), "boot_mac_address", "six pairs"),
    (host(boot_mac_address="ff:ff:ff:ff:ff:ff"), "boot_mac_address", "not a group or broadcast"),
    (host(boot_mac_address="01:00:5e:00:00:01"), "boot_mac_address", "not a group or broadcast"),
    (host(boot_mac_address="00:00:00:00:00:00"), "boot_mac_address", "not all zeros"),
    (host(boot_mac_address=None, bmc={"address": "redfish://192.0.2.1/x"}), "boot_mac_address", "redfish needs"),
    (host(boot_mac_address=None, bmc={"address": "libvirt://192.0.2.1"}), "boot_mac_address", "libvirt needs"),
    (host(boot_mac_address=None, inspection_mode="disabled"), "boot_mac_address", "without inspection"),
    (host(boot_mac_address=None, annotations={"inspect.metal3.io": "disabled"}), "boot_mac_address",
     "without inspection"),
    (host(boot_mode="UEFISecureBoot", bmc={"address": "ipmi://192.0.2.1"}), "boot_mode", "secure boot"),
    (host(boot_mode="legacy", bmc={"address": "redfish-uefihttp://192.0.2.1/x"}), "boot_mode", "UEFI HTTP"),
    (host(root_device_hints={"device_name": "sda"}), "root_device_hints.device_name", "below /dev/"),
    (host(root_device_hints={"device_name": "/dev/"}), "root_device_hints.device_name", "below /dev/"),
    (host(root_device_hints={"device_name": "/dev/disk/by-id/x"}), "root_device_hints.device_name", "by-path"),
    (host(root_device_hints={"hctl": "0:0:0"}), "root_device_hints.hctl", "four numbers"),
    (host(root_device_hints={"min_size_gigabytes": -1}), "root_device_hints.min_size_gigabytes", "at least 0"),
    (host(image={"url": "http://192.0.2.1/image.raw"}), "image.checksum", "a checksum"),
    (host(image={"checksum": SUM}), "image.url", "the image's URL"),
    (host(image=image(url="/srv/image.raw")), "image.url", "a URL"),
    (host(image=image(url="nfs://192.0.2.1/image.raw")), "image.url", "a URL"),
    (host(image=image(url="http://")), "image.url", "a URL"),
    (host(image=image(url="http://me:pw@192.0.2.1/image.raw")), "image.url", "without credentials"),
    (host(image=image(checksum="xyz")), "image.checksum", "hexadecimal"),
    (host(image=image(checksum="abc123")), "image.checksum", "64 (sha256)"),
    (host(image=image(checksum=SHA256, checksum_type="md5")), "image.checksum", "32 (md5)"),
    (host(image=image(checksum="ftp://192.0.2.1/sum")), "image.checksum", "http(s) URL"),
    (host(image=image(oci_auth_secret_name="x")), "image.oci_auth_secret_name", "no oci://"),
    (host(image={"url": "http://192.0.2.1/live.iso", "format": "live-iso"}, custom_deploy={"method": "x"}),
     "custom_deploy.method", "live-iso"),
    (host(user_data={"content": " \n"}), "user_data.content", "content"),
    (host(user_data={"name": "Not Right"}), "user_data.name", "a Secret's name"),
    (host(network_data={"content": "{'links': []}"}), "network_data.content", "JSON or YAML"),
    (host(network_data={"content": "- links"}), "network_data.content", "a mapping"),
    (host(preprovisioning_network_data={"content": '{"links": [], "networks": []}'}),
     "preprovisioning_network_data", "the lists links, networks, services"),
    (host(preprovisioning_network_data={"content": json.dumps({
        "links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": "00:5c:52:00:00:01"}], "services": [],
        "networks": [{"id": "n", "link": "eno1"}]})}),
     "preprovisioning_network_data.networks[0]", "network_id, type, which Ironic requires"),
    (host(preprovisioning_network_data={"content": json.dumps({
        "links": [{"id": "v", "type": "vlan", "vlan_link": "e", "vlan_id": 5},
                  {"id": "e", "type": "phy", "ethernet_mac_address": "00:5c:52:00:00:01"}],
        "services": [], "networks": []})}),
     "preprovisioning_network_data.links[0]", "vlan_mac_address"),
    (host(preprovisioning_network_data={"content": '{"links": ["eno1"], "networks": [], "services": []}'}),
     "preprovisioning_network_data.links[0]", "a mapping"),
    (host(preprovisioning_network_data={"content": json.dumps({"networks": [], "services": [], "links": [
        {"id": "v", "type": "vlan", "vlan_link": "bond0", "vlan_id": 5, "vlan_mac_address": "00:5c:52:00:00:01"}]})}),
     "preprovisioning_network_data.links[0].vlan_link", "one of no other link"),
    (host(network_data={"content": json.dumps({"links": [
        {"id": "eno1", "type": "phy", "ethernet_mac_address": "00:5c:52:00:00:01"},
        {"id": "bond0", "type": "bond", "bond_links": ["eno1"], "mtu": 9000}]})}),
     "network_data.links[1].mtu", "at most 1500, the MTU of \"eno1\""),
    (host(network_data={"content": "links:\n- {id: eno1, type: phy}\n- {id: v, type: vlan, vlan_link: eno2}\n"}),
     "network_data.links[1].vlan_link", "one of eno1"),
    (host(network_data={"content": "---\nlinks: [{id: a, type: phy}]\n"
                                   "networks: [{link: a, gateway: 192.0.2.1}, {link: a, gateway: 192.0.2.2}]\n"}),
     "network_data.networks[1].gateway", "one for each family"),
    (host(network_data={"content": "links: [\n"}), "network_data.content", "a JSON or YAML mapping"),
    (host(network_data={"content": "a text"}), "network_data.content", "a JSON or YAML mapping"),
    (host(network_data={"content": "---\n- links"}), "network_data.content", "a JSON or YAML mapping"),
    (host(preprovisioning_network_data={"content": "links: []\nnetworks: []\n"}), "preprovisioning_network_data",
     "the lists links, networks, services"),
    (host(preprovisioning_network_data={"content": "{links: []"}), "preprovisioning_network_data.content",
     "a JSON or YAML mapping"),
    (host(preprovisioning_network_data={"content": "links: [{id: a, type: [vlan]}]\nnetworks: []\nservices: []\n"}),
     "preprovisioning_network_data.links[0]", "ethernet_mac_address, which Ironic requires"),
    (host(user_data={"name": "h1-bmc-secret", "content": "x"}), "user_data.name", "a Secret of its own"),
    (host(raid={"hardware_raid_volumes": [volume("0")], "software_raid_volumes": [{"level": "1"}]}), "raid",
     "one of the two"),
    (host(bmc={"address": "ipmi://192.0.2.1"}, raid={"hardware_raid_volumes": [volume("0")]}),
     "raid.hardware_raid_volumes", "does not support hardware RAID"),
    (host(raid={"hardware_raid_volumes": [{"level": "0", "physical_disks": ["a"]}]}),
     "raid.hardware_raid_volumes[0].controller", "a controller"),
    (host(raid={"hardware_raid_volumes": [{"level": "0", "controller": "c", "physical_disks": ["a"],
                                           "number_of_physical_disks": 2}]}),
     "raid.hardware_raid_volumes[0].number_of_physical_disks", "1, the number"),
    (host(raid={"hardware_raid_volumes": [volume("5", number_of_physical_disks=2)]}),
     "raid.hardware_raid_volumes[0]", "at least 3 for RAID 5"),
    (host(raid={"hardware_raid_volumes": [volume("1", number_of_physical_disks=3)]}),
     "raid.hardware_raid_volumes[0]", "2 for RAID 1"),
    (host(raid={"hardware_raid_volumes": [{"level": "1", "controller": "c", "physical_disks": ["a", "b", "d"]}]}),
     "raid.hardware_raid_volumes[0]", "2 for RAID 1"),
    (host(raid={"hardware_raid_volumes": [volume("1+0", number_of_physical_disks=5)]}),
     "raid.hardware_raid_volumes[0]", "at least 4 and an even number for RAID 1+0"),
    (host(raid={"hardware_raid_volumes": [volume("2")]}), "raid.hardware_raid_volumes[0].level", "one of 0, 1, 5"),
    (host(raid={"hardware_raid_volumes": [{"level": "1"}]}), "raid.hardware_raid_volumes[0].size_gibibytes",
     "set it, or controller and physical_disks"),
    (host(raid={"hardware_raid_volumes": [volume("1", size_gibibytes=0)]}),
     "raid.hardware_raid_volumes[0].size_gibibytes", "set it, or controller and physical_disks"),
    (host(raid={"hardware_raid_volumes": [{"level": "1", "controller": "c", "physical_disks": ["a", "b"],
                                           "size_gibibytes": 0}]}),
     "raid.hardware_raid_volumes[0].size_gibibytes", "none, for all there is"),
    (host(raid={"hardware_raid_volumes": [volume("0", name="v"), volume("0", name="v")]}),
     "raid.hardware_raid_volumes[1].name", "a name of its own"),
    (host(raid={"software_raid_volumes": [{"level": "0"}]}), "raid.software_raid_volumes[0].level", "first volume"),
    (host(raid={"software_raid_volumes": [{"level": "1"}, {"level": "0"}]}),
     "raid.software_raid_volumes[0].size_gibibytes", "a size"),
    (host(raid={"software_raid_volumes": [{"level": "1", "physical_disks": [{"model": "x"}]}]}),
     "raid.software_raid_volumes[0].physical_disks", "at least 2"),
    (host(raid={"software_raid_volumes": [{"level": "1", "physical_disks": [{"device_name": "sda"}, {"wwn": "1"}]}]}),
     "raid.software_raid_volumes[0].physical_disks[0].device_name", "below /dev/"),
    (host(labels={"a b": "c"}), "labels.a b", "letters, digits"),
    (host(labels={"Prefix_/a": "c"}), "labels.Prefix_/a", "letters, digits"),
    (host(labels={"rack": "r 1"}), "labels.rack", "letters, digits"),
    (host(labels={"rack": "x" * 64}), "labels.rack", "at most 63"),
    (host(labels={"rack": {"a": 1}}), "labels.rack", "text"),
    (host(annotations={"reboot.metal3.io": "hard"}), "annotations.reboot.metal3.io", "a JSON object"),
    (host(annotations={"reboot.metal3.io/me": '{"mode": "cold"}'}), "annotations.reboot.metal3.io/me", "hard, soft"),
    (host(annotations={"inspect.metal3.io": "now"}), "annotations.inspect.metal3.io", "'disabled'"),
    (host(annotations={"baremetalhost.metal3.io/detached": '{"deleteAction": "drop"}'}),
     "annotations.baremetalhost.metal3.io/detached", "delay, delete"),
    (host(annotations={"inspect.metal3.io/hardwaredetails": "{}"}), "annotations.inspect.metal3.io/hardwaredetails",
     "inspection_mode disabled"),
    (host(annotations={"inspect.metal3.io": "disabled"}, inspection_mode="agent"), "inspection_mode", "the same as"),
    (host(disable_power_off=True, online=False), "online", "disable_power_off"),
    (host(firmware={"sriov_enabled": True}), "firmware", "no driver"),
    (host(taints=[{"key": "a", "effect": "Never"}]), "taints[0].effect", "NoSchedule"),
]


@pytest.mark.parametrize("entry, field, message", SINGLE)
def test_a_fault_is_named(entry, field, message):
    problems = host_validation.check_list([entry])
    assert [(problem.subject, problem.field) for problem in problems] == [(entry["name"] or "hosts[0]", field)]
    assert message in f"{problems[0].expected} {problems[0].hint}"
    assert "secret-word" not in common_problem.message(problems)


@pytest.mark.parametrize("raw, host_name, field, message", [
    ("h1", "hosts", "hosts", "a list"),
    (["h1"], "hosts[0]", "hosts", "a dictionary"),
    ([{}], "hosts[0]", "name", "a value"),
    ([{"name": "h1", "boot_mac": "x"}], "h1", "boot_mac", "a known option"),
    ([{"name": "h1", "bmc": {"adress": "x"}}], "h1", "bmc.adress", "a known option"),
    ([{"name": "h1", "bmc": "x"}], "h1", "bmc", "a dictionary"),
    ([{"name": "h1", "online": "maybe"}], "h1", "online", "true or false"),
    ([{"name": "h1", "state": "gone"}], "h1", "state", "one of present, absent"),
    ([{"name": "h1", "boot_mode": "BIOS"}], "h1", "boot_mode", "one of UEFI"),
    ([{"name": "h1", "automated_cleaning_mode": "full"}], "h1", "automated_cleaning_mode", "one of metadata"),
    ([{"name": "h1", "inspection_mode": "fast"}], "h1", "inspection_mode", "one of agent"),
    ([{"name": "h1", "description": {"a": 1}}], "h1", "description", "text"),
    ([{"name": "h1", "root_device_hints": {"min_size_gigabytes": "big"}}], "h1",
     "root_device_hints.min_size_gigabytes", "a whole number"),
    ([{"name": "h1", "root_device_hints": {"min_size_gigabytes": 1.5}}], "h1",
     "root_device_hints.min_size_gigabytes", "a whole number"),
    ([{"name": "h1", "image": {"format": "iso"}}], "h1", "image.format", "one of raw"),
    ([{"name": "h1", "image": {"checksum_type": "sha1"}}], "h1", "image.checksum_type", "one of md5"),
    ([{"name": "h1", "raid": {"hardware_raid_volumes": [{}]}}], "h1", "raid.hardware_raid_volumes[0].level", "a value"),
    ([{"name": "h1", "raid": {"hardware_raid_volumes": [{"level": "7"}]}}], "h1",
     "raid.hardware_raid_volumes[0].level", "one of 0"),
    ([{"name": "h1", "raid": {"software_raid_volumes": [{"level": "1"}] * 3}}], "h1", "raid.software_raid_volumes",
     "at most 2"),
    ([{"name": "h1", "raid": {"hardware_raid_volumes": [{"level": "1", "name": "x" * 65}]}}], "h1",
     "raid.hardware_raid_volumes[0].name", "at most 64"),
    ([{"name": "h1", "raid": {"hardware_raid_volumes": [{"level": "1", "number_of_physical_disks": 0}]}}], "h1",
     "raid.hardware_raid_volumes[0].number_of_physical_disks", "at least 1"),
    ([{"name": "h1", "taints": ["x"]}], "h1", "taints[0]", "a dictionary"),
    ([{"name": "h1", "labels": ["x"]}], "h1", "labels", "a dictionary"),
])
def test_values_of_the_wrong_kind(raw, host_name, field, message):
    problems = host_validation.check_values(raw)
    assert [(problem.subject, problem.field) for problem in problems] == [(host_name, field)]
    assert message in problems[0].expected


@pytest.mark.parametrize("entry", [
    host(root_device_hints={"min_size_gigabytes": "100"}),
    host(raid={"hardware_raid_volumes": [volume("5", controller="c", physical_disks=["a", "b", "c"],
                                                number_of_physical_disks="3")]}),
    host(raid={"hardware_raid_volumes": [volume("1", number_of_physical_disks=" 2 ")]}),
    host(bmc={"address": "ipmi://192.0.2.11", "disable_certificate_verification": "false"}),
    host(disable_power_off="no", online=False),
    host(disable_power_off=0, online="off"),
])
def test_texts_are_the_numbers_and_truth_values_that_ansible_reads(entry):
    """An inventory in INI, a survey and -e have nothing else."""
    assert host_validation.check_raw([entry]) == []


@pytest.mark.parametrize("entry, field", [
    (host(root_device_hints={"min_size_gigabytes": "-1"}), "root_device_hints.min_size_gigabytes"),
    (host(raid={"hardware_raid_volumes": [volume("1", number_of_physical_disks="3")]}),
     "raid.hardware_raid_volumes[0]"),
    (host(bmc={"address": "ipmi://192.0.2.11", "disable_certificate_verification": "Yes"}),
     "bmc.disable_certificate_verification"),
    (host(disable_power_off="yes", online=" No "), "online"),
])
def test_what_is_wrong_as_a_text_is_refused_as_well(entry, field):
    assert [problem.field for problem in host_validation.check_raw([entry])] == [field]


def test_a_secret_of_the_wrong_kind_is_not_shown():
    problems = host_validation.check_values([{"name": "h1", "bmc": {"password": ["secret-word"]}}])
    assert problems[0].field == "bmc.password"
    assert "secret-word" not in common_problem.message(problems)


def second(**changes):
    return host(**dict({"name": "h2", "boot_mac_address": "00:5c:52:31:3a:02",
                        "bmc": {"address": "ipmi://192.0.2.12"}}, **changes))


@pytest.mark.parametrize("other, field, message", [
    (second(name="h1"), "name", "hosts[0] and hosts[1]"),
    (second(boot_mac_address="00:5C:52:31:3A:01"), "boot_mac_address", "the same as h1"),
    (second(bmc={"address": "redfish://192.0.2.11:443/redfish/v1/Systems/1/"}), "bmc.address", "the same as h1"),
    (second(bmc={"address": "ipmi://192.0.2.11"}), "bmc.address", "the same as h1"),
    (second(bmc={"address": "ipmi://192.0.2.12", "credentials_name": "h1-bmc-secret", "password": "other"}),
     "bmc.credentials_name", '"h1-bmc-secret"'),
    (second(user_data={"name": "h1-bmc-secret", "content": "x"}), "user_data.name", '"h1-bmc-secret"'),
])
def test_duplicates_within_the_list(other, field, message):
    problems = host_validation.check_list([host(), other])
    assert [(problem.subject, problem.field) for problem in problems] == [(other["name"], field)]
    assert message in problems[0].actual


def test_hosts_to_be_deleted_are_no_duplicates():
    assert host_validation.check_list([host(), second(boot_mac_address="00:5c:52:31:3a:01", state="absent")]) == []


def test_shared_credentials_are_fine_when_they_are_the_same():
    shared = {"credentials_name": "shared"}
    assert host_validation.check_list([
        host(bmc=shared), second(bmc=dict(shared, address="ipmi://192.0.2.12"))]) == []


@pytest.mark.parametrize("entry, goal, field", [
    (host(state="absent"), "available", "state"),
    (host(), "deleted", "state"),
    (host(online=False, image=image()), "provisioned", "online"),
])
def test_goals_that_do_not_fit(entry, goal, field):
    assert [problem.field for problem in host_validation.check_list([entry], goal)] == [field]


def test_all_faults_are_reported_at_once():
    faulty = [host(name="h1", boot_mac_address="x", bmc={"address": "foo://x"}), second(boot_mode="UEFISecureBoot"),
              second(image={"url": "x"})]
    text = common_problem.message(host_validation.check_list(faulty))
    for part in ("h1: boot_mac_address", "h1: bmc.address", "h2: boot_mode", "h2: image.url", "h2: image.checksum",
                 "h2: name", "h2: boot_mac_address"):
        assert re.search(rf"^- {part}: (found |not set, )", text, re.MULTILINE)
    assert text.startswith("%d problems, nothing was changed:" % text.count("\n- "))


def test_wrong_types_do_not_hide_the_faults_of_other_hosts():
    fields = [(problem.subject, problem.field) for problem in host_validation.check_raw(
        [host(online="maybe"), second(boot_mac_address="x")])]
    assert fields == [("h1", "online"), ("h2", "boot_mac_address")]


def test_wrong_types_do_not_hide_other_faults_of_their_host():
    fields = [(problem.subject, problem.field) for problem in host_validation.check_raw(
        [host(online="maybe", boot_mac_address=["x"], bmc={"address": "foo://x"}), "h2"])]
    assert sorted(fields) == [("h1", "bmc.address"), ("h1", "boot_mac_address"), ("h1", "online"),
                              ("hosts[1]", "hosts")]


def test_numbers_are_checked_as_the_texts_that_ansible_makes_of_them():
    # What YAML 1.1 makes of 52:54:00:12:34:56 without quotes.
    problems = host_validation.check_raw([
        host(boot_mac_address=40821424496, image={"url": 3, "checksum": 4}), second(name=5, boot_mac_address=True)])
    assert [(problem.subject, problem.field) for problem in problems] == [
        ("h1", "boot_mac_address"), ("h1", "image.url"), ("h1", "image.checksum"), ("5", "boot_mac_address")]
    assert problems[0].expected.endswith(", in quotes")


def stored(name="h1", state="available", spec=None, **metadata):
    return {"metadata": dict({"name": name}, **metadata), "status": {"provisioning": {"state": state}},
            "spec": dict({"online": True, "bootMACAddress": "00:5c:52:31:3a:01", "bmc": {
                "address": ADDRESS, "credentialsName": "h1-bmc-secret"}}, **(spec or {}))}


def held(finalizers=("baremetalhost.metal3.io",), **annotations):
    """Return a host that BMO leaves alone; annotations without the prefix that they all have."""
    return stored(finalizers=list(finalizers), annotations=dict(
        (f"baremetalhost.metal3.io/{name}", value) for name, value in annotations.items()))


def stored_data(**texts):
    """Return a Secret with texts."""
    return {"data": dict((key, base64.b64encode(text.encode()).decode()) for key, text in texts.items())}


# Names of digits are numbers in YAML.
FITTING = "links:\n- {id: 1, type: phy, mtu: 9000}\n- {id: v, type: vlan, vlan_link: 1, vlan_id: 5, mtu: 9000}\n"

CONSUMER = {"consumerRef": {"kind": "Metal3Machine", "namespace": "metal3", "name": "m1"}}
AGAINST = [
    (host(name="new", bmc={"address": "ipmi://192.0.2.99"}), [stored()], {}, None, "boot_mac_address",
     "metal3/h1 has it"),
    (host(name="new", boot_mac_address="00:5c:52:31:3a:09",
          bmc={"address": "redfish://192.0.2.11/redfish/v1/Systems/1"}), [stored()], {}, None, "bmc.address",
     "metal3/h1 has it"),
    (host(bmc={"address": "ipmi://192.0.2.99"}), [stored()], {}, None, "bmc.address", "registering or detached"),
    (host(boot_mac_address="00:5c:52:31:3a:09"), [stored()], {}, None, "boot_mac_address", "can't be changed"),
    (host(externally_provisioned=False), [stored(spec={"externallyProvisioned": True})], {}, None,
     "externally_provisioned", "can't be taken back"),
    (host(externally_provisioned=True), [stored(state="inspecting")], {}, None, "externally_provisioned",
     "in state available"),
    (host(), [stored(deletionTimestamp="2026-01-01T00:00:00Z")], {}, None, "name", "stays"),
    (host(bmc={"username": None, "password": None, "credentials_name": "shared"}), [], {}, None,
     "bmc.credentials_name", "a Secret in namespace metal3"),
    (host(bmc={"username": None, "password": None, "credentials_name": "shared"}), [],
     {"shared": {"data": {"username": "eA=="}}}, None, "bmc.credentials_name", "lacks password"),
    (host(user_data={"name": "mine"}), [], {}, None, "user_data.name", "in silence"),
    (host(network_data={"name": "mine"}), [], {"mine": {"data": {"userData": "eA=="}}}, None, "network_data.name",
     "networkData or value"),
    (host(network_data={"name": "mine"}), [], {"mine": stored_data(networkData="links: [{id: v, type: vlan}]\n")}, None,
     "network_data.name", "links that can stand on one another"),
    (host(preprovisioning_network_data={"name": "mine"}), [], {"mine": stored_data(value='{"links": []}')}, None,
     "preprovisioning_network_data.name", "what Ironic requires"),
    (host(network_data={"name": "mine"}), [], {"mine": stored_data(networkData="- a", value="")}, None,
     "network_data.name", "a JSON or YAML mapping"),
    (host(image={"url": "oci://r.example.org/i", "oci_auth_secret_name": "auth"}), [], {}, None,
     "image.oci_auth_secret_name", "a Secret in namespace"),
    ({"name": "new", "state": "present"}, [], {}, "available", "bmc.address", "to reach available"),
    (host(), [stored()], {}, "provisioned", "image", "to reach provisioned"),
    (host(image=image()), [stored(spec={"online": False})], {}, "provisioned", "online", "shall be online"),
    (host(state="absent"), [stored(spec=CONSUMER)], {}, None, "state", "Metal3Machine metal3/m1"),
    # What is confirmed is not to happen when a colleague resumes the host.
    (host(state="absent"), [held(paused="disks")], {}, "deleted", "state", "this one is paused, and its server"),
    (host(state="absent"), [held(detached='{"deleteAction":"delay"}')], {}, "deleted", "state", "this one is detached"),
]


@pytest.mark.parametrize("entry, there, secrets, goal, field, message", AGAINST)
def test_conflicts_with_the_cluster(entry, there, secrets, goal, field, message):
    current = dict((bmh["metadata"]["name"], bmh) for bmh in there)
    problems = host_validation.check_against_cluster([entry], current, secrets, "metal3", goal)
    assert [(problem.subject, problem.field) for problem in problems] == [(entry["name"], field)]
    assert message in problems[0].expected


@pytest.mark.parametrize("entry, there, secrets, goal", [
    (host(), [stored()], {}, "available"),
    (host(boot_mac_address="00:5C:52:31:3A:01"), [stored()], {}, None),
    (host(bmc={"address": "ipmi://192.0.2.99"}), [stored(state="registering")], {}, None),
    (host(bmc={"username": None, "password": None, "credentials_name": "shared"}), [],
     {"shared": {"data": {"username": "eA==", "password": "eA=="}}}, None),
    (host(user_data={"name": "mine"}), [], {"mine": {"data": {"value": "eA=="}}}, None),
    # Of a builder of the agent's images, in a format of its own; nothing; no text that the API stores.
    (host(preprovisioning_network_data={"name": "mine"}), [],
     {"mine": stored_data(networkData="interfaces: [{name: eno1}]\n")}, None),
    (host(network_data={"name": "mine"}), [], {"mine": stored_data(networkData="# none\n")}, None),
    (host(network_data={"name": "mine"}), [], {"mine": {"data": {"networkData": "*"}}}, None),
    (host(network_data={"name": "mine"}), [], {"mine": stored_data(networkData=FITTING, value="links: [")}, None),
    (host(), [stored(spec={"image": {"url": "http://192.0.2.1/i"}})], {}, "provisioned"),
    (host(state="absent"), [stored()], {}, "deleted"),
    (host(state="absent"), [held(detached='{"deleteAction":"delete"}')], {}, "deleted"),
    (host(state="absent"), [held(detached="")], {}, "deleted"),
    # BMO has not seen it yet.
    (host(state="absent"), [held((), paused="moved")], {}, "deleted"),
    (host(state="absent"), [], {}, "deleted"),
])
def test_no_conflict_with_the_cluster(entry, there, secrets, goal):
    current = dict((bmh["metadata"]["name"], bmh) for bmh in there)
    assert host_validation.check_against_cluster([entry], current, secrets, "metal3", goal) == []


def test_detached_hosts_may_change_their_address_and_forced_ones_go():
    bmh = stored()
    bmh["status"]["operationalStatus"] = "detached"
    assert host_validation.check_against_cluster(
        [host(bmc={"address": "ipmi://192.0.2.99"})], {"h1": bmh}, {}, "metal3") == []
    assert host_validation.check_against_cluster(
        [host(state="absent")], {"h1": stored(spec=CONSUMER)}, {}, "metal3", forced=["h1"]) == []


def test_errors_may_name_inventory_variables():
    names = host_inventory.field_names()
    entry = host(boot_mac_address="x", bmc={"password": ""}, image={"url": "x"}, raid={
        "software_raid_volumes": [{"level": "0"}]})
    text = common_problem.message(host_validation.check_list([entry]), names)
    for part in ('h1: boot_mac: found "x"', "h1: bmc_password: found an empty text", "since bmc_username is given",
                 "h1: bmh_image.url:", "h1: bmh_image.checksum:", "h1: bmh_raid.software_raid_volumes[0].level:"):
        assert part in text, part


@pytest.mark.parametrize("option, meant", [
    ("label", "bmh_labels"), ("boot_mac", "boot_mac"), ("bmc_address", "bmc_address"), ("onlin", "bmh_online"),
    ("boot_mde", "bmh_boot_mode"), ("root_device", "bmh_root_device_hints"),
    ("firmware_setings", "bmh_firmware_settings"), ("expectd", "bmh_expected"),
])
def test_a_hint_names_the_variable_that_the_user_types(option, meant):
    problems = host_validation.check_raw([dict(host(), **{option: "x"})])
    text = common_problem.message(problems, host_inventory.names_in_role())
    assert (f"h1: bmh_{option}: found an unknown option, expected a known option; remove it (perhaps {meant} is "
            "meant)") in text


@pytest.mark.parametrize("text, renamed", [
    ("name the host in force_hosts if", "name the host in hosts_force if"),
    ("set online to true or remove disable_power_off", "set bmh_online to true or remove bmh_disable_power_off"),
    ("set allow_detach: the host", "set hosts_allow_detach: the host"),
    ("the image's URL, or an image online", "the image's URL, or an image online"),
    ("raise wait_timeout_seconds", "raise hosts_wait_timeout_seconds"),
])
def test_texts_name_what_a_user_of_the_role_sets(text, renamed):
    assert common_problem.renamed(text, host_inventory.names_in_role()) == renamed


def test_actions_name_what_a_user_of_the_role_sets():
    names = host_inventory.ACTION_VARIABLES
    assert common_problem.renamed("set force", names) == "set hosts_action_force"
    assert common_problem.renamed("name the host in force_hosts", names) == "name the host in hosts_force"
    assert common_problem.renamed_field("key", names) == "hosts_action_key"
    assert common_problem.renamed_field("power_off", names) == "power_off"


def test_each_option_has_a_bad_input():
    faulty = set(re.split(r"[.\[]", case[1])[0] for case in SINGLE)
    assert faulty == set(field.name for field in host_fields.HOST) - ANYTHING


@pytest.mark.parametrize("pause, hint", [
    ("metal3.baremetal/move", "what the playbook pivot has begun"),
    ("metal3.baremetal/restore", "what the playbook restore has begun"),
    ("metal3.io/capm3", "resume its Cluster first"), ("disks", "resume the host first")])
def test_what_keeps_a_host_from_its_deletion_is_ended_first(pause, hint):
    problem, = host_validation.check_against_cluster([host(state="absent")], {"h1": held(paused=pause)}, {}, "metal3")
    assert hint in problem.hint


@pytest.mark.parametrize("text", ["links: [{id: word, type: vlan, vlan_link: word}]", "word: [", "word", '{"word": "'],
                         ids=["a link", "no YAML", "a text", "no JSON"])
def test_no_value_of_a_secret_is_quoted(text):
    problems = host_validation.check_against_cluster(
        [host(network_data={"name": "mine"})], {}, {"mine": stored_data(networkData=text)}, "metal3")
    assert len(problems) == 1 and "word" not in str(problems[0]).lower()


@pytest.mark.parametrize("text", [
    "links: [{id: 0x%s, type: vlan, vlan_link: {a: b}, vlan_id: 0x%s, mtu: []}]" % ("f" * 6000, "f" * 6000),
    "links: 5", "links: [5]", "networks: [{link: {a: b}, type: [ipv6], routes: 5}]", "a: &a [*a]", "[" * 9000,
    "links: [%s]" % ", ".join(f"{{id: {number}, type: vlan, vlan_link: {number + 1}}}" for number in range(9000))],
    ids=["numbers", "no list", "no mapping", "networks", "a circle", "depth", "size"])
@pytest.mark.parametrize("option", ["network_data", "preprovisioning_network_data"])
def test_network_data_of_any_shape_ends_in_no_error(option, text):
    problems = host_validation.check_against_cluster(
        [host(**{option: {"name": "mine"}})], {}, {"mine": stored_data(networkData=text)}, "metal3")
    assert all(problem.field == f"{option}.name" for problem in problems) and len(problems) <= 1
    host_validation.check_list([host(**{option: {"content": text[:60000]}})])
