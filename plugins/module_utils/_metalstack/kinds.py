# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks, addresses, machines and firewalls: which stored object an entry means, what differs, bodies, facts; pure.

Names are not unique in metal-stack, so that an entry means the one object of its project (and partition) that has its
name, or the one with its id. Two of one name are refused.
"""
from __future__ import annotations

from typing import Any

from .._common.addresses.ip_texts import network as parsed_network
from .._common.documents.tolerant import dicts_in, list_in
from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from .goals import event, is_ready

# What tags begin with that metal-api writes itself.
SYSTEM_TAGS = "machine.metal-stack.io/"


def image_fits(wanted: str, stored: str) -> bool:
    """True when an image, or the newest of a series (``ubuntu-24.04``), is the stored one (``ubuntu-24.04.20251001``).

    Source: metal-api, ``getMostRecentImageFor``.
    """
    return stored == wanted or stored.startswith(wanted + ".")


def part(item: Any, *path: str) -> Any:
    """Return what an answer has at a path, None when a step of it is missing or no dictionary."""
    for step in path:
        item = item.get(step) if isinstance(item, dict) else None
    return item


def _changed(pairs: dict[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
    """Return the fields that are given and differ; lists without order and repetitions."""
    def plain(value: Any) -> Any:
        return sorted(set(map(repr, value))) if isinstance(value, list) else value
    return dict((name, (stored, wanted)) for name, (stored, wanted) in pairs.items()
                if wanted is not None and plain(stored or type(wanted)()) != plain(wanted))


def _network_text(text: Any) -> Any:
    """Return a network as metal-api writes it, and what is none as it is."""
    try:
        return str(parsed_network(text)) if isinstance(text, str) else text
    except ValueError:
        return text


def _network_texts(texts: Any) -> Any:
    return [_network_text(text) for text in texts] if isinstance(texts, list) else texts


class Kind:
    """What all kinds have in common."""

    word = ""
    option = ""
    listing = ""
    key = "id"
    identifying: tuple[str, ...] = ()

    role = ""

    def role_of(self) -> str:
        """Return the role of an allocation, which is the feature that its image needs; empty for what is none."""
        return self.role

    def place(self, entry: dict[str, Any]) -> str:
        """Return where an entry is found by its name, besides its project; empty when that is everywhere."""
        return ""

    def label(self, entry: dict[str, Any]) -> str:
        """Return an entry as messages name it."""
        return f"{self.word} {entry['name']}"

    def matches(self, entry: dict[str, Any], item: dict[str, Any]) -> bool:
        """Say whether a stored object is the one that an entry means."""
        raise NotImplementedError

    def identity(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return ``{option: (stored, wanted)}`` of what says that an object is another than the entry means.

        An entry may name an object by its id or address; it is the one that is meant when the rest fits, too.
        """
        facts = self.facts(item)
        return _changed(dict((name, (facts[name], entry.get(name))) for name in self.identifying))

    def is_in(self, key: str, machine: dict[str, Any]) -> bool:
        """Say whether a machine is allocated with an object, by the object's id or address."""
        return False

    def changes(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return ``{option: (stored, wanted)}`` of what an update can change."""
        raise NotImplementedError

    def fixed(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return the same of what only a new allocation can change."""
        raise NotImplementedError

    def body(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the body by which an entry is allocated."""
        raise NotImplementedError

    def update(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        """Return the body by which a stored object is updated."""
        raise NotImplementedError

    def facts(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return a stored object as results show it."""
        raise NotImplementedError

    def fixed_problems(self, entry: dict[str, Any], item: dict[str, Any]) -> list[Problem]:
        """Return a Problem for each option that only a new allocation could change."""
        return [Problem("metalstack-fixed", self.label(entry), name, show(stored), show(wanted),
                        f"metal-stack cannot change it: correct the entry, or free the {self.word} first")
                for name, (stored, wanted) in self.fixed(entry, item).items()]

    def identity_problems(self, entry: dict[str, Any], item: dict[str, Any]) -> list[Problem]:
        """Return a Problem for each option by which what would be freed is another one than the entry means."""
        found = self.identity(entry, item)
        if not self.facts(item)["name"]:
            found.pop("name", None)
        hints = {"project": "what another project has is not freed"}
        return [Problem("metalstack-fixed", self.label(entry), name, show(stored), show(wanted),
                        f"correct {name}: " + hints.get(name, f"another {self.word} than the entry means is not freed"))
                for name, (stored, wanted) in found.items()]


def _given(body: dict[str, Any]) -> dict[str, Any]:
    return dict((name, value) for name, value in body.items() if value is not None)


class NetworkKind(Kind):
    """Private networks of a project."""

    word, option, listing = "network", "networks", "find_networks"
    identifying = ("name", "project", "partition")

    def place(self, entry: dict[str, Any]) -> str:
        """Return the partition of a network."""
        return entry.get("partition") or ""

    def matches(self, entry: dict[str, Any], item: dict[str, Any]) -> bool:
        """Say whether a stored network is the one that an entry means."""
        if entry.get("id"):
            return item["id"] == entry["id"]
        return (item.get("name") == entry["name"] and item.get("projectid") == entry["project"]
                and entry.get("partition") in (None, item.get("partitionid")))

    def is_in(self, key: str, machine: dict[str, Any]) -> bool:
        """Say whether a machine is in a network."""
        return any(network.get("networkid") == key for network in dicts_in(machine.get("allocation"), "networks"))

    def changes(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what an update can change."""
        return _changed({"name": (item.get("name"), entry["name"]),
                         "description": (item.get("description"), entry.get("description")),
                         "labels": (item.get("labels"), entry.get("labels")),
                         "shared": (item.get("shared"), entry.get("shared") or None),
                         "destination_prefixes": (_network_texts(item.get("destinationprefixes")),
                                                  _network_texts(entry.get("destination_prefixes")) or None)})

    def fixed(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what only a new allocation can change; metal-api unshares none, and leaves destinations for none."""
        pairs = {"project": (item.get("projectid"), entry["project"]),
                 "partition": (item.get("partitionid"), entry.get("partition")),
                 "nat": (item.get("nat"), entry.get("nat"))}
        if entry.get("shared") is False:
            pairs["shared"] = (item.get("shared"), False)
        if entry.get("destination_prefixes") == []:
            pairs["destination_prefixes"] = (item.get("destinationprefixes"), [])
        return _changed(pairs)

    def body(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an allocation."""
        family = entry.get("address_family")
        length = {family or "IPv4": entry["prefix_length"]} if entry.get("prefix_length") else None
        return _given({"name": entry["name"], "projectid": entry["project"], "partitionid": entry.get("partition"),
                       "description": entry.get("description"), "labels": entry.get("labels"),
                       "nat": entry.get("nat"), "shared": entry.get("shared"), "addressfamily": family,
                       "destinationprefixes": _network_texts(entry.get("destination_prefixes")), "length": length})

    def update(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an update."""
        return _given({"id": item["id"], "name": entry["name"], "description": entry.get("description"),
                       "labels": entry.get("labels"), "shared": entry.get("shared"),
                       "destinationprefixes": _network_texts(entry.get("destination_prefixes"))})

    def facts(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return a network as results show it."""
        return {"id": item["id"], "name": item.get("name") or "", "project": item.get("projectid") or "",
                "partition": item.get("partitionid") or "", "prefixes": item.get("prefixes") or [],
                "destination_prefixes": item.get("destinationprefixes") or [], "nat": bool(item.get("nat")),
                "shared": bool(item.get("shared")), "labels": item.get("labels") or {},
                "parent": item.get("parentnetworkid") or "", "is_private": is_private(item)}


def is_private(item: dict[str, Any]) -> bool:
    """Say whether a network is the private one of a project: a child of a private super network."""
    return bool(item.get("projectid") and item.get("parentnetworkid")) and not item.get("privatesuper")


class IpKind(Kind):
    """Addresses of a project."""

    word, option, listing, key = "ip", "ips", "find_i_ps", "ipaddress"
    identifying = ("name", "project", "network")

    def place(self, entry: dict[str, Any]) -> str:
        """Return the network of an address."""
        return entry.get("network") or ""

    def matches(self, entry: dict[str, Any], item: dict[str, Any]) -> bool:
        """Say whether a stored address is the one that an entry means."""
        if entry.get("address"):
            return item["ipaddress"] == entry["address"]
        return (item.get("name") == entry["name"] and item.get("projectid") == entry["project"]
                and entry.get("network") in (None, item.get("networkid")))

    def is_in(self, key: str, machine: dict[str, Any]) -> bool:
        """Say whether a machine has an address."""
        return any(key in list_in(network, "ips") for network in dicts_in(machine.get("allocation"), "networks"))

    def changes(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what an update can change; a static address cannot become ephemeral."""
        pairs = {"name": (item.get("name"), entry["name"]), "tags": (user_tags(item), entry.get("tags")),
                 "description": (item.get("description"), entry.get("description"))}
        if item.get("type") == "ephemeral":
            pairs["type"] = (item.get("type"), entry.get("type"))
        return _changed(pairs)

    def fixed(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what only a new allocation can change."""
        pairs = {"project": (item.get("projectid"), entry["project"]),
                 "network": (item.get("networkid"), entry.get("network"))}
        if item.get("type") == "static":
            pairs["type"] = (item.get("type"), entry.get("type"))
        return _changed(pairs)

    def body(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an allocation."""
        return _given({"name": entry["name"], "projectid": entry["project"], "networkid": entry.get("network"),
                       "type": entry.get("type") or "static", "tags": entry.get("tags"),
                       "description": entry.get("description"), "addressfamily": entry.get("address_family")})

    def update(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an update: metal-api takes it as a whole, with the tag by which a machine holds it."""
        return {"ipaddress": item["ipaddress"], "name": entry["name"], "type": entry.get("type") or item.get("type"),
                "description": item.get("description") if entry.get("description") is None else entry["description"],
                "tags": item.get("tags") if entry.get("tags") is None else entry["tags"] + _tags(item, of_system=True)}

    def facts(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return an address as results show it."""
        return {"address": item["ipaddress"], "name": item.get("name") or "", "project": item.get("projectid") or "",
                "network": item.get("networkid") or "", "type": item.get("type") or "", "tags": user_tags(item)}


class MachineKind(Kind):
    """Machines of a project."""

    word, option, listing, role = "machine", "machines", "find_machines", "machine"
    identifying = ("name", "project", "partition")

    def matches(self, entry: dict[str, Any], item: dict[str, Any]) -> bool:
        """Say whether a stored machine is the one that an entry means; a pinned one may be free."""
        allocation = item.get("allocation")
        return (isinstance(allocation, dict) and allocation.get("project") == entry["project"]
                and allocation.get("name") == entry["name"]
                and allocation.get("role", self.role) == self.role and entry.get("id") in (None, item["id"]))

    def identity(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what says that a machine is another; metal-api looks at no partition when a machine is named."""
        return super().identity(dict(entry, partition=None) if entry.get("id") else entry, item)

    def changes(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what needs no new allocation: tags and description, and the image by a reinstallation."""
        found = _changed({"tags": (user_tags(item), entry.get("tags") or None),
                          "description": (part(item, "allocation", "description"), entry.get("description"))})
        stored = str(part(item, "allocation", "image", "id") or "")
        if entry.get("reinstall") and entry.get("image") and not image_fits(entry["image"], stored):
            found["image"] = (stored, entry["image"])
        return found

    def fixed(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what only a new allocation can change; of tags, metal-api leaves the last ones."""
        networks = dicts_in(item.get("allocation"), "networks")
        pairs: dict[str, tuple[Any, Any]] = {
            "partition": (part(item, "partition", "id"), entry.get("partition")),
            "size": (part(item, "size", "id"), entry.get("size")),
            "hostname": (part(item, "allocation", "hostname"), entry.get("hostname")),
            "filesystem_layout": (part(item, "allocation", "filesystemlayout", "id"), entry.get("filesystem_layout"))}
        # It may have more of them: metal-api adds the underlay of a firewall, and acquires addresses.
        for name, found, given in (
                ("networks", [network.get("networkid") for network in networks],
                 [network["name"] for network in entry.get("networks") or []]),
                ("ips", [address for network in networks for address in list_in(network, "ips")],
                 entry.get("ips") or [])):
            if any(value not in found for value in given):
                pairs[name] = (found, given)
        if entry.get("tags") == []:
            pairs["tags"] = (user_tags(item), [])
        stored = str(part(item, "allocation", "image", "id") or "")
        if entry.get("image") and not entry.get("reinstall") and not image_fits(entry["image"], stored):
            pairs["image"] = (stored, entry["image"])
        if entry.get("id"):
            # metal-api does not look at them when a machine is named.
            del pairs["partition"], pairs["size"]
        return _changed(pairs)

    def body(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an allocation."""
        networks = [{"networkid": network["name"], "autoacquire": network["autoacquire"]}
                    for network in entry.get("networks") or []]
        return _given({
            "name": entry["name"], "hostname": entry.get("hostname") or entry["name"], "projectid": entry["project"],
            "partitionid": entry.get("partition") or "", "sizeid": entry.get("size") or "",
            "imageid": entry.get("image"), "uuid": entry.get("id"), "networks": networks,
            "ips": entry.get("ips"), "ssh_pub_keys": entry.get("ssh_keys") or [], "tags": entry.get("tags"),
            "user_data": entry.get("user_data"), "description": entry.get("description"),
            "filesystemlayoutid": entry.get("filesystem_layout"), "placement_tags": entry.get("placement_tags")})

    def update(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an update; metal-api adds its own tags again, and writes the description in any case."""
        stored = part(item, "allocation", "description")
        return _given({"id": item["id"], "tags": entry.get("tags"),
                       "description": str(stored or "") if entry.get("description") is None else entry["description"]})

    def facts(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return a machine as results show it; user data stays out."""
        stored = item.get("allocation")
        allocation = stored if isinstance(stored, dict) else {}
        networks = dicts_in(allocation, "networks")
        partition = part(item, "partition", "id") or ""
        return {
            "id": item["id"], "name": allocation.get("name") or "", "hostname": allocation.get("hostname") or "",
            "project": allocation.get("project") or "", "role": allocation.get("role") or "",
            "partition": partition, "size": part(item, "size", "id") or "",
            "image": part(allocation, "image", "id") or "", "tags": user_tags(item),
            "addresses": [address for network in networks for address in list_in(network, "ips")
                          if isinstance(address, str)],
            "networks": [network.get("networkid") or "" for network in networks],
            "event": event(item), "liveliness": item.get("liveliness") or "", "ready": is_ready(item),
            "provider_id": f"metal://{partition}/{item['id']}"}


def user_tags(item: dict[str, Any]) -> list[str]:
    """Return the tags without those that metal-api writes itself: rack, chassis and ASN of a machine, and the machine
    that has an address, without which metal-api frees the address while it is in use.
    """
    return _tags(item, of_system=False)


def _tags(item: dict[str, Any], of_system: bool) -> list[str]:
    return [tag for tag in list_in(item, "tags") if isinstance(tag, str) and tag.startswith(SYSTEM_TAGS) == of_system]


class FirewallKind(MachineKind):
    """Firewalls: machines with an image that has the feature firewall."""

    word, option, role = "firewall", "firewalls", "firewall"

    def body(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an allocation."""
        rules = entry.get("rules")
        if rules is None:
            return super().body(entry)
        sides = dict((side, [_given(rule) for rule in rules.get(side) or []]) for side in ("egress", "ingress"))
        return dict(super().body(entry), firewall_rules=sides)

    def fixed(self, entry: dict[str, Any], item: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return what only a new allocation can change."""
        found = super().fixed(entry, item)
        if entry.get("rules") is not None:
            found.update(_changed({"rules": (_plain_rules(part(item, "allocation", "firewall_rules")),
                                             _plain_rules(entry["rules"]))}))
        return found


def _plain_rules(rules: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the rules of a firewall in one form, whatever their order is and whoever has written them."""
    def plain(rule: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"protocol": str(rule.get("protocol") or "tcp").lower(),
                                 "ports": sorted(list_in(rule, "ports"), key=repr)}
        for name in ("from", "to"):
            if list_in(rule, name):
                found[name] = sorted(_network_texts(list_in(rule, name)), key=repr)
        if rule.get("comment"):
            found["comment"] = rule["comment"]
        return found
    return dict((side, sorted(map(plain, dicts_in(rules, side)), key=repr)) for side in ("egress", "ingress"))


NETWORK, IP, MACHINE, FIREWALL = NetworkKind(), IpKind(), MachineKind(), FirewallKind()
