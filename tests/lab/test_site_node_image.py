# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node image from nothing of programs that are given. Needs root; takes minutes."""
from __future__ import annotations

import pytest
from image_files import ImageFiles
from support import REPOSITORY, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = pytest.mark.metal

RECIPE = REPOSITORY / "roles" / "node_image" / "files" / "recipe"


@pytest.fixture(scope="module")
def engine():
    return module("plane_programs", source_dir=str(REPOSITORY / "lab" / "engine"), sets=["management", "node"],
                  cache_dir=user_folders.cache_dir())


@pytest.fixture(scope="module")
def options(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-node-image")
    return {"source_dir": str(RECIPE), "cache_dir": str(folder / "cache"), "directory": str(folder / "www"),
            "kubernetes_version": engine["versions"]["kubelet"], "kubernetes_dir": engine["engine_dir"] + "/bin",
            "files": [{"path": "/etc/site/note", "content": "of the site\n"}]}


@pytest.fixture(scope="module")
def built(options):
    return module("node_image", **options)


@pytest.fixture(scope="module")
def read(built, tmp_path_factory):
    """A function that reads a file of the image's root file system."""
    return ImageFiles(built["path"], tmp_path_factory.mktemp("raw")).read


def test_the_image_has_what_was_asked_for(built, read):
    assert (built["format"], built["disk_bytes"]) == ("qcow2", 6 * 1024 ** 3)
    assert read("/etc/site/note") == "of the site\n"
    assert "/pause:" in read("/etc/containerd/config.toml")
    assert "ConfigDrive" in read("/etc/cloud/cloud.cfg.d/90-node.cfg")
    # Each machine has one of its own.
    assert read("/etc/machine-id") == "" and read("/etc/ssh/ssh_host_ed25519_key") == ""


def test_the_second_run_changes_nothing(built, options):
    again = module("node_image", **options)
    assert (again["changed"], again["sha256"]) == (False, built["sha256"])
