# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is secret in objects and descriptions, and is hidden wherever they are shown; pure.

Secrets belong into Secrets (content_secret, passwdFrom), but kubeadm and cloud-init also take them in the open, and
nobody can tell what a file or a command holds. Marks say nothing of a value: who knows its digest can guess it.
"""
from __future__ import annotations

import json
import re

from .field_checks import HIDDEN
from .paired_lists import IDENTITIES, MISSING, paired
from .url_credentials import USER_INFO

CHANGED = "(hidden, changed)"

# Fields by name, as options and as Cluster API has them. Of these nothing is shown;
_DOCUMENTS = ("content", "additionalConfig")
# of these how many there are, and what tells them apart;
_TREES = ("boot_commands", "pre_commands", "post_commands", "bootCommands", "preKubeadmCommands", "postKubeadmCommands",
          "extraEnvs", "kubeConfig", "staticPodURLHeader", "strings")
# of these what they refer to, if they do. A pair of name and value goes by its name.
_NAME = re.compile(r"passw|passphrase|token$|secret$|(certificate|private|api)[_-]?key$", re.IGNORECASE)
_REFERENCE = re.compile(r"(from|secret)$", re.IGNORECASE)
# A text among these should have been a structure.
_LIST = re.compile(r"(files|users|tokens|secrets|passwords)$", re.IGNORECASE)
# In other texts: credentials in URLs, and assignments, as in options of a mount.
_PARTS = (
    re.compile(f"()({USER_INFO})"),
    re.compile(r"((?:passw\w*|passphrase|token|secret)[\"']?[ \t]*[=:][ \t]*[\"']?)([^\s,;&\"']+)", re.IGNORECASE))
# Shorter texts are parts of ordinary words.
_LEAST_CHARACTERS = 6


def hidden(value):
    """Return a copy of a structure with its secrets hidden; of objects of the kind Secret the contents are, too."""
    return _shown(value, value, set())


def hidden_difference(before, after, kind=None, reference=None):
    """Return copies of what was and what is to be, with their secrets hidden; two that differ still do.

    :param kind: kind of the object that both are parts of
    :param reference: what a new object takes the place of: only secrets that it has not are marked as changed
    """
    return (_shown(before, before, set(), kind),
            _shown(after, before or ({} if reference is None else reference), set(), kind))


def hidden_parameters(params):
    """Return a module's parameters as they may be shown.

    Documents that are given as text, by mistake or not, are not looked into: they are hidden as a whole.
    """
    return _without_documents(hidden(params))


def secret_texts(value):
    """Return the secrets of a structure, a set of texts."""
    found = set()
    _shown(value, value, found)
    return found


def without_secrets(value, texts):
    """Return a copy of a structure whose texts hold none of the given ones, as they are or as others quote them."""
    forms = set(form for text in texts for form in _forms(text) if len(form) >= _LEAST_CHARACTERS)
    return _cleaned(value, sorted(forms, key=len, reverse=True))


def _shown(value, old, found, kind=None):
    """Return a structure with its secrets hidden, those that are not in another one marked as changed.

    :param old: the other structure
    :param found: a set that the secrets are added to
    """
    if isinstance(value, dict):
        old = old if isinstance(old, dict) else {}
        return dict((key, _field(value, key, old.get(key, MISSING), found, kind or value.get("kind"))) for key in value)
    if isinstance(value, list):
        return [_shown(item, was, found) for item, was in paired(value, old)]
    return _text(value, old, found) if isinstance(value, str) else value


def _field(parent, key, old, found, kind):
    value = parent[key]
    # Only Secrets have stringData, whatever their kind is written as.
    if key == "stringData" or (key == "data" and kind == "Secret"):
        if isinstance(value, dict):
            old = old if isinstance(old, dict) else {}
            return dict((name, _mark(item, old.get(name, MISSING), found)) for name, item in value.items())
        return _mark(value, old, found)
    if key in _DOCUMENTS:
        return _mark(value, old, found)
    if key in _TREES:
        return _leaves(value, old, found)
    name = str(parent.get("name") if key == "value" else key)
    if _NAME.search(name) and not isinstance(value, bool) and not (
            isinstance(value, (dict, list)) and _REFERENCE.search(name)):
        return _leaves(value, old, found)
    if _LIST.search(name) and isinstance(value, list):
        return [_mark(item, was, found) if isinstance(item, str) else _shown(item, was, found)
                for item, was in paired(value, old)]
    return _shown(value, old, found)


def _leaves(value, old, found, element=False):
    if isinstance(value, dict):
        old = old if isinstance(old, dict) else {}
        return dict((key, item if element and key in IDENTITIES else _leaves(item, old.get(key, MISSING), found))
                    for key, item in value.items())
    if isinstance(value, list):
        return [_leaves(item, was, found, element=True) for item, was in paired(value, old)]
    return _mark(value, old, found)


def _mark(value, old, found):
    if value is None:
        return None
    found.add(value if isinstance(value, str) else json.dumps(value, default=str))
    return HIDDEN if value == old else CHANGED


def _text(value, old, found):
    secrets = _parts(value)
    found.update(secrets)
    mark = HIDDEN if isinstance(old, str) and secrets == _parts(old) else CHANGED
    for pattern in _PARTS if secrets else ():
        value = pattern.sub(lambda match: match.group(1) + mark, value)
    return value


def _parts(text):
    return [match.group(2) for pattern in _PARTS for match in pattern.finditer(text)]


def _without_documents(value):
    if isinstance(value, dict):
        return dict((key, _without_documents(item)) for key, item in value.items())
    if isinstance(value, list):
        return [_without_documents(item) for item in value]
    return HIDDEN if isinstance(value, str) and _is_document(value) else value


def _is_document(text):
    # What begins with two braces is a template of a text.
    return "\n" in text or (text.lstrip()[:1] in ("{", "[") and text.lstrip()[:2] != "{{")


def _forms(text):
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    # As Go writes JSON, which is how webhooks quote.
    escaped = plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return text.strip(), " ".join(text.split()), plain, escaped, json.dumps(text)[1:-1], repr(text)[1:-1]


def _cleaned(value, forms):
    if isinstance(value, dict):
        return dict((key, _cleaned(item, forms)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return [_cleaned(item, forms) for item in value]
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, HIDDEN)
    return value
