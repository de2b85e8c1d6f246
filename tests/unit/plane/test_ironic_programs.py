# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that role ironic runs Ironic's processes and its MariaDB with."""
from __future__ import annotations

import contextlib
import os
import runpy
import shutil
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


# An ironic-dbsync that notes how it is called, and does with the database what a test wants.
DBSYNC = """#!%s
import os, sqlite3, sys
from pathlib import Path
folder = Path(sys.argv[0]).parent
address = os.environ.get("OS_DATABASE__CONNECTION", "")
path = address.removeprefix("sqlite:///").partition("?")[0] or None
with (folder / "called").open("a") as stream:
    stream.write(sys.argv[2] + "\\n")
%s
"""


def database(tmp_path, statements=(), mark=None, does="", arguments=(), environment=None):
    """Run the program of Ironic's database beside a database.

    :param does: what its ironic-dbsync does with the database ``path``, as Python; by default it makes nothing
    :param arguments: before those of the program
    """
    dbsync = tmp_path / "ironic-dbsync"
    dbsync.write_text(DBSYNC % (sys.executable, does))
    dbsync.chmod(0o700)
    with contextlib.closing(sqlite3.connect(tmp_path / "ironic.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    if mark is not None:
        (tmp_path / "database-schema").write_text(mark)
    return subprocess.run(
        [sys.executable, str(FILES / "database.py"), *arguments, str(dbsync), "ironic.conf", str(tmp_path)],
        capture_output=True, text=True, check=False, env=dict(os.environ, **(environment or {})))


def asked(tmp_path, statement):
    with contextlib.closing(sqlite3.connect(tmp_path / "ironic.db")) as connection:
        return [row[0] for row in connection.execute(statement)]


def called(tmp_path):
    return (tmp_path / "called").read_text().split() if (tmp_path / "called").exists() else []


TABLE = "CREATE TABLE nodes (id INTEGER)"


def test_a_database_with_nodes_is_not_taken_for_the_rest_of_an_interrupted_run(tmp_path):
    """Without the file that says who has made it, which a restore may lack, all that Ironic knew was deleted."""
    done = database(tmp_path, [TABLE, "INSERT INTO nodes VALUES (1), (2)"])
    assert done.returncode == 1 and "database-schema: missing, beside a database with 2 nodes; to keep" in done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "ironic.db")) as connection:
        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (2,)
    kept = database(tmp_path, mark="/older/ironic-dbsync")
    assert (kept.returncode, kept.stdout.strip()) == (0, "upgraded") and (tmp_path / "ironic.db").stat().st_size
    # Records in their old form may be more than a release after the next one can read.
    assert called(tmp_path) == ["upgrade", "online_data_migrations"]


@pytest.mark.parametrize("statements", [[], [TABLE], ["CREATE TABLE alembic_version (version_num TEXT)"]])
def test_the_rest_of_an_interrupted_run_is_made_again(tmp_path, statements):
    done = database(tmp_path, statements)
    assert (done.returncode, done.stdout.strip()) == (0, "made") and not (tmp_path / "ironic.db").exists()


def test_what_is_no_database_is_left(tmp_path):
    (tmp_path / "ironic.db").write_bytes(b"no database" * 1000)
    done = database(tmp_path)
    assert done.returncode == 1 and "cannot be read" in done.stderr and (tmp_path / "ironic.db").exists()


OLDER = ["CREATE TABLE alembic_version (version_num TEXT)", "INSERT INTO alembic_version VALUES ('a1')", TABLE,
         "INSERT INTO nodes VALUES (1)"]
NEWER = """
with sqlite3.connect(path) as connection:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("UPDATE alembic_version SET version_num = 'b2'")
connection.close()
"""
SCHEMA, MARK = "SELECT version_num FROM alembic_version", "/older/bin/ironic-dbsync"


def test_another_schema_takes_the_place_of_the_former_when_it_is_complete(tmp_path):
    done = database(tmp_path, OLDER, MARK, NEWER)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "upgraded", "")
    assert asked(tmp_path, SCHEMA) == ["b2"] and asked(tmp_path, "SELECT count(*) FROM nodes") == [1]
    assert (tmp_path / "database-schema").read_text() == str(tmp_path / "ironic-dbsync")
    # It has passwords of BMCs.
    assert (tmp_path / "ironic.db").stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob("ironic.db*-*")) and not list(tmp_path.glob("ironic.db.*"))
    again = database(tmp_path)
    assert (again.stdout.strip(), called(tmp_path)) == ("unchanged", ["upgrade", "online_data_migrations"])


@pytest.mark.parametrize("end", ["os.kill(os.getppid(), 9)", "sys.exit('it fails')"])
def test_a_run_that_is_killed_or_fails_leaves_the_database_to_the_next(tmp_path, end):
    done = database(tmp_path, OLDER, MARK, NEWER + end)
    assert done.returncode and not done.stdout
    if "exit" in end:
        assert "ironic-dbsync --config-file=ironic.conf upgrade failed (exit code 1): it fails" in done.stderr
    assert asked(tmp_path, SCHEMA) == ["a1"] and (tmp_path / "database-schema").read_text() == MARK
    # What it had begun would be found in the way.
    assert (tmp_path / "ironic.db.upgrade").exists()
    begins = "assert connection.execute('SELECT version_num FROM alembic_version').fetchall() == [('a1',)]"
    begun = f"if sys.argv[2] == 'upgrade':\n connection = sqlite3.connect(path)\n {begins}\n connection.close()\n"
    assert database(tmp_path, does=begun + NEWER).stdout.strip() == "upgraded"
    assert asked(tmp_path, SCHEMA) == ["b2"]


