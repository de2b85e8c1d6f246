# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of what runs beside Ironic in its pod: names, the cache's key, and the contract of MariaDB's entry point."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import debian_image, pod_images
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic, ironic_database

LAB = Path(__file__).resolve().parents[3] / "lab"
FOLDERS = {"keepalived": (pod_images.KEEPALIVED, LAB / "keepalived_image"),
           "mariadb": (pod_images.MARIADB, LAB / "mariadb_image")}


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_an_image_has_upstreams_name_and_a_folder_that_depends_on_its_program(name, tmp_path):
    recipe, folder = FOLDERS[name]
    image = debian_image.DebianImage(recipe, str(folder), str(tmp_path))
    assert list(image.layouts()) == [recipe.name + ":latest"] and not image.complete()
    program = tmp_path / os.path.basename(recipe.entry_point)
    program.write_text("other")
    other = debian_image.DebianImage(recipe, str(tmp_path), str(tmp_path))
    assert os.path.dirname(other.directory) == os.path.dirname(image.directory) and other.directory != image.directory
    assert os.access(folder / program.name, os.X_OK)


def test_the_manifests_name_these_images():
    assert (pod_images.KEEPALIVED.name, pod_images.MARIADB.name) == (ironic.KEEPALIVED, ironic_database.IMAGE)


def test_an_image_that_is_there_is_not_made_again_and_only_root_makes_one(tmp_path, monkeypatch):
    recipe, folder = FOLDERS["mariadb"]
    image = debian_image.DebianImage(recipe, str(folder), str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(debian_image.DebianImageError, match="building the image of MariaDB needs root"):
        image.build(Progress(None))
    os.makedirs(image.directory)
    image.build(Progress(None))
    assert image.complete()


def test_mariadb_does_not_start_without_a_password():
    done = subprocess.run(["sh", str(LAB / "mariadb_image" / "runmariadb")], env={"PATH": os.environ["PATH"]},
                          capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode and "MARIADB_PASSWORD: not set, expected the password of the user" in done.stderr
