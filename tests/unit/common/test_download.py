# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads from servers over HTTP: resumed, led elsewhere, cut, without end."""
from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from fakes.http_server import HttpServer

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import download

CONTENT = b"content of a file"
CHECKSUM = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
SECRET = "canary-download-7"


class Server:
    """Answers as its ``answer`` says, a callable that takes the request; ``seen`` has the requests' headers."""

    def __init__(self, answer):
        self.seen = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.seen.append(dict(self.headers))
                self.close_connection = True
                answer(self)

            def log_message(self, *arguments):
                pass

        self.http = HttpServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, login=""):
        return f"http://{login}127.0.0.1:{self.http.server_port}/file"


@pytest.fixture
def serve():
    made = []

    def start(answer):
        made.append(Server(answer))
        return made[-1]
    yield start
    for server in made:
        server.http.shutdown()
        server.http.server_close()


def whole(request):
    begin = int(request.headers.get("Range", "bytes=0-")[6:-1])
    request.send_response(206 if begin else 200)
    request.send_header("Content-Length", str(len(CONTENT) - begin))
    request.end_headers()
    request.wfile.write(CONTENT[begin:])


def leading_to(place):
    def answer(request):
        request.send_response(302)
        request.send_header("Location", place)
        request.send_header("Content-Length", "0")
        request.end_headers()
    return answer


def cut(request):
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    request.wfile.write(b"10\r\ncont")


