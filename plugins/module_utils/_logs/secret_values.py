# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of Secrets and of files with secrets, and how they are cut out of texts; pure."""
from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from .._common.documents import yaml_bounds
from .._common.documents.document_text import HAS_YAML, from_yaml_all
from .._common.matching.occurring_texts import Texts
from .._common.redaction import quoted_secrets, redaction
from .._kube.kinds.resources import TOKEN_TYPE

Object = dict[str, Any]

# Shorter ones are parts of ordinary words.
SHORTEST = redaction.OBJECT_KEYS.shortest
_OPEN_KEYS = ("ca.crt", "tls.crt", "format")
_USERNAME, _PASSWORD = "username", "password"
# The contents of a file that is hidden for its place only; shorter ones are words that logs have, too.
_LONG = 16
_DEEPEST = 3
_LONGEST_DOCUMENT = 1024 ** 2
_HASH = re.compile(r"^[^:\s]+:(\$\S+)$", re.MULTILINE)
# As chpasswd has them in user data, several in one value.
_LOGIN = re.compile(r"^[^:\s]+:(?!//)(\S+)[ \t]*$", re.MULTILINE)
_KEY = "PRIVATE KEY-----"
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_END = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
_LONGEST_KEY = 20000
# A block that has no end is hidden up to the first character that is not part of one; in a log, times may be between.
_KEY_REST = re.compile(r"[\w+/=\s\\:.,-]{0,20000}")
_KEY_TAIL = re.compile(r"[A-Za-z0-9+/=]{16}")


def of_secret(secret: Object) -> set[str]:
    """Return the values of a Secret that no text may have, as they are stored and decoded, with those inside of them.

    User names, certificates and the format of user data are no secrets.

    :param secret: a Secret as the API server has it
    """
    data = secret.get("data")
    found, texts = set(), {}
    for key, stored in data.items() if isinstance(data, dict) else ():
        # Its token is secret; hidden everywhere would be the name of a namespace.
        if not isinstance(stored, str) or (key == "namespace" and secret.get("type") == TOKEN_TYPE):
            continue
        text = _decoded(stored)
        if text is not None:
            texts[str(key)] = text
        if not _is_open(str(key)) and (text is None or len(text.strip()) >= SHORTEST):
            found.add(stored)
    return found | of_texts(texts)


def of_texts(texts: Mapping[str, str]) -> set[str]:
    """Return the values that no text may have, with those inside of them.

    :param texts: what belongs together, as the keys of a Secret or the files of a folder, by name
    """
    found = set()
    for name, text in texts.items():
        if _is_open(name) or len(text.strip()) < SHORTEST:
            continue
        found |= _inside(text)
        user = texts.get(f"{name[:-len(_PASSWORD)]}{_USERNAME}") if name.endswith(_PASSWORD) else None
        if user is not None:
            # As HTTP has them.
            found.add(base64.b64encode(f"{user.strip()}:{text.strip()}".encode()).decode())
    return found


def _is_open(name: str) -> bool:
    return name in _OPEN_KEYS or name.lower().endswith(_USERNAME)


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _inside(text: str, depth: int = 0) -> set[str]:
    """Return a value and the single values inside of it: of kubeconfigs, user data, files with passwords, keys."""
    found = {text}
    if depth > _DEEPEST:
        return found
    if _KEY in text:
        found.update(line.strip() for line in text.splitlines() if _is_of_key(line))
    found.update(_HASH.findall(text))
    for part in (text, *_documents(text)):
        named = redaction.secret_texts(part, named_only=True)
        named.update(login for item in list(named) for login in _LOGIN.findall(item))
        placed = set(item for item in redaction.secret_texts(part) - named if len(item) >= _LONG)
        for item in (named | placed | set(_registry_logins(part))) - found:
            found |= _inside(item, depth + 1)
    inner = _decoded(text)
    return found | _inside(inner, depth + 1) if inner and "\n" in inner else found


