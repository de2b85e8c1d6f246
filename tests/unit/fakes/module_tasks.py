# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each module is asked to do in the tests that try all of them, and the server that it does it on.

The arguments are in ``bad_inputs``, or in ``ARGUMENTS`` here.
"""
from __future__ import annotations

import contextlib
import copy
import functools
import json

from fakes import metal_api
from fakes.api_server import WRITE, ApiServer, status
from fakes.http_ironic import HttpIronic
from fakes.modules import REPOSITORY, spec_of
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError

ACTION_GROUPS = ansible_yaml.read(REPOSITORY / "meta" / "runtime.yml")["action_groups"]
TABLES = REPOSITORY / "tests" / "unit" / "modules" / "bad_inputs"
NAMESPACE = "metal3"
HOST = {"name": "h1", "boot_mac_address": "00:5c:52:31:3a:01", "bmc": {
    "address": "redfish-virtualmedia://198.18.0.11/redfish/v1/Systems/1", "username": "admin", "password": "other"}}
METAL = {"project": metal_api.PROJECT, "partition": "fra-1", "size": "c1-large", "networks": ["nodes"]}
# Of a server that does not answer, for modules that take a file only.
UNREACHABLE = str(REPOSITORY / "tests" / "unit" / "modules" / "unreachable.kubeconfig")
IMAGE_CACHE = str(REPOSITORY / "tests" / "unit" / "modules" / "image_cache")
DOWNLOAD = {
    "url": "https://127.0.0.1:1/",
    "checksum": "sha256:2e6a0d4733c893ab9b37b37b2d5eecab032a7ca4fb573e0f98ae4d963796770e"}
# Of modules without a table in bad_inputs.
ARGUMENTS = {
    # Builds take minutes: a disk without anything that is in a cache of downloads.
    "agent_image": {"cache_dir": IMAGE_CACHE, "directory": "published", "downloads": [
        dict(DOWNLOAD, name="vmlinuz")]},
    "bmc_info": {"hosts": [HOST], "connect_timeout_seconds": 1},
    "cluster_kubeconfig": {"name": "c1", "path": "kubeconfig-of-c1"},
    "discovered_inventory": {"servers": [], "hosts": [HOST], "return_inventory": True},
    "etcd_restore": {"kubeconfig": "/nonexistent", "cluster_name": "c1", "path": "/nonexistent",
                     "identity_file": "/nonexistent", "etcdutl": "/nonexistent"},
    "etcd_snapshot": {"clusters": ["c1"], "directory": "snapshots", "recipients": [
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]},
    "host_compliance": {"hosts": [{"name": "h1", "expected": {"cpus_minimum": 1}}]},
    "host_maintenance": {"hosts": ["h1"], "state": "returned"},
    "host_remediation": {"hosts": ["h1"]},
    "image_cache": {"directory": "published", "images": [
        {"name": "vmlinuz", "path": str(REPOSITORY / "tests" / "unit" / "modules" / "empty_archive.tar")}]},
    "image_server_ports": {"addresses": ["127.0.0.1"], "port": 0},
    "ironic_audit": {"hosts": [], "all_namespaces": True},
    "ironic_check": {"bmc_schemes": ["ipmi"]},
    "ironic_discovery": {},
    "ironic_node_info": {},
    "lab": {"state": "absent", "name": "no-such-lab"},
    "lab_disk_image": {"path": "disk.raw"},
    "lab_info": {"name": "no-such-lab"},
    "lab_node_image": {
        "source_dir": str(REPOSITORY / "lab" / "node_image"), "addons_source_dir": str(REPOSITORY / "lab" / "addons"),
        "engine_dir": "/nonexistent", "cache_dir": "cache"},
    "lab_registry_images": dict(
        ((name, "/nonexistent") for name in ("ca_file", "username_file", "password_file", "engine_dir", "cache_dir")),
        url="https://127.0.0.1:1", versions={}),
    "metalstack_firewall": {"firewalls": [dict(METAL, name="fw", image="firewall-ubuntu-3.0")]},
    "metalstack_info": {},
    "metalstack_ip": {"ips": [{"name": "endpoint", "project": METAL["project"], "network": "internet"}]},
    "metalstack_machine": {"machines": [dict(METAL, name="m", image="ubuntu-24.04")]},
    "metalstack_network": {"networks": [{"name": "new", "project": METAL["project"], "partition": "fra-1"}]},
    "machine_action": {"cluster_name": "c1", "machines": ["m1"], "action": "mark_for_scale_in"},
    "mirror_gather": {"archive": "gathered.tar", "release": "0.1.0", "parts": []},
    "mirror_unpack": {"archive": str(REPOSITORY / "tests" / "unit" / "modules" / "empty_archive.tar"),
                      "files_dir": "files"},
    "network_check": {"tcp": [{"host": "127.0.0.1", "port": 1, "reachable": False}]},
    "node_image": {"cache_dir": IMAGE_CACHE, "directory": "published", "name": "a.raw", "download": DOWNLOAD},
    # An interface that there is nowhere: nothing of this machine is changed.
    "provisioning_keepalived": {"name": "no-such0", "address": "192.0.2.2/24", "own_address": "192.0.2.1/24",
                                "machines": ["a"], "machine": "a", "config_file": "/nonexistent/k.conf"},
    "provisioning_network": {"name": "no-such0", "addresses": ["192.0.2.1/24"]},
    "provisioning_dhcp": {"name": "no-such0", "addresses": ["192.0.2.1/24"], "config_file": "/nonexistent/d.conf",
                          "leases_file": "/nonexistent/d.leases", "dhcp": {"ranges": [
                              {"first": "192.0.2.10", "last": "192.0.2.20"}]}},
    "plane_certificate": {"directory": "certificates"},
    "plane_check": {"parts": []},
    "plane_components": {
        "parts": [], "certificates": "collection", "wait": False,
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": NAMESPACE}}]},
    "plane_ironic": {"source_dir": "/nonexistent", "wait": False, "provisioning_ip": "192.0.2.2",
                     "cache_url": "http://127.0.0.1:1/", "tls": "none"},
    "plane_ironic_operator": {"wait": False, "version": "35.0"},
    "plane_processes": {"supervisor_dir": "supervisor", "programs": [{"name": "p", "command": ["/nonexistent"]}]},
    "plane_image_programs": {"source_dir": str(REPOSITORY / "lab" / "engine"), "cache_dir": "cache",
                             "registry": "127.0.0.1:1", "trust_registry": True},
    "plane_programs": {"source_dir": str(REPOSITORY / "lab" / "engine"), "cache_dir": "cache"},
    "plane_backup": {"directory": "backups", "recipients": [
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudlvjfxsly6ggy"]},
    "plane_logs": {"dest": "logs"},
    "plane_restore": {"kubeconfig": UNREACHABLE, "path": "/nonexistent", "identity_file": "/nonexistent",
                      "clusterctl": "/nonexistent"},
    "plane_move": {"kubeconfig": UNREACHABLE, "to_kubeconfig": UNREACHABLE, "clusterctl": "/nonexistent"},
    "node_reach_check": {"kubeconfig": "/nonexistent", "to_kubeconfig": "/nonexistent"},
    "host_move": {"kubeconfig": "/nonexistent", "to_kubeconfig": "/nonexistent", "hosts": ["h1"]},
    "plane_move_hosts": {"state": "released"},
    "plane_scale": {"namespace": NAMESPACE, "name": "d", "replicas": 1},
    "plane_provider": {
        "management_plane": {"dir": "/nonexistent"}, "providers": [],
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": NAMESPACE}}]},
    "plane_manager": {"name": "p", "plane_dir": "/nonexistent", "cluster": "c1"},
    "plane_site": {"name": "p", "state": "absent", "dir": "/nonexistent"},
    "plane_upgrade_plan": {"management_plane": {"dir": "/nonexistent", "engine_dir": "/nonexistent"}},
    "service_probe": {"name": "s", "port": "80"},
}


@functools.cache
def task(name):
    """Return a module's arguments and the objects that there are; it does not wait where it need not."""
    table = ansible_yaml.read(TABLES / f"{name}.yml") if (TABLES / f"{name}.yml").exists() else {}
    is_known = table or name in ARGUMENTS or (name.endswith("_info") and name in ACTION_GROUPS["kubernetes"])
    assert is_known, f"give arguments for {name} in bad_inputs or here: it takes secrets"
    arguments = dict(table.get("base", {}), **ARGUMENTS.get(name, {}))
    spec = spec_of(name)
    if "none" in spec.get("wait_for", {}).get("choices", ()):
        arguments["wait_for"] = "none"
    if "wait" in spec:
        arguments["wait"] = False
    for option in ("wait_timeout_seconds", "timeout_seconds"):
        if option in spec:
            arguments[option] = 1
    return arguments, [copy.deepcopy(table["objects"][key]) for key in table.get("there", [])]


