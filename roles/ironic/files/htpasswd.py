"""Keep users in a password file with bcrypt digests, the only ones that Ironic takes; print "written" or "unchanged".

Arguments: password file, then for each user a file with the name and a file with the password. A user whose files are
missing is left out, but for the first.
"""
from __future__ import annotations

import os
import sys

import bcrypt


def read(path):
    """Return a file's text without white space around it."""
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def fits(path, users):
    """Return whether the password file has just these users with these passwords."""
    if not os.path.exists(path):
        return False
    found = dict(line.split(":", 1) for line in read(path).splitlines() if ":" in line)
    return set(found) == set(users) and all(
        bcrypt.checkpw(password.encode("utf-8"), found[name].encode("ascii")) for name, password in users.items())


def main(path, *files):
    """Write the password file if it doesn't fit."""
    users = dict((read(name), read(password)) for name, password in zip(files[::2], files[1::2])
                 if name == files[0] or (os.path.exists(name) and os.path.exists(password)))
    if fits(path, users):
        print("unchanged")
        return
    # Passwords are random and long, so that a low cost is enough; Ironic checks them at every request.
    lines = ["%s:%s\n" % (name, bcrypt.hashpw(password.encode("utf-8"), bcrypt.gensalt(rounds=4)).decode("ascii"))
             for name, password in users.items()]
    descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.writelines(lines)
    os.replace(path + ".new", path)
    print("written")


if __name__ == "__main__":
    main(*sys.argv[1:])
