# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A provider of a plane of processes becomes newer: only when confirmed, and back when it does not come up."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes.plane_server import Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    controllers,
    process_group,
    provider,
    provider_service,
    supervisor,
    supervisor_files,
)

IPAM, BMO = BY_NAME["ipam"], BY_NAME["bmo"]
NOT_READY = supervisor_files.SupervisorError("program ipam is not ready")


def shipped(part, version, plural, kind, schema):
    """Return a part's objects, as they are rendered."""
    made = definition(part.probe["apiVersion"].partition("/")[0], plural, kind, "v1alpha1")
    made["spec"]["schema"] = schema
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": part.namespace, "labels": {"a": "b"}}}, made,
        {"apiVersion": "apps/v1", "kind": "Deployment",
         "metadata": {"name": next(iter(part.images)), "namespace": part.namespace},
         "spec": {"template": {"spec": {"serviceAccountName": "manager", "containers": [{"name": "manager"}]}}}}]
    if part.type:
        made["metadata"]["labels"] = {"cluster.x-k8s.io/provider": part.label}
        objects.append({"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider",
                        "metadata": {"name": part.label, "namespace": part.namespace, "labels": {"a": "b"}},
                        "type": part.type, "providerName": part.provider_name, "version": version})
    return objects


class Daemon:
    """A supervisord that runs what is configured when it was last reloaded."""

    def __init__(self, layout):
        self.layout, self.reloaded, self.running = layout, [], None

    def write_config(self, _check_mode):
        return False

    def processes(self):
        return dict((name, {"statename": "RUNNING"}) for name in supervisor_files.configured(self.layout))

    def alive(self):
        return True

    def pending(self):
        return {}

    def reload(self, names):
        assert list(names) == list(supervisor_files.configured(self.layout))
        if self.running == self.engine():
            return {}
        self.running = self.engine()
        self.reloaded.append(self.running)
        return {"ipam": "restarted"}

    def engine(self):
        """Return the folder of the program that is configured."""
        path = next(iter(Path(self.layout.programs_dir).glob("*.conf")))
        return path.read_text().split("/bin/")[0].rpartition("/")[2]


class Plane:
    """A plane with one provider of an older version, and the pins of a newer one."""

    def __init__(self, folder, monkeypatch, part=IPAM, kind=("ippools", "IPPool"), before="v1.12.3", after="v1.13.2"):
        self.part, self.server, self.waits, self.dir = part, Server(), [], folder
        self.server.store("Namespace", None, {"metadata": {"name": "default"}})
        for path in ("supervisor/conf.d", "supervisor/ready", "pki", "log"):
            (folder / path).mkdir(parents=True)
        for engine, version, schema in (("old", before, {"old": True}), ("new", after, {"new": True})):
            path = Path(controllers.manifest({"engine_dir": str(folder / engine)}, part.name))
            path.parent.mkdir(parents=True)
            path.write_text("---\n".join(json.dumps(obj) + "\n" for obj in shipped(part, version, *kind, schema)))
        self.versions = {"old": before, "new": after}
        self.daemon = Daemon(supervisor_files.Layout(str(folder / "supervisor")))
        monkeypatch.setattr(supervisor, "Supervisor", lambda _layout: self.daemon)
        monkeypatch.setattr(provider, "identify", lambda *_arguments: [])
        monkeypatch.setattr(process_group, "wait", self.wait)
        self.faults = []

    def wait(self, _daemon, names=None):
        self.waits.append((self.daemon.engine(), names))
        if self.faults and self.faults.pop(0):
            raise NOT_READY

    def start(self, engine, check_mode=False, confirm=None, wait=False):
        ports = dict((f"{self.part.name}_{name}", 21000) for name in ("webhook", "health", "metrics"))
        return provider_service.start({
            "management_plane": {"dir": str(self.dir), "engine_dir": str(self.dir / engine), "ports": ports,
                                 "urls": {"kubernetes": "https://127.0.0.1:1"},
                                 "versions": {self.part.name: self.versions[engine]}},
            "providers": [{"name": self.part.name, "arguments": [], "environment": {}, "restart_on": []}],
            "objects": [], "confirm": confirm, "confirm_among": [], "wait": wait, "timeout_seconds": 5},
            lambda: self.server, check_mode, Progress(None))

    def definition(self):
        return next(obj for (kind, _namespace, name), obj in self.server.objects.items()
                    if kind == "CustomResourceDefinition" and name.split(".")[0] in ("ippools", "baremetalhosts"))

    def recorded(self):
        found = fit.plane(None, [obj for (kind, *_names), obj in self.server.objects.items() if kind == "Provider"], [],
                          [self.definition()])
        return found.parts[self.part.name].version


