# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes etcd's data out of a snapshot, by etcdutl, and sends it to the machine that waits for it."""
from __future__ import annotations

import hashlib
import os
import re
import socket
import ssl
import subprocess
import tarfile
from typing import NamedTuple

from .._common.files.whole_file import write_private
from .._common.texts.plain_text import cut, plain
from .._plane.process.certificates import self_signed
from .errors import EtcdError
from .receiver import ANSWER

# A member's name and address: etcd corrects the name when it starts, the address is corrected then.
_NAME, _URL = "restored", "https://restored.invalid:2380"
# So that nobody who has watched takes what comes for older than what it knows (etcd, recovery guide).
_REVISIONS = "1000000000"
_LIMIT_SECONDS = 1800
_CONNECT_SECONDS = 5
_SEND_SECONDS = 120
_PIECE_BYTES = 1024 ** 2


class Data(NamedTuple):
    """What is sent.

    :ivar path: of the archive
    :ivar size: its bytes
    :ivar sha256: its digest, hexadecimal
    :ivar certificate: PEM of who may receive it, and of who sends it
    :ivar key: PEM of its key
    :ivar identity: path of a private file with both, by which the sender is known
    """

    path: str
    size: int
    sha256: str
    certificate: bytes
    key: bytes
    identity: str


def version_of(program: str) -> str:
    """Return the version of etcdutl.

    :raises EtcdError: when it is no etcdutl
    """
    match = re.search(r"etcdutl version: (\S+)", _run([program, "version"]))
    if not match:
        raise EtcdError(f"etcdutl: found {program}, which says no version, expected etcdutl; correct the option")
    return match[1]


def made(program: str, database: str, folder: str, ahead_seconds: float = 0.0) -> Data:
    """Return etcd's data out of a snapshot, as a member alone has it.

    :param program: path of etcdutl
    :param database: path of the snapshot
    :param folder: private folder for what is made
    :param ahead_seconds: as for :func:`with_identity`
    :raises EtcdError: when etcdutl refuses the snapshot
    """
    target, path = os.path.join(folder, "data"), os.path.join(folder, "data.tar.gz")
    _run([program, "snapshot", "restore", database, "--data-dir", target, "--name", _NAME,
          "--initial-cluster", f"{_NAME}={_URL}", "--initial-advertise-peer-urls", _URL,
          "--bump-revision", _REVISIONS, "--mark-compacted"])
    with tarfile.open(path, "w:gz", compresslevel=6) as archive:
        archive.add(os.path.join(target, "member"), "member", filter=_of_root)
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as stream:
        for part in iter(lambda: stream.read(_PIECE_BYTES), b""):
            digest.update(part)
            size += len(part)
    return with_identity(path, size, digest.hexdigest(), folder, ahead_seconds)


def with_identity(path: str, size: int, sha256: str, folder: str, ahead_seconds: float = 0.0) -> Data:
    """Return what is sent, with a key that is made for this restore.

    :param path: of the archive
    :param size: its bytes
    :param sha256: its digest, hexadecimal
    :param folder: private folder for the key
    :param ahead_seconds: how far the receiver's clock is ahead of this machine's, as far as it is known
    """
    key, certificate = self_signed(["etcd-restore.invalid"], ("server", "client"), ahead_seconds)
    identity = os.path.join(folder, "identity.pem")
    write_private(identity, key + certificate)
    return Data(path, size, sha256, certificate, key, identity)


def _of_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info


def _run(arguments: list[str]) -> str:
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=_LIMIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise EtcdError(f"etcdutl: found {arguments[0]}, which cannot be run ({exc}), expected the program; correct "
                        "the option etcdutl") from exc
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        raise EtcdError(f"etcdutl: {' '.join(arguments[1:3])} ended with code {done.returncode}: "
                        f"{cut(plain(text.strip()[-500:]), 500)}")
    return text


def is_sent(data: Data, host: str, port: int) -> str:
    """Try once to send the data to a machine; return why it did not take it, empty when it did.

    :param host: an address of the machine; whoever answers there without the machine's key gets nothing
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Known by its key, wherever it is.
    context.check_hostname = False
    context.load_verify_locations(cadata=data.certificate.decode())
    context.load_cert_chain(data.identity)
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_SECONDS) as connection, \
                context.wrap_socket(connection) as stream, open(data.path, "rb") as archive:
            stream.settimeout(_SEND_SECONDS)
            for part in iter(lambda: archive.read(_PIECE_BYTES), b""):
                stream.sendall(part)
            answer = stream.recv(len(ANSWER))
    # An address that others have written may be none.
    except (OSError, UnicodeError) as exc:
        return f"{host} port {port}: {plain(str(exc)) or type(exc).__name__}"
    return "" if answer == ANSWER else f"{host} port {port}: the machine has refused the data"
