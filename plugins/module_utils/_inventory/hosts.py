# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BareMetalHosts and Machines as inventory hosts: the variables of each, and its name. Pure functions of data."""
from __future__ import annotations

import ipaddress
import re
from collections import namedtuple
from typing import Any

from .._cluster.workflow.snapshot import CLUSTER_LABEL, DEPLOYMENT_LABEL, HOST_ANNOTATION, is_control_plane, node_name
from .._common.options import inventory_name
from .._common.options.field_checks import show
from .._common.texts.plain_text import plain
from .._host.state import goals as host_goals
from .._host.state import table as host_table
from .._kube.objects.conditions import is_true

NAME = "name"
NAME_AND_NAMESPACE = "name_namespace"

_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")

# name: in the inventory; kind: host, machine or node; facts: what becomes its variable.
Entry = namedtuple("Entry", ["name", "kind", "facts"])


class NameClash(ValueError):
    """Two objects would be one inventory host.

    :param name: the name they share
    :param subjects: both objects, as ``kind namespace/name``
    """

    def __init__(self, name: str, subjects: list[str]) -> None:
        super().__init__(f"{name}: found {' and '.join(subjects)}, expected one object for each inventory host")


class NameImpossible(ValueError):
    """An object has a name that no inventory host may have.

    :param name: the name that the inventory host would have
    :param subject: the object, as ``kind namespace/name``
    """

    def __init__(self, name: str, subject: str) -> None:
        super().__init__(f"{subject}: found the name {show(name)}, expected one that an inventory host can have "
                         f"({inventory_name.RULE})")


