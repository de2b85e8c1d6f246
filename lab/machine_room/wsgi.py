"""The little that the machine room's WSGI applications share."""
from __future__ import annotations

import json

REASONS = {200: "OK", 202: "Accepted", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found",
           405: "Method Not Allowed", 409: "Conflict", 500: "Internal Server Error", 503: "Service Unavailable"}

# Key of a request's environment: the Server whose BMC it is for, as BmcAccess found.
SERVER_KEY = "machine_room.server"


class NoAnswer(Exception):
    """Raised by an application that wants the connection closed without an answer; serve.py does it."""


def body(environ):
    """Return the JSON of a request's body, or None if it is empty.

    :raises ValueError: if it is not JSON
    """
    length = int(environ.get("CONTENT_LENGTH") or 0)
    data = environ["wsgi.input"].read(length)
    return json.loads(data) if data else None


def answer(start_response, status, value=None, headers=()):
    """Answer with JSON, or with nothing for a value of None.

    :param status: status code
    :param headers: further headers as pairs
    """
    data = b"" if value is None else json.dumps(value).encode("utf-8")
    start_response(f"{status} {REASONS[status]}", [
        ("Content-Type", "application/json"), ("Content-Length", str(len(data)))] + list(headers))
    return [data]
