# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ironic that somebody else runs: what is found before the operator uses it, asked of the lab's real one."""
from __future__ import annotations

import contextlib
import json
import time

import plane_site
import pytest
from demanding_proxy import DemandingProxy
from older_api import OlderApi
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses.schemes import DRIVERS
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses.schemes import SCHEMES as SCHEMES_OF
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import (
    IronicClient,
    ironic_argument_spec,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import checks as fitness
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import service as check_service
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import check_argument_spec

WRONG = "canary-wrong-password"
SCHEMES = ["ipmi", "redfish", "idrac-redfish", "redfish-virtualmedia", "idrac-virtualmedia", "redfish-uefihttp"]


@pytest.fixture(scope="module")
def external(lab):
    """The variables of the roles that describe the lab's Ironic as somebody else's."""
    images = lab.figures["urls"]["image_server"] + "/agent/"
    return {"ironic_mode": "external", "ironic_url": lab.figures["urls"]["ironic"],
            "ironic_ca_file": str(lab.dir / "pki" / "ca.crt"), "ironic_image_ca_file": str(lab.dir / "pki" / "ca.crt"),
            "ironic_username_file": str(lab.dir / "secrets" / "ironic_username"),
            "ironic_password_file": str(lab.dir / "secrets" / "ironic_password"),
            "bmo_ironic_url": "{{ ironic_url }}/v1/", "bmo_ironic_ca_file": "{{ ironic_ca_file }}",
            "bmo_ironic_username_file": "{{ ironic_username_file }}",
            "bmo_ironic_password_file": "{{ ironic_password_file }}",
            "bmo_deploy_kernel_url": images + "vmlinuz", "bmo_deploy_ramdisk_url": images + "initrd"}


@pytest.fixture(scope="module")
def check(lab, external):
    """Ask the lab's Ironic with other options, return what is known of it."""
    def read(name):
        with open(external[name], encoding="utf-8") as stream:
            return stream.read().strip()

    spec = dict(ironic_argument_spec(), **check_argument_spec())
    good = {"endpoint": external["ironic_url"], "ca_cert": external["ironic_ca_file"],
            "username": read("ironic_username_file"), "password": read("ironic_password_file"),
            "image_ca_cert": external["ironic_ca_file"], "bmc_schemes": SCHEMES,
            "bmc_addresses": [server["bmc"]["address"] for server in lab.servers.values()],
            "boot_images": {"kernel_url": external["bmo_deploy_kernel_url"],
                            "ramdisk_url": external["bmo_deploy_ramdisk_url"]}}

    def call(**changes):
        defaults = dict((name, option.get("default")) for name, option in spec.items())
        return check_service.run(dict(defaults, **dict(good, **changes)))
    return call


def refused(check, **changes):
    """Return what is wrong, as lines, by the fields that they are about."""
    with pytest.raises(RefusedError) as error:
        check(**changes)
    assert WRONG not in str(error.value)
    return dict((problem.field, str(problem)) for problem in error.value.problems)


def test_the_labs_ironic_fits(check):
    found = check()
    assert {"ipmi", "idrac", "redfish"} <= set(found["drivers"]) and found["warnings"] == []
    assert len(found["conductors"]) == 1
    assert int(found["api_version"].partition(".")[2]) >= 89 and abs(found["clock_difference_seconds"]) < 5


def test_a_wrong_password_is_refused(check):
    line, = refused(check, password=WRONG).values()
    assert "Ironic refuses the login (HTTP 401" in line


def test_a_wrong_authority_is_refused(check, external, tmp_path):
    other = tmp_path / "other.crt"
    with open("/etc/ssl/certs/ca-certificates.crt", encoding="utf-8") as stream:
        other.write_text(stream.read())
    line, = refused(check, ca_cert=str(other)).values()
    assert f"TLS with {external['ironic_url']}/v1 fails" in line and "set ca_cert" in line


def test_an_ironic_that_does_not_answer_is_reported(check):
    line, = refused(check, endpoint="https://127.0.0.1:1").values()
    assert "does not answer; start it, or correct the endpoint" in line


def test_no_login_is_refused_unless_asked_for(check):
    """The lab's Ironic wants one, so that the word alone does not open it."""
    found = refused(check, username=None, password=None)
    assert "username: not set, expected user name and password" in found["username"]
    asked_for = refused(check, username=None, password=None, auth_type="none")
    assert list(asked_for) == ["endpoint"] and "HTTP 401" in asked_for["endpoint"]


def test_hardware_types_and_interfaces_that_are_not_enabled_are_named(lab):
    """The lab's Ironic has those of all schemes, so that one of another hardware type is asked for."""
    client = IronicClient({"cloud": "metal3-lab", "clouds_file": str(lab.dir / "clouds.yaml")})
    enabled = client.list_drivers_in_detail()
    wanted = [DRIVERS[0]._replace(driver="irmc"), SCHEMES_OF["redfish"].driver._replace(driver="fake-hardware")]
    hardware_type, *interfaces = [str(problem) for problem in fitness.driver_problems(wanted, enabled)]
    assert "enabled_hardware_types: found fake-hardware, idrac, ipmi, " in hardware_type
    assert "expected irmc, for BMC addresses ipmi" in hardware_type
    assert any("enabled_bios_interfaces of fake-hardware: found" in line for line in interfaces)


def test_schemes_that_the_operator_does_not_know_are_named(check):
    found = refused(check, bmc_schemes=["nosuch"], bmc_addresses=["irmc://192.0.2.1"])
    assert "bmc_schemes[0]: found \"nosuch\", expected a scheme" in found["bmc_schemes[0]"]
    assert "bmc_addresses[0]: found \"irmc://192.0.2.1" in found["bmc_addresses[0]"]


def test_boot_images_must_be_there(check, external):
    missing = external["bmo_deploy_kernel_url"] + "-missing"
    found = refused(check, boot_images={"kernel_url": missing, "ramdisk_url": None, "iso_url": missing})
    assert f"found {missing}: HTTP 404" in found["boot_images.kernel_url"]
    assert "boot_images.ramdisk_url: not set" in found["boot_images.ramdisk_url"]
    assert "HTTP 404" in found["boot_images.iso_url"]


def test_a_clock_that_differs_is_refused(lab, external, check):
    spec = dict(ironic_argument_spec(), **check_argument_spec())
    with open(external["ironic_username_file"], encoding="utf-8") as name, \
            open(external["ironic_password_file"], encoding="utf-8") as password:
        params = dict(dict((option, entry.get("default")) for option, entry in spec.items()),
                      endpoint=external["ironic_url"], ca_cert=external["ironic_ca_file"],
                      username=name.read().strip(), password=password.read().strip())
    expected = r"clock: found (59 min \d+ s|1 h) behind this machine's, expected at most 30 s"
    with pytest.raises(RefusedError, match=expected):
        check_service.run(params, clock=lambda: time.time() + 3600)


def test_all_that_does_not_fit_is_reported_at_once(check, external):
    missing = external["bmo_deploy_kernel_url"] + "-missing"
    found = refused(check, password=WRONG, bmc_schemes=["nosuch"], client_cert="/nonexistent",
                    boot_images={"kernel_url": missing, "ramdisk_url": missing})
    assert {"client_key", "endpoint", "bmc_schemes[0]", "boot_images.kernel_url", "boot_images.ramdisk_url"} == set(
        found)


def test_the_operator_runs_with_it(lab, external):
    """The same Ironic by other variables: checked first, then the operator stays as it is."""
    run = lab.playbook("install", "--tags", "ironic,bmo", extra=external).ok()
    assert "Check that the Bare Metal Operator can use this Ironic" in run.output and run.changed() == 0, run.output
    broken = dict(external, ironic_bmc_schemes=["nosuch"], ironic_boot_iso_url=external["bmo_deploy_kernel_url"] + "x")
    refusal = lab.playbook("install", "--tags", "ironic,bmo", extra=broken)
    refusal.failed("bmc_schemes[0]: found \"nosuch\"", "boot_images.iso_url: found")
    assert "Run the Bare Metal Operator" not in refusal.output, json.dumps(broken)


@pytest.mark.parametrize("option", ["ironic_auth_type", "ironic_tls"])
def test_the_labs_own_is_never_without_login_or_tls(lab, option):
    """It is a process (decision 0745)."""
    before = lab.pid("ironic")
    lab.playbook("install", "--tags", "ironic", extra={option: "none"}).failed(
        f"{option}: found none", "expected http_basic and not none", "run Ironic in a cluster")
    assert lab.pid("ironic") == before


def in_front(lab, folder, kind, **options):
    """Return a server in front of the lab's Ironic, and its certificate and key.

    :param kind: a class of ``TlsProxy``
    """
    pair = plane_site.issue(lab, folder, "127.0.0.1")
    return kind("127.0.0.1", pair, str(lab.dir / "pki" / "ca.crt"), ("127.0.0.1", lab.figures["ports"]["ironic"]),
                **options), pair


@pytest.mark.parametrize(("newest", "text"), [
    ("1.86", "found API version 1.86, expected 1.87 or newer"),
    ("1.88", "expected 1.89 or newer, which the Bare Metal Operator 0.13 needs")], ids=["collection", "operator"])
def test_an_ironic_whose_api_is_too_old_is_refused_by_a_run(lab, external, tmp_path, newest, text):
    """Before the operator asks it."""
    proxy, _pair = in_front(lab, tmp_path, OlderApi, newest=newest)
    with contextlib.closing(proxy):
        given = dict(external, ironic_url=proxy.url.removesuffix("/v1/"))
        refusal = lab.playbook("install", "--tags", "ironic,bmo", extra=given)
    refusal.failed(text)
    assert "Run the Bare Metal Operator" not in refusal.output


@pytest.fixture
def demanding(lab, tmp_path):
    """A server in front of the lab's Ironic that lets in who shows a certificate, and the pair that does."""
    proxy, pair = in_front(lab, tmp_path, DemandingProxy)
    yield proxy, pair
    # The operator of the lab asks the lab's Ironic again.
    lab.playbook("install", "--tags", "bmo").ok()
    proxy.close()


@pytest.mark.long
def test_the_operator_shows_the_certificate_that_ironic_asks_for(lab, external, demanding):
    proxy, (certificate, key) = demanding
    given = dict(external, ironic_url=proxy.url.removesuffix("/v1/"))
    lab.playbook("install", "--tags", "ironic,bmo", extra=given).failed("1 problem")
    assert proxy.refused and not proxy.clients
    given.update(ironic_client_cert_file=certificate, ironic_client_key_file=key)
    lab.playbook("install", "--tags", "ironic,bmo", extra=given).ok()
    refused = proxy.refused
    # The check has ended; now the operator looks after its hosts.
    proxy.clients.clear()
    eventually(lambda: proxy.clients, 180, "the operator has come in")
    assert set(proxy.clients) == {"ironic"} and proxy.refused == refused
