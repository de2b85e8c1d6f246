# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMC addresses, read as the Bare Metal Operator reads them."""
from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import schemes

BASES = ("redfish", "ilo5-redfish", "idrac-redfish", "redfish-virtualmedia", "ilo5-virtualmedia",
         "idrac-virtualmedia", "redfish-uefihttp")


def test_the_table_has_upstreams_schemes():
    expected = {"ipmi", "libvirt"} | set(base + suffix for base in BASES for suffix in ("", "+http", "+https"))
    assert len(expected) == 23
    assert set(schemes.SCHEMES) == expected


# What access.go's drivers answer: NeedsMAC, Driver, BootInterface, RAIDInterface, SupportsSecureBoot,
# RequiresProvisioningNetwork.
@pytest.mark.parametrize("scheme, needs_mac, driver, boot, raid, secure_boot, provisioning_network", [
    ("ipmi", False, "ipmi", "ipxe", False, False, True),
    ("libvirt", True, "ipmi", "ipxe", False, False, True),
    ("redfish", True, "redfish", "ipxe", True, True, True),
    ("redfish+http", True, "redfish", "ipxe", True, True, True),
    ("ilo5-redfish", True, "redfish", "ipxe", True, True, True),
    ("idrac-redfish+https", True, "idrac", "ipxe", True, True, True),
    ("redfish-virtualmedia", False, "redfish", "virtual-media", True, True, False),
    ("ilo5-virtualmedia+http", False, "redfish", "virtual-media", True, True, False),
    ("idrac-virtualmedia", False, "idrac", "virtual-media", True, True, False),
    ("redfish-uefihttp+https", True, "redfish", "uefi-http", True, True, False),
])
def test_what_a_scheme_needs(scheme, needs_mac, driver, boot, raid, secure_boot, provisioning_network):
    row = schemes.SCHEMES[scheme].driver
    assert (row.needs_mac, row.driver, row.boot, row.raid, row.secure_boot, row.provisioning_network) == (
        needs_mac, driver, boot, raid, secure_boot, provisioning_network)


@pytest.mark.parametrize("address, scheme, host, port, system, endpoint, tls", [
    ("192.0.2.1", "ipmi", "192.0.2.1", 623, "", "192.0.2.1:623", False),
    ("bmc.example.org", "ipmi", "bmc.example.org", 623, "", "bmc.example.org:623", False),
    ("192.0.2.1:6233", "ipmi", "192.0.2.1", 6233, "", "192.0.2.1:6233", False),
    ("ipmi://192.0.2.1:6233", "ipmi", "192.0.2.1", 6233, "", "192.0.2.1:6233", False),
    ("ipmi:192.0.2.1:6233", "ipmi", "192.0.2.1", 6233, "", "192.0.2.1:6233", False),
    ("ipmi:192.0.2.1", "ipmi", "192.0.2.1", 623, "", "192.0.2.1:623", False),
    ("ipmi://[2001:db8::1]", "ipmi", "2001:db8::1", 623, "", "[2001:db8::1]:623", False),
    ("[2001:db8::1]:6233", "ipmi", "2001:db8::1", 6233, "", "[2001:db8::1]:6233", False),
    ("libvirt://192.0.2.1:6233/?abc=def", "libvirt", "192.0.2.1", 6233, "", "192.0.2.1:6233", False),
    ("redfish://192.0.2.1", "redfish", "192.0.2.1", 443, "", "https://192.0.2.1:443", True),
    ("redfish:192.0.2.1", "redfish", "192.0.2.1", 443, "", "https://192.0.2.1:443", True),
    ("REDFISH://bmc/x", "redfish", "bmc", 443, "/x", "https://bmc:443", True),
    ("redfish+http://192.0.2.1/redfish/v1/Systems/1", "redfish+http", "192.0.2.1", 80, "/redfish/v1/Systems/1",
     "http://192.0.2.1:80", False),
    ("redfish+https://192.0.2.1:8443/redfish/v1/", "redfish+https", "192.0.2.1", 8443, "", "https://192.0.2.1:8443",
     True),
    ("redfish-virtualmedia://[2001:db8::1]:8000/redfish/v1/Systems/a-b/", "redfish-virtualmedia", "2001:db8::1", 8000,
     "/redfish/v1/Systems/a-b", "https://[2001:db8::1]:8000", True),
])
def test_addresses_that_are_fine(address, scheme, host, port, system, endpoint, tls):
    parsed = bmc_address.parse(address)
    assert (parsed.scheme.name, parsed.host, parsed.effective_port, parsed.system, parsed.endpoint, parsed.uses_tls) \
        == (scheme, host, port, system, endpoint, tls)


