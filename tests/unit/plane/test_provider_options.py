# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What plane_provider refuses, before it writes a file or asks a server."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import provider_options, provider_service

PORTS = {"ipam_webhook": 1, "ipam_health": 2, "ipam_metrics": 3}
PLANE = {"dir": "/lab", "engine_dir": "/engine", "urls": {"kubernetes": "https://127.0.0.1:1"}, "ports": PORTS}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}, "data": {"a": "c2VjcmV0"}}


def fields(plane=None, *objects):
    return [problem.field for problem in provider_options.problems(plane or PLANE, ["ipam"], list(objects))]


def test_what_the_labs_file_holds_is_accepted():
    assert fields(PLANE, NAMESPACE, SECRET) == []


@pytest.mark.parametrize("plane, expected", [
    ({}, ["dir", "engine_dir", "urls.kubernetes", "ports.ipam_webhook", "ports.ipam_health", "ports.ipam_metrics"]),
    (dict(PLANE, dir=7), ["dir"]),
    (dict(PLANE, urls=[]), ["urls.kubernetes"]),
    (dict(PLANE, ports=dict(PORTS, ipam_health="2", ipam_metrics=True)), ["ports.ipam_health", "ports.ipam_metrics"]),
    (dict(PLANE, ports=dict(PORTS, ipam_webhook=70000)), ["ports.ipam_webhook"]),
], ids=["empty", "number", "list", "types", "too high"])
def test_each_figure_that_cannot_be_used_is_named(plane, expected):
    assert fields(plane or {"name": "lab"}) == ["management_plane." + name for name in expected]


@pytest.mark.parametrize("item, expected", [
    ({}, ["metadata"]),
    (dict(NAMESPACE, metadata="n"), ["metadata"]),
    ({"metadata": {}}, ["apiVersion", "kind", "metadata.name"]),
    (dict(NAMESPACE, kind=["Namespace"]), ["kind"]),
    (dict(NAMESPACE, kind="Nonsense"), ["kind"]),
    (dict(NAMESPACE, apiVersion="apps/v1"), ["kind"]),
    (dict(SECRET, metadata={"name": "s"}), ["metadata.namespace"]),
    (dict(NAMESPACE, metadata={"name": "n", "namespace": "m"}), ["metadata.namespace"]),
    (dict(SECRET, data="secret-word"), ["data"]),
])
def test_each_field_of_an_object_that_cannot_be_used_is_named(item, expected):
    assert fields(PLANE, NAMESPACE, item) == ["objects[1]." + name for name in expected]


def test_everything_is_refused_at_once_and_before_anything_is_done():
    def connect():
        raise AssertionError("the server was asked")

    params = {"management_plane": {"dir": "/nowhere"}, "providers": [{"name": "ipam"}],
              "objects": [dict(SECRET, data="secret-word")]}
    with pytest.raises(RefusedError) as refused:
        provider_service.start(params, connect, False, Progress())
    assert len(refused.value.problems) == 6 and "secret-word" not in str(refused.value)
    # Without the mistakes something is done: the first file is read.
    with pytest.raises(ReportedError, match=r"/engine/manifests-2/ipam\.yaml"):
        provider_service.start(dict(params, management_plane=PLANE, objects=[SECRET]), connect, False, Progress())
