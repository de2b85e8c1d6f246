# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which options of a description are the reason for a rollout: from changed fields of objects back to options; pure."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..._kube.reconcile.diff import compare
from ..._metal3.conversion.older import downgrade
from ..description.model import ClusterDescription
from ..render import endpoint as cluster_endpoint
from ..render import kube_vip
from ..render import kubeadm as cluster_kubeadm
from ..render import registries as cluster_registries
from .rollout import Key, references

# Fields of a KubeadmConfigSpec that one option fills.
_CONFIG = {"clusterConfiguration": "cluster_configuration", "bootCommands": "boot_commands",
           "mounts": "mounts", "diskSetup": "disk_setup", "format": "user_data_format", "ntp": "ntp_servers"}
_REGISTRATION = {"criSocket": "cri_socket", "ignorePreflightErrors": "ignore_preflight_errors",
                 "taints": "node_taints"}
_ARGUMENTS = {"node-labels": "node_labels", "node-ip": "networks", "cloud-provider": "cloud_provider_enabled",
              "provider-id": "provider_id_by_kubelet"}
_FILES = {cluster_kubeadm.KUBELET_PATCH: "kubelet_configuration",
          cluster_kubeadm.KUBE_PROXY_FILE: "kube_proxy_configuration", cluster_endpoint.CONFIGURATION: "endpoint",
          kube_vip.MANIFEST: "endpoint"}
# By what is in a command; the first that is there counts.
_COMMANDS = {cluster_kubeadm.KUBE_PROXY_FILE: "kube_proxy_configuration", "--now keepalived": "endpoint",
             cluster_endpoint.INIT_FILE: "endpoint", cluster_endpoint.IGNITION_FILE: "endpoint",
             "router bgp": "endpoint",
             cluster_registries.DIRECTORY: cluster_registries.OPTION}
_MACHINE = {"image": "image", "customDeploy": "custom_deploy"}
_SELECTOR = {"matchLabels": "host_selector", "matchExpressions": "host_selector_expressions"}


def reasons(description: ClusterDescription, entry: Any, replaced: Mapping[Key, dict[str, Any]],
            desired: Iterable[dict[str, Any]]) -> list[str]:
    """Return the paths of the options that changed for the machines of an owner, in alphabetical order.

    :param entry: the ``kube.plan.Entry`` of a KubeadmControlPlane or MachineDeployment that is stored already
    :param replaced: which template each desired one takes the place of, see ``rollout.predecessors``
    :param desired: all rendered objects
    :returns: paths such as ``workers.pool-a.image``; an option that the group does not set is the whole cluster's
    """
    group = next(group for group in description.groups if group.owner == entry.name)
    found = set(_of_owner(entry.before.get("spec") or {}, entry.after.get("spec") or {}))
    wanted = dict(((item["kind"], item["metadata"]["name"]), item) for item in desired)
    due = references(entry.desired)
    while due:
        key = due.pop()
        if key not in wanted:
            continue
        due += references(wanted[key])
        old = replaced.get(key)
        if old is not None and old["metadata"]["name"] != key[1]:
            before, after = _in_one_version(old, wanted[key])
            difference = compare(before, after)
            found |= set(_of_template(key[0], difference.before.get("spec") or {}, difference.after.get("spec") or {}))
    return sorted(description.option_path(group, option) for option in found)


