# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests of v1beta1 in v1beta2; upstream's own conversion judges them in ``tests/lab/test_cluster_render.py``.

``python tests/unit/cluster/test_conversion.py`` writes the expected objects again.
"""
from __future__ import annotations

import copy
import json
import os
import pathlib
import stat

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.conversion import documents, service
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion.objects import convert
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion.older import downgrade
from ansible_collections.metal3.baremetal.plugins.modules import manifest_conversion

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE / "golden"
SITE = HERE / "conversion" / "site.manifest"
EXPECTED = HERE / "conversion" / "converted.manifest"
ODD = (None, 0, True, "x", [], ["x"], [{}], {1: {2: None}})


def objects(path):
    return [item for item in yaml.safe_load_all(path.read_text(encoding="utf-8")) if item]


def dumped(items):
    return yaml.safe_dump_all(items, sort_keys=True, explicit_start=True, width=110)


def site_object(kind, name="old"):
    return next(item for item in objects(SITE) if item["kind"] == kind and item["metadata"]["name"] == name)


def test_what_sites_have_written_becomes_the_expected_objects():
    converted = [convert(item) for item in objects(SITE)]
    assert [(entry.kept_because, entry.mistakes) for entry in converted] == [("", ())] * len(converted)
    assert [entry.obj for entry in converted] == objects(EXPECTED)


@pytest.mark.parametrize("name", ["full", "small", "standalone", "upstream"])
def test_what_the_older_version_can_say_comes_back_as_it_was(name):
    newer = [item for item in objects(GOLDEN / name / "objects.manifest")
             if item["apiVersion"].endswith(".x-k8s.io/v1beta2")]
    assert len(newer) > 6
    for item in newer:
        assert without_defaults(convert(downgrade(item)).obj) == without_defaults(item)


def without_defaults(value):
    """Return a value without what is the same as nothing in one of the versions."""
    if isinstance(value, dict):
        found = dict((key, without_defaults(entry)) for key, entry in value.items())
        return dict((key, entry) for key, entry in found.items()
                    if entry not in (False, 0, "", {}) and key not in ("ipAddressFromIPPool", "controlPlane"))
    return [without_defaults(entry) for entry in value] if isinstance(value, list) else value


def test_the_input_is_left_alone():
    items = objects(SITE)
    before = copy.deepcopy(items)
    for item in items:
        convert(item)
    assert items == before


def test_what_is_converted_is_not_converted_again():
    for item in objects(EXPECTED):
        assert convert(item).obj is item and not convert(item).kept_because


@pytest.mark.parametrize(("kind", "name", "lost"), [
    ("KubeadmControlPlane", "old", ["spec.kubeadmConfigSpec.useExperimentalRetryJoin",
                                    "spec.kubeadmConfigSpec.clusterConfiguration.clusterName",
                                    "spec.kubeadmConfigSpec.clusterConfiguration.kubernetesVersion",
                                    "spec.kubeadmConfigSpec.clusterConfiguration.networking", "status"]),
    ("Metal3DataTemplate", "old", ["spec.templateReference", "metadata.annotations.cluster.x-k8s.io/conversion-data"]),
    ("MachineDeployment", "old-workers", ["spec.progressDeadlineSeconds", "spec.revisionHistoryLimit"]),
    ("Cluster", "old", [])])
def test_what_has_no_place_any_more_is_named(kind, name, lost):
    assert list(convert(site_object(kind, name)).lost) == lost


@pytest.mark.parametrize(("text", "whole"), [
    ("0", 0), ("0s", 0), ("300s", 300), ("5m", 300), ("1h30m", 5400), ("1.5h", 5400), ("1m0.9s", 60), ("999ms", 0),
    ("9999999h", 2 ** 31 - 1)])
def test_durations_become_whole_seconds(text, whole):
    check = site_object("MachineHealthCheck", "old-workers")
    check["spec"]["nodeStartupTimeout"] = text
    assert convert(check).obj["spec"]["checks"]["nodeStartupTimeoutSeconds"] == whole


@pytest.mark.parametrize("value", ["5", "m", "5 m", "5d", 300, True, ["5m"], ""])
def test_what_is_no_duration_is_refused(value):
    check = site_object("MachineHealthCheck", "old-workers")
    check["spec"]["nodeStartupTimeout"] = value
    found = convert(check)
    assert found.obj is check and [entry.path for entry in found.mistakes] == ["spec.nodeStartupTimeout"]


@pytest.mark.parametrize(("older", "newer", "expected"), [
    (True, None, False), (False, None, True), (True, False, False), (False, True, True), (True, True, "refused"),
    (False, False, "refused"), ("yes", None, "refused")])
def test_the_older_name_of_the_cloud_provider_is_not_dropped(older, newer, expected):
    cluster = site_object("Metal3Cluster")
    cluster["spec"]["noCloudProvider"] = older
    del cluster["spec"]["cloudProviderEnabled"]
    if newer is not None:
        cluster["spec"]["cloudProviderEnabled"] = newer
    found = convert(cluster)
    if expected == "refused":
        assert [entry.path for entry in found.mistakes] == ["spec.noCloudProvider"]
    else:
        assert found.obj["spec"]["cloudProviderEnabled"] is expected and "noCloudProvider" not in found.obj["spec"]


@pytest.mark.parametrize(("change", "reason"), [
    ({"kind": "ClusterClass"}, "this kind is not converted"),
    ({"kind": "Cluster", "spec": {"topology": {"class": "a"}}}, "a topology"),
    ({"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "Metal3DataTemplate", "spec": {
        "networkData": {"links": {"bonds": [{"id": "bond0"}]}}}}, "refuses bonds")])
def test_what_stays_is_named(change, reason):
    obj = dict({"apiVersion": "cluster.x-k8s.io/v1beta1", "metadata": {"name": "a"}, "spec": {}}, **change)
    found = convert(obj)
    assert found.obj is obj and reason in found.kept_because


@pytest.mark.parametrize("obj", [
    None, 3, "text", [], {}, {"apiVersion": 3}, {"apiVersion": "v1", "kind": "Secret"},
    {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost"}, {"apiVersion": "apps/v1beta1", "kind": "Deployment"},
    {"apiVersion": "x-k8s.io/v1beta1", "kind": "Cluster"}, {"kind": "Cluster", "apiVersion": "evil/v1beta1"}])
def test_what_is_not_of_cluster_api_stays_without_a_word(obj):
    assert convert(obj) == (obj, "", (), ())


def places(value, way=()):
    """Return the ways to all parts of a value."""
    yield way
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(entry, (*way, key))


@pytest.mark.parametrize("number", range(len(objects(SITE))))
def test_any_value_anywhere_is_converted_or_refused(number):
    """And never ends in a traceback."""
    item = objects(SITE)[number]
    for way in places(item):
        for odd in ODD:
            changed = replaced(item, way, odd)
            found = convert(changed)
            assert found.obj is changed or found.obj["apiVersion"].endswith("v1beta2")


def replaced(value, way, odd):
    """Return a value with another part at the end of a way."""
    if not way:
        return odd
    result = copy.copy(value)
    result[way[0]] = replaced(value[way[0]], way[1:], odd)
    return result


# What a repository has besides, letter by letter as it stays.
BESIDE = """
# of the site
apiVersion: v1
kind:   Secret
metadata: {name: login}   # kept
"""
ONE = """apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineHealthCheck
metadata:
  name: a
