# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets BMCs insert a medium of an image server into an empty virtual CD, reads back what they did, and ejects it."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..._common.texts.formats import duration
from ..._common.waiting.wait_loop import until_nothing
from ..preflight.service import survey
from ..preflight.verdict import PROBLEM, Verdict, worst
from ..protocols import gather as gathering
from ..protocols.gather import Settings, Target
from ..protocols.redfish import RedfishClient, RedfishError, nested
from ..protocols.redfish_facts import text as field_text
from .media_checks import INSERTED, LEFT, NOT_SHOWN, REFUSED, Attempt, device, finding

_POLL_SECONDS = 1.0
# Of a proxy in front of a BMC that has not answered yet.
_OF_A_GATEWAY = (502, 503, 504)
_INSERT, _EJECT = "#VirtualMedia.InsertMedia", "#VirtualMedia.EjectMedia"


class MediaProbe:
    """One medium for many BMCs.

    :param url: the medium's, see :func:`media_checks.url_problem`
    :param timeout_seconds: how long a BMC may take until it shows the medium as inserted
    :param check_mode: only say which device would be tried
    """

    def __init__(self, url: str, timeout_seconds: float, check_mode: bool = False,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self.url, self.timeout_seconds, self.check_mode = url, timeout_seconds, check_mode
        self._clock, self._sleep = clock, sleep

    def run(self, hosts: list[dict[str, Any]], settings: Settings, progress: Any,
            names: dict[str, str] | None) -> list[dict[str, Any]]:
        """Try all BMCs and return ``{"name", "address", "verdict", "checks"}`` of each host, in their order.

        :param hosts: entries with ``name``, ``bmc``, ``boot_mac_address`` and ``boot_mode``
        :param settings: how BMCs are asked
        :param progress: a Progress
        :param names: ``{option: name}`` by which the reader knows an option, or None
        """
        results = []
        for host, facts, error in survey(hosts, settings, progress, self._surveys):
            if error is not None:
                found = Verdict("address", host["name"], PROBLEM, "bmc.address", None, error.expected, error.hint)
            else:
                attempt = facts.get("media") or Attempt("", "", self._untried(host, facts))
                found = Verdict("media", host["name"], *finding(host, facts, attempt, self.url))
            results.append({"name": host["name"], "address": str(host["address"] or ""), "verdict": worst([found]),
                            "checks": [found.result(names)]})
        return results

    def _untried(self, host: dict[str, Any], facts: dict[str, Any]) -> str:
        if host["address"].driver.protocol != "redfish":
            return "virtual media is inserted by Redfish, this address is " + host["address"].scheme.name
        return facts["unread"].get("system") or "the BMC reports no such system"

    def _surveys(self, group: Sequence[Target], settings: Settings, client: RedfishClient, root: dict[str, Any],
                 common: dict[str, Any]) -> list[dict[str, Any]]:
        found = gathering.surveys(group, settings, client, root, common)
        for facts in found:
            if facts["system"]:
                facts["media"] = self._attempt(client, facts)
        return found

    def _attempt(self, client: RedfishClient, facts: dict[str, Any]) -> Attempt:
        media, obstacle = device(facts, self.url)
        if media is None:
            return Attempt("", "", obstacle)
        if self.check_mode:
            return Attempt("", media["name"], f"check mode; {media['name']} is empty and would take it")
        try:
            # Read again: Ironic may have inserted one since, which the answer to an action would not say.
            now = client.read(media["path"])
            if now.get("Inserted") is True:
                return Attempt("", media["name"], f"in use: {media['name']} holds {field_text(now, 'Image')}")
            self._insert(client, media["path"], now)
        except RedfishError as exc:
            # Without an answer of the BMC itself it may be about to insert the medium.
            late = not exc.status or exc.status in _OF_A_GATEWAY or exc.kind == "unfinished"
            return self._ejected(client, media, Attempt(REFUSED, media["name"], str(exc), late))
        return self._ejected(client, media, self._inserted(client, media))

    def _insert(self, client: RedfishClient, path: str, media: dict[str, Any]) -> None:
        target = nested(media, "Actions", _INSERT).get("target")
        if not isinstance(target, str):
            client.patch(path, {"Image": self.url, "Inserted": True})
            return
        try:
            client.post(target, {"Image": self.url, "Inserted": True, "WriteProtected": True})
        except RedfishError as exc:
            # DSP0266: a service refuses parameters that it does not know; only Image is required.
            if exc.status != 400:
                raise
            client.post(target, {"Image": self.url})

    def _inserted(self, client: RedfishClient, media: dict[str, Any]) -> Attempt:
        """Wait until the BMC shows the medium."""
        def missing() -> str:
            try:
                now = client.read(media["path"])
            except RedfishError as exc:
                return str(exc)
            if now.get("Inserted") is True and field_text(now, "Image"):
                return ""
            return f"Inserted {now.get('Inserted') is True}, Image {field_text(now, 'Image') or 'empty'}"

        shown = until_nothing(missing, self.timeout_seconds, _POLL_SECONDS, self._clock, self._sleep)
        if not shown:
            return Attempt(INSERTED, media["name"], "")
        return Attempt(NOT_SHOWN, media["name"], f"{shown}, after {duration(self.timeout_seconds)}", True)

    def _ejected(self, client: RedfishClient, media: dict[str, Any], attempt: Attempt) -> Attempt:
        """Leave the device empty, as it was found, whatever became of the medium, and however late it comes."""
        shown = attempt.stage == INSERTED
        try:
            if attempt.late:
                until_nothing(lambda: not self._holds(client.read(media["path"])), self.timeout_seconds, _POLL_SECONDS,
                              self._clock, self._sleep)
            now = client.read(media["path"])
            if not self._holds(now):
                return attempt
            shown = True
            target = nested(now, "Actions", _EJECT).get("target")
            if isinstance(target, str):
                client.post(target, {})
            else:
                client.patch(media["path"], {"Image": None, "Inserted": False})
            if until_nothing(lambda: client.read(media["path"]).get("Inserted") is True, self.timeout_seconds,
                             _POLL_SECONDS, self._clock, self._sleep):
                return Attempt(LEFT, media["name"], f"still inserted after {duration(self.timeout_seconds)}")
        except RedfishError as exc:
            return Attempt(LEFT, media["name"], str(exc)) if shown else attempt
        return attempt._replace(late=False)

    def _holds(self, media: dict[str, Any]) -> bool:
        """Say whether a device has the medium; another image than ours is somebody else's, who has come since."""
        return media.get("Inserted") is True and _same(field_text(media, "Image"), self.url)


def _same(image: str, url: str) -> bool:
    """Return whether a BMC's name of a medium is that of a URL; some show its last part only."""
    return image == url or image == url.rpartition("/")[2]
