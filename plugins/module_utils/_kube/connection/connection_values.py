# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a connection, wherever they come from: server, proxy, token, and for whom requests are made; pure."""
from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from ..._common.texts.plain_text import shortened
from ..responses.errors import KubeError

# Bytes that client-go leaves as they are in the name of a header (transport/round_trippers.go, legalHeaderKeyBytes).
_HEADER_LETTERS = "!#$&'*+^`|"


def kind_of(value: Any) -> str:
    """Return the type of a value, as errors name it that do not show the value."""
    return {type(None): "nothing", dict: "a mapping", list: "a list", str: "text", bool: "true or false"}.get(
        type(value), f"a {type(value).__name__}")


def is_text(value: Any) -> bool:
    """Say whether a value is a text that is not empty."""
    return isinstance(value, str) and bool(value)


def refused(text: str, next_step: str) -> KubeError:
    """Return the error of a connection that cannot be made of what was given.

    :param text: what is wrong, without a secret
    :param next_step: what to do
    """
    return KubeError(text, reason="Configuration", next_step=next_step)


def check_token(token: str, subject: str) -> None:
    """Refuse a bearer token that can't be part of a request's header; the error does not quote it.

    :param subject: what it is, for messages
    :raises KubeError: when it can't
    """
    if not isinstance(token, str) or not token or any(not "!" <= character <= "~" for character in token):
        raise refused(f"{subject}: expected a bearer token: printable ASCII without spaces or line breaks",
                      "copy it again, without what is around it")


def check_impersonation(user: str | None, groups: Any, user_name: str, groups_name: str) -> None:
    """Refuse names of a user and groups that cannot be part of a request's header.

    :param user: text, or None for nobody else
    :param groups: list of texts, or None
    :param user_name: what the user is called in messages
    :param groups_name: what the groups are called in messages
    :raises KubeError: when they cannot, or groups are given without a user, which the API server refuses
    """
    if groups and not user:
        raise refused(f"{groups_name}: found without {user_name}, expected both",
                      f"set {user_name}, or remove {groups_name}")
    for name, values in ((user_name, [user]), (groups_name, groups or ())):
        if any(value is not None and not re.fullmatch("[!-~]([ -~]*[!-~])?", value) for value in values):
            raise refused(f"{name}: expected printable ASCII that neither begins nor ends with a space",
                          "correct it")


def take_impersonation(user: dict[str, Any]) -> list[tuple[str, str]]:
    """Remove from a kubeconfig's user whom it acts for, and return that as headers.

    :param user: the user's fields, checked; changed
    """
    name, groups, uid = (user.pop(field, None) for field in ("as", "as-groups", "as-uid"))
    headers = impersonation_headers(name, groups) + [("Impersonate-Uid", uid)] * bool(uid)
    for key, values in (user.pop("as-user-extra", None) or {}).items():
        headers += [(f"Impersonate-Extra-{quote(key, safe=_HEADER_LETTERS)}", value) for value in values]
    return headers


def impersonation_headers(user: str | None, groups: list[str] | None) -> list[tuple[str, str]]:
    """Return the headers that make a server act for another user, none without one."""
    return [("Impersonate-User", user)] + [("Impersonate-Group", group) for group in groups or ()] if user else []


def check_proxy(proxy: str, subject: str) -> None:
    """Refuse a proxy that is no URL of http or https.

    :param subject: what it is, for messages
    :raises KubeError: without the URL, which may hold a password
    """
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(not "!" <= letter <= "~" for letter in proxy):
        raise refused(f"{subject}: expected the URL of a proxy of HTTP, for example http://192.0.2.10:3128",
                      "correct it; a proxy of SOCKS is not supported")


def split_proxy(proxy: str) -> tuple[str, str]:
    """Return a proxy's URL without credentials, and the credentials as ``name:password`` or an empty text."""
    head, at, host = proxy.rpartition("@")
    if not at:
        return proxy, ""
    scheme, dummy, credentials = head.partition("://")
    return f"{scheme}://{host}", unquote(credentials)


def check_server(server: Any, subject: str) -> str:
    """Return the URL of an API server without a slash at its end.

    :param subject: what it is, for messages
    :raises KubeError: when it is no URL of http or https, or names a user
    """
    expected = "expected the URL of an API server, for example https://192.0.2.10:6443"
    if not is_text(server):
        raise refused(f"{subject}: found {kind_of(server)}, {expected}", "correct it")
    try:
        parts = urlsplit(server)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = None, False
    # Wherever it stands: without a scheme, or after a slash in a password, it is not in the URL's host.
    if "@" in server:
        raise refused(f"{subject}: found a user name, expected a URL without one",
                      "give credentials by api_key, client_cert or a kubeconfig")
    if parts is None or not usable or parts.query or parts.fragment or any(
            not "!" <= letter <= "~" for letter in server):
        shown = re.split("[?#]", server)[0]
        has_more = " with a query or fragment, which is not shown" if shown != server else ""
        raise refused(f"{subject}: found {shortened(shown)}{has_more}, {expected}", "correct it")
    return server.rstrip("/")
