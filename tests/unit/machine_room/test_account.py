# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounts of the lab's BMCs: passwords over restarts, conditions of a change, lockout, IPMI."""
from __future__ import annotations

import base64

import pytest
from fakes.clock import Clock
from machine_room.account import LOCKOUT_SECONDS, Account


def basic(password, username="admin"):
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


@pytest.fixture
def clock():
    return Clock(1000.0)


@pytest.fixture
def account(server, clock):
    server.bmc_account = Account(server, "admin", "delivered", clock)
    return server.bmc_account


def test_a_new_password_counts_at_once_and_after_a_restart(account, make_server):
    assert account.enter(basic("delivered"))
    account.set_password("another-one")
    assert account.enter(basic("another-one")) and not account.enter(basic("delivered"))
    # What IPMI asks for.
    assert account.password("admin") == "another-one" and account.password("root") is None
    again = Account(make_server(), "admin", "delivered")
    assert again.enter(basic("another-one")) and not again.is_delivered
    account.reset()
    assert account.enter(basic("delivered")) and account.describe()["delivered"]


@pytest.mark.parametrize("wanted", [{"Password": "short"}, {"Password": "x" * 21}, {"Password": 7}, {}, None,
                                    {"Password": "another-one", "UserName": "root"}])
def test_policy(account, wanted):
    status, text = account.refusal(account.etag, wanted)
    assert status == 400 and "Password" in text


def test_a_change_rests_on_the_account_as_it_was_read(account):
    wanted, etag = {"Password": "another-one"}, account.etag
    assert account.refusal(None, wanted)[0] == 428
    assert account.refusal('W/"9"', wanted)[0] == 412
    assert account.refusal(etag, wanted) is None
    account.set_password("another-one")
    assert account.refusal(etag, wanted)[0] == 412


def test_lockout_by_wrong_passwords_in_a_row(account, server, clock):
    server.knobs.set({"lockout_threshold": 2})
    assert not account.enter(basic("wrong")) and account.enter(basic("delivered"))
    assert not account.enter(basic("wrong")) and not account.enter(basic("wrong"))
    assert account.locked and not account.enter(basic("delivered")) and account.password("admin") is None
    clock.now += LOCKOUT_SECONDS
    assert account.enter(basic("delivered")) and not account.locked


def test_another_user_does_not_count(account, server):
    server.knobs.set({"lockout_threshold": 1})
    assert not account.enter(basic("wrong", "root")) and not account.locked


def test_a_bmc_that_accepts_and_goes_on_with_the_old_one(account, server):
    server.knobs.set({"password_ignored": True})
    account.set_password("another-one")
    assert account.enter(basic("delivered")) and not account.enter(basic("another-one"))
