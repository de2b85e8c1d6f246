# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ipmitool is given, and what its output means; texts are those of ipmitool 1.8.19."""
from __future__ import annotations

import stat

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import checks
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight.verdict import Limits
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import gather as gathering
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import ipmi

ADDRESS = bmc_address.parse("ipmi://192.0.2.1")
HOST = {"name": "a", "address": ADDRESS, "boot_mac_address": None, "boot_mode": None, "any_certificate": False}
LIMITS = Limits(30, 120, 1_800_000_000)
SETTINGS = gathering.Settings(None, 1, 1, 1)
FAILED = "Error: Unable to establish IPMI v2 / RMCP+ session"


@pytest.fixture
def ipmitool(tmp_path, monkeypatch):
    """A program in the place of ipmitool, which takes the password as that one does; what it says is the fixture."""
    said = tmp_path / "said"
    program = tmp_path / "bin" / "ipmitool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n"
                       'echo "${IPMITOOL_PASSWORD:-$IPMI_PASSWORD}" > "$(dirname "$0")/../password"\n'
                       'cat "$(dirname "$0")/../said"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(gathering, "redfish_version", lambda *dummy: "")
    said.write_text("Chassis Power is on\n")
    return tmp_path


def asked(username="admin", password="right"):
    return gathering.explore_ipmi(gathering.Target("a", ADDRESS, username, password, False), SETTINGS)


def test_the_password_of_the_host_is_sent_whatever_the_environment_has(ipmitool, monkeypatch):
    """ipmitool takes IPMITOOL_PASSWORD before IPMI_PASSWORD: one wrong password for each BMC, which may lock it."""
    monkeypatch.setenv("IPMITOOL_PASSWORD", "of another system")
    assert asked()["login"]["ok"]
    assert (ipmitool / "password").read_text() == "right\n"


@pytest.mark.parametrize(("username", "password", "text"), [
    ("admin", "p" * 21, "the password has 21 bytes, IPMI 2.0 takes 20 at most"),
    ("admin", "ö" * 11, "the password has 22 bytes, IPMI 2.0 takes 20 at most"),
    ("u" * 17, "right", "the user name has 17 bytes, IPMI 2.0 takes 16 at most"),
])
def test_what_ipmi_cannot_carry_is_no_login(ipmitool, username, password, text):
    """ipmitool ends before it asks anything, which was taken for a login."""
    (ipmitool / "said").write_text("lanplus: password is longer than 20 bytes.\n")
    facts = asked(username, password)
    assert (facts["login"], facts["reached"]) == ({"ok": False, "method": "IPMI 2.0", "attempts": 0}, False)
    assert facts["error"] == {"stage": "login", "kind": "unsendable", "text": text}
    assert not (ipmitool / "password").exists()
    verdict = checks.login_verdict(HOST, facts, LIMITS)
    assert (verdict.status, verdict.actual) == ("problem", text)
    assert "16 bytes" in verdict.expected
    assert [found.check for found in checks.verdicts(HOST, facts, LIMITS) if found.status == "problem"] == ["login"]
    (ipmitool / "said").write_text("Chassis Power is on\n")
    assert asked("u" * 16, "p" * 20)["login"]["ok"]


def test_an_output_without_a_session_is_no_login(ipmitool):
    (ipmitool / "said").write_text("ipmitool: malloc failure\n")
    facts = asked()
    assert (facts["login"]["ok"], facts["error"]["kind"]) == (False, "unreachable")
    assert facts["error"]["text"] == "ipmitool: malloc failure"


def test_a_lost_packet_is_no_refusal():
    """ipmitool says so of each try, and begins again."""
    lost = "> Error: no response from RAKP 1 message\n> Error: no response from RAKP 3 message\n"
    assert ipmi.read(lost + "Chassis Power is off\n")["power"] == "off"


@pytest.mark.parametrize(("lines", "kind"), [
    (["> RAKP 2 HMAC is invalid", FAILED], "unauthorized"),
    (["RAKP 2 message indicates an error : unauthorized name", FAILED], "unauthorized"),
    # To a name that is none of its own a BMC may say nothing, each time.
    (["> Error: no response from RAKP 1 message"] * 3 + ["Set Session Privilege Level to ADMINISTRATOR failed", FAILED],
     "unauthorized"),
    (["Set Session Privilege Level to ADMINISTRATOR failed: Insufficient privilege level", FAILED], "privilege"),
    (["RAKP 2 message indicates an error : unauthorized role or privilege level requested", FAILED], "privilege"),
    # Nobody has refused anything: the BMC has gone silent.
    (["Set Session Privilege Level to ADMINISTRATOR failed", FAILED], "unreachable"),
    (["> Error: no response from RAKP 3 message"] * 3 + ["Set Session Privilege Level to ADMINISTRATOR failed", FAILED],
     "unreachable"),
    ([FAILED], "unreachable"),
])
def test_why_there_is_no_session(lines, kind):
    with pytest.raises(ipmi.IpmiError) as refused:
        ipmi.read("\n".join(lines))
    assert refused.value.kind == kind
