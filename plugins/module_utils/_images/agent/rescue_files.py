# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rescue needs in the deploy agent's ramdisk; pure.

Ironic gives the agent the hash of the password; the agent writes it to a file and ends (``RescueExtension`` in
``ironic_python_agent/extensions/rescue.py``). The user that it belongs to is left to the ramdisk. Without that file
there is no such user, and nobody logs in with a password.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cpio import File

PACKAGES = ("openssh-server", "sudo")
USER = "rescue"
# The agent's; it expects the folder to be there.
_FOLDER = "ipa-rescue-config"
PASSWORD_FILE = f"/etc/{_FOLDER}/ipa-rescue-password"
_PROGRAM = "/usr/local/sbin/add-rescue-user"

_AGENT = f"""[Unit]
# The agent ends with a rescue. It must not come back: its API is for Ironic, and the network may be another one now.
ConditionPathExists=!{PASSWORD_FILE}

[Service]
ConfigurationDirectory={_FOLDER}
ConfigurationDirectoryMode=0700
ExecStopPost={_PROGRAM}
"""
_ADD_USER = f"""#!/bin/sh
# Runs at each end of the agent; only a rescue leaves a password.
set -eu
test -s {PASSWORD_FILE} || exit 0
id {USER} >/dev/null 2>&1 || useradd --create-home --shell /bin/bash {USER}
# By standard input: arguments can be read by all.
printf '{USER}:%s\\n' "$(cat {PASSWORD_FILE})" | chpasswd --encrypted
systemctl --no-block start ssh
"""
_SUDO = f"{USER} ALL=(ALL:ALL) NOPASSWD: ALL\n"
_SSH = f"Match User {USER}\n    PasswordAuthentication yes\n"
_NO_SSH_BEFORE = f"""[Unit]
# Nobody can log in before a rescue.
ConditionPathExists={PASSWORD_FILE}
"""


def files(params: Mapping[str, Any]) -> list[File]:
    """Return the files that are added to the ramdisk.

    :param params: the module's parameters
    """
    made = [File("/etc/systemd/system/ironic-python-agent.service.d/rescue.conf", _AGENT.encode()),
            File(_PROGRAM, _ADD_USER.encode(), 0o755),
            File(f"/etc/sudoers.d/{USER}", _SUDO.encode(), 0o440),
            File(f"/etc/ssh/sshd_config.d/{USER}.conf", _SSH.encode())]
    if not params["ssh_keys"]:
        made.append(File("/etc/systemd/system/ssh.service.d/rescue.conf", _NO_SSH_BEFORE.encode()))
    return made
