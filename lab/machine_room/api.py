"""The machine room's own API, ``/v1/…``: state of the servers, knobs, disks, consoles.

====== ================================== ==========================================================
GET    /v1/status                         number of servers; needs no token
GET    /v1/servers                        all servers
GET    /v1/servers/<name>                 one server
PUT    /v1/servers/<name>/knobs           set some knobs: ``{"slow_power": 5}``
DELETE /v1/servers/<name>/knobs           turn all off
DELETE /v1/servers/<name>/account         give the BMC's account the password it was delivered with
POST   /v1/servers/<name>/power           ``{"action": "power_off"}``: as somebody at the machine
GET    /v1/servers/<name>/console         ``?lines=100``
GET    /v1/servers/<name>/disks/<disk>    digest and partitions, ``?algorithm=sha256&offset=0&length=…``
====== ================================== ==========================================================
"""
from __future__ import annotations

import hmac
import urllib.parse

from . import partitions
from .wsgi import answer, body

POWER_ACTIONS = ("power_on", "power_off", "soft_off", "restart")


class BadRequest(Exception):
    """What was asked makes no sense."""


class Api:
    """A WSGI application.

    :param servers: mapping name → Server
    :param token: bearer token that requests must carry
    """

    def __init__(self, servers, token):
        self._servers = servers
        self._token = token

    def __call__(self, environ, start_response):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].strip("/").split("/")[1:]
        if path == ["status"]:
            return answer(start_response, 200, {"servers": len(self._servers)})
        given = environ.get("HTTP_AUTHORIZATION", "")
        if not hmac.compare_digest(given.encode("utf-8"), ("Bearer " + self._token).encode("utf-8")):
            return answer(start_response, 401, {"error": "expected the lab's machine room token as Bearer token"})
        try:
            return answer(start_response, 200, self._dispatch(method, path, environ))
        except KeyError as error:
            return answer(start_response, 404, {"error": f"not found: {error.args[0]}"})
        except (BadRequest, ValueError) as error:
            return answer(start_response, 400, {"error": str(error)})

    def _dispatch(self, method, path, environ):
        query = dict(urllib.parse.parse_qsl(environ.get("QUERY_STRING", "")))
        if path == ["servers"] and method == "GET":
            return {"servers": [server.describe() for server in self._servers.values()]}
        if path[:1] != ["servers"] or len(path) < 2:
            raise KeyError("/".join(path))
        server = self._servers[path[1]]
        wanted = (method,) + tuple(path[2:3])
        if wanted == ("GET",):
            return server.describe()
        if wanted == ("PUT", "knobs"):
            server.set_knobs(body(environ) or {})
            return server.describe()
        if wanted == ("DELETE", "knobs"):
            server.knobs.clear()
            server.save()
            return server.describe()
        if wanted == ("DELETE", "account"):
            server.bmc_account.reset()
            return server.describe()
        if wanted == ("POST", "power"):
            return self._power(server, (body(environ) or {}).get("action"))
        if wanted == ("GET", "console"):
            return {"lines": server.console.tail(int(query.get("lines", 100)))}
        if wanted == ("GET", "disks") and len(path) == 4:
            return self._disk(server, path[3], query)
        raise KeyError(f"{method} {'/'.join(path)}")

    def _power(self, server, action):
        if action not in POWER_ACTIONS:
            raise BadRequest(f"action: expected one of {', '.join(POWER_ACTIONS)}, got {action!r}")
        server.console.print("by hand: %s", action)
        getattr(server, action)()
        return server.describe()

    def _disk(self, server, name, query):
        disk = {disk.name.rsplit("/", 1)[-1]: disk for disk in server.disks}[name]
        algorithm = query.get("algorithm", "sha256")
        offset = int(query.get("offset", 0))
        length = int(query["length"]) if "length" in query else None
        found = {"name": disk.name, "size": disk.size, "path": disk.path, "algorithm": algorithm,
                 "digest": disk.digest(algorithm, length, offset), "partitions": []}
        if disk.has_partitions():
            found["partitions"] = [{
                "start": partition["start"] * partitions.SECTOR_BYTES,
                "size": partition["size"] * partitions.SECTOR_BYTES,
                "name": partition.get("name", ""),
            } for partition in partitions.table(disk.path)["partitions"]]
        return found
