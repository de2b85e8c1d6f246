# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of Ironic as the services need, in memory: nodes, ports, the verbs' ways, refusals, masked secrets."""
from __future__ import annotations

import copy
import threading
from urllib.parse import unquote

from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.redaction import is_secret_key
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import states
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError

# What each verb's way through the states is, a poll at a time.
WAYS = {
    "manage": ["verifying", "manageable"], "inspect": ["inspecting", "inspect wait", "manageable"],
    "provide": ["cleaning", "available"], "clean": ["cleaning", "clean wait", "manageable"],
    "active": ["deploying", "wait call-back", "active"], "rebuild": ["deploying", "active"],
    "deleted": ["deleting", "cleaning", "available"], "rescue": ["rescuing", "rescue wait", "rescue"],
    "unrescue": ["unrescuing", "active"], "adopt": ["adopting", "active"], "service": ["servicing", "active"],
}


class FakeIronic:
    """Answers like an IronicClient.

    A test may change ``ways``; ``refusals`` maps (method, path) to a list of errors to raise one after the other.
    """

    server = "https://198.18.0.1:6385/v1"

    def __init__(self, minor=110):
        self.minor = minor
        self.nodes, self.ports, self.sent, self.refusals = {}, {}, [], {}
        self.ways = copy.deepcopy(WAYS)
        self.answers = {}
        self.lists = 0
        self.lost = 0
        # The names of tests' objects, by the UUIDs that clients have chosen for them.
        self._chosen = {}
        self._left = {}
        self._lock = threading.Lock()

    def add(self, name, state="enroll", **values):
        uuid = values.setdefault("uuid", "uuid-" + name)
        self.nodes[uuid] = dict({
            "uuid": uuid, "name": name, "provision_state": state, "target_provision_state": None,
            "power_state": "power off", "target_power_state": None, "last_error": None, "reservation": None,
            "maintenance": False, "maintenance_reason": None, "provision_updated_at": None,
            "instance_uuid": None, "driver": "redfish", "driver_info": {}, "properties": {},
            "extra": {}, "instance_info": {}, "traits": [], "target_raid_config": {}, "raid_interface": "agent",
            "rescue_interface": "agent", "boot_interface": "ipxe", "boot_mode": "uefi", "secure_boot": False}, **values)
        return uuid

    def list_nodes(self, fields=None, **dummy):
        with self._lock:
            self.lists += 1
            if self.lost:
                self.lost -= 1
                raise IronicError("no answer", reason="Unreachable")
            found = [self._shown(node, fields) for node in self.nodes.values()]
            self._go_on()
        return found

    def list_ports(self, fields=None):
        return copy.deepcopy(list(self.ports.values()))

    def list_portgroups(self, fields):
        return []

    def list_drivers(self):
        return ["fake-hardware", "ipmi", "redfish"]

    def _shown(self, node, fields):
        shown = copy.deepcopy(node)
        for key in shown["driver_info"]:
            if is_secret_key(key):
                shown["driver_info"][key] = "******"
        return shown if fields is None else dict((field, shown.get(field)) for field in fields)

    def _go_on(self):
        for uuid, left in list(self._left.items()):
            state = left.pop(0)
            node = self.nodes[uuid]
            if isinstance(state, tuple):
                state, node["last_error"] = state
            if state.startswith("power "):
                node.update(power_state=state, target_power_state=None)
            else:
                node["provision_state"] = state
            if not left:
                del self._left[uuid]

    def node(self, uuid, fields):
        return self._one("/nodes/" + uuid, self.nodes, fields)

    def port(self, uuid, fields=None):
        return self._one("/ports/" + uuid, self.ports, fields)

    def _one(self, path, objects, fields):
        with self._lock:
            self.sent.append(("GET", path, None))
            if self.refusals.get(("GET", path)):
                raise self.refusals["GET", path].pop(0)
            uuid = path.rpartition("/")[2]
            found = objects.get(self._chosen.get(uuid, uuid))
            if found is None:
                return None
            return self._shown(found, fields) if objects is self.nodes else dict(found)

    def request(self, method, path, query=None, body=None, subject=None, repeatable=None):
        path = unquote(path)
        with self._lock:
            self.sent.append((method, path, copy.deepcopy(body)))
            if self.refusals.get((method, path)):
                raise self.refusals[method, path].pop(0)
            if (method, path) in self.answers:
                return copy.deepcopy(self.answers[method, path])
            return self._handle(method, path.strip("/").split("/"), body)

    def _handle(self, method, parts, body):
        if parts == ["nodes"]:
            body = dict(body)
            chosen = body.pop("uuid")
            uuid = self._chosen[chosen] = self.add(**dict({"state": "enroll"}, **body))
            return self._shown(self.nodes[uuid], None)
        if parts == ["ports"]:
            self._chosen[body["uuid"]] = "port-" + body["address"]
            self.ports["port-" + body["address"]] = dict(body, uuid="port-" + body["address"])
            return dict(self.ports["port-" + body["address"]])
        if parts[0] == "ports":
            return self._port(method, parts[1], body)
        node, rest = self.nodes[parts[1]], "/".join(parts[2:])
        if not rest:
            return self._node(method, node, body)
        return self._state(method, node, rest, body)

    def _port(self, method, uuid, body):
        if uuid not in self.ports:
            raise IronicError(f"port {uuid}: not found", 404)
        if method == "DELETE":
            return self.ports.pop(uuid) and None
        for step in body:
            if step["path"] == "/node_uuid":
                # Ironic 39.0 gives the node of the port the other node's UUID, which its database refuses.
                raise IronicError(f"port {self.ports[uuid]['address']}: 'address'", 500)
            self.ports[uuid][step["path"].strip("/")] = step.get("value")
        return dict(self.ports[uuid])

    def _node(self, method, node, body):
        if method == "DELETE":
            self.nodes.pop(node["uuid"])
            return None
        for step in body:
            path = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].strip("/").split("/")]
            place = node if len(path) == 1 else node[path[0]]
            if step["op"] == "remove":
                place.pop(path[-1])
            else:
                place[path[-1]] = step["value"]
        return self._shown(node, None)

    def _state(self, method, node, rest, body):
        if rest == "states/provision":
            way = list(self.ways[body["target"]])
            accepted = [verb.accepted for verb in states.VERBS.values() if verb.target == body["target"]]
            assert node["provision_state"] in accepted[0], (body, node["provision_state"])
            node.update(provision_state=way.pop(0), last_error=None)
            if body["target"] == "deleted":
                node.update(instance_info={}, instance_uuid=None)
            self._left[node["uuid"]] = way
        elif rest == "states/power":
            node["target_power_state"] = "power off" if body["target"].endswith("power off") else "power on"
            self._left[node["uuid"]] = [node["target_power_state"]]
        elif rest.startswith("states/"):
            field = "target_raid_config" if rest == "states/raid" else rest.partition("/")[2]
            node[field] = body.get("target", body)
        elif rest == "maintenance":
            node.update(maintenance=method == "PUT", maintenance_reason=(body or {}).get("reason"))
        elif rest == "traits":
            node["traits"] = body["traits"]
        elif rest != "management/boot_device":
            raise AssertionError(f"unexpected path {rest}")

    def requests(self):
        """Return what was sent, without what only reads."""
        return [request for request in self.sent if request[0] != "GET"]
