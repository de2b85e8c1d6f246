# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking image servers. What they answer is data: no other kind of URL is followed, nothing is read without end."""
from __future__ import annotations

import http.client
import time
import urllib.error
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin, urlsplit

from ansible.module_utils.urls import ConnectionError as OpenUrlError
from ansible.module_utils.urls import open_url

from .redaction import redacted

_TIMEOUT_SECONDS = 15
# A server that sends a byte now and then does not keep a run waiting for longer.
_READING_SECONDS = 60
_CHUNK_BYTES = 65536
_REDIRECTIONS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
# Answers to HEAD that say nothing of the image.
_HEAD_REFUSED = (403, 405)
_LONGEST_REASON = 200


def image_fetcher(ca_file: Any = None, reading_seconds: float = _READING_SECONDS) -> Callable[..., Any]:
    """Return a callable ``(url, limit)`` for ``cluster_image.reachability_problems``.

    :param ca_file: path of a file with the image server's certificate authority; the system's when left out
    :param reading_seconds: how long an answer may take as a whole
    """
    def fetch(url: str, limit: int) -> bytes:
        method, headers = "GET" if limit else "HEAD", None
        for _number in range(_REDIRECTIONS):
            try:
                # Credentials of the user's netrc are not for servers that an inventory or an answer names.
                with open_url(url, method=method, headers=headers, ca_path=ca_file, timeout=_TIMEOUT_SECONDS,
                              follow_redirects="none", use_netrc=False) as response:
                    return _read(response, limit, reading_seconds)
            except urllib.error.HTTPError as exc:
                if method == "HEAD" and exc.code in _HEAD_REFUSED:
                    # Signed URLs, for example, are for GET only: nothing is read of the answer.
                    method, headers = "GET", {"Range": "bytes=0-0"}
                    continue
                if exc.code not in _REDIRECTS or not exc.headers.get("Location"):
                    raise OSError(_short("HTTP %d %s" % (exc.code, exc.reason))) from exc
                url = _redirected(url, exc.headers["Location"])
            except urllib.error.URLError as exc:
                raise OSError(_short(exc.reason)) from exc
            except (OpenUrlError, http.client.HTTPException, ValueError) as exc:
                raise OSError(_short(f"{type(exc).__name__}: {_without_query(str(exc))}")) from exc
        raise OSError("more than %d redirections" % (_REDIRECTIONS - 1))
    return fetch


def _redirected(url: str, location: str) -> str:
    """Return where a redirection leads to, when it may be followed.

    :raises OSError: when it leads to another kind of URL, or away from TLS
    """
    try:
        new = urljoin(url, location)
        scheme = urlsplit(new).scheme
    except ValueError:
        scheme = None
    if scheme not in ("http", "https") or (scheme == "http" and urlsplit(url).scheme == "https"):
        raise OSError(_short("a redirection to %s, expected https%s" % (
            redacted(_without_query(location)), "" if urlsplit(url).scheme == "https" else " or http")))
    return new


def _without_query(text: str) -> str:
    """Return a URL, or what is said of one, up to its query: that may be the signature of an image store."""
    return text.split("?", 1)[0]


def _read(response: Any, limit: int, reading_seconds: float) -> bytes:
    parts, size, deadline = [], 0, time.monotonic() + reading_seconds
    while size < limit:
        part = response.read1(min(_CHUNK_BYTES, limit - size))
        if not part:
            break
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise OSError("no complete answer within %d s" % reading_seconds)
    return b"".join(parts)


def _short(text: Any) -> str:
    """Return what a server says as one short line of printable characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in str(text)).split())
    return line if len(line) <= _LONGEST_REASON else line[:_LONGEST_REASON - 3] + "..."
