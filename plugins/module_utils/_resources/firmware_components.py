# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HostFirmwareComponents: firmware images to flash, and what is flashed; pure."""
from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from .._common.options.field_checks import show
from .._common.options.fields import METADATA, Field
from .._common.problems.problem import Problem
from .._common.texts import text_table
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._host.description import annotations as host_annotations
from .._host.state.firmware_due import CHANGED, COMPONENTS, POLICY_FIELDS
from .._host.state.firmware_due import pending_components as pending
from .._host.state.goals import RUNNING, UNINSPECTED, error_of, state_of
from .._kube.objects.conditions import condition, is_true
from . import firmware_names
from .base import Family, Object, ObjectIndex, host_verdict, is_working
from .firmware_change import (
    READS,
    change_verdict,
    conditions_facts,
    host_power,
    host_state,
    is_held_up,
    is_unfinished,
    observed_verdict,
    start_verdict,
)

# In Ironic's message on an image that could not be flashed.
_IMAGE = re.compile(r"\b(?:https?|file|swift)://")
# One URL may be the beginning of another.
_END_OF_URL = r"(?=[.,;:'\")\]]*(?:\s|$))"
# Ironic's redfish firmware interface.
SCHEMES = ("http", "https", "file", "swift")
POLICY_FIELD = POLICY_FIELDS[COMPONENTS]


# BMO 0.13 reads versions every five minutes. Ironic 39 reads a BMC's version after its update; when it is still the
# former one, it does not ask the BMC whether the update failed (_handle_bmc_update_completion).
_UNCHANGED = (
    "{component}: Ironic reports no failure, and BMO still reports version {version}, as before the flash. BMO reads "
    "versions every few minutes only, and Ironic takes an update of a BMC that failed for one that changes nothing; "
    "look at the version later (module host_firmware_components_info), and at the BMC's log when it stays")
# Ironic gives the BMC an image and no card.
_CARD_UNCHANGED = (
    "{component}: Ironic reports no failure, and BMO still reports version {version}, as before the flash. BMO reads "
    "versions every few minutes only, and the BMC flashes an image to the network cards that it is for, whichever was "
    "named; look at the version later (module host_firmware_components_info), and whether the image is for this card "
    "when it stays")


