# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which proxy the environment names for a URL: as Go's programs take it, so that kubectl and the modules agree."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import proxies

PROXY = "http://192.0.2.10:3128"


@pytest.mark.parametrize(("url", "environ", "expected"), [
    ("https://192.0.2.1:6443", {"HTTPS_PROXY": PROXY}, PROXY),
    ("https://192.0.2.1:6443", {"https_proxy": PROXY}, PROXY),
    ("HTTPS://192.0.2.1:6443", {"HTTPS_PROXY": PROXY}, PROXY),
    ("http://192.0.2.1", {"HTTPS_PROXY": PROXY}, ""),
    ("http://192.0.2.1", {"HTTP_PROXY": PROXY}, PROXY),
    # As it is often written.
    ("https://a.example", {"HTTPS_PROXY": "proxy.example:3128"}, "http://proxy.example:3128"),
    # Go's programs do not know it, and it may be of SOCKS.
    ("https://a.example", {"ALL_PROXY": "socks5://127.0.0.1:1080"}, ""),
    ("https://a.example", {"HTTPS_PROXY": ""}, ""),
    ("ftp://a.example", {"HTTPS_PROXY": PROXY, "HTTP_PROXY": PROXY}, ""),
    # A proxy would ask itself.
    ("https://localhost:6443", {"HTTPS_PROXY": PROXY}, ""),
    ("https://127.0.0.1:6443", {"HTTPS_PROXY": PROXY}, ""),
    ("https://127.0.53.1:6443", {"HTTPS_PROXY": PROXY}, ""),
    ("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, ""),
    ("https://a.example", {"HTTPS_PROXY": PROXY, "NO_PROXY": "a.example"}, ""),
    ("https://a.example", {"HTTPS_PROXY": PROXY, "no_proxy": "b.example"}, PROXY)])
def test_the_proxy_of_a_url(url, environ, expected):
    assert proxies.proxy_of(url, environ) == expected


@pytest.mark.parametrize(("host", "no_proxy", "expected"), [
    ("a.example", "", False),
    ("a.example", " , ", False),
    ("a.example", "*", True),
    ("a.example", "example", True),
    ("a.example", "b.example, A.Example", True),
    ("ba.example", "a.example", False),
    ("x.a.example", "a.example", True),
    ("a.example", ".a.example", False),
    ("x.a.example", ".a.example", True),
    ("x.a.example", "*.a.example", True),
    ("a.example.", "a.example", True),
    ("a.example:8443", "a.example:8443", True),
    ("a.example:8443", "a.example:443", False),
    ("a.example", "a.example:443", True),
    ("192.0.2.7", "192.0.2.0/24", True),
    ("192.0.3.7", "192.0.2.0/24", False),
    # With bits of a host.
    ("192.0.2.7", "192.0.2.1/24", True),
    ("192.0.2.7", "192.0.2.7", True),
    ("192.0.2.7", "2.7", False),
    ("a.example", "192.0.2.0/24", False),
    ("192.0.2.7", "no network/24", False),
    ("[2001:db8::1]", "2001:DB8:0::1", True),
    ("[2001:db8::1]", "[2001:db8::1]", True),
    ("[2001:db8::1]:6443", "[2001:db8::1]:6443", True),
    ("[2001:db8::1]:6443", "[2001:db8::1]:443", False),
    ("[2001:db8::1]", "2001:db8::/64", True)])
def test_who_is_asked_without_one(host, no_proxy, expected):
    assert proxies.is_direct(f"https://{host}", no_proxy) is expected
