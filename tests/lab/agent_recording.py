# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a server's whole way, read from the log of the lab's Ironic, and those recorded of a virtual one.

data/agent_commands.json has those of the real agent; simulated servers are held to it.
"""
from __future__ import annotations

import contextlib
import json

from agent_log import commands
from support import REPOSITORY, only

RECORDED = REPOSITORY / "tests" / "lab" / "data" / "agent_commands.json"
# In the environment: write that file.
RECORD = "LAB_RECORD_AGENT"
# Each phase is a playbook, with what confirms it.
# To be enrolled a server is inspected, for which its agent is sent nothing; Ironic cleans it before it is provisioned.
PHASES = {"enroll": (), "provision": (), "deprovision_hosts": ("-e", "metal3_confirm=1")}
# Of everything Ironic would log secrets too.
LOGGED = {"ironic_settings": {"DEFAULT": {"default_log_levels": "ironic.drivers.modules.agent_client=DEBUG"}}}
INSTALL_SECONDS = 900


@contextlib.contextmanager
def _logging(lab, name):
    # Gives a function that returns the commands for a server since it was called last.
    lab.playbook("install", "--tags", "ironic", extra=LOGGED, seconds=INSTALL_SECONDS).ok()
    log = lab.dir / "log" / "ironic.log"
    position = [log.stat().st_size]

    def since():
        with open(log, "rb") as stream:
            assert stream.seek(0, 2) >= position[0], f"{log} has begun once more meanwhile; run the test again"
            stream.seek(position[0])
            text = stream.read()
        position[0] += len(text)
        return commands(text.decode(errors="replace"), lab.nodes()[name].id)

    try:
        yield since
    finally:
        lab.playbook("install", "--tags", "ironic", seconds=INSTALL_SECONDS).ok()


def of_way(lab, name, arguments, seconds):
    """Enrol a server, provision and deprovision it, and return the commands to its agent; it is available again.

    :param lab: a Lab
    :param name: the server's name
    :param arguments: further arguments of the playbooks
    :param seconds: how long each playbook may take
    :return: {phase: commands as agent_log.commands has them}
    """
    lab.remove_hosts(name)
    with _logging(lab, name) as since:
        found = {}
        for playbook, confirmed in PHASES.items():
            lab.playbook(playbook, *arguments, *only(name), *confirmed, seconds=seconds).ok()
            found[playbook] = since()
    assert lab.state(name) == "available"
    return found


def recorded():
    """Return what was recorded of a virtual server, in the form of of_way(); fail if nothing was."""
    assert RECORDED.exists(), (
        f"{RECORDED.relative_to(REPOSITORY)} is missing; record it on a lab of virtual servers: "
        f"{RECORD}=1 pytest tests/lab/test_virtual_agent.py")
    found = json.loads(RECORDED.read_text())
    phases = [phase for phase, commands in found.items() if commands]
    assert phases == list(PHASES)[1:], f"{RECORDED}: found commands of {phases}, expected {list(PHASES)[1:]}"
    return found
