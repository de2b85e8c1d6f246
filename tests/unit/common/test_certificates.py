# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates are read, those with the serial number of Cluster API's authorities too."""
from __future__ import annotations

import warnings

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common import certificates

# openssl req -x509 -set_serial 0 -subj /CN=kubernetes
NUMBER_ZERO = b"""\
-----BEGIN CERTIFICATE-----
MIIBbTCCARSgAwIBAgIBADAKBggqhkjOPQQDAjAVMRMwEQYDVQQDDAprdWJlcm5l
dGVzMCAXDTI2MTEyNTE1MDUzNVoYDzIxMjYxMTAxMTUwNTM1WjAVMRMwEQYDVQQD
DAprdWJlcm5ldGVzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEzSKQCmz0HqAk
Z2P4/+nKGN3JsI59W2413meZATuDYHSD4uW7CpQONgz+F+D1PjdvQxK91vH3iTt4
TXkbqIgmK6NTMFEwHQYDVR0OBBYEFBUenWPmkaTEcQwKtpCcPjzS5nZHMB8GA1Ud
IwQYMBaAFBUenWPmkaTEcQwKtpCcPjzS5nZHMA8GA1UdEwEB/wQFMAMBAf8wCgYI
KoZIzj0EAwIDRwAwRAIgPS9a2WIt25bXBp6939TWV9fW28G/EdL5cAAaBIakBqIC
ICEtpd9dEQ0kYuEtR/xGQ78ObidoIsTZ8/bm2IXxtLKR
-----END CERTIFICATE-----
"""


def test_a_certificate_with_the_number_zero_is_read_without_a_warning():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        read = [certificates.first(NUMBER_ZERO), *certificates.every(NUMBER_ZERO * 2)]
        assert [item.subject.rfc4514_string() for item in read] == ["CN=kubernetes"] * 3
    assert found == []


@pytest.mark.parametrize("content", [b"", b"no certificate", NUMBER_ZERO[:200]])
def test_what_is_no_certificate_is_refused(content):
    for read in (certificates.first, certificates.every):
        with pytest.raises(ValueError, match=r"PEM|base64|ASN|malformed|Unable"):
            read(content)
