# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role bmo, mode process: how the operator comes in to an Ironic, by a login, a client certificate, or neither."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook

ROLE = Path(__file__).resolve().parents[3] / "roles" / "bmo"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
URL = {"bmo_ironic_url": "https://ironic.example:6385/v1/"}
NO_LOGIN = {"bmo_ironic_username_file": "", "bmo_ironic_password_file": ""}
CLIENT = {"bmo_ironic_client_cert_file": "/pki/client.crt", "bmo_ironic_client_key_file": "/pki/client.key"}


def prepared(folder, **variables):
    """Run the role until the operator would be started, which needs a plane; return what it printed."""
    text = json.dumps([{"hosts": "management", "gather_facts": False, "roles": ["metal3.baremetal.bmo"]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(dict(
        URL, bmo_mode="process", management_plane={"dir": str(folder / "plane"), "urls": {}}, **variables)))
    assert code, output
    return output


def shown(folder, **variables):
    """Return the operator's environment and the files at whose change it starts again."""
    path = folder / "shown.json"
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "defaults" / "main.yml")}, {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"copy": {"content": "{{ [bmo_environment | combine(bmo_process_environment), bmo_read_files | select] "
                             "| to_json }}", "dest": str(path), "mode": "0600"}}]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(
        dict(variables, management_plane={"dir": "/plane"}, bmo_in_lab=False)))
    assert code == 0, output
    return json.loads(path.read_text())


def credentials(folder):
    """Return what is in the folder in which the operator looks for credentials, None without the folder."""
    path = folder / "plane" / "secrets" / "bmo" / "ironic"
    return sorted(item.name for item in path.iterdir()) if path.exists() else None


def test_a_login_that_is_not_there_any_more_is_taken_away(tmp_path):
    prepared(tmp_path)
    assert credentials(tmp_path) == ["password", "username"]
    prepared(tmp_path, **NO_LOGIN)
    assert credentials(tmp_path) is None


def test_the_operator_shows_the_client_certificate_by_which_ironic_is_checked(tmp_path):
    for given in (CLIENT, {"ironic_client_cert_file": "/pki/client.crt", "ironic_client_key_file": "/pki/client.key"}):
        environment, files = shown(tmp_path, **given)
        assert environment["IRONIC_CLIENT_CERT_FILE"] == "/pki/client.crt"
        assert environment["IRONIC_CLIENT_PRIVATE_KEY_FILE"] == "/pki/client.key"
        assert files == ["/plane/secrets/ironic_username", "/plane/secrets/ironic_password", "/plane/pki/ca.crt",
                         "/pki/client.crt", "/pki/client.key"]
    environment, files = shown(tmp_path, **NO_LOGIN)
    assert "IRONIC_CLIENT_CERT_FILE" not in environment and files == ["/plane/pki/ca.crt"]
    assert environment["IRONIC_CACERT_FILE"] == "/plane/pki/ca.crt"


def test_other_settings_count_in_this_mode_too(tmp_path):
    environment, _files = shown(tmp_path, bmo_ironic_insecure=True, bmo_deploy_iso_url="https://images.example/a.iso")
    assert environment["IRONIC_INSECURE"] == "true" and environment["DEPLOY_ISO_URL"] == "https://images.example/a.iso"


@pytest.mark.parametrize("given", [
    {"bmo_ironic_username_file": ""}, {"bmo_ironic_client_cert_file": "/pki/client.crt"}])
def test_half_a_pair_is_refused_before_anything_is_written(tmp_path, given):
    output = " ".join(prepared(tmp_path, **given).split())
    assert "expected both files of a pair, or none; set the other one" in output
    assert not (tmp_path / "plane").exists()
