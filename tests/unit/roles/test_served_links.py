# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A link in a served folder publishes nothing that its owner has not: the real nginx, with the roles' configuration."""
from __future__ import annotations

import json
import os
import pathlib
import socket
import urllib.error
import urllib.request

import pytest
from fakes import nginx, playbook
from tooling import ansible_yaml

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
NOBODY = 65534


@pytest.fixture
def folders(tmp_path):
    """A served folder, to which a link leads, and files beside it that nobody has published."""
    root = tmp_path / "disk" / "www"
    for folder in ("images", "ironic", "elsewhere"):
        (root / folder).mkdir(parents=True)
    (root / "images" / "node.raw").write_text("image")
    (root / "images" / "twice.raw").hardlink_to(root / "images" / "node.raw")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "file").write_text("mine")
    (root / "images" / "own").symlink_to(tmp_path / "own" / "file")
    (root / "images" / "folder").symlink_to(tmp_path / "own")
    (root / "ironic" / "by-node").symlink_to(tmp_path / "own" / "file")
    # Of another user than the link, whoever runs this.
    (root / "images" / "passwd").symlink_to("/etc/passwd")
    (root / "ironic" / "of-another").symlink_to("/etc/passwd")
    if not os.geteuid():
        for link in (root / "images" / "passwd", root / "ironic" / "of-another"):
            os.lchown(link, NOBODY, NOBODY)
    (tmp_path / "www").symlink_to(root)
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def answers(folders):
    """Return a function that starts nginx with a role's settings and returns the status of each path."""
    def asked(role, variable, *paths):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        settings = dict(
            ((key, value) for key, value in ansible_yaml.read(ROLES / role / "vars" / "main.yml")[variable].items()
             if key in ("disable_symlinks", "folders_with_links")),
            work_dir=f"{folders}/work", root=f"{folders}/www", addresses=["127.0.0.1"], port=port, certificate="",
            access_log="off")
        play = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [{"ansible.builtin.template": {
            "src": f"{ROLES}/image_server/templates/nginx.conf.j2", "dest": f"{folders}/nginx.conf"}}]}])
        code, output = playbook.play(folders, INVENTORY, play, "play.yml", "-e",
                                     json.dumps({"image_server_nginx": settings}))
        assert code == 0, output
        with nginx.running(folders / "nginx.conf", port):
            return [_status(port, path) for path in paths]

    return asked


def _status(port, path):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as exc:
        return exc.code


def test_an_image_server_publishes_no_link_and_no_folder_by_a_link(answers):
    """The folder's own path has one, and images have several names by hard links."""
    assert answers("image_server", "image_server_nginx", "images/node.raw", "images/twice.raw", "images/passwd",
                   "images/own", "images/folder/file") == [200, 200, 403, 403, 404]


def test_a_bootstrap_plane_publishes_links_of_the_owner_and_those_that_ironic_makes(answers):
    assert answers("bootstrap_plane", "bootstrap_plane_image_server", "images/node.raw", "images/passwd", "images/own",
                   "images/folder/file", "ironic/by-node", "ironic/of-another", "ironic/.of-another") == [
        200, 403, 200, 200, 200, 200, 404]
