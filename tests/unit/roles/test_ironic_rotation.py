# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a rotation of Ironic's credentials in mode process, and what a run that was killed in it leaves."""
from __future__ import annotations

import base64
import json
import sys

import bcrypt
import pytest
from fakes import playbook
from fakes.http_server import QuietHandler, Served
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import certificates

LOCAL = "{ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}"
ROLE = playbook.ROOT / "roles" / "ironic"
OLD, NEW = ("former", "old-password"), ("present", "new-password")


class Ironic(Served):
    """Asks for a login of the password file, as Ironic does at each request.

    :ivar takes_all: whether any login is taken
    """

    def __init__(self, path, takes_all):
        def answer(handler):
            login = base64.b64decode(handler.headers["Authorization"].partition(" ")[2]).decode()
            handler.send_response(200 if takes_all or tuple(login.split(":")) in logins(path) else 401)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        self.serve(type("Handler", (QuietHandler,), {"do_GET": answer}))


def logins(path):
    """Return which of the two logins a password file has."""
    found = dict(line.split(":") for line in path.read_text().split())
    return [login for login in (OLD, NEW) if login[0] in found and bcrypt.checkpw(
        login[1].encode(), found[login[0]].encode())]


@pytest.fixture(name="plane")
def plane_in_rotation(tmp_path):
    """A plane's folder in which both logins are good."""
    folder = tmp_path / "plane"
    for name, login in (("secrets", NEW), ("secrets/previous", OLD)):
        (folder / name).mkdir(parents=True)
        for part, text in zip(("username", "password"), login):
            (folder / name / f"ironic_{part}").write_text(text)
    (folder / "ironic").mkdir()
    digests = [(name, bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode())
               for name, password in (OLD, NEW)]
    (folder / "ironic" / "htpasswd").write_text("".join(f"{name}:{digest}\n" for name, digest in digests))
    (folder / "pki").mkdir()
    # Read whatever the URL, which is one without TLS here.
    (folder / "pki" / "ca.crt").write_bytes(certificates.self_signed(["localhost"])[1])
    return folder


def run(folder, plane, tasks_from, takes_all=False):
    with Ironic(plane / "ironic" / "htpasswd", takes_all) as ironic:
        figures = {"dir": str(plane), "services_python": sys.executable, "name": "mysite",
                   "urls": {"ironic": f"http://127.0.0.1:{ironic.port}"}}
        text = json.dumps([{"hosts": "h1", "gather_facts": False, "tasks": [
            {"ansible.builtin.import_role": {"name": "metal3.baremetal.ironic", "tasks_from": tasks_from}}]}])
        return playbook.play(folder, f"all: {{hosts: {{h1: {LOCAL}}}}}", text, "play.yml", "-e", json.dumps(
            {"management_plane": figures, "ironic_mode": "process"}))


def test_the_former_login_is_refused_before_it_is_forgotten(tmp_path, plane):
    """It was forgotten first: a run that was killed then left it valid, and the next rotation began another one."""
    code, output = run(tmp_path, plane, "rotated", takes_all=True)
    assert code and "Check that Ironic refuses them" in output, output
    assert logins(plane / "ironic" / "htpasswd") == [NEW]
    assert (plane / "secrets" / "previous" / "ironic_password").exists()
    code, output = run(tmp_path, plane, "rotated")
    assert code == 0 and not (plane / "secrets" / "previous").exists(), output


def test_a_login_that_was_taken_out_does_not_come_back(tmp_path, plane):
    """By the playbook install, after a rotation that was killed before it had forgotten the former login."""
    assert run(tmp_path, plane, "rotated", takes_all=True)[0]
    code, output = run(tmp_path, plane, "password_file")
    assert code == 0 and logins(plane / "ironic" / "htpasswd") == [NEW], output


def test_both_logins_are_good_while_they_are_being_replaced(tmp_path, plane):
    code, output = run(tmp_path, plane, "password_file")
    assert code == 0 and logins(plane / "ironic" / "htpasswd") == [OLD, NEW], output


@pytest.mark.parametrize("name, password", [("rotated_process.yml", "previous/ironic_password"),
                                            ("rotated_cluster.yml", "previous/password")])
def test_the_password_by_which_a_rotation_is_known_goes_first(name, password):
    """With the user's name gone and the password there, no later run could read the two."""
    deletion = ansible_yaml.read(ROLE / "tasks" / name)[-1]["block"][-1]
    assert deletion["name"] == "Delete them" and deletion["loop"] == [password, "previous"]
