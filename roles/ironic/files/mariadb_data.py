"""Create the data of a MariaDB that only this user can log in to; print "made" or "unchanged".

The login is by the Unix socket: MariaDB asks the kernel who is at its other end, and there is no password.

Arguments: mariadb-install-db, the folder of the data, which must not exist or be complete.
"""
from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import sys


def main(install_db, directory):
    """Create the data unless they are there."""
    if os.path.isdir(directory):
        print("unchanged")
        return
    # Of an interrupted run.
    unfinished = directory + ".new"
    shutil.rmtree(unfinished, ignore_errors=True)
    os.mkdir(unfinished, 0o700)
    user = getpass.getuser()
    command = [install_db, "--no-defaults", f"--datadir={unfinished}", f"--user={user}", "--skip-test-db",
               "--skip-name-resolve", "--auth-root-authentication-method=socket", f"--auth-root-socket-user={user}"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)} failed (exit code {result.returncode}): {result.stdout[-2000:]}")
    os.rename(unfinished, directory)
    print("made")


if __name__ == "__main__":
    main(*sys.argv[1:])
