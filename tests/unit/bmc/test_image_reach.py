# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether image servers answer where Ironic runs; its Python is this one."""
from __future__ import annotations

import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import image_reach
from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import asking

ASKED = asking.by_command([sys.executable, "-"], "Deployment n/ironic")
STATUS = {"/there": 200, "/elsewhere": 302, "/gone": 404, "/login": 401, "/refused-head": 405, "/behind": 502}


@pytest.fixture(autouse=True)
def _without_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def server():
    """A server of images: its URL, and what it was asked for."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self):
            seen.append((self.path, self.headers.get("Authorization")))
            self.send_response(STATUS[self.path.partition("?")[0]])
            self.send_header("Location", "http://192.0.2.1/")
            self.end_headers()

        def log_message(self, format, *args):
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d" % web.server_port, seen
        web.shutdown()


def words_of(*urls, **more):
    """Return what is said of images by their URLs, and the warnings."""
    images = [image_reach.Image(f"host-{number}", "image", dict({"url": url}, **more))
              for number, url in enumerate(urls)]
    found, warnings = image_reach.problems(images, ASKED)
    return dict((problem.subject, problem) for problem in found), warnings


def test_only_what_shows_that_ironic_does_not_get_the_image_is_a_problem(server):
    url, seen = server
    found, warnings = words_of(*(url + path for path in STATUS), url + "/there")
    assert warnings == [] and sorted(found) == ["host-2", "host-5"]
    assert str(found["host-2"]) == (
        f"host-2: image.url: found {url}/gone: HTTP 404, asked from Deployment n/ironic, expected an image server that "
        "Ironic reaches; look at names, routes and firewalls between the two, or correct the URL")
    # One question for two hosts.
    assert len(seen) == len(STATUS)


def test_logins_and_queries_stay_here_and_a_server_without_them_says_little(server):
    url, seen = server
    place = url.replace("http://", "http://user:secret-word@")
    found, dummy = words_of(place + "/gone?signature=secret-word", place + "/behind")
    assert sorted(found) == ["host-1"] and "secret-word" not in str(found["host-1"])
    assert sorted(seen) == [("/behind", None), ("/gone", None)]


def test_who_does_not_answer_is_named_and_the_checksum_file_too(server):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found, dummy = words_of(server[0] + "/there", checksum=f"http://127.0.0.1:{port}/sums")
    assert found["host-0"].field == "image.checksum" and "/sums: connection refused, asked from" in str(found["host-0"])
    found, dummy = words_of("http://images.invalid/a.raw")
    assert "no address for that name" in str(found["host-0"])


def test_what_is_no_url_of_a_web_server_is_not_asked_for():
    def run(_program):
        raise AssertionError("asked")

    images = [image_reach.Image("a", "image", {"url": url, "checksum": "ab" * 32})
              for url in ("oci://registry.example/image", "file:///etc/passwd", "http:///no-host", "http://[", "")]
    assert image_reach.problems(images, asking.Asked(run, "a pod")) == ([], [])


def test_a_pod_that_can_not_be_asked_is_a_warning():
    asked = asking.Asked(lambda _program: asking.Printed(b"", b"pods not found\n", 1), "Deployment n/ironic")
    found, warnings = image_reach.problems([image_reach.Image("a", "image", {"url": "http://192.0.2.1/a"})], asked)
    assert (found, warnings) == ([], ["images: whether Ironic reaches their servers was not asked from Deployment "
                                      "n/ironic: no answer (code 1): pods not found"])
