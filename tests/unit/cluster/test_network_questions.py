# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of image servers and of an endpoint."""
from __future__ import annotations

import socket

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    network_questions as cluster_network_checks,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.inventory import field_names
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem, text


@pytest.mark.parametrize("host", ["198.18.2.10", "192.0.2.10", "cluster.example.org"])
def test_any_endpoint_is_asked(monkeypatch, host):
    asked = []

    def refuse(address, timeout):
        asked.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(cluster_network_checks.socket, "create_connection", refuse)
    assert not cluster_network_checks.endpoint_answers(host, 6443)
    assert asked == [(host, 6443)]


def test_a_server_that_speaks_no_tls_is_no_cluster():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not cluster_network_checks.endpoint_answers("127.0.0.1", server.getsockname()[1])


DESCRIPTION = cluster_description.read({
    "name": "c1", "endpoint": {"host": "192.0.2.100"},
    "image": {"url": "https://images.example/a.raw", "checksum": "a" * 64},
    "control_plane": {},
    "workers": {"pool-a": {}, "pool-b": {"image": {"url": "https://images.example/b.raw", "checksum": "b" * 64}}},
})[0]


@pytest.fixture
def asked(monkeypatch):
    """Let the endpoint answer and no image be there; return a list of what is asked."""
    seen = []

    def fetch(url, limit):
        seen.append(url)
        raise OSError("HTTP 404 Not Found")

    def answers(host, port):
        seen.append((host, port))
        return True

    monkeypatch.setattr(cluster_network_checks, "image_fetcher", lambda ca_file: fetch)
    monkeypatch.setattr(cluster_network_checks, "endpoint_answers", answers)
    return seen


def test_each_image_is_asked_for_once_and_all_problems_are_reported(asked):
    found = cluster_network_checks.NetworkQuestions("cluster c1", DESCRIPTION, None).problems(is_new=True)
    assert sorted(asked, key=str) == [
        ("192.0.2.100", 6443), "https://images.example/a.raw", "https://images.example/b.raw"]
    assert [str(line).partition(": found ")[0] for line in found] == [
        "cluster c1: image.url", "cluster c1: workers.pool-b.image.url", "cluster c1: endpoint"]
    # The option that leaves the question out, by the name that the reader knows, and no other role's.
    assert "or set cluster_check_network to false" in text(found[0], field_names({}))
    assert "check_images" not in text(found[0], field_names({}))


def test_at_the_endpoint_of_a_cluster_that_is_there_something_may_answer(asked):
    found = cluster_network_checks.NetworkQuestions("cluster c1", DESCRIPTION, None).problems(is_new=False)
    assert len(found) == 2 and not any("endpoint" in str(line) for line in found)


def test_images_are_asked_for_from_ironics_pod_too(asked, monkeypatch):
    def problems(images, place):
        return [Problem("image-reach", image.subject, image.field, place, "reached") for image in images], ["a warning"]

    monkeypatch.setattr(cluster_network_checks.image_reach, "problems", problems)
    questions = cluster_network_checks.NetworkQuestions("cluster c1", DESCRIPTION, None, "a pod")
    found = [line for line in questions.problems(is_new=False) if line.code == "image-reach"]
    assert [(line.field, line.actual) for line in found] == [("image", "a pod"), ("workers.pool-b.image", "a pod")]
    assert questions.warnings == ["a warning"]
