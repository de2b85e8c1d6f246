# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics of a plane's parts, as a Prometheus asks for them by a ServiceMonitor; the lab has none."""
from __future__ import annotations

import base64
import json
import subprocess
import sys

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import monitor

_BINDING = "metrics-test"
# Takes its questions from standard input, because they have tokens, which process arguments would show.
_PROGRAM = """
import http.client, json, socket, ssl, sys
question = json.load(sys.stdin)
connection = http.client.HTTPConnection(question["host"], question["port"], timeout=30)
connection.sock = ssl.create_default_context(cadata=question["authority"]).wrap_socket(
    socket.create_connection((question["host"], question["port"]), 30), server_hostname=question["name"])
headers = {"Authorization": "Bearer " + question["token"]} if question["token"] else {}
connection.request("GET", question["path"], headers=headers)
answer = connection.getresponse()
print(json.dumps([answer.status, answer.read().decode()]))
"""


def token(target, namespace, name, role=None):
    """Return the token of a new account.

    :param role: ClusterRole that it is bound to, None for an account without any
    """
    meta = {"name": name, "namespace": namespace}
    target.apply(KNOWN["ServiceAccount"], namespace, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    if role:
        target.apply(KNOWN["ClusterRoleBinding"], None, {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": _BINDING},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [dict(meta, kind="ServiceAccount")]})
    answer = target.request("POST", KNOWN["ServiceAccount"].path(namespace, name, "token"), body={
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
    return answer["status"]["token"]


def remove_binding(target):
    """Remove the right of the account."""
    target.delete(KNOWN["ClusterRoleBinding"], None, _BINDING)


class Scraper:
    """Asks a part as its ServiceMonitor says.

    :param target: a client of the cluster
    :param part: a Part
    :param prefix: command before that of Python, for example for the network of a node, where Services are reached
    :param at: host and port in place of the Service's
    """

    def __init__(self, target, part, prefix=(), at=None):
        self._prefix = prefix
        found = target.get(monitor.MONITORS, part.namespace, monitor.name_of(part))
        (self.endpoint,) = found["spec"]["endpoints"]
        selected = found["spec"]["selector"]["matchLabels"].items()
        (service,) = [item for item in target.list(KNOWN["Service"], part.namespace)[0]
                      if selected <= (item["metadata"].get("labels") or {}).items()]
        (port,) = [item["port"] for item in service["spec"]["ports"] if item["name"] == self.endpoint["port"]]
        trusted = self.endpoint["tlsConfig"]["ca"]["secret"]
        secret = target.get(KNOWN["Secret"], part.namespace, trusted["name"])
        host, port = at or (service["spec"]["clusterIP"], port)
        self._question = {
            "host": host, "port": port, "path": self.endpoint["path"],
            "name": self.endpoint["tlsConfig"]["serverName"],
            "authority": base64.b64decode(secret["data"][trusted["key"]]).decode()}

    def ask(self, bearer=""):
        """Return status and text of the answer.

        :raises AssertionError: when there is none, or the certificate is not the one that is trusted
        """
        done = subprocess.run([*self._prefix, sys.executable, "-c", _PROGRAM], capture_output=True, text=True,
                              check=False, timeout=90, input=json.dumps(dict(self._question, token=bearer)))
        assert done.returncode == 0, done.stderr
        status, text = json.loads(done.stdout)
        return status, text
