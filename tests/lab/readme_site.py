# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's own site on the lab: its inventory, with only what a lab can't have as written replaced.

========================  ==============================================================================================
replaced                  by
========================  ==============================================================================================
servers                   the lab's, with their names, BMCs, credentials and boot MACs
labels of the servers     those that each group's ``host_selector`` asks for, on one server only
addresses                 those of the lab's bridge: endpoint, ranges, prefix, gateway, DNS servers
image                     that of the lab's image server
numbers of machines       1 of each group
added                     what kubeadm and flannel need on the lab's machine (docs/lab-nodes.md), and where the API
                          server is
========================  ==============================================================================================
"""
from __future__ import annotations

import copy
import json
import re
import sys

import yaml
from bmc_system import credential
from support import REPOSITORY

_BLOCK = re.compile(r"^```yaml\n# inventory/\S+\n(.*?)^```", re.MULTILINE | re.DOTALL)
CLUSTER = "prod"
MACHINE_LIMITS = {"ignore_preflight_errors": ["SystemVerification"],
                  "kube_proxy_configuration": {"conntrack": {"maxPerCore": 0}},
                  "flannel": {"nftables": True, "cni_configuration": "node"},
                  "image_registry": "lab.local"}


def example():
    """Return the inventory that the README shows."""
    text, = _BLOCK.findall((REPOSITORY / "README.md").read_text())
    return yaml.safe_load(text)


def connection(lab):
    """Return the variables by which playbooks find the lab's API server and the libraries to talk to it."""
    return {"metal3_kubeconfig": str(lab.dir / "kubeconfig"), "metal3_ca_file": str(lab.dir / "pki" / "ca.crt"),
            "ansible_python_interpreter": sys.executable}


def servers(lab, names):
    """Return the inventory variables of the lab's servers by name."""
    return dict((name, {
        "bmc_address": lab.servers[name]["bmc"]["address"], "boot_mac": lab.servers[name]["boot_mac"],
        "bmc_username": credential(lab.servers[name], "username"),
        "bmc_password": credential(lab.servers[name], "password")})
        for name in names)


def image(lab, name, form):
    """Return an image of the lab's image server, as a cluster's description has it."""
    url = f"{lab.figures['urls']['image_server']}/images/{name}"
    return {"url": url, "checksum": url + ".sha256", "format": form}


def inventory(lab, names, labelled):
    """Return the README's inventory for the lab.

    :param names: the lab's servers that are to be in it
    :param labelled: the one of them that the control plane's selector is to match; those of pools match the next ones
    """
    result = copy.deepcopy(example())
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    prod = result["clusters"]["children"][CLUSTER]["vars"]
    hosts = servers(lab, names)
    others = (name for name in names if name != labelled)
    hosts[labelled]["bmh_labels"] = prod["cluster_control_plane"]["host_selector"]
    for pool in prod["cluster_workers"].values():
        if "host_selector" in pool:
            hosts[next(others)]["bmh_labels"] = pool["host_selector"]
    result["baremetal"] = {"hosts": hosts}
    prod["cluster_endpoint"]["host"] = prefix + ".10"
    prod["cluster_image"] = image(lab, "node.qcow2", "qcow2")
    for network in prod["cluster_networks"].values():
        network["ipv4"].update(
            ranges=[{"start": prefix + ".20", "end": prefix + ".60"}], prefix=23, gateway=prefix + ".1",
            dns_servers=[prefix + ".1"])
    prod["cluster_control_plane"]["replicas"] = 1
    for pool in prod["cluster_workers"].values():
        pool["replicas"] = 1
    prod["cluster_options"].update(MACHINE_LIMITS)
    return result


def write(lab, folder, names, labelled):
    """Write the inventory into a folder; return its path and the inventory."""
    content = inventory(lab, names, labelled)
    path = folder / "hosts.json"
    path.write_text(json.dumps(content))
    return path, content