class FirmwareComponents(Family):
    """Firmware of hosts."""

    kind = COMPONENTS
    option = "hosts"
    goals = ("valid", "rebootable", "applied")
    removable = False
    metadata = tuple(item for item in METADATA if item.name == "name")
    fields = (Field("updates", "updates", "list", required=True, element="dict", fields=(
        Field("component", "component", required=True), Field("url", "url", required=True))),)
    reads = watches = READS
    has_table = wakes_hosts = moves_server = True

    def check(self, label: str, entry: Object) -> list[Problem]:
        """Names and URLs."""
        problems, named = [], set()
        for position, update in enumerate(entry.get("updates") or []):
            path, name = f"updates[{position}]", update["component"]
            if not firmware_names.is_allowed(name):
                problems.append(Problem("firmware-components", label, path + ".component", show(name),
                                        firmware_names.ALLOWED, "correct it"))
            if name in named:
                problems.append(Problem(
                    "firmware-components", label, path + ".component", f"{name} twice", "one image for each component",
                    "remove one of them"))
            named.add(name)
            parts = urlsplit(update["url"])
            if parts.scheme not in SCHEMES or not (parts.netloc or parts.scheme == "file"):
                problems.append(Problem("firmware-components", label, path + ".url", show(update["url"]),
                                        f"a URL with one of the schemes {', '.join(SCHEMES)}", "correct it"))
            elif parts.username is not None:
                problems.append(Problem(
                    "firmware-components", label, path + ".url", "a URL with credentials", "a URL without",
                    "serve the image where BMCs may read it"))
        return problems

    def check_against(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        """The components against those that Ironic has found, when it has."""
        known = _versions(current)
        waits_for_cards = current is not None and _may_find_cards(index.host_of(current))
        return [Problem("firmware-components", label, f"updates[{position}].component", show(update["component"]),
                        firmware_names.one_of(known), firmware_names.correction(update["component"], known))
                for position, update in enumerate(entry["updates"])
                if known and update["component"] not in known
                and not (waits_for_cards and firmware_names.is_card(update["component"]))]

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """V(valid) when BMO has found no fault, V(applied) when all images are flashed.

        Between them is V(rebootable): what is pending needs another start of the server than one in progress.
        """
        verdict = self._updates_verdict(obj, index, goal, before)
        if verdict.outcome == REACHED:
            return _unknown_verdict(obj, index.host_of(obj)) or verdict
        # BMO counts Ironic's last error once more before it begins with other images.
        if verdict.outcome == FAILED and error_of(index.host_of(obj))[1] == error_of(before)[1] \
                and _IMAGE.search(verdict.detail) and not blamed(obj, verdict):
            return verdict._replace(outcome=WAITING)
        return verdict

    def _updates_verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        verdict = observed_verdict(obj, index, before, "updates")
        if verdict or goal == "valid":
            return verdict or Verdict(REACHED, "", "")
        host = index.host_of(obj)
        # BMO notes the updates as done when it begins with them; only then the host begins to work.
        is_pending = bool(pending(obj))
        if goal == "rebootable":
            return start_verdict(obj, index, POLICY_FIELD, before) if is_pending else Verdict(REACHED, "", "")
        is_due = is_pending or is_working(host)
        verdict = change_verdict(obj, index, POLICY_FIELD, before) if is_due else host_verdict(host, before)
        # Of an image that BMO has begun with, it is this flash that failed, also when that was before the wait: BMO's
        # next attempt may take the image for flashed (see DOCUMENTATION of the module).
        if not is_pending and blamed(obj, verdict):
            verdict = verdict._replace(outcome=FAILED)
        if is_due or verdict.cause:
            return with_component(obj, verdict)
        if is_true(obj, CHANGED) and not (state_of(host) in RUNNING and _forgotten(obj)):
            return Verdict(WAITING, "waits for BMO to notice that the updates are done", "")
        return Verdict(REACHED, "", "")

    def is_lasting(self, obj: Any, verdict: Verdict) -> bool:
        """True when an image failed: BMO notes it as done, and makes the host available when its pause is over."""
        return verdict.outcome == FAILED and bool(blamed(obj, verdict))

    def is_held_up(self, obj: Any, index: ObjectIndex, before: Any) -> bool:
        """True when other images are asked for than those that could not be flashed."""
        return bool(pending(obj)) and is_held_up(obj, index, before)

    def doubts(self, before: Any, obj: Any) -> list[str]:
        """The versions that a flash of this run has left as they were, as far as BMO has read them."""
        was = _versions(before)
        return [_unchanged_text(update["component"]).format(component=update["component"], version=version)
                for update in pending(dict(before or {}, spec=obj.get("spec")))
                for version in [_versions(obj).get(update["component"])]
                if version and version == was.get(update["component"])]

    def has_new_pause(self, obj: Any, index: ObjectIndex) -> bool:
        """True when images were flashed after BMO was last asked to look at the host."""
        changed, host = condition(obj, CHANGED), index.host_of(obj)
        return host is not None and bool((obj.get("spec") or {}).get("updates")) and changed.get("status") == "False" \
            and (changed.get("lastTransitionTime") or "") > host_annotations.of(host).get(host_annotations.RETRY, "")

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """Versions, and what is still to be flashed."""
        status = obj.get("status") or {}
        return dict({
            "host_state": host_state(obj, index),
            "host_power": host_power(obj, index),
            "components": [{
                "component": item["component"], "initial_version": item.get("initialVersion") or "",
                "current_version": item.get("currentVersion") or "",
                "last_version_flashed": item.get("lastVersionFlashed") or "",
                "updated_at": item.get("updatedAt") or ""} for item in status.get("components") or []],
            "wanted": (obj.get("spec") or {}).get("updates") or [],
            "pending": pending(obj),
            "unfinished": is_unfinished(index.host_of(obj)),
        }, **conditions_facts(obj))

    def table(self, items: list[Object], width: int | None = None) -> list[str]:
        """Return a line for each component that is known or wanted: its version and what has become of its image."""
        rows = []
        for item in items:
            wanted = dict((update["component"], update["url"]) for update in item.get("wanted") or [])
            waiting = set(update["component"] for update in item.get("pending") or [])
            versions = dict((part["component"], part["current_version"]) for part in item.get("components") or [])
            for name in dict.fromkeys([*versions, *wanted]):
                state = "-" if name not in wanted else "failed" if item.get("error") else (
                    "pending" if name in waiting else "begun" if item.get("unfinished") else "flashed")
                rows.append([item["name"], name, versions.get(name) or "-", wanted.get(name, "-"), state])
        return text_table.lines(["HOST", "COMPONENT", "VERSION", "IMAGE", "STATE"], rows, width, long=("IMAGE",))


def _unchanged_text(component: str) -> str:
    return _CARD_UNCHANGED if firmware_names.is_card(component) else _UNCHANGED


def _may_find_cards(host: Any) -> bool:
    """Return whether Ironic has not inspected a host: some BMCs list network cards only of servers that have booted."""
    return state_of(host) in (*UNINSPECTED, "new")


def _unknown_verdict(obj: Any, host: Any) -> Verdict | None:
    """Return the Verdict on updates of components that Ironic has not found, as it had found none when they were
    written."""
    known = _versions(obj)
    unknown = [update["component"] for update in (obj.get("spec") or {}).get("updates") or []
               if known and update["component"] not in known]
    if not unknown:
        return None
    if _may_find_cards(host):
        return Verdict(WAITING, f"Ironic has not found {show(unknown[0])} yet", "look at the log of BMO")
    return Verdict(
        FAILED, f"found {show(unknown[0])} in updates, expected {firmware_names.one_of(known)}; BMO does not compare "
        "names, and may have flashed the image", firmware_names.correction(unknown[0], known))


def _versions(obj: Any) -> dict[str, str | None]:
    """Return the current versions by component."""
    return dict((item["component"], item.get("currentVersion"))
                for item in ((obj or {}).get("status") or {}).get("components") or [])


def _forgotten(obj: Any) -> bool:
    """Return whether updates are no longer asked for, or in another order.

    What they have flashed stays. Of a host in use BMO notes that only when it starts the server the next time, which
    nothing asks for: nobody can wait for it.
    """
    return ((obj.get("status") or {}).get("updates") or []) != ((obj.get("spec") or {}).get("updates") or [])


def blamed(obj: Any, verdict: Verdict) -> list[Object]:
    """Return the wanted updates whose image the message of a Verdict names."""
    return [update for update in (obj.get("spec") or {}).get("updates") or []
            if re.search(re.escape(update["url"]) + _END_OF_URL, verdict.detail)]


def with_component(obj: Any, verdict: Verdict) -> Verdict:
    """Return a Verdict whose cause names the components that are meant: Ironic only names the image's URL."""
    meant = blamed(obj, verdict)
    if not meant:
        return verdict
    return verdict._replace(cause=f"{', '.join(update['component'] for update in meant)}: {verdict.cause}")
