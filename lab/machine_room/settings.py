"""The settings of the machine room at its start: one JSON file, written by role lab."""
from __future__ import annotations

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Settings:
    """Paths, ports and URLs.

    :param servers_file: the lab's ``servers.json``
    :param machines_dir: folder with one folder for each server: disks, state, console log, log of who asked its BMC
    :param redfish_dir: state of sushy-tools: inserted virtual media; and the log of requests to no server's BMC
    :param addresses: addresses to listen on
    :param redfish_port: port of all BMCs
    :param port: port of the API and of the agents
    :param url: how Ironic reaches the agents' port
    :param certificate_file: certificate of both ports, with its key in ``key_file``
    :param ca_file: CA that signed them, which the agents trust
    :param token_file: file with the bearer token of the API
    :param ironic_url: Ironic's API as the agents reach it when their kernel command line doesn't say
    :param boot_url: where network boot configurations are served, as a DHCP server would say
    :param agent_tls: whether the agents serve TLS, as ``[agent]require_tls`` of Ironic wants by default
    :param heartbeat_limit_seconds: longest time between two heartbeats of an agent: one that Ironic could not use,
        because it had locked the node, is made up for within this
    :param nodes: ``index`` and ``bridge`` of the lab, if what is on disks shall run, which needs root; else None
    :param accelerator: what runs virtual servers' processors: ``tcg``, ``kvm``, or ``auto``: KVM where a trial shows
        that it serves ordinary guests
    """

    servers_file: str
    machines_dir: str
    redfish_dir: str
    addresses: list
    redfish_port: int
    port: int
    url: str
    certificate_file: str
    key_file: str
    ca_file: str
    token_file: str
    ironic_url: str
    boot_url: str
    agent_tls: bool = True
    heartbeat_limit_seconds: int = 15
    nodes: dict | None = None
    accelerator: str = "auto"


def load(path):
    """Return the Settings in a JSON file.

    :raises TypeError: for a missing or an unknown field
    """
    with open(path, encoding="utf-8") as file:
        return Settings(**json.load(file))
