# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of the running lab in one folder, and none of its secrets in them."""
from __future__ import annotations

import base64
from pathlib import Path

import pytest
import yaml
from starting_state import DIRECT
from support import NAMESPACE


def secrets_of(lab):
    """Return the secrets of the lab by the path of their file; user names are none."""
    paths = [path for path in (lab.dir / "secrets").rglob("*") if path.is_file()]
    paths += [Path(server["bmc"]["password_file"]) for server in lab.servers.values()]
    found = dict((path, path.read_text().strip()) for path in paths if not path.name.endswith("username"))
    return dict((path, text) for path, text in found.items() if len(text) >= 6)


@pytest.fixture(scope="module")
def collected(lab, tmp_path_factory):
    """Return the folder and the run of the playbook."""
    folder = tmp_path_factory.mktemp("collected") / "logs"
    return folder, lab.playbook("collect_logs", extra={"collect_logs_dir": str(folder)}).ok()


def test_logs_and_objects_of_the_lab_are_there(lab, collected):
    folder, run = collected
    assert f"are in {folder}: " in run.output
    for name in ("bmo", "ironic"):
        assert (folder / "process" / f"{name}.log").stat().st_size, name
    written = sorted(path.name for path in (folder / "objects" / "BareMetalHost.metal3.io").iterdir())
    hosts = sorted(f"{NAMESPACE}.{name}.yaml" for name in lab.hosts())
    assert hosts and [name for name in written if name.startswith(f"{NAMESPACE}.")] == hosts
    summary = yaml.safe_load((folder / "summary.yaml").read_text())
    assert summary["api_server"]["version"].startswith("v1.")
    # The deploy agent sends what it wants.
    assert [item for item in summary["not_read"] if "log/deploy" not in item["what"]] == []
    assert not (folder / "objects" / "Secret").exists()


def test_what_the_deploy_agents_of_a_server_have_sent_is_unpacked(lab, collected):
    """Ironic asks the agent for its logs when a server is clean and when its image is written."""
    folder, _run = collected
    name = next(iter(DIRECT))
    node = lab.nodes()[name].name
    sent = [path.name for path in (lab.dir / "log" / "deploy").iterdir() if f"_{node}_" in path.name]
    unpacked = folder / "process" / "deploy"
    # Their names end with the time.
    newest = dict((cleaning, max((archive for archive in sent if ("_cleaning_" in archive) == cleaning),
                                 key=lambda archive: archive.rpartition("_")[2])) for cleaning in (True, False))
    machine = lab.dir / "machines" / name
    printed = set("".join(path.read_text(errors="replace") for path in machine.glob("console.log*")).splitlines())
    for cleaning, said in ((True, "agent: execute_clean_step: SUCCEEDED"),
                           (False, "agent: install_bootloader: SUCCEEDED")):
        # In the name of a file is no tilde.
        lines = (unpacked / newest[cleaning].replace("~", "_") / "console").read_text().splitlines()
        assert any(line.endswith(said) for line in lines), (newest[cleaning], lines)
        assert [line for line in lines if "(hidden)" not in line and line not in printed] == []


def test_no_secret_of_the_lab_is_in_any_file(lab, collected):
    folder, _run = collected
    secrets = secrets_of(lab)
    assert any(path.name == "ironic_password" for path in secrets)
    assert any("bmc" in path.parts for path in secrets)
    texts = dict((path, path.read_text()) for path in folder.rglob("*") if path.is_file())
    for source, secret in secrets.items():
        for form in (secret, base64.b64encode(secret.encode()).decode()):
            assert [str(path) for path, text in texts.items() if form in text] == [], source


def test_a_second_run_into_the_same_folder_is_refused(lab, collected):
    folder, _run = collected
    lab.playbook("collect_logs", extra={"collect_logs_dir": str(folder)}).failed(
        "dest: found a folder with files in it, expected no such file")


def test_check_mode_writes_nothing(lab, tmp_path):
    run = lab.playbook("collect_logs", "--check", extra={"collect_logs_dir": str(tmp_path / "logs")}).ok()
    assert f"would be in {tmp_path / 'logs'}: " in run.output and not (tmp_path / "logs").exists()
