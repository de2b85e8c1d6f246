# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kind whose definition is not installed has no objects; any other refusal is one."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds import served
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError


class Client:
    """Answers a LIST by objects, or by a refusal."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def list(self, *arguments):
        self.asked.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer, "1"


def test_objects_are_listed():
    client = Client([{"kind": "Secret"}])
    assert served.listed(client, KNOWN["Secret"], "ns", "a=b") == [{"kind": "Secret"}]
    assert client.asked == [(KNOWN["Secret"], "ns", "a=b")]


def test_a_kind_that_is_not_served_has_no_objects():
    assert served.listed(Client(KubeError("not found", 404)), KNOWN["Secret"]) == []


@pytest.mark.parametrize("status", [None, 401, 403, 500])
def test_other_refusals_are_raised(status):
    with pytest.raises(KubeError, match="refused"):
        served.listed(Client(KubeError("refused", status)), KNOWN["Secret"])
