# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an Ironic is one that the operator can use: rules over what it says, and questions to one behind HTTP."""
from __future__ import annotations

import pytest
from fakes.http_ironic import HttpIronic

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses.schemes import DRIVERS, SCHEMES
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import ironic_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import checks as fitness
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import service as check_service
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import check_argument_spec

PASSWORD = "canary-7711"


def enabled(driver):
    """Return a driver of Ironic's with just what the operator sets on its nodes."""
    return dict((f"enabled_{kind}_interfaces", [name]) for kind, name in fitness.interfaces_of(driver).items())


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_each_scheme_needs_a_hardware_type_and_its_interfaces(scheme):
    driver = SCHEMES[scheme].driver
    have = dict(enabled(driver), name=driver.driver)
    assert fitness.driver_problems([driver], [have]) == []
    for option in enabled(driver):
        line, = fitness.driver_problems([driver], [dict(have, **{option: ["other"]})])
        assert f"{option} of {driver.driver}: found other, expected " in str(line) and driver.name in str(line)
    line, = fitness.driver_problems([driver], [dict(have, name="manual-management")])
    assert f"enabled_hardware_types: found manual-management, expected {driver.driver}" in str(line)


@pytest.mark.parametrize("value", [None, "ipxe", {"ipxe": 1}, [1, None]])
def test_any_answer_about_interfaces_is_no_traceback(value):
    driver = DRIVERS[0]
    assert fitness.driver_problems([driver], [dict(enabled(driver), name="ipmi", enabled_boot_interfaces=value)])


@pytest.mark.parametrize("params, fields", [
    ({"endpoint": "https://a"}, ["username"]),
    ({"endpoint": "https://a", "auth_type": "none"}, []),
    ({"endpoint": "http://a", "username": "b"}, ["endpoint"]),
    ({"endpoint": "http://a", "username": "b", "validate_certs": False}, []),
    ({"endpoint": "https://a", "username": "b", "client_key": "/k"}, ["client_cert"]),
    ({"cloud": "c"}, []),
    ({"endpoint": "http://a", "client_cert": "/c", "boot_images": {"ramdisk_url": "https://b"}},
     ["username", "endpoint", "client_key", "boot_images.kernel_url"]),
])
def test_options_are_checked_all_at_once(params, fields):
    assert [problem.field for problem in fitness.option_problems(params)] == fields


def test_addresses_and_schemes_that_are_wrong_are_named_without_a_password():
    drivers, problems = fitness.drivers_of(
        ["redfish://a/b", "redfish://admin:canary-9921@192.0.2.1/redfish/v1/Systems/1", "irmc://192.0.2.1"], ["ilo"])
    assert [driver.name for driver in drivers] == ["redfish"]
    assert [problem.field for problem in problems] == ["bmc_addresses[1]", "bmc_addresses[2]", "bmc_schemes[0]"]
    assert "canary-9921" not in str(problems)


def test_what_is_old_dead_or_late_is_named():
    assert "found 1.88 of https://a, expected 1.89 or newer" in str(fitness.version_problems("https://a", 88)[0])
    assert fitness.version_problems("https://a", 89) == []
    one, two = {"hostname": "one", "alive": False}, {"hostname": "two", "alive": True}
    drivers = [{"name": "redfish"}]
    assert fitness.conductor_problems([two], drivers) == ([], [])
    assert fitness.conductor_problems([one, two], drivers)[1] == [
        "ironic: conductors: one is offline; its nodes wait for another one"]
    # With SQLite none says that it is alive, and all the same its drivers are there.
    assert fitness.conductor_problems([one], drivers) == ([], [])
    assert "found one offline, expected one that is alive" in str(fitness.conductor_problems([one], [])[0][0])
    assert "conductors: not set" in str(fitness.conductor_problems([], [])[0][0])
    assert "found 31 s ahead of this machine's" in str(fitness.clock_problems(31.2, 30)[0][0])
    assert fitness.clock_problems(-30, 30) == ([], [])
    assert len(fitness.clock_problems(None, 30)[1]) == 1


def test_an_ironic_that_lets_in_everybody_is_refused_unless_asked_for():
    """The server in memory asks nobody for a login."""
    spec = dict(ironic_argument_spec(), **check_argument_spec())
    params = dict((name, option.get("default")) for name, option in spec.items())
    with HttpIronic() as server:
        with pytest.raises(RefusedError) as error:
            check_service.run(dict(params, endpoint=server.url, username="admin", password=PASSWORD,
                                   validate_certs=False))
        assert f"auth_type: found {server.url}/v1, which answers without a login" in str(error.value)
        assert PASSWORD not in str(error.value)
        assert check_service.run(dict(params, endpoint=server.url, auth_type="none", validate_certs=False))["drivers"]
