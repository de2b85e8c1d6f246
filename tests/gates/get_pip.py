# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for the get-pip script, which ansible-test otherwise downloads from outside any package registry.

Installs the pip that comes with Python, then has that pip install what the arguments name. ``--names`` prints the names
under which ansible-test looks for it.
"""
from __future__ import annotations

import pathlib
import re
import runpy
import subprocess
import sys

# get-pip's own options, unknown to pip.
NOT_FOR_PIP = {"--no-setuptools", "--no-wheel"}


def names():
    """Return the names under which the installed ansible-test looks for get-pip in its cache."""
    import ansible_test

    source = pathlib.Path(ansible_test.__file__).parent / "_internal" / "python_requirements.py"
    versions = re.findall(r"\bpip='([0-9.]+)'", source.read_text())
    return sorted(f"get_pip_{version.replace('.', '_')}.py" for version in versions)


def main():
    """Print the names, or install pip and, with it, the packages asked for."""
    if sys.argv[1:] == ["--names"]:
        print("\n".join(names()))
        return
    # In a process of its own: ensurepip imports the pip it brings, and this process needs the installed one.
    subprocess.run([sys.executable, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
    sys.argv[1:] = ["install"] + [argument for argument in sys.argv[1:] if argument not in NOT_FOR_PIP]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
