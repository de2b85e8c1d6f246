# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects keep what their kind allows, and lose what has another type."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.documents import object_shape
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table

RUN = {"start": "2026-11-22T17:20:00Z", "end": "2026-11-22T17:22:05Z"}


def host(history):
    return {"metadata": {"name": "h1", "namespace": "metal3"}, "status": {"operationHistory": history}}


def test_a_host_is_kept_as_bmo_writes_it():
    """A saved status is restored as it was: null, for an operation that has not run, is no mistake."""
    history = {"inspect": RUN, "provision": {"start": None, "end": None}, "register": dict(RUN, end=None)}
    shaped = object_shape.of_kind(host(history), "BareMetalHost")
    assert shaped["status"] == {"operationHistory": history}
    assert table.operation_seconds(history) == {"inspect": 125}


@pytest.mark.parametrize("value", ["a", "", 5, [], "2026-11-22", "2026-99-22T17:20:00Z"])
def test_a_point_in_time_of_another_form_is_left_out(value):
    shaped = object_shape.of_kind(host({"inspect": dict(RUN, start=value)}), "BareMetalHost")
    assert shaped["status"]["operationHistory"] == {"inspect": {"end": RUN["end"]}}
    assert table.operation_seconds(shaped["status"]["operationHistory"]) == {}
