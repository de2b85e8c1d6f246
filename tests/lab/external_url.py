# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual media from a URL of its own for a BMC with an IPv6 address, the operator's IRONIC_EXTERNAL_URL_V6.

The lab's BMCs listen on 127.0.0.1 alone, so a forwarder on [::1] is put before them. The other URL is the lab's image
server by the name localhost, which its certificate has.
"""
from __future__ import annotations

import contextlib

import role_settings
from forwarder import Forwarder
from support import eventually, only

FIELD = "external_http_url"


@contextlib.contextmanager
def of_ipv6(lab):
    """Run the operator with the other URL, which is returned."""
    url = f"https://localhost:{lab.figures['ports']['image_server']}/ironic"
    with role_settings.changed("bmo", bmo_ironic_external_url_v6=url):
        yield url


@contextlib.contextmanager
def ipv6_bmc(lab, server):
    """Give out an inventory in which a server's BMC has the address [::1]; its host has the former one afterwards."""
    name, old = server["name"], server["bmc"]["address"]
    behind = lab.figures["address"], lab.figures["ports"]["redfish"]
    listener = "%s:%d" % behind
    with contextlib.closing(Forwarder("::1", behind)) as forwarder:
        new = old.replace(listener, f"[::1]:{forwarder.port}")
        assert new != old
        try:
            # The certificate of the lab's BMCs has no IPv6 address.
            yield lab.inventory({name: {"bmc_address": new, "bmc_disable_certificate_verification": True}})
        finally:
            _back(lab, name)
    assert FIELD not in registered(lab, name, "https://" + listener).driver_info
    assert lab.host(name)["spec"]["bmc"]["address"] == old and lab.state(name) == "available"


def _back(lab, name):
    given = (*only(name), "-e", "hosts_allow_detach=true")
    lab.playbook("enroll", *given, "-e", "bmc_disable_certificate_verification=false").ok()
    # The field that nothing describes any more goes now, so that a later run of another test changes nothing.
    lab.playbook("enroll", *given).ok()


def registered(lab, name, address):
    """Wait until a host is a node of Ironic with the address of its BMC, and return the node."""
    def found():
        node = lab.nodes().get(name)
        return node if node and node.driver_info["redfish_address"].startswith(address) else None

    return eventually(found, 60, f"{name} registered with {address}")
