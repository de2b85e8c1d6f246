# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one thing that is built differently from upstream: where the managers' webhooks listen can be set.

Upstream's managers have flags for the addresses of health and metrics but none for webhooks: these listen on every
address of the machine. The build uses a copy of controller-runtime with one statement added; without the environment
variable the programs do what upstream's do.
"""
from __future__ import annotations

import json
import os
import shutil

VARIABLE = "METAL3_WEBHOOK_HOST"
MODULE = "sigs.k8s.io/controller-runtime"
FILE = os.path.join("pkg", "webhook", "server.go")
ANCHOR = "func (o *Options) setDefaults() {\n"
ADDITION = f'\tif o.Host == "" {{\n\t\to.Host = os.Getenv("{VARIABLE}")\n\t}}\n\n'


class PatchError(Exception):
    """The file to change is not as expected."""


def changed(source: str) -> str:
    """Return the file's text with the addition.

    :param source: the file's text
    :raises PatchError: when the place for it is not found
    """
    if source.count(ANCHOR) != 1 or '\t"os"\n' not in source:
        raise PatchError(f"{MODULE}/{FILE}: expected one {ANCHOR.strip()!r} and an import of os; see webhook_host.py")
    return source.replace(ANCHOR, ANCHOR + ADDITION)


def write(module_dir: str, source_dir: str, directory: str) -> str:
    """Write the changed copy of the module, and a ``go.mod`` that uses it.

    :param module_dir: the module's folder in Go's module cache
    :param source_dir: folder with ``go.mod`` and ``go.sum``
    :param directory: folder to write to; is emptied before
    :returns: path for ``go build -modfile``
    :raises PatchError: when the file to change is not as expected
    """
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    copy = os.path.join(directory, "controller-runtime")
    shutil.copytree(module_dir, copy, copy_function=shutil.copyfile)
    path = os.path.join(copy, FILE)
    with open(path, encoding="utf-8") as stream:
        text = changed(stream.read())
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    shutil.copyfile(os.path.join(source_dir, "go.sum"), os.path.join(directory, "go.sum"))
    with open(os.path.join(source_dir, "go.mod"), encoding="utf-8") as stream:
        text = stream.read()
    path = os.path.join(directory, "go.mod")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"{text.rstrip()}\nreplace {MODULE} => {json.dumps(copy)}\n")
    return path
