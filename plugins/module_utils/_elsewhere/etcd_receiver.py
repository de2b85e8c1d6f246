# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes etcd's data from who restores a cluster, as one connection with TLS: only what has the given digest.

Where an API server will answer, kubelets, load balancers and whoever looks connect, too. Each has a thread until it has
shown that it has this restore's key; of too many the one that has been there longest goes.

A program for the Python of cloud-init on any node, 3.6 or newer: ``from __future__ import annotations`` is of 3.7.
"""
import collections
import contextlib
import hashlib
import os
import shutil
import socket
import ssl
import sys
import tarfile
import threading

# Connections without the key, how long one of them may say nothing, and how long the sender.
CONNECTIONS, HANDSHAKE_SECONDS, SILENCE_SECONDS = 32, 10, 30
# Of OpenSSL: a machine's clock may be years behind before a time server answers.
NO_CHECK_TIME = 0x200000


class Receiver:
    """What waits for the data.

    :param folder: where the certificate and its key are
    :param size: of the data, in bytes
    :param digest: its SHA-256, hexadecimal
    :param target: etcd's folder
    """

    def __init__(self, folder: str, size: int, digest: str, target: str) -> None:
        self._size, self._digest = size, digest
        self._archive, self._partial = target + "/restore.tar.gz", target + "/restore"
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(folder + "/tls.crt", folder + "/tls.key")
        self._context.load_verify_locations(folder + "/tls.crt")
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._context.verify_flags |= NO_CHECK_TIME
        self._is_there, self._one, self._guard = threading.Event(), threading.Lock(), threading.Lock()
        self._unknown = collections.deque()  # type: collections.deque[ssl.SSLSocket]

    def wait(self, server: socket.socket) -> None:
        """Serve connections until the data is there."""
        server.settimeout(1)
        while not self._is_there.is_set():
            try:
                connection = server.accept()[0]
                connection.settimeout(HANDSHAKE_SECONDS)
                stream = self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            except OSError:
                continue
            with self._guard:
                self._unknown.append(stream)
                oldest = self._unknown.popleft() if len(self._unknown) > CONNECTIONS else None
            if oldest is not None:
                _end(oldest)
            threading.Thread(target=self._serve, args=[stream], daemon=True).start()

    def install(self, member: str) -> None:
        """Put the data where etcd looks for it."""
        os.rename(self._partial + "/member", member)
        shutil.rmtree(self._partial)
        os.unlink(self._archive)

    def _serve(self, stream: ssl.SSLSocket) -> None:
        try:
            stream.do_handshake()
            self._forget(stream)
            stream.settimeout(SILENCE_SECONDS)
            with self._one:
                if self._is_there.is_set() or not self._is_received(stream):
                    return
                shutil.rmtree(self._partial, ignore_errors=True)
                with tarfile.open(self._archive) as packed:
                    packed.extractall(self._partial)
                try:
                    stream.sendall(b"received\n")
                finally:
                    self._is_there.set()
        except (OSError, ValueError, tarfile.TarError) as exc:
            sys.stderr.write("etcd's data: %s\n" % exc)
        finally:
            self._forget(stream)
            stream.close()

    def _forget(self, stream: ssl.SSLSocket) -> None:
        with self._guard:
            if stream in self._unknown:
                self._unknown.remove(stream)

    def _is_received(self, stream: ssl.SSLSocket) -> bool:
        found, left = hashlib.sha256(), self._size
        with open(self._archive, "wb") as file:
            while left:
                part = stream.recv(min(left, 65536))
                if not part:
                    return False
                file.write(part)
                found.update(part)
                left -= len(part)
        return found.hexdigest() == self._digest


def _end(stream: ssl.SSLSocket) -> None:
    # Its thread waits for it; that of TLS would forget the session under that thread.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(stream, socket.SHUT_RDWR)


def _listening(port: int) -> socket.socket:
    """Return a socket that listens at a port, by IPv6 and IPv4 where there is IPv6."""
    try:
        found = socket.socket(socket.AF_INET6)
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        address = "::"
    except OSError:
        found, address = socket.socket(socket.AF_INET), "0.0.0.0"
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((address, port))
    found.listen(CONNECTIONS)
    return found


def main(folder: str, port: int, size: int, digest: str, target: str) -> None:
    """Wait for the data unless it is there; for ``folder`` and the last three see :class:`Receiver`."""
    member = target + "/member"
    if os.path.isdir(member):
        return
    os.umask(0o077)
    os.makedirs(target, 0o700, exist_ok=True)
    receiver = Receiver(folder, size, digest, target)
    with _listening(port) as server:
        receiver.wait(server)
    receiver.install(member)


if __name__ == "__main__":
    main(os.path.dirname(os.path.abspath(__file__)), int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
