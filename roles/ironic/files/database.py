"""Bring Ironic's database to the schema of the Ironic that is to run; tell "made", "upgraded" or "unchanged".

Arguments: ironic-dbsync, Ironic's configuration file, the folder of the database; for MariaDB its Unix socket, too.
"""
from __future__ import annotations

import contextlib
import getpass
import os
import sqlite3
import subprocess
import sys

DATABASE_FILES = ("ironic.db", "ironic.db-shm", "ironic.db-wal")


def read(path):
    """Return a file's text, None when there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def count_nodes(directory, unix_socket):
    """Return how many nodes the database knows, 0 when it is not there or has no table of them yet."""
    if unix_socket is None:
        path = os.path.join(directory, DATABASE_FILES[0])
        if not os.path.exists(path):
            return 0
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
            tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'nodes'").fetchone()[0]
            return tables and connection.execute("SELECT count(*) FROM nodes").fetchone()[0]
    import pymysql
    with pymysql.connect(unix_socket=unix_socket, user=getpass.getuser()) as connection, connection.cursor() as cursor:
        tables = cursor.execute("SELECT 1 FROM information_schema.tables WHERE table_schema = 'ironic' "
                                "AND table_name = 'nodes'")
        if not tables:
            return 0
        cursor.execute("SELECT count(*) FROM ironic.nodes")
        return cursor.fetchone()[0]


def empty(directory, unix_socket):
    """Leave an empty database: files that SQLite will create, or a database of MariaDB."""
    if unix_socket is None:
        for name in DATABASE_FILES:
            if os.path.exists(os.path.join(directory, name)):
                os.unlink(os.path.join(directory, name))
        return
    # Only a plane with MariaDB needs it.
    import pymysql
    with pymysql.connect(unix_socket=unix_socket, user=getpass.getuser()) as connection, connection.cursor() as cursor:
        # What an interrupted migration has left can't be continued.
        cursor.execute("DROP DATABASE IF EXISTS ironic")
        cursor.execute("CREATE DATABASE ironic CHARACTER SET utf8mb4")


def main(dbsync, config_file, directory, unix_socket=None):
    """Make or upgrade the database unless this Ironic's environment has done so before."""
    # Written last: without it, what is there was left by an interrupted run.
    mark = os.path.join(directory, "database-schema")
    made_by = read(mark)
    if made_by == dbsync:
        print("unchanged")
        return
    if made_by is None:
        try:
            nodes = count_nodes(directory, unix_socket)
        except sqlite3.DatabaseError as exc:
            sys.exit(f"{directory}: found a database that cannot be read ({exc}), expected Ironic's; move it away, "
                     "then run again")
        if nodes:
            # An interrupted run leaves none; what is known of them would be gone.
            sys.exit(f"{mark}: missing, beside a database with {nodes} nodes; to keep them write into that file the "
                     f"path of the ironic-dbsync that has made the database ({dbsync} is the present one), else move "
                     "the database away; then run again")
        empty(directory, unix_socket)
    # SQLite can't be brought from nothing to today's schema by migrations, so that these are two commands.
    command = [dbsync, "--config-file=" + config_file, "create_schema" if made_by is None else "upgrade"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)} failed (exit code {result.returncode}): {result.stdout[-2000:]}")
    with open(mark + ".new", "w", encoding="utf-8") as file:
        file.write(dbsync)
    os.replace(mark + ".new", mark)
    print("made" if made_by is None else "upgraded")


if __name__ == "__main__":
    main(*sys.argv[1:])
