# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What check mode says of a move to a plane that is stopped, and that a run without it starts."""
from __future__ import annotations

import copy

import pytest
from fakes.planes import NAMESPACE, obj

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes.asked import NodesAsked
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import one_sided

THERE = "https://127.0.0.1:1"


def planned(here, confirm=None, **options):
    return one_sided.planned(here, {"namespace": NAMESPACE, "confirm": confirm, **options}, THERE, "it does not answer")


def stopped(tmp_path):
    """A client of an API server of which nothing but the kubeconfig is left."""
    path = tmp_path / "kubeconfig"
    path.write_text(f"""
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{THERE}", insecure-skip-tls-verify: true}}}}]
users: [{{name: u, user: {{token: t}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
""")
    path.chmod(0o600)
    return KubeClient({"kubeconfig": str(path)})


def test_each_object_that_would_move_is_named_and_what_was_not_asked(here):
    before = copy.deepcopy(here.objects)
    found = planned(here)
    assert found["due"] and not found["begun"] and found["hosts"] == ["free", "used"] and found["machines"] == ["m"]
    assert {item["before_header"] for item in found["diff"]} >= {"BareMetalHost used", "Secret c-kubeconfig"}
    assert "metal3_confirm=2" in found["confirmation"] and planned(here, "2")["confirmation"] == ""
    (warning,) = found["warnings"]
    assert warning.startswith(f"{THERE} is asked by a run without check mode") and "it does not answer" in warning
    assert here.objects == before and here.writes() == []


def test_what_is_in_the_way_here_is_refused(here):
    here.objects["BareMetalHost", "free"]["status"]["provisioning"]["state"] = "deprovisioning"
    here.objects["Deployment", "ironic"] = obj("apps/v1", "Deployment", "ironic", spec={"replicas": 1, "template": {
        "spec": {"containers": [{"name": "ironic", "image": "ironic"}]}}})
    here.forbidden = frozenset(("delete machines",))
    with pytest.raises(RefusedError) as refused:
        planned(here)
    text = str(refused.value)
    assert len(refused.value.problems) == 3 and "free: status.provisioning.state: found deprovisioning" in text
    assert "may not delete machines" in text and "an Ironic that runs in the plane that lets go" in text


def test_of_a_move_that_has_begun_its_record_is_said(here):
    side = Side(here, NAMESPACE)
    begun = record.made(side.uid, "b", side.graph(), "node:/work")
    config = record.config_map(begun, NAMESPACE)
    config["metadata"]["uid"] = "uid-of-the-record"
    here.objects["ConfigMap", record.NAME] = config
    here.objects["BareMetalHost", "free"]["status"]["provisioning"]["state"] = "deprovisioning"
    found = planned(here)
    assert found["begun"] and found["due"] and found["hosts"] == ["free", "used"]


def test_a_plane_that_answers_is_asked(here, tmp_path, monkeypatch):
    assert one_sided.silence(here) == ""
    assert "does not answer" in one_sided.silence(stopped(tmp_path))

    def refused(*_arguments):
        raise KubeError("Unauthorized", 401, "Unauthorized")

    monkeypatch.setattr(here, "get", refused)
    assert one_sided.silence(here) == ""


@pytest.mark.parametrize("may_be_stopped, check_mode", [(True, True), (False, True), (True, False)])
def test_nodes_are_not_asked_for_an_ironic_that_is_stopped(here, tmp_path, may_be_stopped, check_mode):
    params = {"namespace": NAMESPACE, "ironic_namespace": "i", "ironic_deployment": "ironic", "image": None,
              "pod_namespace": "kube-system", "timeout_seconds": 1, "to_may_be_stopped": may_be_stopped}
    asked = NodesAsked(here, stopped(tmp_path), params, check_mode, Progress(None))
    if not (may_be_stopped and check_mode):
        with pytest.raises(KubeError, match="does not answer"):
            asked.result()
        return
    found = asked.result()
    assert found["targets"] == [] and "does not answer" in str(found["checks"])