@pytest.mark.parametrize("address, text", [
    ("", "a BMC address like"),
    (None, "a BMC address like"),
    ("redfsh://192.0.2.1/redfish/v1/Systems/1", "perhaps redfish"),
    ("idrac-redfish+ftp://192.0.2.1/x", "each bare or with +http or +https"),
    ("http://192.0.2.1/x", "one of redfish"),
    ("ipmi+https://192.0.2.1", "one of redfish"),
    ("ilo4://192.0.2.1", "ilo4 went away with BMO 0.12"),
    ("ilo4-virtualmedia://192.0.2.1", "write ipmi"),
    ("ilo5://192.0.2.1", "write ilo5-redfish or ilo5-virtualmedia"),
    ("irmc://192.0.2.1", "irmc went away with BMO 0.13"),
    ("idrac+https://192.0.2.1", "write idrac-redfish or idrac-virtualmedia"),
    ("redfish://", "a host name or IP address after the scheme"),
    ("redfish:///redfish/v1", "a host name or IP address after the scheme"),
    ("my-.example.org", "a DNS host name or an IP address"),
    ("redfish://under_score/x", "a DNS host name or an IP address"),
    ("redfish://300.1.1.1/x", "an IPv4 address of four numbers"),
    ("redfish://192.0.2/x", "an IPv4 address of four numbers"),
    ("[2001:db8::1]", "write ipmi://[2001:db8::1]"),
    ("2001:db8::1", "write ipmi://[2001:db8::1]"),
    ("redfish://[2001:db8::zz]/x", "correct bmc.address"),
    ("bmc.example.org:623", "write ipmi://bmc.example.org:623"),
    ("redfish://192.0.2.1:0/x", "a port from 1 to 65535"),
    ("redfish://192.0.2.1:70000/x", "a port from 1 to 65535"),
    ("redfish://192.0.2.1:abc/x", "a port from 1 to 65535"),
    ("redfish://192.0.2.1:/x", "a port from 1 to 65535"),
    ("redfish://admin:secret@192.0.2.1/x", "without user name and password"),
    ("redfish://192.0.2.1/x#y", "without #"),
    ("redfish://192.0.2.1/x?y=1", "without a query"),
    ("redfish://192.0.2.1/x y", "without blanks"),
    ("redfish://192.0.2.1/x\n", "without blanks"),
    ("ipmi://192.0.2.1?privilegelevel=ROOT", "privilegelevel one of"),
    ("ipmi://192.0.2.1?level=USER", "only privilegelevel"),
    # What Go's url.Parse refuses, or BMO's check of the host after it.
    ("redfish://192.0.2.1:8000/redfish/v1/Systems/%zz", "whole percent escapes, found '%zz'"),
    ("redfish://192.0.2.1/redfish/v1/Systems/1%", "whole percent escapes, found '%'"),
    ("redfish://192.0.2.1/%2", "whole percent escapes, found '%2'"),
    ("redfish://%31%39%32.0.2.1/x", "a host without percent escapes"),
    ("redfish://bmc%2dx/x", "a host without percent escapes"),
    ("redfish://[fe80::1%25eth0]/x", "an IPv6 address without a zone; remove %25eth0"),
    ("redfish://[fe80::1%eth0]/x", "an IPv6 address without a zone; remove %eth0"),
    ("redfish://2001:db8::1/x", "brackets around an IPv6 address; write [2001:db8::1]"),
    ("redfish-virtualmedia://fe80::1", "brackets around an IPv6 address; write [fe80::1]"),
    ("ipmi:2001:db8::1", "brackets around an IPv6 address; write [2001:db8::1]"),
    ("redfish://[2001:db8::1]x:443/x", "bmc.address"),
    ("redfish://a[b]/x", "bmc.address"),
    ("redfish://[v1.abc]/x", "bmc.address"),
    # RFC 3986: nothing in a path that would be anything else to a template, a shell or a terminal.
    ("redfish://192.0.2.1/{{x}}", "an address of URL characters and whole percent escapes, found '{'"),
    ("redfish://192.0.2.1/a|b", "found '|'"),
    ("redfish://192.0.2.1/a\\b", "an address of URL characters"),
    ("redfish://192.0.2.1/a`b", "found '`'"),
    ("redfish://192.0.2.1/a\u202eb", "found '\\u202e'"),
    ("redfish://192.0.2.1/a\ud800b", "found '\\ud800'"),
    ("libvirt://192.0.2.1?a={b}", "found '{'"),
    ("libvirt://192.0.2.1?a=%zz", "found '%zz'"),
])
def test_addresses_that_are_refused(address, text):
    with pytest.raises(bmc_address.AddressError) as caught:
        bmc_address.parse(address)
    assert text in str(caught.value)


