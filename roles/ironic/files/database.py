"""Bring Ironic's database to the schema of the Ironic that is to run; tell "made", "upgraded" or "unchanged".

Arguments: ironic-dbsync, Ironic's configuration file, the folder of the database; for MariaDB its Unix socket, too.
With --plan before them nothing is written: it prints what would be done, and fails for what cannot be done.
"""
from __future__ import annotations

import contextlib
import getpass
import glob
import importlib.util
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

DATABASE = "ironic.db"
# SQLite's own files beside a database.
ENDS = ("", "-shm", "-wal")
# What is being brought to another schema, until it takes the place of the database.
COPY = "ironic.db.upgrade"
SCHEMAS = os.path.join("db", "sqlalchemy", "alembic", "versions")
OUTPUT_LIMIT = 2000
# Of ironic-dbsync, for a database that it does not know how to bring on.
TOO_OLD = 2
# Until the workers of a program that was stopped have ended, too.
END_SECONDS = 5
POLL_INTERVAL_SECONDS = 0.1


def read(path: str) -> str | None:
    """Return a file's text, None when there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def mariadb(unix_socket: str) -> Iterator:
    """Give a cursor of the MariaDB behind a socket."""
    # Only a plane with MariaDB needs it.
    import pymysql
    with pymysql.connect(unix_socket=unix_socket, user=getpass.getuser()) as connection, connection.cursor() as cursor:
        yield cursor


def value(directory: str, unix_socket: str | None, table: str, expression: str) -> int | str | None:
    """Return what an expression has in the first row of one of Ironic's tables, None without table or database."""
    if unix_socket is None:
        path = os.path.join(directory, DATABASE)
        if not os.path.exists(path):
            return None
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                return None
            row = connection.execute(f"SELECT {expression} FROM {table}").fetchone()
    else:
        with mariadb(unix_socket) as cursor:
            if not cursor.execute("SELECT 1 FROM information_schema.tables WHERE table_schema = 'ironic' "
                                  "AND table_name = %s", (table,)):
                return None
            cursor.execute(f"SELECT {expression} FROM ironic.{table}")
            row = cursor.fetchone()
    return row[0] if row else None


def remove(directory: str, name: str) -> None:
    """Remove a database of SQLite."""
    for end in ENDS:
        if os.path.exists(os.path.join(directory, name + end)):
            os.unlink(os.path.join(directory, name + end))


def empty(directory: str, unix_socket: str | None) -> None:
    """Leave an empty database: files that SQLite will create, or a database of MariaDB."""
    if unix_socket is None:
        remove(directory, DATABASE)
        return
    with mariadb(unix_socket) as cursor:
        # What an interrupted migration has left can't be continued.
        cursor.execute("DROP DATABASE IF EXISTS ironic")
        cursor.execute("CREATE DATABASE ironic CHARACTER SET utf8mb4")


def known_schemas() -> set[str]:
    """Return the schemas that the Ironic of this environment knows, none when it has no Ironic."""
    spec = importlib.util.find_spec("ironic")
    found = set()
    for folder in (spec and spec.submodule_search_locations) or []:
        folder = os.path.join(folder, SCHEMAS)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            match = re.search(r"(?m)^revision = ['\"](\w+)['\"]", (read(os.path.join(folder, name)) or "")
                              if name.endswith(".py") else "")
            found |= {match.group(1)} if match else set()
    return found


def refuse_newer(dbsync: str, directory: str, unix_socket: str | None, made_by: str) -> None:
    """End the program when another Ironic has brought the database to a schema that this one does not know."""
    schema, known = value(directory, unix_socket, "alembic_version", "version_num"), known_schemas()
    if schema and known and schema not in known:
        sys.exit(f"{directory}: found a database with the schema {schema}, expected one that {dbsync} knows: a newer "
                 "Ironic has made it, and it cannot go back; take the release of the collection, or the Python "
                 f"environment, that has run it last ({made_by})")


