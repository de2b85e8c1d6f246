# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the passwords of BMCs' accounts: found, replaced, proven by a login, taken back if that fails.

By Redfish; by IPMI where the address speaks that.

Each password is tried once for each account in a run, whatever happens, so that no account is locked.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..._common.redaction.quoted_secrets import without_secrets
from ..._common.waiting import parallel
from ..protocols import ipmi
from ..protocols.gather import Counter, Settings, Target, in_session
from ..protocols.redfish import RedfishClient, RedfishError, link
from ..protocols.survey import members_of
from .accounts import (
    CHANGED,
    FAILED,
    LOST,
    REFUSED,
    RESTORED,
    UNCHANGED,
    UNPROVEN,
    Look,
    Outcome,
    Wanted,
    chosen,
    neither,
    policy_error,
)

_UNAUTHORIZED, _PRECONDITION_FAILED, _PRECONDITION_REQUIRED = 401, 412, 428
_CHANGED_MEANWHILE, _NOT_SENT, _UNFINISHED = "changed", "not sent", "unfinished"
# Answers that say nothing of the new password: another request is under way, or there were too many, or the account has
# another ETag than it shows.
_BUSY = (408, 409, _PRECONDITION_FAILED, 423, 425, _PRECONDITION_REQUIRED, 429)
# Shorter ones are parts of ordinary words.
_SHORTEST_SECRET = 4


