"""Keep users in a password file with bcrypt digests, the only ones that Ironic takes; print "written" or "unchanged".

Arguments: password file, then for each user a file with the name and a file with the password. The first user is
written. Any other one stays where the password file has it, and is not brought back: who was taken out stays out.
"""
from __future__ import annotations

import os
import sys

import bcrypt


def read(path):
    """Return a file's text without white space around it."""
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def digests(path):
    """Return what the password file has: digests by names of users."""
    if not os.path.exists(path):
        return {}
    return dict(line.split(":", 1) for line in read(path).splitlines() if ":" in line)


def has(found, name, password):
    """Return whether a user with a password is in what a password file has."""
    return name in found and bcrypt.checkpw(password.encode("utf-8"), found[name].encode("ascii"))


def main(path, *files):
    """Write the password file if it doesn't fit."""
    found = digests(path)
    users = {read(files[0]): read(files[1])}
    for name, password in zip(files[2::2], files[3::2]):
        if os.path.exists(name) and os.path.exists(password) and has(found, read(name), read(password)):
            # Of one name there is one password: that of the first user counts.
            users.setdefault(read(name), read(password))
    if set(found) == set(users) and all(has(found, name, password) for name, password in users.items()):
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