def _documents(text: str) -> list[Any]:
    """Return the YAML documents of a text that has a structure; JSON is YAML, too."""
    if not HAS_YAML or len(text) > _LONGEST_DOCUMENT or not ("\n" in text or text.lstrip()[:1] in ("{", "[")):
        return []
    # A small text with aliases may stand for a structure of any size.
    if yaml_bounds.has_alias(text):
        return []
    try:
        return [item for item in from_yaml_all(text) if isinstance(item, (dict, list))]
    except ValueError:
        return []


def _registry_logins(document: Any) -> Iterator[str]:
    logins = document.get("auths") if isinstance(document, dict) else None
    for login in logins.values() if isinstance(logins, dict) else ():
        auth = login.get("auth") if isinstance(login, dict) else None
        if isinstance(auth, str):
            yield auth
            yield (_decoded(auth) or "").partition(":")[2]


class Hiding:
    """Takes secrets out of texts.

    :param values: the secrets
    """

    def __init__(self, values: Iterable[str]) -> None:
        # The mark itself must stay what it is.
        self._forms = Texts((form for value in values if len(value.strip()) >= SHORTEST for form in _quoted(value)
                             if len(form) >= SHORTEST and form not in redaction.HIDDEN), SHORTEST)

    def text(self, text: str) -> tuple[str, int]:
        """Return a text in which secrets are hidden, and how many they were.

        Besides the given values these are private keys, logins and queries of URLs, and what headers and commands have.

        :param text: of any origin
        """
        count = 0
        for form in sorted(self._forms.occurring_in(text), key=len, reverse=True):
            count += text.count(form)
            text = text.replace(form, redaction.HIDDEN)
        if _KEY in text:
            text, keys = _without_key_blocks(text)
            text, ends = _without_key_ends(text)
            count += keys + ends
        lines = text.split("\n")
        shown = [redaction.without_given(redaction.redacted(line, redaction.HIDDEN)) for line in lines]
        count += sum(before != after for before, after in zip(lines, shown))
        return "\n".join(shown), count

    def structure(self, value: Any) -> tuple[Any, int]:
        """Return a structure in whose keys and texts secrets are hidden, and how many they were.

        Before it is written: what YAML folds or escapes would no longer be found.

        :param value: of dictionaries, lists and what JSON has
        """
        counts = []

        def change(text: str) -> str:
            text, count = self.text(text)
            counts.append(count)
            return text

        return redaction.with_texts(value, change, with_keys=True), sum(counts)


def marks(value: Any) -> int:
    """Return how many values of a structure are hidden."""
    return json.dumps(value, default=str).count(redaction.HIDDEN)


def _quoted(value: str) -> set[str]:
    bare = value.strip()
    return {*quoted_secrets.forms(value), *quoted_secrets.forms(bare), quote(bare, safe="", errors="replace"),
            quote_plus(bare, errors="replace")}


def _is_of_key(line: str) -> bool:
    """Say whether a line ends like one of a private key's; in a time that grows with its length, whoever wrote it."""
    return _KEY_TAIL.fullmatch(line.rstrip()[-16:]) is not None


def _without_key_blocks(text: str) -> tuple[str, int]:
    """Hide private keys with what is between their beginning and their end, and return how many they were."""
    ends = [(found.start(), found.end()) for found in _KEY_END.finditer(text)]
    parts, done, count, next_end = [], 0, 0, 0
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while next_end < len(ends) and ends[next_end][0] < begin.end():
            next_end += 1
        parts += [text[done:begin.start()], redaction.HIDDEN]
        count += 1
        if next_end < len(ends) and ends[next_end][0] - begin.end() <= _LONGEST_KEY:
            done = ends[next_end][1]
        else:
            rest = _KEY_REST.match(text, begin.end())
            done = rest.end() if rest else begin.end()
    return "".join([*parts, text[done:]]), count


def _without_key_ends(text: str) -> tuple[str, int]:
    """Hide private keys whose beginning is not there, because only the newest part of a log is kept."""
    if not _KEY_END.search(text):
        return text, 0
    lines, count = text.split("\n"), 0
    for number, line in enumerate(lines):
        if not _KEY_END.search(line):
            continue
        lines[number] = redaction.HIDDEN
        count += 1
        above = number - 1
        while above >= 0 and _is_of_key(lines[above]):
            lines[above] = redaction.HIDDEN
            above -= 1
    return "\n".join(lines), count