class PasswordChange:
    """Accounts whose passwords are to be replaced.

    :param settings: how BMCs are asked
    :param progress: a Progress
    """

    def __init__(self, settings: Settings, progress: Any):
        self._settings = settings
        self._progress = progress

    def look(self, accounts: Sequence[Wanted]) -> list[Look]:
        """Log in at all BMCs and find the accounts; nothing is changed.

        :returns: in the order of the accounts
        """
        counter = Counter(len(accounts), self._progress, "logging in at BMCs")

        def look(wanted: Wanted) -> Look:
            found = self._look(wanted)
            counter.add(1)
            return found

        outcomes = parallel.run(
            [partial(look, wanted) for wanted in accounts], self._settings.concurrency, RedfishError)
        return [outcome.value if outcome.error is None else Look(None, str(outcome.error), "run again")
                for outcome in outcomes]

    def change(self, wanted: Wanted, works: str) -> Outcome:
        """Replace the password of an account.

        :param works: the password that the BMC accepts now
        """
        if works == wanted.new:
            return Outcome(UNCHANGED)
        if _by_ipmi(wanted):
            outcome = self._replace_by_ipmi(wanted, works)
            return outcome._replace(text=_clean(wanted, outcome.text))
        facts, outcome = self._session(wanted, works, partial(self._replace, wanted, works))
        if outcome is None:
            outcome = Outcome(FAILED, _login_error(facts))
        return outcome._replace(text=_clean(wanted, outcome.text))

    def _session(self, wanted: Wanted, password: str, work: Any) -> tuple[dict[str, Any], Any]:
        target = Target(wanted.names[0], wanted.address, wanted.username, password, wanted.any_certificate,
                        wanted.ca_cert)
        return in_session(target, self._settings, work)

    def _look(self, wanted: Wanted) -> Look:
        if _by_ipmi(wanted):
            return self._look_by_ipmi(wanted)
        for password in wanted.passwords:
            facts, look = self._session(wanted, password, partial(self._find, wanted, password))
            if not facts["error"]:
                return look._replace(error=_clean(wanted, look.error))
            if not _is_refused(facts):
                return Look(None, _clean(wanted, f"{wanted.address.authority}: {_login_error(facts)}"),
                            "run playbook preflight, which says what is in the way")
        return neither(len(wanted.passwords))

    def _find(self, wanted: Wanted, password: str, client: RedfishClient, root: dict[str, Any],
              dummy_facts: dict[str, Any]) -> Look:
        if password == wanted.new:
            return Look(password)
        try:
            service, path, error = _account(client, root, wanted.username)
        except RedfishError as exc:
            return Look(password, f"the account can not be read: {exc}", "give the account the role Administrator")
        if not path:
            return Look(password, error, "replace the password where the account is kept")
        error = policy_error(service, wanted.new)
        return Look(password, error, "choose another one" if error else "")

    def _replace(self, wanted: Wanted, old: str, client: RedfishClient, root: dict[str, Any],
                 dummy_facts: dict[str, Any]) -> Outcome:
        try:
            dummy, path, error = _account(client, root, wanted.username)
        except RedfishError as exc:
            return Outcome(FAILED, f"the account can not be read: {exc}")
        if not path:
            return Outcome(FAILED, error)
        said, back = "HTTP 200", RESTORED
        try:
            _set(client, path, wanted.new)
        except RedfishError as exc:
            # Not the new password was refused, but whoever has logged in with the old one.
            if exc.kind in (_CHANGED_MEANWHILE, _NOT_SENT) or exc.status in (_UNAUTHORIZED, *_BUSY):
                return Outcome(FAILED, str(exc))
            if exc.kind == _UNFINISHED:
                return Outcome(UNPROVEN, str(exc))
            if 300 <= exc.status < 500:
                return Outcome(REFUSED, str(exc))
            # A lost answer: the new one may count.
            said, back = str(exc), FAILED
        facts, is_in = self._session(wanted, wanted.new, _is_in)
        if is_in:
            return Outcome(CHANGED)
        if not _is_refused(facts):
            return Outcome(UNPROVEN, _login_error(facts))
        return self._take_back(wanted, old, client, path, Outcome(back, f"{said}, then {_login_error(facts)}"))

    def _take_back(self, wanted: Wanted, old: str, client: RedfishClient, path: str, back: Outcome) -> Outcome:
        """Set the old password again, by the session that it began, and find out whether it counts.

        :param back: the outcome if it does
        """
        why = back.text
        try:
            _set(client, path, old)
        except RedfishError as exc:
            if exc.status == _UNAUTHORIZED and client.login_method == "basic":
                # The request had the old password, which is not tried twice.
                return Outcome(LOST, f"{why}; taking it back: {exc}")
            if exc.kind == _UNFINISHED:
                return Outcome(UNPROVEN, f"{why}; taking it back: {exc}")
            # It may refuse a password that it has had before, and have that one still; or have ended the session.
        facts, is_in = self._session(wanted, old, _is_in)
        if is_in:
            return back
        return Outcome(LOST if _is_refused(facts) else UNPROVEN,
                       f"{why}; afterwards with the old one: {_login_error(facts)}")

    # By IPMI

    def _login(self, wanted: Wanted, password: str) -> ipmi.Login:
        address = wanted.address
        return ipmi.Login(address.host, address.effective_port, wanted.username, password,
                          address.query.get("privilegelevel", ipmi.DEFAULT_PRIVILEGE),
                          self._settings.connect_timeout_seconds)

    def _look_by_ipmi(self, wanted: Wanted) -> Look:
        for password in wanted.passwords:
            try:
                slot = ipmi.user_slot(self._login(wanted, password))
            except ipmi.IpmiError as exc:
                if exc.kind == "unauthorized":
                    continue
                return Look(None, f"{wanted.address.endpoint}: {exc}",
                            "run playbook preflight, which says what is in the way")
            if password == wanted.new or slot:
                return Look(password)
            return Look(password, "the BMC does not list this user once", "give the account the level ADMINISTRATOR")
        return neither(len(wanted.passwords))

    def _replace_by_ipmi(self, wanted: Wanted, old: str) -> Outcome:
        try:
            slot = ipmi.user_slot(self._login(wanted, old))
        except ipmi.IpmiError as exc:
            return Outcome(FAILED, str(exc))
        if not slot:
            return Outcome(FAILED, "the BMC does not list this user once")
        said, back = "accepted", RESTORED
        try:
            error = ipmi.set_password(self._login(wanted, old), slot, wanted.new)
            if error:
                return Outcome(REFUSED, error)
        except ipmi.IpmiError as exc:
            # A lost answer: the new one may count.
            said, back = str(exc), FAILED
        refused = self._refused_by_ipmi(wanted, wanted.new)
        if refused is None:
            return Outcome(CHANGED)
        if refused.kind != "unauthorized":
            return Outcome(UNPROVEN, str(refused))
        # A session is over when ipmitool ends: only the old password could take anything back, and then it counts.
        still = self._refused_by_ipmi(wanted, old)
        if still is not None:
            return Outcome(LOST if still.kind == "unauthorized" else UNPROVEN,
                           f"{said}, then {refused}; afterwards with the old one: {still}")
        return Outcome(back, f"{said}, then {refused}")

    def _refused_by_ipmi(self, wanted: Wanted, password: str) -> ipmi.IpmiError | None:
        """Log in once and return the error, None when the BMC has let in."""
        try:
            ipmi.user_slot(self._login(wanted, password))
        except ipmi.IpmiError as exc:
            return exc
        return None