def test_a_database_that_an_ironic_works_on_gets_no_other_schema(tmp_path):
    # By its title: a shell in that folder is nobody's Ironic.
    for title, found in (("ironic: worker(0)", True), ("shell", False)):
        with subprocess.Popen([title, "60"], executable=shutil.which("sleep"), cwd=tmp_path) as process:
            try:
                done = database(tmp_path, [], MARK)
            finally:
                process.kill()
        assert (f"{tmp_path}: found processes of Ironic ({process.pid}), expected none" in done.stderr) == found
        assert bool(called(tmp_path)) != found


def test_what_a_killed_ironic_has_left_beside_its_database_is_kept(tmp_path):
    writes = ("import sqlite3, os; c = sqlite3.connect('ironic.db'); c.execute('PRAGMA journal_mode=WAL');"
              + "".join(f"c.execute({statement!r});" for statement in OLDER) + "c.commit(); os.kill(os.getpid(), 9)")
    subprocess.run([sys.executable, "-c", writes], cwd=tmp_path, check=False)
    assert (tmp_path / "ironic.db-wal").stat().st_size
    assert database(tmp_path, [], MARK, NEWER).stdout.strip() == "upgraded"
    assert asked(tmp_path, SCHEMA) == ["b2"] and asked(tmp_path, "SELECT count(*) FROM nodes") == [1]


def test_a_database_that_is_too_old_is_brought_on_by_the_ironic_before(tmp_path):
    done = database(tmp_path, OLDER, MARK, "sys.exit(2)")
    assert done.returncode and done.stderr.strip().endswith(
        f"; run {MARK} --config-file=ironic.conf online_data_migrations, then run again")


@pytest.mark.parametrize("plan", [True, False])
def test_a_schema_of_a_newer_ironic_is_refused_before_anything_is_done(tmp_path, plan):
    schemas = tmp_path / "site" / "ironic" / "db" / "sqlalchemy" / "alembic" / "versions"
    schemas.mkdir(parents=True)
    (schemas.parents[3] / "__init__.py").touch()
    (schemas / "z9_older.py").write_text("revision = 'z9'\ndown_revision = None\n")
    given = {"arguments": ["--plan"] if plan else [], "environment": {"PYTHONPATH": str(tmp_path / "site")}}
    done = database(tmp_path, OLDER, MARK, NEWER, **given)
    assert done.returncode and not called(tmp_path)
    assert f"{tmp_path}: found a database with the schema a1, expected one that " in done.stderr
    assert f"that has run it last ({MARK})" in done.stderr
    (schemas / "a1_present.py").write_text('revision = "a1"\ndown_revision = "z9"\n')
    done = database(tmp_path, does=NEWER, **given)
    assert (done.stdout.strip(), bool(called(tmp_path))) == ("upgraded", not plan)
    assert asked(tmp_path, SCHEMA) == ["a1" if plan else "b2"]


def test_a_plan_of_a_first_database_makes_none(tmp_path):
    done = database(tmp_path, arguments=["--plan"])
    assert (done.stdout.strip(), called(tmp_path)) == ("made", []) and (tmp_path / "ironic.db").exists()


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


def stored_logs(folder, sizes):
    """Write logs of agents, the oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, size in enumerate(sizes):
        (folder / f"{number}.tar.gz").write_bytes(b"x" * size)
        os.utime(folder / f"{number}.tar.gz", (1000 + number, 1000 + number))


@pytest.mark.parametrize("sizes, kept", [
    ((4, 4, 4), "12"), ((4, 4), "01"), ((1, 20), "1"), ((9, 1, 1), "12"), ((), "")])
def test_the_oldest_logs_of_agents_go(tmp_path, sizes, kept):
    folder = tmp_path / "deploy"
    stored_logs(folder, sizes)
    (folder / "notes.txt").write_text("of the user's, and long")
    (folder / "9.tar.gz").symlink_to(folder / "notes.txt")
    runpy.run_path(str(FILES / "ironic_process.py"))["prune"](str(folder), 10)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(f"{number}.tar.gz" for number in kept), "9.tar.gz", "notes.txt"])


STORING = """\
import pathlib
def store_ramdisk_logs(node, logs, label=None):
    pathlib.Path({folder!r}, node + ".tar.gz").write_text(logs)
    return label
"""


def test_what_ironic_stores_of_agents_is_limited(tmp_path):
    """The folder grew without end: Ironic deletes none of them."""
    plane, folder = tmp_path / "plane", tmp_path / "plane" / "log" / "deploy"
    stored_logs(folder, (20, 20))
    for name in ("ironic", "ironic/drivers", "ironic/command"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "ironic" / "drivers" / "utils.py").write_text(STORING.format(folder=str(folder)))
    # Loaded when the program runs, as by Ironic.
    (tmp_path / "ironic" / "command" / "singleprocess.py").write_text(
        "def main():\n    from ironic.drivers import utils\n"
        "    print(utils.store_ramdisk_logs('new', 'x' * 20, label='clean'))\n")
    program = tmp_path / "ironic_process.py"
    program.write_text((FILES / "ironic_process.py").read_text().replace("1024 ** 3", "50"))
    result = subprocess.run([sys.executable, str(program), "ironic"], capture_output=True, text=True, check=False,
                            env=dict(os.environ, PYTHONPATH=str(tmp_path), METAL3_LAB_DIR=str(plane)))
    assert (result.returncode, result.stdout) == (0, "clean\n"), result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["1.tar.gz", "new.tar.gz"]


def test_a_unix_socket_is_ready_when_somebody_listens(tmp_path):
    path = str(tmp_path / "a.sock")
    assert readiness.fault({"unix": path}) == f"{path}: No such file or directory"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        assert readiness.fault({"unix": path}) == f"{path}: Connection refused"
        server.listen(1)
        assert readiness.fault({"unix": path}) is None
