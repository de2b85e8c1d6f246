# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A metal-api over HTTP: logins, rules, states and faults, in memory.

It simulates what a client can observe; nothing is installed. Bodies that arrive and answers that leave are checked
against the models of metal_python, which are generated from metal-api's OpenAPI. A machine goes through
:data:`INSTALLATION` by one event with each list of machines.
"""
from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import uuid
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote

from metal_python import models
from metal_python.api_client import ApiClient

from .http_server import QuietHandler, Served

KEY, TOKEN = "canary-hmac-key-91", "canary-token-55"
INSTALLATION = ["Preparing", "Registering", "Installing", "Booting New Kernel", "Phoned Home"]
PROJECT, OTHER_PROJECT = "3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e", "00000000-0000-4000-8000-000000000009"
PARTITION, SIZE = "fra-1", "c1-large"
IMAGE, IMAGE_OLD, FIREWALL_IMAGE = "ubuntu-24.04.20261001", "ubuntu-24.04.20260101", "firewall-ubuntu-3.0.20261001"
LONGEST_SKEW = timedelta(minutes=5)
# Marks an address that a machine has, metal-api's ``metal.IP.AddMachineId``.
MACHINE_TAG = "machine.metal-stack.io/id="
# Path → model of the body, model of the answer ("[…]" for a list).
ROUTES = [
    ("POST", "/v1/network/find", "V1NetworkFindRequest", "list[V1NetworkResponse]"),
    ("POST", "/v1/network/allocate", "V1NetworkAllocateRequest", "V1NetworkResponse"),
    ("POST", "/v1/network", "V1NetworkUpdateRequest", "V1NetworkResponse"),
    ("DELETE", "/v1/network/free/(?P<id>[^/]+)", None, "V1NetworkResponse"),
    ("POST", "/v1/ip/find", "V1IPFindRequest", "list[V1IPResponse]"),
    ("POST", "/v1/ip/allocate(/(?P<id>[^/]+))?", "V1IPAllocateRequest", "V1IPResponse"),
    ("POST", "/v1/ip", "V1IPUpdateRequest", "V1IPResponse"),
    ("DELETE", "/v1/ip/free/(?P<id>[^/]+)", None, "V1IPResponse"),
    ("POST", "/v1/machine/find", "V1MachineFindRequest", "list[V1MachineResponse]"),
    ("POST", "/v1/machine/ipmi/find", "V1MachineFindRequest", "list[V1MachineIPMIResponse]"),
    ("POST", "/v1/machine/allocate", "V1MachineAllocateRequest", "V1MachineResponse"),
    ("POST", "/v1/firewall/allocate", "V1FirewallCreateRequest", "V1FirewallResponse"),
    ("POST", "/v1/machine", "V1MachineUpdateRequest", "V1MachineResponse"),
    ("DELETE", "/v1/machine/(?P<id>[^/]+)/free", None, "V1MachineResponse"),
    ("POST", "/v1/machine/(?P<id>[^/]+)/reinstall", "V1MachineReinstallRequest", "V1MachineResponse"),
    ("POST", "/v1/machine/(?P<id>[^/]+)/power/(?P<power>on|off|cycle|reset)", None, "V1MachineResponse"),
    ("GET", "/v1/image", None, "list[V1ImageResponse]"),
    ("GET", "/v1/size", None, "list[V1SizeResponse]"),
    ("GET", "/v1/partition", None, "list[V1PartitionResponse]"),
    ("GET", "/v1/project", None, "list[V1ProjectResponse]")]
CLIENT = ApiClient()
READING = re.compile(r".*/find|/v1/(image|size|partition|project)")


class Refused(Exception):
    """What metal-api answers with an error."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


def _rule(rule):
    """Return the rule as metal-api answers it: it takes the protocol in capitals and small letters, TCP without one."""
    protocol = (rule.get("protocol") or "tcp").lower()
    if protocol not in ("tcp", "udp"):
        raise Refused(422, f"no such protocol: {protocol}")
    return dict(rule, protocol=protocol)


