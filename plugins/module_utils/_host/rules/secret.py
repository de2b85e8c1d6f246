# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets of hosts: those that entries write, and those in the cluster that they name; pure."""
from __future__ import annotations

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.objects.finalizers import staying_problem
from ..description import fields as host_fields
from ..description.named_secrets import named_secrets
from ..description.objects import (
    MANAGED_BY_LABEL,
    MANAGER,
    credentials_secret,
    credentials_secret_name,
    data_options,
    data_secret_name,
    data_secrets,
    guarded_options,
    has_inline_credentials,
    is_own_data,
    stored_secret_name,
    without_deployment,
)
from . import data as data_rules
from . import oci_auth


def check_shared(labelled):
    """Return the Problems of entries that would write one Secret with different contents.

    :param labelled: list of ``(label, host)``
    """
    problems, writers = [], {}
    for label, host in labelled:
        if host.get("state") == "absent":
            continue
        bmc = host.get("bmc") or {}
        wanted = []
        if has_inline_credentials(bmc):
            wanted.append(("bmc.credentials_name", credentials_secret_name(host), (bmc["username"], bmc["password"])))
        for option in data_options(host):
            wanted.append((option + ".name", data_secret_name(host, option), (option, host[option]["content"])))
        for field, name, content in wanted:
            other = writers.setdefault(name, (label, field, content))
            if other[2] != content:
                problems.append(Problem("host-duplicate", label, field, show(name),
                                        f"a Secret of its own ({other[0]} writes other contents to it)",
                                        "choose another name"))
    return problems


def check_written(host, named, current, secrets, namespace, forced=(), deploys=True):
    """Return the Problems of an entry that would overwrite Secrets of hosts that are not in the run, or of others.

    :param named: set of the names of all entries
    :param current: ``{name: BareMetalHost}`` of the namespace
    :param secrets: ``{name: Secret}`` of the namespace
    :param namespace: its name
    :param forced: names of hosts for which the consumer's protection is lifted
    :param deploys: whether images, custom deployments and their data are written
    """
    return _overwritten_credentials(host, named, current, secrets, namespace) + _overwritten_data(
        host if deploys else without_deployment(host), named, current, secrets, forced)


def _overwritten_credentials(host, named, current, secrets, namespace):
    wanted, name = credentials_secret(host, namespace), credentials_secret_name(host)
    stored = (secrets.get(name) or {}).get("data") or {}
    if wanted is None or name not in secrets or all(stored.get(key) == value for key, value in wanted["data"].items()):
        return []
    others = sorted(other for other, bmh in current.items() if other not in named
                    and stored_secret_name(bmh) == name)
    return [Problem("host-duplicate", host["name"], "bmc.credentials_name",
                    f"Secret {name} with another user name or password",
                    f"its content, because hosts that are not in the run log in with it: {', '.join(others)}",
                    "run on all of them together, or choose another name")] if others else []


def _overwritten_data(host, named, current, secrets, forced):
    # One that this collection has not written would get the host as its owner, and be deleted with it.
    problems = []
    guarded = guarded_options(current.get(host["name"]), host["name"] in forced)
    for option in data_options(host):
        field, name = option + ".name", data_secret_name(host, option)
        stored = secrets.get(name)
        if stored is None or option in guarded:
            continue
        if not is_own_data(stored):
            problems.append(Problem(
                "owned-by-others", host["name"], field, f"Secret {name}, which others have made",
                f"a new name, or a Secret of this collection (label {MANAGED_BY_LABEL}: {MANAGER}) that holds data of "
                "hosts alone", f"choose another name, or leave out {option}.content to use the Secret as it is"))
            continue
        others = sorted(other for other, bmh in current.items() if other not in named
                        and name in (used for _field, used in named_secrets(bmh)))
        wanted, = data_secrets({"name": host["name"], option: host[option]}, "")
        if others and (stored.get("data") or {}) != wanted["data"]:
            problems.append(Problem(
                "host-duplicate", host["name"], field, f"Secret {name} with other content",
                f"its content, because hosts that are not in the run have it: {', '.join(others)}",
                "run on all of them together, or choose another name"))
    return problems


def check_stored(host, secrets, namespace):
    """Return the Problems of Secrets that an entry names or writes and that BMO could not use.

    :param secrets: ``{name: Secret}`` of the namespace
    :param namespace: its name, for messages
    """
    problems = []
    bmc = host.get("bmc") or {}
    name = bmc.get("credentials_name")
    if name or has_inline_credentials(bmc):
        # BMO's finalizer keeps it while the host uses it, so that its deletion may have been asked for long ago.
        stored = credentials_secret_name(host)
        problems += staying_problem(host["name"], "bmc.credentials_name", secrets.get(stored), f"Secret {stored}")
    if name and not has_inline_credentials(bmc):
        secret = secrets.get(name)
        if secret is None:
            problems.append(Problem("unknown-secret", host["name"], "bmc.credentials_name", show(name),
                                    f"a Secret in namespace {namespace}",
                                    "create it, or give bmc.username and bmc.password"))
        else:
            missing = [key for key in ("username", "password") if not (secret.get("data") or {}).get(key)]
            if missing:
                problems.append(Problem("unknown-secret", host["name"], "bmc.credentials_name", show(name),
                                        f"a Secret with username and password (it lacks {' and '.join(missing)})",
                                        "correct the Secret, or give bmc.username and bmc.password"))
    for option, key in host_fields.DATA_KEYS.items():
        data = host.get(option) or {}
        if data.get("name") and data.get("content") is None:
            secret = secrets.get(data["name"])
            if secret is None:
                problems.append(Problem("unknown-secret", host["name"], option + ".name", show(data["name"]),
                                        f"a Secret in namespace {namespace}; BMO would wait for it in silence",
                                        f"create it, or give {option}.content"))
            elif not {key, "value"} & set(secret.get("data") or {}):
                problems.append(Problem("unknown-secret", host["name"], option + ".name", show(data["name"]),
                                        f"a Secret with the key {key} or value", "correct the Secret"))
            else:
                problems += data_rules.check_secret(host["name"], option, data["name"], secret)
    auth = (host.get("image") or {}).get("oci_auth_secret_name")
    if auth and secrets.get(auth) is None:
        problems.append(Problem("unknown-secret", host["name"], "image.oci_auth_secret_name", show(auth),
                                f"a Secret in namespace {namespace}", "create it"))
    elif auth:
        fault = oci_auth.fault(secrets[auth], host["image"].get("url") or "")
        if fault:
            problems.append(Problem(
                "unknown-secret", host["name"], "image.oci_auth_secret_name", f"{show(auth)}: {fault[0]}", fault[1],
                "make it by kubectl create secret docker-registry"))
    return problems
