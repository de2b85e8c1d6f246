# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A port of an address that what is behind does not listen on."""
from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading

CHUNK_BYTES = 65536


class Forwarder:
    """Takes connections and hands their bytes on, as they are.

    :param address: to listen on, of either family
    :param behind: host and port
    """

    def __init__(self, address, behind):
        self.behind = behind
        self._listener = socket.create_server(
            (address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        """Take no more connections."""
        # A thread that waits for a connection keeps a socket that is only closed.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _peer = self._listener.accept()
                threading.Thread(target=self.handle, args=(connection,), daemon=True).start()

    def handle(self, connection):
        """Serve one connection until both sides have ended it."""
        with contextlib.suppress(OSError), connection, socket.create_connection(self.behind) as far:
            both_ways(connection, far)


def both_ways(near, far, answered=bytes):
    """Copy what two sockets send to each other, until one of them has ended.

    In one thread, because two must not use one TLS connection at once.

    :param answered: callable that takes bytes of the far one and returns what is sent in their place
    """
    other = {near: far, far: near}
    with contextlib.suppress(OSError):
        while all(_handed_on(source, other[source], answered if source is far else bytes)
                  for source in _readable(near, far)):
            pass
    for sink in other:
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)


def _readable(*sockets):
    # What TLS has decrypted already is not on its socket any more.
    waiting = [item for item in sockets if isinstance(item, ssl.SSLSocket) and item.pending()]
    return waiting or select.select(sockets, [], [])[0]


def _handed_on(source, sink, changed):
    """Copy what there is, as a callable changes it; return whether the source goes on."""
    source.settimeout(0)
    try:
        chunk = source.recv(CHUNK_BYTES)
    except (BlockingIOError, ssl.SSLWantReadError):
        # A part of a record, or one of TLS itself.
        return True
    finally:
        source.settimeout(None)
    sink.sendall(changed(chunk))
    return bool(chunk)
