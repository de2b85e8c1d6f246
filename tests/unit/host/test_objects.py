# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host entry becomes a BareMetalHost and Secrets; what is not mentioned stays, what is in use is left alone."""
from __future__ import annotations

import base64

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.fields import argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import fields as host_fields
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import objects as host_objects
from ansible_collections.metal3.baremetal.plugins.module_utils._host.module import host_argument_spec

BMC = {"address": "ipmi://192.0.2.1", "username": "admin", "password": "secret-word"}


def entry(**values):
    """Return an entry as AnsibleModule hands it over: every option is there, None when not given."""
    def filled(fields, given):
        return dict((field.name, filled(field.fields, given[field.name])
                     if field.kind == "dict" and field.fields and given.get(field.name) is not None
                     else given.get(field.name)) for field in fields)
    return filled(host_fields.HOST, dict({"name": "h1", "state": "present"}, **values))


def desired(current=None, owned=(), forced=False, **values):
    fields = {"spec": owned, "labels": ("rack",), "annotations": ()} if current else None
    return host_objects.desired_host(entry(**values), "metal3", current, fields, forced)


def stored(**spec):
    return {"metadata": {"name": "h1", "uid": "u1", "labels": {"rack": "r1", "other": "x"}},
            "spec": dict({"online": True}, **spec)}


def test_a_new_host():
    bmh = desired(bmc=BMC, boot_mac_address="00:5c:52:31:3a:01", labels={"rack": "r1", "spare": False, "unit": 3}).bmh
    assert bmh == {
        "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
        "metadata": {"name": "h1", "namespace": "metal3", "labels": {"rack": "r1", "spare": "false", "unit": "3"}},
        "spec": {"online": True, "bootMACAddress": "00:5c:52:31:3a:01",
                 "bmc": {"address": "ipmi://192.0.2.1", "credentialsName": "h1-bmc-secret"}}}


def test_fields_get_their_names_in_the_crd():
    spec = desired(
        online=False, disable_power_off=False, description="text", boot_mode="UEFI",
        root_device_hints={"min_size_gigabytes": 10, "wwn_with_extension": "w", "rotational": False},
        raid={"hardware_raid_volumes": [{"level": "1", "size_gibibytes": 5, "number_of_physical_disks": 2}],
              "software_raid_volumes": None},
        image={"url": "oci://r/i", "oci_auth_secret_name": "auth", "checksum_type": "auto"},
        custom_deploy={"method": "m"}, preprovisioning_network_data={"content": "{}"}, meta_data={"name": "mine"},
        consumer_ref={"api_version": "v1", "kind": "Pod", "name": "p"}, taints=[{"key": "k", "effect": "NoExecute"}],
    ).bmh["spec"]
    assert spec == {
        "online": False, "description": "text", "bootMode": "UEFI",
        "rootDeviceHints": {"minSizeGigabytes": 10, "wwnWithExtension": "w", "rotational": False},
        "raid": {"hardwareRAIDVolumes": [{"level": "1", "sizeGibibytes": 5, "numberOfPhysicalDisks": 2}]},
        "image": {"url": "oci://r/i", "ociAuthSecretName": "auth", "checksumType": "auto"},
        "customDeploy": {"method": "m"}, "preprovisioningNetworkDataName": "h1-preprovisioning-network-data",
        "metaData": {"name": "mine"}, "consumerRef": {"apiVersion": "v1", "kind": "Pod", "name": "p"},
        "taints": [{"key": "k", "effect": "NoExecute"}]}


def test_what_says_no_more_than_leaving_it_out_is_left_out():
    """BMO writes a host as a whole when it takes it up, without such values; each run would set them again."""
    given = {"bmc": dict(BMC, disable_certificate_verification=False), "disable_power_off": False,
             "externally_provisioned": False, "image": {"url": "u", "format": "live-iso", "checksum": ""},
             "root_device_hints": {"min_size_gigabytes": 0, "rotational": False, "model": ""}}
    wanted = {"bmc": {"address": "ipmi://192.0.2.1", "credentialsName": "h1-bmc-secret"},
              "image": {"url": "u", "format": "live-iso"}, "rootDeviceHints": {"rotational": False}}
    assert desired(**given).bmh["spec"] == dict(wanted, online=True)
    # Of another value that is stored it is a change.
    bmc = dict(wanted["bmc"], disableCertificateVerification=True)
    found = desired(stored(disablePowerOff=True, bmc=bmc, rootDeviceHints={"minSizeGigabytes": 5}), **given)
    assert found.bmh["spec"] == {
        "bmc": dict(bmc, disableCertificateVerification=False), "disablePowerOff": False, "image": wanted["image"],
        "rootDeviceHints": {"minSizeGigabytes": 0, "rotational": False}}
    assert found.removals == []


