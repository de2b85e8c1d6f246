# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks for etcd ask for a cluster where the playbooks ``cluster`` and ``teardown`` have it."""
from __future__ import annotations

import json

import pyrage
import pytest
from fakes import playbook
from fakes.api_server import ApiServer, kubeconfig_of

RECIPIENT = str(pyrage.x25519.Identity.generate().to_public())
ASKED = {"etcd_snapshot": {"etcd_directory": "/b", "etcd_recipients": [RECIPIENT]},
         "etcd_restore": {"etcd_path": "/b/f.age", "etcd_identity_file": "/i", "etcd_etcdutl": "/bin/true",
                          "metal3_confirm": "prod", "etcd_delete_machines": 1}}


@pytest.mark.parametrize("name", ASKED)
def test_a_cluster_of_another_namespace_and_plane_is_asked_for_there(tmp_path, name):
    """One of its name where the others are is another cluster, whose control plane a restore would replace."""
    clusters = [{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "spec": {}, "metadata": {
        "namespace": namespace, "name": "prod", "uid": namespace}} for namespace in ("metal3", "rack2")]
    with ApiServer(clusters) as server, ApiServer(clusters) as other:
        for path, of in (("kubeconfig", server), ("other", other)):
            (tmp_path / path).write_text(json.dumps(kubeconfig_of(of.url)))
        inventory = {"all": {
            "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                     "metal3_kubeconfig": str(tmp_path / "kubeconfig"), "cluster_name": "prod"},
            "children": {"clusters": {"hosts": {"prod-cluster": None, "far-cluster": {
                "cluster_namespace": "rack2", "cluster_kubeconfig": str(tmp_path / "other")}}}}}}
        code, output = playbook.play(
            tmp_path, json.dumps(inventory), "", f"metal3.baremetal.{name}", "--limit", "far-cluster", "-e",
            json.dumps(ASKED[name]))
        assert code != 0 and server.requests == [], output
        asked = set(request.path.partition("/namespaces/")[2].partition("/")[0] for request in other.requests
                    if "/namespaces/" in request.path and "kube-system" not in request.path)
        assert asked == {"rack2"}, output
