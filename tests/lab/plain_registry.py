# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A registry without logins, on loopback or where nodes reach it, for a test that wants one beside the lab's."""
from __future__ import annotations

import contextlib
import socket
import subprocess
from types import SimpleNamespace

import bmc_certificates
from support import eventually

CONFIGURATION = """
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}}}}}
http:
  addr: {address}:{port}
  tls: {{certificate: {certificate}, key: {key}}}
"""


def configure(folder, port, address="127.0.0.1"):
    """Write a registry's files; return the paths of its configuration and of its certificate.

    :param folder: for these and for the images, absolute
    """
    (certificate, key), _signer = bmc_certificates.issue(folder, "registry", address=address)
    path = folder / "config.yml"
    path.write_text(CONFIGURATION.format(
        folder=folder / "images", address=address, port=port, certificate=certificate, key=key))
    return path, certificate


@contextlib.contextmanager
def running(folder, address="127.0.0.1"):
    """Run an empty registry: ``host``, ``ca``, ``images`` (the folder of its images)."""
    with socket.socket() as free:
        free.bind((address, 0))
        port = free.getsockname()[1]
    path, certificate = configure(folder, port, address)
    with open(folder / "log", "wb") as log, subprocess.Popen(
            ["docker-registry", "serve", str(path)], stdout=log, stderr=log) as process:
        try:
            eventually(lambda: socket.create_connection((address, port), 1).close() is None, 60, "the registry",
                       not_yet=OSError)
            yield SimpleNamespace(host=f"{address}:{port}", ca=certificate, images=folder / "images")
        finally:
            process.terminate()
