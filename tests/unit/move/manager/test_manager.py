# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a site is by what its two planes answer, and what is refused because nobody can know it."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import stages as manager
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record

BOOT, CLUSTER = (manager.Plane(title, f"/{title}", exists=True, uid=f"uid-{title}")
                 for title in ("bootstrap", "cluster"))
HOSTS = ("a", "b")


def moved(source, target, state=record.MOVED):
    return record.Record(state, f"uid-{source}", f"uid-{target}", (), {"a": {}, "b": {}}, {})


FORTH, BACK = moved("bootstrap", "cluster"), moved("cluster", "bootstrap")
UNDERWAY = moved("bootstrap", "cluster", record.MOVING)
RETURNING = moved("cluster", "bootstrap", record.MOVING)
DEAD = {"error": "refused", "uid": ""}
NONE = {"exists": False, "uid": ""}


@pytest.mark.parametrize("bootstrap, cluster, recorded, expected", [
    # From nothing: neither is there; a bootstrap plane that was killed.
    (NONE, NONE, None, ("bootstrap", True)),
    (DEAD, NONE, "bootstrap", ("bootstrap", True)),
    ({}, NONE, None, ("bootstrap", False)),
    # While the cluster comes, and while the plane is installed in it.
    ({"hosts": HOSTS}, DEAD, "bootstrap", ("bootstrap", False)),
    ({"hosts": HOSTS}, {}, "bootstrap", ("bootstrap", False)),
    # The hosts are held, and clusterctl has not begun; it has; it has ended, and they are not released.
    ({"hosts": HOSTS, "held": True}, {}, "bootstrap", ("moving", False)),
    ({"hosts": HOSTS, "held": True, "record": UNDERWAY}, {}, "bootstrap", ("moving", False)),
    ({"hosts": HOSTS, "held": True, "record": UNDERWAY}, {"hosts": HOSTS, "held": True, "record": UNDERWAY},
     "bootstrap", ("moving", False)),
    (DEAD, {"hosts": HOSTS, "record": UNDERWAY}, "bootstrap", ("moving", True)),
    ({"record": FORTH}, {"hosts": HOSTS, "held": True, "record": FORTH}, "bootstrap", ("moving", False)),
    # Moved, not recorded; stopped, not recorded; recorded; the bootstrap plane removed.
    ({"record": FORTH}, {"hosts": HOSTS, "record": FORTH}, "bootstrap", ("cluster", False)),
    (DEAD, {"hosts": HOSTS, "record": FORTH}, "bootstrap", ("cluster", False)),
    (DEAD, {"hosts": HOSTS}, "cluster", ("cluster", False)),
    (NONE, {"hosts": HOSTS}, None, ("cluster", False)),
    # Back again, whatever was recorded; the next move after it.
    ({"hosts": HOSTS, "record": BACK}, {"record": BACK}, "cluster", ("bootstrap", False)),
    ({"hosts": HOSTS, "record": BACK}, DEAD, "cluster", ("bootstrap", False)),
])
def test_the_plane_with_the_hosts_is_the_right_one(bootstrap, cluster, recorded, expected):
    stage, problems = manager.stage(BOOT._replace(**bootstrap), CLUSTER._replace(**cluster), recorded)
    assert problems == [] and tuple(stage) == expected


@pytest.mark.parametrize("bootstrap, cluster, recorded, texts", [
    ({"hosts": HOSTS}, {"hosts": ("c",)}, None, ["bootstrap", "2 (a, b), and 1 (c) in cluster"]),
    ({}, {}, "cluster", ["cluster", "none, and none in bootstrap"]),
    (DEAD, {}, "cluster", ["cluster", "none, and no answer in bootstrap"]),
    (DEAD, DEAD, "cluster", ["cluster: API server", "refused"]),
    # What was recorded is lost, and the kubeconfig of the plane that has the hosts: they must not be enrolled again.
    ({"record": FORTH}, NONE, None, ["bootstrap", "a move of 2 hosts to another plane", "give back the kubeconfig"]),
    (DEAD, {"hosts": HOSTS}, None, ["bootstrap: API server", "cluster has 2 (a, b)"]),
    ({"hosts": HOSTS, "record": UNDERWAY}, DEAD, "bootstrap", ["cluster: API server", "on their way"]),
    ({}, {"hosts": HOSTS, "record": RETURNING}, "cluster", ["a move back", "repivot"]),
    ({"hosts": HOSTS, "held": True, "record": BACK}, {"record": BACK}, "cluster",
     ["held after a move back", "repivot"]),
    ({"hosts": HOSTS, "record": moved("bootstrap", "other", record.MOVING)}, {}, None, ["another plane"]),
])
def test_what_cannot_be_known_is_refused(bootstrap, cluster, recorded, texts):
    stage, problems = manager.stage(BOOT._replace(**bootstrap), CLUSTER._replace(**cluster), recorded)
    assert stage is None and len(problems) == 1
    for text in texts:
        assert text in str(problems[0])
