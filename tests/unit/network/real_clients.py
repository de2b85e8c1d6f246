# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in namespaces of its own for network and mounts: dnsmasq, a relay if asked for, and systemd-networkd as client.

One argument, JSON: ``folder`` with prov.conf and for a relay relay.conf, ``mac``, ``addresses`` that end the wait,
``logged`` a text of the server's log that ends it too, ``questions`` of firmware, ``kernel_parameters`` of the client,
``online_seconds`` for which it is asked afterwards whether it waits for its network. Prints what the client has, as
JSON.
"""
from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import time

from network import dhcpv6_question

NETWORKD = "/usr/lib/systemd/systemd-networkd"
WAIT_ONLINE, GENERATOR = NETWORKD + "-wait-online", "/usr/lib/systemd/systemd-network-generator"
# What the deploy agent's ramdisk has.
AGENT = pathlib.Path(__file__).resolve().parents[3] / "lab" / "agent_image" / "root" / "etc" / "systemd"
CARDS = "Name=en* eth*"
SECONDS = 40


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def wait(what, done):
    deadline = time.monotonic() + SECONDS
    while not done():
        if time.monotonic() > deadline:
            return f"{what}: not within {SECONDS} s"
        time.sleep(0.1)
    return None


def prepare():
    """Give networkd a place of its own, and no udev to wait for: /sys is read-only, as in a container."""
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("mount", "-t", "sysfs", "-o", "ro", "sysfs", "/sys")
    run("ip", "link", "set", "lo", "up")
    run("ip", "netns", "add", "client")


def lay(name, peer, peer_space, addresses):
    """Lay a cable from here to another namespace."""
    run("ip", "link", "add", name, "type", "veth", "peer", "name", peer, "netns", peer_space)
    for address in addresses:
        run("ip", "address", "add", address, "dev", name, *(["nodad"] if ":" in address else []))
    run("ip", "link", "set", name, "up")


def put_relay():
    """Put a router between both: as tests/unit/network/test_dnsmasq_ipv6.py describes its networks."""
    run("ip", "netns", "add", "router")
    lay("prov", "outer", "router", ["172.22.0.1/24", "fd00:22::1/64"])
    inside = ["ip", "-n", "router"]
    run(*inside, "link", "set", "lo", "up")
    run("ip", "link", "add", "inner", "type", "veth", "peer", "name", "client", "netns", "client")
    run("ip", "link", "set", "dev", "inner", "netns", "router")
    for link, address in (("outer", "172.22.0.253/24"), ("outer", "fd00:22::fd/64"), ("inner", "10.9.0.1/24"),
                          ("inner", "fd00:9::1/64")):
        run(*inside, "address", "add", address, "dev", link, *(["nodad"] if ":" in address else []))
    for link in ("outer", "inner"):
        run(*inside, "link", "set", "dev", link, "up")
    run("ip", "route", "add", "10.9.0.0/24", "via", "172.22.0.253")
    run("ip", "route", "add", "fd00:9::/64", "via", "fd00:22::fd")


def global_addresses():
    links = json.loads(run("ip", "-n", "client", "-j", "address", "show", "dev", "client"))
    return sorted(f"{info['local']}/{info['prefixlen']}" for info in links[0]["addr_info"]
                  if info["scope"] == "global" and not info.get("tentative"))


def has_link_local():
    links = json.loads(run("ip", "-n", "client", "-j", "address", "show", "dev", "client"))
    return any(info["scope"] == "link" and not info.get("tentative") for info in links[0]["addr_info"])


def routes():
    return {family: sorted(route["dst"] for route in json.loads(run("ip", "-n", "client", "-j", family, "route")))
            for family in ("-4", "-6")}


def inside(space, *command):
    # Not by ``ip netns exec``: that makes /sys writable.
    return ["nsenter", f"--net=/run/netns/{space}", *command]


@contextlib.contextmanager
def running(command):
    process = subprocess.Popen(command, stdout=sys.stderr)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def serve(folder, name):
    return ["dnsmasq", "--keep-in-foreground", f"--conf-file={folder / name}.conf", "--user=root", "--group=root",
            "--pid-file=", f"--log-facility={folder / name}.log"]


def main():
    asked = json.loads(sys.argv[1])
    folder, relayed = pathlib.Path(asked["folder"]), (pathlib.Path(asked["folder"]) / "relay.conf").exists()
    log = folder / "prov.log"
    prepare()
    if relayed:
        put_relay()
    else:
        lay("prov", "client", "client", ["172.22.0.1/24", "fd00:22::1/64"])
    run("ip", "-n", "client", "link", "set", "dev", "client", "address", asked["mac"])
    answers = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(running(serve(folder, "prov")))
        if relayed:
            stack.enter_context(running(inside("router", *serve(folder, "relay"))))
        failed = wait("dnsmasq", lambda: log.exists() and "sockets bound" in log.read_text())
        if asked.get("questions"):
            run("ip", "-n", "client", "link", "set", "client", "up")
            failed = failed or wait("a link-local address", has_link_local)
            program = [sys.executable, __file__, json.dumps(dict(asked, asking=True))]
            answers = json.loads(run(*inside("client", *program)))
        else:
            configure(asked.get("kernel_parameters"), relayed)
            stack.enter_context(running(inside("client", NETWORKD)))
            failed = failed or wait("the client", lambda: (asked["logged"] in log.read_text() if asked.get("logged")
                                                           else asked["addresses"] == global_addresses()))
        online = is_online(asked["online_seconds"]) if asked.get("online_seconds") else None
        found = {"online": online, "addresses": global_addresses(), "routes": routes(), "answers": answers,
                 "failed": failed, "log": log.read_text()}
    print(json.dumps(found))


def configure(kernel_parameters, relayed):
    """Write the agent's files to where networkd of these namespaces reads them; its card has another name here."""
    settings = pathlib.Path("/run/systemd")
    for path in AGENT.glob("network*/*"):
        text = path.read_text()
        assert path.suffix != ".network" or CARDS in text
        target = settings / path.relative_to(AGENT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace(CARDS, "Name=client"))
        if relayed and path.suffix == ".network":
            # A relay forwards no advertisements, and a router of its own is not what is looked at.
            target.with_name(target.name + ".d").mkdir()
            (target.with_name(target.name + ".d") / "relay.conf").write_text("[DHCPv6]\nWithoutRA=solicit\n")
    if kernel_parameters:
        run(GENERATOR, "--", *kernel_parameters)


def is_online(seconds):
    """Return whether what the agent starts after ends within a time."""
    return subprocess.run(inside("client", WAIT_ONLINE, "--any", f"--timeout={seconds}"), stdout=sys.stderr,
                          check=False).returncode == 0


def ask():
    asked = json.loads(sys.argv[1])
    print(json.dumps([dhcpv6_question.offered("client", asked["mac"], seconds=SECONDS, **question)
                      for question in asked["questions"]]))


if json.loads(sys.argv[1]).get("asking"):
    ask()
else:
    main()
