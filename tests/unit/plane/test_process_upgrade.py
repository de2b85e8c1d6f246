# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane of processes is not brought to another version without a plan, gates and a confirmation."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes.plane_server import Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME, CLUSTER_API
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    base_parts,
    controllers,
    python_environment,
    upgrade_plan,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.go_mod import GoMod

# What the fake API server says of itself.
KUBERNETES = "v1.35.4"
VERSIONS = {"etcd": "v3.6.5", "kubernetes": KUBERNETES, "ironic": "39.0.0", "capi": "v1.13.5", "cabpk": "v1.13.5",
            "kcp": "v1.13.5", "ipam": "v1.13.2", "bmo": "v0.13.2", "capm3": "v1.13.2"}
UNREACHABLE = KubeError("cannot reach https://server", reason="Unreachable")


class Silent:
    """An API server that does not answer."""

    server = "https://server"

    def __init__(self, error):
        self.error = error

    def list(self, *_arguments):
        raise self.error

    def request(self, *_arguments):
        raise self.error


class Plane:
    """A plane in a folder, with parts of some versions on its API server."""

    def __init__(self, folder, **versions):
        self.dir, self.server = folder / "plane", Server()
        self.dir.mkdir()
        self.versions = dict(VERSIONS, **versions)
        (self.dir / "kubeconfig").write_text("")
        self.record()
        for name, version in self.versions.items():
            part = BY_NAME.get(name)
            if part is None:
                continue
            if part.type:
                self.server.store("Provider", part.namespace, {
                    "metadata": {"name": part.label, "namespace": part.namespace}, "type": part.type,
                    "providerName": part.provider_name, "version": version})
            else:
                self.operator(version)

    def record(self, **versions):
        (self.dir / "lab.json").write_text(json.dumps({
            "name": "rack1", "mode": "process", "dir": str(self.dir), "ports": {},
            "versions": dict(self.versions, **versions)}))

    def operator(self, version):
        body = definition("metal3.io", "baremetalhosts", "BareMetalHost")
        body["metadata"]["annotations"] = {fit.VERSION_ANNOTATION: version} if version else {}
        self.server.store("CustomResourceDefinition", None, body)

    def host(self, state, address="redfish://192.0.2.1/"):
        self.server.store("BareMetalHost", "metal3", {
            "metadata": {"name": "h", "namespace": "metal3"}, "spec": {"bmc": {"address": address}},
            "status": {"provisioning": {"state": state}}})

    def plan(self, confirm=None, check_mode=False, client=None, parts=None, among=("rack1",), **versions):
        """Return the plan of an upgrade to these versions, and to those that are there of other parts."""
        return upgrade_plan.plan({
            "management_plane": {"name": "rack1", "dir": str(self.dir), "engine_dir": str(self.dir / "engine"),
                                 "versions": dict(self.versions, **versions)},
            "parts": list(parts or base_parts.NAMES), "confirm": confirm, "confirm_among": list(among)},
            check_mode, lambda _options: client or self.server)


def steps(result):
    return [(item["part"], item["found"], item["planned"], item["interrupts"]) for item in result["upgrades"]]


def codes(caught):
    return [problem.code for problem in caught.value.problems]


def test_a_first_installation_and_equal_versions_ask_for_nothing(tmp_path):
    plane = Plane(tmp_path)
    result = plane.plan()
    assert (result["upgrades"], result["confirmation"], result["diff"], result["changed"]) == ([], "", [], False)
    (plane.dir / "lab.json").unlink()
    result = plane.plan(bmo="v0.14.0")
    assert (result["upgrades"], result["confirmation"], result["warnings"]) == ([], "", [])


def test_another_minor_is_refused_without_its_number(tmp_path):
    plane = Plane(tmp_path, bmo="v0.13.2", capi="v1.13.4", cabpk="v1.13.4", kcp="v1.13.4")
    newer = {"bmo": "v0.14.0", "capi": "v1.13.5", "cabpk": "v1.13.5", "kcp": "v1.13.5"}
    with pytest.raises(ReportedError, match=r"^This upgrades 1 part \(bmo\): .*To continue, set metal3_confirm=1\.$"):
        plane.plan(**newer)
    with pytest.raises(ReportedError, match=r'^metal3_confirm: found "4", expected 1\.'):
        plane.plan("4", **newer)
    expected = [(name, "v1.13.4", "v1.13.5", False) for name in ("capi", "cabpk", "kcp")]
    expected.append(("bmo", "v0.13.2", "v0.14.0", True))
    for confirm in ("1", "bmo"):
        assert steps(plane.plan(confirm, **newer)) == expected
    result = plane.plan(check_mode=True, **newer)
    assert steps(result) == expected and "set metal3_confirm=1" in result["confirmation"]
    assert any(text.startswith("without check mode this would be refused: This upgrades 1 part (bmo)")
               for text in result["warnings"])
    assert result["diff"] == [{
        "before_header": "versions of plane rack1", "after_header": "versions of plane rack1",
        "before": "capi v1.13.4\ncabpk v1.13.4\nkcp v1.13.4\nbmo v0.13.2\n",
        "after": "capi v1.13.5\ncabpk v1.13.5\nkcp v1.13.5\nbmo v0.14.0\n"}]
    assert plane.server.writes == []


