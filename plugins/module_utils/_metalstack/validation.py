# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for entries, by themselves and against what metal-stack has; pure."""
from __future__ import annotations

import ipaddress
import re
from collections import Counter
from typing import Any

from .._common.addresses.ip_texts import is_network, is_shortest_address
from .._common.documents.tolerant import list_in
from .._common.options.field_checks import UUID, show
from .._common.problems.problem import Problem
from .fields import INTERRUPTING
from .kinds import FIREWALL, IP, SYSTEM_TAGS, Kind, image_fits, is_private

CODE = "metalstack-entry"
_NUMBER = re.compile(r"[0-9]{1,18}")


def check_entries(kind: Kind, entries: list[dict[str, Any]]) -> list[Problem]:
    """Check a list by itself.

    :param kind: what the entries are
    :param entries: the entries as the argument spec leaves them
    """
    counted = Counter((entry["project"], entry["name"], kind.place(entry)) for entry in entries)
    problems = [Problem(CODE, f"{kind.word} {name}", "name", f"{count} entries of project {project}", "one",
                        "remove the others")
                for (project, name, dummy), count in counted.items() if count > 1]
    for field in ("id", "address"):
        given = Counter(entry[field] for entry in entries if entry.get(field))
        problems += [Problem(CODE, kind.option, field, f"{show(value)} {count} times", "once", "remove the others")
                     for value, count in given.items() if count > 1]
    for entry in entries:
        problems += _check_entry(kind, entry)
    return problems


def check_interval(seconds: float) -> list[Problem]:
    """Return a Problem for a pause that is none; of what is no number, neither is true."""
    return [] if seconds > 0 else [Problem(CODE, "", "poll_interval_seconds", f"{seconds}", "a number above 0",
                                           "correct it")]


def _check_entry(kind: Kind, entry: dict[str, Any]) -> list[Problem]:
    label, problems = kind.label(entry), []

    def add(field: str, actual: Any, expected: str, hint: str = "correct it") -> None:
        problems.append(Problem(CODE, label, field, actual if actual is None else show(actual), expected, hint))

    for field in ("name", "project"):
        if not entry[field] or not entry[field].isprintable() or "," in entry[field] or len(entry[field]) > 255:
            add(field, entry[field], "1 to 255 printable characters without a comma")
    if entry.get("id") and kind.role_of() and not UUID.match(entry["id"]):
        add("id", entry["id"], "the UUID of a machine")
    for field in ("address",):
        if entry.get(field) and not is_shortest_address(entry[field]):
            add(field, entry[field], "an IPv4 or IPv6 address in its shortest form")
    for position, address in enumerate(entry.get("ips") or []):
        if not is_shortest_address(address):
            add(f"ips[{position}]", address, "an IPv4 or IPv6 address in its shortest form")
    for position, prefix in enumerate(entry.get("destination_prefixes") or []):
        if not is_network(prefix):
            add(f"destination_prefixes[{position}]", prefix, "a network such as 0.0.0.0/0")
    for position, tag in enumerate(entry.get("tags") or []):
        if tag.startswith(SYSTEM_TAGS):
            add(f"tags[{position}]", tag, f"a tag that does not begin with {SYSTEM_TAGS}",
                "remove it: metal-api writes it itself")
    for name, value in (entry.get("labels") or {}).items():
        if not isinstance(value, str):
            add(f"labels.{name}", value, "a text", "quote it")
    length = entry.get("prefix_length")
    longest = 128 if entry.get("address_family") == "IPv6" else 30
    if length is not None and not 8 <= length <= longest:
        add("prefix_length", length, f"8 to {longest}")
    for side, rules in (entry.get("rules") or {}).items():
        for position, rule in enumerate(rules or []):
            place = f"rules.{side}[{position}]"
            for port in rule.get("ports") or []:
                if not 1 <= port <= 65535:
                    add(f"{place}.ports", port, "1 to 65535")
            for field in ("to", "from"):
                for network in rule.get(field) or []:
                    if not is_network(network):
                        add(f"{place}.{field}", network, "a network such as 0.0.0.0/0")
    return problems


