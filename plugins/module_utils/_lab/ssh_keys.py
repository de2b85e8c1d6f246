# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for ssh to a lab's virtual servers: the user's, the servers', and the file of known hosts."""
from __future__ import annotations

import os
from typing import Any

from .._common.files.whole_file import write_private
from .credentials import Wrote, unnoticed

try:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

USER_KEY, HOST_KEY = "user_key", "host_key"
KNOWN_HOSTS = "known_hosts"


def ensure(directory: str, check_mode: bool = False, wrote: Wrote = unnoticed) -> list[str]:
    """Make the keys unless they are there: each as ``<name>`` and ``<name>.pub``, as ssh-keygen writes them.

    The servers of a lab share one key, which their user data brings: so the first connection verifies it.

    :param directory: the lab's folder
    :param check_mode: change nothing, only report
    :param wrote: see Wrote
    :returns: the files that were written, or would be
    """
    folder = os.path.join(directory, "secrets", "ssh")
    missing = [path for path in (os.path.join(folder, name) for name in (USER_KEY, HOST_KEY))
               if not os.path.exists(path)]
    if check_mode:
        return missing
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for path in missing:
        private = ed25519.Ed25519PrivateKey.generate()
        public = _public(private)
        write_private(path + ".pub", public)
        if path.endswith(HOST_KEY):
            # Addresses are lent: whoever has the key is a server of this lab.
            write_private(os.path.join(folder, KNOWN_HOSTS), b"* " + public)
        write_private(path, private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()))
        wrote(path, "created")
    return missing


def _public(private: Any) -> bytes:
    text: bytes = private.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return text + b"\n"
