# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for definitions: an API server that is too busy to answer is asked again, one that refuses ends the wait."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import provider

ESTABLISHED = {"status": {"conditions": [{"type": "NamesAccepted", "status": "True"},
                                         {"type": "Established", "status": "True"}]}}
BUSY = KubeError("API server does not answer", reason="Unreachable")


class Client:
    """Gives one answer after the other, the last one again and again."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), 0

    def get(self, *_arguments):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, KubeError):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(provider, "POLL_INTERVAL_SECONDS", 0)


def test_an_api_server_that_did_not_answer_is_asked_again():
    client = Client(BUSY, KubeError("busy", 503), None, ESTABLISHED)
    provider.wait_established(client, ["a"], 60)
    assert client.asked == 4


def test_when_the_time_is_up_the_last_error_is_named():
    with pytest.raises(provider.ProviderError, match=r"not established within .* a: API server does not answer"):
        provider.wait_established(Client(BUSY), ["a"], 0)


def test_a_refusal_ends_the_wait_at_once():
    client = Client(KubeError("forbidden", 403), ESTABLISHED)
    with pytest.raises(provider.ProviderError, match="forbidden"):
        provider.wait_established(client, ["a"], 60)
    assert client.asked == 1
