"""The API of the agents, ``/agents/<server>/v1/…``, as ironic-python-agent serves it on each machine."""
from __future__ import annotations

import hmac
import urllib.parse

from .agent import VERSION
from .agent_errors import AgentError
from .wsgi import NoAnswer, answer, body


class AgentApi:
    """A WSGI application.

    :param servers: mapping name → Server
    """

    def __init__(self, servers):
        self._servers = servers

    def __call__(self, environ, start_response):
        name, *path = environ["PATH_INFO"].strip("/").split("/")[1:]
        server = self._servers.get(name)
        agent = server.agent if server else None
        # No machine that listens: nobody answers.
        if agent is None or not agent.answers:
            raise NoAnswer(name)
        if path[:1] == ["v1"]:
            path = path[1:]
        query = urllib.parse.parse_qs(environ.get("QUERY_STRING", ""))
        method = environ["REQUEST_METHOD"]
        if path == ["status"] and method == "GET":
            return answer(start_response, 200, {"version": VERSION})
        if path[:1] != ["commands"]:
            return _fault(start_response, 404, "Not found")
        token = query.get("agent_token", [""])[0]
        if not agent.token or not hmac.compare_digest(token, agent.token):
            return _fault(start_response, 401, "Token invalid.")
        if method == "POST":
            return self._execute(agent, environ, start_response, query.get("wait", ["false"])[0].lower() == "true")
        if method != "GET":
            return _fault(start_response, 405, "Method not allowed")
        if len(path) == 1:
            return answer(start_response, 200, {"commands": agent.commands.list()})
        result = agent.commands.get(path[1])
        if result is None:
            return _fault(start_response, 404, f"Command Result with id {path[1]} not found")
        return answer(start_response, 200, result)

    def _execute(self, agent, environ, start_response, wait):
        try:
            request = body(environ)
            result = agent.commands.execute(request["name"], request["params"], wait)
        except (ValueError, KeyError, TypeError):
            return _fault(start_response, 400, "Missing or invalid name or params")
        except AgentError as error:
            return _fault(start_response, error.status, f"{error.message}: {error.details}")
        return answer(start_response, 200, result)


def _fault(start_response, status, text):
    return answer(start_response, status, {"faultcode": "Server" if status >= 500 else "Client", "faultstring": text})
