# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs as data: reading, checking, choosing a context; and the strict form that may come from a Secret."""
from __future__ import annotations

import base64
import binascii
import os
from typing import Any

from ..._common.documents import yaml_bounds
from ..._common.documents.document_text import DocumentError, from_yaml
from ..._common.texts.plain_text import few
from ..responses.errors import KubeError
from .connection_values import (
    check_impersonation,
    check_proxy,
    check_server,
    check_token,
    is_text,
    kind_of,
    refused,
)

try:
    # Comes with the package kubernetes.
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

# A kubeconfig of a thousand clusters has about 5 MB.
MAX_BYTES = 16 * 1024 * 1024
# Types of fields, as errors name them; their values are not quoted, for they may be secrets.
_TEXT, _FLAG, _OBJECT = "text", "true or false", "a mapping"
_STRINGS, _OBJECTS = "a list of texts", "a list of mappings"

_CLUSTER_FIELDS = {
    "server": _TEXT, "certificate-authority": _TEXT, "certificate-authority-data": _TEXT, "tls-server-name": _TEXT,
    "proxy-url": _TEXT, "insecure-skip-tls-verify": _FLAG}
_USER_FIELDS = {
    "token": _TEXT, "tokenFile": _TEXT, "client-certificate": _TEXT, "client-certificate-data": _TEXT,
    "client-key": _TEXT, "client-key-data": _TEXT, "username": _TEXT, "password": _TEXT, "exec": _OBJECT,
    "auth-provider": _OBJECT, "as": _TEXT, "as-groups": _STRINGS, "as-uid": _TEXT, "as-user-extra": _OBJECT}
_EXEC_FIELDS = {"apiVersion": _TEXT, "command": _TEXT, "args": _STRINGS, "env": _OBJECTS, "installHint": _TEXT,
                "interactiveMode": _TEXT, "provideClusterInfo": _FLAG}
_PEM_FIELDS = ("certificate-authority-data", "client-certificate-data", "client-key-data")
_PATH_FIELDS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")

# All that a kubeconfig from a Secret may hold: what it needs and no name of anything on this machine.
_INLINE_TOP = {"apiVersion", "kind", "preferences", "clusters", "users", "contexts", "current-context"}
_INLINE = {"clusters": ("cluster", {"server", "certificate-authority-data"}),
           "users": ("user", {"client-certificate-data", "client-key-data", "token"}),
           "contexts": ("context", {"cluster", "user", "namespace"})}
_NOT_INLINE = "expected only server, certificate-authority-data, client-certificate-data, client-key-data and token"


def invalid(source: str, text: str, next_step: str = "correct it") -> KubeError:
    """Return the error of a kubeconfig that can't be used.

    :param source: where it comes from, as the reader knows it
    :param text: what is wrong, without a secret
    :param next_step: what to do
    """
    return refused(f"{source}: {text}", next_step)


def parse(content: bytes, source: str) -> dict[Any, Any]:
    """Return a kubeconfig as a dict whose lists are lists of named entries.

    :param content: bytes
    :param source: where it comes from, for messages
    :raises KubeError: when it is none
    """
    if len(content) > MAX_BYTES:
        raise invalid(source, f"found {len(content)} bytes, expected a kubeconfig of at most {MAX_BYTES}")
    try:
        config = from_yaml(content)
    except DocumentError as exc:
        place = f" (line {exc.line})" if exc.line else ""
        raise invalid(source, f"found no YAML{place}, expected a kubeconfig") from None
    return from_dict(config, source)


def from_dict(config: Any, source: str) -> dict[Any, Any]:
    """Return a kubeconfig that is parsed already as a dict whose lists are lists of named entries.

    Relative paths in it start at the present folder.

    :param config: what was parsed, of any type
    :param source: where it comes from, for messages
    :raises KubeError: when it is none
    """
    if not isinstance(config, dict):
        raise invalid(source, f"found {kind_of(config)}, expected a kubeconfig, which is a mapping")
    return dict(config, **dict((key, _named(config.get(key), key, source)) for key in _INLINE))


def _named(entries: Any, key: str, source: str) -> list[dict[str, Any]]:
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise invalid(source, f"{key}: found {kind_of(entries)}, expected a list")
    part = _INLINE[key][0]
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict) or not is_text(entry.get("name")):
            raise invalid(source, f"{key}[{position}]: expected an entry with a name")
        # kubectl writes null for a user without fields.
        if not isinstance(entry.get(part) or {}, dict):
            raise invalid(source, f"{key}[{position}].{part}: found {kind_of(entry[part])}, expected a mapping")
    return entries


