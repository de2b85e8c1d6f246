# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds the address of a cluster's endpoint, and what its control plane machines need for that; pure."""
from __future__ import annotations

import re

from ..._common.addresses import ip_texts
from ..._common.addresses.virtual_router import VirtualRouter
from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import router_number
from ..description.spec import HOLDERS_ON_MACHINES, KEEPALIVED, KUBE_VIP, METALSTACK, NO_HOLDER
from ..description.version_number import parse
from . import images, kube_vip
from .network import device_names, node_ip_network

# Options of the endpoint, each with the holders that have it.
_OPTIONS = (("interface", HOLDERS_ON_MACHINES), ("virtual_router_id", (KEEPALIVED,)), ("image", (KUBE_VIP,)))
CONFIGURATION = "/etc/keepalived/keepalived.conf"
# Where CABPK puts the init configuration; absent on machines that join.
INIT_FILE = "/run/kubeadm/kubeadm.yaml"
# Cluster API, bootstrap/kubeadm/internal/ignition/clc: one file for kubeadm init and kubeadm join.
IGNITION_FILE = "/etc/kubeadm.yml"
# kubeadm's default of localAPIEndpoint.bindPort.
_BIND_PORT = 6443
# Linux allows 15 characters (IFNAMSIZ); the name becomes part of a command and of keepalived's configuration.
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")

# The check only lowers the priority: the machine that begins must hold the address before it has an API server.
_KEEPALIVED = """\
global_defs {
    script_user root
    enable_script_security
    vrrp_version 3
}
vrrp_script apiserver {
    script "/usr/bin/curl --silent --fail --insecure --max-time 2 --output /dev/null https://%(local_host)s:%(port)d/livez"
    interval 2
    fall 3
    rise 1
    weight -50
}
vrrp_instance endpoint {
    state BACKUP
    interface %(device)s
    virtual_router_id %(router_id)d
    priority 100
    advert_int 0.5
    virtual_ipaddress {
        %(address)s/%(prefix)d
    }
    track_script {
        apiserver
    }
}
"""
# The same of what is stored; whoever has written it otherwise is not known.
_STORED = re.compile(
    r"virtual_router_id (?P<number>[0-9]{1,3})\n.*?virtual_ipaddress \{\s*(?P<address>[0-9a-fA-F.:]+)/", re.DOTALL)
_WAIT = ("if [ -f %(init_file)s ]; then timeout 60 sh -c 'until ip -%(version)d address show dev %(device)s | "
         "grep -q \" %(address)s/%(prefix)d \"; do sleep 0.5; done'; fi")


def paths(description, group):
    """Return the paths of :func:`files`; the description may have mistakes."""
    return {KEEPALIVED: [CONFIGURATION], KUBE_VIP: [kube_vip.MANIFEST]}.get(_holder(description, group), [])


def files(description, group):
    """Return the files that a group's machines need to hold the endpoint, as Cluster API's KubeadmConfigSpec has them.

    :param description: the cluster's description
    :param group: one of ``cluster_description.groups``
    """
    holder = _holder(description, group)
    if holder == KEEPALIVED:
        return [{"path": CONFIGURATION, "owner": "root:root", "permissions": "0644",
                 "content": _KEEPALIVED % _values(description)}]
    if holder == KUBE_VIP:
        return [{"path": kube_vip.MANIFEST, "owner": "root:root", "permissions": "0600",
                 "content": kube_vip.manifest(_values(description))}]
    return []


def commands(description, group):
    """Return the commands before kubeadm by which a group's machines hold the endpoint; parameters as above."""
    holder = _holder(description, group)
    if holder == KEEPALIVED:
        return ["systemctl enable --now keepalived", _WAIT % _values(description)]
    if holder == KUBE_VIP:
        return kube_vip.before_kubeadm(parse(description.kubernetes_version), first_machine(description, group)[1],
                                       _is_metalstack(description))
    return []


def user_data_format(description, group):
    """Return the format of a group's user data, None for Cluster API's default; parameters as above."""
    # The images of metal-stack run Ignition, as the provider's own templates have it.
    return group.get("user_data_format") or ("ignition" if _is_metalstack(description) else None)


def first_machine(description, group):
    """Return the file with kubeadm's configuration, and the shell test that only the first machine passes."""
    if user_data_format(description, group) == "ignition":
        return IGNITION_FILE, f"grep -q '^kind: InitConfiguration' {IGNITION_FILE}"
    return INIT_FILE, f"[ -f {INIT_FILE} ]"


def _is_metalstack(description):
    return description.provider == METALSTACK


def commands_after(description, group):
    """Return the commands after kubeadm by which a group's machines hold the endpoint; parameters as above."""
    if _holder(description, group) == KUBE_VIP:
        return kube_vip.after_kubeadm(parse(description.kubernetes_version), first_machine(description, group)[1])
    return []


def _holder(description, group):
    return (description.endpoint or {}).get("holder") if group.is_control_plane else None


def _values(description):
    endpoint = description.endpoint
    address = ip_texts.address(endpoint["host"])
    return {"address": str(address), "prefix": address.max_prefixlen, "version": address.version,
            "local": "127.0.0.1" if address.version == 4 else "::1",
            "local_host": "127.0.0.1" if address.version == 4 else "[::1]", "port": endpoint["port"],
            "device": "lo" if _is_metalstack(description) else _device(description), "init_file": INIT_FILE,
            "router_id": router_number(endpoint, address), "bgp": _is_metalstack(description),
            "image": images.reference(images.KUBE_VIP, description.image_registry, endpoint.get("image"))}


