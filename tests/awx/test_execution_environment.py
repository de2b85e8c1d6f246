# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The definition of the execution environment, as far as ansible-builder goes without a container engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
DEFINITION = REPOSITORY / "extensions" / "execution_environment" / "execution-environment.yml"
BUILDER = str(Path(sys.executable).parent / "ansible-builder")


def test_the_context_is_built(tmp_path):
    run = subprocess.run(
        [
            BUILDER,
            "create",
            "--file",
            str(DEFINITION),
            "--context",
            str(tmp_path),
            "--output-filename",
            "Containerfile",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    text = (tmp_path / "Containerfile").read_text(encoding="utf-8")
    image = yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))["images"]["base_image"]["name"]
    assert f'ARG EE_BASE_IMAGE="{image}"' in text
    assert 'ARG PYPKG="python3"' in text and "ansible-core>=2.19,<2.20" in text and "ansible-runner>=2.4" in text
    asked = yaml.safe_load((tmp_path / "_build" / "requirements.yml").read_text(encoding="utf-8"))["collections"]
    assert [item["name"] for item in asked] == ["metal3.baremetal", "awx.awx"]


def test_the_collection_says_what_it_needs(tmp_path):
    """What ansible-builder reads from the installed collection inside of the build."""
    collection = tmp_path / "ansible_collections" / "metal3" / "baremetal"
    (collection / "meta").mkdir(parents=True)
    for path in (REPOSITORY / "meta").iterdir():
        (collection / "meta" / path.name).write_bytes(path.read_bytes())
    (collection / "MANIFEST.json").write_text(
        '{"collection_info": {"namespace": "metal3", "name": "baremetal"}}', encoding="utf-8"
    )
    run = subprocess.run(
        [BUILDER, "introspect", str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = yaml.safe_load(run.stdout.split("---", 1)[1])
    wanted = {
        line.split("#")[0].strip()
        for line in (REPOSITORY / "meta" / "ee-requirements.txt").read_text(encoding="utf-8").splitlines()
    } - {""}
    # ansible-core brings it, so that ansible-builder leaves it out.
    wanted.remove("PyYAML>=6.0")
    assert {line.split("  #")[0].strip() for line in found["python"]} == wanted
    assert [line.split("#")[0].strip() for line in found["system"]] == ["ipmitool"]