def read_files(paths: list[str]) -> dict[str, Any] | None:
    """Return the kubeconfigs of several files as one, paths in them absolute; like kubectl, the first file wins.

    :param paths: list of paths; those that do not exist or are empty are left out
    :returns: the kubeconfig, None when there is none
    :raises KubeError: when one can't be read or is no kubeconfig
    """
    merged: Any = None
    for path in paths:
        source = f"kubeconfig {path}"
        try:
            with open(path, "rb") as stream:
                content = stream.read(MAX_BYTES + 1)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as exc:
            raise invalid(source, str(getattr(exc, "strerror", None) or exc), "make it a readable file") from exc
        if not content.strip():
            continue
        config = parse(content, source)
        folder = os.path.dirname(os.path.abspath(path))
        for key, entries in _INLINE.items():
            config[key] = [dict(entry, **{entries[0]: _absolute(entry.get(entries[0]) or {}, folder)})
                           for entry in config[key]]
        if merged is None:
            merged = {"clusters": [], "users": [], "contexts": []}
        for key in _INLINE:
            known = set(entry["name"] for entry in merged[key])
            merged[key] += [entry for entry in config[key] if entry["name"] not in known]
        merged["current-context"] = merged.get("current-context") or config.get("current-context")
    return merged


def _absolute(fields: dict[str, Any], folder: str) -> dict[str, Any]:
    result = dict(fields)
    for name in _PATH_FIELDS:
        if is_text(result.get(name)):
            result[name] = os.path.join(folder, result[name])
    plugin = result.get("exec")
    # A command without a slash is looked up in PATH.
    if isinstance(plugin, dict) and is_text(plugin.get("command")) and os.sep in plugin["command"]:
        result["exec"] = dict(plugin, command=os.path.join(folder, plugin["command"]))
    return result


