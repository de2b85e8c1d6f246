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
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugins"))

from module_utils.lab.debian_packages import PackagesError, missing, parse

# invoke-rc.d asks this program before it starts a service (Debian policy, 9.3.3); 101 means "not allowed".
POLICY_PROGRAM = "/usr/sbin/policy-rc.d"
POLICY = "#!/bin/sh\n# Written by metal3.baremetal for one installation: no service may start.\nexit 101\n"


def has_own_policy():
    """Tell whether the machine's policy is somebody else's than a killed run's of this program."""
    try:
        with open(POLICY_PROGRAM) as stream:
            return stream.read() != POLICY
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def services_stay_down():
    """Keep package scripts from starting services, unless the machine has a policy of its own."""
    if has_own_policy():
        yield
        return
    received = []
    # Else the policy would outlive this program and keep all services of the machine down for good.
    former = signal.signal(signal.SIGTERM, lambda number, _frame: received.append(number))
    try:
        with open(POLICY_PROGRAM, "w") as stream:
            stream.write(POLICY)
        os.chmod(POLICY_PROGRAM, 0o755)
        yield
    finally:
        os.unlink(POLICY_PROGRAM)
        signal.signal(signal.SIGTERM, former)
    for number in received:
        os.kill(os.getpid(), number)


def apt_get(*arguments):
    """Run apt-get so that it never asks; its output is shown only when it fails.

    :raises PackagesError: when it fails
    """
    command = ["apt-get", "--quiet=2", "--option=Dpkg::Use-Pty=0", "--option=DPkg::Lock::Timeout=300", *arguments]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False, text=True, env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
    if result.returncode:
        raise PackagesError("failed (exit code %d): %s\n%s" % (result.returncode, " ".join(command), result.stdout))


def install(packages, services):
    """Install packages and see to it that their services start neither now nor at the next boot.

    :param packages: package names
    :param services: service names
    """
    try:
        apt_get("update")
    except PackagesError as error:
        # One broken source of many is no reason to stop: whether the packages can be had is seen next.
        print("debian_packages.py: warning: %s" % error, file=sys.stderr)
    with services_stay_down():
        apt_get("install", "--yes", "--no-install-recommends", *packages)
    for service in services:
        subprocess.run(["update-rc.d", service, "disable"], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)


def prefix_for_root(packages):
    """Return the words to put before a command that needs root.

    :raises PackagesError: for an ordinary user without sudo
    """
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        return ["sudo"]
    raise PackagesError("these Debian packages are missing: %s. Neither root nor sudo is at hand; as root: "
                        "apt-get install %s" % (", ".join(packages), " ".join(packages)))


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
                  "needed, and not checked: %s" % ", ".join(packages), file=sys.stderr)
            return 0
        wanted = missing(packages)
        if not wanted:
            return 0
        as_root = prefix_for_root(wanted)
        if as_root:
            print("Debian packages: %s are missing; sudo is going to install them and may ask for your password."
                  % ", ".join(wanted), file=sys.stderr)
            command = [*as_root, sys.executable, os.path.abspath(__file__), *map(os.path.abspath, options.lists)]
            return subprocess.run(command, check=False).returncode
        print("Debian packages: installing %s" % ", ".join(wanted), file=sys.stderr)
        install(wanted, [service for package in wanted for service in packages[package]])
        left = missing(wanted)
        if left:
            raise PackagesError("apt-get reported success, but these are not installed: %s" % ", ".join(left))
    except PackagesError as error:
        print("debian_packages.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
