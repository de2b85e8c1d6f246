# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of a cluster: IP pools, and the metaData and networkData of a Metal3DataTemplate; pure.

Everything is in CAPM3's v1beta2 form (``infrastructure.cluster.x-k8s.io``).
"""
from __future__ import annotations

from typing import Any

from ..._host.description.objects import MANAGED_BY_LABEL, MANAGER
from ..._ipam.pool import render as render_pool
from ..description.model import FAMILIES, merge, pool_name
from ..workflow.snapshot import CLUSTER_LABEL

_POOL_GROUP = "ipam.metal3.io"
ANY = {"ipv4": "0.0.0.0", "ipv6": "::"}


def pools(description):
    """Return the IPPool objects that the cluster makes for itself."""
    labels = {CLUSTER_LABEL: description.name, MANAGED_BY_LABEL: MANAGER}
    return [render_pool(dict(pool, labels=labels), description.namespace) for pool in description.pools]


def attached(description, group):
    """Return the names of the networks of a group of machines, see ``ClusterDescription.attached``."""
    return description.attached(group)


def address_key(network, family):
    """Return the metaData key that holds a node's address on a network; a name that Jinja can read."""
    return f"{network.replace('-', '_').replace('.', '_')}_{family}"


def node_ip_template(description, group):
    """Return the kubelet's ``node-ip`` as a cloud-init template, or None when no network says.

    Cluster API's user data is a Jinja template over the config drive's metaData (CABPK, cloudinit).
    """
    network = node_ip_network(description, group)
    if network is None:
        return None
    keys = [address_key(network, family) for family in FAMILIES if _from_pool(description.networks[network], family)]
    return ",".join(f"{{{{ ds.meta_data.{key} }}}}" for key in keys) or None


def node_ip_network(description, group):
    """Return the name of the network whose address is the node's: the one named, else the only one with a pool."""
    if description.node_ip_network:
        return description.node_ip_network
    with_pool = [name for name in attached(description, group)
                 if any(_from_pool(description.networks[name], family) for family in FAMILIES)]
    return with_pool[0] if len(with_pool) == 1 else None


def _from_pool(network, family):
    settings = network.get(family)
    return bool(settings) and settings["mode"] == "pool" and not settings.get("pool_annotation")


def meta_data(description, group):
    """Return the metaData of a group's Metal3DataTemplate, or None when there is nothing to say.

    Node names: with ``node_name: machine`` the config drive names the node after its Machine instead of after the
    BareMetalHost, so that a reused host comes back as another node.
    """
    result = {}
    if description.node_name == "machine":
        result["objectNames"] = [{"key": key, "object": "machine"}
                                 for key in ("name", "local-hostname", "local_hostname")]
    network = node_ip_network(description, group)
    if network is not None:
        result["ipAddressesFromPool"] = [
            dict(_pool_ref(pool), key=address_key(name, family))
            for name, family, _settings, pool in description.pool_uses if name == network]
    for form, entries in (group.get("metadata") or {}).items():
        keys = set(entry["key"] for entry in entries)
        result[form] = [entry for entry in result.get(form, []) if entry["key"] not in keys]
        # v1beta2 refuses empty strings.
        result[form] += [dict((key, value) for key, value in entry.items() if value not in (None, ""))
                         for entry in entries]
    return dict((form, entries) for form, entries in result.items() if entries) or None


def network_data(description, group):
    """Return the networkData of a group's Metal3DataTemplate, or None when its machines have no described network."""
    names = attached(description, group)
    links, networks, servers, pool_servers, range_servers = {}, {}, [], None, None
    for name in names:
        network = description.networks[name]
        _add_link(description, name, links)
        for family in FAMILIES:
            settings = network.get(family)
            if settings and settings["mode"] != "none":
                form, entry = _address(description, name, family, settings)
                networks.setdefault(form, []).append(entry)
                ranges = settings.get("ranges") or []
                # Which servers a machine has is only known with its address.
                if range_servers is None and any(range_.get("dns_servers") for range_ in ranges):
                    range_servers = pool_name(description.name, name, family, settings)
                    continue
                servers += [server for server in settings.get("dns_servers") or [] if server not in servers]
                if settings["mode"] == "pool" and settings.get("pool") and not ranges:
                    pool_servers = pool_servers or settings["pool"]
    data = {}
    if links:
        data["links"] = links
    if networks:
        data["networks"] = networks
    services: dict[str, Any] = {}
    if servers:
        services["dns"] = servers
    if range_servers or (pool_servers and not servers):
        services["dnsFromIPPool"] = range_servers or pool_servers
    if services:
        data["services"] = services
    return merge(data, group.get("network_data") or {}) or None


