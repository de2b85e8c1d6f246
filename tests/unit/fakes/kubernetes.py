# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes API server in memory, with the calls of a KubeClient; entries of hosts for it."""
from __future__ import annotations

import copy
import threading

from fakes.merge_patch import merged

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import fields as host_fields
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.transport import FIELD_MANAGER
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError


def owned_fields(value):
    """Return a dict as managedFields have it; lists and texts as a whole."""
    return dict(("f:" + key, owned_fields(item) if isinstance(item, dict) else {}) for key, item in value.items())


class Server:
    """As much of an API server as a run needs: apply with ownership, patch, delete, LIST; and faults."""

    server = "https://198.18.0.1:6443"
    context = None

    def require_same_server(self):
        """A server in memory has no kubeconfig that could lead elsewhere."""

    def __init__(self):
        self.objects = {}
        self.requests = []
        self.failures = {}
        self.meanwhile = {}
        self.lost, self.stored, self.after_loss = [], [], lambda: None
        self.unreachable = 0
        self.lock = threading.Lock()
        self.version = 0
        # Kinds that are served in an older version only.
        self.versions = {}
        self.only_one_namespace = False
        self.detaches = True
        self.logs_in = True

    def _operate(self):
        """Do what the operator does with hosts that are detached and attached."""
        for host in self.objects.values():
            status = host.get("status") or {}
            secret = self.objects.get(("Secret", host.get("spec", {}).get("bmc", {}).get("credentialsName")))
            if status and secret and self.logs_in:
                status["goodCredentials"] = {"credentials": {"name": secret["metadata"]["name"]},
                                             "credentialsVersion": secret["metadata"]["resourceVersion"]}
            if "baremetalhost.metal3.io/detached" in host["metadata"].get("annotations", {}) and self.detaches:
                status["operationalStatus"] = "detached"
            elif status.get("operationalStatus") == "detached":
                status.update(operationalStatus="OK")
                status["provisioning"]["ID"] = "anew"

    def _request(self, verb, resource, name, dry_run=False):
        with self.lock:
            self.requests.append((verb, resource.kind, name, dry_run))
            if self.unreachable and verb not in ("LIST", "GET"):
                self.unreachable -= 1
                raise KubeError("no answer", reason="Unreachable")
        if (resource.kind, name) in self.failures:
            raise KubeError(self.failures[resource.kind, name], 422)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        self._request("LIST", resource, None)
        if namespace is None and self.only_one_namespace:
            raise KubeError("forbidden", 403)
        self._operate()
        found = [copy.deepcopy(item) for (kind, dummy), item in self.objects.items() if kind == resource.kind]
        for part in label_selector.split(",") if label_selector else ():
            key, dummy, value = part.partition("=")
            found = [item for item in found if item["metadata"].get("labels", {}).get(key) == value]
        return found, str(self.version)

    def version_of(self, resource):
        return self.versions.get(resource.kind, resource.version)

    def get(self, resource, namespace, name):
        self._request("GET", resource, name)
        return copy.deepcopy(self.objects.get((resource.kind, name)))

    def _answer(self, verb, resource, name, value, dry_run=False):
        """Note a write that was stored, and lose its answer when asked to."""
        if not dry_run:
            self.stored.append((verb, resource.kind, name))
            if (verb, resource.kind, name) in self.lost:
                self.lost.remove((verb, resource.kind, name))
                self.after_loss()
                raise KubeError("no answer", reason="Unreachable")
        return value

    def change(self, kind, name, **spec):
        """Do what another client does to an object: its version is another one afterwards."""
        stored = self.objects[kind, name]
        self.version += 1
        stored["metadata"]["resourceVersion"] = str(self.version)
        stored["spec"].update(spec)

    def _meet(self, verb, resource, name, checked):
        """Let somebody else be faster, and compare a write's precondition with what is stored."""
        with self.lock:
            action = self.meanwhile.pop((resource.kind, name), None)
        if action:
            action()
        stored = self.objects.get((resource.kind, name))
        if checked is None:
            return
        if checked is precondition.ABSENT or (stored is None and verb == "DELETE"):
            fits = stored is None
        else:
            # A uid alone is a precondition as well.
            fits = stored is not None and (
                precondition.identity(checked).items() <= precondition.identity(stored).items())
        if not fits:
            raise KubeError(f"{resource.kind} {name}: the object has been modified", 409)

    def apply(self, resource, namespace, body, dry_run=False, force=True, checked=None):
        name = body["metadata"]["name"]
        self._request("APPLY", resource, name, dry_run)
        self._meet("APPLY", resource, name, checked)
        stored = copy.deepcopy(self.objects.get((resource.kind, name))) or {"metadata": {}}
        owned = (stored["metadata"].get("managedFields") or [{"fieldsV1": {}}])[0]["fieldsV1"].get("f:spec", {})
        annotations = self._annotations(stored["metadata"], body["metadata"].get("annotations") or {})
        present = stored.get("spec") if isinstance(stored.get("spec"), dict) else {}
        spec = dict((key, value) for key, value in present.items() if "f:" + key not in owned)
        result = dict(stored, **copy.deepcopy(body))
        if "spec" in body:
            result["spec"] = dict(spec, **copy.deepcopy(body["spec"]))
        fields = {"f:spec": owned_fields(body.get("spec", {}))}
        if body["metadata"].get("labels"):
            fields["f:metadata"] = {"f:labels": dict(("f:" + key, {}) for key in body["metadata"]["labels"])}
        if body["metadata"].get("annotations"):
            fields.setdefault("f:metadata", {})["f:annotations"] = dict(
                ("f:" + key, {}) for key in body["metadata"]["annotations"])
        with self.lock:
            self.version += 1
            result["metadata"] = dict(
                stored["metadata"], uid="uid-" + name, resourceVersion=str(self.version), managedFields=[
                    {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}],
                **copy.deepcopy(body["metadata"]))
            if annotations or "annotations" in result["metadata"]:
                result["metadata"]["annotations"] = annotations
            if not dry_run:
                self.objects[resource.kind, name] = result
        return self._answer("APPLY", resource, name, copy.deepcopy(result), dry_run)

    @staticmethod
    def _annotations(stored, applied):
        """Return what an apply makes of annotations: those that it owned and has no more go."""
        owned = [entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:annotations", {})
                 for entry in stored.get("managedFields") or [] if entry["operation"] == "Apply"]
        kept = dict((key, value) for key, value in (stored.get("annotations") or {}).items()
                    if not any("f:" + key in tree for tree in owned))
        return dict(kept, **applied)

    def patch(self, resource, namespace, name, body, content_type=None, subresource=None, dry_run=False, checked=None):
        self._request("PATCH", resource, name, dry_run)
        self._meet("PATCH", resource, name, checked)
        stored = self.objects[resource.kind, name]
        if dry_run:
            stored = copy.deepcopy(stored)
        for key, value in body.get("metadata", {}).get("annotations", {}).items():
            for entry in stored["metadata"].get("managedFields") or []:
                # What another request changes is no longer the apply's.
                entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:annotations", {}).pop("f:" + key, None)
            stored["metadata"].setdefault("annotations", {})[key] = value
            if value is None:
                del stored["metadata"]["annotations"][key]
        if "spec" in body:
            stored["spec"] = merged(stored["spec"], body["spec"])
        stored.setdefault("data", {}).update(body.get("data", {}))
        if not stored["data"]:
            del stored["data"]
        self.version += 1
        stored["metadata"]["resourceVersion"] = str(self.version)
        return self._answer("PATCH", resource, name, copy.deepcopy(stored), dry_run)

    def delete(self, resource, namespace, name, propagation="Background", uid=None, dry_run=False, checked=None):
        self._request("DELETE", resource, name, dry_run)
        self._meet("DELETE", resource, name, checked)
        if dry_run:
            return (resource.kind, name) in self.objects
        gone = self.objects.pop((resource.kind, name), None) is not None
        return self._answer("DELETE", resource, name, gone)

    def watch(self, resource, namespace, resource_version, timeout_seconds=60, label_selector=None,
              field_selector=None):
        return iter(())

    def writes(self):
        return [request for request in self.requests if request[0] not in ("LIST", "GET")]


def filled(fields, given):
    return dict((field.name, filled(field.fields, given[field.name])
                 if field.kind == "dict" and field.fields and given.get(field.name) is not None
                 else given.get(field.name)) for field in fields)


def host(number, **values):
    return filled(host_fields.HOST, dict({
        "name": f"h{number}", "state": "present", "boot_mac_address": f"00:5c:52:00:00:{number:02x}",
        "bmc": {"address": f"ipmi://192.0.2.{number}", "username": "admin", "password": f"secret-{number}"},
    }, **values))
