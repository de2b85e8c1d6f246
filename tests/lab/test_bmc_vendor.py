# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that Ironic takes for Dell's: what is said before and after a scheme that it does not boot them by.

Of Dell's BMC there is the name only. ``idrac-virtualmedia`` asks for Dell's own extension, which it has not.
"""
from __future__ import annotations

import pytest
from support import AT_ONCE, only

SERVER = "server-04"


@pytest.fixture(scope="module")
def of_scheme(lab, room):
    """Such a server, which is no host: a callable returns an inventory in which its BMC has a scheme."""
    room.set_knobs(SERVER, made_by_dell=True)
    lab.remove_hosts(SERVER)
    place = lab.servers[SERVER]["bmc"]["address"].partition("://")[2]
    yield lambda scheme: lab.inventory({SERVER: {"bmc_address": f"{scheme}+https://{place}"}})
    room.clear_knobs(SERVER)
    lab.remove_hosts(SERVER)
    lab.playbook("enroll", *only(SERVER)).ok()
    assert lab.state(SERVER) == "available"


def test_preflight_names_the_scheme_that_must_not_be_used_and_the_one_that_fits(lab, of_scheme):
    run = lab.playbook("preflight", "-i", of_scheme("redfish-virtualmedia"), *only(SERVER))
    said = "\n".join(run.failed("1 problem at 1 of 1 servers").output_of(SERVER))
    assert "bmc_address: found redfish-virtualmedia+https must not be used for Dell machines" in said
    assert "write idrac-virtualmedia://" in said
    run = lab.playbook("preflight", "-i", of_scheme("redfish"), *only(SERVER)).ok()
    assert "redfish+https is not made for Dell machines" in run.output


@pytest.mark.long
def test_ironic_does_not_boot_it_by_that_scheme_and_by_idracs_over_the_network(lab, of_scheme):
    """Enrolment tries the login only, unless it is asked for all that preflight checks."""
    run = lab.playbook("enroll", "-i", of_scheme("redfish-virtualmedia"), *AT_ONCE, *only(SERVER))
    said = "\n".join(run.failed("1 of 1 hosts failed").output_of(SERVER))
    for text in ("boot interface is not suitable for node", "does not boot a server of this vendor",
                 "choose the scheme that the playbook preflight recommends for bmc_address"):
        assert text in said, said
    lab.remove_hosts(SERVER)
    lab.playbook("enroll", "-i", of_scheme("idrac-redfish"), *only(SERVER)).ok()
    node = lab.nodes()[SERVER]
    assert (lab.state(SERVER), node.driver, node.properties["vendor"]) == ("available", "idrac", "Dell Inc.")
