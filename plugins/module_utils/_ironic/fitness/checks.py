# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an Ironic that somebody else runs is one that the Bare Metal Operator can use; pure.

Sources, of the Bare Metal Operator 0.13: pkg/provisioner/ironic/clients/features.go (API version),
pkg/provisioner/ironic/dependencies.go (drivers), pkg/provisioner/ironic/factory.go (boot images),
pkg/provisioner/ironic/register.go and pkg/hardwareutils/bmc (interfaces of a node).
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ..._bmc.addresses.address import AddressError, parse, redacted
from ..._bmc.addresses.schemes import DRIVERS, SCHEMES
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..._common.texts.formats import duration

CODE = "ironic"
# "Version 1.89 allows attaching and detaching virtual media", which it needs whatever the hosts are.
OPERATOR_MINOR = 89
DEFAULT_CLOCK_DIFFERENCE_SECONDS = 30
_IDRAC = "idrac-redfish"
# What the operator sets by name on a node of each driver; interfaces that it leaves to Ironic are not here.
_BOOT = {"ipxe": "ipxe", "virtual-media": "redfish-virtual-media", "uefi-http": "redfish-https"}
_INSPECT = "agent"
_LISTS = ("kernel_url", "ramdisk_url", "iso_url")


def interfaces_of(driver: Any) -> dict[str, str]:
    """Return the interfaces that the operator sets on nodes of a driver.

    :param driver: a Driver of ``_bmc.addresses.address``
    """
    wanted = {"inspect": _INSPECT, "boot": _BOOT[driver.boot]}
    if driver.driver == "ipmi":
        return dict(wanted, raid="no-raid")
    if driver.driver == "redfish":
        return dict(wanted, firmware="redfish", raid="redfish")
    if driver.boot == "virtual-media":
        wanted["boot"] = "idrac-redfish-virtual-media"
    return dict(wanted, bios=_IDRAC, firmware="redfish", management=_IDRAC, power=_IDRAC, raid=_IDRAC, vendor=_IDRAC)


def drivers_of(addresses: Iterable[str], schemes: Iterable[str]) -> tuple[list[Any], list[Problem]]:
    """Return ``(drivers, problems)``: what the hosts' BMCs need.

    :param addresses: BMC addresses of hosts
    :param schemes: schemes of BMC addresses, for hosts that are not there yet
    """
    found, problems = {}, []
    for number, address in enumerate(addresses):
        try:
            driver = parse(address).driver
        except AddressError as exc:
            problems.append(Problem(CODE, "ironic", f"bmc_addresses[{number}]", shown(redacted(address)), exc.expected,
                                    exc.hint))
            continue
        found[driver.name] = driver
    for number, scheme in enumerate(schemes):
        if scheme not in SCHEMES:
            problems.append(Problem(CODE, "ironic", f"bmc_schemes[{number}]", shown(scheme),
                                    "a scheme of BMC addresses",
                                    f"such as {', '.join(driver.name for driver in DRIVERS)}"))
            continue
        found[SCHEMES[scheme].driver.name] = SCHEMES[scheme].driver
    return [found[name] for name in sorted(found)], problems