class MetalApi(Served):
    """A server; use it in a ``with`` statement.

    ``faults`` is a list of ``(path, fault)``, each of which is used once by the first request that fits: a status code,
    ``half`` (carried out, and answered with 500), ``lost`` (carried out, and the connection is closed), ``late`` (the
    connection is closed, and it is carried out after the next question what there is), ``redirect``, ``no json``.
    ``requests`` has what arrived, ``defects`` what does not fit the OpenAPI.
    """

    def __init__(self, machines=4):
        self.now = datetime.now(timezone.utc)
        self.networks, self.ips, self.machines = {}, {}, {}
        self.faults, self.requests, self.defects = [], [], []
        self.ready = True
        # Whether each write is refused with a quotation of what was sent.
        self.refuse_quoting = False
        # How many requests to free an address or a network are refused after a machine was freed: what it had of them
        # is released later, by a queue (metal-api's ``asyncActor.releaseMachineNetworks``).
        self.refusals_after_freeing = 0
        self._unreleased = {}
        self._late = []
        self._lock = threading.RLock()
        self._addresses = 0
        self.add_network("internet", prefixes=["192.0.2.0/24"], name="internet")
        self.images = [self._image(IMAGE, "machine"), self._image(IMAGE_OLD, "machine"),
                       self._image(FIREWALL_IMAGE, "firewall")]
        for number in range(machines):
            self.add_machine(f"00000000-0000-4000-8000-00000000010{number}")
        outer = self

        class Handler(QuietHandler):
            def do(self):
                outer.handle(self)

            do_GET = do_POST = do_PUT = do_DELETE = do

        self.serve(Handler)

    def _image(self, key, feature):
        return {"id": key, "features": [feature], "expirationDate": self.now.isoformat(), "usedby": []}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/metal"

    def add_network(self, key, **fields):
        """Store a network; without a project it is a public one."""
        self.networks[key] = dict({
            "id": key, "name": key, "prefixes": ["10.0.0.0/22"], "destinationprefixes": [], "nat": False,
            "nattype": "none", "networktype": "external", "privatesuper": False, "underlay": False, "shared": False,
            "labels": {}, "consumption": {"ipv4": {"available_ips": 9, "available_prefixes": 9, "used_ips": 0,
                                                   "used_prefixes": 0}},
            "usage": {"available_ips": 9, "available_prefixes": 9, "used_ips": 0, "used_prefixes": 0}}, **fields)
        return self.networks[key]

    def add_private(self, key, name, project=PROJECT, partition=PARTITION, **fields):
        return self.add_network(key, name=name, projectid=project, partitionid=partition, parentnetworkid="super",
                                networktype="child", **fields)

    def add_machine(self, key):
        self.machines[key] = {
            "id": key, "bios": {"date": "2026", "vendor": "v", "version": "1"}, "liveliness": "Alive", "tags": [],
            "events": {"crash_loop": False, "failed_machine_reclaim": False, "log": [{"event": "Waiting"}]},
            "hardware": {"cpu_cores": 8, "memory": 1, "disks": [], "nics": []},
            "ledstate": {"description": "", "value": "LED-OFF"},
            "partition": {"id": PARTITION, "bootconfig": {}, "labels": {}},
            "size": {"id": SIZE, "constraints": [], "labels": {}},
            "state": {"description": "", "value": "", "metal_hammer_version": ""}, "power": "ON"}
        return self.machines[key]

    def named(self, name):
        """Return the machines that are allocated under a name."""
        return [item for item in self.machines.values() if (item.get("allocation") or {}).get("name") == name]

    # HTTP

    def handle(self, request):
        text = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        path = unquote(request.path.split("?")[0])
        path = path[len("/metal"):] if path.startswith("/metal/") else "none"
        with self._lock:
            self.requests.append((request.command, path, dict(request.headers)))
            fault = next((found for found in self.faults if re.fullmatch(found[0], path)), None)
            if fault is not None:
                self.faults.remove(fault)
            status, answer = self._answer(request, path, text, fault[1] if fault else None)
        if answer == "close":
            request.close_connection = True
            return
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        if status == 302:
            request.send_header("Location", "http://203.0.113.9/metal")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _answer(self, request, path, text, fault):
        try:
            self._log_in(request)
            if isinstance(fault, int):
                raise Refused(fault, "fault of the test")
            if fault == "redirect":
                return 302, {}
            if fault == "no json":
                return 200, b"<html>"
            if self.refuse_quoting and not READING.fullmatch(path):
                raise Refused(400, f"invalid: {text.decode()} {request.headers.get('Authorization')}")
            if fault == "late":
                self._late.append((request.command, path, text))
                return 0, "close"
            status, answer = self._route(request.command, path, text)
            while path.endswith("/find") and self._late:
                answer = json.loads(json.dumps(answer))
                self._route(*self._late.pop())
            if fault == "half":
                raise Refused(500, "fault of the test after half of it")
            return (0, "close") if fault == "lost" else (status, answer)
        except Refused as exc:
            return exc.status, {"statuscode": exc.status, "message": exc.text}

    def _log_in(self, request):
        given = request.headers.get("Authorization", "")
        if given == f"Bearer {TOKEN}":
            return
        date, salt = request.headers.get("X-Date", ""), request.headers.get("X-Data-Salt", "")
        user, _blank, signature = given.partition(" ")
        expected = hmac.new(KEY.encode(), (date + request.command + salt).encode(), hashlib.sha256).hexdigest()
        try:
            moment = datetime.fromisoformat(date.replace("Z", "+00:00"))
        except ValueError:
            raise Refused(401, "no X-Date in RFC 3339") from None
        if abs(datetime.now(timezone.utc) - moment) > LONGEST_SKEW:
            raise Refused(401, "X-Date is too old")
        if not salt or not hmac.compare_digest(signature, expected):
            raise Refused(401, "wrong signature")
        if user not in ("Metal-Edit", "Metal-Admin") and not (
                user == "Metal-View" and READING.fullmatch(request.path[len("/metal"):])):
            raise Refused(403, "you are not allowed to do that")

    def _route(self, method, path, text):
        for verb, pattern, body_model, answer_model in ROUTES:
            match = re.fullmatch(pattern, path)
            if verb == method and match:
                body = json.loads(text) if text else {}
                if body_model:
                    self._check_body(body_model, body)
                groups = {key: value for key, value in match.groupdict().items() if value is not None}
                name = re.sub(r"\W+", "_", re.sub(r"\(.*?\)\)?\??", "", pattern)).strip("_")
                answer = getattr(self, f"_{method.lower()}_{name}")(body, **groups)
                self._check_answer(answer_model, answer)
                return 201 if path.startswith(("/v1/network/allocate", "/v1/ip/allocate")) else 200, answer
        raise Refused(404, f"no such path {path}")

    def _check_body(self, name, body):
        model = getattr(models, name)
        fields = {field: attribute for attribute, field in model.attribute_map.items()}
        unknown = sorted(set(body) - set(fields))
        if unknown:
            self.defects.append(f"{name} has no {unknown}")
        try:
            model(**{fields[key]: value for key, value in body.items() if key in fields})
        except ValueError as exc:
            raise Refused(400, str(exc)) from None

    def _check_answer(self, name, answer):
        try:
            CLIENT._ApiClient__deserialize(json.loads(json.dumps(answer)), name)
        except ValueError as exc:
            self.defects.append(f"answer {name}: {exc}")

    # Networks and addresses

    def _post_v1_network_find(self, body):
        return list(self.networks.values())

    def _post_v1_network_allocate(self, body):
        self._check_labels(body)
        if body.get("partitionid") != PARTITION:
            raise Refused(422, f"partition {body.get('partitionid')} not found")
        key = str(uuid.uuid4())
        given = {name: body[name] for name in ("nat", "shared", "labels", "destinationprefixes", "description")
                 if name in body}
        return self.add_private(key, body.get("name"), body.get("projectid"), **given)

    @staticmethod
    def _check_labels(body):
        if not all(isinstance(value, str) for value in (body.get("labels") or {}).values()):
            raise Refused(400, "json: cannot unmarshal into Go struct field labels of type string")

    def _post_v1_network(self, body):
        self._check_labels(body)
        stored = self.networks[body["id"]]
        if stored["shared"] and body.get("shared") is False:
            raise Refused(400, "once a network is marked as shared it is not possible to unshare it")
        stored.update({name: value for name, value in body.items() if value is not None
                       and (name != "destinationprefixes" or value)})
        return stored

    def _delete_v1_network_free(self, body, id):
        if id not in self.networks:
            raise Refused(404, f"network {id} not found")
        if not self._is_released():
            raise Refused(422, "error releasing child prefix in ipam: prefix has ips, deletion not possible")
        if any(ip["networkid"] == id for ip in self.ips.values()) or any(
                network["networkid"] == id for item in self.machines.values()
                for network in (item.get("allocation") or {}).get("networks", [])):
            raise Refused(422, f"network {id} is still in use")
        return self.networks.pop(id)

    def _post_v1_ip_find(self, body):
        return list(self.ips.values())

    def _post_v1_ip_allocate(self, body, id=None):
        if body["networkid"] not in self.networks:
            raise Refused(422, f"network {body['networkid']} not found")
        if id in self.ips:
            raise Refused(409, f"{id} is already allocated")
        self._addresses += 1
        address = id or f"192.0.2.{self._addresses}"
        self.ips[address] = {
            "allocationuuid": str(uuid.uuid4()), "ipaddress": address, "name": body.get("name"), "type": body["type"],
            "networkid": body["networkid"], "projectid": body["projectid"], "tags": body.get("tags") or [],
            "description": body.get("description")}
        return self.ips[address]

    def _post_v1_ip(self, body):
        stored = self.ips[body["ipaddress"]]
        if stored["type"] == "static" and body["type"] == "ephemeral":
            raise Refused(400, "cannot change type of ip address from static to ephemeral")
        stored.update({name: value for name, value in body.items() if value is not None})
        stored["tags"] = sorted(set(stored["tags"]))
        return stored

    def _delete_v1_ip_free(self, body, id):
        if id not in self.ips:
            raise Refused(404, f"ip {id} not found")
        self._is_released()
        if any(tag.startswith(MACHINE_TAG) for tag in self.ips[id]["tags"]):
            raise Refused(400, "ip with machine scope can not be deleted")
        return self.ips.pop(id)

    # Machines

    def _post_v1_machine_find(self, body):
        for item in self.machines.values():
            log = item["events"]["log"]
            if item.get("allocation") and self.ready and log[0]["event"] in INSTALLATION[:-1]:
                item["allocation"]["reinstall"] = False
                log.insert(0, {"event": INSTALLATION[INSTALLATION.index(log[0]["event"]) + 1]})
        return [self._shown(item) for item in self.machines.values()]

    @staticmethod
    def _shown(item):
        return {key: value for key, value in item.items() if key != "power" and value is not None}

    def _post_v1_machine_ipmi_find(self, body):
        watts = {"averageconsumedwatts": 1, "intervalinmin": 1, "maxconsumedwatts": 1, "minconsumedwatts": 1}
        ipmi = {"address": "198.18.0.1", "bmcversion": "", "last_updated": self.now.isoformat(), "fru": {}, "mac": "",
                "interface": "", "password": "canary-bmc-12", "powersupplies": [], "powermetric": watts, "user": ""}
        return [dict(self._shown(item), ipmi=dict(ipmi, powerstate=item["power"]))
                for item in self.machines.values()]

    def _post_v1_machine_allocate(self, body):
        return self._allocated(body, "machine")

    def _post_v1_firewall_allocate(self, body):
        return self._allocated(body, "firewall")

    def _allocated(self, body, role):
        image = next((image for image in self.images if image["id"] == body["imageid"]
                      or image["id"].startswith(body["imageid"] + ".")), None)
        if image is None or role not in image["features"]:
            raise Refused(422, f"image {body['imageid']} cannot be used for a {role}")
        given = [network["networkid"] for network in body.get("networks") or []]
        if set(given) - set(self.networks):
            raise Refused(422, "network not found")
        private = [key for key in given if self.networks[key].get("projectid") == body["projectid"]
                   and self.networks[key].get("parentnetworkid")]
        if role == "firewall":
            # Beside the one that is its own it may be in shared ones (metal-api's ``gatherNetworksFromSpec``).
            private = [key for key in private if not self.networks[key]["shared"]] or private
        if len(private) != 1:
            raise Refused(422, f"{len(private)} private networks given, expected exactly one")
        for address in body.get("ips") or []:
            if self.ips.get(address, {}).get("projectid") != body["projectid"]:
                raise Refused(422, f"given ip {address} does not belong to the project")
            if self.ips[address]["networkid"] not in given:
                raise Refused(422, f"given ip {address} is not in any of the given networks")
        free = [item for item in self.machines.values() if not item.get("allocation")
                and body.get("uuid") in (None, item["id"])
                and (body.get("uuid") or (body["partitionid"], body["sizeid"]) == (PARTITION, SIZE))]
        if not free:
            raise Refused(422, "no machine available")
        item = free[0]
        networks = [{"asn": 1, "destinationprefixes": [], "nat": False, "networkid": key, "networktype": "x",
                     "nattypev2": "none", "networktypev2": "child", "prefixes": [], "private": key in private,
                     "underlay": False, "vrf": 1, "projectid": body["projectid"],
                     "ips": [address for address in body.get("ips") or [] if self.ips[address]["networkid"] == key]}
                    for key in given]
        if role == "firewall":
            networks.append(dict(networks[0], networkid="underlay", underlay=True, private=False, ips=[]))
        for address in body.get("ips") or []:
            self.ips[address]["tags"] = sorted({*self.ips[address]["tags"], MACHINE_TAG + item["id"]})
        item["tags"] = self._machine_tags(body.get("tags") or [])
        item["allocation"] = {
            "description": body.get("description") or "",
            "allocationuuid": str(uuid.uuid4()), "created": self.now.isoformat(), "creator": "test", "role": role,
            "hostname": body["hostname"], "name": body["name"], "project": body["projectid"], "networks": networks,
            "reinstall": False, "ssh_pub_keys": body["ssh_pub_keys"], "succeeded": True,
            "image": image, "user_data": body.get("user_data")}
        if any((body.get("firewall_rules") or {}).values()):
            item["allocation"]["firewall_rules"] = {side: [_rule(rule) for rule in rules or []]
                                                    for side, rules in body["firewall_rules"].items()}
        item["events"]["log"] = [{"event": INSTALLATION[0]}]
        return self._shown(item)

    def _allocation(self, id):
        if not (self.machines.get(id) or {}).get("allocation"):
            raise Refused(404, f"machine {id} is not allocated")
        return self.machines[id]

    def _post_v1_machine(self, body):
        item = self._allocation(body["id"])
        item["allocation"]["description"] = body["description"]
        if body.get("tags"):
            item["tags"] = self._machine_tags(body["tags"])
        return self._shown(item)

    @staticmethod
    def _machine_tags(tags):
        return [*sorted(set(tags), reverse=True), "machine.metal-stack.io/rack=r1"]

    def _delete_v1_machine_free(self, body, id):
        item = self._allocation(id)
        self._unreleased[id] = self.refusals_after_freeing
        if not self.refusals_after_freeing:
            self._is_released()
        item["allocation"], item["tags"] = None, []
        item["events"] = {"crash_loop": False, "failed_machine_reclaim": False, "log": [{"event": "Planned Reboot"}]}
        return self._shown(item)

    def _is_released(self):
        """Release what freed machines had when its time has come, and say whether nothing is left of them."""
        for key, left in list(self._unreleased.items()):
            if left:
                self._unreleased[key] = left - 1
                continue
            del self._unreleased[key]
            for address in self.ips.values():
                address["tags"] = [tag for tag in address["tags"] if tag != MACHINE_TAG + key]
        return not self._unreleased

    def _post_v1_machine_reinstall(self, body, id):
        item = self._allocation(id)
        # In contrast to an allocation, this one does not look for the newest image of a series.
        image = next((image for image in self.images if image["id"] == body["imageid"]), None)
        if image is None:
            raise Refused(404, f"error finding image {body['imageid']} for machine {id}")
        item["allocation"].update(image=image, reinstall=True)
        item["events"]["log"].insert(0, {"event": "Preparing"})
        return self._shown(item)

    def _post_v1_machine_power(self, body, id, power):
        item = self._allocation(id)
        item["power"] = "OFF" if power == "off" else "ON"
        return self._shown(item)

    def _get_v1_image(self, body):
        return self.images

    def _get_v1_size(self, body):
        return [{"id": SIZE, "constraints": [], "labels": {}}]

    def _get_v1_partition(self, body):
        return [{"id": PARTITION, "bootconfig": {}, "labels": {}}]

    def _get_v1_project(self, body):
        return [{"meta": {"id": key}, "name": name} for key, name in ((PROJECT, "prod"), (OTHER_PROJECT, "others"))]
