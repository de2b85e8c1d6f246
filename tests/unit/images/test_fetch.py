# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that come once: which of them are taken from the cache."""
from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from fakes.http_server import HttpServer

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.sources import fetch

CONTENT = b"the ramdisk"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server():
    """Return the URL of a server, and the list of what it was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, *arguments):
            pass

    http = HttpServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}/initrd", asked
    http.shutdown()
    http.server_close()


@pytest.mark.parametrize("there, downloads", [(None, 1), (b"", 1), (b"the ramdisK", 1), (CONTENT, 0)])
def test_what_is_in_the_cache_is_taken_when_it_is_what_came(server, tmp_path, there, downloads):
    """A machine that loses power keeps names of files whose contents were not on its disk yet."""
    url, asked = server
    if there is not None:
        (tmp_path / "downloads").mkdir()
        (tmp_path / "downloads" / DIGEST).write_bytes(there)
    for _number in range(2):
        with open(fetch.fetched(url, "sha256:" + DIGEST, str(tmp_path), None, Progress()), "rb") as stream:
            assert stream.read() == CONTENT
    assert len(asked) == downloads
