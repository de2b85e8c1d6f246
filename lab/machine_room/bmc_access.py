"""Who may talk to which BMC, and the BMC failures: WSGI middleware in front of sushy-tools.

sushy-tools has one password file for all systems; here every server has credentials of its own, as BMCs do.
"""
from __future__ import annotations

import base64
import binascii
import hmac
import re

from .wsgi import SERVER_KEY, NoAnswer, answer

# The Redfish standard lets anybody read these.
PUBLIC_PATHS = ("", "redfish", "redfish/v1")
# The managers of sushy-tools carry the identity of their system.
SYSTEM_PATH = re.compile(r"^/redfish/v1/(?:Systems|Managers)/([^/]+)")


class Credentials:
    """Username and password of one BMC, read once: files in ``secrets/bmc/<server>/``."""

    def __init__(self, username, password):
        self._username, self._password = username, password
        self._pair = username.encode("utf-8") + b":" + password.encode("utf-8")

    @classmethod
    def read(cls, bmc):
        """Return the credentials that a server's ``bmc`` entry names the files of."""
        return cls(_read(bmc["username_file"]), _read(bmc["password_file"]))

    def password(self, username):
        """Return the password of a user, or None when there is no such user."""
        return self._password if username == self._username else None

    def fit(self, authorization):
        """Return whether an Authorization header holds them."""
        scheme, token = (authorization.split(" ", 1) + [""])[:2]
        if scheme.lower() != "basic":
            return False
        try:
            given = base64.b64decode(token, validate=True)
        except binascii.Error:
            return False
        return hmac.compare_digest(given, self._pair)


class BmcAccess:
    """The middleware.

    :param application: the WSGI application of sushy-tools
    :param servers: list of Servers
    :param credentials: mapping server name → Credentials
    """

    def __init__(self, application, servers, credentials):
        self._application = application
        self._servers = {server.uuid: server for server in servers}
        self._credentials = credentials

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        if path.strip("/") in PUBLIC_PATHS:
            return self._application(environ, start_response)
        server = self._server(path, environ.get("HTTP_AUTHORIZATION", ""))
        if server is not None and server.knobs.get("bmc_unreachable"):
            raise NoAnswer(server.name)
        if server is not None and server.knobs.get("bmc_unavailable"):
            return _refuse(start_response, 503, "The service is temporarily unavailable.", [("Retry-After", "30")])
        if server is None or server.knobs.get("bmc_unauthorized") or not self._credentials[server.name].fit(
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
        return next((server for server in self._servers.values()
                     if authorization and self._credentials[server.name].fit(authorization)), None)


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def _refuse(start_response, status, text, headers):
    return answer(start_response, status, {"error": {
        "code": "Base.1.0.GeneralError",
        "message": text,
        "@Message.ExtendedInfo": [{"MessageId": "Base.1.0.GeneralError", "Message": text}],
    }}, headers)
