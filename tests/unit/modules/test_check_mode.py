# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode of the modules that do not talk to Kubernetes: nothing is asked for but by reading, no file is written.

Those of Kubernetes are tried in ``test_faulty_api_server.py``.
"""
from __future__ import annotations

import importlib
import json

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.module_tasks import ACTION_GROUPS, server_for, task
from fakes.modules import MODULES

OTHERS = [name for name in MODULES if name not in ACTION_GROUPS["kubernetes"]]
# What they do without check mode is seen at Ironic, or in the folder in which the test runs.
WRITES = ["ironic_node", "ironic_node_action", "ironic_port", "lab_disk_image",
          "metalstack_firewall", "metalstack_ip", "metalstack_machine", "metalstack_network", "mirror_gather",
          "plane_certificate"]


def files_of(folder):
    # The program go counts its own runs.
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*") if "telemetry" not in path.parts
                  and path.name != "go")


def written(server):
    # metal-api is asked for lists by POST.
    return [request[:2] for request in server.requests
            if request[0] != "GET" and not request[1].endswith("/find")] if server else []


@pytest.fixture
def home(monkeypatch, tmp_path, tmp_path_factory):
    """Return the folder in which a module runs, and in which it finds all folders of its user."""
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    # Ansible makes folders of its own as soon as it is imported, which may be here or in a test before.
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path_factory.mktemp("ansible")))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(home, capfd):
    """Return a callable that runs a module and returns its answer."""
    def call(name, arguments, **options):
        module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.{name}")
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(home), **options)), pytest.raises(SystemExit):
            module.main()
        return json.loads(capfd.readouterr().out)
    return call


@pytest.mark.parametrize("name", OTHERS)
def test_check_mode_writes_nothing(run, home, name):
    before = files_of(home)
    with server_for(name) as (connection, server):
        answer = run(name, dict(task(name)[0], **connection), _ansible_check_mode=True)
        assert written(server) == [], answer
        assert files_of(home) == before, answer


@pytest.mark.parametrize("name", WRITES)
def test_without_check_mode_something_is_written(run, home, name):
    before = files_of(home)
    with server_for(name) as (connection, server):
        answer = run(name, dict(task(name)[0], **connection))
        assert written(server) or files_of(home) != before, answer