def test_what_is_not_mentioned_stays_as_it_is():
    current = stored(online=False, image={"url": "x"}, description="mine", bootMode="UEFI")
    result = desired(current, owned=("image", "description", "online"))
    assert result.bmh["spec"] == {"online": False, "image": {"url": "x"}, "description": "mine"}
    assert result.bmh["metadata"]["labels"] == {"rack": "r1"}
    assert (result.removals, result.protected) == ([], [])


def test_what_somebody_else_owns_is_not_sent_again():
    """A stale ``online: false`` would power off a server that was powered on since it was read."""
    assert desired(stored(online=False), labels={"rack": "r2"}).bmh["spec"] == {}
    assert desired(None, labels={"rack": "r2"}).bmh["spec"]["online"] is True


def test_labels_given_replace_those_that_are_ours():
    assert "labels" not in desired(stored(), labels={}).bmh["metadata"]
    assert desired(stored(), labels={"a": "b"}).bmh["metadata"]["labels"] == {"a": "b"}


def test_empty_options_remove_fields_whoever_owns_them():
    current = stored(image={"url": "x"}, userData={"name": "u"}, description="d")
    result = desired(current, owned=("image",), image={}, user_data={}, description="", root_device_hints={})
    assert result.bmh["spec"] == {}
    assert sorted(result.removals) == ["description", "userData"]


def test_the_case_of_a_mac_address_is_no_change():
    current = stored(bootMACAddress="00:5C:52:AA:BB:CC")
    assert desired(current, boot_mac_address="00:5c:52:aa:bb:cc").bmh["spec"]["bootMACAddress"] == "00:5C:52:AA:BB:CC"


def test_a_namespace_that_somebody_added_is_kept():
    current = stored(userData={"name": "mine", "namespace": "metal3"})
    assert desired(current, user_data={"name": "mine"}).bmh["spec"]["userData"] == {
        "name": "mine", "namespace": "metal3"}


CONSUMED = stored(online=False, image={"url": "theirs"}, consumerRef={
    "kind": "Metal3Machine", "namespace": "metal3", "name": "m1"})


@pytest.mark.parametrize("owned, spec", [
    ((), {"description": "new"}),
    (("image", "online"), {"online": False, "image": {"url": "theirs"}, "description": "new"}),
])
def test_a_host_in_use_is_left_alone(owned, spec):
    result = desired(CONSUMED, owned, online=True, image={"url": "ours"}, custom_deploy={}, user_data={"content": "x"},
                     description="new")
    assert result.bmh["spec"] == spec
    assert result.protected == ["online", "image", "user_data"]
    assert result.removals == []
    assert host_objects.data_secrets(entry(user_data={"content": "x"}), "metal3", CONSUMED, result.protected) == []


def test_an_empty_text_removes_a_choice():
    current = stored(inspectionMode="disabled", bootMode="legacy")
    result = desired(current, owned=("inspectionMode",), inspection_mode="", boot_mode="")
    assert result.bmh["spec"] == {} and result.removals == ["bootMode"]
    assert argument_spec(host_fields.HOST)["boot_mode"]["choices"] == ["UEFI", "UEFISecureBoot", "legacy", ""]


def test_a_consumer_is_not_replaced_or_taken_away():
    taken = desired(CONSUMED, consumer_ref={"kind": "Pod", "name": "p"})
    assert taken.protected == ["consumer_ref"] and "consumerRef" not in taken.bmh["spec"]
    left = desired(CONSUMED, consumer_ref={})
    assert left.protected == ["consumer_ref"] and left.removals == []
    same = {"kind": "Metal3Machine", "namespace": "metal3", "name": "m1"}
    assert desired(CONSUMED, consumer_ref=same).protected == []


def test_who_reserved_a_host_may_release_it():
    released = desired(CONSUMED, owned=("consumerRef",), consumer_ref={})
    assert released.protected == [] and "consumerRef" not in released.bmh["spec"]