def choose(config: dict[str, Any], context: str | None, source: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return ``(context name, cluster, user)`` of one context, checked.

    :param config: dict from :func:`parse` or :func:`read_files`
    :param context: name of the context, None for the current one
    :param source: where it comes from, for messages
    :raises KubeError: when they are not there or have mistakes
    """
    name: Any = context or config.get("current-context")
    if not is_text(name):
        raise invalid(source, f"current-context: found {kind_of(name)}, expected the name of one of its contexts",
                      "set it, or give the option context")
    chosen = _entry(config, "contexts", name, source, "correct kubeconfig or context")
    for part in ("cluster", "user"):
        if not isinstance(chosen.get(part) or "", str):
            raise invalid(source, f"context {name}: {part}: found {kind_of(chosen[part])}, expected a name")
    if not chosen.get("cluster"):
        raise invalid(source, f"context {name}: cluster: not set, expected the name of a cluster")
    cluster = _entry(config, "clusters", chosen["cluster"], source)
    user = _entry(config, "users", chosen["user"], source) if chosen.get("user") else {}
    _check(cluster, _CLUSTER_FIELDS, f"cluster {chosen['cluster']}", source)
    _check(user, _USER_FIELDS, f"user {chosen.get('user')}", source)
    check_server(cluster.get("server"), f"{source}: cluster {chosen['cluster']}: server")
    if cluster.get("proxy-url"):
        check_proxy(cluster["proxy-url"], f"{source}: cluster {chosen['cluster']}: proxy-url")
    _check_user(user, f"user {chosen.get('user')}", source)
    return name, cluster, user


def _entry(config: dict[str, Any], key: str, name: str, source: str, next_step: str = "correct it") -> dict[str, Any]:
    part = _INLINE[key][0]
    for entry in config[key]:
        if entry["name"] == name:
            return entry.get(part) or {}
    names = few(sorted(entry["name"] for entry in config[key]), 20)
    raise invalid(source, f"found no {part} named {name}, expected one of its {key}: {names or 'none'}",
                  next_step)


def _check(fields: dict[str, Any], types: dict[str, str], subject: str, source: str) -> None:
    for name, expected in types.items():
        value = fields.get(name)
        if value is None:
            continue
        if not _fits(value, expected):
            raise invalid(source, f"{subject}: {name}: found {kind_of(value)}, expected {expected}")
        if name in _PEM_FIELDS and not _is_pem(value):
            raise invalid(source, f"{subject}: {name}: expected PEM text in base64")


def _fits(value: Any, expected: str) -> bool:
    if expected in (_STRINGS, _OBJECTS):
        wanted = str if expected == _STRINGS else dict
        return isinstance(value, list) and all(isinstance(item, wanted) for item in value)
    return isinstance(value, {_TEXT: str, _FLAG: bool, _OBJECT: dict}[expected])


def _is_pem(value: str) -> bool:
    try:
        return b"-----BEGIN " in base64.b64decode(value, validate=False)
    except (binascii.Error, ValueError):
        return False


def _check_user(user: dict[str, Any], subject: str, source: str) -> None:
    if user.get("token") is not None:
        check_token(user["token"], f"{source}: {subject}: token")
    check_impersonation(user.get("as"), user.get("as-groups"), f"{source}: {subject}: as",
                        f"{source}: {subject}: as-groups")
    check_impersonation(user.get("as"), [user["as-uid"]] if user.get("as-uid") else None, f"{source}: {subject}: as",
                        f"{source}: {subject}: as-uid")
    for key, values in (user.get("as-user-extra") or {}).items():
        name = f"{source}: {subject}: as-user-extra.{_name_of(key)}"
        if not is_text(key) or not _fits(values, _STRINGS):
            raise invalid(name, f"found {kind_of(values)}, expected {_STRINGS} below a name")
        check_impersonation(user.get("as"), values, f"{source}: {subject}: as", name)
    plugin = user.get("exec")
    if plugin is not None:
        _check(plugin, _EXEC_FIELDS, f"{subject}: exec", source)
        if not plugin.get("command"):
            raise invalid(source, f"{subject}: exec: command: not set, expected a program")
        for variable in plugin.get("env") or []:
            if not is_text(variable.get("name")) or not isinstance(variable.get("value"), str):
                raise invalid(source, f"{subject}: exec: env: expected entries with name and value")
    provider = user.get("auth-provider")
    if provider is not None and not (
            is_text(provider.get("name")) and isinstance(provider.get("config") or {}, dict)):
        raise invalid(source, f"{subject}: auth-provider: expected name and config")


# From a Secret

def inline(content: bytes, source: str) -> dict[str, Any]:
    """Return a kubeconfig that came from outside, of the fields that are harmless; any other field is refused.

    A kubeconfig may name programs to run and files to read and send. One that this machine's user wrote may do so, one
    that was read from a cluster may not.

    :param content: bytes
    :param source: where it comes from, for messages
    :returns: dict with ``clusters``, ``users``, ``contexts`` and ``current-context``
    :raises KubeError: when it has anything else, or mistakes
    """
    _refuse_aliases(content, source)
    config = parse(content, source)
    refused = [_name_of(key) for key in config if key not in _INLINE_TOP]
    for key, (part, allowed) in _INLINE.items():
        for entry in config[key]:
            subject = f"{key}[{entry['name'][:100]}]"
            refused += [f"{subject}.{_name_of(name)}" for name in entry if name not in ("name", part)]
            refused += [f"{subject}.{part}.{_name_of(name)}"
                        for name in entry.get(part) or {} if name not in allowed]
    if refused:
        raise invalid(source, f"found {few(refused, 20)}, {_NOT_INLINE}",
                      "find out who wrote the Secret: its commands and files were not used")
    result: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "preferences": {},
                              "current-context": config.get("current-context")}
    for key, (part, _allowed) in _INLINE.items():
        result[key] = [{"name": entry["name"], part: dict(
            (name, value) for name, value in (entry.get(part) or {}).items() if value is not None)}
            for entry in config[key]]
    for entry in result["contexts"]:
        _name, cluster, _user = choose(result, entry["name"], source)
        if not cluster["server"].startswith("https://"):
            raise invalid(source, f"cluster of context {entry['name']}: server: found http, expected https")
        if not isinstance(entry["context"].get("namespace", ""), str):
            raise invalid(source, f"context {entry['name']}: namespace: expected text")
    choose(result, None, source)
    return result


def _refuse_aliases(content: bytes, source: str) -> None:
    """Refuse YAML that refers to other parts of itself: merges of merges fill the memory, from less than a kilobyte."""
    # What is no YAML is refused with its place, by parse().
    if yaml_bounds.has_alias(content[:MAX_BYTES]):
        raise invalid(source, "found a YAML alias, expected none", "find out who wrote the Secret")


def _name_of(key: Any) -> str:
    return str(key)[:100] if isinstance(key, (str, int)) else f"a key that is {kind_of(key)}"


def as_text(config: dict[str, Any]) -> bytes:
    """Return a kubeconfig as the bytes of a file."""
    return yaml.safe_dump(config, default_flow_style=False, sort_keys=True).encode()
