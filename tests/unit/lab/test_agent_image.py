# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import agent_image

FILES = {"/etc/agent/ca.crt": b"certificate", "/etc/agent/agent.conf": b"[DEFAULT]\n"}


@pytest.fixture
def image(tmp_path):
    """A ramdisk as it is in the cache."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "packages.txt").write_text("kmod\n")
    made = agent_image.AgentImage(str(source), str(tmp_path / "cache"))
    os.makedirs(made.directory)
    for name in agent_image.FILES:
        with open(os.path.join(made.directory, name), "wb") as stream:
            stream.write(b"content of " + name.encode())
    return made


def publish(image, directory, files, check_mode=False):
    os.makedirs(directory, exist_ok=True)
    added = {}
    for number, (path, content) in enumerate(sorted(files.items())):
        added[path] = f"{directory}-{number}"
        with open(added[path], "wb") as stream:
            stream.write(content)
    return agent_image.publish(image, str(directory), added, check_mode)


def test_published_files_fit_their_checksums_and_are_written_once(image, tmp_path):
    directory = tmp_path / "www"
    assert publish(image, directory, FILES) == list(agent_image.FILES)
    for name in agent_image.FILES:
        digest = hashlib.sha256((directory / name).read_bytes()).hexdigest()
        assert (directory / (name + ".sha256")).read_text() == f"{digest}  {name}\n"
    assert publish(image, directory, FILES) == []


def test_another_authority_changes_the_ramdisk_alone(image, tmp_path):
    directory = tmp_path / "www"
    publish(image, directory, FILES)
    assert publish(image, directory, dict(FILES, **{"/etc/agent/ca.crt": b"other"})) == ["initrd"]


def test_check_mode_publishes_nothing(image, tmp_path):
    directory = tmp_path / "www"
    assert publish(image, directory, FILES, check_mode=True) == list(agent_image.FILES)
    assert os.listdir(directory) == []


def test_the_ramdisk_follows_the_lab_s_files_where_the_kernel_looks_for_it(image, tmp_path):
    directory = tmp_path / "www"
    publish(image, directory, FILES)
    initrd = (directory / "initrd").read_bytes()
    assert initrd.startswith(b"070701")
    assert initrd.endswith(b"content of initrd")
    assert (len(initrd) - len(b"content of initrd")) % 4 == 0


@pytest.mark.skipif(not shutil.which("cpio"), reason="cpio reads the archive")
def test_cpio_reads_the_lab_s_files(tmp_path):
    subprocess.run(["cpio", "--extract", "--make-directories", "--quiet"], cwd=tmp_path, check=True,
                   input=agent_image.overlay(FILES))
    assert (tmp_path / "etc/agent/ca.crt").read_bytes() == b"certificate"
    assert (tmp_path / "etc/agent/agent.conf").read_bytes() == b"[DEFAULT]\n"


def test_the_cache_s_key_depends_on_the_sources(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "packages.txt").write_text("kmod\n")
    before = agent_image.AgentImage(str(source), "/cache").directory
    assert agent_image.AgentImage(str(source), "/cache").directory == before
    (source / "packages.txt").write_text("kmod\nudev\n")
    assert agent_image.AgentImage(str(source), "/cache").directory != before
