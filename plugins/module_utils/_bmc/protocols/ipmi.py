# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BMC that speaks IPMI, asked by ``ipmitool``, the program that Ironic asks it with: one session, one login."""
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from ..._common.files import private_folder
from ..._common.texts.plain_text import plain, shortened

PROGRAM = "ipmitool"
# The first counts where both are set, and the user's own environment may have it, for other systems.
_PASSWORD_VARIABLES = ("IPMITOOL_PASSWORD", "IPMI_PASSWORD")
# Of the folder with its commands, of which one may have a new password.
_FOLDER_PREFIX = "metal3-ipmi-"
# What BMO asks for when the address does not say.
DEFAULT_PRIVILEGE = "ADMINISTRATOR"
# All in one session. Identity by the chassis' inventory; some BMCs refuse single commands, the others count.
COMMANDS = ("chassis power status", "mc info", "fru print 0")
# IPMI 2.0, 13.20 and 22.30; ipmitool ends before it asks anything.
_LONGEST_USERNAME_BYTES, _LONGEST_PASSWORD_BYTES = 16, 20
# What ipmitool prints with -v when a login fails, and what it means.
_REFUSALS = (
    (re.compile(r"HMAC is invalid|unauthorized name|RAKP 4 message has invalid integrity", re.I), "unauthorized",
     "user name or password refused"),
    # Some BMCs are silent when the user name is none of theirs. Of a packet that was lost it is said as well, before
    # the next try.
    (re.compile(r"no response from RAKP 1 message.*Unable to establish", re.I | re.S), "unauthorized",
     "no answer to this user name"),
    # Without a reason behind it there was no answer, and nobody has refused anything.
    (re.compile(r"unauthorized role or privilege|insufficient privilege|invalid role|"
                r"Set Session Privilege Level to \w+ failed:", re.I), "privilege", "privilege level refused"),
)
_FIELDS = {
    "Firmware Revision": "firmware_version", "Manufacturer Name": "bmc_manufacturer", "Product Name": "bmc_product",
    "Product Manufacturer": "manufacturer", "Board Mfg": "board_manufacturer",
    "Product Serial": "serial_number", "Chassis Serial": "chassis_serial", "Product Part Number": "sku",
}
# Number, name, then whether callbacks, link authentication and messages are allowed, and the level.
_USER = re.compile(r"(\d+),(.*),(?:true|false),(?:true|false),(?:true|false),")
_UNKNOWN = ("", "unknown", "unspecified", "none", "n/a")


class IpmiError(Exception):
    """A session that could not be had.

    :param kind: ``missing`` (no ipmitool), ``unsendable`` (credentials that no request can carry), ``unreachable``,
        ``unauthorized`` or ``privilege``
    :param text: one line
    """

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


class Login(NamedTuple):
    """How a BMC is logged in to.

    :ivar host: host name or IP address
    :ivar port: UDP port
    :ivar privilege: the level to ask for, for example ``ADMINISTRATOR``
    :ivar timeout_seconds: for each answer
    """

    host: str
    port: int
    username: str
    password: str
    privilege: str
    timeout_seconds: int


def ask(host: str, port: int, username: str, password: str, privilege: str, timeout_seconds: int) -> dict[str, str]:
    """Log in once and return what the BMC says of power and identity; parameters as of :class:`Login`.

    :returns: ``{"power": "on" or "off" or "", …}``, with the values of the table of fields that the BMC reports
    :raises IpmiError: when there is no session
    """
    output = _run(Login(host, port, username, password, privilege, timeout_seconds), COMMANDS)
    facts = read(output)
    if not any(facts.values()):
        # Nothing says that there was a session: ipmitool may have ended before it had one.
        raise IpmiError("unreachable", shortened(output) or "no answer")
    return facts


