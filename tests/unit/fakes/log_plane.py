# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management plane on a fake API server, with pods whose logs a kubelet answers."""
from __future__ import annotations

import base64

from fakes.api_server import ApiServer, Fault, status

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._logs import service

NAMESPACE = "capm3-system"
FORBIDDEN = status(403, "Forbidden", 'x is forbidden: User "u" cannot list resource "x" in API group "y"')
NO_PREVIOUS = status(400, "BadRequest", "previous terminated container not found")


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def secret(name, namespace="metal3", type_="Opaque", **values):
    """Return a Secret; of keys two underscores stand for a dot."""
    return {"apiVersion": "v1", "kind": "Secret", "type": type_, "metadata": {"name": name, "namespace": namespace},
            "data": dict((key.replace("__", "."), encoded(value)) for key, value in values.items())}


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def pod(name="manager-1", containers=("manager",), init=(), restarts=0):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"containers": [{"name": item} for item in containers],
                     "initContainers": [{"name": item} for item in init]},
            "status": {"containerStatuses": [{"name": item, "restartCount": restarts} for item in containers]}}


def definition(group, plural, kind, scope="Namespaced"):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"}, "spec": {
                "group": group, "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": [
                    {"name": "v1alpha1", "served": True, "storage": True}]}}


def host(name="h1", **metadata):
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "spec": {"online": True},
            "metadata": dict({"name": name, "namespace": "metal3"}, **metadata)}


PLANE = [namespace("metal3"), namespace(NAMESPACE), definition("metal3.io", "baremetalhosts", "BareMetalHost"),
         definition("metal3.io", "hardwaredata", "HardwareData"),
         definition("example.org", "others", "Other")]


class Plane:
    """What a collection is made of.

    :param objects: beside those of :data:`PLANE`
    :param logs: text or bytes by container, or a Fault; ``<container> previous`` for the run before
    :param refused: what a LIST's path ends with to the Fault that answers it
    :param obedient: whether the kubelet keeps to the limits that it is asked for
    """

    def __init__(self, *objects, logs=None, refused=None, obedient=True):
        self.objects = [*PLANE, *objects]
        self.logs = logs or {}
        self.refused = refused or {}
        self.obedient = obedient
        self.asked = []

    def answer(self, request):
        if not request.path.endswith("/log"):
            return next((fault for end, fault in self.refused.items() if request.path.endswith(end)), None)
        query = request.query
        self.asked.append(query)
        log = self.logs.get(query["container"] + (" previous" if query.get("previous") else ""), b"")
        if isinstance(log, Fault):
            return log
        content = log.encode() if isinstance(log, str) else log
        if self.obedient and "tailLines" in query:
            content = b"".join(content.splitlines(keepends=True)[-int(query["tailLines"]):])
        return Fault(200, {"Content-Type": "text/plain"}, content[:int(query["limitBytes"])] if self.obedient
                     else content)

    def collect(self, dest, check_mode=False, progress=None, secrets=(), now=None, **params):
        with ApiServer(self.objects, self.answer) as server:
            params = dict({"dest": str(dest), "namespaces": ["metal3"], "since_seconds": 60, "limit_mebibytes": 1,
                           "process_dir": None, "release": "0.1.0"}, **params)
            try:
                return service.collect(KubeClient({"host": server.url, "api_key": "t"}), params, secrets, check_mode,
                                       progress or Written(), *([now] if now else []))
            finally:
                self.requests = list(server.requests)


class Written:
    """A progress that nobody reads."""

    def wrote(self, *_arguments):
        """Forget it."""


def texts(folder):
    """Return the files of a folder by their relative path."""
    return dict((str(path.relative_to(folder)), path.read_text()) for path in folder.rglob("*") if path.is_file())
