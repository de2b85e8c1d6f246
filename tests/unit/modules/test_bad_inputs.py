# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad inputs to the modules themselves: each is refused before any write, naming object, field and cause.

``bad_inputs/<module>.yml`` is the table, a line for each case: ``[what is changed, object, field, cause, what is
there]``.

``module``: name of the module, the file's when left out. ``base``: arguments without a mistake. What is changed and
what is there are dictionaries of a path, with slashes, to its new value. ``objects``: what the API server may hold, by
a name of its own; ``there``: those that it holds in every case. ``server``: ``ironic`` for an Ironic in its place,
whose objects have a ``path``; ``bmc`` for a module that asks BMCs, ``none`` for one that asks nobody.
"""
from __future__ import annotations

import copy
import importlib
import json
import pathlib
import re
import socket
import types

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import IronicClient
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN, resource_for

DATA = pathlib.Path(__file__).parent / "bad_inputs"
TABLES = dict((path.stem, ansible_yaml.read(path)) for path in sorted(DATA.glob("*.yml")))
MODULES = pathlib.Path(__file__).parents[3] / "plugins" / "modules"
# What makes or runs a lab or an engine, and what only reads, or writes files; they have tests of their own.
NOT_OF_A_SITE = {"agent_image", "cluster_kubeconfig", "discovered_inventory", "etcd_restore", "etcd_snapshot",
                 "host_compliance", "host_maintenance", "host_move",
                 "host_remediation", "host_result", "image_cache", "image_server_ports", "ironic_audit",
                 "ironic_check", "ironic_discovery",
                 "lab", "lab_disk_image", "lab_node_image", "lab_registry_images",
                 "machine_action", "metalstack_firewall", "metalstack_ip", "metalstack_machine", "metalstack_network",
                 "mirror_gather", "mirror_unpack", "network_check", "node_image", "node_reach_check",
                 "plane_certificate", "plane_check", "plane_components", "plane_ironic", "plane_ironic_operator",
                 "plane_backup", "plane_image_programs", "plane_logs", "plane_manager", "plane_move",
                 "plane_move_hosts", "plane_restore", "plane_processes", "plane_programs", "plane_provider",
                 "plane_scale", "plane_site", "plane_upgrade_plan", "provisioning_dhcp",
                 "provisioning_keepalived", "provisioning_network", "service_probe", "site_lint"}
CASES = [pytest.param(name, case, id=f"{name}-{number}-{case[2]}")
         for name, table in TABLES.items() for number, case in enumerate(table["cases"])]
NAMESPACE = "metal3"
PLURALS = set(resource.plural for resource in KNOWN.values()) | {"ipaddresses"}
KUBECONFIG = {
    "apiVersion": "v1", "kind": "Config", "current-context": "test",
    "clusters": [{"name": "test", "cluster": {"server": "https://198.18.0.1:6443"}}],
    "users": [{"name": "test", "user": {"token": "not-a-token"}}],
    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}


class Server:
    """An API server that answers reads from its objects and refuses, and remembers, every write."""

    def __init__(self, objects):
        self.objects = {}
        self.writes = []
        for item in objects:
            resource = resource_for(item["apiVersion"], item["kind"])
            metadata = item["metadata"]
            namespace = metadata.setdefault("namespace", NAMESPACE) if resource.namespaced else None
            self.objects[resource.path(namespace, metadata["name"])] = item

    def request(self, method, path, query=None, body=None, content_type=None, subject=None, **options):
        if method != "GET":
            self.writes.append((method, path))
            raise KubeError(f"{subject}: refused by the test", 403)
        if path in self.objects:
            return copy.deepcopy(self.objects[path])
        # A list: by its last part, of one namespace or of all.
        items = [item for key, item in self.objects.items()
                 if re.sub("/namespaces/[^/]+", "", key.rpartition("/")[0]) == path or key.rpartition("/")[0] == path]
        served = [resource for resource in KNOWN.values() if path == resource.path(None).rpartition("/")[0]]
        if served:
            return {"resources": [{"name": resource.plural, "kind": resource.kind, "namespaced": resource.namespaced,
                                   "verbs": ["get", "list", "patch"]} for resource in served]}
        if path.rpartition("/")[2] in PLURALS:
            return {"items": copy.deepcopy(items), "metadata": {"resourceVersion": "1"}}
        raise KubeError(f"{subject}: not found", 404)


class Ironic:
    """The same for Ironic: objects have the path of their list."""

    def __init__(self, objects):
        self.objects = objects
        self.writes = []

    def send(self, method, path, query, body, subject, repeatable=True):
        if method != "GET":
            self.writes.append((method, path))
            raise IronicError(f"{subject}: refused by the test", status=403)
        key, _slash, name = path.strip("/").partition("/")
        found = [item for item in self.objects if item["path"] == key]
        answer = {key: found} if key in ("nodes", "ports", "drivers") else {}
        if name and name != "detail":
            answer = next((item for item in found if item["uuid"] == name), {})
        return types.SimpleNamespace(
            headers={"X-OpenStack-Ironic-API-Maximum-Version": "1.96"}, content=json.dumps(answer).encode())


def changed(value, changes):
    """Return a deep copy of a structure, changed at paths; None takes a value away."""
    result = copy.deepcopy(value)
    for path, new in changes.items():
        *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        node = result
        for step in parents:
            node = node[step] if isinstance(step, int) else node.setdefault(step, {})
        if isinstance(node, list) and last == len(node):
            node.append(copy.deepcopy(new))
        elif new is None and isinstance(node, dict):
            node.pop(last, None)
        else:
            node[last] = copy.deepcopy(new)
    return result


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a callable that runs a module; it returns the answer, the writes tried, and the connections tried."""
    def call(table, name, changes, there):
        objects = dict((key, {}) for key in table.get("there", []))
        objects.update(there)
        world = [changed(table["objects"][key], differences) for key, differences in objects.items()]
        server = Ironic(world) if table.get("server") == "ironic" else Server(world)
        connections, log = [], []

        def refuse(connection, address):
            connections.append(address)
            raise OSError("refused by the test")
        if table.get("server") == "ironic":
            monkeypatch.setattr(IronicClient, "_send", server.send)
        else:
            monkeypatch.setattr(KubeClient, "request", server.request)
        monkeypatch.setattr(AnsibleModule, "log", lambda module, *texts, **options: log.append((texts, options)))
        monkeypatch.setattr(socket.socket, "connect", refuse)
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(json.dumps(KUBECONFIG))
        arguments = changed(table["base"], changes)
        if "server" not in table:
            arguments["kubeconfig"] = str(kubeconfig)
        module = importlib.import_module(
            f"ansible_collections.metal3.baremetal.plugins.modules.{table.get('module', name)}")
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
            module.main()
        printed = capsys.readouterr()
        assert "secret-word" not in printed.out + printed.err + repr(log)
        return json.loads(printed.out), server.writes, connections
    return call


@pytest.mark.parametrize("name", sorted(TABLES))
def test_without_the_mistake_something_is_done(run, name):
    table = TABLES[name]
    answer, writes, connections = run(table, name, {}, {})
    if table.get("server") == "none":
        assert not answer.get("failed"), answer
    else:
        assert writes or connections, answer


@pytest.mark.parametrize("name, case", CASES)
def test_it_is_refused(run, name, case):
    changes, subject, field, cause, there = (*case, {})[:5]
    answer, writes, connections = run(TABLES[name], name, changes, there)
    assert answer.get("failed"), answer
    assert (writes, connections) == ([], [])
    causes = cause if isinstance(cause, list) else [cause]
    lines = [line for line in answer["msg"].splitlines() if all(text in line for text in [subject, field, *causes])]
    assert lines, answer["msg"]


def test_every_module_that_writes_to_a_site_has_its_mistakes():
    modules = set(path.stem for path in MODULES.glob("*.py") if not path.stem.endswith("_info"))
    assert modules == set(table.get("module", name) for name, table in TABLES.items()) | NOT_OF_A_SITE
    assert [name for name, table in TABLES.items() if not table["cases"]] == []