def option_problems(params: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with how Ironic is to be reached; parameters as of the module ``ironic_check``."""
    found = []
    endpoint, verified = params.get("endpoint"), params.get("validate_certs") is not False
    if endpoint and not params.get("username") and params.get("auth_type") is None:
        found.append(Problem(
            CODE, "ironic", "username", None, "user name and password of Ironic's API",
            "set them, or set auth_type to none if everybody who reaches this Ironic may use it"))
    if endpoint and urlsplit(endpoint).scheme == "http" and verified:
        found.append(Problem(
            CODE, "ironic", "endpoint", shown(endpoint), "an address that begins with https://",
            "give it TLS, or set validate_certs to false if nobody else is on this network"))
    if bool(params.get("client_cert")) != bool(params.get("client_key")):
        missing = "client_key" if params.get("client_cert") else "client_cert"
        found.append(Problem(CODE, "ironic", missing, None, "the other half of the client's certificate",
                             "set both or neither"))
    images = params.get("boot_images") or {}
    for one, other in (("kernel_url", "ramdisk_url"), ("ramdisk_url", "kernel_url")):
        if images.get(one) and not images.get(other):
            found.append(Problem(CODE, "ironic", f"boot_images.{other}", None, f"a URL, because {one} is set",
                                 "the Bare Metal Operator does not start with one of them"))
    return found


def version_problems(server: str, minor: int) -> list[Problem]:
    """Return a problem when the operator refuses Ironic's API.

    :param server: Ironic's URL
    :param minor: of its newest API version
    """
    if minor >= OPERATOR_MINOR:
        return []
    return [Problem(CODE, "ironic", "API version", f"1.{minor} of {server}",
                    f"1.{OPERATOR_MINOR} or newer, which the Bare Metal Operator 0.13 needs", "upgrade Ironic")]


def driver_problems(wanted: Sequence[Any], enabled: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Return which hardware types and interfaces Ironic lacks.

    :param wanted: Drivers, see :func:`drivers_of`
    :param enabled: Ironic's drivers in detail, with a list ``enabled_<kind>_interfaces`` for each kind
    """
    if not enabled:
        # The conductors are the problem.
        return []
    known, found = dict((driver["name"], driver) for driver in enabled), []
    for driver in wanted:
        details = known.get(driver.driver)
        if details is None:
            found.append(Problem(
                CODE, "ironic", "enabled_hardware_types", ", ".join(sorted(known)) or None,
                f"{driver.driver}, for BMC addresses {driver.name}", "add it to the configuration of the conductors"))
            continue
        for kind, name in sorted(interfaces_of(driver).items()):
            option = f"enabled_{kind}_interfaces"
            have = details.get(option)
            have = [str(entry) for entry in have] if isinstance(have, list) else []
            if name not in have:
                found.append(Problem(
                    CODE, "ironic", f"{option} of {driver.driver}", ", ".join(sorted(have)) or None,
                    f"{name}, for BMC addresses {driver.name}", "add it to the configuration of the conductors"))
    return found


def conductor_problems(conductors: Sequence[Mapping[str, Any]],
                       enabled: Sequence[Mapping[str, Any]]) -> tuple[list[Problem], list[str]]:
    """Return ``(problems, warnings)`` about Ironic's conductors.

    :param conductors: dicts with ``hostname`` and ``alive``
    :param enabled: Ironic's drivers, which are those of the conductors that do their work
    """
    dead = sorted(str(entry["hostname"]) for entry in conductors if entry.get("alive") is not True)
    if not enabled:
        return [Problem(CODE, "ironic", "conductors", f"{', '.join(dead)} offline" if dead else None,
                        "one that is alive", "look at the conductors' log, and start them")], []
    if len(dead) == len(conductors):
        # With SQLite none says so (ironic/conductor/base_manager.py, _conductor_service_record_keepalive).
        return [], []
    return [], [f"ironic: conductors: {name} is offline; its nodes wait for another one" for name in dead]


def clock_problems(difference_seconds: float | None, allowed_seconds: int) -> tuple[list[Problem], list[str]]:
    """Return ``(problems, warnings)`` about Ironic's clock.

    :param difference_seconds: by how much it is ahead, None when Ironic does not report the time
    :param allowed_seconds: the largest difference that is no problem
    """
    if difference_seconds is None:
        return [], ["ironic: clock: Ironic's answer has no time, so that its clock is not compared"]
    if abs(difference_seconds) <= allowed_seconds:
        return [], []
    side = "ahead of" if difference_seconds > 0 else "behind"
    return [Problem(
        CODE, "ironic", "clock", f"{duration(abs(difference_seconds))} {side} this machine's",
        f"at most {duration(allowed_seconds)}",
        "set the clocks of both by NTP: certificates and agents' tokens expire")], []


def image_names() -> tuple[str, ...]:
    """Return the options of ``boot_images``, in the order in which they are asked for."""
    return _LISTS


def image_problem(option: str, url: str, reason: str) -> Problem:
    """Return the problem of a boot image that can't be had.

    :param option: its option in ``boot_images``
    :param url: its address
    :param reason: why
    """
    return Problem(CODE, "ironic", f"boot_images.{option}", f"{url.split('?', 1)[0]}: {reason}",
                   "a file that can be fetched", "put it there, or correct the address")
