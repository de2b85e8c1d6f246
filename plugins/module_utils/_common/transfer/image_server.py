# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking image servers. What they answer is data: no other kind of URL is followed, nothing is read without end."""
from __future__ import annotations

import base64
import http.client
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from ..redaction.redaction import before_query, redacted
from . import proxies
from .answer_limits import handlers
from .user_agent import USER_AGENT

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
    opener = _opener(ca_file, reading_seconds)

    def fetch(url: str, limit: int) -> bytes:
        try:
            answer = _followed(opener, url, "GET" if limit else "HEAD", {})
        except AnswerError as exc:
            if limit or exc.status not in _HEAD_REFUSED:
                raise
            # Signed URLs, for example, are for GET only: nothing is read of the answer.
            answer = _followed(opener, exc.url, "GET", {"Range": "bytes=0-0"})
        try:
            with answer:
                return _read(answer, limit)
        except (http.client.HTTPException, ValueError) as exc:
            raise OSError(_short(_cause(exc))) from exc
    return fetch


def size_of(url: str, ca_file: Any = None) -> int | None:
    """Return the size in bytes that an image server names, None when it names none.

    :param ca_file: as for :func:`image_fetcher`
    :raises OSError: when it does not answer, or answers with an error
    """
    with _followed(_opener(ca_file, _READING_SECONDS), url, "HEAD", {}) as answer:
        length = answer.headers.get("Content-Length") or ""
    return int(length) if length.isascii() and length.isdecimal() and len(length) < 20 else None


class AnswerError(OSError):
    """A server answers with an error.

    :param text: what to say of it
    :param status: HTTP status code
    :param url: what was asked, after redirections
    """

    def __init__(self, text: str, status: int, url: str) -> None:
        super().__init__(text)
        self.status, self.url = status, url


class AuthorityError(OSError):
    """A file has no certificate authorities; it is named."""


def opened(url: str, ca_file: Any, headers: dict[str, str], reading_seconds: float) -> Any:
    """Return the open answer to a GET, after redirections; credentials are those of the URL that is asked.

    :param ca_file: as for :func:`image_fetcher`
    :param headers: further headers
    :param reading_seconds: as for :func:`image_fetcher`
    :raises AnswerError: when the server answers with an error
    :raises OSError: when it does not answer, or leads elsewhere than to other images
    """
    return _followed(_opener(ca_file, reading_seconds), url, "GET", headers)


def _followed(opener: urllib.request.OpenerDirector, url: str, method: str, headers: dict[str, str]) -> Any:
    """Return the open answer after redirections.

    :raises AnswerError: when the server answers with an error
    :raises OSError: when it does not answer, or leads elsewhere than to other images
    """
    for _number in range(_REDIRECTIONS):
        try:
            return opener.open(_request(url, method, headers), timeout=_TIMEOUT_SECONDS)
        except urllib.error.HTTPError as exc:
            if exc.code not in _REDIRECTS or not exc.headers.get("Location"):
                raise AnswerError(_short(f"HTTP {exc.code} {exc.reason}"), exc.code, url) from exc
            url = _redirected(url, exc.headers["Location"])
        except urllib.error.URLError as exc:
            raise OSError(_short(exc.reason)) from exc
        except (http.client.HTTPException, ValueError) as exc:
            raise OSError(_short(_cause(exc))) from exc
    raise OSError(f"more than {_REDIRECTIONS - 1} redirections")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *dummy: Any, **_options: Any) -> None:
        """Refuse: whether a redirection may be followed is decided here."""


class _Proxies(urllib.request.ProxyHandler):
    """Sends requests by the proxies of the environment."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(("http", "https"), ""))

    # Called with what the constructor got, which is decided for each URL here.
    def proxy_open(self, req: urllib.request.Request, dummy: str, type: str) -> Any:
        """Send a request by the proxy for its URL, if there is any."""
        proxy = proxies.proxy_of(req.full_url, os.environ)
        return super().proxy_open(req, proxy, type) if proxy else None


def _opener(ca_file: Any, seconds: float) -> urllib.request.OpenerDirector:
    """Return what sends requests; each answer, its head included, comes within some seconds.

    Not Ansible's ``open_url``, which is opened for one request and used for all that are sent at that moment, and reads
    the head of an answer without end.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as exc:
        # Neither error names the file.
        reason = "no certificates in PEM form" if isinstance(exc, ssl.SSLError) else exc.strerror
        raise AuthorityError(exc.errno, reason, ca_file) from exc
    opener = urllib.request.OpenerDirector()
    # Neither files nor FTP.
    for handler in (_Proxies(), *handlers(seconds, context),
                    urllib.request.HTTPDefaultErrorHandler(), _NoRedirect(), urllib.request.HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener


def _request(url: str, method: str, headers: dict[str, str]) -> urllib.request.Request:
    """Return a request with the credentials of the URL, if it has any; others are not for whom an inventory names."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"found scheme {parts.scheme or 'none'}, expected http or https")
    user, separator, server = parts.netloc.rpartition("@")
    request = urllib.request.Request(urlunsplit(parts._replace(netloc=server)), method=method, headers=dict(
        headers, **{"User-Agent": USER_AGENT}))
    if separator:
        login = base64.b64encode(unquote(user).encode()).decode()
        request.add_unredirected_header("Authorization", "Basic " + login)
    return request


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
            redacted(before_query(location)), "" if urlsplit(url).scheme == "https" else " or http")))
    return new


def _cause(error: Exception) -> str:
    if isinstance(error, http.client.InvalidURL):
        # It quotes what it takes for the port.
        return "a host or port that can't be read; write special characters of a password as %XX"
    return f"{type(error).__name__}: {before_query(str(error))}"


def _read(response: Any, limit: int) -> bytes:
    parts, size = [], 0
    while size < limit:
        part = response.read1(min(_CHUNK_BYTES, limit - size))
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _short(text: Any) -> str:
    """Return what a server says as one short line of printable characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in str(text)).split())
    return line if len(line) <= _LONGEST_REASON else line[:_LONGEST_REASON - 3] + "..."
