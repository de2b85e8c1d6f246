"""The BMCs' event service, which sushy-tools lacks: subscriptions, and events that are really sent.

An event goes out when the power changes, and when the action SubmitTestEvent asks for one.
"""
from __future__ import annotations

import datetime
import threading
import urllib.parse
import uuid

import flask

from . import redfish
from .web import Unreachable

ROOT = "/redfish/v1/EventService"
SUBSCRIPTIONS = ROOT + "/Subscriptions"
TEST_EVENT = "/Actions/EventService.SubmitTestEvent"
EVENT_TYPES = ["Alert", "ResourceAdded", "ResourceRemoved", "ResourceUpdated", "StatusChange"]
ATTEMPTS = 3
RETRY_SECONDS = 1
SUBSCRIPTION_LIMIT = 10

service = flask.Blueprint("MachineRoomEvents", __name__)


@service.route(ROOT)
def event_service():
    """Show the service."""
    return {
        "@odata.type": "#EventService.v1_7_0.EventService", "@odata.id": ROOT, "Id": "EventService",
        "Name": "Event service", "ServiceEnabled": True, "Status": {"State": "Enabled", "Health": "OK"},
        "DeliveryRetryAttempts": ATTEMPTS, "DeliveryRetryIntervalSeconds": RETRY_SECONDS,
        "EventTypesForSubscription": EVENT_TYPES, "Subscriptions": {"@odata.id": SUBSCRIPTIONS},
        "Actions": {"#EventService.SubmitTestEvent": {"target": ROOT + TEST_EVENT}},
    }


@service.route(SUBSCRIPTIONS)
def subscriptions():
    """List the subscriptions."""
    return redfish.collection("Event subscriptions", SUBSCRIPTIONS, sorted(redfish.asked().subscriptions))


@service.route(SUBSCRIPTIONS, methods=["POST"])
def subscribe():
    """Make a subscription."""
    server, wanted = redfish.asked(), flask.request.get_json(silent=True) or {}
    text = mistake(wanted)
    if text:
        return redfish.fault(400, text)
    if len(server.subscriptions) >= SUBSCRIPTION_LIMIT:
        return redfish.fault(503, f"there are {SUBSCRIPTION_LIMIT} subscriptions, and no room for more")
    identity = uuid.uuid4().hex[:8]
    server.configure(subscriptions=dict(server.subscriptions, **{identity: {
        "destination": wanted["Destination"], "context": wanted.get("Context") or "",
        "event_types": wanted.get("EventTypes") or EVENT_TYPES, "headers": wanted.get("HttpHeaders") or []}}))
    server.console.print("BMC: events are sent to %s from now on", wanted["Destination"])
    return describe(identity, server.subscriptions[identity]), 201, {
        "Location": f"{SUBSCRIPTIONS}/{identity}"}


@service.route(SUBSCRIPTIONS + "/<identity>")
def subscription(identity):
    """Show a subscription."""
    known = redfish.asked().subscriptions.get(identity)
    return describe(identity, known) if known else redfish.fault(404, f"no subscription {identity}")


@service.route(SUBSCRIPTIONS + "/<identity>", methods=["DELETE"])
def unsubscribe(identity):
    """End a subscription."""
    server = redfish.asked()
    if identity not in server.subscriptions:
        return redfish.fault(404, f"no subscription {identity}")
    server.configure(subscriptions=dict(
        (key, value) for key, value in server.subscriptions.items() if key != identity))
    return "", 204


@service.route(ROOT + TEST_EVENT, methods=["POST"])
def submit_test_event():
    """Send an event as the request describes it."""
    given = flask.request.get_json(silent=True) or {}
    send(redfish.asked(), given.get("EventType") or "Alert", given.get("MessageId") or "Base.1.0.Test",
         given.get("Message") or "A test event")
    return "", 204


def mistake(wanted):
    """Return what is wrong with a subscription that is asked for, or None."""
    destination = wanted.get("Destination")
    if not isinstance(destination, str) or urllib.parse.urlsplit(destination).scheme not in ("http", "https"):
        return "Destination: expected an http or https URL"
    if wanted.get("Protocol", "Redfish") != "Redfish":
        return "Protocol: expected Redfish"
    types = wanted.get("EventTypes") or []
    if not isinstance(types, list) or not set(types) <= set(EVENT_TYPES):
        return f"EventTypes: expected some of {', '.join(EVENT_TYPES)}"
    headers = wanted.get("HttpHeaders") or []
    if not isinstance(headers, list) or not all(isinstance(header, dict) for header in headers):
        return "HttpHeaders: expected a list of objects"
    return None


def describe(identity, known):
    """Return a subscription as Redfish shows it; its headers are never shown."""
    return {
        "@odata.type": "#EventDestination.v1_10_0.EventDestination", "@odata.id": f"{SUBSCRIPTIONS}/{identity}",
        "Id": identity, "Name": f"Event subscription {identity}", "Protocol": "Redfish",
        "Destination": known["destination"], "Context": known["context"], "EventTypes": known["event_types"],
        "HttpHeaders": None,
    }


def send(server, event_type, message_id, message):
    """Send an event to all who subscribed to its type, without waiting for them."""
    for known in server.subscriptions.values():
        if event_type in known["event_types"]:
            threading.Thread(target=_deliver, daemon=True, args=(
                server, known, _event(server, known, event_type, message_id, message))).start()


def _event(server, known, event_type, message_id, message):
    return {
        "@odata.type": "#Event.v1_7_0.Event", "Id": uuid.uuid4().hex, "Name": "Event", "Context": known["context"],
        "Events": [{
            "EventId": uuid.uuid4().hex, "EventType": event_type, "MessageId": message_id, "Message": message,
            "Severity": "OK", "EventTimestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "OriginOfCondition": {"@odata.id": f"/redfish/v1/Systems/{server.uuid}"},
        }],
    }


def _deliver(server, known, event):
    headers = dict(pair for header in known["headers"] for pair in header.items())
    pause = threading.Event()
    for _attempt in range(ATTEMPTS):
        try:
            if server.web.request(known["destination"], "POST", event, headers).status < 400:
                return
        except (Unreachable, ValueError):
            pass
        pause.wait(RETRY_SECONDS)
    server.console.print("BMC: an event could not be delivered to %s", known["destination"])