def user_slot(login: Login) -> int:
    """Log in once and return the number of the user that logs in, 0 when the BMC lists none, or several, of that name.

    :raises IpmiError: when there is no session
    """
    output = _run(login, ("user list",), "-c")
    read(output)
    return slot_of(output, login.username)


def set_password(login: Login, slot: int, password: str) -> str:
    """Log in once and set a user's password; return what the BMC said when it has refused it, empty otherwise.

    The commands are in a file that only this user can read, because arguments of a program can be read by all. It knows
    no quoting for all signs, see ``accounts.password_problem``.

    :param slot: number of the user
    :param password: the new password, 20 bytes at most
    :raises IpmiError: when there is no session, or no answer; then the new password may count
    """
    size = 16 if len(password) <= 16 else 20
    output = _run(login, (f"user set password {slot} {password} {size}",))
    read(output)
    if re.search(r"Set User Password command successful", output):
        return ""
    answers = [line for line in output.splitlines() if "assword" in line]
    if not answers:
        raise IpmiError("unreachable", "no answer to the new password")
    return plain(answers[-1])


def slot_of(output: str, username: str) -> int:
    """Return the number of a user in ipmitool's list of users (as CSV), 0 when it is not listed once."""
    found = [int(match.group(1)) for match in map(_USER.match, output.splitlines())
             if match and match.group(2) == username]
    return found[0] if len(found) == 1 else 0


def _run(login: Login, lines: Sequence[str], *options: str) -> str:
    """Run commands in one session and return the program's output.

    The password is handed over in the environment, which only this user can read, and in no argument.

    :raises IpmiError: when the program is missing or does not end, or has no way to send the credentials
    """
    for what, text, longest in (("user name", login.username, _LONGEST_USERNAME_BYTES),
                                ("password", login.password, _LONGEST_PASSWORD_BYTES)):
        size = len(text.encode(errors="surrogateescape"))
        if size > longest:
            raise IpmiError("unsendable", f"the {what} has {size} bytes, IPMI 2.0 takes {longest} at most")
    with private_folder.folder(_FOLDER_PREFIX) as folder:
        commands = os.path.join(folder, "commands")
        with open(commands, "w", encoding="utf-8") as stream:
            stream.write("".join(line + "\n" for line in lines))
        arguments = [PROGRAM, "-v", *options, "-I", "lanplus", "-H", login.host, "-p", str(login.port),
                     "-U", login.username, "-E", "-L", login.privilege, "-N", str(login.timeout_seconds), "-R", "1",
                     "exec", commands]
        try:
            done = subprocess.run(
                arguments, env=dict(os.environ, **dict.fromkeys(_PASSWORD_VARIABLES, login.password), LC_ALL="C"),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", check=False, timeout=login.timeout_seconds * 10)
        except FileNotFoundError as exc:
            raise IpmiError("missing", f"the program {PROGRAM} is not installed") from exc
        except subprocess.TimeoutExpired as exc:
            raise IpmiError("unreachable", "no answer in time") from exc
    return done.stdout


def read(output: str) -> dict[str, str]:
    """Return what :func:`ask` does, from the program's output.

    :raises IpmiError: when the output says that there was no session
    """
    for pattern, kind, text in _REFUSALS:
        if pattern.search(output):
            raise IpmiError(kind, text)
    if "Unable to establish" in output or "Could not open socket" in output or "Address lookup" in output:
        raise IpmiError("unreachable", "no answer on UDP")
    power = re.search(r"Chassis Power is (on|off)", output)
    facts = {"power": power.group(1) if power else ""}
    # The first "Product Name" is the BMC's, the next one the server's.
    labels = set()
    for line in output.splitlines():
        label, colon, value = (part.strip() for part in line.partition(":"))
        key = _FIELDS.get(label)
        if label == "Product Name" and label in labels:
            key = "model"
        labels.add(label)
        if colon and key and value.lower() not in _UNKNOWN and not value.lower().startswith("unknown"):
            facts.setdefault(key, plain(value))
    return facts
