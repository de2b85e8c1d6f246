# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane of the release before becomes the present one, while it manages a server.

Kubernetes gets another minor, Cluster API, IPAM and the operator get a patch; CAPM3, etcd and Ironic stay.
"""
from __future__ import annotations

import json

import older_plane
import older_processes
import pytest
from bootstrap_site import SERVER
from old_site import SECONDS, OldSite
from support import NAMESPACE, eventually
from watching import States, Untouched

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME, RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import go_mod, orphans

pytestmark = pytest.mark.upgrade

PRESENT = go_mod.GoMod((older_plane.SOURCE / "go.mod").read_text())


def expected(*upgraded):
    """Return the versions of all parts when these are upgraded and the others are not."""
    found = dict((part.name, PRESENT.version(part.module) if part.name in upgraded
                  else older_plane.PINS.get(part.module, PRESENT.version(part.module))) for part in RENDERED)
    found["kubernetes"] = PRESENT.version(go_mod.KUBERNETES) if "kubernetes" in upgraded else older_processes.KUBERNETES
    return found


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """A plane of the release before, which has taken over one of the lab's servers."""
    source = older_processes.write_source(tmp_path_factory.mktemp("older"), lab.figures["engine_dir"])
    if lab.host(SERVER):
        lab.remove_hosts(SERVER)
    found = OldSite(lab, tmp_path_factory.mktemp("site"), {"bootstrap_plane_source_dir": source})
    found.install(**found.older).ok()
    # The first installation has asked for nothing, and so does the second.
    assert found.install(**found.older).ok().changed() == 0 and found.versions() == expected()
    found.playbook("enroll").ok()
    yield found
    if found.dir.exists():
        orphans.stop_processes(str(found.dir))


def test_a_check_names_each_step_the_programs_and_the_number_and_writes_nothing(site):
    before = site.state()
    run = site.install("--check", "--diff").ok()
    for name, version in expected(*BY_NAME, "kubernetes").items():
        if version != expected()[name]:
            assert f"-{name} {expected()[name]}" in run.output and f"+{name} {version}" in run.output
    assert "set metal3_confirm=1" in run.output and "+restarted: another command" in run.output
    for name in ("etcd", "kube-apiserver", "bmo", "capm3"):
        assert f"program {name}" in run.output
    assert site.state() == before


def test_without_the_number_nothing_is_written(site):
    before = site.state()
    site.install().failed("This upgrades 1 part (kubernetes): until each is up again", "set metal3_confirm=1")
    site.install(metal3_confirm=5).failed('metal3_confirm: found "5", expected 1')
    site.lab.playbook("site", inventory=site.inventory(), seconds=SECONDS, extra={"metal3_confirm": 1}).failed(
        "This upgrades 1 part (kubernetes)", "run the playbook metal3.baremetal.install on its own, with it")
    assert site.state() == before


def test_a_host_that_is_worked_on_stops_the_upgrade(site, room):
    before = site.state()
    room.set_knobs(SERVER, slow_download=1)
    try:
        provision = site.start("provision")
        eventually(lambda: site.managed()[2] == "provisioning", 120, f"{SERVER} provisioning")
        site.install(metal3_confirm=1).failed(
            f"found 1 in transition ({NAMESPACE}/{SERVER}: provisioning)", "wait until they have reached their state")
        assert site.state() == before
    finally:
        room.clear_knobs(SERVER)
    provision.finish(SECONDS).ok()
    assert site.managed()[2] == "provisioned"


def test_a_part_that_does_not_come_up_goes_back_and_kubernetes_stays(site):
    host, touched = site.managed(), Untouched(site.lab)
    older_engine = site.program("capi").partition("command=")[2].partition("/bin/")[0]
    with States(site.kube()) as states:
        # No manager knows it.
        run = site.install(metal3_confirm=1, capi_feature_gates="--no-such-flag")
    found, planned = older_plane.PINS[older_plane.CLUSTER_API], PRESENT.version(older_plane.CLUSTER_API)
    run.failed(f"from {found} to {planned} failed and was rolled back", "no-such-flag")
    assert site.versions() == expected("kubernetes")
    for name in ("capi", "cabpk", "kcp"):
        assert older_engine in site.program(name) and "no-such-flag" not in site.program(name)
    # They are ready when the run ends; supervisord calls that "starting" for seconds.
    eventually(lambda: {state for state, _pid in site.state()[1].values()} == {"RUNNING"}, 60, "all programs run")
    assert site.managed() == host and touched.resets() == {}
    assert states.looked > 20 and all(len(seen) == 1 for seen in states.found.values()), states.found


def test_the_next_run_finishes_it_and_patches_ask_for_nothing(site):
    host, touched = site.managed(), Untouched(site.lab)
    with States(site.kube()) as states:
        site.install().ok()
    assert site.versions() == expected(*BY_NAME, "kubernetes")
    recorded = json.loads((site.dir / "lab.json").read_text())["versions"]
    assert dict((name, recorded[name]) for name in site.versions()) == site.versions()
    assert site.managed() == host and touched.resets() == {}
    assert all(len(seen) == 1 for seen in states.found.values()), states.found
    assert site.install().ok().changed() == 0
    assert site.install("--check", "--diff").ok().changed() == 0


def test_an_older_release_is_refused_whatever_is_confirmed(site):
    before = site.state()
    site.install(**site.older, metal3_confirm=1).failed(
        "part kubernetes: version:", f"expected {older_processes.KUBERNETES} or older", "cannot go back")
    assert site.state() == before


def test_the_upgraded_plane_works_on_its_host_and_goes(site):
    site.playbook("unenroll", "-e", "metal3_confirm=1").ok()
    names = site.programs()
    site.playbook("uninstall", "-e", f"metal3_confirm={len(names)}").ok()
    assert not site.dir.exists() and orphans.processes(str(site.dir)) == []
