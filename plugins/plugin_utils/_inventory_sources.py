# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what the inventory plugin ``baremetal_hosts`` shows, from the API server and from Ironic."""
from __future__ import annotations

import contextlib
import gc

from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.redaction import without_url_secrets
from ansible_collections.metal3.baremetal.plugins.module_utils._inventory import hosts as inventory_hosts
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import HAS_OPENSTACK, IronicClient
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.pages import pages
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.connection import server_named
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.library import HAS_KUBERNETES
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.advice import reading_failed
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

HOSTS, MACHINES, NODES = "hosts", "machines", "nodes"


class SourceError(Exception):
    """A source could not be read; the text says of what, what was found and what to do next."""


def server_of(connection):
    """Return the URL of the API server that options lead to now, None when they lead to none.

    A kubeconfig may have another current context than when a cache was written.

    :param connection: dict with the options of ``kube_argument_spec``
    """
    try:
        return server_named(connection) if HAS_KUBERNETES else None
    except KubeError:
        # Reader says why.
        return None


class Reader:
    """Reads the chosen sources.

    :param connection: dict with the options of ``kube_argument_spec``
    :param ironic: dict with the options of ``ironic_argument_spec``
    :param namespaces: list of names, None for all namespaces
    :param label_selector: of hosts and machines, as Kubernetes takes it, or None
    :param states: list of provisioning states of hosts, empty for all
    """

    def __init__(self, connection, ironic, namespaces, label_selector, states):
        self._connection = connection
        self._ironic = ironic
        self._namespaces = [None] if namespaces is None else list(dict.fromkeys(namespaces))
        self._label_selector = label_selector
        self._states = states
        self._kube = None

    def read(self, sources):
        """Return the facts of all that the sources have.

        :param sources: list of :data:`HOSTS`, :data:`MACHINES` and :data:`NODES`
        :raises SourceError: when one can't be read
        """
        with _without_collection():
            hosts = self._hosts() if HOSTS in sources else []
            facts = hosts + (self._machines() if MACHINES in sources else [])
            for item in facts:
                item["server"] = self._client().server
            facts += inventory_hosts.with_nodes(hosts, self._nodes()) if NODES in sources else []
            # As modules do: an inventory is kept in caches, in AWX, and printed.
            return without_url_secrets(facts)

    def _hosts(self):
        hosts = self._from_pages("BareMetalHost", self._label_selector, lambda page: [
            inventory_hosts.host_facts(bmh) for bmh in inventory_hosts.in_states(page, self._states)])
        unknown = inventory_hosts.without_cluster(hosts)
        if unknown:
            for key, item in self._metal3_machines().items():
                if key in unknown:
                    labels = item["metadata"].get("labels") or {}
                    unknown[key]["cluster"] = labels.get(inventory_hosts.CLUSTER_LABEL, "")
        return hosts

    def _metal3_machines(self):
        return dict(self._from_pages("Metal3Machine", None, lambda page: [
            ((item["metadata"]["namespace"], item["metadata"]["name"]), item) for item in page]))

    def _machines(self):
        metal3_machines = self._metal3_machines()
        return self._from_pages("Machine", self._label_selector, lambda page: [
            inventory_hosts.machine_facts(machine, metal3_machines) for machine in page])

    def _nodes(self):
        if not HAS_OPENSTACK:
            raise SourceError("source nodes: found no Python package openstacksdk, expected it; install it by pip")
        try:
            client = IronicClient(self._ironic)
            nodes = client.list_nodes(fields=inventory_hosts.NODE_FIELDS)
        except IronicError as exc:
            raise SourceError(f"source nodes: {exc.message}") from exc
        facts = [dict(inventory_hosts.node_facts(node), server=client.server) for node in nodes]
        if self._namespaces == [None]:
            return facts
        return [node for node in facts if node["host_namespace"] in ("", *self._namespaces)]

    def _from_pages(self, kind, label_selector, convert):
        resource, result, namespace = KNOWN[kind], [], None
        try:
            for namespace in self._namespaces:
                for page in pages(self._client(), resource, namespace, label_selector):
                    result += convert(page)
        except KubeError as exc:
            server = self._kube.server if self._kube else None
            raise SourceError(reading_failed(exc, resource, namespace, server)) from exc
        return result

    def _client(self):
        if not HAS_KUBERNETES:
            raise SourceError("found no Python package kubernetes, expected it; install it by pip")
        if self._kube is None:
            self._kube = KubeClient(self._connection)
        return self._kube


@contextlib.contextmanager
def _without_collection():
    """Keep Python's cycle collector away: it would look at the growing pile of plain data over and over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
