# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role bmo: where BMCs with IPv6 get virtual media from, as the operator's environment has it in both modes."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook

ROLE = Path(__file__).resolve().parents[3] / "roles" / "bmo"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"


@pytest.mark.parametrize("given, expected", [({}, None), (
    {"bmo_ironic_external_url_v6": "http://[2001:db8::1]:6180"}, "http://[2001:db8::1]:6180")])
def test_the_operator_gets_the_url_in_both_modes(tmp_path, given, expected):
    path = tmp_path / "shown.json"
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "defaults" / "main.yml")}, {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"copy": {"content": "{{ [bmo_environment, bmo_parts[0].environment] | to_json }}", "dest": str(path),
                  "mode": "0600"}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
        dict(given, management_plane={}, bmo_in_lab=False)))
    assert code == 0, output
    for environment in json.loads(path.read_text()):
        assert environment.get("IRONIC_EXTERNAL_URL_V6") == expected


@pytest.mark.parametrize("mode", ["process", "cluster"])
@pytest.mark.parametrize("url", ["2001:db8::1", "http://[2001:db8::1/", "http://images example/"])
def test_what_would_end_the_operator_is_refused_first(tmp_path, mode, url):
    text = json.dumps([{"hosts": "management", "gather_facts": False, "roles": ["metal3.baremetal.bmo"]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps({
        "bmo_ironic_external_url_v6": url, "bmo_mode": mode, "management_plane": {"dir": str(tmp_path / "plane")}}))
    assert code and f'bmo_ironic_external_url_v6: found "{url}", expected an http or https URL' in " ".join(
        output.replace("\\", "").split()), output
    assert not (tmp_path / "plane").exists()
