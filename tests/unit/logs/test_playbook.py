# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook collect_logs: which plane it reads in each mode, and what it prints."""
from __future__ import annotations

import json
import re

import pytest
import yaml
from fakes import playbook
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.log_plane import PLANE, host, secret

LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
PASSWORD = "bmc-Pa55-word"


@pytest.fixture
def collect(tmp_path):
    """Return a callable that runs the playbook on a plane; it returns exit status and output."""
    def call(mode, *arguments, hosts=("m1",), **variables):
        plane = tmp_path / "plane"
        (plane / "log").mkdir(parents=True, exist_ok=True)
        (plane / "log" / "bmo.log").write_text(f"of bmo, {PASSWORD}\n")
        objects = [*PLANE, host(), dict(host("h2"), metadata={"name": "h2", "namespace": "other"}),
                   {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}},
                   secret("s", password=PASSWORD)]
        with ApiServer(objects) as server:
            (plane / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
            of_plane = {"dir": str(plane)} if mode == "process" else {"mode": mode, "kubeconfig": f"{plane}/kubeconfig"}
            planes = {name: dict(LOCAL, management_plane=of_plane) for name in hosts}
            inventory = json.dumps({"management": {"hosts": planes}})
            return playbook.play(tmp_path, inventory, "", "metal3.baremetal.collect_logs", *arguments, "-e",
                                 json.dumps(variables))
    return call


@pytest.mark.parametrize("mode", ["process", "cluster", "external"])
def test_each_mode_has_its_files(collect, tmp_path, mode):
    code, output = collect(mode, collect_logs_dir=str(tmp_path / "logs"))
    assert code == 0, output
    assert playbook.recap(output)["m1"] == (1, 0)
    found = set(str(path.relative_to(tmp_path / "logs")) for path in (tmp_path / "logs").rglob("*") if path.is_file())
    assert "objects/BareMetalHost.metal3.io/metal3.h1.yaml" in found and "summary.yaml" in found
    assert ("process/bmo.log" in found) is (mode == "process")
    hidden = 1 if mode == "process" else 0
    assert f"are in {tmp_path}/logs: {len(found)} files, {hidden} secret values hidden" in " ".join(output.split())
    assert PASSWORD not in output
    version = yaml.safe_load((playbook.ROOT / "galaxy.yml").read_text())["version"]
    assert yaml.safe_load((tmp_path / "logs" / "summary.yaml").read_text())["collection"]["version"] == version


def test_without_a_name_the_folder_has_the_time_in_its_name(collect, tmp_path):
    code, output = collect("cluster", collect_logs_namespaces=["other"], collect_logs_since_seconds="60")
    assert code == 0, output
    folder, = tmp_path.glob("metal3-logs-*")
    assert re.fullmatch(r"metal3-logs-\d{8}T\d{6}Z", folder.name)
    assert (folder / "objects" / "BareMetalHost.metal3.io" / "other.h2.yaml").is_file()
    summary = yaml.safe_load((folder / "summary.yaml").read_text())
    assert summary["namespaces"][0] == "other" and summary["since_seconds"] == 60


def test_planes_that_one_machine_reads_have_folders_of_their_own(collect, tmp_path):
    code, output = collect("cluster", hosts=("m1", "m2"), collect_logs_since_seconds="60")
    assert code == 0, output
    for name in ("m1", "m2"):
        folder, = tmp_path.glob(f"metal3-logs-{name}-*")
        assert re.fullmatch(rf"metal3-logs-{name}-\d{{8}}T\d{{6}}Z", folder.name)
        assert (folder / "summary.yaml").is_file()


def test_check_mode_says_where_the_files_would_be(collect, tmp_path):
    code, output = collect("process", "--check", collect_logs_dir=str(tmp_path / "logs"))
    assert code == 0, output
    assert f"would be in {tmp_path}/logs: " in output and not (tmp_path / "logs").exists()
