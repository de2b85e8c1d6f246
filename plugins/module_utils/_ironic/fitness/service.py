# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks an Ironic that somebody else runs for all that the Bare Metal Operator will need of it; changes nothing."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.transfer.image_server import image_fetcher
from ..api.client import IronicClient
from ..api.errors import IronicError
from . import checks as fitness


def run(params: Mapping[str, Any], clock: Callable[[], float] = time.time,
        from_pod: Callable[[str], list[Problem]] | None = None) -> dict[str, Any]:
    """Return what is known of an Ironic that fits.

    :param params: options of the module ``ironic_check``
    :param clock: callable that returns seconds since 1970
    :param from_pod: callable that takes the URL of an Ironic that answers from here, and returns what a pod of the
        operator's cluster finds to be wrong; None when none is to ask
    :raises RefusedError: with all that does not fit, of which nothing is left out because of something else unless it
        can't be asked for
    """
    wanted, problems = fitness.drivers_of(params["bmc_addresses"], params["bmc_schemes"])
    problems += fitness.option_problems(params)
    result: dict[str, Any] = {"warnings": []}
    try:
        problems += _of_ironic(params, wanted, result, clock)
        if from_pod:
            problems += from_pod(result["server"])
    except IronicError as exc:
        problems.append(Problem(fitness.CODE, "ironic", "endpoint", exc.message, "an Ironic that answers",
                                "correct what this says, then run again"))
    problems += _of_images(params, result["warnings"])
    if problems:
        raise RefusedError(problems)
    return result


def _of_ironic(params: Mapping[str, Any], wanted: list[Any], result: dict[str, Any],
               clock: Callable[[], float]) -> list[Problem]:
    """Ask Ironic, note what it says in the result, and return the problems."""
    client = IronicClient(dict(params))
    problems = fitness.version_problems(client.server, client.minor)
    before = clock()
    theirs = client.server_time()
    difference = None if theirs is None else theirs - (before + clock()) / 2
    result.update(server=client.server, api_version=f"1.{client.minor}",
                  clock_difference_seconds=None if difference is None else round(difference, 1))
    drivers = client.list_drivers_in_detail()
    conductors = client.list_conductors()
    result.update(drivers=sorted(driver["name"] for driver in drivers),
                  conductors=[{"hostname": entry["hostname"], "alive": entry.get("alive") is True}
                              for entry in conductors])
    problems += fitness.driver_problems(wanted, drivers)
    for found, warnings in (fitness.conductor_problems(conductors, drivers),
                            fitness.clock_problems(difference, params["maximum_clock_difference_seconds"])):
        problems += found
        result["warnings"] += warnings
    return problems + _of_login(params, client.server)


def _of_login(params: Mapping[str, Any], server: str) -> list[Problem]:
    """Return a problem when Ironic has a login for this user and lets in everybody without one, too."""
    if params.get("endpoint") and params.get("username") and params.get("auth_type") != "none":
        anonymous = IronicClient(dict(params, auth_type="none", username=None, password=None))
        try:
            anonymous.request("GET", "/drivers", subject="drivers")
        except IronicError as exc:
            return [] if exc.status in (401, 403) else [Problem(
                fitness.CODE, "ironic", "auth_type", exc.message, "a refusal of a request without login", None)]
        return [Problem(fitness.CODE, "ironic", "auth_type", f"{server}, which answers without a login",
                        "an Ironic that asks for one", "turn http_basic on in Ironic, or set auth_type to none if "
                        "everybody who reaches it may use it")]
    return []


def _of_images(params: Mapping[str, Any], warnings: list[str]) -> list[Problem]:
    fetch = image_fetcher(params.get("image_ca_cert"))
    found = []
    for option in fitness.image_names():
        url = (params.get("boot_images") or {}).get(option)
        if not url:
            continue
        if urlsplit(url).scheme not in ("http", "https"):
            # A file of the conductor's machine, for example.
            warnings.append(f"ironic: boot_images.{option}: no address that can be asked from here, so not compared")
            continue
        try:
            fetch(url, 0)
        except OSError as exc:
            found.append(fitness.image_problem(option, url, str(exc)))
    return found
