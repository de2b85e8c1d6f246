# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mistyped key of ``management_plane`` is refused: without its kubeconfig the plane would be another cluster's."""
from __future__ import annotations

import json

import pytest
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._plane import described
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import site_figures

PLANE = {"name": "rack1", "dir": "/plane", "address": "192.0.2.10"}
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}', management_plane: %s}}}"


@pytest.mark.parametrize("plane", [
    None, {}, {"mode": "external"}, dict(PLANE, mode="process", ports={}), dict(PLANE, index=0, anything=1),
    dict.fromkeys(described.KEYS), site_figures.compute(PLANE, {}, "/cache")])
def test_what_is_read_is_described(plane):
    assert described.problems(plane) == []


@pytest.mark.parametrize("plane, found", [
    ({"mode": "cluster", "kubeconfg": "/k", "adopted": []}, [
        ("management_plane.kubeconfg", "remove it (perhaps kubeconfig is meant)"),
        ("management_plane.adopted", "remove it (perhaps adopt is meant)")]),
    ({"directory": "/p"}, [("management_plane.directory", "remove it")]),
    ({"a b": 1, 5: 1}, [("management_plane", "remove it")] * 2),
    ("process", [("management_plane", "write its keys below it, as name: value")]),
    (["process"], [("management_plane", "write its keys below it, as name: value")])])
def test_what_is_not_read_is_a_problem(plane, found):
    problems = described.problems(plane, "m1")
    assert [(problem.field, problem.hint) for problem in problems] == found
    assert {problem.subject for problem in problems} == {"m1"}


@pytest.mark.parametrize("name, tags", [
    ("install", ()), ("install", ("--tags", "bmo")), ("uninstall", ()), ("backup", ()), ("restore", ()), ("pivot", ()),
    ("rotate_credentials", ()), ("renew_certificates", ())])
def test_a_playbook_that_would_ask_another_cluster_ends_before(tmp_path, name, tags):
    plane = json.dumps({"mode": "cluster", "kubeconfg": "/k", "certificate": "collection"})
    code, output = playbook.play(tmp_path, INVENTORY % plane, "", f"metal3.baremetal.{name}", *tags,
                                 K8S_AUTH_HOST="https://127.0.0.1:1")
    assert code and "2 problems, nothing was changed" in output, output
    assert "management_plane.kubeconfg: found a key that is not read, expected one of address, " in output
    assert "remove it (perhaps kubeconfig is meant)" in output and "perhaps certificates is meant" in output
    assert "TASK [metal3.baremetal." not in output