spec:
  clusterName: c
  nodeStartupTimeout: 10m
"""


def test_documents_that_do_not_change_stay_letter_by_letter():
    text = f"---{BESIDE}---\n{ONE}---{BESIDE}"
    found, problems = documents.read("a.yaml", text)
    assert problems == [] and [document.changes for document in found] == [False, False, True, False]
    written = documents.written(found)
    assert written == f"---{BESIDE}---\n" + ONE.replace("v1beta1", "v1beta2").replace(
        "  nodeStartupTimeout: 10m\n", "  checks:\n    nodeStartupTimeoutSeconds: 600\n") + f"---{BESIDE}"
    again, _problems = documents.read("a.yaml", written)
    assert not any(document.changes for document in again) and documents.written(again) == written


def test_times_and_long_texts_stay_what_they_are():
    text = ("apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\n"
            "metadata: {name: a, labels: &l {x: 'y'}, annotations: *l}\nspec:\n  files:\n"
            "  - path: /a\n    permissions: '0644'\n    content: |\n      one\n      two: 3\n"
            "  initConfiguration:\n    bootstrapTokens: [{expires: 2026-01-01T00:00:00Z}]\n")
    written = documents.written(documents.read("a.yaml", text)[0])
    assert "content: |\n      one\n      two: 3\n" in written and "permissions: '0644'" in written
    assert "&" not in written
    found, = yaml.safe_load_all(written)
    assert found["spec"]["initConfiguration"]["bootstrapTokens"] == [{"expires": "2026-01-01T00:00:00Z"}]


def test_the_objects_of_a_list_are_converted():
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(ONE), {"kind": "Other"}]})
    written = yaml.safe_load(documents.written(documents.read("a.yaml", text)[0]))
    assert written["items"][0]["apiVersion"].endswith("v1beta2") and written["items"][1] == {"kind": "Other"}


@pytest.fixture
def folder(tmp_path):
    """A repository with two files to convert, one that stays, and what is not looked at."""
    root = tmp_path / "clusters"
    (root / "prod").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "prod" / "all.yaml").write_bytes(SITE.read_bytes())
    (root / "check.yml").write_text("# why\n" + ONE)
    (root / "kustomization.yaml").write_text("kind: Kustomization\nresources: [prod/all.yaml]\n")
    (root / "notes.txt").write_text("{{")
    (root / ".git" / "bad.yaml").write_text("{{")
    return root


@pytest.fixture
def run(capsys, tmp_path):
    """Return a callable that runs the module and returns its result."""
    def call(check_mode=False, **options):
        arguments = dict((name, str(value)) for name, value in options.items())
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path), _ansible_check_mode=check_mode,
                                    _ansible_diff=True)), pytest.raises(SystemExit):
            manifest_conversion.main()
        return json.loads(capsys.readouterr().out)
    return call


def test_a_folder_is_converted_where_it_is_and_again_nothing_changes(run, folder):
    before = dict((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())
    os.chmod(folder / "check.yml", 0o600)
    for options in ({}, {"dest": folder, "check_mode": True}):
        shown = run(src=folder, **options)
        assert shown["changed"] is ("dest" in options)
        assert dict((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()) == before
    result = run(src=folder, dest=folder)
    assert result["changed"] and [entry["path"] for entry in result["files"]] == ["check.yml", "prod/all.yaml"]
    assert "KubeadmControlPlane metal3/old" in result["files"][1]["converted"]
    assert objects(folder / "prod" / "all.yaml") == objects(EXPECTED)
    assert stat.S_IMODE((folder / "check.yml").stat().st_mode) == 0o600
    for path in (folder / "kustomization.yaml", folder / "notes.txt", folder / ".git" / "bad.yaml"):
        assert path.read_bytes() == before[path]
    again = run(src=folder, dest=folder)
    assert not again["changed"] and again["files"] == []


def test_what_a_reader_of_the_new_files_would_miss_is_a_warning(folder):
    (folder / "class.yaml").write_text(ONE.replace("MachineHealthCheck", "ClusterClass"))
    lines = service.run(str(folder), None, True)["warnings"]
    assert lines[:2] == ["check.yml: comments in documents that are converted are left out",
                         "class.yaml: ClusterClass a stays in v1beta1: this kind is not converted"]
    assert ("prod/all.yaml: MachineDeployment metal3/old-workers: v1beta2 has no place for "
            "spec.progressDeadlineSeconds, spec.revisionHistoryLimit, which is left out") in lines


def test_another_folder_gets_what_is_converted(run, folder, tmp_path):
    run(src=folder, dest=tmp_path / "new")
    assert sorted(str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*.y*ml")) == [
        "check.yml", "prod/all.yaml"]
    assert objects(folder / "check.yml")[0]["apiVersion"].endswith("v1beta1")


def test_nobody_reads_what_is_converted_who_may_not_read_what_it_is_made_of(run, folder, tmp_path):
    os.chmod(folder / "check.yml", 0o600)
    os.chmod(folder / "prod" / "all.yaml", 0o664)
    run(src=folder, dest=tmp_path / "new")
    written = [tmp_path / "new" / name for name in ("check.yml", "prod/all.yaml")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in written] == [0o600, 0o664]
    for path in written:
        path.write_text("old")
        os.chmod(path, 0o644)
    run(src=folder, dest=tmp_path / "new")
    assert [stat.S_IMODE(path.stat().st_mode) for path in written] == [0o600, 0o644]


def test_all_that_can_not_be_read_is_refused_and_nothing_is_written(run, folder):
    (folder / "chart.yaml").write_text("{{ template }}: [")
    (folder / "link.yaml").symlink_to(folder / "check.yml")
    (folder / "bytes.yaml").write_bytes(b"\xff\xfe")
    (folder / "wrong.yaml").write_text(ONE.replace("10m", "10 minutes"))
    before = (folder / "check.yml").read_bytes()
    result = run(src=folder, dest=folder)
    assert result["failed"] and (folder / "check.yml").read_bytes() == before
    assert sorted(problem["subject"] for problem in result["problems"]) == [
        "bytes.yaml", "chart.yaml", "link.yaml", "wrong.yaml: MachineHealthCheck a"]


@pytest.mark.parametrize("src", ["none", "empty"])
def test_a_path_with_nothing_is_refused(run, tmp_path, src):
    (tmp_path / "empty").mkdir()
    result = run(src=tmp_path / src)
    assert result["failed"] and result["problems"][0]["field"] == "src"


def test_contents_of_files_are_not_shown(run, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {name: a}\nspec:\n"
                    "  users: [{name: u, passwd: canary-1}]\n  files: [{path: /a, content: canary-2}]\n"
                    "  preKubeadmCommands: [login canary-3]\n")
    assert "canary" not in str(run(src=path, dest=path)) and "canary-2" in path.read_text()


def test_the_line_of_a_mistake_is_not_shown(run, tmp_path):
    (tmp_path / "a.yaml").write_text("kind: Secret\nstringData: {password: 'x' canary}\n")
    result = run(src=tmp_path / "a.yaml", dest=None)
    assert "canary" not in str(result) and "line 2, column" in result["problems"][0]["actual"]


if __name__ == "__main__":
    EXPECTED.write_text(dumped([convert(entry).obj for entry in objects(SITE)]), encoding="utf-8")
