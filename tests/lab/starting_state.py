# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each module of tests may rely on: the lab as ``make lab`` leaves it; and how to get there again."""
from __future__ import annotations

import os
import time

import yaml
from support import HOST, INVENTORY, NAMESPACE, REPOSITORY, only

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

CLUSTER = KNOWN["Cluster"]
# `make test-metal` brings its lab up without them.
DIRECT = yaml.safe_load((REPOSITORY / "inventory" / "lab" / "direct.yml").read_text())["direct"]["hosts"] \
    if INVENTORY.is_dir() else {}
WITHOUT_CLUSTER = "none"
# Keeps the operator from deleting a host.
HELD = (host_annotations.PAUSED, host_annotations.DETACHED)


def differences(lab, room, direct_may_be_free=False):
    """Return in words what is not as ``make lab`` leaves it: of the knobs, the accounts, the hosts, Ironic."""
    return _answer("machine room", lambda: _knobs(room)) + _answer("API server", lambda: list(
        hosts_that_differ(lab.hosts(), lab.servers, _may_have_cluster(), direct_may_be_free).values())) + _answer(
        "Ironic", lambda: [] if list(lab.ironic().drivers()) else ["Ironic has no conductor"])


def _answer(part, ask):
    try:
        return ask()
    except Exception as error:
        # A dead program shows itself in many ways.
        return [f"{part}: {error!r}"]


def _knobs(room):
    return [f"knobs of {server['name']} are set: {', '.join(sorted(server['knobs']))}"
            for server in room.servers() if server["knobs"]] + [
                f"the BMC of {server['name']} has another password than the lab's"
                for server in room.servers() if not server["account"]["delivered"]]


def _may_have_cluster():
    return os.environ.get("LAB_CLUSTER") != WITHOUT_CLUSTER


def hosts_that_differ(hosts, servers, may_be_used, direct_may_be_free=False):
    """Return what is wrong, by name of the host or server.

    :param hosts: BareMetalHosts by name
    :param servers: names of the lab's servers
    :param may_be_used: whether the lab has a cluster, whose machines may have hosts
    :param direct_may_be_free: whether the server with an image of its own may be without it as well
    """
    found = dict((name, f"{name} is no host") for name in servers if name not in hosts)
    for name, host in hosts.items():
        status = host.get("status") or {}
        consumer = host["spec"].get("consumerRef")
        seen = [(status.get("provisioning") or {}).get("state") or "(no state)"]
        wanted = [("provisioned" if name in DIRECT else "available")]
        if host["metadata"].get("deletionTimestamp"):
            seen.append("being deleted")
        if status.get("operationalStatus") != "OK":
            seen += [str(status.get("operationalStatus")), " ".join((status.get("errorMessage") or "").split())]
        if consumer:
            seen.append(f"in use by {consumer.get('kind')} {consumer.get('name')}")
        if name not in servers:
            found[name] = f"{name} is a host, but no server"
        elif seen != wanted and not (consumer and may_be_used) and not (
                direct_may_be_free and name in DIRECT and seen == ["available"]):
            found[name] = f"{name}: {', '.join(filter(None, seen))}; expected {wanted[0]}"
    return found


def repair(lab, room):
    """Take away what tests have left, then let ``make lab`` do the rest."""
    if _answer("", lambda: [lab.hosts(), room.servers(), lab.ironic().drivers()][:0]):
        _make_lab(lab)
    for name in lab.servers:
        room.clear_knobs(name)
        room.reset_account(name)
    if not _may_have_cluster():
        for cluster in lab.kube.list(CLUSTER, NAMESPACE)[0]:
            name = cluster["metadata"]["name"]
            lab.playbook("teardown", seconds=1800, environment={"LAB_CLUSTER": "workload"},
                         extra={"teardown_name": name, "metal3_confirm": name})
    hosts = lab.hosts()
    # BMO's own next attempt after an error comes minutes later, that of a new host at once.
    differ = [name for name in sorted(hosts_that_differ(hosts, lab.servers, _may_have_cluster())) if name in hosts]
    for name in differ:
        lab.kube.patch(HOST, NAMESPACE, name, {
            "spec": {"consumerRef": None}, "metadata": {"annotations": dict.fromkeys(HELD)}})
    # A virtual server boots the agent, which cleans its disks, before it goes.
    lab.remove_hosts(*(name for name in differ if name not in lab.servers or is_lost(hosts[name])), seconds=1800)
    _make_lab(lab)


def is_lost(host):
    """Tell whether ``make lab`` would wait in vain, or leave the host as it is."""
    status = host.get("status") or {}
    state = (status.get("provisioning") or {}).get("state") or ""
    return "provisioned" in state or state == "provisioning" or status.get("operationalStatus") != "OK"


def _make_lab(lab):
    lab.make("lab", "LAB=" + lab.name, seconds=1800, environment={
        "LAB_CLUSTER": os.environ.get("LAB_CLUSTER", WITHOUT_CLUSTER), "LAB_SERVERS": str(len(lab.servers))})


def free_direct(lab, seconds):
    """Take its image from each server that has one without Cluster API.

    For a module with ``TAKES_DIRECT = True``, which gets them with or without: to deploy one takes minutes.
    """
    for name in DIRECT:
        if name in lab.servers and not hosts_that_differ({name: lab.host(name)}, [name], may_be_used=False):
            lab.playbook("deprovision_hosts", *only(name), "-e", "metal3_confirm=1", seconds=seconds).ok()


def ensure(lab, room, module, before, tell, direct_may_be_free=False):
    """See the starting state before a module of tests, or get there.

    :param module: its name
    :param before: that of the module that used the lab last, None for the first
    :param tell: callable that takes a line for the person who looks on
    :param direct_may_be_free: see ``hosts_that_differ``
    :raises AssertionError: with what can't be repaired
    """
    left = differences(lab, room, direct_may_be_free)
    if not left:
        return
    origin = f"left by {before}" if before else "as it was found"
    began = time.monotonic()
    tell(f"the lab before {module}, {origin}: {'; '.join(left)}; repairing it")
    repair(lab, room)
    tell(f"repaired in {time.monotonic() - began} s")
    rest = differences(lab, room, direct_may_be_free)
    assert not rest, f"the lab is not fit for {module}, {origin}: {'; '.join(rest)}"
