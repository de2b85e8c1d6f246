# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane that somebody else runs, for which the lab's own is taken: found, checked, used, and not written to."""
from __future__ import annotations

import pytest
from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import go_mod

PINS = go_mod.GoMod((REPOSITORY / "lab" / "engine" / "go.mod").read_text())
OF_THE_PLANE = ("Namespace", "CustomResourceDefinition", "Provider", "Deployment")


@pytest.fixture
def external(lab):
    return {"management_plane": dict(lab.figures, mode="external", kubeconfig=str(lab.dir / "kubeconfig"))}


def stored(lab):
    return dict(((kind, item["metadata"]["name"]), item["metadata"]["resourceVersion"])
                for kind in OF_THE_PLANE for item in lab.kube.list(KNOWN[kind])[0])


def row(run, name):
    """Return a part's row of the last matrix that was printed."""
    return [line.split() for line in run.output.splitlines() if line.split()[:1] == [name]][-1]


def test_versions_are_found_and_nothing_is_written(lab, external):
    before = stored(lab)
    run = lab.playbook("install", extra=external).ok()
    assert run.changed() == 0 and stored(lab) == before
    assert row(run, "kubernetes")[1] == PINS.version(go_mod.KUBERNETES)
    for part in catalogue.RENDERED:
        # Processes have no image: of BMO, which is no provider to clusterctl, its definitions say it.
        assert row(run, part.name)[1:3] == [PINS.version(part.module), "unchanged"]
    assert "version not known" not in run.output


def test_a_site_runs_against_it(lab, external):
    assert lab.playbook("site", extra=external).ok().changed() == 0


def test_all_that_does_not_fit_is_refused_at_once(lab, external):
    entries = dict((item["metadata"]["name"], item) for item in lab.kube.list(KNOWN["Provider"])[0])
    changed = {"bootstrap-kubeadm": "v1.12.5", "control-plane-kubeadm": "v1.13.0"}
    names = dict((name, entries[name]["metadata"]["namespace"]) for name in changed)
    try:
        for name, version in changed.items():
            lab.kube.patch(KNOWN["Provider"], names[name], name, {"version": version})
        run = lab.playbook("install", "--tags", "capi", extra=external)
        run.failed("2 problems, nothing was changed:", "part cabpk: version: found kubeadm bootstrap provider v1.12.5",
                   "part kcp: version: found kubeadm control plane provider v1.13.0",
                   f"expected {PINS.version(catalogue.CLUSTER_API)}")
    finally:
        for name in changed:
            lab.kube.patch(KNOWN["Provider"], names[name], name, {"version": entries[name]["version"]})
    lab.playbook("install", extra=external).ok()


def test_a_plan_of_processes_prints_the_matrix(lab):
    run = lab.playbook("install", "--check", "--diff").ok()
    assert run.changed() == 0
    assert row(run, "capm3")[1:3] == [PINS.version(catalogue.CAPM3)] * 2
