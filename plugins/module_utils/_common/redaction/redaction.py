# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only file that decides what a secret is: in URLs, inside objects and parameters, by key or by place; pure.

Texts that quote what was found here are cleaned by ``quoted_secrets.py``. What is read of Secrets themselves is taken
out of logs by ``_logs/secret_values.py``.

Secrets belong into Secrets (content_secret, passwdFrom), but kubeadm, cloud-init and Ironic's drivers also take them in
the open, and nobody knows what a file or a command holds. A mark says nothing about a value: who knows its digest
can guess it.
"""
from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..matching.paired_lists import IDENTITIES, MISSING, paired

HIDDEN = "(hidden)"
CHANGED = "(hidden, changed)"

# What stands before the last @ of the host, or of all when it has a colon with no port behind it: special characters
# of passwords are often not escaped. None is longer: of a text with many addresses each would be read to its end.
_NAME_AND_PASSWORD = r"(?!\[)[^/?#\s@:]*:(?!//)(?!\d*(?:[/?#]|$))[^\s'\"]{0,1024}"
_USER_INFO = fr"(?<=//)(?:{_NAME_AND_PASSWORD}|[^/?#\s'\"]*)(?=@)"
# Addresses may have no scheme.
_URL_CREDENTIALS = re.compile(f"{_USER_INFO}|^{_NAME_AND_PASSWORD}(?=@)")

# Of URLs alone, in a text of anybody's: without a scheme it may be the tag of an image. What is marked already stays.
_URL_LOGIN = re.compile(fr"(?<=//)(?!\(hidden|\*\*\*){_USER_INFO}")

# The query of a URL may be the signature by which an image store lets anybody read. What ends a phrase is none of it,
# and what is marked already stays.
_URL_QUERY = re.compile(r"(://[^\s'\"?#]{0,2048}\?)(?!\(hidden|\*\*\*)([^\s'\"#]{0,8192}[^\s'\"#.,;:)\]}])")

# Fields by name, as options and as the APIs have them. Of these nothing is shown;
_DOCUMENTS = ("content", "additionalConfig", "config_drive", "config_drives", "configdrive")
# of these how many there are, and what distinguishes them;
_TREES = ("boot_commands", "pre_commands", "post_commands", "bootCommands", "preKubeadmCommands", "postKubeadmCommands",
          "extraEnvs", "kubeConfig", "staticPodURLHeader", "strings")
# of these what they refer to, if they do.
_REFERENCE = re.compile(r"(from|secret)$", re.IGNORECASE)
# A text among these should have been a structure.
_LIST = re.compile(r"(files|users|tokens|secrets|passwords)$", re.IGNORECASE)
# What commands and headers are given, whatever they are part of. Ids of users and groups are numbers (docker run -u).
_GIVEN = (
    re.compile(r"(authorization[\"']{0,2}[ \t]{0,8}[:=][ \t]{0,8}[\[\"']{0,2}(?:bearer|basic)[ \t]{1,8})"
               r"([^\s\"',;\]]{6,})", re.IGNORECASE),
    re.compile(r"(x-(?:auth|subject|service)-token[\"']{0,2}[ \t]{0,8}[:=][ \t]{0,8}[\[\"']{0,2})([^\s\"',;\]]{6,})",
               re.IGNORECASE),
    re.compile(r"(\bbearer[ \t]{1,8})([\w.~+/-]{16,}=*)", re.IGNORECASE),
    re.compile(r"((?:^|\s)(?:-u|--user|--proxy-user)(?:[ \t]{1,8}|=|(?<=-u))[\"']?(?!\d+:\d+\b)[^\s:/\"'=]{1,256}:)"
               r"([^\s\"'/][^\s\"']*)"),
    re.compile(r"((?:^|\s)--(?:[a-z]{1,20}-)?(?:password|token)(?:[ \t]{1,8}|=)[\"']?)([^\s\"'-][^\s\"']*)"),
    re.compile(r"()(\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})"))
# In other texts: credentials and queries of URLs, and assignments, as in options of a mount.
_PARTS = (
    *_GIVEN,
    re.compile(f"()({_USER_INFO})"),
    _URL_QUERY,
    re.compile(r"((?:passw\w{0,40}|passphrase|token|secret)[\"']?[ \t]*[=:][ \t]*[\"']?)([^\s,;&\"']+)", re.IGNORECASE))
# Each of these patterns needs one of them.
_SIGNS = ("@", "=", ":", "--", " -", "earer", "EARER", "eyJ")
# A key in place of the path of its file.
_PRIVATE_KEY = "PRIVATE KEY-----"
# Deeper structures are hidden as a whole; Python's own limit must not be reached.
_DEEPEST = 100


class Keys(NamedTuple):
    """Which keys hold secrets.

    :param pattern: a regular expression that is searched for in the key; a pair of name and value goes by its name
    :param refers: whether a structure below a key that ends in "from" or "secret" only refers to a secret
    :param shortest: how many characters a secret has at least that is looked for in other texts
    """

    pattern: re.Pattern[str]
    refers: bool
    shortest: int


# Kubernetes objects and this collection's options. Texts of fewer characters are parts of ordinary words.
OBJECT_KEYS = Keys(re.compile(
    r"passw|passphrase|token$|secret$|(certificate|private|api|access)[_-]?key$|client-key-data$", re.IGNORECASE),
    True, 6)
# Ironic's driver_info and instance_info, with the keys that oslo.utils masks (oslo_utils/strutils.py).
NODE_KEYS = Keys(re.compile(
    "adminpass|admin_pass|password|auth_token|new_pass|secret|sys_pswd|token|configdrive|encrypted_key|private_key"
    "|fernetkey|sslkey|passphrase|snmp_community|auth_key|priv_key", re.IGNORECASE), False, 1)


def redacted(text: str, mark: str = "***") -> str:
    """Return a text with the user names, passwords and queries of its URLs hidden.

    :param mark: what is in their place
    """
    text = _URL_CREDENTIALS.sub(mark, text) if "@" in text else text
    return _URL_QUERY.sub(lambda match: match.group(1) + mark, text) if "?" in text else text


def without_given(text: str) -> str:
    """Return a text in which passwords and tokens of headers and of commands' options are hidden."""
    for pattern in _GIVEN:
        text = pattern.sub(lambda match: match.group(1) + HIDDEN, text)
    return text


