# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module host_compliance."""
from __future__ import annotations

from typing import Any

from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .._lint import report
from .._lint.rules import ERROR, WARNING
from . import file_reading
from .profile import profile_options
from .service import compare, write_reports


def host_compliance_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``host_compliance``."""
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        hosts={"type": "list", "elements": "dict", "required": True, "options": {
            "name": {"type": "str", "required": True},
            "expected": {"type": "dict", "default": {}, "options": profile_options()}}},
        bmcs={"type": "list", "elements": "dict", "default": []},
        places={"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str", "required": True}, "path": {"type": "str", "required": True},
            "line": {"type": "int"}, "column": {"type": "int"}}},
        firmware_catalogue={"type": "path"},
        cabling_file={"type": "path"},
        strict={"type": "bool", "default": False},
        sarif_file={"type": "path"},
        junit_file={"type": "path"},
    )


def run_host_compliance() -> None:
    """Run the module ``host_compliance``."""
    module = KubeModule(host_compliance_argument_spec())
    params = module.params
    with module.reporting():
        client = module.connect()
        files = file_reading.read(params["firmware_catalogue"], params["cabling_file"])
        findings = compare(client, params["namespace"], params["hosts"], files, params["bmcs"],
                           places=params["places"])
    try:
        changed = write_reports(findings, params["strict"], params["sarif_file"], params["junit_file"],
                                module.check_mode)
    except OSError as exc:
        module.fail_json(msg=f"{exc.filename}: found {exc.strerror}, expected a file that can be written; correct "
                             "the path")
    counts = report.count(findings)
    result: dict[str, Any] = {"changed": changed, "findings": findings, "counts": counts,
                              "msg": report.text(findings, len(params["hosts"]), 0)}
    if counts[ERROR] or (params["strict"] and counts[WARNING]):
        module.fail_json(**result)
    module.exit_json(**result)
