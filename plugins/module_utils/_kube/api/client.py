# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thin client: known paths, plain dicts, in the version that callers know whatever the server serves."""
from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..kinds import versions
from ..kinds.versions import Versions
from ..objects import precondition
from ..responses.answers import list_subject, read_event, read_list, read_object
from ..responses.errors import KubeError
from . import transport
from .transport import FIELD_MANAGER, Transport

try:
    import urllib3
except ImportError:
    urllib3 = None  # type: ignore[assignment]

# A watch that is silent for so much longer than it was to last is lost.
_WATCH_GRACE_SECONDS = 15
# An object has 1.5 MiB at most (etcd's limit).
EVENT_LIMIT_BYTES = 16 * 1024 ** 2

MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class KubeClient(Transport):
    """Objects of one API server: read, written and watched; safe to share between threads.

    :param params: as for :class:`Transport`
    :raises KubeError: when no usable configuration is found
    """

    @cached_property
    def versions(self) -> Versions:
        """Which version of each kind the server is asked for."""
        return Versions(self.request)

    def version_of(self, resource: Any) -> str:
        """Return the version in which the server is asked for a kind, by what it has answered so far."""
        return self.versions.asked(resource)[0].version

    def list(self, resource: Any, namespace: str | None = None, label_selector: str | None = None,
             field_selector: Any = None) -> tuple[Any, str | None]:
        """Return ``(items, resource_version)`` of one LIST, every item with its apiVersion and kind.

        :param resource: a :class:`Resource`
        :param namespace: None for all namespaces
        """
        return self._listed(resource, namespace, {"labelSelector": label_selector, "fieldSelector": field_selector},
                            transport.LIST_TIMEOUT_SECONDS)[:2]

    def list_page(self, resource: Any, namespace: str | None, label_selector: str | None, size: int,
                  token: str | None) -> tuple[Any, str | None, str | None]:
        """Return ``(items, resource_version, token of the next page)`` of one page of a LIST.

        :param size: of the page at most
        :param token: None for the first page
        """
        return self._listed(resource, namespace,
                            {"limit": size, "continue": token, "labelSelector": label_selector})

    def _listed(self, resource: Any, namespace: str | None, query: dict[str, Any],
                timeout_seconds: int | None = None) -> tuple[Any, str | None, str | None]:
        def send(*asked: Any) -> tuple[Any, str | None, str | None]:
            items, version, token = read_list(self.request(
                "GET", asked[0].path(namespace), query, subject=list_subject(resource, namespace),
                timeout_seconds=timeout_seconds), asked[0], namespace)
            return [versions.read(asked, item) for item in items], version, token

        return self.versions.run(resource, send)

    def get(self, resource: Any, namespace: str | None, name: str) -> dict[str, Any] | None:
        """Return one object, or None when there is none."""
        subject = _subject(resource, namespace, name)
        try:
            return self._object(resource, subject, lambda asked: self.request(
                "GET", asked[0].path(namespace, name), subject=subject))
        except KubeError as exc:
            if exc.status == 404:
                return None
            raise

    def create(self, resource: Any, namespace: Any, body: Any, dry_run: bool = False) -> Any:
        """Create an object and return it as stored."""
        subject = _subject(resource, namespace, body["metadata"].get("name", "(generated)"))
        return self._object(resource, subject, lambda asked: self.request(
            "POST", asked[0].path(namespace), {"fieldManager": FIELD_MANAGER, "dryRun": _dry_run(dry_run)},
            versions.written(asked, body, subject), subject=subject))

    def apply(self, resource: Any, namespace: str | None, body: dict[str, Any], dry_run: bool = False,
              force: bool = True, checked: Any = None) -> dict[str, Any]:
        """Server-side apply an object under this collection's field manager and return it as stored.

        :param force: take over fields that another manager owns
        :param checked: refuse (409) when the object is no longer this one, as it was read, or when there is one
            (``precondition.ABSENT``); None to write in any case
        """
        name = body["metadata"]["name"]
        subject = _subject(resource, namespace, name)
        return self._object(resource, subject, lambda asked: self.request(
            "PATCH", asked[0].path(namespace, name),
            {"fieldManager": FIELD_MANAGER, "force": "true" if force else None, "dryRun": _dry_run(dry_run)},
            precondition.in_body(versions.written(asked, body, subject), checked), APPLY_PATCH, subject=subject))

    def patch(self, resource: Any, namespace: str | None, name: str, body: dict[str, dict[str, Any]],
              content_type: str = MERGE_PATCH, subresource: Any = None, dry_run: bool = False,
              checked: Any = None) -> dict[str, Any]:
        """Patch an object (JSON merge patch unless said otherwise) and return it as stored.

        :param checked: for merge patches: refuse (409) when the object is no longer this one, as it was read
        """
        subject = _subject(resource, namespace, name)
        return self._object(resource, subject, lambda asked: self.request(
            "PATCH", asked[0].path(namespace, name, subresource),
            {"fieldManager": FIELD_MANAGER, "dryRun": _dry_run(dry_run)},
            precondition.in_body(versions.patched(asked, body, subject), checked), content_type, subject=subject))

    def delete(self, resource: Any, namespace: str | None, name: str, propagation: str = "Background",
               uid: str | None = None, dry_run: bool = False, checked: Any = None) -> bool:
        """Delete an object; False when it was not there.

        :param propagation: Background, Foreground or Orphan
        :param uid: refuse (409) when the object is another one by now
        :param checked: refuse (409) when the object is no longer this one, as it was read
        """
        body: dict[str, Any] = {"propagationPolicy": propagation}
        conditions = precondition.identity(checked) if checked else {"uid": uid} if uid else {}
        if conditions:
            body["preconditions"] = conditions
        if dry_run:
            # In the query it would not count: the API server takes all options from the body when there is one.
            body["dryRun"] = ["All"]
        try:
            self.versions.run(resource, lambda asked, _older: self.request(
                "DELETE", asked.path(namespace, name), None, body, subject=_subject(resource, namespace, name)))
        except KubeError as exc:
            if exc.status == 404:
                return False
            raise
        return True

    def watch(self, resource: Any, namespace: Any, resource_version: Any, timeout_seconds: int = 60,
              label_selector: Any = None, field_selector: Any = None) -> Iterator[Any]:
        """Yield the events of one watch, ``{"type": …, "object": …}``, until the server ends it.

        :param resource_version: where to begin, from a LIST
        :param timeout_seconds: after which the server ends the watch
        :raises KubeError: status 410 when the resource version is too old: LIST again
        """
        subject = f"watch of {resource.kind} in {namespace or 'all namespaces'}"
        # The LIST before it has found out.
        asked = self.versions.asked(resource)
        response = self.request(
            "GET", asked[0].path(namespace),
            {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": resource_version,
             "timeoutSeconds": timeout_seconds, "labelSelector": label_selector, "fieldSelector": field_selector},
            subject=subject, timeout_seconds=timeout_seconds + _WATCH_GRACE_SECONDS, stream=True)
        try:
            pending = b""
            for chunk in response.stream(65536, decode_content=True):
                *lines, pending = (pending + chunk).split(b"\n")
                if len(pending) > EVENT_LIMIT_BYTES:
                    raise self._no_kubernetes(
                        subject, f"an event of more than {EVENT_LIMIT_BYTES // 1024 ** 2} MiB")
                for line in lines:
                    if line.strip():
                        event = read_event(line, subject)
                        if event["type"] != "BOOKMARK":
                            event["object"] = versions.read(asked, event["object"])
                        yield event
        except (urllib3.exceptions.HTTPError, OSError) as exc:
            raise KubeError(f"{subject}: connection to {self.server} lost: {exc}",
                            reason="Unreachable") from exc
        finally:
            response.close()

    def _object(self, resource: Any, subject: str, send: Any) -> dict[str, Any]:
        """Return the object that a request is answered with.

        :param send: callable that takes what is asked for, see ``versions.Asked``
        """
        return self.versions.run(resource, lambda *asked: versions.read(asked, read_object(send(asked), subject)))


def _subject(resource: Any, namespace: str | None, name: str) -> str:
    return f"{resource.kind} {namespace + '/' if namespace else ''}{name}"


def _dry_run(dry_run: bool) -> Any:
    return "All" if dry_run else None