def test_a_number_counts_for_no_second_plane(tmp_path):
    with pytest.raises(ReportedError, match="found 2 planes"):
        Plane(tmp_path).plan("1", among=("rack1", "rack2"), bmo="v0.14.0")


def test_what_the_collection_runs_itself_is_a_step_too(tmp_path):
    plane = Plane(tmp_path)
    found = steps(plane.plan("3", etcd="v3.7.0", kubernetes="v1.36.1", ironic="42.0.1"))
    assert found == [("etcd", "v3.6.5", "v3.7.0", True), ("kubernetes", "v1.35.4", "v1.36.1", True),
                     ("ironic", "39.0.0", "42.0.1", True)]
    with pytest.raises(RefusedError) as caught:
        plane.plan("1", kubernetes="v1.37.0", parts=["kubernetes", "etcd"])
    assert codes(caught) == ["upgrade-too-far"]


def test_kubernetes_is_held_against_cluster_api_as_it_will_be(tmp_path):
    plane = Plane(tmp_path, capi="v1.13.0", cabpk="v1.13.0", kcp="v1.13.0")
    assert steps(plane.plan("1", kubernetes="v1.36.1"))
    plane.server.request = lambda _method, _path, **_options: {"gitVersion": "v1.36.1"}
    with pytest.raises(RefusedError) as caught:
        plane.plan("1", kubernetes="v1.37.0")
    assert codes(caught) == ["plane-kubernetes"]


@pytest.mark.parametrize(("versions", "state", "address", "expected"), [
    ({"bmo": "v0.14.0"}, "provisioning", "redfish://192.0.2.1/", ["upgrade-host-in-transition"]),
    ({"capm3": "v1.13.3"}, "inspecting", "redfish://192.0.2.1/", ["upgrade-host-in-transition"]),
    ({"ironic": "39.0.1"}, "deprovisioning", "redfish://192.0.2.1/", ["upgrade-host-in-transition"]),
    ({"ipam": "v1.13.3"}, "provisioning", "redfish://192.0.2.1/", []),
    ({"ironic": "38.1.0"}, "available", "redfish://192.0.2.1/", ["part-newer"]),
    ({"bmo": "v0.13.1"}, "available", "redfish://192.0.2.1/", ["part-newer"]),
    ({"kubernetes": "v1.34.9"}, "available", "redfish://192.0.2.1/", ["part-newer"]),
    ({"bmo": "v0.13.3"}, "available", "irmc://192.0.2.1/", ["upgrade-scheme-removed"]),
    ({"capi": "v1.14.0"}, "available", "redfish://192.0.2.1/", ["plane-same-minor"] * 4)])
def test_what_stands_against_it_is_refused_whatever_is_confirmed(tmp_path, versions, state, address, expected):
    plane = Plane(tmp_path)
    plane.host(state, address)
    if not expected:
        assert steps(plane.plan(**versions))
        return
    with pytest.raises(RefusedError) as caught:
        plane.plan("1", **versions)
    assert codes(caught) == expected and plane.server.writes == []


@pytest.mark.parametrize(("versions", "next_step"), [
    ({"ironic": "38.1.0"}, "take the release of the collection, or the Python environment, that it was installed with: "
                           "Ironic's database cannot go back"),
    ({"etcd": "v3.6.4"}, "take the release of the collection that installed it: definitions and databases cannot go "
                         "back")])
def test_what_cannot_go_back_says_what_to_take(tmp_path, versions, next_step):
    with pytest.raises(RefusedError) as caught:
        Plane(tmp_path).plan("1", **versions)
    assert [problem.hint for problem in caught.value.problems] == [next_step]


def test_a_stored_version_that_goes_is_refused_where_the_manifests_are_rendered(tmp_path):
    plane = Plane(tmp_path)
    stored = plane.server.objects["CustomResourceDefinition", None, "baremetalhosts.metal3.io"]
    stored["status"]["storedVersions"] = ["v1alpha1"]
    assert any("the manifests are not rendered yet" in text for text in plane.plan(bmo="v0.13.3")["warnings"])
    path = Path(controllers.manifest({"engine_dir": str(plane.dir / "engine")}, "bmo"))
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(definition("metal3.io", "baremetalhosts", "BareMetalHost", "v1")))
    with pytest.raises(RefusedError) as caught:
        plane.plan(bmo="v0.13.3")
    assert codes(caught) == ["plane-stored-version"]


