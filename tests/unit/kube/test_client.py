# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests whose form decides whether check mode is one; answers that would fill the memory."""
from __future__ import annotations

import email.utils
import gzip
import http.server
import time

import pytest
from fakes.api_server import ApiServer, Fault

from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import answer_limits
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import client as kube_client
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import transport
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN


class Recorder(KubeClient):
    """Records requests in place of sending them."""

    def __init__(self):
        self.sent = []

    def request(self, method, path, query=None, body=None, *_arguments, **_options):
        self.sent.append((method, query, body))
        return {}


def test_a_delete_on_trial_says_so_where_the_server_looks():
    """With a body the API server ignores the query's options, so that a dry run there would delete."""
    client = Recorder()
    client.delete(KNOWN["Secret"], "n", "a", uid="1", dry_run=True)
    client.delete(KNOWN["Secret"], "n", "a")
    (dummy, query, trial), (dummy, dummy, real) = client.sent
    assert not query
    assert trial == {"propagationPolicy": "Background", "preconditions": {"uid": "1"}, "dryRun": ["All"]}
    assert "dryRun" not in real


LARGE = b"x" * 300_000
PACKED = Fault(200, {"Content-Encoding": "gzip"}, gzip.compress(LARGE))


@pytest.mark.parametrize("fault", [Fault(200, {}, LARGE), Fault(500, {}, LARGE), PACKED, PACKED._replace(status=403)])
@pytest.mark.parametrize("any_content", [True, False])
def test_an_answer_is_not_read_without_end(monkeypatch, fault, any_content):
    """What a Service of a workload cluster, or who has its API server, sends was read into memory as a whole."""
    for name in ("ANSWER_LIMIT_BYTES", "TEXT_LIMIT_BYTES"):
        monkeypatch.setattr(transport, name, 100_000)
    with ApiServer(fault=lambda request: fault) as server:
        client = KubeClient({"host": server.url, "api_key": "t"})
        with pytest.raises(KubeError, match="an answer of more than 0 MiB") as caught:
            client.request("GET", "/api/v1/namespaces/n/services/s/proxy/", any_content=any_content)
        assert len(caught.value.message) < 1000
        assert len(server.requests) == 1


@pytest.mark.parametrize("content, taken", [
    (b'{"items":[' + b"{}," * 400 + b"{}]}", True), (b'{"items":[' + b"{}," * 600 + b"{}]}", False),
    (b'{"a":"' + b"x" * 5_000 + b'"}', True)])
def test_an_answer_of_many_values_takes_no_memory(monkeypatch, content, taken):
    """59 KiB of a workload cluster's API server were 60 MiB of JSON, and 1.6 GiB of values."""
    monkeypatch.setattr(answer_limits, "VALUES_LIMIT", 1_000)
    packed = Fault(200, {"Content-Encoding": "gzip"}, gzip.compress(content))
    with ApiServer(fault=lambda request: packed) as server:
        client = KubeClient({"host": server.url, "api_key": "t"})
        if taken:
            assert len(client.request("GET", "/api/v1/nodes")) == 1
            return
        with pytest.raises(KubeError, match="an answer of more than 0 million values"):
            client.request("GET", "/api/v1/nodes")


def test_an_event_of_a_watch_is_not_read_without_end(monkeypatch):
    monkeypatch.setattr(kube_client, "EVENT_LIMIT_BYTES", 100_000)
    with ApiServer(fault=lambda request: Fault(200, {}, LARGE)) as server:
        events = KubeClient({"host": server.url, "api_key": "t"}).watch(KNOWN["Secret"], "n", "1")
        with pytest.raises(KubeError, match="an event of more than 0 MiB"):
            next(events)


@pytest.mark.parametrize("date, expected", [
    (lambda: email.utils.formatdate(time.time() + 900, usegmt=True), 900),
    (lambda: email.utils.formatdate(time.time() - 900, usegmt=True), -900),
    (lambda: email.utils.formatdate(usegmt=True), 0), (lambda: "tomorrow", 0),
    (lambda: "Fri, 31 Dec 9999 08:51:41 GMT", 0), (lambda: "Wed, 02 Dec 2026 08:51:41 -0000", 0),
    (lambda: "Wed, 99 Dec 99999 08:51:41 GMT", 0)])
def test_the_servers_clock_is_read_from_its_answers(monkeypatch, date, expected):
    monkeypatch.setattr(http.server.BaseHTTPRequestHandler, "date_time_string", lambda *dummy: date())
    with ApiServer(fault=lambda request: Fault(200, {}, b"{}")) as server:
        client = KubeClient({"host": server.url, "api_key": "t"})
        client.request("GET", "/version")
        assert abs(client.ahead_seconds - expected) < 60 and bool(client.ahead_seconds) is bool(expected)
