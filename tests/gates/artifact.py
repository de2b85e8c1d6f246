# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare a built collection artifact with what git knows: no stray file inside, nothing that is used missing."""
from __future__ import annotations

import subprocess
import sys
import tarfile

MADE_BY_BUILD = {"MANIFEST.json", "FILES.json"}
# What a user of the installed collection runs or reads.
USED = ("CHANGELOG.rst", "LICENSE", "README.md", "docs/", "inventory/", "lab/", "meta/", "playbooks/", "plugins/",
        "roles/")


def known_to_git():
    """Return the paths that git tracks or would track."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], stdout=subprocess.PIPE, check=True)
    return {path for path in listed.stdout.decode().split("\0") if path}


def main(artifact):
    """Print every difference; return 1 if there is one."""
    with tarfile.open(artifact) as archive:
        built = {member.name for member in archive.getmembers() if not member.isdir()}
    known = known_to_git()
    problems = [f"{path}: in the artifact, unknown to git" for path in sorted(built - known - MADE_BY_BUILD)]
    problems += [f"{path}: not in the artifact" for path in sorted(known - built) if path.startswith(USED)]
    print("\n".join(problems) or f"{len(built)} files in the artifact")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