def refused_quoting(request):
    """Return a webhook's refusal that quotes what was sent, as Go writes JSON and as it is."""
    if request.kind != WRITE:
        return None
    body = json.dumps(request.body, ensure_ascii=False)
    escaped = body.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return status(422, "Invalid", f"admission webhook denied the request: {body} {escaped} {request.authorization}")


def refuse_quoting(method, path, query=None, body=None, **dummy):
    raise IronicError(f"{method} {path}: invalid: {json.dumps(body)} {body}", status=400)


@contextlib.contextmanager
def server_for(name, quoting=False):
    """Return the connection options of a fake server for a module, and the fake or None.

    :param quoting: whether it refuses each write, and quotes what was sent
    """
    if name in ACTION_GROUPS["kubernetes"]:
        objects = task(name)[1]
        for item in objects:
            item["metadata"].setdefault("namespace", NAMESPACE)
        with ApiServer(objects, refused_quoting if quoting else None) as server:
            yield {"host": server.url, "api_key": "a-token"}, server
    elif name in ACTION_GROUPS["ironic"]:
        with HttpIronic() as server:
            server.ironic.add("n1")
            if quoting:
                server.ironic.request = refuse_quoting
            yield {"endpoint": server.url}, server
    elif name in ACTION_GROUPS["metalstack"]:
        with metal_api.MetalApi() as server:
            server.add_private("nodes", "nodes")
            if quoting:
                server.refuse_quoting = True
            yield {"api_url": server.url, "hmac_key": metal_api.KEY}, server
    else:
        yield {}, None
