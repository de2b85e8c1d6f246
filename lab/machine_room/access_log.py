"""Who asked a BMC for what: a line of JSON for each request. Neither bodies nor queries nor credentials are in it."""
from __future__ import annotations

import json

from .bounded_log import BoundedLog, now

# In a server's folder; of requests that name no server, in the folder of sushy-tools' state.
FILE = "bmc_access.log"
# What stands for the method of a request by IPMI, which has neither methods nor user agents.
IPMI = "IPMI"
# What begins a session of IPMI, or is asked without one: there is no answer to log.
SESSIONLESS = "/sessionless"
# Paths and user agents are their senders' texts.
_LONGEST_TEXT = 300


def ipmi_path(netfn, command):
    """Return what stands for the path of a request by IPMI.

    :param netfn: number of the network function
    :param command: number of the command
    """
    return f"/netfn/0x{netfn:02x}/command/0x{command:02x}"


# IPMI 2.0, 28.3: Chassis Control, which switches a server.
CHASSIS_CONTROL = ipmi_path(0x00, 0x02)


class AccessLog:
    """A bounded log of requests.

    :param path: the file
    """

    def __init__(self, path):
        self.path = path
        self._log = BoundedLog(path)

    def begin(self, client, method, path, user_agent=""):
        """Return the request that has arrived now; it is written when its ``end`` is called.

        :param client: IP address and port
        :param method: HTTP method, or IPMI
        :param path: its path, without a query
        :param user_agent: header of that name
        """
        return _Request(self._log, {
            "moment": now(), "address": client[0], "port": client[1], "method": method[:_LONGEST_TEXT],
            "path": path.partition("?")[0][:_LONGEST_TEXT], "status": None, "user_agent": user_agent[:_LONGEST_TEXT]})


class _Request:
    def __init__(self, log, fields):
        self._log, self._fields = log, fields

    def end(self, status):
        """Write the request.

        :param status: HTTP status or IPMI completion code of the answer, None without one
        """
        self._log.append(json.dumps(dict(self._fields, status=status)))
