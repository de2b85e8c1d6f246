# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Bare Metal Operator beside temporary API servers: it reaches no Ironic and no server.

Its flag ``-test-mode`` puts a provisioner of its own in Ironic's place (``pkg/provisioner/fixture``), which answers all
that is asked of a server with success at once and opens no connection.
"""
from __future__ import annotations

import base64
import os
import re
from typing import Any

from ..._common.waiting.wait_loop import until_nothing
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..parts import catalogue
from . import controllers, webhook_host
from .throwaway import ThrowawayError, ThrowawayServers, free_ports

NAME = "bmo"
PROGRAM = catalogue.BY_NAME[NAME].program

_READY_SECONDS = 120
_ADMITS_SECONDS = 60
_LOOK_SECONDS = 0.1
_WEBHOOK = "rehearsal.metal3.io"
# Of Setup of its webhooks: internal/webhooks/metal3.io/v1alpha1/baremetalhost_webhook.go.
_PATH = "/validate-metal3-io-v1alpha1-baremetalhost"
# "Component: metal3-io/baremetal-operator v0.13.2"
_VERSION = re.compile(r"baremetal-operator (v\d+\.\d+\.\d+[0-9A-Za-z.+-]*)")
_FORBIDDEN = 403


def start(servers: ThrowawayServers, name: str, client: Any, namespace: str) -> str | None:
    """Start the operator for one namespace of an API server, with its webhook, and return its version.

    :param servers: the API servers, beside which it runs
    :param name: of the API server
    :param client: a KubeClient of the API server
    :param namespace: name of the namespace
    :returns: its version; None when it does not say it
    :raises ThrowawayError: when the program is missing, does not become ready, or its webhook is not asked
    """
    health, webhook = (f"127.0.0.1:{port}" for port in free_ports(2))
    servers.issue(controllers.serving_certificate(NAME))
    servers.add(NAME, PROGRAM, [
        "-test-mode", f"-kubeconfig={servers.kubeconfig(name)}", f"-namespace={namespace}", f"-health-addr={health}",
        f"-webhook-port={webhook.rpartition(':')[2]}", "-metrics-addr=0", "-enable-leader-election=false",
        f"-kube-api-qps={controllers.CLIENT_QPS}", f"-kube-api-burst={controllers.CLIENT_BURST}"],
        # Nothing of the user's environment, which may have credentials of Ironic or of a cluster.
        {"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": os.path.join(servers.pki, NAME),
         webhook_host.VARIABLE: "127.0.0.1"},
        {"url": f"http://{health}/readyz", "timeout_seconds": _READY_SECONDS})
    with open(os.path.join(servers.pki, "ca.crt"), "rb") as stream:
        authority = base64.b64encode(stream.read()).decode()
    client.create(KNOWN["ValidatingWebhookConfiguration"], None, _configuration(f"https://{webhook}", authority))
    not_asked = until_nothing(lambda: _not_asked(client, namespace), _ADMITS_SECONDS, _LOOK_SECONDS)
    if not_asked:
        raise ThrowawayError(f"rehearsal: the operator's webhook is not asked: {not_asked}")
    found = _VERSION.search(servers.log(NAME))
    return found and found.group(1)


def _configuration(url: str, authority: str) -> dict[str, Any]:
    host = KNOWN["BareMetalHost"]
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": _WEBHOOK}, "webhooks": [{
                "name": _WEBHOOK, "clientConfig": {"url": url + _PATH, "caBundle": authority},
                "rules": [{"apiGroups": [host.group], "apiVersions": [host.version], "resources": [host.plural],
                           "operations": ["CREATE", "UPDATE"]}],
                "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"]}]}


def _not_asked(client: Any, namespace: str) -> str | None:
    """Return why it does not look as if the webhook were asked, None when it has refused what it must refuse."""
    host = KNOWN["BareMetalHost"]
    try:
        client.create(host, namespace, {
            "apiVersion": host.api_version, "kind": host.kind, "metadata": {"name": "rehearsal"},
            "spec": {"online": False, "bmc": {"address": "no-scheme-of-a-bmc://", "credentialsName": "none"}}}, True)
    except KubeError as exc:
        return None if exc.status == _FORBIDDEN else str(exc)
    return "a host without a valid BMC address is accepted"
