# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading BareMetalHosts, each time by one LIST."""
from __future__ import annotations

from functools import partial

from ..._common.documents.object_shape import HARDWARE_DATA as HARDWARE_DATA_SHAPE
from ..._common.documents.object_shape import HOST, shaped
from ..._common.documents.object_shape import SECRET as SECRET_SHAPE
from ..._common.texts.terminal import columns
from ..._common.waiting import parallel
from ..._kube.api import bulk
from ..._kube.reconcile.plan import by_name
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..description.objects import SECRET_SELECTOR
from . import table as host_table

BMH = KNOWN["BareMetalHost"]
HARDWARE_DATA = KNOWN["HardwareData"]
SECRET = KNOWN["Secret"]


def hosts_of(client, namespace):
    """Return the BareMetalHosts of a namespace by name.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :raises KubeError: when the API server can't be asked or does not know the kind
    """
    return by_name(_list(client, namespace))


def hosts_everywhere(client, namespace):
    """Return the BareMetalHosts of a namespace and those of all others, if they may be read.

    :returns: ``({name: BareMetalHost}, [BareMetalHost of another namespace], warning)``; the warning is empty when all
        namespaces could be read
    """
    try:
        items = _list(client, None)
    except KubeError as exc:
        if exc.status != 403:
            raise
        warning = (f"only hosts of namespace {namespace} were compared for MAC and BMC addresses that are used twice; "
                   f"allow listing baremetalhosts in all namespaces to have all compared ({exc.message})")
        return hosts_of(client, namespace), [], warning
    return (by_name([item for item in items if item["metadata"].get("namespace") == namespace]),
            [item for item in items if item["metadata"].get("namespace") != namespace], "")


def host_of(client, namespace, name):
    """Return one BareMetalHost, or None when there is none."""
    return shaped(client.get(BMH, namespace, name), HOST)


def secret_of(client, namespace, name):
    """Return one Secret, or None when there is none."""
    return shaped(client.get(SECRET, namespace, name), SECRET_SHAPE)


def secrets_of(client, namespace, label_selector):
    """Return the Secrets of a namespace that have a label, by name."""
    return by_name([shaped(item, SECRET_SHAPE) for item in client.list(SECRET, namespace, label_selector)[0]])


def hosts_and_secrets(client, namespace, wanted):
    """Return hosts and Secrets, by one LIST each; BMO labels the Secrets that it uses, once it has.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param wanted: takes the hosts by name and returns names of Secrets, which are got one by one without the label
    :returns: ``(hosts, hosts of other namespaces, warning)`` as :func:`hosts_everywhere`, and Secrets by name
    :raises KubeError: when the API server can't be asked or refuses
    """
    found, secrets = parallel.values(bulk.run([
        lambda: hosts_everywhere(client, namespace), lambda: secrets_of(client, namespace, SECRET_SELECTOR)]))
    lacking = sorted(set(wanted(found[0])) - set(secrets))
    others = parallel.values(bulk.run([partial(secret_of, client, namespace, name) for name in lacking]))
    secrets.update((name, secret) for name, secret in zip(lacking, others) if secret is not None)
    return found, secrets


def hardware_data_of(client, namespace):
    """Return the HardwareData of a namespace (None for all) by ``(namespace, name)``."""
    return dict(((item["metadata"].get("namespace"), item["metadata"]["name"]), shaped(item, HARDWARE_DATA_SHAPE))
                for item in client.list(HARDWARE_DATA, namespace)[0])


def _list(client, namespace, label_selector=None):
    try:
        return [shaped(item, HOST) for item in client.list(BMH, namespace, label_selector)[0]]
    except KubeError as exc:
        if exc.status == 404:
            raise KubeError(f"the API server {client.server} does not know BareMetalHosts; install the Bare Metal "
                            "Operator first (playbook metal3.baremetal.install)", 404) from exc
        raise


def read_hosts(client, namespace, names=None, label_selector=None, full_objects=False, hardware_data=False):
    """Return hosts as plain data.

    :param client: a KubeClient
    :param namespace: name, or None for all namespaces
    :param names: only hosts of these names, None for all
    :param label_selector: as Kubernetes takes it, or None
    :param full_objects: also return each object as the API server has it, without managedFields
    :param hardware_data: also return the hardware of each host's HardwareData, by one more LIST
    :returns: ``{"hosts": summaries, "missing": names that were not found, "table": lines}``
    :raises KubeError: when the API server can't be asked
    """
    items = _list(client, namespace, label_selector)
    if names is not None:
        items = [item for item in items if item["metadata"]["name"] in names]
    items.sort(key=lambda item: (item["metadata"].get("namespace", ""), item["metadata"]["name"]))
    details = hardware_data_of(client, namespace) if hardware_data and items else {}
    hosts = []
    for item in items:
        facts = host_table.summary(item)
        if hardware_data:
            found = details.get((item["metadata"].get("namespace"), item["metadata"]["name"])) or {}
            facts["hardware_data"] = (found.get("spec") or {}).get("hardware") or {}
        if full_objects:
            item["metadata"].pop("managedFields", None)
            facts["object"] = item
        hosts.append(facts)
    found = set(facts["name"] for facts in hosts)
    return {"hosts": hosts, "missing": sorted(set(names or ()) - found), "table": host_table.table(hosts, columns())}
