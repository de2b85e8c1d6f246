# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of Kubernetes itself: known paths instead of API discovery."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from ..responses.errors import KubeError


class Older(NamedTuple):
    """An older version of a kind, for API servers that do not serve the one that is asked for.

    :ivar version: its name
    :ivar read: callable that takes an object of it, which may be changed, and returns it in the newer version
    :ivar write: callable that takes an object of the newer version and the name of this one, and returns it in this
        one
    :ivar patch: callable that takes a merge patch for the newer version and returns one for this one; this and
        ``write`` raise ValueError for what can't be said in it
    """

    version: str
    read: Callable[[dict[str, Any]], dict[str, Any]]
    write: Callable[[dict[str, Any], str], dict[str, Any]]
    patch: Callable[[dict[str, Any]], dict[str, Any]]


class Resource(namedtuple("Resource", ["group", "version", "plural", "kind", "namespaced", "older"], defaults=[()])):
    """One kind of object, with what is needed to build its URL.

    ``group`` is empty for the core API; ``namespaced`` is a boolean; ``older`` has an :class:`Older` for each version
    that may be asked for in place of ``version``, the newest first.
    """

    __slots__ = ()

    @property
    def api_version(self) -> str:
        """``group/version``, or the bare version in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: Any = None) -> str:
        """Return the URL path of the collection, of one object, or of a subresource.

        :param namespace: namespace name; None means all namespaces, or a cluster-scoped kind; an empty text neither
        :param name: object name, or None for the collection
        :param subresource: for example ``status``
        :raises KubeError: when a name can't be an object's; it may come from another object
        """
        parts = ["apis", self.group] if self.group else ["api"]
        parts.append(self.version)
        if self.namespaced and namespace is not None:
            if not namespace:
                # Objects of a name would be taken, and deleted, wherever they are.
                raise KubeError(f"namespace of {self.plural}: found an empty text, expected a name", None,
                                "Configuration", next_step="set it, or leave it out")
            parts += ["namespaces", _segment(namespace)]
        parts.append(self.plural)
        if name is not None:
            parts.append(_segment(name))
        if subresource:
            parts.append(subresource)
        return "/" + "/".join(parts)


def _segment(name: str) -> str:
    """Return a name as one part of a path.

    The API server itself undoes escapes before it looks for slashes, so that those are refused, as it refuses them.
    """
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise KubeError(f"found the name {name or '(empty)'}, expected one without / and %, for there can be no "
                        "such object", 404, "NotFound")
    return quote(name, safe=":", errors="replace")


def table(group: str, version: str, *kinds: tuple[str, str, bool], older: tuple[Older, ...] = ()) -> list[Resource]:
    """Return the resources of one group and version.

    :param kinds: plural, kind, and whether its objects are in namespaces
    :param older: see :class:`Resource`
    """
    return [Resource(group, version, plural, kind, namespaced, older) for plural, kind, namespaced in kinds]


# kubectl keeps all that it has applied in it, values of Secrets, too.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Type of the Secrets that Kubernetes itself fills with a ServiceAccount's token.
TOKEN_TYPE = "kubernetes.io/service-account-token"
# Of those with a certificate and its key.
TLS_TYPE = "kubernetes.io/tls"
KNOWN = dict((resource.kind, resource) for resource in (
    table("", "v1", ("namespaces", "Namespace", False), ("secrets", "Secret", True),
          ("configmaps", "ConfigMap", True), ("serviceaccounts", "ServiceAccount", True),
          ("services", "Service", True), ("nodes", "Node", False), ("pods", "Pod", True),
          ("resourcequotas", "ResourceQuota", True), ("events", "Event", True))
    + table("apps", "v1", ("deployments", "Deployment", True), ("daemonsets", "DaemonSet", True))
    + table("coordination.k8s.io", "v1", ("leases", "Lease", True))
    + table("networking.k8s.io", "v1", ("networkpolicies", "NetworkPolicy", True))
    + table("policy", "v1", ("poddisruptionbudgets", "PodDisruptionBudget", True))
    + table("apiextensions.k8s.io", "v1", ("customresourcedefinitions", "CustomResourceDefinition", False))
    + table("admissionregistration.k8s.io", "v1",
            ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False),
            ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False),
            ("validatingadmissionpolicies", "ValidatingAdmissionPolicy", False),
            ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", False))
    + table("rbac.authorization.k8s.io", "v1",
            ("clusterroles", "ClusterRole", False), ("clusterrolebindings", "ClusterRoleBinding", False),
            ("roles", "Role", True), ("rolebindings", "RoleBinding", True))
))


def resource_for(api_version: str, kind: str, known: Mapping[str, Resource] | None = None) -> Resource:
    """Return the resource of an object's ``apiVersion`` and ``kind``.

    :param api_version: for example ``metal3.io/v1alpha1``; its version wins over the table's, and no other is asked for
    :param kind: for example ``BareMetalHost``
    :param known: resources by kind, those of Kubernetes itself when left out
    :raises KeyError: when the kind is not in the table or is there with another group
    """
    group, _slash, version = api_version.rpartition("/")
    resource = (KNOWN if known is None else known)[kind]
    if resource.group != group:
        raise KeyError(f"{api_version}/{kind}")
    return resource if resource.version == version else resource._replace(version=version, older=())


def group_of(obj: dict[str, Any]) -> str:
    """Return the API group of an object, empty for the first one of Kubernetes."""
    api_version: str = obj["apiVersion"]
    return api_version.rpartition("/")[0]