def _in_one_version(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both objects in the older of their versions; what v1beta1 can't say stays as it is."""
    if old["apiVersion"] == new["apiVersion"]:
        return old, new
    try:
        return downgrade(old), downgrade(new)
    except ValueError:
        return old, new


def _changed(before: Any, after: Any, *path: str) -> tuple[Any, Any] | None:
    """Return what is at a path before and afterwards, None when it is the same."""
    for key in path:
        before, after = (side.get(key) if isinstance(side, dict) else None for side in (before, after))
    return None if before == after else (before, after)


def _of_fields(before: Any, after: Any, options: Mapping[str, str]) -> Iterator[str]:
    for field, option in options.items():
        if _changed(before, after, field):
            yield option


def _of_owner(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if _changed(before, after, "version") or _changed(before, after, "template", "spec", "version"):
        yield "kubernetes_version"
    if _changed(before, after, "template", "spec", "failureDomain"):
        yield "failure_domain"
    if _changed(before, after, "rollout", "after") or _changed(before, after, "rolloutAfter"):
        yield "rollout_after"
    if _changed(before, after, "rollout", "before") or _changed(before, after, "rolloutBefore"):
        yield "certificate_renewal_days"
    config = _changed(before, after, "kubeadmConfigSpec")
    if config:
        yield from _of_config(*config)


def _of_template(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if kind == "KubeadmConfigTemplate":
        config = _changed(before, after, "template", "spec")
        if config:
            yield from _of_config(*config)
    elif kind == "MetalStackMachineTemplate":
        spec = _changed(before, after, "template", "spec") or ({}, {})
        yield from _of_fields(spec[0], spec[1], {"size": "metalstack_size", "image": "metalstack_image"})
    elif kind == "Metal3MachineTemplate":
        spec = _changed(before, after, "template", "spec") or ({}, {})
        yield from _of_fields(spec[0], spec[1], _MACHINE)
        selector = _changed(*spec, "hostSelector") or ({}, {})
        yield from _of_fields(selector[0], selector[1], _SELECTOR)
    else:
        if _changed(before, after, "networkData"):
            yield "networks"
        data = _changed(before, after, "metaData") or ({}, {})
        for form in sorted(set(data[0] or {}) | set(data[1] or {})):
            if _changed(*data, form):
                yield "networks" if form.startswith("ipAddresses") else \
                    "node_name" if form == "objectNames" else "metadata"


def _of_config(before: Any, after: Any) -> Iterator[str]:
    yield from _of_fields(before, after, _CONFIG)
    files = _changed(before, after, "files")
    if files:
        for path in _different(*(dict((entry["path"], entry) for entry in side or []) for side in files)):
            yield cluster_registries.OPTION if path.startswith(cluster_registries.DIRECTORY + "/") \
                else _FILES.get(path, "files")
    for field, rest in (("preKubeadmCommands", "pre_commands"), ("postKubeadmCommands", "post_commands")):
        commands = _changed(before, after, field)
        if commands:
            for command in _different(*(dict.fromkeys(side or [], True) for side in commands)):
                yield next((option for mark, option in _COMMANDS.items() if mark in command), rest)
            if set(commands[0] or []) == set(commands[1] or []):
                yield rest
    users = _changed(before, after, "users")
    if users:
        for user in _different(*(dict((entry.get("name"), entry) for entry in side or []) for side in users)).values():
            yield "ssh_authorized_keys" if user.get("sshAuthorizedKeys") and user.get("lockPassword") else "users"
    for field, option in (("initConfiguration", "init_configuration"), ("joinConfiguration", "join_configuration")):
        part = _changed(before, after, field)
        if part:
            yield from _of_kubeadm(*part, option)


def _of_kubeadm(before: Any, after: Any, option: str) -> Iterator[str]:
    registration = _changed(before, after, "nodeRegistration") or ({}, {})
    yield from _of_fields(registration[0], registration[1], _REGISTRATION)
    arguments = _changed(*registration, "kubeletExtraArgs")
    if arguments:
        for name in _different(*map(_arguments, arguments)):
            yield _ARGUMENTS.get(name, "kubelet_extra_args")
    yield from _of_fields(before, after, {"patches": "kubelet_configuration", "skipPhases": "skip_phases"})
    for field in sorted(set(before or {}) | set(after or {})):
        if field not in ("nodeRegistration", "patches", "skipPhases") and _changed(before, after, field):
            yield option
    for field in sorted(set(registration[0] or {}) | set(registration[1] or {})):
        if field not in (*_REGISTRATION, "kubeletExtraArgs") and _changed(*registration, field):
            yield option


def _arguments(given: Any) -> dict[str, Any]:
    """Return kubelet's arguments by name: a list of entries in v1beta2, a dictionary in v1beta1."""
    if isinstance(given, dict):
        return given
    return dict((entry["name"], entry["value"]) for entry in given or [])


def _different(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the items that are not the same on both sides, with their newest value."""
    return dict((key, after.get(key, before.get(key))) for key in {**before, **after}
                if before.get(key) != after.get(key))
