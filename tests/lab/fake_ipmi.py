# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BMC that speaks IPMI on loopback, by pyghmi; it prints a line for each login that somebody begins.

Run as a program, which first prints the port that it has got. The account ``admin`` may do all, ``operator`` has the
level OPERATOR.
"""
from __future__ import annotations

from pyghmi.ipmi import bmc
from pyghmi.ipmi.private import serversession

PASSWORDS = {"admin": "right", "operator": "right"}
SET_SESSION_PRIVILEGE = (6, 0x3b)
OPERATOR = 3
REQUESTED_LEVEL_EXCEEDS = 0x81


class Session(serversession.ServerSession):
    """Counts logins, and knows that accounts differ."""

    def _got_rakp1(self, data):
        print(f"login {bytes(data[28:]).decode()}", flush=True)
        super()._got_rakp1(data)

    def handle_client_request(self, request):
        """Refuse levels that the account does not have."""
        asks_level = (request["netfn"], request["command"]) == SET_SESSION_PRIVILEGE
        if asks_level and self.username == b"operator" and request["data"][0] > OPERATOR:
            self.send_ipmi_response(code=REQUESTED_LEVEL_EXCEEDS)
        else:
            super().handle_client_request(request)


class Bmc(bmc.Bmc):
    """A server that is on."""

    def get_power_state(self):
        """Return the power state."""
        return "on"


def main():
    """Serve until killed."""
    serversession.ServerSession = Session
    server = Bmc(PASSWORDS, port=0, address="127.0.0.1")
    # pyghmi finds its sessions by it.
    server.port = server.serversocket.getsockname()[1]
    print(server.port, flush=True)
    server.listen()


if __name__ == "__main__":
    main()
