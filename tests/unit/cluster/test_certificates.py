# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of a control plane's machines: when they end, and which machines are replaced for them."""
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from fakes.clusters import Plane, run

from ansible_collections.metal3.baremetal.plugins.filter.certificate_rollout import certificate_rollout
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.info_service import read_cluster

# 2026-01-01T00:00:00Z
NOW = 1767225600


@pytest.fixture
def plane():
    """Three machines of a control plane, one of which is a day old, with a worker."""
    found = Plane()
    run(found, control_plane={"replicas": 3})
    found.add_members("c1-control-plane", 3)
    found.add_members("c1-one", 1)
    for name, made, ends in (("0", "2025-01-20T08:00:00Z", "2026-01-20T08:00:00Z"),
                             ("1", "2025-01-21T08:00:00Z", "2026-01-21T08:00:00Z"),
                             ("2", "2025-12-31T08:00:00Z", "2026-12-31T08:00:00Z")):
        machine = found.objects["Machine", "c1-control-plane-" + name]
        machine["metadata"]["creationTimestamp"] = made
        machine["status"] = {"certificatesExpiryDate": ends, "nodeRef": {"name": f"node-{name}"}}
    found.objects["Machine", "c1-one-0"]["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z"
    return found


def certificates(plane):
    return read_cluster(plane, "metal3", "c1", lambda: NOW)["certificates"]


def test_the_machines_whose_certificates_end_soon_are_named_by_their_age(plane):
    found = certificates(plane)
    assert [(item["machine"], item["days_left"]) for item in found] == [
        ("c1-control-plane-0", 19), ("c1-control-plane-1", 20), ("c1-control-plane-2", 364)]
    # Cluster API replaces those that were made before: both, and not the newest.
    assert certificate_rollout(found) == "2025-01-21T08:00:01Z"
    assert certificate_rollout(found, 20) == "2025-01-20T08:00:01Z"
    assert certificate_rollout(found, 19) == ""
    assert certificate_rollout(found, 0, "2026-01-20T08:00:01Z") == "2025-01-20T08:00:01Z"


def test_a_run_that_was_interrupted_goes_on_with_those_that_are_left(plane):
    before = certificate_rollout(certificates(plane))
    machine = plane.objects["Machine", "c1-control-plane-0"]
    machine["metadata"]["creationTimestamp"], machine["status"]["certificatesExpiryDate"] = (
        "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
    assert certificate_rollout(certificates(plane)) == before
    del plane.objects["Machine", "c1-control-plane-1"]
    assert certificate_rollout(certificates(plane)) == ""


def test_what_is_not_known_or_going_replaces_nothing(plane):
    del plane.objects["Machine", "c1-control-plane-0"]["status"]
    plane.objects["Machine", "c1-control-plane-1"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = certificates(plane)
    assert found[0] == {"machine": "c1-control-plane-0", "created": "2025-01-20T08:00:00Z", "joined": False,
                        "not_after": None, "days_left": None}
    assert len(found) == 2 and certificate_rollout(found) == certificate_rollout(found, 30, None, True) == ""


def test_a_machine_with_a_node_whose_certificates_end_nobody_knows_when_is_replaced_on_request(plane):
    del plane.objects["Machine", "c1-control-plane-1"]["status"]["certificatesExpiryDate"]
    found = certificates(plane)
    assert (found[1]["joined"], found[1]["not_after"]) == (True, None)
    assert certificate_rollout(found, 19) == "" and certificate_rollout(found, 30) == "2025-01-20T08:00:01Z"
    assert certificate_rollout(found, 19, "", True) == certificate_rollout(found, 30, "", True) \
        == "2025-01-21T08:00:01Z"


def test_an_end_that_python_can_not_read_is_not_known(plane):
    """API servers take the year 0 for a time; whoever writes the status may have a machine replaced by none."""
    plane.objects["Machine", "c1-control-plane-2"]["status"]["certificatesExpiryDate"] = "0000-01-01T00:00:00Z"
    found = certificates(plane)[2]
    assert (found["not_after"], found["days_left"]) == (None, None)
    assert certificate_rollout([found], 10 ** 6, "9999-01-01T00:00:00Z") == ""
    assert certificate_rollout([found], unknown=True) == "2025-12-31T08:00:01Z"


@pytest.mark.parametrize("given", [(None,), ([{}],), ([], "soon"), ([], 1, "soon"), ("text",)])
def test_what_is_no_list_of_certificates_is_refused(given):
    with pytest.raises(AnsibleFilterError, match="give certificates as cluster_info returns them"):
        certificate_rollout(*given)
