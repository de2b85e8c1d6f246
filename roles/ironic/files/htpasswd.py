"""Keep one user in a password file with bcrypt digests, the only ones that Ironic takes; tell "written" or "unchanged".

Arguments: file with the user's name, file with the password, password file.
"""
from __future__ import annotations

import os
import sys

import bcrypt


def read(path):
    """Return a file's text without white space around it."""
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def fits(path, username, password):
    """Return whether the password file has just this user with this password."""
    if not os.path.exists(path):
        return False
    found, _colon, digest = read(path).partition(":")
    return found == username and bcrypt.checkpw(password.encode("utf-8"), digest.encode("ascii"))


def main(username_file, password_file, path):
    """Write the password file if it doesn't fit."""
    username, password = read(username_file), read(password_file)
    if fits(path, username, password):
        print("unchanged")
        return
    # The password is random and long, so that a low cost is enough; Ironic checks it at every request.
    digest = bcrypt.hashpw(password.encode("utf-8"), bcrypt.gensalt(rounds=4)).decode("ascii")
    descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write("%s:%s\n" % (username, digest))
    os.replace(path + ".new", path)
    print("written")


if __name__ == "__main__":
    main(*sys.argv[1:])
