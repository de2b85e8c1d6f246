# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ironic_fast_track``: one boot of the agent inspects, cleans and deploys a server, or each of them has its own."""
from __future__ import annotations

import pytest
from consoles import Bmc
from support import only

pytestmark = pytest.mark.long

SERVER = "server-01"
SECONDS = 900
# What the agent prints when it has done a task, or begins with it.
TASKS = {"inspected": "agent: inspection data accepted", "cleaned": "agent: execute_clean_step: SUCCEEDED",
         "deployed": "agent: writing image "}
BOOTED = "agent: started"


@pytest.fixture(params=[False, True], ids=["off", "on"])
def fast_track(request, lab):
    """The lab's Ironic with that setting, and as before afterwards."""
    lab.playbook("install", "--tags", "ironic", extra={"ironic_fast_track": request.param}).ok()
    yield request.param
    lab.playbook("install", "--tags", "ironic").ok()
    lab.playbook("deprovision_hosts", *only(SERVER), "-e", "metal3_confirm=1", seconds=SECONDS).ok()
    assert lab.state(SERVER) == "available"


def before_each(lines):
    """Return what BMC and agent print from one task to the next, of boots and resets: ``{task: [text]}``."""
    found, since = {}, []
    for line in lines:
        text = line.partition(" ")[2]
        task = next((name for name, said in TASKS.items() if name not in found and text.startswith(said)), None)
        if task:
            found[task], since = since, []
        elif text.startswith("BMC: reset ") or text == BOOTED:
            since.append(text)
    return found


def test_the_agent_stays_from_inspection_to_deployment_or_the_server_boots_for_each(lab, fast_track):
    lab.remove_hosts(SERVER)
    bmc = Bmc(lab, SERVER)
    lab.playbook("enroll", *only(SERVER), seconds=SECONDS).ok()
    url = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    image = {"url": url, "format": "raw", "checksum": url + ".sha256", "checksum_type": "sha256"}
    inventory = lab.inventory({SERVER: {"bmh_image": image}})
    lab.playbook("provision", "-i", inventory, *only(SERVER), seconds=SECONDS).ok()
    happened = before_each(bmc.lines())
    assert list(happened) == list(TASKS), happened
    assert happened["inspected"][-1] == BOOTED, happened
    for task in ("cleaned", "deployed"):
        if fast_track:
            assert happened[task] == [], happened
        else:
            # The former agent is switched off, and another one boots.
            assert happened[task][0].startswith("BMC: reset ") and happened[task][0] != "BMC: reset On", happened
            assert happened[task][-1] == BOOTED, happened
