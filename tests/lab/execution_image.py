# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container image with what an execution environment has: ansible-core, its Python packages, the built collection."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import container_image, debian_image, registry
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.ironic_image import PACKAGES_DIR, PYTHON

NAME = "quay.io/metal3-baremetal/execution-environment:test"
DEBIAN = ["ca-certificates", "python3"]
COLLECTIONS = "/usr/share/ansible/collections"
PROGRAM = "#!/usr/bin/python3\nimport sys\n\nfrom ansible.cli.playbook import main\n\nsys.exit(main())\n"
# Any user may run it; a manifest names another one.
USER = "1000:1000"


def pushed(lab, folder):
    """Build the image of this checkout, push it into the lab's registry, and return its name for manifests.

    :param folder: Path of an empty folder
    """
    debian_image.build("an execution environment", str(folder / "made"), DEBIAN, (), lambda: list(_contents(folder)),
                       ["/bin/sh"], USER, Progress())
    secrets = lab.dir / "secrets"
    registry.push(registry.Registry(
        f"https://127.0.0.1:{lab.figures['ports']['registry']}", str(lab.dir / "pki" / "ca.crt"),
        str(secrets / "registry_username"), str(secrets / "registry_password")),
        {NAME: str(folder / "made" / "image")})
    return NAME


def _contents(folder):
    program = folder / "ansible-playbook"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    yield container_image.File("/usr/local/bin/ansible-playbook", str(program))
    control = subprocess.run(
        [sys.executable, str(REPOSITORY / "lab" / "python_environment.py"), "path", "control", "requirements.txt"],
        check=True, capture_output=True, text=True, cwd=REPOSITORY).stdout.strip()
    yield from _files(Path(control, "lib", PYTHON, "site-packages"), PACKAGES_DIR)
    _galaxy("build", "--output-path", str(folder), str(REPOSITORY))
    artifact, = folder.glob("metal3-baremetal-*.tar.gz")
    # Forced, as Galaxy would else do nothing: it finds this checkout in the tests' own path of collections.
    _galaxy("install", "--force", "--no-deps", "--offline", "--collections-path", str(folder / "collections"),
            str(artifact))
    assert (folder / "collections" / "ansible_collections" / "metal3" / "baremetal" / "playbooks").is_dir()
    yield from _files(folder / "collections", COLLECTIONS)


def _files(source, target):
    for parent, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(parent, name)
            yield container_image.File(f"{target}/{os.path.relpath(path, source)}", path)


def _galaxy(*arguments):
    subprocess.run([str(Path(sys.executable).parent / "ansible-galaxy"), "collection", *arguments], check=True,
                   capture_output=True)
