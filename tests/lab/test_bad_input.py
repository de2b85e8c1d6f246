# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistakes in the inventory: all are reported at once, by host and variable, and nothing is written."""
from __future__ import annotations

import pytest

VICTIM = "server-04"
# A server of its own for each: what differs from a good one, and what its line must say.
MISTAKES = {
    "unknown-scheme": ({"bmc_address": "redfsh://192.0.2.1/redfish/v1/Systems/1"}, ["bmc_address", "redfsh"]),
    "unknown-transport": ({"bmc_address": "idrac-redfish+ftp://192.0.2.2/redfish/v1/Systems/1"},
                          ["bmc_address", "idrac-redfish+ftp"]),
    "no-credentials": ({"bmc_username": None, "bmc_password": None},
                       ["no credentials", "set bmc_username and bmc_password"]),
    "no-password": ({"bmc_password": None}, ["bmc_password: not set", "set bmc_password"]),
    "empty-password": ({"bmc_password": ""}, ["bmc_password", "an empty text"]),
    "password-with-newline": ({"bmc_password": "not-for-eyes\n"}, ["bmc_password", "line breaks"]),
    "bad-mac": ({"boot_mac": "00:5c:52:zz:00:01"}, ["boot_mac", "00:5c:52:zz:00:01"]),
    "no-mac": ({"boot_mac": None}, ["boot_mac: not set", "set boot_mac"]),
    "same-mac-a": ({"boot_mac": "00:5c:52:ff:ff:01"}, []),
    "same-mac-b": ({"boot_mac": "00:5c:52:ff:ff:01"}, ["boot_mac", "same-mac-a"]),
    "same-bmc-a": ({"bmc_address": "redfish://192.0.2.9/redfish/v1/Systems/1"}, []),
    "same-bmc-b": ({"bmc_address": "redfish://192.0.2.9/redfish/v1/Systems/1"}, ["bmc_address", "same-bmc-a"]),
    "Upper-Case": ({}, ["name", "lower case"]),
    "no-checksum": ({"bmh_image": {"url": "https://192.0.2.4/image.raw"}}, ["bmh_image", "checksum"]),
    "mistyped": ({"bmh_onlin": True}, ["bmh_onlin", "perhaps bmh_online is meant"]),
    "secure-boot-by-ipmi": ({"bmc_address": "ipmi://192.0.2.5", "bmh_boot_mode": "UEFISecureBoot"}, ["bmh_boot_mode"]),
    "bad-hint": ({"bmh_root_device_hints": {"device_name": "sda"}}, ["bmh_root_device_hints.device_name", "/dev/"]),
    "two-mistakes": ({"bmh_boot_mode": "legcy", "boot_mac": "00:5c:52"}, ["bmh_boot_mode", "legcy", "boot_mac"]),
}


def good(number):
    return {"bmc_address": f"redfish://192.0.2.{100 + number}/redfish/v1/Systems/1", "bmc_username": "admin",
            "bmc_password": f"a-password-{number}", "boot_mac": f"00:5c:52:ff:00:{number:02x}"}


@pytest.fixture(scope="module")
def refused(lab):
    """One run over the lab's servers and all the mistaken ones."""
    before = lab.versions()
    run = lab.playbook("enroll", "-i", lab.inventory(dict(
        (name, dict(good(number), **values)) for number, (name, (values, dummy)) in enumerate(MISTAKES.items()))))
    return run, before, lab.versions()


@pytest.mark.parametrize("name", [name for name, (dummy, texts) in MISTAKES.items() if texts])
def test_each_mistake_is_reported(refused, name):
    message = "\n".join(refused[0].output_of(name))
    for text in MISTAKES[name][1]:
        assert text in message, message


def test_nothing_is_written(refused):
    run, before, after = refused
    run.failed("problems, nothing was changed")
    assert run.changed() == 0
    assert after == before


def test_a_good_host_is_not_blamed(refused):
    assert not [line for line in refused[0].output.splitlines() if line.startswith("- server-0")]


def test_no_password_is_printed(refused):
    assert "a-password" not in refused[0].output
    assert "not-for-eyes" not in refused[0].output


def test_what_does_not_fit_the_cluster_is_reported_at_once(lab):
    before = lab.versions()
    nothing = {"bmc_username": None, "bmc_password": None}
    run = lab.playbook("enroll", "--limit", "server-01,server-02,no-such-credentials,no-such-data,mac-of-another", "-i",
                       lab.inventory({
                           "server-01": {"bmc_address": "redfsh://192.0.2.1/redfish/v1/Systems/1",
                                         "bmh_image": {"url": "https://192.0.2.1/image.raw"}},
                           "server-02": {"boot_mac": lab.servers[VICTIM]["boot_mac"]},
                           "no-such-credentials": dict(good(1), bmc_credentials_name="no-such-secret", **nothing),
                           "no-such-data": dict(good(2), bmh_user_data={"name": "no-such-data"}),
                           "mac-of-another": dict(good(3), boot_mac=lab.servers["server-03"]["boot_mac"]),
                       })).failed("nothing was changed")
    for name, texts in {"server-01": ["bmc_address", "redfsh", "bmh_image.checksum"],
                        "server-02": ["boot_mac", "metal3/" + VICTIM, "can't be changed"],
                        "no-such-credentials": ["bmc_credentials_name", "no-such-secret"],
                        "no-such-data": ["bmh_user_data", "no-such-data"],
                        "mac-of-another": ["boot_mac", "metal3/server-03"]}.items():
        message = "\n".join(run.output_of(name))
        assert all(text in message for text in texts), message
    assert lab.versions() == before
