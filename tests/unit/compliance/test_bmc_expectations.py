# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificate and accounts of BMCs against what is expected of them."""
from __future__ import annotations

import copy

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import blank
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance import bmc_expectations, profile, service
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance.rules import LEVELS

DAY, NOW = 86400, 1_800_000_000
CERTIFICATE = {"subject": "CN=bmc", "issuer": "CN=site-ca", "names": [], "valid_from": NOW - DAY,
               "valid_until": NOW + 100 * DAY}
BMC = dict(blank(), name="h1", address="redfish://192.0.2.1/redfish/v1/Systems/1", reached=True, tls={
    "verified": True, "error": "", "protocol": "TLSv1.3", "certificate": CERTIFICATE}, accounts=[
        {"name": "admin", "role": "Administrator", "enabled": True, "locked": False},
        {"name": "guest", "role": "ReadOnly", "enabled": False, "locked": False}])
ADMIN = {"name": "admin", "role": "Administrator", "required": True}


def of(**changes):
    """Return what a BMC says, with other certificate facts (``certificate``), or other parts."""
    found = copy.deepcopy(BMC)
    found["tls"]["certificate"].update(changes.pop("certificate", {}))
    return dict(found, **changes)


def found(bmc, **expected):
    problems = profile.findings("h1", expected, profile.Known(None, {}, {}, bmc), NOW)
    assert all(problem.code in LEVELS for problem in problems)
    return [(problem.code, problem.field, problem.actual, problem.expected) for problem in problems]


def certificate(**values):
    return dict({"days_minimum": 30, "verified": True, "issuer": None}, **values)


def test_what_is_as_expected_has_no_finding():
    assert found(BMC, certificate=certificate(issuer="CN=site-ca"), accounts=[ADMIN]) == []
    assert found(BMC) == found(None) == [], "of what nothing is expected"
    assert found(of(tls=dict(BMC["tls"], verified=False)), certificate=certificate(verified=False)) == []
    assert found(BMC, accounts=[dict(ADMIN, role=None), {"name": "guest", "role": None, "required": False}]) == []


@pytest.mark.parametrize(("bmc", "wanted", "finding"), [
    (of(certificate={"valid_until": NOW + 30 * DAY - 1}), {}, (
        "certificate-differs", "certificate.days_minimum", "29 days left", "30 or more")),
    (of(certificate={"valid_until": NOW}), {}, (
        "certificate-differs", "certificate.days_minimum", "expired", "30 or more")),
    (of(certificate={"valid_from": NOW + 1}), {}, (
        "certificate-differs", "certificate", "one that is not valid yet", "one that is valid")),
    (of(tls=dict(BMC["tls"], verified=False, error="self-signed certificate")), {}, (
        "certificate-differs", "certificate.verified", '"self-signed certificate"', "a certificate that verifies")),
    (BMC, {"issuer": "CN=other"}, ("certificate-differs", "certificate.issuer", '"CN=site-ca"', '"CN=other"')),
    (of(tls={}), {}, ("certificate-differs", "certificate", "no TLS", "TLS")),
    (of(tls={"verified": False, "error": "handshake failed (EOF)", "certificate": {}}), {}, (
        "certificate-unknown", "certificate", None, "the certificate of the BMC")),
    (of(tls=dict(BMC["tls"], certificate={})), {}, (
        "certificate-unknown", "certificate", None, "the certificate of the BMC")),
    (of(reached=False, error={"stage": "reach", "text": "no answer in time"}, tls={}), {}, (
        "certificate-unknown", "certificate", None, "the certificate of the BMC")),
    (of(address="ipmi://192.0.2.1", tls={}), {}, (
        "certificate-unknown", "certificate", None, "the certificate of the BMC")),
    (None, {}, ("certificate-unknown", "certificate", None, "the certificate of the BMC")),
])
def test_a_certificate_that_is_not_as_expected(bmc, wanted, finding):
    assert found(bmc, certificate=certificate(**wanted)) == [finding]


