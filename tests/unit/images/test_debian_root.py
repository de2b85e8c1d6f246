# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Root file systems of images: no file of this machine is written through them, and no password stays in them."""
from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from images.test_agent_options import GOOD as AGENT_OPTIONS
from images.test_node_image import GOOD, fields

from ansible_collections.metal3.baremetal.plugins.module_utils._images.agent import agent_options
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root
from ansible_collections.metal3.baremetal.plugins.module_utils._images.node import node_build, node_options

SECRET = "canary-proxy-18"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root" / "etc" / "apt" / "apt.conf.d").mkdir(parents=True)
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "UTC").write_text("of this machine")
    return tmp_path / "root"


def test_a_file_takes_the_place_of_a_link_to_a_file_of_this_machine(root, tmp_path):
    """As /etc/localtime is one."""
    os.symlink(tmp_path / "machine" / "UTC", root / "etc" / "localtime")
    build = object.__new__(node_build.NodeBuild)
    build._params = {"files": [{"path": "/etc/localtime", "content": b"of the site", "mode": "0644"}]}
    build._add_files(str(root))
    assert (tmp_path / "machine" / "UTC").read_text() == "of this machine"
    assert (root / "etc" / "localtime").read_text() == "of the site" and not (root / "etc" / "localtime").is_symlink()


def test_a_folder_that_is_a_link_to_one_of_this_machine_is_refused(root, tmp_path):
    os.symlink(tmp_path / "machine", root / "etc" / "zone")
    os.symlink("../machine", root / "machine")
    for path in ("/etc/zone/UTC", "/machine/UTC"):
        with pytest.raises(debian_root.ImageBuildError, match=f"{path}: found a folder that is a link to"):
            debian_root.place(str(root), path)
    os.symlink("etc", root / "here")
    assert debian_root.place(str(root), "/here/new/file") == str(root / "etc" / "new" / "file")


def test_files_of_the_collection_follow_no_link(root, tmp_path):
    (tmp_path / "source" / "etc").mkdir(parents=True)
    (tmp_path / "source" / "etc" / "issue").write_text("new")
    os.symlink(tmp_path / "machine" / "UTC", root / "etc" / "issue")
    debian_root.add_files(str(tmp_path / "source"), str(root))
    assert (tmp_path / "machine" / "UTC").read_text() == "of this machine"


def test_compiled_copies_of_a_recipe_s_scripts_are_no_part_of_it(root, tmp_path):
    folder = tmp_path / "source" / "etc"
    folder.mkdir(parents=True)
    (folder / "script.py").write_text("")
    before = debian_root.tree_digest(str(tmp_path / "source"))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "script.cpython-311.pyc").write_bytes(b"\xa7\r\r\n")
    assert debian_root.tree_digest(str(tmp_path / "source")) == before
    debian_root.add_files(str(tmp_path / "source"), str(root))
    assert sorted(os.listdir(root / "etc")) == ["apt", "script.py"]


def test_what_is_added_is_read_by_users_of_the_system_whatever_the_umask_is(root, tmp_path, monkeypatch):
    """systemd-networkd reads drop-ins with a user of its own."""
    monkeypatch.setattr(node_build, "run", lambda *_arguments, **_options: "")
    network = "etc/systemd/network/10-bond.network.d"
    (tmp_path / "source" / network).mkdir(parents=True)
    (tmp_path / "source" / network / "a.conf").write_text("[Network]\n")
    build = object.__new__(node_build.NodeBuild)
    build._params = {"files": [{"path": "/opt/site/etc/b.conf", "content": b"b", "mode": "0644"}],
                     "ca_certificates": ["certificate"]}
    before = os.umask(0o077)
    try:
        debian_root.add_files(str(tmp_path / "source"), str(root))
        build._add_files(str(root))
        build._add_authorities(str(root))
        debian_root.clean(str(root))
    finally:
        os.umask(before)
    added = ["etc/systemd", "etc/systemd/network", network, f"{network}/a.conf", "opt", "opt/site/etc",
             "opt/site/etc/b.conf", "usr", node_build.AUTHORITIES_DIR, f"{node_build.AUTHORITIES_DIR}/site-0.crt",
             "etc/hostname"]
    assert dict((path, (root / path).stat().st_mode & 0o7777) for path in added) == dict(
        (path, 0o755 if (root / path).is_dir() else 0o644) for path in added)


