# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that is never late and never ready: its answer comes byte by byte, without an end."""
from __future__ import annotations

import contextlib
import itertools
import socket
import threading

# The part of an answer that comes at once, and the bytes that follow one by one.
ENDLESS = {
    "status line": (b"", b"H"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "head": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{", b" "),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "refusal": (b"HTTP/1.1 503 Busy\r\nContent-Length: 1000000\r\n\r\n", b" "),
}


@contextlib.contextmanager
def slow_server(begin, rest, pause_seconds=0.05):
    """Yield the URL of a server that answers each request with ``begin``, and then with the bytes of ``rest`` again."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()
    threads = []

    def answer(connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            connection.sendall(begin)
            for byte in itertools.cycle(rest):
                if over.wait(pause_seconds):
                    return
                connection.sendall(bytes([byte]))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                thread = threading.Thread(target=answer, args=(listener.accept()[0],))
                threads.append(thread)
                thread.start()

    server = threading.Thread(target=serve)
    server.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        server.join(10)
        for thread in threads:
            thread.join(10)
