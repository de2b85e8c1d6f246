"""What the Redfish services that sushy-tools lacks have in common."""
from __future__ import annotations

import flask

from .wsgi import SERVER_KEY


def asked():
    """Return the Server whose BMC the request is for."""
    return flask.request.environ[SERVER_KEY]


def fault(status, text):
    """Return a Redfish error as a Flask view does."""
    return {"error": {"code": "Base.1.0.GeneralError", "message": text,
                      "@Message.ExtendedInfo": [{"MessageId": "Base.1.0.GeneralError", "Message": text}]}}, status


def collection(name, path, members):
    """Return a collection.

    :param path: its own path, without a slash at the end
    :param members: the last parts of its members' paths
    """
    return {"@odata.id": path, "Name": name, "Members@odata.count": len(members),
            "Members": [{"@odata.id": f"{path}/{member}"} for member in members]}
