# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironics that are processes of this machine are known by folder, program and port."""
from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._move.handover import machine_ironics, machine_reading
from ansible_collections.metal3.baremetal.plugins.module_utils._move.handover.machine_ironics import IronicProcess
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import (
    LAB_DIR_VARIABLE,
    NAME_VARIABLE,
)

LISTENS = """
import socket, sys
with socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET) as server:
    print(server.getsockname()[1], flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def process(folder, program, address="127.0.0.1"):
    """Run a process that listens, as a program of a plane's supervisord; yields its id and port."""
    environment = dict(os.environ, **{LAB_DIR_VARIABLE: str(folder), NAME_VARIABLE: program})
    with subprocess.Popen([sys.executable, "-c", LISTENS, address], env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as found:
        try:
            yield found.pid, int(found.stdout.readline())
        finally:
            found.stdin.close()


@pytest.fixture
def folders(tmp_path):
    for name in ("own", "other"):
        (tmp_path / name / "supervisor" / "conf.d").mkdir(parents=True)
    return tmp_path / "own", tmp_path / "other"


def configure(folder, *programs):
    for name in programs:
        (folder / "supervisor" / "conf.d" / f"{name}.conf").touch()


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::"])
def test_two_ironics_of_one_machine_are_known_by_folder_and_port(folders, address):
    own, other = folders
    configure(own, "ironic", "etcd")
    configure(other, "ironic-api", "ironic-conductor-1")
    with process(own, "ironic", address) as (pid, port), process(other, "ironic-api", address) as (another, second):
        found = machine_reading.read(f"{own}/", f"https://127.0.0.1:{port}")
        assert (found.configured, found.holder) == (("ironic",), "")
        assert found.running == (IronicProcess(str(own), "ironic", pid),)
        assert IronicProcess(str(other), "ironic-api", another) in found.others
        # The URL is that of the other one.
        found = machine_reading.read(str(own), f"https://127.0.0.1:{second}")
        assert found.holder == f"pid {another}, program ironic-api in {other}"
    assert not machine_reading.read(str(own), f"https://127.0.0.1:{port}").running


def test_a_process_that_is_no_program_of_a_plane_is_named_by_its_id(folders, tmp_path):
    with process(tmp_path, "") as (pid, port):
        found = machine_reading.read(str(folders[0]), f"http://127.0.0.1:{port}")
        assert found.holder.startswith(f"pid {pid}, program ? in {tmp_path}") and found.others == ()


@pytest.mark.parametrize("url", ["", "https://ironic.example:6385", "https://192.0.2.1:6385", "https://[broken"])
def test_where_a_url_leads_elsewhere_nobody_is_named(folders, url):
    assert machine_reading.read(str(folders[0]), url).holder == ""


def test_a_folder_without_a_plane_has_no_ironic(tmp_path):
    found = machine_reading.read(str(tmp_path / "nowhere"), "https://127.0.0.1:1")
    assert (found.configured, found.running, found.holder) == ((), (), "")


def test_words_name_folder_program_and_processes():
    items = [IronicProcess("/b", "ironic", 3), IronicProcess("/a", "ironic-api", 2), IronicProcess("/b", "ironic", 1)]
    assert machine_ironics.words(items) == "ironic-api in /a (pid 2), ironic in /b (pid 3 1)"
