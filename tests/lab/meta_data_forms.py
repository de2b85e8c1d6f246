# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Meta data of every form that CAPM3 renders, in a file that cloud-init writes on a node."""
from __future__ import annotations

import re

from support import HOST, NAMESPACE

# Where a node has the file.
PATH = "/etc/metal3-forms"
LABEL, ANNOTATION = "example.org/rack", "example.org/note"


def options(cluster):
    """Return a pool's options: the meta data, and the file.

    :param cluster: its name; it has a network ``nodes``
    """
    pool = {"apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": f"{cluster}-nodes"}
    meta_data = {
        "strings": [{"key": "site", "value": "one"}],
        "indexes": [{"key": "index", "prefix": "node-", "suffix": "-x", "offset": 10, "step": 2}],
        "namespaces": [{"key": "namespace"}],
        "objectNames": [{"key": "host_name", "object": "baremetalhost"},
                        {"key": "machine", "object": "machine"}, {"key": "metal3machine", "object": "metal3machine"}],
        "fromHostInterfaces": [{"key": "boot_mac", "fromBootMAC": True}, {"key": "eno1_mac", "interface": "eno1"}],
        "fromLabels": [{"key": "rack", "object": "baremetalhost", "label": LABEL}],
        "fromAnnotations": [{"key": "note", "object": "baremetalhost", "annotation": ANNOTATION}],
        "ipAddressesFromPool": [dict(pool, key="address")], "prefixesFromPool": [dict(pool, key="prefix")],
        "gatewaysFromPool": [dict(pool, key="gateway")]}
    keys = sorted(entry["key"] for entries in meta_data.values() for entry in entries)
    lines = "".join(f"{key}={{{{ ds.meta_data.{key} }}}}\n" for key in keys)
    # For cloud-init to render, not for Ansible.
    return {"metadata": meta_data, "files": [{"path": PATH, "content": "{% raw %}" + lines + "{% endraw %}"}]}


def mark_hosts(lab, is_marked):
    """Give all hosts the label and the annotation, or take them away."""
    for name in lab.servers:
        lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {
            "labels": {LABEL: f"rack-of-{name}" if is_marked else None},
            "annotations": {ANNOTATION: f"note of {name}" if is_marked else None}}})


def problems(lab, workload, machine, server):
    """Return what of a node's file is not as it should be: key to what was found, and what was expected."""
    lines = workload.inside(server, "cat", PATH).splitlines()
    found = dict(line.partition("=")[::2] for line in lines)
    host, node = lab.host(server), workload.nodes()[machine]
    macs = dict((nic["name"], nic["mac"]) for nic in host["status"]["hardware"]["nics"])
    addresses = [entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP"]
    network = lab.figures["bridge"]["network"].rpartition(".")[0]
    wanted = {
        "site": "one", "namespace": NAMESPACE, "host_name": server, "machine": machine,
        "metal3machine": host["spec"]["consumerRef"]["name"], "boot_mac": lab.servers[server]["boot_mac"],
        "eno1_mac": macs["eno1"], "rack": f"rack-of-{server}", "note": f"note of {server}", "address": addresses[0],
        "prefix": "23", "gateway": f"{network}.1"}
    wrong = dict((key, (found.get(key), value)) for key, value in wanted.items() if found.get(key) != value)
    if not re.fullmatch(r"node-1\d-x", found.get("index", "")):
        wrong["index"] = (found.get("index"), "node-1?-x")
    return wrong
