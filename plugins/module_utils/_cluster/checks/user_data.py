# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for what becomes the user data and meta data of a group's machines; pure."""
from __future__ import annotations

import re

from ..._common.options.field_checks import show, shown, type_name
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription, Group
from ..description.spec import METAL3
from ..render import kubeadm as cluster_kubeadm

_METADATA_FORMS = ("strings", "objectNames", "indexes", "namespaces", "ipAddressesFromPool", "prefixesFromPool",
                   "gatewaysFromPool", "fromHostInterfaces", "fromLabels", "fromAnnotations")
_PERMISSIONS = re.compile(r"^0?[0-7]{3,4}$")


def metadata_problems(subject: str, field: str, group: Group) -> list[Problem]:
    """Return what CAPM3 does not take as meta data."""
    found, keys = [], []
    for form, entries in (group.get("metadata") or {}).items():
        if form == "dnsServersFromPool":
            found.append(Problem("user-data", subject, f"{field}.metadata.{form}", "%d entr%s" % (
                len(entries or []), "y" if len(entries or []) == 1 else "ies"),
                "none (CAPM3 1.13 takes an address of the pool for it and writes nothing into the meta data)",
                "the pool's DNS servers are in the network data already"))
            continue
        if form not in _METADATA_FORMS:
            found.append(Problem("user-data", subject, f"{field}.metadata.{form}", show(form),
                                 f"one of {', '.join(_METADATA_FORMS)}"))
            continue
        for number, entry in enumerate(entries or []):
            where = f"{field}.metadata.{form}[{number}]"
            key = entry.get("key") if isinstance(entry, dict) else None
            if not key or isinstance(key, (dict, list)):
                found.append(Problem("user-data", subject, where + ".key", None if not key else show(key), "a key"))
                continue
            keys.append(entry["key"])
            if form == "fromHostInterfaces" and bool(entry.get("fromBootMAC")) == bool(entry.get("interface")):
                found.append(
                    Problem("user-data", subject, where, shown(entry),
                            "either interface or fromBootMAC (CAPM3 webhook)")
                )
    for key in sorted(set(key for key in keys if keys.count(key) > 1)):
        found.append(Problem("user-data", subject, field + ".metadata", f"key {key} twice", "one entry for each key"))
    return found


def file_problems(subject: str, field: str, description: ClusterDescription, group: Group) -> list[Problem]:
    """Return the mistakes in the files of a group's machines."""
    found, paths = [], cluster_kubeadm.generated_paths(description, group)
    for number, entry in enumerate(group.get("files") or []):
        where = f"{field}.files[{number}]"
        if not entry["path"].startswith("/"):
            found.append(Problem("user-data", subject, where + ".path", shown(entry["path"]), "an absolute path"))
        if entry["path"] in paths:
            found.append(Problem("user-data", subject, where + ".path", f"{entry['path']} twice",
                                 "each path once, even with append (KubeadmConfig webhook)"))
        paths.append(entry["path"])
        if (entry.get("content") is None) == (not entry.get("content_secret")):
            found.append(Problem("user-data", subject, where, "both or neither", "either content or content_secret"))
        if entry.get("permissions") and not _PERMISSIONS.match(str(entry["permissions"])):
            found.append(
                Problem("user-data", subject, where + ".permissions", shown(entry["permissions"]),
                        "octal digits such as 0644")
            )
        if not entry.get("encoding"):
            found += _jinja(subject, where + ".content", entry.get("content") or "")
    return found


def user_problems(subject: str, field: str, group: Group) -> list[Problem]:
    """Return the mistakes in the users of a group's machines."""
    found = []
    for number, user in enumerate(group.get("users") or []):
        where = f"{field}.users[{number}]"
        if not user.get("name"):
            found.append(Problem("user-data", subject, where + ".name", None, "a name"))
        # These the API server would refuse with the password in its log.
        if not isinstance(user.get("passwd") or "", str):
            found.append(Problem("user-data", subject, where + ".passwd", type_name(user["passwd"]), "a text"))
        if user.get("passwd") and user.get("passwdFrom"):
            found.append(
                Problem("user-data", subject, where, "passwd and passwdFrom", "one of them (KubeadmConfig webhook)")
            )
    return found


def command_problems(subject: str, field: str, group: Group) -> list[Problem]:
    """Return the commands that cloud-init cannot read."""
    found = []
    for option in ("boot_commands", "pre_commands", "post_commands"):
        for number, command in enumerate(group.get(option) or []):
            found += _jinja(subject, f"{field}.{option}[{number}]", command)
    return found


def _jinja(subject, where, text):
    """Cloud-init renders the whole user data as a Jinja template: an unfinished tag makes it unreadable."""
    for opening, closing in (("{#", "#}"), ("{%", "%}"), ("{{", "}}")):
        if text.count(opening) > text.count(closing):
            return [Problem("user-data", subject, where, f"{opening} without {closing}", "text that Jinja can read",
                            f"cloud-init renders user data as a Jinja template: write it as {{{{ '{opening}' }}}}, or "
                            "give a file's content in base64")]
    return []


def ignition_problem(subject: str, message: str) -> Problem | None:
    """Return what to do about a refusal of Cluster API whose feature for Ignition is switched off, None for others.

    :param message: of the refusal (``kubeadmconfig_webhook.go`` of Cluster API)
    """
    if "KubeadmBootstrapFormatIgnition feature gate" not in message:
        return None
    return Problem(
        "user-data", subject, "user_data_format", "Ignition",
        "Cluster API with its feature gate KubeadmBootstrapFormatIgnition, which is off",
        "set capi_options: {feature_gates: {KubeadmBootstrapFormatIgnition: true}} and run the playbook that starts "
        "the plane (install), or set user_data_format: cloud-config")


def ignition_warning(subject: str, description: ClusterDescription, group: Group) -> str | None:
    """Return a line on templates that nobody renders on a group's machines, None when there are none."""
    if description.provider != METAL3 or group.get("user_data_format") != "ignition":
        return None
    return (f"{subject}: {group.field}.user_data_format: Ignition renders no template; unless pre_commands replace "
            f"them in /etc/kubeadm.yml, {cluster_kubeadm.NODE_NAME} and {cluster_kubeadm.UUID_LABEL} stay as they are, "
            "the kubelet does not start, and no Node is found; use cloud-config")
