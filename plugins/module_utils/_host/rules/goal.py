# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is asked to be: free of contradictions, and able to reach the goal of the run; pure."""
from __future__ import annotations

from ..._common.problems.problem import Problem


def check_state(label, host, wait_for):
    """Return the Problems of an entry's ``state``.

    :param wait_for: goal of the run, or None
    """
    absent = host.get("state") == "absent"
    if absent and wait_for not in (None, "deleted"):
        return [Problem("power", label, "state", "absent", f"state present when wait_for is {wait_for}",
                        "put hosts to be deleted in a task of their own")]
    if not absent and wait_for == "deleted":
        return [Problem("power", label, "state", host.get("state") or None,
                        "state absent when wait_for is deleted: waiting deletes nothing",
                        "set state to absent for what you want to delete")]
    return []


def check_power(label, host, wait_for):
    """Return the Problems of an entry's ``online``.

    :param wait_for: goal of the run, or None
    """
    problems = []
    if host.get("disable_power_off") and host.get("online") is False:
        problems.append(Problem("power", label, "online", "false", "true, since disable_power_off is set (BMO webhook)",
                                "set online to true or remove disable_power_off"))
    if wait_for == "provisioned" and host.get("online") is False:
        problems.append(Problem(
            "power", label, "online", "false", "true: BMO provisions only hosts that shall be online",
            "set online to true"))
    return problems


def check_stored(host, bmh, wait_for):
    """Return the Problems of a goal that an entry, together with what is stored, can't reach.

    :param bmh: the stored BareMetalHost, or None
    :param wait_for: goal of the run, or None
    """
    problems = []
    if bmh is None and wait_for not in (None, "deleted") and not (host.get("bmc") or {}).get("address"):
        problems.append(Problem("bmc-address", host["name"], "bmc.address", None, f"a BMC address, to reach {wait_for}",
                                "set bmc.address; without it a host stays unmanaged"))
    if wait_for == "provisioned":
        problems += _check_provisioned(host, bmh)
    return problems


def _check_provisioned(host, bmh):
    spec = (bmh or {}).get("spec") or {}
    image, custom = host.get("image"), host.get("custom_deploy")
    wanted = image.get("url") if image is not None else (spec.get("image") or {}).get("url")
    method = custom.get("method") if custom is not None else (spec.get("customDeploy") or {}).get("method")
    problems = []
    if not wanted and not method and not host.get("externally_provisioned") and not spec.get("externallyProvisioned"):
        problems.append(Problem("image", host["name"], "image", None, "an image, to reach provisioned",
                                "set image.url and image.checksum"))
    if host.get("online") is None and spec.get("online") is False:
        problems.append(Problem("power", host["name"], "online", "false on the host as stored",
                                "true: BMO provisions only hosts that shall be online", "set online to true"))
    return problems