def host_facts(bmh: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a BareMetalHost: those of ``baremetal_host_info``, ``kind``, ``cluster``, ``addresses``.

    ``cluster`` is from the label that CAPM3 puts on a host which a machine has taken (``setHostLabel``), empty while
    none has; ``addresses`` are those that its NICs had at inspection.
    """
    facts = host_table.summary(bmh)
    facts.update(
        kind="host",
        cluster=facts["labels"].get(CLUSTER_LABEL, "") if facts["consumer"] else "",
        addresses=_addresses(nic["ip"] for nic in facts["hardware"].get("nics") or []))
    return facts


def _addresses(reported: Any) -> list[str]:
    """Return those that are IP addresses, each once.

    They come from servers, and ``ansible_host`` is made of them: anything else could be an option of ssh.
    """
    return list(dict.fromkeys(address for address in reported if _is_address(address)))


def _is_address(text: Any) -> bool:
    try:
        # The zone of an IPv6 address (after %) may be any text.
        return isinstance(text, str) and "%" not in text and text.isascii() and bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def without_cluster(hosts: list[dict[str, Any]]) -> dict[Any, Any]:
    """Return ``{(namespace, name) of a Metal3Machine: facts}`` of the hosts that it has taken, but that lack the label.

    CAPM3 sets the label only when it takes a host, so that one which was created again with its consumer has none.
    """
    found = {}
    for facts in hosts:
        kind, dummy, reference = facts["consumer"].partition(" ")
        if kind == "Metal3Machine" and not facts["cluster"]:
            found[tuple(reference.split("/", 1))] = facts
    return found


def in_states(bmhs: list[dict[str, Any]], states: Any) -> list[dict[str, Any]]:
    """Return those BareMetalHosts that are in one of the provisioning states; all when ``states`` is empty."""
    return [bmh for bmh in bmhs if host_goals.state_of(bmh) in states] if states else bmhs


def machine_facts(machine: dict[str, Any], metal3_machines: dict[Any, Any]) -> dict[str, Any]:
    """Return the facts of a Machine of Cluster API (v1beta2).

    :param metal3_machines: ``{(namespace, name): Metal3Machine}``
    """
    metadata, spec, status = machine["metadata"], machine.get("spec") or {}, machine.get("status") or {}
    labels = metadata.get("labels") or {}
    namespace = metadata.get("namespace", "")
    reference = spec.get("infrastructureRef") or {}
    metal3_machine = metal3_machines.get((namespace, reference.get("name"))) or {"metadata": {}}
    annotations = metal3_machine["metadata"].get("annotations") or {}
    addresses = [item for item in status.get("addresses") or [] if isinstance(item.get("address"), str)]
    hostname = next((item["address"] for item in addresses if item.get("type") == "Hostname"), "")
    host_namespace, dummy, host = annotations.get(HOST_ANNOTATION, "").rpartition("/")
    return {
        "kind": "machine",
        "name": metadata["name"],
        "namespace": namespace,
        "uid": metadata.get("uid", ""),
        "labels": labels,
        "cluster": spec.get("clusterName") or labels.get(CLUSTER_LABEL, ""),
        "control_plane": is_control_plane(machine),
        "pool": labels.get(DEPLOYMENT_LABEL, ""),
        "phase": status.get("phase") or "",
        "ready": is_true(machine, "Ready"),
        "kubernetes_version": spec.get("version") or "",
        "failure_domain": spec.get("failureDomain") or "",
        "provider_id": spec.get("providerID") or "",
        "node": node_name(machine) or "",
        "host": host,
        "host_namespace": host_namespace,
        "hostname": hostname if _HOST_NAME.fullmatch(hostname) else "",
        "addresses": _addresses(
            item["address"] for item in addresses if item.get("type") in ("InternalIP", "ExternalIP")),
    }


def node_facts(node: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a node of Ironic.

    :param node: dict in Ironic's names, of the fields :data:`NODE_FIELDS`
    """
    namespace, host = owner_of(node)
    return dict(
        dict((field, node.get(field)) for field in NODE_FIELDS if field != "uuid"),
        kind="node", uid=node["uuid"], name=node.get("name") or node["uuid"], host=host, host_namespace=namespace)


# None of them holds a secret; driver_info, which has masked ones, is left out.
NODE_FIELDS = ("uuid", "name", "provision_state", "target_provision_state", "power_state", "maintenance",
               "maintenance_reason", "fault", "last_error", "driver", "resource_class", "traits", "properties",
               "conductor_group", "owner", "instance_uuid")


def owner_of(node: dict[str, Any]) -> tuple[str, str]:
    """Return ``(namespace, name)`` of the BareMetalHost that BMO made a node for, empty texts when it did not.

    BMO calls its nodes ``namespace~name`` (``ironicNodeName``).
    """
    namespace, tilde, name = (node.get("name") or "").partition("~")
    return (namespace, name) if tilde else ("", "")


def with_nodes(hosts: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lay nodes beside their hosts and return the facts of those nodes that belong to none of the hosts.

    :param hosts: facts of hosts; each whose node is there gets it as ``node``
    :param nodes: facts of nodes
    """
    by_id = dict((node["uid"], node) for node in nodes)
    for facts in hosts:
        node = by_id.pop(facts["node_id"], None)
        if node is not None:
            facts["node"] = node
    return list(by_id.values())


def entries(all_facts: list[dict[str, Any]], host_names: Any = NAME) -> list[Entry]:
    """Return an Entry for each of the facts, in order of names.

    :param all_facts: facts of hosts, machines and nodes
    :param host_names: :data:`NAME` or :data:`NAME_AND_NAMESPACE`
    :raises NameClash: when two have the same name
    :raises NameImpossible: for a name that no inventory host may have
    """
    result = {}
    for facts in all_facts:
        name = facts["name"]
        if host_names == NAME_AND_NAMESPACE and facts.get("namespace"):
            name = f"{name}.{facts['namespace']}"
        if not inventory_name.is_possible(name):
            raise NameImpossible(name, _subject(facts))
        other = result.setdefault(name, facts)
        if other is not facts:
            raise NameClash(name, [_subject(other), _subject(facts)])
    return [Entry(name, facts["kind"], facts) for name, facts in sorted(result.items())]


def _subject(facts: dict[str, Any]) -> str:
    return plain(f"{facts['kind']} {facts['namespace'] + '/' if facts.get('namespace') else ''}{facts['name']}")
