# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers in use are rebooted for their firmware now, and whose change is left to later; pure."""
from __future__ import annotations

from typing import Any

from .._host.state.goals import RUNNING


def plan(settings: list[dict[str, Any]], components: list[dict[str, Any]], policies: list[dict[str, Any]],
         reboot: str) -> dict[str, list[str]]:
    """Return what a run does with servers in use for which something is pending.

    Those change with a reboot that their policy lets change anything. What is switched off changes when it is switched
    on. One that BMO is about to switch on is not rebooted, nor left to later: the goal V(rebootable) waits until it is
    on, so this is one whose start or service has failed, and the goal V(applied) says so. Nor is a server left to later
    that is held: BMO would start it all the same, so its reboot has to be refused.

    :param settings: entries of the result of ``host_firmware_settings``
    :param components: entries of the result of ``host_firmware_components``
    :param policies: entries for ``host_update_policy``
    :param reboot: ``soft``, ``hard``, or ``never``
    :returns: dict of sorted names: ``reboot``, ``settings_later`` and ``components_later``, and as ``unaffected`` the
        servers in use that are not off and for which neither a reboot nor the start in progress changes anything
    """
    off, starting = (set(facts["name"] for facts in settings + components if facts.get("host_power") == power)
                     for power in ("off", "starting"))
    live, later, coming = {}, {}, set()
    for what, found, field in (("settings", settings, "firmware_settings"),
                               ("components", components, "firmware_updates")):
        in_use = set(facts["name"] for facts in found if facts.get("pending") and facts.get("host_state") in RUNNING)
        allowed = set(policy["name"] for policy in policies if policy.get(field) == "onReboot")
        live[what] = set() if reboot == "never" else (in_use - off - starting) & allowed
        coming |= in_use & starting & allowed
        later[what] = in_use - live[what] - (starting & allowed)
    reboots = live["settings"] | live["components"]
    running = set(facts["name"] for facts in settings + components if facts.get("host_state") in RUNNING) - off
    return {"reboot": sorted(reboots), "unaffected": sorted(running - reboots - coming),
            "settings_later": sorted(later["settings"]), "components_later": sorted(later["components"])}
