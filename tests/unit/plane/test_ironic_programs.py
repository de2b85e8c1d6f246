# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that role ironic runs Ironic's processes and its MariaDB with."""
from __future__ import annotations

import contextlib
import runpy
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import readiness

FILES = Path(__file__).resolve().parents[3] / "roles" / "ironic" / "files"
INSTALL = """#!/bin/sh
echo "$@" >> %s
for option; do case $option in --datadir=*) mkdir "${option#--datadir=}/mysql" ;; esac; done
exit %d
"""


@pytest.fixture
def install(tmp_path):
    """A stand-in for mariadb-install-db that notes its arguments; the code it exits with is an argument."""
    def program(code=0):
        path = tmp_path / "mariadb-install-db"
        path.write_text(INSTALL % (tmp_path / "called", code))
        path.chmod(0o700)
        return path

    return program


def database(tmp_path, statements=(), mark=None):
    """Run the program of Ironic's database beside a database; its ironic-dbsync makes nothing."""
    dbsync = tmp_path / "ironic-dbsync"
    dbsync.write_text("#!/bin/sh\n")
    dbsync.chmod(0o700)
    with contextlib.closing(sqlite3.connect(tmp_path / "ironic.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    if mark is not None:
        (tmp_path / "database-schema").write_text(mark)
    return subprocess.run([sys.executable, str(FILES / "database.py"), str(dbsync), "ironic.conf", str(tmp_path)],
                          capture_output=True, text=True, check=False)


TABLE = "CREATE TABLE nodes (id INTEGER)"


def test_a_database_with_nodes_is_not_taken_for_the_rest_of_an_interrupted_run(tmp_path):
    """Without the file that says who has made it, which a restore may lack, all that Ironic knew was deleted."""
    done = database(tmp_path, [TABLE, "INSERT INTO nodes VALUES (1), (2)"])
    assert done.returncode == 1 and "database-schema: missing, beside a database with 2 nodes; to keep" in done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "ironic.db")) as connection:
        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (2,)
    kept = database(tmp_path, mark="/older/ironic-dbsync")
    assert (kept.returncode, kept.stdout.strip()) == (0, "upgraded") and (tmp_path / "ironic.db").stat().st_size


@pytest.mark.parametrize("statements", [[], [TABLE], ["CREATE TABLE alembic_version (version_num TEXT)"]])
def test_the_rest_of_an_interrupted_run_is_made_again(tmp_path, statements):
    done = database(tmp_path, statements)
    assert (done.returncode, done.stdout.strip()) == (0, "made") and not (tmp_path / "ironic.db").exists()


def test_what_is_no_database_is_left(tmp_path):
    (tmp_path / "ironic.db").write_bytes(b"no database" * 1000)
    done = database(tmp_path)
    assert done.returncode == 1 and "cannot be read" in done.stderr and (tmp_path / "ironic.db").exists()


def run(*arguments):
    return subprocess.run([sys.executable, str(FILES / "mariadb_data.py"), *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def test_the_data_of_mariadb_are_made_once(tmp_path, install):
    data = tmp_path / "data"
    assert [run(install(), data).stdout for _time in range(2)] == ["made\n", "unchanged\n"]
    assert data.stat().st_mode & 0o777 == 0o700
    called = (tmp_path / "called").read_text().splitlines()
    # No file of the system's MariaDB is read, and only this user can log in.
    assert len(called) == 1 and called[0].startswith("--no-defaults ")
    assert "--auth-root-authentication-method=socket" in called[0]


def test_data_that_were_not_finished_are_made_again(tmp_path, install):
    failed = run(install(1), tmp_path / "data")
    assert failed.returncode and "failed (exit code 1)" in failed.stderr and not (tmp_path / "data").exists()
    assert run(install(), tmp_path / "data").stdout == "made\n"


def test_servers_share_a_port_that_one_alone_would_keep(monkeypatch):
    made = []

    class HTTPServer:
        reuse_port = False

        def prepare(self):
            made.append(self.reuse_port)

    monkeypatch.setitem(sys.modules, "cheroot", type(sys)("cheroot"))
    module = type(sys)("cheroot.server")
    module.HTTPServer = HTTPServer
    monkeypatch.setitem(sys.modules, "cheroot.server", module)
    HTTPServer().prepare()
    runpy.run_path(str(FILES / "ironic_process.py"))["share_port"]()
    HTTPServer().prepare()
    assert made == [False, True]


def test_a_unix_socket_is_ready_when_somebody_listens(tmp_path):
    path = str(tmp_path / "a.sock")
    assert readiness.fault({"unix": path}) == f"{path}: No such file or directory"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        assert readiness.fault({"unix": path}) == f"{path}: Connection refused"
        server.listen(1)
        assert readiness.fault({"unix": path}) is None
