# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates that users give for Ironic: what does not belong together is named, before anything is written."""
from __future__ import annotations

from pathlib import Path

import bmc_certificates
import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import given_certificate

ADDRESS = "192.0.2.2"


def pair(folder, name, **options):
    paths, signer = bmc_certificates.issue(folder, name, **dict({"address": ADDRESS}, **options))
    return [Path(path).read_text() for path in paths], signer


@pytest.fixture
def site(tmp_path):
    """An authority and a certificate of it; a stranger's pair beside them."""
    (authority, _key), signer = pair(tmp_path, "authority")
    (certificate, key), _signer = pair(tmp_path, "ironic", issuer=signer)
    (other, other_key), _signer = pair(tmp_path, "other")
    return {"authority": authority, "certificate": certificate, "key": key, "other": other, "other_key": other_key,
            "signer": signer}


def texts(*given):
    return [str(problem) for problem in given_certificate.problems(*given)]


def test_what_belongs_together_fits(site):
    assert texts(site["certificate"], site["key"], site["other"] + site["authority"], ADDRESS) == []
    assert texts(site["certificate"], site["key"], site["authority"], None) == []
    # Its own authority.
    assert texts(site["other"], site["other_key"], site["other"], ADDRESS) == []


def test_an_authority_that_did_not_issue_it_is_named(site):
    assert texts(site["certificate"], site["key"], site["other"], ADDRESS) == [
        'ironic: tls_authority: found "CN=other", expected the issuer of tls_certificate, "CN=authority"; '
        'give the certificate of the authority that issued it']


def test_key_address_and_time_are_checked_and_all_is_reported(site, tmp_path):
    (expired, key), _signer = pair(tmp_path, "late", days=-1, issuer=site["signer"])
    found = texts(expired, site["other_key"], site["authority"], "192.0.2.3")
    assert [text.partition(": found")[0] for text in found] == [
        "ironic: tls_key", "ironic: tls_certificate", "ironic: tls_certificate"]
    assert "192.0.2.3 among its alternative names; issue it for provisioning_ip" in found[2]
    assert texts(expired, key, site["authority"], ADDRESS)[0].startswith("ironic: tls_certificate: found")


@pytest.mark.parametrize("text", ["", "text", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_what_cannot_be_read_is_reported_without_its_contents(site, text):
    found = texts(text, text, text, ADDRESS)
    assert [line.split(":")[1].strip() for line in found] == ["tls_certificate", "tls_authority", "tls_key"]
    assert "AAAA" not in "".join(found)
