# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the Debian packages of one or more lists, as far as they are missing.

``python3 lab/debian_packages.py LIST...`` says which packages it is going to install and how, then does it, as root
or through sudo. It prints nothing and asks for nothing when all are there. Standard library only: this runs before
any environment exists.
"""
from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugins"))

from module_utils._lab.debian_packages import PackagesError, missing, parse

# invoke-rc.d asks this program before it starts a service (Debian policy, 9.3.3); 101 means "not allowed".
POLICY_PROGRAM = "/usr/sbin/policy-rc.d"
POLICY_MARK = "# Written by metal3.baremetal for one installation: no service that comes with it may start.\n"
POLICY = """#!/bin/sh
%s# The installation holds a lock on this file. Without it this file is what a killed one has left: it goes.
if flock --nonblock "$0" true; then rm -f -- "$0"; exit 0; fi
case " %s " in *" ${1%%.service} "*) exit 0 ;; esac
exit 101
"""
# Where services are described, by System V first, then by systemd.
SERVICE_FOLDERS = ("/etc/init.d", "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
                   "/usr/lib/systemd/system", "/lib/systemd/system")
# Package scripts talk to debconf over descriptor 3.
LOWEST_DESCRIPTOR = 100


def known_services():
    """Return the names of the services that the machine has, sorted."""
    found = set()
    for folder in SERVICE_FOLDERS:
        with contextlib.suppress(OSError):
            found.update(name.removesuffix(".service") for name in os.listdir(folder)
                         if name.endswith(".service") or folder.endswith("init.d"))
    return sorted(name for name in found if re.fullmatch(r"[A-Za-z0-9@_.:+-]+", name))


def has_own_policy():
    """Return whether the machine's policy was written by somebody else than this program."""
    try:
        with open(POLICY_PROGRAM) as stream:
            return POLICY_MARK not in stream.read()
    except FileNotFoundError:
        return False


def remove_leftover():
    """Remove the policy that a killed run of this program has left; another run's that is at work stays."""
    with contextlib.suppress(OSError):
        if has_own_policy():
            return
        with open(POLICY_PROGRAM) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(POLICY_PROGRAM)


@contextlib.contextmanager
def services_stay_down(services):
    """Keep package scripts from starting services that come with them, unless the machine has a policy of its own.

    Yields a descriptor, for the programs that run meanwhile to inherit, or None: what is installed goes on when this
    program is killed, and the policy holds as long.

    :param services: names of the services that may start: the machine's own
    """
    if has_own_policy():
        yield None
        return
    received = []
    former = signal.signal(signal.SIGTERM, lambda number, _frame: received.append(number))
    made = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(POLICY_PROGRAM), delete=False) as stream:
            made = stream.name
            stream.write(POLICY % (POLICY_MARK, " ".join(services)))
            os.fchmod(stream.fileno(), 0o755)
        # Only to read: no program can be started that is open to be written.
        with open(made) as stream:
            descriptor = fcntl.fcntl(stream.fileno(), fcntl.F_DUPFD, LOWEST_DESCRIPTOR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.rename(made, POLICY_PROGRAM)
            made = POLICY_PROGRAM
            yield descriptor
        finally:
            os.close(descriptor)
    finally:
        if made is not None:
            os.unlink(made)
        signal.signal(signal.SIGTERM, former)
    for number in received:
        os.kill(os.getpid(), number)


def apt_get(*arguments, inherited=()):
    """Run apt-get so that it never asks and removes nothing; its output is shown only when it fails.

    :param inherited: descriptors to leave open in it
    :raises PackagesError: when it fails
    """
    command = ["apt-get", "--quiet=2", "--option=Dpkg::Use-Pty=0", "--option=DPkg::Lock::Timeout=300", "--no-remove",
               *arguments]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False, text=True, pass_fds=inherited,
                            env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
    if result.returncode:
        raise PackagesError(f"failed (exit code {result.returncode}): {' '.join(command)}\n{result.stdout}")


def install(packages, services):
    """Install packages and see to it that services that come with them start neither now nor at the next boot.

    A service that the machine had before is left as it is.

    :param packages: package names
    :param services: service names
    """
    try:
        apt_get("update")
    except PackagesError as error:
        # One broken source of many is no reason to stop: the next step finds out whether the packages can be had.
        print(f"debian_packages.py: warning: {error}", file=sys.stderr)
    known = known_services()
    with services_stay_down(known) as descriptor:
        apt_get("install", "--yes", "--no-install-recommends", *packages,
                inherited=[] if descriptor is None else [descriptor])
    for service in services:
        if service not in known:
            # Of a package with units of systemd alone update-rc.d finds nothing, and fails where systemd does not run.
            command = ["update-rc.d", service, "disable"] if os.path.exists(
                os.path.join(SERVICE_FOLDERS[0], service)) else ["systemctl", "--quiet", "disable", service]
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)


def prefix_for_root(packages):
    """Return the words to put before a command that needs root.

    :raises PackagesError: for an ordinary user without sudo
    """
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        return ["sudo"]
    raise PackagesError(f"these Debian packages are missing: {', '.join(packages)}. Neither root nor sudo is at hand; "
                        f"as root: apt-get install {' '.join(packages)}")


def main(arguments=None):
    """Check the lists, and install what is missing."""
    parser = argparse.ArgumentParser(prog="debian_packages.py", description=__doc__.splitlines()[0])
    parser.add_argument("lists", nargs="+", metavar="LIST", help="files with the packages' names")
    options = parser.parse_args(arguments)
    try:
        packages = {}
        for path in options.lists:
            with open(path) as stream:
                packages.update(parse(stream.read()))
        if not shutil.which("dpkg-query"):
            print("debian_packages.py: no dpkg-query here, so this is not Debian. The programs of these packages are "
                  f"needed, and not checked: {', '.join(packages)}", file=sys.stderr)
            return 0
        remove_leftover()
        wanted = missing(packages)
        if not wanted:
            return 0
        as_root = prefix_for_root(wanted)
        if as_root:
            print(f"Debian packages: {', '.join(wanted)} are missing; sudo is going to install them and may ask for "
                  "your password.", file=sys.stderr)
            command = [*as_root, sys.executable, os.path.abspath(__file__), *map(os.path.abspath, options.lists)]
            return subprocess.run(command, check=False).returncode
        print(f"Debian packages: installing {', '.join(wanted)}", file=sys.stderr)
        install(wanted, [service for package in wanted for service in packages[package].services])
        left = missing(dict((name, packages[name]) for name in wanted))
        if left:
            raise PackagesError(f"apt-get reported success, but these are not installed: {', '.join(left)}")
    except PackagesError as error:
        print(f"debian_packages.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