def call(dbsync: str, config_file: str, command: str, hint: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a command of ironic-dbsync, and end the program with its output when it fails.

    :param hint: what to do when it finds the database too old
    :param environment: variables for it; oslo.config takes them before the configuration file
    """
    arguments = [dbsync, "--config-file=" + config_file, command]
    result = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False, text=True, env=dict(os.environ, **(environment or {})))
    if result.returncode:
        sys.exit(f"{' '.join(arguments)} failed (exit code {result.returncode}): {result.stdout[-OUTPUT_LIMIT:]}"
                 + (hint if result.returncode == TOO_OLD else ""))


def upgrade(dbsync: str, config_file: str, made_by: str, environment: Mapping[str, str] | None = None) -> None:
    """Bring a database to the schema, and its records to the form, of an Ironic."""
    hint = f"; run {made_by} --config-file={config_file} online_data_migrations, then run again"
    call(dbsync, config_file, "upgrade", hint, environment)
    # Upstream wants it done before the next release, which may no longer know how.
    call(dbsync, config_file, "online_data_migrations", hint, environment)


def running(directory: str) -> list[str]:
    """Return the numbers of the processes of an Ironic that works in a folder; they hold no lock while at rest."""
    folder, found = os.path.realpath(directory), []
    for process in glob.iglob("/proc/[0-9]*"):
        # They come and go meanwhile.
        with contextlib.suppress(OSError):
            if os.readlink(process + "/cwd") == folder:
                with open(process + "/cmdline", "rb") as file:
                    if b"ironic" in file.read():
                        found.append(os.path.basename(process))
    return sorted(found, key=int)


def settle(path: str) -> None:
    """Have all of a database in its one file; what a killed process has left beside it is taken in."""
    with contextlib.closing(sqlite3.connect(path, timeout=5)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()


def upgrade_copy(dbsync: str, config_file: str, directory: str, made_by: str) -> None:
    """Bring a database of SQLite to another schema: a run that is killed or fails leaves it as it was.

    Ironic's migrations are no transactions there, and what one of them has half done cannot be continued.
    """
    path, copy = os.path.join(directory, DATABASE), os.path.join(directory, COPY)
    deadline = time.monotonic() + END_SECONDS
    while (busy := running(directory)) and time.monotonic() < deadline:
        time.sleep(POLL_INTERVAL_SECONDS)
    if busy:
        # What it writes from now on would be lost.
        sys.exit(f"{directory}: found processes of Ironic ({', '.join(busy)}), expected none while its database gets "
                 "another schema; stop them, then run again")
    remove(directory, COPY)
    settle(path)
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.close(descriptor)
    with contextlib.closing(sqlite3.connect(path)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    upgrade(dbsync, config_file, made_by, {"OS_DATABASE__CONNECTION": f"sqlite:///{copy}?timeout=30"})
    settle(copy)
    with open(copy, "rb") as file:
        os.fsync(file.fileno())
    os.replace(copy, path)


def main(dbsync: str, config_file: str, directory: str, unix_socket: str | None = None,
         plans: bool = False) -> None:
    """Make or upgrade the database unless this Ironic's environment has done so before."""
    # Written last: without it, what is there was left by an interrupted run.
    mark = os.path.join(directory, "database-schema")
    made_by = read(mark)
    if made_by == dbsync:
        print("unchanged")
        return
    try:
        if made_by is not None:
            refuse_newer(dbsync, directory, unix_socket, made_by)
        nodes = value(directory, unix_socket, "nodes", "count(*)")
    except sqlite3.DatabaseError as exc:
        sys.exit(f"{directory}: found a database that cannot be read ({exc}), expected Ironic's; move it away, "
                 "then run again")
    if made_by is None and nodes:
        # An interrupted run leaves none; what is known of them would be gone.
        sys.exit(f"{mark}: missing, beside a database with {nodes} nodes; to keep them write into that file the "
                 f"path of the ironic-dbsync that has made the database ({dbsync} is the present one), else move "
                 "the database away; then run again")
    if not plans:
        if made_by is None:
            empty(directory, unix_socket)
            # SQLite can't be brought from nothing to today's schema by migrations, so that these are two commands.
            call(dbsync, config_file, "create_schema", "")
        elif unix_socket is None:
            upgrade_copy(dbsync, config_file, directory, made_by)
        else:
            upgrade(dbsync, config_file, made_by)
        with open(mark + ".new", "w", encoding="utf-8") as file:
            file.write(dbsync)
        os.replace(mark + ".new", mark)
    print("made" if made_by is None else "upgraded")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*[argument for argument in given if argument != "--plan"], plans="--plan" in given)
