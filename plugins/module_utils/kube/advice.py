# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do about a read that failed."""
from __future__ import annotations


def reading_failed(error, resource, namespace, server, verb="list"):
    """Return a KubeError of a LIST, or of another read, as text, with what to do next.

    :param error: a KubeError
    :param resource: the Resource that was asked for, None when it did not come to that
    :param namespace: None for all namespaces
    :param server: URL of the API server, None when it is not known
    :param verb: as RBAC calls the read
    """
    advice = _advice(error, resource, namespace, server, verb)
    return "%s; %s" % (error.message, advice) if advice else error.message


def _advice(error, resource, namespace, server, verb):
    if error.reason == "Configuration":
        return "" if "set kubeconfig" in error.message else "correct kubeconfig or context"
    if error.reason == "Unreachable" and "CERTIFICATE_VERIFY_FAILED" in error.message:
        return "set ca_cert to the authority of its certificate"
    if error.reason == "Unreachable":
        return "start it, or correct kubeconfig or host"
    if error.status == 400:
        return "correct label_selector"
    if error.status == 401:
        return "%s does not know this user: renew the token or client certificate of the kubeconfig" % server
    if error.status == 403:
        return "allow it by a %s with the verb %s on %s in the API group %s" % (
            "Role and RoleBinding in namespace %s" % namespace if namespace else "ClusterRole and ClusterRoleBinding",
            verb, resource.plural, resource.group)
    if error.status == 404:
        return "the API server %s does not know %ss: install what serves them first (playbook " \
            "metal3.baremetal.install)" % (server, resource.kind)
    return ""