class Stock:
    """What metal-stack has, as far as an allocation rests on it.

    :param objects: ``{"projects", "networks", "ips", "machines", "images", "sizes", "partitions"}``, lists of stored
        objects; one that is missing is not checked against, nor are projects when the login may see none
    """

    def __init__(self, objects: dict[str, list[dict[str, Any]]]) -> None:
        self._objects = objects

    def _ids(self, name: str) -> list[str] | None:
        return [item["id"] for item in self._objects[name]] if name in self._objects else None

    def problems(self, kind: Kind, entry: dict[str, Any]) -> list[Problem]:
        """Return what prevents the allocation of an entry."""
        problems = self._named(kind, entry, "project", "projects", required=True) if self._ids("projects") else []
        if kind.role_of():
            return problems + self._of_machine(kind, entry)
        if kind is IP:
            return problems + self._of_ip(entry)
        return problems + self._named(kind, entry, "partition", "partitions", required=True)

    def _named(self, kind: Kind, entry: dict[str, Any], field: str, name: str, required: bool) -> list[Problem]:
        value, known = entry.get(field), self._ids(name)
        if value is None:
            return [Problem(CODE, kind.label(entry), field, None, f"the id of one of {name}", f"set {field}")
                    ] if required else []
        if known is None or value in known:
            return []
        expected = "one of " + (", ".join(sorted(known)[:20]) or name)
        return [Problem(CODE, kind.label(entry), field, show(value), expected, "correct it")]

    def _of_ip(self, entry: dict[str, Any]) -> list[Problem]:
        problems = self._named(IP, entry, "network", "networks", required=True)
        network = self._network(entry.get("network"))
        if entry.get("address") and entry.get("address_family"):
            problems.append(Problem(CODE, IP.label(entry), "address_family", show(entry["address_family"]),
                                    "none together with address", "remove one of them"))
        if network is None or not entry.get("address"):
            return problems
        prefixes = list_in(network, "prefixes")
        if not any(_contains(prefix, entry["address"]) for prefix in prefixes):
            problems.append(Problem(CODE, IP.label(entry), "address", show(entry["address"]), "an address of "
                                    + (", ".join(map(str, prefixes[:5])) or "the network"),
                                    "correct it, or name its network"))
        return problems

    def _network(self, name: str | None) -> dict[str, Any] | None:
        return next((item for item in self._objects.get("networks", []) if item["id"] == name), None)

    def _of_machine(self, kind: Kind, entry: dict[str, Any]) -> list[Problem]:
        label, pinned = kind.label(entry), bool(entry.get("id"))
        problems = self._named(kind, entry, "partition", "partitions", required=not pinned)
        problems += self._named(kind, entry, "size", "sizes", required=not pinned)
        problems += self.image_problems(kind, entry)
        problems += self._networks(kind, entry)
        if entry.get("power") == "off":
            problems.append(Problem(CODE, label, "power", show("off"), "nothing or on for what is allocated",
                                    "leave it out until it has phoned home: it is installed while it runs"))
        machine = next((item for item in self._objects.get("machines", []) if item["id"] == entry.get("id")), None)
        if pinned and machine is None:
            problems.append(Problem(CODE, label, "id", show(entry["id"]), "a machine that metal-api knows",
                                    "list them with metalstack_info"))
        elif pinned and machine and machine.get("allocation"):
            taken = machine["allocation"] if isinstance(machine["allocation"], dict) else {}
            problems.append(Problem(
                CODE, label, "id", f"allocated as {show(taken.get('name'))} of project {show(taken.get('project'))}",
                "a free machine", "name another one, or free that first"))
        return problems

    def newest_image(self, kind: Kind, entry: dict[str, Any]) -> str:
        """Return the id of the newest image that an entry can mean, empty when there is none."""
        fitting = [image["id"] for image in self._objects.get("images", [])
                   if image_fits(entry["image"], image["id"]) and kind.role_of() in list_in(image, "features")]
        if entry["image"] in fitting:
            return str(entry["image"])
        return max(fitting, key=lambda image: [int(number) for number in _NUMBER.findall(image)], default="")

    def image_problems(self, kind: Kind, entry: dict[str, Any]) -> list[Problem]:
        """Return what is wrong with the image of an entry."""
        label, wanted = kind.label(entry), entry.get("image")
        if not wanted:
            return [Problem(CODE, label, "image", None, "the id of an image", "set image")]
        if "images" not in self._objects:
            return []
        fitting = [image for image in self._objects["images"] if image_fits(wanted, image["id"])]
        if not fitting:
            return [Problem(CODE, label, "image", show(wanted), "an image that metal-api has",
                            "list them with metalstack_info")]
        if not any(kind.role_of() in list_in(image, "features") for image in fitting):
            return [Problem(CODE, label, "image", f"{show(wanted)}, which lacks the feature {kind.role_of()}",
                            f"an image with the feature {kind.role_of()}", "name another one")]
        return []

    def _networks(self, kind: Kind, entry: dict[str, Any]) -> list[Problem]:
        label, names, problems = kind.label(entry), [], []
        if "networks" not in self._objects:
            return []
        for position, given in enumerate(entry.get("networks") or []):
            network = self._network(given["name"])
            if network is None:
                problems.append(Problem(CODE, label, f"networks[{position}].name", show(given["name"]),
                                        "the id of a network", "allocate it with metalstack_network"))
                continue
            names.append(network["id"])
            if is_private(network) and network["projectid"] != entry["project"] and not network.get("shared"):
                problems.append(Problem(
                    CODE, label, f"networks[{position}].name", f"a network of project {show(network['projectid'])}",
                    f"one of project {show(entry['project'])}, or a shared one", "name another one"))
        private = [name for name in names if self._is_own(name, entry)]
        if kind is FIREWALL:
            # It may be in shared ones beside the one that is not shared: metal-api's ``gatherNetworksFromSpec``.
            private = [name for name in private if not (self._network(name) or {}).get("shared")] or private
        if len(private) != 1 and not problems:
            problems.append(Problem(
                CODE, label, "networks", f"{len(private)} private networks of the project" + (
                    f" ({', '.join(private)})" if private else ""), "exactly one", "correct networks"))
        return problems + self._addresses(label, entry, names)

    def _is_own(self, name: str, entry: dict[str, Any]) -> bool:
        network = self._network(name) or {}
        return is_private(network) and network.get("projectid") == entry["project"] and (
            entry.get("partition") in (None, network.get("partitionid")))

    def _addresses(self, label: str, entry: dict[str, Any], names: list[str]) -> list[Problem]:
        problems = []
        if "ips" not in self._objects:
            return []
        stored = dict((item["ipaddress"], item) for item in self._objects["ips"])
        for position, address in enumerate(entry.get("ips") or []):
            item = stored.get(address)
            if item is None or item.get("projectid") != entry["project"]:
                problems.append(Problem(CODE, label, f"ips[{position}]", show(address),
                                        f"an address of project {entry['project']}",
                                        "allocate it with metalstack_ip"))
            elif item.get("networkid") not in names:
                problems.append(Problem(CODE, label, f"ips[{position}]",
                                        f"{show(address)} of network {show(item.get('networkid'))}",
                                        "an address of one of networks", "add its network to networks"))
        return problems


