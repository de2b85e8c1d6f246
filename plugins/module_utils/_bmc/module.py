# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules bmc_info, bmc_preflight and bmc_media_check."""
from __future__ import annotations

from typing import Any

from .._common.module import Module
from .._common.options import option_checks
from .._common.options.field_checks import shown
from .._common.problems.errors import RefusedError
from .._common.problems.problem import FIELD_NAMES, Problem
from .._common.texts.terminal import columns
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.pods import deployment_pod
from .._metal3.ironic_place import POD_OPTIONS
from .addresses.names import names_for
from .preflight import service as bmc_service
from .preflight import table as bmc_table
from .protocols import endpoint
from .protocols.gather import Settings
from .protocols.redfish import HAS_SUSHY
from .virtual_media.media_checks import url_problem
from .virtual_media.media_probe import MediaProbe


def connection_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options by which modules ask BMCs; documented in the fragment ``bmc``."""
    return {
        "ca_cert": {"type": "path"},
        "connect_timeout_seconds": {"type": "int", "default": 10},
        "read_timeout_seconds": {"type": "int", "default": 60},
        "concurrency": {"type": "int", "default": 64},
    }


def bmc_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of modules that take a list of hosts; documented in the fragments ``bmc``, ``bmc.hosts``."""
    bmc = {
        "address": {"type": "str"},
        "username": {"type": "str"},
        "password": {"type": "str", "no_log": True},
        "credentials_name": {"type": "str"},
        "disable_certificate_verification": {"type": "bool"},
    }
    host = {
        "name": {"type": "str", "required": True},
        "bmc": {"type": "dict", "options": bmc},
        "boot_mac_address": {"type": "str"},
        "boot_mode": {"type": "str", "choices": ["UEFI", "UEFISecureBoot", "legacy"]},
        "ca_cert": {"type": "path"},
    }
    return dict(connection_argument_spec(), hosts={
        "type": "list", "elements": "dict", "required": True, "options": host})


def settings(module: Module, authorities: str = "ca_cert") -> Settings:
    """Return the Settings that a module's options say.

    :param authorities: name of the option with the BMCs' certificate authorities
    :raises RefusedError: when they cannot be
    """
    module.require(sushy=HAS_SUSHY)
    params = module.params
    problems = [Problem("value", "", option, shown(params[option]), "1 or more", "correct it")
                for option in ("connect_timeout_seconds", "read_timeout_seconds", "concurrency") if params[option] < 1]
    # Path → of whom it is read first: racks may have authorities of their own.
    named = {params[authorities]: ("", authorities)}
    for host in params.get("hosts") or ():
        if host.get("ca_cert"):
            named.setdefault(host["ca_cert"], (host["name"], "ca_cert"))
    for path, (subject, option) in named.items():
        why = endpoint.unreadable(path)
        if why:
            problems.append(Problem("ca-cert-invalid", subject, option, shown(path),
                                    f"a file with certificates ({why})",
                                    "name a PEM file of the machine that asks (metal3_ca_file in an inventory), or "
                                    "leave it out for the system's"))
    if problems:
        raise RefusedError(problems)
    return Settings(params[authorities], params["connect_timeout_seconds"], params["read_timeout_seconds"],
                    params["concurrency"])


def _module(spec: dict[str, Any]) -> Module:
    def check(given: dict[str, Any]) -> None:
        problems = option_checks.check_list(
            None, None, "hosts", given.get("hosts"), bmc_argument_spec()["hosts"]["options"])
        if problems:
            raise RefusedError(problems, names_for(given))

    return Module(dict(bmc_argument_spec(), **spec), check=check)


def run_bmc_info() -> None:
    """Run the module ``bmc_info``."""
    parts = ("firmware", "accounts")
    module = _module(dict((part, {"type": "bool", "default": False}) for part in parts))
    with module.reporting():
        wanted = dict((part, module.params[part]) for part in parts)
        hosts = bmc_service.info(module.params["hosts"], settings(module)._replace(**wanted), module.progress)
    module.finish({"changed": False, "hosts": hosts})


def run_bmc_preflight() -> None:
    """Run the module ``bmc_preflight``."""
    module = _module({
        "checks": {"type": "str", "choices": ["all", "login"], "default": "all"},
        "certificate_days": {"type": "int", "default": 30},
        "clock_drift_seconds": {"type": "int", "default": 120},
        "fail_on": {"type": "str", "choices": ["problem", "warning", "none"], "default": "problem"},
        "field_names": FIELD_NAMES,
        "show_table": {"type": "bool", "default": False},
        "advice": {"type": "str", "default": ""},
        "ironic_pod": {"type": "dict", "options": POD_OPTIONS},
    })
    params, names = module.params, names_for(module.params)
    module.require(kubernetes=HAS_KUBERNETES or not params["ironic_pod"])
    login_only = params["checks"] == "login"
    with module.reporting():
        results = bmc_service.preflight(
            params["hosts"], settings(module)._replace(login_only=login_only), params["certificate_days"],
            params["clock_drift_seconds"], module.progress, names, deployment_pod.of_options(params["ironic_pod"]))
    counts = dict((status, sum(result["verdict"] == status for result in results))
                  for status in ("ok", "warning", "problem"))
    result = {"changed": False, "hosts": results, "counts": counts,
              "table": [] if login_only else bmc_table.table(results, columns())}
    _mark_failing(results, params["fail_on"])
    text = bmc_table.failure(results, params["fail_on"])
    if text:
        # Ansible prints a failed result as a whole.
        result["hosts"] = [bmc_service.shortened(host) for host in results]
        text = f"{text}\n{params['advice']}" if params["advice"] else text
        result["advice"] = params["advice"]
    module.finish(result, text)


def run_bmc_media_check() -> None:
    """Run the module ``bmc_media_check``."""
    module = _module({
        "url": {"type": "str", "required": True},
        "timeout_seconds": {"type": "int", "default": 60},
        "fail": {"type": "bool", "default": True},
        "field_names": FIELD_NAMES,
    })
    params, names = module.params, names_for(module.params)
    with module.reporting():
        wrong = [found for found in (url_problem(params["url"]),) if found]
        if params["timeout_seconds"] < 1:
            wrong.append(Problem("value", "", "timeout_seconds", shown(params["timeout_seconds"]), "1 or more",
                                 "correct it"))
        if wrong:
            raise RefusedError(wrong)
        probe = MediaProbe(params["url"], params["timeout_seconds"], module.check_mode)
        hosts = probe.run(params["hosts"], settings(module), module.progress, names)
    fail_on = "problem" if params["fail"] else "none"
    _mark_failing(hosts, fail_on)
    module.finish({"changed": False, "hosts": hosts}, bmc_table.failure(hosts, fail_on))


def _mark_failing(hosts: list[dict[str, Any]], fail_on: str) -> None:
    for host in hosts:
        host["failing"] = bmc_table.failing_lines(host, fail_on)
        host["failed"] = bool(host["failing"])