def test_a_host_in_use_may_be_forced():
    result = desired(CONSUMED, forced=True, online=True, image={"url": "ours"})
    assert result.bmh["spec"] == {"online": True, "image": {"url": "ours"}}
    assert result.protected == []


def test_the_credentials_secret_is_found_by_the_operator():
    secret = host_objects.credentials_secret(entry(bmc=BMC), "metal3")
    assert secret["metadata"]["name"] == "h1-bmc-secret"
    assert secret["metadata"]["labels"]["environment.metal3.io"] == "baremetal"
    assert dict((key, base64.b64decode(value).decode()) for key, value in secret["data"].items()) == {
        "username": "admin", "password": "secret-word"}
    assert host_objects.credentials_secret(entry(bmc={"address": "x", "credentials_name": "c"}), "metal3") is None


def test_data_secrets_have_the_keys_that_the_operator_reads_and_go_with_the_host():
    host = entry(user_data={"content": "u"}, network_data={"content": "n", "name": "net"}, meta_data={"name": "theirs"},
                 preprovisioning_network_data={"content": "p"})
    secrets = dict((secret["metadata"]["name"], secret) for secret in host_objects.data_secrets(
        host, "metal3", stored()))
    assert dict((name, sorted(secret["data"])) for name, secret in secrets.items()) == {
        "h1-user-data": ["userData"], "net": ["networkData"], "h1-preprovisioning-network-data": ["networkData"]}
    assert secrets["net"]["metadata"]["ownerReferences"] == [
        {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "name": "h1", "uid": "u1"}]
    assert ["ownerReferences" in secret["metadata"]
            for secret in host_objects.data_secrets(host, "metal3")] == [False] * 3
    assert host_objects.referenced_secrets(host) == {"theirs"}


def test_what_is_ours_is_read_from_managed_fields():
    tree = {"f:spec": {"f:online": {}, "f:bmc": {"f:address": {}}}, "f:metadata": {"f:labels": {"f:rack": {}, ".": {}}}}
    assert host_objects.owned_fields(tree) == {"spec": ("online", "bmc"), "labels": ("rack",), "annotations": ()}


def shown_entry(given):
    """Return an entry as the module's parameters show it."""
    return redaction.hidden_parameters({"hosts": [given]}, host_argument_spec())["hosts"][0]


def test_entries_without_secrets():
    shown = shown_entry(entry(bmc=BMC, user_data={"content": "secret-word", "name": "n"}))
    assert "secret-word" not in str(shown)
    assert shown["bmc"]["username"] == "admin"
    assert shown["user_data"]["name"] == "n"
    assert "secret-word" not in str(shown_entry({"bmc": "secret-word", "pasword": "secret-word"}))


def test_inventory_variables_become_an_entry():
    variables = {
        "bmc_address": "ipmi://192.0.2.1", "bmc_username": "admin", "bmc_password": "secret-word", "boot_mac": "m",
        "bmh_labels": {"rack": "r1"}, "bmh_online": False, "bmh_user_data": "#cloud-config\n",
        "bmh_network_data": {"links": []}, "bmh_meta_data": {"name": "mine"}, "bmh_lables": 1, "other": 2,
        "bmh_image": None}
    assert host_inventory.entry("h1", variables) == {
        "name": "h1", "bmc": BMC, "boot_mac_address": "m", "labels": {"rack": "r1"}, "annotations": {}, "online": False,
        "user_data": {"content": "#cloud-config\n"}, "network_data": {"content": '{"links": []}'},
        "meta_data": {"name": "mine"}, "lables": 1}


def test_every_option_has_a_variable():
    names = host_inventory.field_names()
    for field in host_fields.SPEC:
        if field.name != "bmc":
            assert field.name in names


@pytest.mark.parametrize("variables, online", [
    ({"bmh_image": {"url": "https://images.example/a.raw"}}, True),
    ({"bmh_custom_deploy": {"method": "install"}}, True),
    ({"bmh_image": {"url": "https://images.example/a.raw"}, "bmh_online": False}, False),
    ({"bmh_image": {}}, None),
    ({}, None),
])
def test_what_is_to_be_deployed_is_to_be_online(variables, online):
    assert host_inventory.entry("a", variables).get("online") is online