def before_query(text: str) -> str:
    """Return an address without a scheme, or what is said of one, up to its query."""
    return text.partition("?")[0]


def without_url_secrets(value: Any) -> Any:
    """Return a copy of a structure whose texts have no queries, user names and passwords of URLs."""
    return with_texts(value, _without_url_secrets)


def _without_url_secrets(text: str) -> str:
    text = _URL_LOGIN.sub(HIDDEN, text) if "@" in text else text
    return _URL_QUERY.sub(lambda match: match.group(1) + HIDDEN, text) if "?" in text else text


def with_texts(value: Any, change: Callable[[str], str], with_keys: bool = False) -> Any:
    """Return a copy of a structure with each of its texts changed; tuples become lists.

    :param value: of dicts, lists and tuples; what else is in it stays
    :param change: callable that takes a text and returns what is in its place
    :param with_keys: whether keys that are texts are changed, too
    """
    if isinstance(value, dict):
        return dict((change(key) if with_keys and isinstance(key, str) else key, with_texts(item, change, with_keys))
                    for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return [with_texts(item, change, with_keys) for item in value]
    return change(value) if isinstance(value, str) else value


def leaves(value: Any) -> Iterator[Any]:
    """Return what a structure holds that is no structure itself, of any type, in no certain order.

    :param value: of dicts, whose keys are left out, lists, tuples and sets
    """
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left.extend(item.values())
        elif isinstance(item, (list, tuple, set)):
            left.extend(item)
        else:
            yield item


def is_secret_key(key: Any) -> bool:
    """Return whether a key of a node's driver_info or instance_info holds a secret, for example redfish_password."""
    return NODE_KEYS.pattern.search(f"{key}") is not None


def hidden(value: Any, keys: Keys = OBJECT_KEYS) -> Any:
    """Return a copy of a structure with its secrets hidden; of objects of the kind Secret the contents are, too.

    :param keys: which keys hold secrets
    """
    return _Walk(keys).shown(value, value)


def hidden_difference(before: Any, after: Any, kind: str | None = None, reference: Any = None) -> tuple[Any, Any]:
    """Return copies of what was and what will be, with their secrets hidden; two that differ still do.

    :param kind: kind of the object that both are parts of
    :param reference: what a new object replaces: only secrets that it has not are marked as changed
    """
    walk = _Walk(OBJECT_KEYS)
    return (walk.shown(before, before, kind),
            walk.shown(after, before or ({} if reference is None else reference), kind))


def hidden_parameters(params: Mapping[str, Any], spec: Mapping[str, Any] | None = None,
                      keys: Keys = OBJECT_KEYS) -> dict[str, Any]:
    """Return a module's parameters as they may be shown.

    Hidden are options with ``no_log``, values of options that do not exist (a password under a mistyped name), secrets
    inside structures, credentials in URLs, and documents given as text, which are not parsed.

    :param params: the module's parameters, of any type
    :param spec: its argument spec; without it, secrets are found by their keys only
    :param keys: which keys hold secrets
    """
    return read_parameters(params, spec, keys).shown


class Parameters(NamedTuple):
    """A module's parameters: as they may be shown, and the secrets in them.

    :ivar shown: see :func:`hidden_parameters`
    :ivar named: secrets by the name of their option or key
    :ivar placed: what is hidden for its place only: commands, contents of files and of Secrets
    """

    shown: dict[str, Any]
    named: set[str]
    placed: set[str]


def read_parameters(params: Mapping[str, Any], spec: Mapping[str, Any] | None = None,
                    keys: Keys = OBJECT_KEYS) -> Parameters:
    """Return parameters without their secrets, and these, by one way through them; see :func:`hidden_parameters`."""
    walk = _Walk(keys)
    shown = walk.shown(params, params) if spec is None else walk.options(params, spec)
    return Parameters(with_texts(shown, _without_document), walk.named, walk.placed)


def secret_texts(value: Any, spec: Mapping[str, Any] | None = None, keys: Keys = OBJECT_KEYS,
                 named_only: bool = False) -> set[str]:
    """Return the secrets of a structure.

    :param spec: argument spec when the structure is a module's parameters
    :param keys: which keys hold secrets
    :param named_only: leave out what is hidden for its place only: commands, contents of files and of Secrets
    """
    walk = _Walk(keys)
    if spec is None:
        walk.shown(value, value)
    else:
        walk.options(value, spec)
    return walk.named if named_only else walk.named | walk.placed


class _Nature(NamedTuple):
    """What the name of a key says of its value.

    :ivar secret: it is a secret
    :ivar reference: a structure below it only refers to a secret
    :ivar collection: it is a list of what should have been structures
    """

    secret: bool
    reference: bool
    collection: bool


# The names of a structure are few, and repeated in each of a thousand hosts.
@functools.lru_cache(maxsize=4096)
def _nature(name: str, keys: Keys) -> _Nature:
    return _Nature(bool(keys.pattern.search(name)), keys.refers and bool(_REFERENCE.search(name)),
                   bool(_LIST.search(name)))


class _Walk:
    """One way through a structure, which collects its secrets and returns it without them.

    :param keys: a Keys
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.named: set[str] = set()
        self.placed: set[str] = set()

    def options(self, values: Any, spec: Mapping[str, Any]) -> Any:
        """Return parameters by their argument spec; Ansible's own (_ansible_check_mode …) are left out."""
        if not isinstance(values, dict):
            return None if values is None else self._mark(values, values)
        return dict((name, self._option(values, name, spec.get(name))) for name in values
                    if not str(name).startswith("_ansible_"))

    def _option(self, values: dict[str, Any], name: str, option: Any) -> Any:
        value = values[name]
        if value is None:
            return None
        if option is None or option.get("no_log"):
            return self._mark(value, value)
        if name in _DOCUMENTS:
            return self._mark(value, value, False)
        if option.get("options") and option.get("type") == "list" and isinstance(value, list):
            return [self.options(item, option["options"]) for item in value]
        if option.get("options"):
            return self.options(value, option["options"])
        if option.get("no_log") is False and isinstance(value, str):
            return self._text(value, value)
        return self._field(values, name, value, None, 0)

    def shown(self, value: Any, old: Any, kind: Any = None, depth: int = 0) -> Any:
        """Return a structure with its secrets hidden, those that are not in another one marked as changed.

        :param old: the other structure
        """
        if isinstance(value, (dict, list, tuple)) and depth > _DEEPEST:
            return HIDDEN if value == old else CHANGED
        if isinstance(value, dict):
            old = old if isinstance(old, dict) else {}
            return dict((key, self._field(value, key, old.get(key, MISSING), kind or value.get("kind"), depth + 1))
                        for key in value)
        if isinstance(value, (list, tuple)):
            return [self.shown(item, was, depth=depth + 1) for item, was in self._paired(value, old)]
        return self._text(value, old) if isinstance(value, str) else value

    def _field(self, parent: dict[str, Any], key: str, old: Any, kind: Any, depth: int) -> Any:
        value = parent[key]
        if value is None:
            return None
        # Only Secrets have stringData, whatever their kind is written as.
        if key == "stringData" or (key == "data" and kind == "Secret"):
            if isinstance(value, dict):
                old = old if isinstance(old, dict) else {}
                return dict((name, self._mark(item, old.get(name, MISSING), False)) for name, item in value.items())
            return self._mark(value, old, False)
        if key in _DOCUMENTS:
            return self._mark(value, old, False)
        if key in _TREES:
            return self._below(value, old, depth, False)
        name = _nature(str(parent.get("name") if key == "value" else key), self._keys)
        if name.secret and not isinstance(value, bool) and not (name.reference and isinstance(value, (dict, list))):
            return self._below(value, old, depth, True)
        if name.collection and isinstance(value, list):
            return [self._mark(item, was) if isinstance(item, str) else self.shown(item, was, depth=depth + 1)
                    for item, was in self._paired(value, old)]
        return self.shown(value, old, depth=depth)

    def _below(self, value: Any, old: Any, depth: int, named: bool, element: bool = False) -> Any:
        """Return a structure of which everything is secret."""
        if isinstance(value, (dict, list)) and depth > _DEEPEST:
            return HIDDEN if value == old else CHANGED
        if isinstance(value, dict):
            old = old if isinstance(old, dict) else {}
            return dict((key, item if element and key in IDENTITIES else self._below(
                item, old.get(key, MISSING), depth + 1, named)) for key, item in value.items())
        if isinstance(value, list):
            return [self._below(item, was, depth + 1, named, element=True) for item, was in self._paired(value, old)]
        return self._mark(value, old, named)

    def _paired(self, value: Any, old: Any) -> list[tuple[Any, Any]]:
        # Where nothing is compared, elements need not be paired, which takes time and a depth of its own.
        return [(item, item) for item in value] if value is old else paired(value, old)

    def _mark(self, value: Any, old: Any, named: bool = True) -> Any:
        # What is marked already stays so.
        if value is None or value in ("", HIDDEN, CHANGED):
            return value
        (self.named if named else self.placed).add(value if isinstance(value, str) else json.dumps(value, default=str))
        return HIDDEN if value == old else CHANGED

    def _text(self, value: str, old: Any) -> str:
        if _PRIVATE_KEY in value:
            return self._mark(value, old)
        secrets = _parts(value)
        if not secrets:
            return value
        self.named.update(secrets)
        mark = HIDDEN if isinstance(old, str) and secrets == _parts(old) else CHANGED
        for pattern in _PARTS:
            value = pattern.sub(lambda match: match.group(1) + mark, value)
        return value


def _parts(text: str) -> list[str]:
    if not any(sign in text for sign in _SIGNS):
        return []
    return [match.group(2) for pattern in _PARTS for match in pattern.finditer(text) if match.group(2)]


def _without_document(text: str) -> str:
    # Credentials in addresses without a scheme, which elsewhere may be tags of images.
    return HIDDEN if _is_document(text) else text if HIDDEN in text else redacted(text)


def _is_document(text: str) -> bool:
    # What begins with two braces is a template of a text.
    return "\n" in text or (text.lstrip()[:1] in ("{", "[") and text.lstrip()[:2] != "{{")
