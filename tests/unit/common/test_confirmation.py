# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A missing confirmation stops a run, and is a warning in check mode."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import confirmation
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem

MISSING = Problem("confirmation-missing", "cluster c1", "confirm", None, "1", "repeat its number")


@pytest.mark.parametrize(("given", "planes", "text"), [
    ("2", (), ""),
    ("a,b", ("one",), ""),
    (None, (), "This stops 2 programs (a, b). To continue, set metal3_confirm=2."),
    ("1", (), 'metal3_confirm: found "1", expected 2. This stops 2 programs (a, b). To continue, set '
              "metal3_confirm=2."),
    ("2", ("one", "other"), "metal3_confirm: found 2 planes (one, other) in this play, expected one, because it would "
                            "count for each of them; repeat the run with --limit <plane>")])
def test_what_is_missing_is_asked_for(given, planes, text):
    assert confirmation.missing("stops %s", ["b", "a"], given, "program", planes) == text


def test_a_message_stops_a_run():
    assert confirmation.required("", False) == confirmation.required("", True) == []
    assert confirmation.required("This stops it.", True) == ["without check mode this would be refused: This stops it."]
    with pytest.raises(ReportedError, match=r"^This stops it\.$"):
        confirmation.required("This stops it.", False)


def test_problems_refuse_a_run():
    assert confirmation.required_by([], False) == confirmation.required_by([], True) == []
    assert confirmation.required_by([MISSING], True, {"confirm": "metal3_confirm"}) == [
        "without check mode this would be refused: cluster c1: metal3_confirm: not set, expected 1; repeat its number"]
    with pytest.raises(RefusedError, match="cluster c1: confirm: not set") as caught:
        confirmation.required_by([MISSING], False)
    assert caught.value.problems == [MISSING]