def test_a_password_of_a_proxy_is_in_no_argument_and_stays_in_no_image(root, tmp_path, monkeypatch):
    commands = []

    def run(arguments, _step, **_options):
        commands.append(list(arguments))
        if arguments[:2] == ["apt-config", "shell"]:
            return f"VALUE='http://user:{SECRET}@proxy:3128'" if "Proxy" in arguments[3] else ""
        return ""

    monkeypatch.setattr(debian_root, "run", run)
    debian_root.install(str(root), ["bash"], str(tmp_path))
    assert SECRET not in str(commands)
    path = next(word for command in commands for word in command if word.startswith("--aptopt=")).partition("=")[2]
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path, encoding="utf-8") as stream:
        settings = stream.read()
    assert settings.splitlines()[0] == f'Acquire::http::Proxy "http://user:{SECRET}@proxy:3128";'
    # Where mmdebstrap leaves them.
    kept = root / "etc" / "apt" / "apt.conf.d" / "99mmdebstrap"
    kept.write_text(settings)
    debian_root.clean(str(root))
    assert not kept.exists()


@pytest.mark.parametrize("release, sources, expected", [
    ("bookworm", [], ["deb http://mirror/debian bookworm main"]), ("trixie", [], None),
    ("trixie", ["deb http://other/debian bookworm main"], ["deb http://other/debian bookworm main"])])
def test_a_repository_is_never_the_only_source(tmp_path, monkeypatch, release, sources, expected):
    """mmdebstrap takes Debian's own sources only when there are none at all."""
    commands = []

    def run(arguments, _step, **_options):
        commands.append(list(arguments))
        listed = arguments[:2] == ["apt-get", "indextargets"]
        return f"Debian|http://mirror/debian|{release}|main\n" if listed else ""

    monkeypatch.setattr(debian_root, "run", run)
    added = "deb https://packages.example.org/deb/ /"
    if expected is None:
        with pytest.raises(debian_root.ImageBuildError, match=r"found none of Debian bookworm.* debian_sources"):
            debian_root.install("root", ["bash"], str(tmp_path), added=[added])
        assert not any("mmdebstrap" in command for command in commands)
        return
    debian_root.install("root", ["bash"], str(tmp_path), sources=sources, added=[added])
    words = commands[-1]
    assert words[words.index("root") + 1:] == [*expected, added]


@pytest.mark.parametrize("source", [
    f"deb https://user:{SECRET}@packages.example.org/deb/ /", f"deb https://{SECRET}@packages.example.org/deb/ /"])
def test_a_source_with_a_password_is_refused_without_quoting_it(source):
    params = dict(GOOD, kubernetes_repository=dict(GOOD["kubernetes_repository"], source=source))
    assert fields(params) == ["kubernetes_repository.source"]
    found = node_options.problems(params) + agent_options.problems(dict(AGENT_OPTIONS, debian_sources=[source]))
    assert len(found) == 2 and SECRET not in str(found)


def test_a_machine_of_another_architecture_is_named_before_packages_that_it_has_not(monkeypatch):
    """It would be asked to install the package of a boot loader that has none for its architecture."""
    monkeypatch.setattr(debian_root.os, "geteuid", lambda: 0)
    monkeypatch.setattr(debian_root.os, "uname", lambda: SimpleNamespace(machine="aarch64"))
    with pytest.raises(debian_root.ImageBuildError, match=r"^building a disk: found a machine of aarch64, expected one "
                                                          "of x86_64, for which all images are; build it on"):
        debian_root.check_means("a disk", [("no-such-program", "no-such-package")])
