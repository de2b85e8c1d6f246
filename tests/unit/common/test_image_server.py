# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image server or a checksum file may answer: a clear text, within a limit, and nothing else is asked."""
from __future__ import annotations

import contextlib
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import image as cluster_image
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import (
    image_checks,
    image_server,
    proxies,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
IMAGE = "/node.qcow2"


@pytest.fixture
def server():
    """A server that sends bytes as they are; return a callable: answers by path → URL of the server, requests."""
    listener = socket.create_server(("127.0.0.1", 0))
    requests, answers = [], {}

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection = listener.accept()[0]
                with connection, contextlib.suppress(OSError):
                    request = connection.recv(65536).decode("latin-1")
                    requests.append(request)
                    answer = answers.get(request.split(" ")[1], b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    if callable(answer):
                        answer = answer(request)
                    for part in answer if isinstance(answer, list) else [answer]:
                        connection.sendall(part)
                        stop.wait(0.02 if isinstance(answer, list) else 0)

    def call(**given_answers):
        answers.update(("/" + path.replace("_", "."), answer) for path, answer in given_answers.items())
        return f"http://127.0.0.1:{listener.getsockname()[1]}", requests

    stop = threading.Event()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield call
    stop.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def body(content):
    return OK % len(content) + content


@pytest.mark.parametrize(("length", "size"), [("812", 812), ("", None), ("-1", None), ("9" * 30, None)])
def test_the_size_is_what_the_server_names(server, length, size):
    url, requests = server(node_qcow2=f"HTTP/1.1 200 OK\r\n{'Content-Length: ' + length if length else 'X: y'}\r\n"
                                      "Connection: close\r\n\r\n".encode())
    assert image_server.size_of(url + IMAGE) == size
    assert requests[0].startswith("HEAD ")
    with pytest.raises(OSError, match="HTTP 404"):
        image_server.size_of(url + "/none")


def test_this_machine_is_asked_without_a_proxy_and_networks_without_one_are_known(server, monkeypatch):
    url, requests = server(node_qcow2=OK % 7)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert image_server.size_of(url + IMAGE) == 7
    # The server is the proxy now, which gets whole URLs.
    monkeypatch.setenv("http_proxy", url)
    with pytest.raises(OSError, match="HTTP 404"):
        image_server.size_of("http://192.0.2.1" + IMAGE)
    assert requests[-1].startswith(f"HEAD http://192.0.2.1{IMAGE} ")
    monkeypatch.setenv("no_proxy", "127.0.0.0/8")
    monkeypatch.setattr(proxies, "is_of_this_machine", lambda url: False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert image_server.size_of(url + IMAGE) == 7


def redirect(location):
    return b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def asked(base, **image):
    given_image = dict({"url": base + IMAGE, "checksum": base + "/sums"}, **image)
    return image_checks.reachability_problems("cluster c1", "image", given_image, image_server.image_fetcher())


def test_an_image_and_its_checksum_file(server):
    base, requests = server(node_qcow2=OK % 10, sums=body(b"%s  node.qcow2\n" % (b"a" * 64)))
    assert asked(base) == []
    assert [line.split(" ")[0] for line in requests] == ["HEAD", "GET"]


def test_a_redirection_within_http_is_followed_without_credentials(server, monkeypatch, tmp_path):
    """Neither those of the user's netrc, nor those of the URL go to where an answer points."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login netrc-user password netrc-word\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    base, requests = server(node_qcow2=redirect(b"/other"), other=OK % 0, sums=body(b"a" * 64))
    assert asked(base) == []
    assert len(requests) == 3 and "uthorization" not in "".join(requests)


@pytest.mark.parametrize("location", [
    b"file:///etc/passwd", b"ftp://127.0.0.1/a", b"gopher://127.0.0.1/", b"data:text/plain,a", b"javascript:a"])
def test_a_redirection_to_another_kind_of_url_is_not_followed(server, location):
    base, requests = server(node_qcow2=redirect(location), sums=redirect(location))
    problems = asked(base)
    assert len(problems) == 2 and all(
        "a redirection to" in str(line) and "expected https or http" in str(line) for line in problems
    )
    assert len(requests) == 2


def test_tls_is_not_given_up_for_a_redirection():
    with pytest.raises(OSError, match=r"a redirection to http://x/b, expected https$"):
        image_server._redirected("https://x/a", "http://x/b")
    assert image_server._redirected("https://x/a", "//y/b") == "https://y/b"


@pytest.mark.parametrize("location", [
    b"ftp://store.example.com/node?X-Signature=hunter2", b"ftp://u:hunter2@store.example.com/node",
    b"/node%20?X-Signature=hunter2 and more", b"gopher:node?hunter2#hunter2"])
def test_a_signature_or_password_in_a_redirection_is_not_quoted(server, location):
    base, dummy = server(node_qcow2=redirect(location), sums=redirect(location))
    problems = asked(base)
    assert len(problems) == 2 and not any("hunter2" in str(line) for line in problems), problems


def test_redirections_in_a_circle_end(server):
    base, requests = server(node_qcow2=redirect(b"/node.qcow2"), sums=body(b"a" * 64))
    assert "more than 4 redirections" in str(asked(base)[0]) and len(requests) < 10


@pytest.mark.parametrize("answer, text", [
    (b"HTTP/1.1 500 " + b"x" * 5000 + b"\r\nContent-Length: 0\r\n\r\n", "HTTP 500 xxx"),
    (b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=a\r\nContent-Length: 0\r\n\r\n", "HTTP 401"),
    (redirect(b"http://[broken"), "Invalid IPv6 URL"),
    (b"not HTTP at all\r\n\r\n", "BadStatusLine"), (b"", "closed"), (b"\x00" * 70000, "LineTooLong"),
    (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n", "got more than 100 headers")])
def test_answers_that_are_none(server, answer, text):
    base, dummy = server(node_qcow2=answer, sums=body(b"a" * 64))
    problems, = asked(base)
    assert text in str(problems) and len(str(problems)) < 500


@pytest.mark.parametrize("content, text", [
    (b"<!DOCTYPE html>\n<html><body>Sign in: node.qcow2</body></html>", "a line for the image"),
    (bytes(range(256)) * 64, "a line for the image"), (b"", "a line for the image"),
    (b"a" * 5000, "hexadecimal digits"), (b"a" * 2 ** 21, "larger than 1 MiB"),
    (b"%s  other.qcow2\n" % (b"a" * 64) * 40000, "larger than 1 MiB")])
def test_checksum_files_that_are_none(server, content, text):
    base, dummy = server(node_qcow2=OK % 0, sums=body(content))
    problems, = asked(base)
    assert text in str(problems) and len(str(problems)) < 500


def test_a_server_that_trickles_does_not_keep_a_run(server):
    base, dummy = server(sums=[OK % 1000] + [b"a"] * 1000)
    with pytest.raises(OSError, match="no complete answer within 0 s"):
        image_server.image_fetcher(reading_seconds=0.1)(base + "/sums", 1000)


@pytest.mark.parametrize("url", [f"http://{'a' * 70}.example/", "http://127.0.0.1:99999/", "http://127.0.0.1:x/"])
def test_urls_that_nobody_can_ask(url):
    with pytest.raises(OSError):
        image_server.image_fetcher()(url, 0)


TEXTS = st.text() | st.from_regex(r"\A[0-9a-fA-F]{0,70}[ \t]{0,3}\*?(node\.qcow2)?\n?\Z") | st.from_regex(
    r"\A[A-Z0-9-]{1,8} \((./)?node.qcow2\) = [0-9a-f]{0,70}\Z")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=4).map("\n".join), st.text() | st.just("https://x/node.qcow2"))
def test_any_checksum_file(text, url):
    """Of whatever it holds, only hexadecimal digits are taken."""
    found = image_checks.checksum_in_file(text, url)
    assert found is None or set(found) <= set("0123456789abcdefABCDEF")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=300), st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20),
       st.sampled_from([None, "md5", "sha256", "sha512"]))
def test_any_answer_of_a_server(content, checksum, kind):
    image = {"url": "https://x/node.qcow2", "checksum": "https://x/" + checksum, "checksum_type": kind}
    problems = image_checks.reachability_problems("c", "image", image, lambda url, limit: content[:limit])
    assert all("\n" not in str(line) for line in problems)
    problems = cluster_image.image_problems("c", "image", dict(image, url=checksum, checksum=checksum, format=None))
    assert problems


@pytest.mark.parametrize("status", [b"403 Forbidden", b"405 Method Not Allowed"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_server_that_refuses_head_is_asked_for_a_byte(server, status, is_there):
    refused = b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status
    base, requests = server(
        node_qcow2=lambda request: body(b"x") if is_there and request.startswith("GET") else refused,
        sums=body(b"%s  node.qcow2\n" % (b"a" * 64)))
    found = [str(item) for item in asked(base)]
    assert [line.split(" ")[0] for line in requests] == ["HEAD", "GET", "GET"] and "Range: bytes=0-0" in requests[1]
    assert len(found) == (0 if is_there else 1)
    assert all("or set check_images to false when only Ironic can reach it" in text for text in found)
