# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What distinguishes hosts, from each other and from those in the cluster: name, boot MAC address, BMC; pure."""
from __future__ import annotations

import uuid
from collections import namedtuple

from ..._bmc import address as bmc_address
from ..._common.field_checks import NAME_RULE, is_name, show
from ..._common.problem import Problem
from ..description import annotations as host_annotations

# macs, identities: who has a boot MAC address (small digits), and a BMC (see ``bmc_address.identity_of``).
Taken = namedtuple("Taken", ["macs", "identities"])


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
        ("name", lambda host: host.get("name"), "a name of its own", "rename or remove one of them"),
        ("boot_mac_address", lambda host: (host.get("boot_mac_address") or "").lower() or None,
         "a MAC address of its own", "correct one of them"),
        ("bmc.address", lambda host: bmc_address.identity_of((host.get("bmc") or {}).get("address")),
         "a BMC address of its own", "correct one of them"),
    )
    for field, key_of, expected, next_step in keys:
        first = {}
        for position, (label, host) in enumerate(labelled):
            key = key_of(host)
            if key is None or (field != "name" and host.get("state") == "absent"):
                continue
            if key in first:
                other_position, other = first[key]
                problems.append(Problem(
                    "host-duplicate", label, field,
                    f"the same as {other} (hosts[{other_position}] and hosts[{position}])", expected,
                    next_step))
            else:
                first[key] = (position, label)
    return problems


def taken(named, current, elsewhere, namespace):
    """Return what hosts in the cluster have for themselves, as Taken.

    :param named: set of the names of the entries, whose stored hosts don't count
    :param current: ``{name: BareMetalHost}`` of the namespace
    :param elsewhere: list of BareMetalHosts of other namespaces
    :param namespace: name of the namespace
    """
    others = dict((f"{namespace}/{name}", bmh) for name, bmh in current.items() if name not in named)
    others.update((f"{bmh['metadata']['namespace']}/{bmh['metadata']['name']}", bmh)
                  for bmh in elsewhere if not _is_moving(bmh))
    macs = dict(((bmh["spec"].get("bootMACAddress") or "").lower(), name) for name, bmh in others.items())
    identities = dict((bmc_address.identity_of((bmh["spec"].get("bmc") or {}).get("address")), name)
                      for name, bmh in others.items())
    return Taken(macs, identities)


def _is_moving(bmh):
    """True for a host of another namespace that BMO leaves alone, as while hosts are moved between namespaces."""
    return bool({host_annotations.PAUSED, host_annotations.DETACHED} & set(host_annotations.of(bmh)))


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
    identity = bmc_address.identity_of((host.get("bmc") or {}).get("address"))
    if identity and identity in others.identities:
        problems.append(Problem("host-duplicate", host["name"], "bmc.address", show(host["bmc"]["address"]),
                                f"a BMC that no other host has ({others.identities[identity]} has it)",
                                "correct it, or remove the other host first"))
    return problems
