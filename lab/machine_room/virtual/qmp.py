"""QEMU's machine protocol: one command, and the events until the end."""
from __future__ import annotations

import contextlib
import json
import os
import socket

TIMEOUT_SECONDS = 10
SOCKET = "qmp.sock"


@contextlib.contextmanager
def connected(folder):
    """Connect and give a file of lines, ready for commands.

    :param folder: folder with the socket; its path may be longer than a socket's address
    :raises OSError: when nobody listens, or the process ends meanwhile
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT_SECONDS)
            connection.connect(f"/proc/self/fd/{descriptor}/{SOCKET}")
            with connection.makefile("rwb") as file:
                file.readline()
                send(file, "qmp_capabilities")
                # Events may take as long as they like.
                connection.settimeout(None)
                yield file
    finally:
        os.close(descriptor)


def send(file, name, **arguments):
    """Send a command; its answer comes between the events.

    :param file: what connected() gave
    :param name: the command's name
    :param arguments: the command's arguments
    """
    message = dict({"execute": name}, **({"arguments": arguments} if arguments else {}))
    file.write(json.dumps(message).encode() + b"\n")
    file.flush()


def shutdown_reason(file):
    """Read events until QEMU ends and return why it did: QAPI's ShutdownCause, or None if it did not say.

    :param file: what connected() gave
    """
    reason = None
    with contextlib.suppress(OSError):
        for line in file:
            message = json.loads(line)
            if message.get("event") == "SHUTDOWN":
                reason = message["data"]["reason"]
    return reason