def test_what_was_cut_goes_on_where_it_stopped(serve, tmp_path):
    server = serve(whole)
    (tmp_path / "file.partial").write_bytes(CONTENT[:5])
    download.file(server.url(), str(tmp_path / "file"), CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT and server.seen[0]["Range"] == "bytes=5-"


@pytest.mark.parametrize("beginning", [b"other", CONTENT.upper() + b" that was longer"], ids=["shorter", "longer"])
def test_what_was_cut_of_another_file_is_begun_again(serve, tmp_path, beginning):
    """Of a release before, for example, under the same name."""
    def ranged(request):
        if int(request.headers.get("Range", "bytes=0-")[6:-1]) < len(CONTENT):
            return whole(request)
        request.send_response(416)
        request.send_header("Content-Length", "0")
        return request.end_headers()

    server = serve(ranged)
    (tmp_path / "file.partial").write_bytes(beginning)
    download.file(server.url(), str(tmp_path / "file"), CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT and "Range" not in server.seen[-1] and len(server.seen) == 2
    (tmp_path / "other.partial").write_bytes(beginning)
    with pytest.raises(ReportedError, match=r"checksum: found .*, expected .*; correct the checksum"):
        download.file(server.url(), str(tmp_path / "other"), "sha256:" + "0" * 64)
    assert not (tmp_path / "other.partial").exists() and len(server.seen) == 4


def test_a_redirection_gets_no_login(serve, tmp_path):
    there = serve(whole)
    server = serve(leading_to(there.url()))
    download.file(server.url(f"user:{SECRET}@"), str(tmp_path / "file"), CHECKSUM)
    assert "Authorization" in server.seen[0] and "Authorization" not in there.seen[0]


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/file"])
def test_a_redirection_to_what_is_no_image_server_is_not_followed(serve, tmp_path, place):
    with pytest.raises(ReportedError, match="a redirection to"):
        download.file(serve(leading_to(place)).url(), str(tmp_path / "file"), CHECKSUM)


def test_an_answer_that_is_cut_is_reported(serve, tmp_path):
    with pytest.raises(ReportedError, match="run again to go on from where it stopped"):
        download.file(serve(cut).url(), str(tmp_path / "file"), CHECKSUM)


def test_an_answer_without_end_is_not_taken(serve, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "LARGEST_BYTES", 10)
    with pytest.raises(ReportedError, match="an answer of more than"):
        download.file(serve(whole).url(), str(tmp_path / "file"), CHECKSUM)


@pytest.mark.parametrize("login", [f"user:{SECRET}/x@", f"user:{SECRET}@"])
def test_no_message_quotes_a_password(tmp_path, login):
    with pytest.raises(ReportedError) as failed:
        download.file(f"http://{login}127.0.0.1:1/file", str(tmp_path / "file"), CHECKSUM)
    assert SECRET not in str(failed.value)


class Slow:
    """Sends the first bytes of its first answer, and the others when it may; all others as a whole."""

    def __init__(self, content=CONTENT, breaks_off=False):
        self.begun, self.goes_on = threading.Event(), threading.Event()
        self.content, self.breaks_off = content, breaks_off

    def __call__(self, request):
        begin = int(request.headers.get("Range", "bytes=0-")[6:-1])
        request.send_response(206 if begin else 200)
        request.send_header("Content-Length", str(len(self.content) - begin))
        request.end_headers()
        if self.begun.is_set():
            return request.wfile.write(self.content[begin:])
        request.wfile.write(self.content[begin:][:7])
        request.wfile.flush()
        self.begun.set()
        self.goes_on.wait(30)
        return None if self.breaks_off else request.wfile.write(self.content[begin:][7:])


def two_at_once(server, slow, target):
    """Download a file twice at once; return how each ended, in any order."""
    ends, texts = [], []

    def run(waiting):
        try:
            download.file(server.url(), str(target), CHECKSUM, waiting=waiting)
            ends.append("")
        except ReportedError as exc:
            ends.append(str(exc))

    def waits():
        texts.append("waiting")
        slow.goes_on.set()

    first = threading.Thread(target=run, args=(lambda: None,))
    first.start()
    assert slow.begun.wait(30)
    run(waits)
    slow.goes_on.set()
    first.join(30)
    return ends, texts


def test_of_two_runs_one_downloads_and_the_other_takes_what_it_has_got(serve, tmp_path):
    slow = Slow()
    server = serve(slow)
    assert two_at_once(server, slow, tmp_path / "file") == (["", ""], ["waiting"])
    assert (tmp_path / "file").read_bytes() == CONTENT and len(server.seen) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_of_two_runs_one_goes_on_where_the_other_was_cut(serve, tmp_path):
    slow = Slow(breaks_off=True)
    server = serve(slow)
    ends, texts = two_at_once(server, slow, tmp_path / "file")
    assert sorted(map(bool, ends)) == [False, True] and texts == ["waiting"]
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert [request.get("Range") for request in server.seen] == [None, "bytes=7-"]


def test_a_run_that_is_killed_gives_its_file_back(serve, tmp_path):
    partial = tmp_path / "file.partial"
    partial.write_bytes(CONTENT[:5])
    holder = subprocess.Popen([sys.executable, "-c", (
        "import fcntl, sys\nstream = open(sys.argv[1], 'rb+')\nfcntl.flock(stream, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\nsys.stdin.read()"), str(partial)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout.readline() == b"held\n"
        server = serve(whole)
        download.file(server.url(), str(tmp_path / "file"), CHECKSUM, waiting=holder.kill)
    assert (tmp_path / "file").read_bytes() == CONTENT and server.seen[0]["Range"] == "bytes=5-"


def test_what_somebody_has_put_in_the_place_of_the_partial_file_is_reported(tmp_path):
    (tmp_path / "file.partial").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReportedError, match=r"file\.partial: .*; find out who has made it, and delete it"):
        download.file("http://127.0.0.1:1/file", str(tmp_path / "file"), CHECKSUM)
    assert not (tmp_path / "elsewhere").exists()


def test_what_finds_no_room_leaves_none_taken(tmp_path, monkeypatch):
    """A server need not say how long its answer is, and a full disk stops what else writes there."""
    def full(_url, stream, *_further):
        stream.write(CONTENT)
        stream.flush()
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(download, "_read", full)
    with pytest.raises(ReportedError, match="No space left on device; free space, then run again to begin from"):
        download.file("http://127.0.0.1/file", str(tmp_path / "file"), CHECKSUM)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content, reason", [(None, "No such file or directory"), ("", "no certificates in PEM form")])
def test_a_file_without_authorities_is_named(tmp_path, content, reason):
    """It is no matter of the download, which would not go on from anywhere."""
    authority = tmp_path / "ca.pem"
    if content is not None:
        authority.write_text(content)
    with pytest.raises(ReportedError, match=rf"^{authority}: {reason}, expected certificates .*; correct the path"):
        download.file("https://127.0.0.1:1/file", str(tmp_path / "file"), CHECKSUM, str(authority))


@pytest.mark.parametrize("status, step", [
    (404, "HTTP 404 .*; correct the URL$"), (401, "HTTP 401 .*; correct the URL, or the login in it$"),
    (403, "HTTP 403 .*; correct the URL, or the login in it$"), (429, "HTTP 429 .*; look at the server, or run again"),
    (503, "HTTP 503 .*; look at the server, or run again later$")])
def test_an_error_of_the_server_says_what_to_do(serve, tmp_path, status, step):
    with pytest.raises(ReportedError, match=step):
        download.file(serve(lambda request: request.send_error(status)).url(), str(tmp_path / "file"), CHECKSUM)


def test_a_certificate_that_is_not_trusted_is_no_interruption(tmp_path, monkeypatch):
    def untrusted(*_arguments):
        raise OSError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer")
    monkeypatch.setattr(download, "_read", untrusted)
    with pytest.raises(ReportedError, match=r"; give the file of the authority that signed the server's certificate$"):
        download.file("https://127.0.0.1:1/file", str(tmp_path / "file"), CHECKSUM)
