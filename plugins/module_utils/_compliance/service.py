# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what is known of servers, compare it with what is expected, and write the reports."""
from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from .._common.documents.object_shape import of_kind
from .._common.files import whole_file
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._kube.api import bulk
from .._kube.reconcile.plan import by_name
from .._kube.responses.errors import KubeError
from .._lint import report
from .._metal3.kinds import KNOWN
from . import profile, site_files
from .rules import LEVELS, RULES

TOOL = "metal3.baremetal.host_compliance"
_KINDS = ("BareMetalHost", "HardwareData", "HostFirmwareComponents", "HostFirmwareSettings")


def compare(client: Any, namespace: str, hosts: list[dict[str, Any]],
            files: site_files.SiteFiles = site_files.NONE, bmcs: list[dict[str, Any]] | None = None,
            now: Callable[[], float] = time.time, places: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return where hosts are not what is expected, as findings.

    :param client: a KubeClient
    :param hosts: dicts with ``name`` and ``expected``, see ``profile.profile_options``
    :param files: what the site's files say of all servers
    :param bmcs: what BMCs have said, entries of what ``bmc_info`` returns
    :param now: returns seconds since 1970
    :param places: ``name``, ``path``, ``line`` and ``column`` of what is expected of hosts, where that is known
    :raises RefusedError: with all that is wrong with the list itself
    :raises KubeError: when the API server can't be asked
    """
    known = _known(client, namespace)
    problems = [problem for entry in hosts for problem in profile.mistakes(entry["name"], entry["expected"])]
    names = [entry["name"] for entry in hosts]
    problems += [Problem("compliance-host", name, "name", "named twice", "each host once")
                 for name in sorted(set(names)) if names.count(name) > 1]
    problems += [Problem("compliance-host", name, "name", f"no BareMetalHost in namespace {namespace}",
                         "an enrolled server", "enrol it first (playbook enroll)")
                 for name in names if name not in known["BareMetalHost"]]
    problems += [Problem("compliance-host", f"bmcs[{number}]", "name", "no text", "what bmc_info returns")
                 for number, entry in enumerate(bmcs or []) if not isinstance(entry.get("name"), str)]
    if problems:
        raise RefusedError(problems)
    located = dict((entry["name"], entry) for entry in places)
    said = dict((entry["name"], entry) for entry in bmcs or [])
    found, moment = [], now()
    for entry in hosts:
        name, expected = entry["name"], entry["expected"]
        mine = _of_host(known, name)._replace(bmc=said.get(name))
        found += profile.as_findings(profile.findings(name, expected, mine, moment) + site_files.findings(
            name, expected, mine, files), LEVELS, name, located.get(name))
    return found


def _known(client: Any, namespace: str) -> dict[str, dict[str, Any]]:
    outcomes = bulk.run([lambda kind=kind: client.list(KNOWN[kind], namespace)[0] for kind in _KINDS])
    result = {}
    for kind, outcome in zip(_KINDS, outcomes):
        error = outcome.error
        # A plane without the firmware kinds knows nothing of firmware.
        if error is not None and not (isinstance(error, KubeError) and error.status == 404 and "Firmware" in kind):
            raise error
        result[kind] = by_name([of_kind(item, kind) for item in outcome.value or []])
    return result


def _of_host(known: dict[str, dict[str, Any]], name: str) -> profile.Known:
    def status(kind: str) -> dict[str, Any]:
        return (known[kind].get(name) or {}).get("status") or {}

    hardware = (known["HardwareData"].get(name) or {}).get("spec", {}).get("hardware")
    components = dict((item["component"], item["currentVersion"])
                      for item in status("HostFirmwareComponents").get("components") or [] if "currentVersion" in item)
    return profile.Known(hardware, components, status("HostFirmwareSettings").get("settings") or {})


def write_reports(findings: list[dict[str, Any]], strict: bool, sarif_file: str | None, junit_file: str | None,
                  check_mode: bool) -> bool:
    """Write the reports that are asked for and return whether a file changed.

    :raises OSError: when a file can't be written
    """
    texts = [(sarif_file, lambda: json.dumps(report.sarif(findings, "", TOOL, RULES), indent=2) + "\n"),
             (junit_file, lambda: report.junit(findings, strict, (), TOOL, RULES))]
    changed = [whole_file.write_report(path, text(), check_mode) for path, text in texts if path]
    return any(changed)
