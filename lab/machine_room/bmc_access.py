"""Who may talk to which BMC, and the BMC failures: WSGI middleware in front of sushy-tools.

sushy-tools has one password file for all systems; here every server has credentials of its own, as BMCs do.
"""
from __future__ import annotations

import re

from .account import pair_of
from .wsgi import SERVER_KEY, NoAnswer, answer

# The Redfish standard lets anybody read these.
PUBLIC_PATHS = ("", "redfish", "redfish/v1")
# The managers of sushy-tools carry the identity of their system.
SYSTEM_PATH = re.compile(r"^/redfish/v1/(?:Systems|Managers)/([^/]+)")


class BmcAccess:
    """The middleware.

    :param application: the WSGI application of sushy-tools
    :param servers: list of Servers
    :param others: AccessLog of the requests that name no server: all BMCs have the same address
    """

    def __init__(self, application, servers, others):
        self._application = application
        self._servers = {server.uuid: server for server in servers}
        self._others = others

    def __call__(self, environ, start_response):
        server = self._server(environ["PATH_INFO"], environ.get("HTTP_AUTHORIZATION", ""))
        asked = (server.access if server else self._others).begin(
            (environ.get("REMOTE_ADDR", ""), int(environ.get("REMOTE_PORT") or 0)), environ["REQUEST_METHOD"],
            environ["PATH_INFO"], environ.get("HTTP_USER_AGENT", ""))
        status = None

        def noting(line, *rest):
            nonlocal status
            status = int(line.partition(" ")[0])
            return start_response(line, *rest)

        try:
            return self._answer(server, environ, noting)
        finally:
            asked.end(status)

    def _answer(self, server, environ, start_response):
        if environ["PATH_INFO"].strip("/") in PUBLIC_PATHS:
            return self._application(environ, start_response)
        if server is not None and server.knobs.get("bmc_unreachable"):
            raise NoAnswer(server.name)
        if server is not None and server.knobs.get("bmc_unavailable"):
            return _refuse(start_response, 503, "The service is temporarily unavailable.", [("Retry-After", "30")])
        if server is None or server.knobs.get("bmc_unauthorized") or not server.bmc_account.enter(
                environ.get("HTTP_AUTHORIZATION", "")):
            return _refuse(start_response, 401, "Incorrect username or password",
                           [("WWW-Authenticate", 'Basic realm="Redfish"')])
        environ[SERVER_KEY] = server
        return self._application(environ, start_response)

    def _server(self, path, authorization):
        found = SYSTEM_PATH.match(path)
        # A path that names no server is for sushy-tools to refuse: 404, once somebody is logged in.
        if found and found.group(1) in self._servers:
            return self._servers[found.group(1)]
        pair = pair_of(authorization)
        return next((server for server in self._servers.values()
                     if pair and server.bmc_account.username == pair[0]), None)


def _refuse(start_response, status, text, headers):
    return answer(start_response, status, {"error": {
        "code": "Base.1.0.GeneralError",
        "message": text,
        "@Message.ExtendedInfo": [{"MessageId": "Base.1.0.GeneralError", "Message": text}],
    }}, headers)
