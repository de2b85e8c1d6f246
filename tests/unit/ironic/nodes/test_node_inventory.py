# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes from inventory variables: what the Bare Metal Operator would set, and what the server's own dictionary adds."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import schemes
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import inventory as node_inventory

LOGIN = {"bmc_username": "u", "bmc_password": "p"}
REDFISH = {"firmware": "redfish", "raid": "redfish", "inspect": "agent"}
IDRAC = dict((name, "idrac-redfish") for name in ("bios", "management", "power", "raid", "vendor"))


@pytest.mark.parametrize(("address", "driver", "interfaces", "info"), [
    ("redfish://192.0.2.1/redfish/v1/Systems/1", "redfish", dict(REDFISH, boot="ipxe"),
     {"redfish_address": "https://192.0.2.1:443", "redfish_system_id": "/redfish/v1/Systems/1"}),
    ("redfish-virtualmedia+http://192.0.2.1:8000", "redfish", dict(REDFISH, boot="redfish-virtual-media"),
     {"redfish_address": "http://192.0.2.1:8000"}),
    ("redfish-uefihttp://[2001:db8::1]/redfish/v1/Systems/1", "redfish", dict(REDFISH, boot="redfish-https"),
     {"redfish_address": "https://[2001:db8::1]:443", "redfish_system_id": "/redfish/v1/Systems/1"}),
    ("idrac-virtualmedia://192.0.2.1/redfish/v1/Systems/System.Embedded.1", "idrac",
     dict(IDRAC, inspect="agent", boot="idrac-redfish-virtual-media"),
     {"redfish_address": "https://192.0.2.1:443", "redfish_system_id": "/redfish/v1/Systems/System.Embedded.1"}),
    ("ilo5-virtualmedia://192.0.2.1/redfish/v1/Systems/1", "redfish", dict(REDFISH, boot="redfish-virtual-media"),
     {"redfish_address": "https://192.0.2.1:443", "redfish_system_id": "/redfish/v1/Systems/1"}),
])
def test_redfish_addresses(address, driver, interfaces, info):
    entry = node_inventory.entry("a", dict(LOGIN, bmc_address=address))
    assert (entry["driver"], entry["interfaces"]) == (driver, interfaces)
    assert entry["driver_info"] == dict(info, redfish_username="u", redfish_password="p")


def test_ipmi():
    entry = node_inventory.entry("a", dict(LOGIN, bmc_address="ipmi://192.0.2.1:6230?privilegelevel=OPERATOR"))
    assert (entry["driver"], entry["interfaces"]) == ("ipmi", {"raid": "no-raid", "inspect": "agent", "boot": "ipxe"})
    assert entry["driver_info"] == {"ipmi_address": "192.0.2.1", "ipmi_port": 6230, "ipmi_priv_level": "OPERATOR",
                                    "ipmi_username": "u", "ipmi_password": "p"}


def test_what_else_the_variables_say():
    entry = node_inventory.entry("a", dict(
        LOGIN, bmc_address="redfish://192.0.2.1", boot_mac="00:5c:52:00:00:01", bmh_boot_mode="UEFISecureBoot",
        bmh_architecture="aarch64", bmc_disable_certificate_verification=True))
    assert entry["ports"] == [{"address": "00:5c:52:00:00:01", "pxe_enabled": True}]
    assert entry["properties"] == {"cpu_arch": "aarch64", "capabilities": "boot_mode:uefi,secure_boot:true"}
    assert entry["driver_info"]["redfish_verify_ca"] is False


@pytest.mark.parametrize(("given", "verified"), [
    (True, False), ("true", False), (" Yes", False), (1, False),
    (False, True), ("false", True), ("no", True), (0, True),
    (None, True)])
def test_a_certificate_is_verified_unless_the_variable_says_otherwise(given, verified):
    """In an inventory in INI, and by -e, false is a text."""
    entry = node_inventory.entry("a", dict(
        LOGIN, bmc_address="redfish://192.0.2.1", bmc_disable_certificate_verification=given))
    assert ("redfish_verify_ca" not in entry["driver_info"]) is verified


def test_the_servers_own_dictionary_adds_and_wins():
    own = {"driver_info": {"redfish_auth_type": "session"}, "interfaces": {"raid": "agent"}, "traits": ["CUSTOM_A"]}
    entry = node_inventory.entry("a", dict(LOGIN, bmc_address="redfish://192.0.2.1", ironic_node=own))
    assert entry["driver_info"]["redfish_auth_type"] == "session"
    assert entry["driver_info"]["redfish_username"] == "u"
    assert (entry["interfaces"]["raid"], entry["interfaces"]["boot"]) == ("agent", "ipxe")
    assert entry["traits"] == ["CUSTOM_A"]


@pytest.mark.parametrize("driver", sorted(set(driver.driver for driver in schemes.DRIVERS)))
def test_each_driver_has_its_interfaces(driver):
    assert node_inventory._DRIVER_INTERFACES[driver]


@pytest.mark.parametrize(("variables", "text"), [
    ({}, "a: bmc_address: not set"),
    ({"bmc_address": "nonsense://u:secret@192.0.2.1"}, "a: bmc_address: found \"nonsense:"),
    ({"bmc_address": "redfish://192.0.2.1", "bmh_boot_mode": "uefi"}, "a: bmh_boot_mode: found \"uefi\""),
    ({"bmc_address": "redfish://192.0.2.1", "bmc_disable_certificate_verification": "nope"},
     "a: bmc_disable_certificate_verification: found \"nope\", expected true or false"),
])
def test_faults_name_server_and_variable(variables, text):
    with pytest.raises(RefusedError, match=text) as fault:
        node_inventory.entry("a", variables)
    assert "secret" not in str(fault.value)
