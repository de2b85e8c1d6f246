# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real nginx, with a configuration that a test has rendered."""
from __future__ import annotations

import contextlib
import socket
import subprocess
import time

SECONDS = 30
NGINX = "/usr/sbin/nginx"


@contextlib.contextmanager
def running(configuration, port):
    """Check a configuration and run nginx with it, from when it listens.

    :param configuration: path of the file
    :param port: of 127.0.0.1, where it listens
    """
    command = [NGINX, "-e", "stderr", "-c", str(configuration)]
    subprocess.run([*command, "-t", "-q"], check=True)
    with subprocess.Popen(command) as server:
        try:
            _wait_for(server, port)
            yield
        finally:
            server.terminate()


def _wait_for(server, port):
    end = time.monotonic() + SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert server.poll() is None and time.monotonic() < end, f"nginx does not listen on {port}"
        time.sleep(0.05)