@pytest.mark.parametrize("address, normal", [
    ("192.0.2.1", "ipmi://192.0.2.1"),
    ("ipmi://192.0.2.1:623", "ipmi://192.0.2.1"),
    ("ipmi://192.0.2.1?privilegelevel=OPERATOR", "ipmi://192.0.2.1?privilegelevel=OPERATOR"),
    ("redfish://192.0.2.1:443/redfish/v1/", "redfish://192.0.2.1"),
    ("redfish+http://192.0.2.1:443/redfish/v1/Systems/1/", "redfish+http://192.0.2.1:443/redfish/v1/Systems/1"),
    ("redfish://[2001:db8::1]:8000/x", "redfish://[2001:db8::1]:8000/x"),
    ("redfish://192.0.2.1/redfish/v1/Systems/%7B1%7d", "redfish://192.0.2.1/redfish/v1/Systems/%7B1%7d"),
    ("libvirt://192.0.2.1?a=%20b", "libvirt://192.0.2.1?a=+b"),
])
def test_normal_form(address, normal):
    assert str(bmc_address.parse(address)) == normal
    assert str(bmc_address.parse(normal)) == normal


@pytest.mark.parametrize("one, other, same", [
    ("redfish://192.0.2.1/redfish/v1/Systems/1", "redfish-virtualmedia://192.0.2.1:443/redfish/v1/Systems/1/", True),
    ("redfish://BMC/redfish/v1/Systems/1", "redfish://bmc/redfish/v1/Systems/1", True),
    ("192.0.2.1", "ipmi://192.0.2.1:623", True),
    ("redfish://192.0.2.1/redfish/v1/Systems/1", "redfish://192.0.2.1/redfish/v1/Systems/2", False),
    ("redfish://192.0.2.1", "redfish+http://192.0.2.1", False),
    ("ipmi://192.0.2.1", "redfish://192.0.2.1", False),
])
def test_identity_tells_servers_apart(one, other, same):
    assert (bmc_address.parse(one).identity == bmc_address.parse(other).identity) is same


def test_build_makes_what_parse_reads():
    built = bmc_address.build("redfish-virtualmedia", "2001:db8::1", 8000, "/redfish/v1/Systems/1")
    assert built == "redfish-virtualmedia://[2001:db8::1]:8000/redfish/v1/Systems/1"
    assert bmc_address.build("ipmi", "192.0.2.1", 623, query={"privilegelevel": "USER"}) == \
        "ipmi://192.0.2.1?privilegelevel=USER"
    with pytest.raises(bmc_address.AddressError):
        bmc_address.build("redfish", "a b")


def test_redacted_hides_credentials():
    assert bmc_address.redacted("redfish://admin:secret@192.0.2.1/x") == "redfish://***@192.0.2.1/x"
    assert "secret" not in bmc_address.redacted("admin:secret@192.0.2.1")


# Foreign text -------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from([
    "redfish", "redfish-virtualmedia+http", "ipmi", "libvirt", "ilo4", "://", ":", "/", "//", "[", "]", "@", "?", "#",
    "%", "%41", "%zz", "%25eth0", "::1", "fe80::1", "192.0.2.1", "300.1.1.1", "bmc-1.example", "623", "70000", "{{",
    "}}", " ", "\n", "\x00", "\x1b", "\u202e", "\ud800", "\u0661", "privilegelevel=USER", "=", "&", "redfish/v1", "\\"])
ADDRESSES = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=9).map("".join))


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(ADDRESSES)
@example("redfish://" + "a" * 100000)
@example("a" * 100000 + "://192.0.2.1")
@example("[" * 50000)
def test_any_text_is_an_address_or_a_clear_error(text):
    """What is taken is plain: ASCII, nothing of a template, and read again it is the same."""
    try:
        parsed = bmc_address.parse(text)
    except bmc_address.AddressError as exc:
        assert exc.expected and exc.hint
        return
    normal = str(parsed)
    assert normal.isascii() and normal.isprintable()
    assert not set("{}|<>\"`\\^ ") & set(normal)
    again = bmc_address.parse(normal)
    assert (again.identity, again.query, str(again)) == (parsed.identity, parsed.query, normal)


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.lists(st.text()), st.binary()))
def test_what_is_no_text_is_a_clear_error(value):
    with pytest.raises(bmc_address.AddressError):
        bmc_address.parse(value)
    assert bmc_address.identity_of(value) is None
    assert isinstance(bmc_address.redacted(value), str)


@pytest.mark.parametrize("text", [
    "redfish://admin:hid\u2100den@192.0.2.1/redfish/v1", "redfish://admin:hid\u2100'den@[192.0.2.1/x",
    "redfish://admin:hid den@192.0.2.1:443:1/x", "redfish://admin:hidden@[::1/x", "admin:hidden@192.0.2.1"])
def test_a_login_in_an_address_is_in_no_message(text):
    """Python's own message quotes what is before the path when it has signs that look like others."""
    with pytest.raises(bmc_address.AddressError) as error:
        bmc_address.parse(text)
    said = f"{error.value} {error.value.expected} {error.value.hint} {bmc_address.redacted(text)}"
    assert "hid" not in said and "den" not in said.replace("hidden", "")
