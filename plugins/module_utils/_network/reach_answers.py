# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked for by TCP, HTTP, TFTP and DHCP: its mistakes, and what an answer says, wherever it was asked; pure."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from .._common.redaction.redaction import before_query, redacted
from .._common.texts.plain_text import cut, plain
from . import dhcp_questions

Object = dict[str, Any]

_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")
_SCHEMES = ("http", "https")
# Of a file that is compared; one that is larger is no file to ask a network by.
LARGEST_BYTES = 64 * 1024 ** 2
_WORDS_LIMIT = 300


def problems(wanted: Mapping[str, Any]) -> list[Problem]:
    """Return the mistakes of what is to be asked, see :func:`reach.check`."""
    found = [Problem("value", f"{kind}[{position}]", "port", show(entry["port"]), "a number from 1 to 65535")
             for kind in ("tcp", "tftp") for position, entry in enumerate(wanted.get(kind) or ())
             if not 1 <= entry["port"] <= 65535]
    for position, entry in enumerate(wanted.get("tftp") or ()):
        if not entry["path"].isprintable() or not entry["path"].isascii():
            found.append(Problem("value", f"tftp[{position}]", "path", show(entry["path"]), "printable ASCII"))
    for position, entry in enumerate(wanted.get("http") or ()):
        if _scheme(entry["url"]) not in _SCHEMES:
            found.append(Problem("value", f"http[{position}]", "url", show(_shown(entry["url"])),
                                 "a URL with http or https"))
        if entry.get("sha256") and not _SHA256.match(entry["sha256"]):
            found.append(Problem("value", f"http[{position}]", "sha256", show(entry["sha256"]),
                                 "64 hexadecimal digits"))
    for position, entry in enumerate(wanted.get("dhcp") or ()):
        found += dhcp_questions.problems(f"dhcp[{position}]", entry)
    if wanted["timeout_seconds"] < 1:
        found.append(Problem("value", "network_check", "timeout_seconds", wanted["timeout_seconds"],
                             "at least 1 second"))
    return found


def pod_problems(wanted: Mapping[str, Any]) -> list[Problem]:
    """Return what of a question cannot be asked from pods, see :func:`pod_reach.check`."""
    given, found = wanted["from_pods"], []
    if wanted.get("dhcp"):
        found.append(Problem("value", "network_check", "dhcp", f"{len(wanted['dhcp'])} questions with from_pods",
                             "none: a pod is not on the wire of the provisioning network",
                             "ask for DHCP in a task of its own, from a machine"))
    for position, entry in enumerate(wanted.get("http") or ()):
        if before_query(entry["url"]) != entry["url"] or "@" in urlsplit(entry["url"]).netloc:
            found.append(Problem("value", f"http[{position}]", "url", show(_shown(entry["url"])),
                                 "a URL without login and query: everybody who may read pods would read them",
                                 "name a file that needs neither, or ask for its port by tcp"))
    if given["timeout_seconds"] < 1:
        found.append(Problem("value", "from_pods", "timeout_seconds", given["timeout_seconds"], "at least 1 second"))
    if len(set(given.get("nodes") or ())) != len(given.get("nodes") or ()):
        found.append(Problem("value", "from_pods", "nodes", ", ".join(given["nodes"]), "each node once"))
    return found


def _shown(url: str) -> str:
    return redacted(before_query(url))


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def entries(wanted: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what is asked for from anywhere, with its kind: ``tcp``, ``tftp`` and ``http`` in this order."""
    for kind in ("tcp", "tftp", "http"):
        for entry in wanted.get(kind) or ():
            yield kind, entry


def bytes_to_read(entry: Mapping[str, Any]) -> int:
    """Return how much of a file by HTTP is read: one byte shows that there is an answer."""
    return LARGEST_BYTES + 1 if entry.get("sha256") else 1


def shown(entry: tuple[str, Mapping[str, Any]], text: str, wrong: list[Problem]) -> Object:
    """Return a question with its answer, as the module ``network_check`` returns it.

    :param entry: kind and entry
    :param text: what was found
    :param wrong: the problems with it
    """
    kind, given = entry
    return {"kind": kind, "target": _target(kind, given), "name": given.get("name") or "", "ok": not wrong,
            "found": text}


def _target(kind: str, entry: Mapping[str, Any]) -> str:
    if kind == "http":
        return _shown(entry["url"])
    if kind == "dhcp":
        return str(entry["interface"])
    return f"{entry['host']}:{entry['port']}" if kind == "tcp" else f"{entry['host']}/{entry['path']}"


def _title(kind: str, entry: Mapping[str, Any]) -> str:
    target = _target(kind, entry)
    return f"{entry['name']} ({target})" if entry.get("name") else target


def of(kind: str, entry: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, list[Problem]]:
    """Return in words what was found, and what is wrong with it.

    :param kind: ``tcp``, ``tftp`` or ``http``
    :param answer: from the function of :mod:`questions`; others may have written it
    """
    return {"tcp": of_tcp, "tftp": of_tftp, "http": of_http}[kind](entry, answer)


def of_tcp(entry: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, list[Problem]]:
    """Return what :func:`of` returns, for a port."""
    text = _words(answer)
    if answer.get("reached") is entry["reachable"]:
        return text, []
    expected = "a connection" if entry["reachable"] else "no connection"
    hint = "look at the service, and at the firewalls between" if entry["reachable"] else \
        "close the port to this network"
    return text, [Problem("unreachable" if entry["reachable"] else "reachable", _title("tcp", entry), "tcp", text,
                          expected, hint)]


def of_tftp(entry: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, list[Problem]]:
    """Return what :func:`of` returns, for a file by TFTP."""
    text = _words(answer)
    if isinstance(answer.get("said"), str):
        text += ", " + show(answer["said"])
    return text, [] if answer.get("reached") is True else [Problem(
        "unreachable", _title("tftp", entry), "tftp", text, "the file's first block",
        "look at the TFTP server, its folder, and UDP port 69 on the way; an answer comes from another port, which a "
        "firewall must know")]


def of_http(entry: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, list[Problem]]:
    """Return what :func:`of` returns, for a file; another one may come from a portal, a proxy or another machine."""
    title, digest = _title("http", entry), entry.get("sha256")
    count, found = answer.get("bytes"), answer.get("sha256")
    if answer.get("reached") is not True or not isinstance(count, int) or not _SHA256.match(str(found)):
        text = _words(answer)
        return text, [Problem("unreachable", title, "http", text, "the file",
                              "look at the web server, at its certificate and ca_file, and at the firewalls between")]
    if not digest:
        return "an answer" if count else "an empty answer", [] if count else [
            Problem("unreachable", title, "http", "an empty answer", "the file", "look at the web server")]
    if count > LARGEST_BYTES:
        text = f"more than {LARGEST_BYTES // 1024 ** 2} MiB"
        return text, [Problem("value", title, "http", text, "a smaller file to compare",
                              "name another one, or leave out sha256")]
    if found == digest.lower():
        return f"{count} bytes, the right ones", []
    return f"{count} bytes, others", [Problem(
        "other-answer", title, "http", f"{count} bytes with the SHA-256 {found}", digest.lower(),
        "find out who answers: a proxy, a portal, another machine with that address, or a file that was changed")]


def _words(answer: Mapping[str, Any]) -> str:
    return cut(plain(str(answer.get("words") or "no answer")), _WORDS_LIMIT)
