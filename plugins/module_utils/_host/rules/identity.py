# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What distinguishes hosts, from each other and from those in the cluster: name, boot MAC address, BMC; pure."""
from __future__ import annotations

import uuid
from collections import namedtuple

from ..._bmc.addresses.servers import Servers
from ..._common.options.field_checks import NAME_RULE, is_name, show
from ..._common.problems.problem import Problem
from ..description import annotations as host_annotations

# macs, servers: who has a boot MAC address (small digits), and a BMC.
Taken = namedtuple("Taken", ["macs", "servers"])


def check_name(label, host):
    """Return the Problems of an entry's name."""
    name = host.get("name")
    if not name:
        return [Problem("host-name", label, "name", None, "a name", "set name")]
    if not is_name(name):
        return [Problem("host-name", label, "name", show(name), NAME_RULE, "rename the host")]
    try:
        uuid.UUID(name)
    except ValueError:
        return []
    return [Problem("host-name", label, "name", show(name), "a name that is no UUID (BMO webhook)", "rename the host")]


def check_duplicates(labelled):
    """Return the Problems of entries that share what each must have for itself.

    :param labelled: list of ``(label, host)``
    """
    problems = []
    keys = (
        ("name", lambda host: host.get("name"), _Texts(), "a name of its own", "rename or remove one of them"),
        ("boot_mac_address", lambda host: (host.get("boot_mac_address") or "").lower() or None, _Texts(),
         "a MAC address of its own", "correct one of them"),
        ("bmc.address", lambda host: (host.get("bmc") or {}).get("address"), Servers(),
         "a BMC address of its own", "correct one of them"),
    )
    for field, key_of, first, expected, next_step in keys:
        for position, (label, host) in enumerate(labelled):
            key = key_of(host)
            if key is None or (field != "name" and host.get("state") == "absent"):
                continue
            found = first.find(key)
            if found is None:
                first.add(key, (position, label))
                continue
            other_position, other = found
            problems.append(Problem(
                "host-duplicate", label, field,
                f"the same as {other} (hosts[{other_position}] and hosts[{position}])", expected,
                next_step))
    return problems


class _Texts(dict):
    """What is known by a text, with the methods of :class:`Servers`."""

    add = dict.setdefault
    find = dict.get


def taken(named, current, elsewhere, namespace, at_rest=False):
    """Return what hosts in the cluster have for themselves, as Taken.

    :param named: set of the names of the entries, whose stored hosts don't count
    :param current: ``{name: BareMetalHost}`` of the namespace
    :param elsewhere: list of BareMetalHosts of other namespaces
    :param namespace: name of the namespace
    :param at_rest: whether those of other namespaces count that BMO leaves alone there
    """
    others = dict((f"{namespace}/{name}", bmh) for name, bmh in current.items() if name not in named)
    others.update((f"{bmh['metadata']['namespace']}/{bmh['metadata']['name']}", bmh)
                  for bmh in elsewhere if at_rest or not is_at_rest(bmh))
    macs = dict(((bmh["spec"].get("bootMACAddress") or "").lower(), name) for name, bmh in others.items())
    servers = Servers()
    for name, bmh in others.items():
        servers.add((bmh["spec"].get("bmc") or {}).get("address"), name)
    return Taken(macs, servers)


def is_at_rest(bmh):
    """True for a host of another namespace that BMO leaves alone, as while hosts are moved between namespaces."""
    return bool({host_annotations.PAUSED, host_annotations.DETACHED} & set(host_annotations.of(bmh)))


def arrives_paused(host):
    """True for an entry whose host BMO leaves alone when it is created, as one that is moved to another namespace."""
    return host_annotations.PAUSED in (host.get("annotations") or {})


def check_taken(host, others):
    """Return the Problems of an entry that claims what another host has.

    :param others: what :func:`taken` returned
    """
    problems = []
    mac = (host.get("boot_mac_address") or "").lower()
    if mac and mac in others.macs:
        problems.append(Problem("host-duplicate", host["name"], "boot_mac_address", show(mac),
                                f"a MAC address that no other host has ({others.macs[mac]} has it)",
                                "correct it, or remove the other host first"))
    owner = others.servers.find((host.get("bmc") or {}).get("address"))
    if owner is not None:
        problems.append(Problem("host-duplicate", host["name"], "bmc.address", show(host["bmc"]["address"]),
                                f"a BMC that no other host has ({owner} has it)",
                                "correct it, or remove the other host first"))
    return problems
