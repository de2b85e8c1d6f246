# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a service root to the resources of one system: which are read, in which order, and what may be missing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.documents.tolerant import dicts_in
from .redfish import RedfishError, checked_path, link, nested

# More members than a server has of anything read here; a BMC that repeats itself ends there.
MEMBER_LIMIT = 128
# DSP0266: a collection may name its members in several answers, each with a link to the next one.
_NEXT_PAGE = "Members@odata.nextLink"


class Survey:
    """What was read of a BMC, by part; ``unread`` says why a part is missing.

    Parts are the resources as the BMC sent them: ``systems`` (list of paths), ``system``, ``manager``, ``secure_boot``,
    ``bios``, ``account_service``, ``account`` and ``role``, and the lists ``nics``, ``virtual_media``, ``firmware`` and
    ``accounts``.

    :param root: the service root
    """

    def __init__(self, root: dict[str, Any]):
        self.parts: dict[str, Any] = {"root": root}
        self.unread: dict[str, str] = {}
        # Seconds since 1970 before and after the manager was asked for its clock.
        self.clock_asked = (0.0, 0.0)


class Walk:
    """One walk through a BMC's resources.

    :param read: callable ``(path) -> dict`` that raises RedfishError
    :param root: the service root
    :param now: callable that returns seconds since 1970
    """

    def __init__(self, read: Callable[[str], dict[str, Any]], root: dict[str, Any], now: Callable[[], float]):
        self._read = read
        self._now = now
        features = nested(root, "ProtocolFeaturesSupported", "ExpandQuery")
        self._expands = bool(features.get("NoLinks") or features.get("ExpandAll"))
        self._cut = ""
        self._has_all_systems = False
        self.survey = Survey(root)

    def fork(self) -> Walk:
        """Return a walk that begins with all that this one has read, for another system of the same BMC."""
        other = Walk(self._read, self.survey.parts["root"], self._now)
        other.survey.parts.update(self.survey.parts)
        other.survey.unread.update(self.survey.unread)
        other._cut = self._cut
        return other

    def systems(self) -> list[str]:
        """Read the paths of the systems and return them."""
        parts = self.survey.parts
        collection = self._part("systems", link(parts["root"], "Systems"))
        if collection is not None:
            parts["systems"] = []
            paths, self._has_all_systems = self._paths("systems", collection)
            for path in list(dict.fromkeys(paths))[:MEMBER_LIMIT]:
                try:
                    parts["systems"].append(checked_path(path).partition("?")[0].rstrip("/"))
                except RedfishError as exc:
                    self.survey.unread["systems"] = str(exc)
        return parts.get("systems") or []

    def only_system(self) -> str | None:
        """Read the paths of the systems and return that of the only one; None when there may be others."""
        systems = self.systems()
        return systems[0] if len(systems) == 1 and self._has_all_systems else None

    def system(self, path: str | None) -> None:
        """Read a system and what belongs to it.

        :param path: path of the system
        """
        parts = self.survey.parts
        system = self._part("system", path)
        if system is None:
            return
        parts["system"] = system
        self._one("bios", link(system, "Bios"))
        self._one("secure_boot", link(system, "SecureBoot"))
        self._many("nics", link(system, "EthernetInterfaces"))
        self._manager(system)
        # Newer services have it at the system, older ones at the manager.
        self._many("virtual_media", link(system, "VirtualMedia") or link(parts.get("manager") or {}, "VirtualMedia"))

    def account(self, username: str | None) -> None:
        """Read the lockout policy, and the account of that name with its role.

        :param username: who is logged in
        """
        parts = self.survey.parts
        self._one("account_service", link(parts["root"], "AccountService"))
        service = parts.get("account_service")
        if not service:
            return
        for account in self._members("account", link(service, "Accounts"), lambda member: (
                member.get("UserName") == username)):
            parts["account"] = account
            self._one("role", link(account, "Links", "Role"))

    def accounts(self) -> None:
        """Read all accounts, after the one that is logged in; a BMC may have a slot for each that there could be."""
        self._many("accounts", link(self.survey.parts.get("account_service") or {}, "Accounts"))

    def firmware(self) -> None:
        """Read the firmware inventory, which is long with some vendors."""
        self._one("update_service", link(self.survey.parts["root"], "UpdateService"))
        self._many("firmware", link(self.survey.parts.get("update_service") or {}, "FirmwareInventory"))

    def _manager(self, system: dict[str, Any]) -> None:
        managers = _links(dicts_in(nested(system, "Links"), "ManagedBy"))
        if not managers:
            managers, are_all = self._paths(
                "manager", self._part("manager", link(self.survey.parts["root"], "Managers")) or {})
            # Of several none is known to be this system's.
            managers = managers if len(managers) == 1 and are_all else []
        path = managers[0] if managers else None
        before = self._now()
        self._one("manager", path)
        self.survey.clock_asked = (before, self._now())

    def _one(self, part: str, path: str | None) -> None:
        resource = self._part(part, path)
        if resource is not None:
            self.survey.parts[part] = resource

    def _many(self, part: str, path: str | None) -> None:
        members = self._members(part, path)
        if members or part not in self.survey.unread:
            self.survey.parts[part] = members

    def _part(self, part: str, path: str | None) -> dict[str, Any] | None:
        """Read a resource, or note why it is missing and return None."""
        unread = self.survey.unread
        if not path:
            unread[part] = "the BMC does not name it"
        elif self._cut:
            unread[part] = self._cut
        else:
            try:
                return self._read(path)
            except RedfishError as exc:
                unread[part] = str(exc)
                if exc.kind == "unreachable":
                    # Each further request would wait for nothing.
                    self._cut = str(exc)
        return None

    def _listed(self, part: str, collection: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
        """Return the members of all pages of a collection, and whether all pages could be read."""
        missing = []

        def read(path: str) -> dict[str, Any]:
            page = self._part(part, path)
            missing.extend([path] if page is None else [])
            return page or {}

        return members_of(read, collection), not missing

    def _paths(self, part: str, collection: dict[str, Any]) -> tuple[list[str], bool]:
        members, are_all = self._listed(part, collection)
        return _links(members), are_all

    def _members(self, part: str, path: str | None,
                 wanted: Callable[[dict[str, Any]], bool] | None = None) -> list[dict[str, Any]]:
        """Return the members of a collection; with ``wanted`` only the first for which it is true, as a list."""
        collection = None
        if path and self._expands:
            collection = self._part(part, path + "?$expand=.")
        if collection is None:
            self.survey.unread.pop(part, None)
            collection = self._part(part, path)
        found = []
        for member in self._listed(part, collection or {})[0]:
            # Expanded members have more than their path.
            resource = member if len(member) > 1 else self._part(part, link(member))
            if resource is not None and (wanted is None or wanted(resource)):
                found.append(resource)
                if wanted is not None:
                    break
        return found


def members_of(read: Callable[[str], dict[str, Any]], collection: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the members of a collection that are objects, also those of its further pages.

    :param read: callable ``(path) -> dict``; what it raises is raised
    :param collection: its first page
    """
    found, asked = dicts_in(collection, "Members"), set()
    for dummy in range(MEMBER_LIMIT):
        path = collection.get(_NEXT_PAGE)
        if len(found) >= MEMBER_LIMIT or not isinstance(path, str) or not path or path in asked:
            break
        asked.add(path)
        collection = read(path)
        found = found + dicts_in(collection, "Members")
    return found[:MEMBER_LIMIT]


def _links(members: list[dict[str, Any]]) -> list[str]:
    return [path for path in map(link, members) if path]
