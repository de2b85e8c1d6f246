# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules bmc_info and bmc_preflight."""
from __future__ import annotations

import ssl

from ansible.module_utils.basic import missing_required_lib

from .._common.progress import Progress
from .._common.terminal import columns
from .._host.module import HostListModule
from .._host.service import names_for
from . import service as bmc_service
from . import table as bmc_table
from .gather import Settings
from .redfish import HAS_SUSHY


def connection_argument_spec():
    """Return the options by which modules ask BMCs; documented in the fragment ``bmc``."""
    return {
        "ca_cert": {"type": "path"},
        "connect_timeout_seconds": {"type": "int", "default": 10},
        "read_timeout_seconds": {"type": "int", "default": 60},
        "concurrency": {"type": "int", "default": 64},
    }


def bmc_argument_spec():
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
    }
    return dict(connection_argument_spec(), hosts={
        "type": "list", "elements": "dict", "required": True, "options": host})


def settings(module):
    """Return the Settings that a module's options say; fails the module when they can't be."""
    if not HAS_SUSHY:
        module.fail_json(msg=missing_required_lib("sushy"))
    params = module.params
    problems = ["%s: seen %d, expected 1 or more" % (option, params[option])
                for option in ("connect_timeout_seconds", "read_timeout_seconds", "concurrency") if params[option] < 1]
    try:
        ssl.create_default_context(cafile=params["ca_cert"])
    except OSError as exc:
        problems.append(f"ca_cert: seen {params['ca_cert']}, expected a file with certificates ({exc})")
    if problems:
        module.fail_json(msg="; ".join(problems))
    return Settings(params["ca_cert"], params["connect_timeout_seconds"], params["read_timeout_seconds"],
                    params["concurrency"])


def run_bmc_info():
    """Run the module ``bmc_info``."""
    module = HostListModule(
        argument_spec=dict(bmc_argument_spec(), firmware={"type": "bool", "default": False}),
        supports_check_mode=True, no_log=True)
    hosts = bmc_service.info(module.params["hosts"], settings(module)._replace(firmware=module.params["firmware"]),
                             Progress())
    module.exit_json(changed=False, hosts=hosts)


def run_bmc_preflight():
    """Run the module ``bmc_preflight``."""
    module = HostListModule(
        argument_spec=dict(
            bmc_argument_spec(),
            checks={"type": "str", "choices": ["all", "login"], "default": "all"},
            certificate_days={"type": "int", "default": 30},
            clock_drift_seconds={"type": "int", "default": 120},
            fail_on={"type": "str", "choices": ["problem", "warning", "none"], "default": "problem"},
            field_names={"type": "str", "choices": ["options", "variables"], "default": "options"},
            show_table={"type": "bool", "default": False},
            advice={"type": "str", "default": ""},
        ),
        supports_check_mode=True, no_log=True)
    params = module.params
    login_only = params["checks"] == "login"
    results = bmc_service.preflight(
        params["hosts"], settings(module)._replace(login_only=login_only), params["certificate_days"],
        params["clock_drift_seconds"], Progress())
    counts = dict((status, sum(result["verdict"] == status for result in results))
                  for status in ("ok", "warning", "problem"))
    result = {"changed": False, "hosts": results, "counts": counts,
              "table": [] if login_only else bmc_table.table(results, columns()),
              "warning_lines": bmc_table.lines(results, "warning", names_for(params))}
    text = bmc_table.failure(results, params["fail_on"], names_for(params))
    if text:
        # Ansible prints a failed result as a whole.
        result["hosts"] = [bmc_service.shortened(host) for host in results]
        module.fail_json(msg=f"{text}\n{params['advice']}" if params["advice"] else text, **result)
    module.exit_json(**result)