def link_id(description, name):
    """Return the id of the link that carries a network; the first interface's own name for a plain link."""
    network = description.networks[name]
    if network.get("vlan"):
        return f"{link_id(description, network['vlan']['network'])}.{network['vlan']['id']}"
    if network.get("bond"):
        return network.get("link_name") or f"bond-{name}"
    return network.get("interface") or name


def device_names(description, group):
    """Return the names that the network devices of a group's machines have, by network.

    Not the links' ids: cloud-init counts bonds without a name, in the order of CAPM3's list, and names a VLAN after the
    device that carries it, whatever it is called itself (``convert_net_json`` in ``sources/helpers/openstack.py``).
    """
    names = attached(description, group)
    bonds = [name for name in names if description.networks[name].get("bond")]

    def device(name):
        network = description.networks[name]
        if network.get("vlan"):
            return f"{device(network['vlan']['network'])}.{network['vlan']['id']}"
        if network.get("bond"):
            return network.get("link_name") or f"bond{bonds.index(name)}"
        return network.get("link_name") or network.get("interface") or name
    return dict((name, device(name)) for name in names)


def _add_link(description, name, links):
    network = description.networks[name]
    identity = link_id(description, name)
    common = {"id": identity, "mtu": network["mtu"], "macAddress": _mac_address(description, name)}
    if network.get("link_name"):
        common["name"] = network["link_name"]
    if network.get("vlan"):
        entry = dict(common, vlanID=network["vlan"]["id"], vlanLink=link_id(description, network["vlan"]["network"]))
        links.setdefault("vlans", []).append(entry)
    elif network.get("bond"):
        bond = network["bond"]
        for interface in bond["interfaces"]:
            _add_ethernet(links, {"id": interface, "type": network["link_type"], "mtu": network["mtu"],
                                  "macAddress": {"fromHostInterface": interface}})
        entry = dict(common, bondMode=bond["mode"], bondLinks=list(bond["interfaces"]), parameters=_parameters(bond))
        if bond.get("transmit_hash_policy"):
            entry["bondXmitHashPolicy"] = bond["transmit_hash_policy"]
        links.setdefault("bonds", []).append(entry)
    else:
        _add_ethernet(links, dict(common, type=network["link_type"]))


def _add_ethernet(links, entry):
    ethernets = links.setdefault("ethernets", [])
    if entry["id"] not in [known["id"] for known in ethernets]:
        ethernets.append(entry)


def _parameters(bond):
    """Return a bond's parameters; CAPM3's v1beta2 requires at least one, and its CRD types values as objects."""
    return [{"name": name, "value": value} for name, value in sorted((bond.get("parameters") or {}).items())]


def _mac_address(description, name):
    network = description.networks[name]
    if network.get("mac_address"):
        return dict(network["mac_address"])
    if network.get("vlan"):
        return _mac_address(description, network["vlan"]["network"])
    if network.get("bond"):
        return {"fromHostInterface": network["bond"]["interfaces"][0]}
    return {"fromHostInterface": network.get("interface") or name}


def _address(description, name, family, settings):
    entry = {"id": name if family == "ipv4" else f"{name}-v6", "link": link_id(description, name)}
    routes = list(settings.get("routes") or [])
    if settings["mode"] == "pool":
        if settings.get("pool_annotation"):
            entry["fromPoolAnnotation"] = dict(settings["pool_annotation"])
            gateway = {"fromPoolAnnotation": dict(settings["pool_annotation"])}
        else:
            reference = _pool_ref(pool_name(description.name, name, family, settings))
            entry["fromPoolRef"] = reference
            gateway = {"fromPoolRef": reference}
        if has_default_route(settings):
            routes.insert(0, {"network": ANY[family], "prefix": 0, "gateway": gateway})
    if routes:
        entry["routes"] = routes
    form = family + {"pool": "", "dhcp": "DHCP", "slaac": "SLAAC"}[settings["mode"]]
    return form, entry


def has_default_route(settings):
    """Say whether machines have a default route by the gateway of their address.

    :param settings: options of one family of a network
    """
    if settings.get("default_route") is not None:
        return settings["default_route"]
    return bool(settings.get("gateway")) or any(range_.get("gateway") for range_ in settings.get("ranges") or [])


def _pool_ref(pool):
    return {"apiGroup": _POOL_GROUP, "kind": "IPPool", "name": pool}
