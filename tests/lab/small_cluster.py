# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster beside the one of the lab's inventory: one control plane machine, with an image as the test likes it."""
from __future__ import annotations

import yaml
from support import REPOSITORY


def variables(lab, name, image, endpoint=11):
    """Return what to give to the playbook ``cluster``.

    :param name: name of the cluster
    :param image: what differs from the image of the lab's cluster
    :param endpoint: last number of the endpoint's address; machines take 10, that of the lab's cluster
    """
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    url = lab.figures["urls"]["image_server"] + "/images/node.qcow2"
    return {
        "cluster_name": name, "cluster_workload_kubeconfig": str(lab.dir / "kubeconfigs" / name),
        "cluster_endpoint": {"host": f"{prefix}.{endpoint}", "holder": "keepalived"}, "cluster_workers": {},
        "cluster_image": dict({"url": url, "checksum": url + ".sha256", "checksum_type": "sha256", "format": "qcow2"},
                              **image),
        "cluster_networks": {"nodes": {"interface": "eno1", "ipv4": {
            "ranges": [{"start": prefix + ".80", "end": prefix + ".89"}], "prefix": 23, "gateway": prefix + ".1",
            "dns_servers": [prefix + ".1"]}}}}


def labs_options():
    """Return ``cluster_options`` of the lab's inventory, to be changed."""
    path = REPOSITORY / "inventory" / "lab" / "group_vars" / "clusters.yml"
    return yaml.safe_load(path.read_text())["cluster_options"]


def teardown(name):
    """Return what else to give to the playbook ``teardown``."""
    return {"teardown_name": name, "metal3_confirm": name}
