# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""keepalived's file for the plane's address, written only when keepalived takes it."""
from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from .._common.files import whole_file
from .._common.problems.errors import RefusedError, ReportedError
from . import keepalived, systems

_NOT_FOUND = 127
# So that others on the machine know what it does; no secret is in it.
_MODE = 0o644
# Among what ``keepalived --version`` says of how it was built: that it tells systemd when it has read its file.
_NOTIFIES = "SYSTEMD_NOTIFY"


class KeepalivedError(ReportedError):
    """keepalived does not take what was rendered."""


def ensure(options: Mapping[str, Any], check_mode: bool, runner: systems.Runner = systems.run) -> dict[str, Any]:
    """Bring keepalived's file to the options and return the result of the module ``provisioning_keepalived``.

    :param options: see ``keepalived.problems``, and ``config_file`` and ``keepalived`` (program)
    :param check_mode: whether nothing is written
    :param runner: what runs programs
    :raises RefusedError: for mistakes
    :raises KeepalivedError: when keepalived refuses the file, or it or the interface is missing
    """
    found = keepalived.problems(options)
    if found:
        raise RefusedError(found)
    content = keepalived.configuration(options)
    warnings: list[str] = []
    is_there = os.path.exists(f"/sys/class/net/{options['name']}")
    if not is_there and not check_mode:
        raise KeepalivedError(f"interface {options['name']}: missing; make it first (role provisioning_network)")
    if not is_there:
        warnings.append(f"network {options['name']}: keepalived has not tried its file, because the interface is yet "
                        "to be made")
    else:
        _try(content, options["keepalived"], check_mode, runner, warnings)
    path = options["config_file"]
    if not check_mode:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    before = whole_file.write(path, content.encode(), _MODE, check_mode)
    result: dict[str, Any] = {
        "changed": before is not None, "config_file": path, "warnings": warnings,
        "program": shutil.which(options["keepalived"]) or options["keepalived"],
        "notifies": _notifies(options["keepalived"], runner),
        "priority": keepalived.priority(options["machines"], options["machine"])}
    if before is not None:
        result["diff"] = {"before_header": path, "after_header": path, "before": before.decode("utf-8", "replace"),
                          "after": content}
    return result


def _notifies(program: str, runner: systems.Runner) -> bool:
    answer = runner([program, "--version"])
    return _NOTIFIES in f"{answer.stdout} {answer.stderr}".split()


def _try(content: str, program: str, check_mode: bool, runner: systems.Runner, warnings: list[str]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".conf", encoding="utf-8") as stream:
        stream.write(content)
        stream.flush()
        answer = runner([program, "--config-test", f"--use-file={stream.name}"])
    if answer.code == _NOT_FOUND and check_mode:
        warnings.append(f"{program} is not installed yet, so it has not tried its file")
    elif answer.code:
        said = " ".join((answer.stderr or answer.stdout).split())
        raise KeepalivedError(f"keepalived does not take the file: {said or f'exit code {answer.code}'}")