@pytest.mark.parametrize(("bmc", "wanted", "findings"), [
    (of(accounts=BMC["accounts"] + [{"name": "root", "role": "Administrator", "enabled": True, "locked": False}]),
     [ADMIN], [("accounts-differ", "accounts.root", '"enabled as Administrator"', "no enabled account of this name")]),
    # What a BMC does not say of an account is no reason to pass over it.
    (of(accounts=[{"name": "root", "role": "", "enabled": None, "locked": None}]), [], [
        ("accounts-differ", "accounts.root", '"enabled"', "no enabled account of this name")]),
    (BMC, [dict(ADMIN, role="Operator")], [
        ("accounts-differ", "accounts.admin.role", '"Administrator"', '"Operator"')]),
    (BMC, [ADMIN, {"name": "guest", "role": None, "required": True}], [
        ("accounts-differ", "accounts.guest", "none", "an enabled account")]),
    (of(error={"stage": "login", "kind": "unauthorized", "text": "HTTP 401"}, accounts=[]), [ADMIN], [
        ("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    (of(unread={"accounts": "HTTP 403"}, accounts=[]), [ADMIN], [
        ("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    (of(address="ipmi://192.0.2.1"), [ADMIN], [("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    (None, [], [("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    # bmc_info was not asked for them. The account that asks is always one of them.
    (of(accounts=[]), [], [("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    (of(accounts=[]), [dict(ADMIN, required=False)], [
        ("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    # Such an account is shown itself alone.
    (of(account={"role": "Operator", "privileges": ["ConfigureComponents", "ConfigureSelf", "Login"]}), [ADMIN], [
        ("accounts-unknown", "accounts", None, "the accounts of the BMC")]),
    (of(account={"role": "Administrator", "privileges": ["ConfigureUsers", "Login"]}), [ADMIN], []),
    # What is there is no less wrong for what could not be read; what is missing may be among that.
    (of(unread={"accounts": "HTTP 500"}), [{"name": "guest", "role": None, "required": True}], [
        ("accounts-unknown", "accounts", None, "the accounts of the BMC"),
        ("accounts-differ", "accounts.admin", '"enabled as Administrator"', "no enabled account of this name")]),
])
def test_accounts_that_are_not_as_expected(bmc, wanted, findings):
    assert found(bmc, accounts=wanted) == findings


@pytest.mark.parametrize("bmc", [
    {}, {"tls": [], "error": 7, "accounts": "x", "address": 1}, {"reached": True, "tls": {"certificate": {
        "valid_from": "x", "valid_until": None}}}, {"accounts": [7, {"name": 7}], "reached": 1}])
def test_what_is_no_answer_of_bmc_info_breaks_nothing(bmc):
    assert found(bmc, certificate=certificate(), accounts=[ADMIN])


def test_a_name_from_a_bmc_is_printed_as_text():
    finding, = found(of(accounts=[{"name": "\x1b[31mroot", "role": "a\nb", "enabled": True}]), accounts=[])
    assert "\x1b" not in "".join(filter(None, finding)) and "\n" not in "".join(filter(None, finding))


@pytest.mark.parametrize(("expected", "text"), [
    ({"accounts": [ADMIN, ADMIN]}, "expected.accounts: found admin twice, expected each account once"),
    ({"certificate": certificate(days_minimum=-1)}, "expected.certificate.days_minimum: found -1, expected 0 or more")])
def test_a_wrong_expectation_is_refused(expected, text):
    with pytest.raises(RefusedError) as refused:
        raise RefusedError(profile.mistakes("h1", expected))
    assert text in str(refused.value)


class Hosts:
    """An API server with one host of which nothing else is known."""

    def list(self, kind, namespace):
        return ([{"metadata": {"name": "h1"}}] if kind.kind == "BareMetalHost" else [], "1")


def test_each_host_is_compared_with_its_own_bmc():
    hosts = [{"name": "h1", "expected": {"accounts": [], "certificate": None}}]
    finding, = service.compare(Hosts(), "metal3", hosts, bmcs=[BMC], now=lambda: NOW)
    assert (finding["code"], finding["field"], finding["level"]) == ("accounts-differ", "accounts.admin", "error")
    finding, = service.compare(Hosts(), "metal3", hosts, bmcs=[dict(BMC, name="h2")], now=lambda: NOW)
    assert (finding["code"], finding["level"]) == ("accounts-unknown", "warning")
    with pytest.raises(RefusedError, match=r"bmcs\[0\]: name: found no text, expected what bmc_info returns"):
        service.compare(Hosts(), "metal3", hosts, bmcs=[{"name": 7}])


def test_the_options_of_a_bmc_are_no_hardware():
    """A server that was not inspected has certificate and accounts all the same."""
    assert set(bmc_expectations.options()) == {"certificate", "accounts"}
    assert found(BMC, certificate=certificate(), accounts=[ADMIN]) == []