def _by_ipmi(wanted: Wanted) -> bool:
    return wanted.address.driver.protocol == "ipmi"


def _is_in(*dummy: Any) -> bool:
    return True


def _account(client: RedfishClient, root: dict[str, Any], username: str) -> tuple[dict[str, Any], str, str]:
    """Return ``(AccountService, path of the account, "")``, or why there is none as the last.

    :raises RedfishError: when the BMC does not answer, or has no account service
    """
    service_path = link(root, "AccountService")
    if not service_path:
        raise RedfishError("not_found", "the BMC has no account service")
    service = client.read(service_path)
    accounts_path = link(service, "Accounts")
    if not accounts_path:
        raise RedfishError("not_found", "the BMC's account service names no accounts")
    found = []
    for member in members_of(client.read, client.read(accounts_path)):
        path = link(member)
        try:
            if path:
                found.append((path, client.read(path)))
        except RedfishError as exc:
            # Some let an account read nothing but itself.
            if exc.kind not in ("unauthorized", "not_found"):
                raise
    path, error = chosen(found, username)
    return service, path, error


def _set(client: RedfishClient, path: str, password: str) -> None:
    """Set the password of an account, on the condition that nobody changes it meanwhile, where the BMC knows that.

    :raises RedfishError: when the BMC refuses it, or somebody has changed the account
    """
    try:
        dummy, etag = client.read_tagged(path)
    except RedfishError as exc:
        raise RedfishError(_NOT_SENT, str(exc), exc.status) from exc
    try:
        client.patch(path, {"Password": password}, etag)
        return
    except RedfishError as exc:
        if exc.status not in (_PRECONDITION_FAILED, _PRECONDITION_REQUIRED):
            raise
    dummy, now = client.read_tagged(path)
    if etag and now != etag:
        raise RedfishError(_CHANGED_MEANWHILE, "somebody else has changed the account since it was read, perhaps its "
                           "password", _PRECONDITION_FAILED)
    if now == etag:
        # Some compare with a strong ETag what they show as a weak one, some ask for one and show none.
        now = now[2:] if now.startswith("W/") else now or "*"
    client.patch(path, {"Password": password}, now)


def _is_refused(facts: dict[str, Any]) -> bool:
    """Return whether the BMC did not accept the password, so that another one may be the right one."""
    return bool(facts["error"]) and facts["error"]["stage"] == "login" and facts["error"]["kind"] == "unauthorized"


def _login_error(facts: dict[str, Any]) -> str:
    return f"{facts['error']['stage']}: {facts['error']['text']}"


def _clean(wanted: Wanted, text: str) -> str:
    """Return what a BMC said without passwords, which some quote."""
    return without_secrets(text, wanted.secrets, _SHORTEST_SECRET)
