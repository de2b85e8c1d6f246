# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What BMO's log says of hosts, in lines that fit a test's report."""
from __future__ import annotations

import json
from datetime import datetime, timezone

_LOGGERS = ("controllers.BareMetalHost", "provisioner.ironic", "")
# They come with each reconciliation and say nothing about its course.
_ROUTINE = ("start", "hostFirmwareSettings no updates", "hostFirmwareComponents no updates", "current provision state",
            "publishing event", "retrieved BIOS settings for node")
_OWN = ("level", "ts", "logger", "msg", "baremetalhost", "host", "provisioningState", "stacktrace", "namespace", "name",
        "controller", "controllerGroup", "controllerKind", "BareMetalHost", "reconcileID")


def recent(path, count):
    """Return the last lines about hosts, with their times.

    :param path: the log, one JSON object a line; other lines and a missing file are ignored
    :param count: how many lines at most
    """
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(errors="replace").splitlines():
        try:
            entry = json.loads(text)
        except ValueError:
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("ts"), (int, float)):
            continue
        if entry.get("logger", "") not in _LOGGERS or entry.get("msg") in _ROUTINE:
            continue
        lines.append(_line(entry))
    return lines[-count:]


def _line(entry):
    when = datetime.fromtimestamp(entry["ts"], timezone.utc)
    host = entry.get("baremetalhost")
    name = host.get("name") if isinstance(host, dict) else entry.get("host") or entry.get("name")
    rest = " ".join(f"{key}={value}" for key, value in entry.items() if key not in _OWN)
    return f"BMO {when:%H:%M:%S}.{when.microsecond // 1000:03d} {name}: {entry.get('msg')} {rest}".rstrip()
