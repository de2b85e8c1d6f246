# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel says of this machine's interfaces."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import own_interface
from ansible_collections.metal3.baremetal.plugins.module_utils._network.wire_probe import ProbeError

# As Linux prints it: eno1 has a link-local address alone, eno2 one of the site, too.
ADDRESSES = """\
00000000000000000000000000000001 01 80 10 80       lo
fe80000000000000005c52fffe313a01 02 40 20 80     eno1
fe80000000000000005c52fffe313a02 03 40 20 80     eno2
fd000022000000000000000000000002 03 40 00 80     eno2
"""


@pytest.mark.parametrize(("name", "has"), [("eno1", False), ("eno2", True), ("eno", False), ("eno3", False)])
def test_an_interface_has_ipv6_with_more_than_a_link_local_address(monkeypatch, tmp_path, name, has):
    (tmp_path / "addresses").write_text(ADDRESSES)
    monkeypatch.setattr(own_interface, "_ADDRESSES", str(tmp_path / "addresses"))
    assert own_interface.has_ipv6(name) is has


def test_without_ipv6_no_interface_has_an_address_of_it(monkeypatch, tmp_path):
    monkeypatch.setattr(own_interface, "_ADDRESSES", str(tmp_path / "none"))
    assert not own_interface.has_ipv6("eno1")


def test_the_card_of_an_interface():
    assert own_interface.card("lo") == "00:00:00:00:00:00"
    with pytest.raises(ProbeError, match="interface eno-none: No such device; check that it exists"):
        own_interface.card("eno-none")