def stored_router(control_plane):
    """Return the VirtualRouter of a stored KubeadmControlPlane, None without keepalived's file.

    :param control_plane: the object, whose files anybody may have written
    """
    for item in dicts_in(dict_in(dict_in(control_plane, "spec"), "kubeadmConfigSpec"), "files"):
        content = item.get("content") if item.get("path") == CONFIGURATION else None
        found = _STORED.search(content) if isinstance(content, str) else None
        if found and ip_texts.is_address(found.group("address")):
            return VirtualRouter(ip_texts.address(found.group("address")), int(found.group("number")))
    return None


def _devices(description):
    """Return the network devices of the control plane machines by the name of their network."""
    return device_names(description, description.groups[0])


def _device(description):
    """Return the device that is to hold the endpoint: the one named, else the only one, else the node address's."""
    wanted = description.endpoint.get("interface")
    devices = _devices(description)
    if wanted or len(set(devices.values())) == 1:
        return wanted or next(iter(devices.values()))
    return devices.get(node_ip_network(description, description.groups[0]))


def holder_problems(subject, description):
    """Return what keeps the control plane machines from holding the endpoint as described.

    :param subject: the cluster, for the mistakes
    :param description: one whose networks have no problems
    """
    endpoint = description.endpoint
    holder = endpoint.get("holder")
    found = [Problem("endpoint", subject, f"endpoint.{option}", shown(endpoint[option]),
                     f"nothing without holder: {' or '.join(holders)}", "remove it, or choose that holder")
             for option, holders in _OPTIONS if endpoint.get(option) is not None and holder not in holders]
    if holder not in HOLDERS_ON_MACHINES:
        return found
    try:
        ip_texts.address(endpoint["host"])
    except ValueError:
        found.append(Problem(
            "endpoint", subject, "endpoint.host", shown(endpoint["host"]), f"an address with holder: {holder}",
            f"a name belongs to something outside of the cluster, which is holder: {NO_HOLDER}"))
    router_id = endpoint.get("virtual_router_id")
    if router_id is not None and not 1 <= router_id <= 255:
        found.append(Problem("endpoint", subject, "endpoint.virtual_router_id", shown(router_id), "1 to 255"))
    found += images.reference_problems(subject, "endpoint.image", endpoint.get("image"))
    if _is_metalstack(description):
        return found
    return found + _device_problems(subject, description) + _port_problems(subject, description)


def _device_problems(subject, description):
    devices = sorted(set(_devices(description).values()))
    device = _device(description)
    if device is None:
        return [Problem(
            "endpoint", subject, "endpoint.interface", None, f"one of {', '.join(devices) or 'no interfaces'}",
            "name the one that holds the address, or node_ip_network")]
    if devices and device not in devices:
        return [Problem("endpoint", subject, "endpoint.interface", shown(device), f"one of {', '.join(devices)}",
                        "describe its network in networks, and attach the control plane to it")]
    if not _DEVICE.fullmatch(device):
        return [Problem("endpoint", subject, "endpoint.interface", shown(device),
                        "a device's name: at most 15 letters, digits, dots, dashes and underscores")]
    return _dynamic_problems(subject, description, device)


def _dynamic_problems(subject, description, device):
    """A server that gives out addresses must leave the endpoint's out, which only the user can know."""
    try:
        family = f"ipv{ip_texts.address(description.endpoint['host']).version}"
    except ValueError:
        return []
    modes = [(name, (description.networks[name].get(family) or {}).get("mode"))
             for name, of_network in _devices(description).items() if of_network == device]
    return [Problem("endpoint", subject, "endpoint.interface", None,
                    f"a device, because networks.{name}.{family} has mode {mode}",
                    f"set it to {device} if that network's server never gives {description.endpoint['host']} to a "
                    "machine, or give the network mode pool")
            for name, mode in modes if mode == "dhcp" and not description.endpoint.get("interface")]


def _port_problems(subject, description):
    """The address is the machines' own, so that its port is that of their API servers."""
    plane, found = description.groups[0], []
    for field, parent in (("init_configuration", plane.get("init_configuration")),
                          ("join_configuration.controlPlane",
                           (plane.get("join_configuration") or {}).get("controlPlane"))):
        port = ((parent or {}).get("localAPIEndpoint") or {}).get("bindPort") or _BIND_PORT
        if port != description.endpoint["port"]:
            found.append(Problem("endpoint", subject, "endpoint.port", shown(description.endpoint["port"]),
                                 f"{port}, the port of control_plane.{field}.localAPIEndpoint.bindPort",
                                 f"nothing forwards another port with holder: {description.endpoint['holder']}"))
    return found


def holder_warning(description):
    """Return what to do when nothing that is described holds the endpoint's address, as ``(field, actual, advice)``.

    :returns: None when somebody does, or is said to
    """
    endpoint = description.endpoint
    # A class of the user's says who holds it.
    if description.cluster_class or endpoint.get("holder"):
        return None
    try:
        ip_texts.address(endpoint["host"])
    except ValueError:
        # A name is given to something that is there already.
        return None
    plane = description.groups[0]
    hidden = any(entry.get("content_secret") or entry.get("encoding") for entry in plane.get("files") or [])
    texts = [entry.get("content") or "" for entry in plane.get("files") or []] + list(plane.get("boot_commands") or [])
    if hidden or any(endpoint["host"] in text for text in texts + list(plane.get("pre_commands") or [])):
        return None
    return ("endpoint.holder", f"nothing, and no file or command of the control plane names {endpoint['host']}",
            f"without a holder of this address no machine joins: set holder to {' or '.join(HOLDERS_ON_MACHINES)} for "
            f"the control plane machines themselves, or to {NO_HOLDER} when a load balancer has it")
