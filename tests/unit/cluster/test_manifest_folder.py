# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster's manifests as a folder for kustomize: what a run writes, keeps and leaves out."""
from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
import yaml
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.manifests import manifest_folder
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError

GOLDEN = Path(__file__).parent / "golden"


def rendered(**changes):
    params = dict(yaml.safe_load((GOLDEN / "small.yml").read_text(encoding="utf-8")), **changes)
    read, mistakes = cluster_description.read(params)
    assert mistakes == []
    return cluster_render.render(read)


def index(folder):
    return yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]


def in_order(folder):
    return [yaml.safe_load((folder / name).read_text()) for name in index(folder)]


def write(folder, objects, addon="", check_mode=False):
    return manifest_folder.write(str(folder), objects, addon, check_mode)


def test_the_index_names_all_objects_in_their_order_and_a_second_run_changes_nothing(tmp_path):
    objects = rendered()
    assert write(tmp_path / "c1", objects, check_mode=True)["changed"] and not (tmp_path / "c1").exists()
    assert write(tmp_path / "c1", objects)["changed"] and in_order(tmp_path / "c1") == objects
    assert write(tmp_path / "c1", objects) == {"changed": False, "diff": [], "warnings": []}
    assert len(list((tmp_path / "c1").iterdir())) == len(objects) + 1


def modes(folder):
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*.yaml")}


def test_its_files_are_their_owners_until_he_says_otherwise(tmp_path):
    """Contents of files and hashes of passwords are in them."""
    objects = rendered()
    write(tmp_path / "c1", objects, "addon: 1\n")
    assert modes(tmp_path / "c1") == {0o600}
    for path in (tmp_path / "c1").rglob("*.yaml"):
        os.chmod(path, 0o640)
    assert not write(tmp_path / "c1", objects, "addon: 1\n")["changed"]
    write(tmp_path / "c1", rendered(kubernetes_version="v1.34.1"), "addon: 2\n")
    index_mode = stat.S_IMODE((tmp_path / "c1" / "kustomization.yaml").stat().st_mode)
    assert modes(tmp_path / "c1") <= {0o640, 0o600} and index_mode == 0o640


def test_what_somebody_else_has_put_in_its_place_does_not_say_who_reads_it(tmp_path, monkeypatch):
    (tmp_path / "link.yaml").symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("")
    os.chmod(tmp_path / "target", 0o666)
    assert manifest_folder.mode_of(str(tmp_path / "link.yaml")) == 0o600
    assert manifest_folder.mode_of(str(tmp_path / "target")) == 0o666
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert manifest_folder.mode_of(str(tmp_path / "target")) == 0o600


def test_templates_of_machines_that_may_be_there_stay(tmp_path):
    write(tmp_path, rendered())
    before, image = index(tmp_path), {"url": "https://198.18.0.1/other.raw", "checksum": "0" * 64}
    result = write(tmp_path, rendered(image=image))
    former = [name for name in before if name not in [manifest_folder.file_of(item) for item in rendered(image=image)]]
    assert former and all(name.startswith("metal3machinetemplate-") for name in former)
    assert index(tmp_path)[:len(former)] == former and all((tmp_path / name).exists() for name in former)
    warning, = result["warnings"]
    assert all(name in warning for name in former) and "delete the files when the rollout is over" in warning
    for name in former:
        (tmp_path / name).unlink()
    assert write(tmp_path, rendered(image=image))["warnings"] == [] and not set(former) & set(index(tmp_path))


def test_what_is_described_no_more_is_left_out_and_not_deleted(tmp_path):
    write(tmp_path, rendered())
    result = write(tmp_path, rendered(workers={}))
    gone = "machinedeployment-c1-pool-a.yaml"
    assert gone not in index(tmp_path) and (tmp_path / gone).exists()
    assert any(gone in line and "described no more and left out" in line for line in result["warnings"])


def test_an_index_of_somebody_else_is_refused_and_nothing_is_written(tmp_path):
    (tmp_path / "kustomization.yaml").write_text("resources: [mine.yaml]\n")
    with pytest.raises(RefusedError, match=r"kustomization.yaml in .* that cluster_template has not written"):
        write(tmp_path, rendered())
    assert [path.name for path in tmp_path.iterdir()] == ["kustomization.yaml"]


@pytest.mark.parametrize("listed", [
    "[../../etc/passwd, /etc/passwd, a/b.yaml, 3, .yaml]", "text", "{}", "[", "[[]]"])
def test_what_an_index_names_is_no_path_to_follow(tmp_path, listed):
    write(tmp_path, rendered())
    path = tmp_path / "kustomization.yaml"
    path.write_text(path.read_text().splitlines()[0] + f"\nresources: {listed}\n")
    assert write(tmp_path, rendered())["warnings"] == [] and in_order(tmp_path) == rendered()


def test_what_is_for_the_new_cluster_is_beside_it(tmp_path):
    write(tmp_path, rendered(), "kind: Namespace\n")
    assert (tmp_path / "workload" / "network-addon.yaml").read_text() == "kind: Namespace\n"
    assert not [name for name in index(tmp_path) if "addon" in name]


def test_differences_do_not_show_what_is_secret(tmp_path):
    files = [{"path": "/etc/key", "content": "canary-1"}]
    diff = write(tmp_path, rendered(files=files))["diff"]
    assert "canary" not in str(diff) and "canary-1" in "".join(path.read_text() for path in tmp_path.glob("kubeadm*"))


INVENTORY = """\
all:
  children:
    clusters:
      children:
        %s:
          hosts: {%s-host: }
          vars:
            cluster_kubernetes_version: v1.35.4
            cluster_endpoint: {host: 192.0.2.1, holder: none}
            cluster_image: {url: "https://images.example/node.raw", checksum: "%s"}
            cluster_options: {files: [{path: /etc/key, content: canary}]}
"""


def test_the_playbook_writes_where_it_was_started_and_needs_no_cluster(tmp_path):
    inventory = INVENTORY % ("prod", "prod", "0" * 64)
    arguments = ["metal3.baremetal.cluster_template", "-e", "cluster_template_directory=clusters", "--diff", "-vvv"]
    code, output = playbook.play(tmp_path, inventory, "", *arguments)
    assert code == 0 and playbook.recap(output)["prod-host"] == (1, 0), output
    assert "canary" not in output and "kustomization.yaml" in os.listdir(tmp_path / "clusters" / "prod")
    code, output = playbook.play(tmp_path, inventory, "", *arguments)
    assert code == 0 and playbook.recap(output)["prod-host"] == (0, 0), output
    code, output = playbook.play(tmp_path, inventory.replace("v1.35.4", "latest"), "", *arguments[:3])
    assert code != 0 and 'cluster_kubernetes_version: found "latest"' in output.replace('\\"', '"'), output
