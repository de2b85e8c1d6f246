# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hardware manager that role agent_image adds for ``agent_image_reach``, with the agent's own modules played."""
from __future__ import annotations

import importlib
import json
import pathlib
import socket
import sys
import types

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import questions

FILES = pathlib.Path(__file__).resolve().parents[3] / "roles" / "agent_image" / "files"


class Incompatible(Exception):
    """As the agent's."""


class Missing(Exception):
    """As the agent's."""


class Manager:
    """Another hardware manager, with an inventory or without one."""

    def __init__(self, inventory=None):
        self._inventory = inventory

    def list_hardware_info(self):
        if self._inventory is None:
            raise Incompatible
        return self._inventory


@pytest.fixture
def reach(monkeypatch, tmp_path):
    """The module, whose questions are those of a file of the test's."""
    hardware = types.SimpleNamespace(HardwareManager=object, managers=[])
    hardware.get_managers = lambda: hardware.managers
    errors = types.SimpleNamespace(IncompatibleHardwareMethodError=Incompatible, HardwareManagerMethodNotFound=Missing)
    package = types.ModuleType("ironic_python_agent")
    package.hardware, package.errors = hardware, errors
    monkeypatch.setitem(sys.modules, "ironic_python_agent", package)
    monkeypatch.setitem(sys.modules, "metal3_questions", questions)
    monkeypatch.syspath_prepend(str(FILES))
    monkeypatch.delitem(sys.modules, "metal3_reach", raising=False)
    module = importlib.import_module("metal3_reach")
    monkeypatch.setattr(module, "REACH", str(tmp_path / "reach.json"))
    monkeypatch.setattr(module, "SECONDS", 1)
    yield module
    sys.modules.pop("metal3_reach", None)


def ask(reach, asked, *managers):
    pathlib.Path(reach.REACH).write_text(json.dumps(asked))
    manager = reach.ReachManager()
    reach.hardware.managers[:] = [manager, *managers]
    return manager.list_hardware_info()


def test_the_answers_are_beside_what_another_manager_has_found(reach):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        there, gone = server.getsockname()[1], closed.getsockname()[1]
        found = ask(reach, {"tcp": [
            {"name": "Ironic", "host": "127.0.0.1", "port": there}, {"host": "127.0.0.1", "port": gone},
            {"name": "telnet", "host": "127.0.0.1", "port": gone, "reachable": False}],
            "tftp": [{"name": "loader", "host": "127.0.0.1", "port": gone, "path": "snponly.efi"}]},
            Manager(), Manager({"cpu": 2}))
    assert found["cpu"] == 2
    assert [(answer["name"], answer["target"], answer["ok"]) for answer in found[reach.FIELD]] == [
        ("Ironic", f"127.0.0.1:{there}", True), ("", f"127.0.0.1:{gone}", False),
        ("telnet", f"127.0.0.1:{gone}", True), ("loader", "127.0.0.1/snponly.efi", False)]
    assert found[reach.FIELD][1]["found"] == "connection refused"
    # It becomes JSON on its way to Ironic.
    assert json.loads(json.dumps(found)) == found


def test_a_manager_with_nothing_to_ask_adds_an_empty_list(reach):
    assert ask(reach, {}, Manager({"cpu": 2})) == {"cpu": 2, reach.FIELD: []}


def test_without_another_inventory_there_is_none(reach):
    with pytest.raises(Missing):
        ask(reach, {}, Manager())


def test_it_is_asked_before_the_managers_of_a_site(reach):
    # HardwareSupport.SERVICE_PROVIDER of the agent is 3.
    assert reach.ReachManager().evaluate_hardware_support() > 3
