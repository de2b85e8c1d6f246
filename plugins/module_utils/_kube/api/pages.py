# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A LIST in pages, each asked for while the one before is worked on."""
from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..responses.answers import list_subject
from ..responses.errors import KubeError

# The API server needs about as long to write a page of this size as Python needs to read it.
PAGE_SIZE = 500
_GONE = 410
# Two million objects, more than an etcd of 8 GiB has of any kind.
_MOST_PAGES = 4000


def pages(client: Any, resource: Any, namespace: str | None = None, label_selector: str | None = None,
          page_size: int = PAGE_SIZE) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of a LIST in lists of at most ``page_size``.

    When the API server has forgotten the state that the pages are taken from, the rest comes as one LIST of the
    present state; no object comes twice.

    :param client: a KubeClient
    :param resource: a Resource
    :param namespace: None for all namespaces
    :param label_selector: as Kubernetes takes it, or None
    :raises KubeError: when the API server refuses or does not answer
    """
    def fetch(token: str | None) -> Any:
        return client.list_page(resource, namespace, label_selector, page_size, token)

    seen, tokens = set(), set()
    with ThreadPoolExecutor(max_workers=1) as pool:
        pending: Future[Any] | None = pool.submit(fetch, None)
        while pending is not None:
            try:
                items, dummy, token = pending.result()
            except KubeError as exc:
                if exc.status != _GONE:
                    raise
                items, dummy = client.list(resource, namespace, label_selector)
                yield [item for item in items if _key(item) not in seen]
                return
            if token and token in tokens:
                raise KubeError(f"{list_subject(resource, namespace)}: got the same page twice",
                                reason="InvalidAnswer")
            if len(tokens) >= _MOST_PAGES:
                raise KubeError(f"{list_subject(resource, namespace)}: found more than {_MOST_PAGES} pages of "
                                f"{page_size} objects", reason="InvalidAnswer")
            tokens.add(token)
            pending = pool.submit(fetch, token) if token else None
            seen.update(_key(item) for item in items)
            yield items


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item["metadata"].get("namespace"), item["metadata"]["name"]