def test_the_api_server_counts_more_than_what_a_killed_run_has_recorded(tmp_path):
    plane = Plane(tmp_path)
    plane.record(bmo="v0.14.0", kubernetes="v1.36.1", etcd="v3.7.0")
    # Of etcd nobody else says anything.
    assert steps(plane.plan("2", etcd="v3.7.0", kubernetes="v1.36.1", bmo="v0.14.0")) == [
        ("kubernetes", "v1.35.4", "v1.36.1", True), ("bmo", "v0.13.2", "v0.14.0", True)]


def test_a_plane_that_does_not_answer_has_the_versions_that_were_recorded(tmp_path):
    result = Plane(tmp_path).plan("1", client=Silent(UNREACHABLE), bmo="v0.14.0")
    assert steps(result) == [("bmo", "v0.13.2", "v0.14.0", True)]
    assert any("its API server does not answer" in text for text in result["warnings"])


@pytest.mark.parametrize("error", [KubeError("no", 401), KubeError("wrong authority", reason="Certificate")])
def test_a_plane_that_refuses_is_no_plane_without_an_answer(tmp_path, error):
    with pytest.raises(KubeError):
        Plane(tmp_path).plan("1", client=Silent(error), bmo="v0.14.0")


def test_a_plane_of_a_release_that_recorded_nothing(tmp_path):
    plane = Plane(tmp_path)
    plane.operator(None)
    figures = json.loads((plane.dir / "lab.json").read_text())
    del figures["versions"]
    packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    (packages / "ironic-39.0.0.dist-info").mkdir(parents=True)
    (plane.dir / "lab.json").write_text(json.dumps(dict(
        figures, services_python=str(tmp_path / "env" / "bin" / "python"))))
    assert steps(plane.plan("1", bmo="v0.14.0", etcd="v3.7.0", ironic="42.0.0")) == [
        ("ironic", "39.0.0", "42.0.0", True)]


@pytest.mark.parametrize("figures", [
    {"dir": None, "engine_dir": "/e"}, {"dir": "/d"}, {"dir": "/d", "engine_dir": "/e", "versions": ["v1"]},
    {"dir": "/d", "engine_dir": "/e", "versions": {"bmo": 1}}])
def test_figures_that_cannot_be_used_are_named(figures):
    with pytest.raises(RefusedError, match=r"management_plane\."):
        upgrade_plan.plan({"management_plane": figures, "parts": ["bmo"], "confirm": None, "confirm_among": []}, True)


def test_versions_are_those_of_the_pins_and_of_ironics_environment(tmp_path):
    pins = GoMod(f"go 1.26\n\nrequire (\n\t{CLUSTER_API} v1.13.5\n)\n")
    assert base_parts.versions(pins, None) == {"capi": "v1.13.5", "cabpk": "v1.13.5", "kcp": "v1.13.5", "ironic": None}
    lock = tmp_path / "requirements.txt"
    lock.write_text("ironic-lib==7.0.0 \\\n    --hash=x\nironic==39.0.0 \\\n    --hash=x\n")
    python = str(tmp_path / "env" / "bin" / "python")
    assert python_environment.package_version("ironic", python, str(lock)) == "39.0.0"
    assert python_environment.package_version("ironic", python, None) is None
    (tmp_path / "env" / "lib" / "python3.12" / "site-packages" / "ironic-38.0.1.dist-info").mkdir(parents=True)
    assert python_environment.package_version("ironic", python, str(lock)) == "38.0.1"


def test_the_matrix_has_what_the_collection_runs_itself(tmp_path):
    rows = Plane(tmp_path).plan("1", kubernetes="v1.36.1")["matrix"]
    assert [row["name"] for row in rows if row["changes"]] == [
        "kubernetes", "etcd", "ironic", "capi", "cabpk", "kcp", "ipam", "bmo", "capm3"]
    assert [(row["found"], row["planned"], row["source"]) for row in rows[:3]] == [
        ("v1.35.4", "v1.36.1", "API server"), ("v3.6.5", "v3.6.5", "lab.json"), ("39.0.0", "39.0.0", "lab.json")]


def test_the_older_of_two_definitions_counts_for_a_run_that_was_killed_between_them():
    made = dict((plural, definition("metal3.io", plural, plural)) for plural in ("a", "b"))
    for plural, version in (("a", "v0.14.0"), ("b", "v0.13.2")):
        made[plural]["metadata"]["annotations"] = {fit.VERSION_ANNOTATION: version}
    assert fit.plane(None, [], [], list(made.values())).parts["bmo"].version == "v0.13.2"
    del made["b"]["metadata"]["annotations"]
    assert fit.plane(None, [], [], list(made.values())).parts["bmo"].version is None
