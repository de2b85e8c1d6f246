# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsmasq's file for a provisioning network, written only when dnsmasq takes it and nobody else answers there."""
from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._common.files import whole_file
from .._common.problems.errors import RefusedError, ReportedError
from .._common.problems.problem import Problem
from .._common.waiting import parallel
from . import systems
from .description import problems
from .dhcp_message import Offer
from .dhcp_probe import DhcpProbeError, offers
from .dnsmasq import configuration

# A server that knows its clients answers these alone, and asking more of them tells nothing new.
MOST_CLIENTS = 16

Probe = Callable[[str, str, float], Sequence[Offer]]


class DhcpError(ReportedError):
    """dnsmasq does not take what was rendered."""


def ensure(network: Mapping[str, Any], options: Mapping[str, Any], check_mode: bool, progress: Any,
           runner: systems.Runner = systems.run, probe: Probe = offers) -> dict[str, Any]:
    """Bring the file of dnsmasq to a description and return the result of the module ``provisioning_dhcp``.

    :param network: the description, with ``dhcp``
    :param options: ``config_file``, ``leases_file``, ``log_file`` (None for the system's log), ``dnsmasq`` (program),
        ``allowed_servers`` (addresses of other servers that are wanted), ``probe_seconds`` (0 asks nobody)
    :raises RefusedError: for a mistake, or when another server answers
    :raises DhcpError: when dnsmasq refuses the file, or is missing
    """
    found = problems(network)
    if not network.get("dhcp"):
        found.append(Problem("provisioning-network", f"network {network.get('name')}", "dhcp", None,
                             "what DHCP is to serve", "set it"))
    if found:
        raise RefusedError(found)
    warnings: list[str] = []
    servers = _other_servers(network, options, check_mode, progress, probe, warnings)
    if servers:
        raise RefusedError(servers)
    content = configuration(network, options["leases_file"], options["log_file"])
    _tried(content, options, check_mode, runner, warnings)
    if not check_mode:
        for path in (options["config_file"], options["leases_file"]):
            _make_folder(os.path.dirname(path))
    before = whole_file.write(options["config_file"], content.encode(), 0o644, check_mode)
    result: dict[str, Any] = {"changed": before is not None, "config_file": options["config_file"],
                              "program": shutil.which(options["dnsmasq"]) or options["dnsmasq"], "warnings": warnings}
    if before is not None:
        result["diff"] = {"before_header": options["config_file"], "after_header": options["config_file"],
                          "before": before.decode("utf-8", "replace"), "after": content}
    return result


def _make_folder(path: str) -> None:
    """Make a folder that dnsmasq's own user may enter; one that is there keeps its permissions."""
    if not os.path.isdir(path):
        os.makedirs(path)
        os.chmod(path, 0o755)


def _other_servers(network: Mapping[str, Any], options: Mapping[str, Any], check_mode: bool, progress: Any,
                   probe: Probe, warnings: list[str]) -> list[Problem]:
    if not options["probe_seconds"]:
        return []
    name = network["name"]
    if check_mode and not os.path.exists(f"/sys/class/net/{name}"):
        warnings.append(f"network {name}: other DHCP servers were not looked for, because the interface is yet to be "
                        "made")
        return []
    macs = [host["mac"].lower() for host in network["dhcp"].get("hosts") or ()][:MOST_CLIENTS] + [_own_mac(name)]
    progress.event(f"network {name}: asking for other DHCP servers, as {len(macs)} clients, for "
                   f"{options['probe_seconds']} s")
    outcomes = parallel.run(
        [lambda mac=mac: probe(name, mac, options["probe_seconds"]) for mac in macs], MOST_CLIENTS + 1, DhcpProbeError)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return server_problems(name, [offer for outcome in outcomes for offer in outcome.value],
                           options["allowed_servers"])


def server_problems(interface: str, found: Sequence[Offer], allowed: Sequence[str]) -> list[Problem]:
    """Return a Problem for each DHCP server of a wire that is not allowed there.

    :param found: what servers offered
    :param allowed: addresses of servers
    """
    servers = {(offer.server, offer.server_mac): offer for offer in found if offer.server not in allowed}
    return [Problem("dhcp-server", f"interface {interface}", "",
                    f"a DHCP server {offer.server} (card {offer.server_mac}) that offers {offer.address}"
                    + (f" and boots {offer.boot_file}" if offer.boot_file else ""),
                    f"none but {', '.join(allowed)}" if allowed else "none",
                    "switch it off there, or name it in allowed_servers")
            for _key, offer in sorted(servers.items())]


def _own_mac(name: str) -> str:
    try:
        with open(f"/sys/class/net/{name}/address", encoding="ascii") as stream:
            return stream.read().strip()
    except OSError as exc:
        raise DhcpProbeError(f"interface {name}: {exc.strerror}; make it first (role provisioning_network)") from exc


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
