# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsmasq's file for a provisioning network, written only when dnsmasq takes it and nobody else answers there."""
from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from .._common.files import open_folder, whole_file
from .._common.problems.errors import RefusedError, ReportedError
from .._common.problems.problem import Problem
from . import dhcp_probe, ipv6_probe, other_servers, own_interface, servers_probe, systems
from .description import has_own_range, problems
from .dnsmasq import configuration
from .servers_probe import Probe, Probe6

# A server that knows its clients answers these alone, and asking more of them tells nothing new.
MOST_CLIENTS = 16


class DhcpError(ReportedError):
    """dnsmasq does not take what was rendered."""


def ensure(network: Mapping[str, Any], options: Mapping[str, Any], check_mode: bool, progress: Any,
           runner: systems.Runner = systems.run, probe: Probe = dhcp_probe.offers,
           probe6: Probe6 = ipv6_probe.ask) -> dict[str, Any]:
    """Bring the file of dnsmasq to a description and return the result of the module ``provisioning_dhcp``.

    :param network: the description, with ``dhcp``
    :param options: ``config_file``, ``leases_file``, ``log_file`` (None for the system's log), ``dnsmasq`` (program),
        ``allowed_servers`` and ``allowed_routers`` (others that are wanted), ``probe_seconds`` (0 asks nobody)
    :raises RefusedError: for a mistake, or when another server or router answers
    :raises DhcpError: when dnsmasq refuses the file, or is missing
    """
    found = problems(network)
    if not network.get("dhcp"):
        found.append(Problem("provisioning-network", f"network {network.get('name')}", "dhcp", None,
                             "what DHCP is to serve", "set it"))
    if found:
        raise RefusedError(found)
    warnings: list[str] = []
    servers = _other_servers(network, options, check_mode, progress, probe, probe6, warnings)
    if servers:
        raise RefusedError(servers)
    content = configuration(network, options["leases_file"], options["log_file"])
    _tried(content, options, check_mode, runner, warnings)
    if not check_mode:
        for path in (options["config_file"], options["leases_file"]):
            open_folder.make(os.path.dirname(path))
    before = whole_file.write(options["config_file"], content.encode(), 0o644, check_mode)
    result: dict[str, Any] = {"changed": before is not None, "config_file": options["config_file"],
                              "program": shutil.which(options["dnsmasq"]) or options["dnsmasq"], "warnings": warnings}
    if before is not None:
        result["diff"] = {"before_header": options["config_file"], "after_header": options["config_file"],
                          "before": before.decode("utf-8", "replace"), "after": content}
    return result


def _other_servers(network: Mapping[str, Any], options: Mapping[str, Any], check_mode: bool, progress: Any,
                   probe: Probe, probe6: Probe6, warnings: list[str]) -> list[Problem]:
    seconds = options["probe_seconds"]
    if not seconds:
        return []
    name = network["name"]
    if check_mode and not os.path.exists(f"/sys/class/net/{name}"):
        warnings.append(f"network {name}: other DHCP servers were not looked for, because the interface is yet to be "
                        "made")
        return []
    own = own_interface.card(name)
    macs = [host["mac"].lower() for host in network["dhcp"].get("hosts") or ()][:MOST_CLIENTS] + [own]
    with_ipv6 = has_own_range(network, 6)
    progress.event(f"network {name}: asking for other DHCP servers{' and for routers' if with_ipv6 else ''}, as "
                   f"{len(macs)} clients, for {seconds} s")
    answers = servers_probe.ask(name, macs, seconds, with_ipv6, probe, probe6)
    return other_servers.problems(name, other_servers.without_own(answers, own), options["allowed_servers"],
                                  options["allowed_routers"])


def _tried(content: str, options: Mapping[str, Any], check_mode: bool, runner: systems.Runner,
           warnings: list[str]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".conf", encoding="utf-8") as stream:
        stream.write(content)
        stream.flush()
        answer = runner([options["dnsmasq"], "--test", f"--conf-file={stream.name}"])
    if answer.code == 127 and check_mode:
        warnings.append(f"{options['dnsmasq']} is not installed yet, so it has not tried its file")
    elif answer.code != 0:
        raise DhcpError(f"dnsmasq does not take the file: {' '.join(answer.stderr.split())}")