@pytest.fixture
def plane(tmp_path, monkeypatch):
    made = Plane(tmp_path, monkeypatch)
    assert made.start("old")["confirmation"] == ""
    assert made.waits == [] and made.recorded() == "v1.12.3" and made.start("old")["updated"] == []
    made.server.writes.clear()
    made.daemon.reloaded.clear()
    return made


def test_another_minor_is_refused_before_anything_is_written(plane):
    with pytest.raises(ReportedError, match=r"^This upgrades 1 part \(ipam\): .*set metal3_confirm=1\.$"):
        plane.start("new")
    assert plane.server.writes == [] and plane.daemon.engine() == "old" and plane.daemon.reloaded == []


def test_check_mode_names_the_step_and_the_program(plane):
    result = plane.start("new", check_mode=True)
    assert result["upgrades"] == [{"part": "ipam", "found": "v1.12.3", "planned": "v1.13.2", "interrupts": True}]
    assert result["programs"] == {"ipam": "restarted"} and "set metal3_confirm=1" in result["confirmation"]
    assert {"before_header": "program ipam", "after_header": "program ipam", "before": "running\n",
            "after": "restarted: another command\n"} in result["diff"]
    assert plane.server.writes == [] and plane.daemon.engine() == "old" and plane.waits == []


def test_check_mode_before_the_manifests_are_rendered(plane):
    Path(controllers.manifest({"engine_dir": str(plane.dir / "new")}, "ipam")).unlink()
    result = plane.start("new", check_mode=True)
    assert result["upgrades"][0]["planned"] == "v1.13.2" and result["programs"] == {"ipam": "restarted"}
    assert any("its objects are not compared" in text for text in result["warnings"])
    assert (result["created"], result["updated"]) == ([], [])
    with pytest.raises(ReportedError, match=r"ipam\.yaml"):
        plane.start("new", confirm="1")


def test_a_confirmed_one_is_waited_for_though_others_are_not(plane):
    plane.start("new", confirm="1")
    assert plane.waits == [("new", ["ipam"])] and plane.recorded() == "v1.13.2"
    assert plane.start("new")["changed"] is False and plane.waits == [("new", ["ipam"])]


def test_one_that_does_not_come_up_goes_back(plane):
    before = plane.definition()["spec"]
    plane.faults = [True]
    with pytest.raises(ReportedError) as caught:
        plane.start("new", confirm="1")
    assert str(caught.value).startswith(
        "the upgrade of IP address manager from v1.12.3 to v1.13.2 failed and was rolled back: ")
    assert str(caught.value).endswith("\nThe cause: program ipam is not ready")
    assert plane.waits == [("new", ["ipam"]), ("old", ["ipam"])] and plane.daemon.reloaded == ["new", "old"]
    assert plane.definition()["spec"] == before and plane.recorded() == "v1.12.3"
    # The next run asks again.
    with pytest.raises(ReportedError, match="set metal3_confirm=1"):
        plane.start("new")


def test_a_rollback_that_fails_says_both_causes(plane):
    plane.faults = [True, True]
    with pytest.raises(ReportedError, match=r"(?s)so did going back: program ipam is not ready.*The cause: "):
        plane.start("new", confirm="1")


def test_a_failure_without_an_upgrade_changes_nothing_back(plane):
    plane.faults = [True]
    with pytest.raises(supervisor_files.SupervisorError):
        plane.start("old", wait=True)
    assert plane.server.writes == []


def test_an_older_version_is_refused(plane):
    plane.start("new", confirm="1")
    with pytest.raises(RefusedError) as caught:
        plane.start("old")
    assert [problem.code for problem in caught.value.problems] == ["part-newer"]


def test_definitions_say_which_operator_runs(tmp_path, monkeypatch):
    plane = Plane(tmp_path, monkeypatch, BMO, ("baremetalhosts", "BareMetalHost"), "v0.13.1", "v0.13.2")
    plane.start("old")
    assert plane.recorded() == "v0.13.1"
    plane.server.store("BareMetalHost", "metal3", {
        "metadata": {"name": "h", "namespace": "metal3"}, "spec": {},
        "status": {"provisioning": {"state": "provisioning"}}})
    plane.server.writes.clear()
    with pytest.raises(RefusedError, match=r"found 1 in transition \(metal3/h: provisioning\)"):
        plane.start("new")
    assert plane.server.writes == []
    plane.server.objects["BareMetalHost", "metal3", "h"]["status"]["provisioning"]["state"] = "available"
    # A patch asks for nothing, and is waited for.
    assert plane.start("new")["confirmation"] == "" and plane.recorded() == "v0.13.2"
    assert plane.waits == [("new", ["bmo"])]
