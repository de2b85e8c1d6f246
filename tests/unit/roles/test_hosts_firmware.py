# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers the role ``hosts`` reboots for their firmware, and which it leaves to later."""
from __future__ import annotations

import pathlib

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

VARIABLES = pathlib.Path(__file__).parents[3] / "roles" / "hosts" / "vars" / "main.yml"


def facts(name, state="provisioned", power="on", pending=True):
    return {"name": name, "host_state": state, "host_power": power, "pending": [{}] if pending else []}


# What the modules answer: of h9 nothing, as it is not enrolled.
ANSWERS = [facts("h1"), facts("h2", power="off"), facts("h3", pending=False), facts("h4"), facts("h5", "available"),
           facts("h6", power="held"), {"name": "h9"}]
POLICIES = [{"name": name, "firmware_settings": "onReboot", "firmware_updates": "onPreparing" if name == "h1" else
             "onReboot"} for name in ("h1", "h2", "h3", "h5", "h6")]


@pytest.mark.parametrize("reboot, variable, names", [
    # Of h1 only the settings change with a reboot, of h4 nothing; h2 is switched off; at h3 nothing is due. BMO would
    # start h6 although it is held, so its reboot has to be tried, and refused, before anything is written.
    ("hard", "hosts_firmware_live", ["h1", "h6"]),
    ("hard", "hosts_settings_later", ["h2", "h4"]),
    ("hard", "hosts_components_later", ["h1", "h2", "h4"]),
    ("never", "hosts_settings_later", ["h1", "h2", "h4", "h6"]),
])
def test_who_is_rebooted_and_who_is_left_to_later(reboot, variable, names):
    variables = DataLoader().load_from_file(str(VARIABLES), trusted_as_template=True)
    variables.update(hosts_settings_asked={"hosts": ANSWERS}, hosts_components_asked={"hosts": ANSWERS},
                     hosts_policy_entries=POLICIES, hosts_firmware_reboot=reboot)
    assert sorted(Templar(DataLoader(), variables).template(variables[variable])) == names
