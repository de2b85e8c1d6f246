# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server's part of a bulk result."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import outcome

RESULT = {"changed": True, "failed": True, "hosts": [
    {"name": "h1", "state": "available", "changed": True, "failed": False, "error": "", "hardware": {"cpu": {}}},
    {"name": "h2", "state": "new", "changed": False, "failed": True, "error": "no answer; look at the BMC"}]}


def test_each_server_has_its_part():
    first = outcome.report([RESULT], "h1")
    assert first["changed"] and not first["failed"] and first["msg"] == "available" and "hardware" not in first["host"]
    second = outcome.report([RESULT], "h2")
    assert second["failed"] and not second["changed"]
    assert second["msg"] == "1 of 2 hosts failed, among them:\n- h2 (new): no answer; look at the BMC"


def test_what_a_bmc_has_said_steers_no_terminal():
    """Ansible prints the message of a task that has failed as it is, and no module is run that would neutralise it."""
    failed = dict(RESULT, msg="1 of 2 hosts failed:\x1b[2J", hosts=[
        {"name": "h2", "state": "new\x9b31m", "failed": True, "error": "the BMC: \x1b]0;x\x07no\u202e; look at it"}])
    message = outcome.report([failed], "h2")["msg"]
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(message)
    assert message == "1 of 2 hosts failed:\\x1b[2J\n- h2 (new\\x9b31m): the BMC: \\x1b]0;x\\x07no\\u202e; look at it"


def test_each_server_shows_its_own_differences():
    diffs = [{"before": "a\n", "after": "b\n", "host": name} for name in ("h1", "h2", "h1")]
    assert outcome.report([dict(RESULT, diff=diffs)], "h1")["diff"] == [diffs[0], diffs[2]]
    assert outcome.report([RESULT], "h1")["diff"] == []


@pytest.mark.parametrize("result", [None, "text", {}, {"hosts": None}, {"hosts": ["h3"]}, RESULT])
def test_a_server_without_a_part_is_skipped(result):
    assert outcome.report([result], "h3") == {"skipped": True, "changed": False, "msg": "nothing was done to h3"}


@pytest.mark.parametrize("result, names, unreported", [
    (RESULT, ["h1", "h2"], False), (RESULT, ["h2"], False), (RESULT, ["h1"], True), (RESULT, [], True),
    # Refused before anything was written: no server has the failure.
    ({"failed": True, "msg": "refused"}, ["h1"], True), ({"failed": True, "hosts": RESULT["hosts"][:1]}, ["h1"], True),
    ({"failed": False, "hosts": []}, [], False)])
def test_a_failure_is_never_lost(result, names, unreported):
    assert outcome.unreported(result, "failed", names) is unreported


POLICIES = {"changed": True, "policies": [{"name": "h1", "action": "updated", "changed": True, "error": ""}]}
SETTINGS = {"failed": True, "msg": "1 of 2 hosts failed:\n- h2: not valid", "hosts": [
    {"name": "h1", "changed": False, "error": "", "host_state": "available", "settings": {"A": "1"}},
    {"name": "h2", "changed": True, "error": "not valid", "host_state": "available"}]}


def test_a_server_has_one_part_of_all_steps():
    first = outcome.report([POLICIES, SETTINGS, {"skipped": True}, None], "h1")
    assert first["changed"] and not first["failed"] and "settings" not in first["host"]
    assert first["msg"] == "available; the steps that follow were left out, as these failed: h2"
    second = outcome.report([POLICIES, SETTINGS], "h2")
    assert second["changed"] and second["failed"]
    assert second["msg"] == "1 of 2 hosts failed:\n- h2 (available): not valid"


def test_all_failures_of_a_server_are_reported_together():
    preflight = {"msg": "2 problems", "advice": "Give up.", "hosts": [
        {"name": "h2", "verdict": "problem", "failed": True,
         "failing": ["h2: login: wrong", "h2: clock: late"]}]}
    assert outcome.report([preflight, SETTINGS], "h2")["msg"].splitlines() == [
        "2 problems", "- h2: login: wrong", "- h2: clock: late", "Give up.",
        "1 of 2 hosts failed:", "- h2 (available): not valid"]


@pytest.mark.parametrize("results, failures", [
    ([], False), ([None, {"skipped": True}, POLICIES], False), ([POLICIES, SETTINGS], True), ([RESULT], True),
    # An error that is known and did not end the wait for the server is no failure of the task.
    ([{"hosts": [{"name": "h1", "failed": False, "error": "seen once"}]}], False)])
def test_the_next_step_knows_of_a_failure(results, failures):
    assert outcome.with_failures(results) is failures
