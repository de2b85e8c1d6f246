# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A registry of artifacts in place of skopeo: it answers what a test has put in, whatever digest is asked for."""
from __future__ import annotations

import hashlib
import json
import os
import subprocess

TITLE = "org.opencontainers.image.title"


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def manifest(files):
    """Return an artifact's manifest, as oras writes it.

    :param files: dict name → contents
    """
    return json.dumps({"schemaVersion": 2, "config": {"digest": digest(b"{}"), "size": 2}, "layers": [
        {"digest": digest(content), "size": len(content), "annotations": {TITLE: name}}
        for name, content in files.items()]}).encode()


class Skopeo:
    """What is called in place of ``registry._run``.

    :ivar raw: the manifest that is answered, or None
    :ivar blobs: contents of layers, by digest
    :ivar calls: arguments of each call
    """

    def __init__(self, files, raw=None):
        self.raw = manifest(files) if raw is None else raw
        self.blobs = dict((digest(content), content) for content in files.values())
        self.error = ""
        self.calls = []

    def __call__(self, arguments, _seconds, _most_bytes=None):
        self.calls.append(arguments)
        if self.error:
            return subprocess.CompletedProcess(arguments, 1, b"", f'level=fatal msg="{self.error}"'.encode())
        if arguments[0] == "copy":
            directory = arguments[-1].partition("dir:")[2]
            for name, content in self.blobs.items():
                with open(os.path.join(directory, name.partition(":")[2]), "wb") as stream:
                    stream.write(content)
        return subprocess.CompletedProcess(arguments, 0, self.raw, b"")