def _contains(prefix: Any, address: str) -> bool:
    try:
        return isinstance(prefix, str) and ipaddress.ip_address(address) in ipaddress.ip_network(prefix)
    except ValueError:
        return False


def designations(entry: dict[str, Any], key: str) -> tuple[str, str, str]:
    """Return the words by which a confirmation may name an object, the shortest first.

    :param entry: the entry that means it
    :param key: its id or address
    """
    return entry["name"], f"{entry['project']}/{entry['name']}", key


def check_confirmation(kind: Kind, losing: dict[str, tuple[dict[str, Any], str]], entries: list[dict[str, Any]],
                       confirm: str | None) -> list[Problem]:
    """Return a Problem unless everything that would be lost or interrupted is repeated by its name or id.

    A word counts only when it names one object: what has the same name in another project or partition is named by
    ``<project>/<name>`` or its id.

    :param losing: ``{id or address of the stored object: (entry, what happens to it)}``
    :param entries: all entries: those that are gone already may be named
    :param confirm: what the user gave
    """
    given = set(part.strip() for part in (confirm or "").split(",") if part.strip())
    known = set()
    for entry in entries:
        if entry["state"] == "absent" or entry.get("reinstall") or entry.get("power") in INTERRUPTING:
            known.update(designations(entry, entry.get("id") or entry.get("address") or ""))
    counted = Counter(word for key, (entry, dummy) in losing.items() for word in set(designations(entry, key)))
    expected = dict((key, next((word for word in designations(entry, key) if counted[word] == 1), key))
                    for key, (entry, dummy) in losing.items())
    problems = []
    for key, (entry, effect) in losing.items():
        named = given.intersection(designations(entry, key))
        if any(counted[word] == 1 for word in named):
            continue
        found = "no name or id of it"
        if named:
            found = f"{show(min(named))}, which names {counted[min(named)]} {kind.option}"
        problems.append(Problem("metalstack-confirm", kind.label(entry), "confirm", found,
                                f"{'its name' if expected[key] == entry['name'] else expected[key]} or its id {key}, "
                                f"because it {effect}", "set confirm=" + ",".join(sorted(set(expected.values())))))
    unknown = sorted(given - known - set(losing))
    if unknown and not problems:
        problems.append(Problem("metalstack-confirm", kind.option, "confirm", show(",".join(unknown)),
                                "names or ids of what is freed, reinstalled or powered off", "remove it from confirm"))
    return problems
