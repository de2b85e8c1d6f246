# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to ports of pods, in the protocol of kubelets."""
from __future__ import annotations

import base64
import contextlib
import hashlib
import socket
import threading
import types

import pytest
import websocket
from fakes.slow_server import ENDLESS, slow_server
from fakes.time_limits import ends
from websocket._url import _is_no_proxy_host

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import port_forward, web_socket
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

BINARY, CLOSE, TEXT = (getattr(websocket.ABNF, f"OPCODE_{name}") for name in ("BINARY", "CLOSE", "TEXT"))
BEGINNING = [(BINARY, b"\0" + (2379).to_bytes(2, "little")), (BINARY, b"\1" + (2379).to_bytes(2, "little"))]


class Channel:
    """A WebSocket whose other side has said all that it will say."""

    def __init__(self, *messages):
        self.messages, self.sent, self.closed = [*messages], [], False

    def recv_data(self):
        if not self.messages:
            raise websocket.WebSocketConnectionClosedException("gone")
        message = self.messages.pop(0)
        if isinstance(message, Exception):
            raise message
        return message

    def send_binary(self, data):
        self.sent.append(data)

    def close(self, timeout=None):
        self.closed = True
        raise OSError("gone")


def tunnel(*messages):
    channel = Channel(*messages)
    return port_forward.Tunnel(channel, 2379, "etcd on Node n"), channel


def test_bytes_go_both_ways():
    found, channel = tunnel(*BEGINNING, (BINARY, b"\0one"), (BINARY, b"\1"), (BINARY, b"\0two"), (CLOSE, b""))
    assert [found.receive() for _number in range(4)] == [b"one", b"two", b"", b""]
    found.send(b"x" * 100000)
    assert b"".join(part[1:] for part in channel.sent) == b"x" * 100000
    assert all(part[0] == 0 for part in channel.sent)
    found.close()
    assert channel.closed and found.receive() == b""


def test_the_end_of_the_connection_is_the_end():
    found, _channel = tunnel(*BEGINNING, (BINARY, b"\0one"))
    assert [found.receive(), found.receive()] == [b"one", b""]


@pytest.mark.parametrize(("messages", "said"), [
    ([*BEGINNING, (BINARY, b"\1connection refused")], "connection refused"),
    ([(BINARY, b"\0\x50\0")], "another port"),
    ([(BINARY, b"\0")], "another port"),
    ([*BEGINNING, (BINARY, b"\7abc")], "none of a port's"),
    ([*BEGINNING, (BINARY, b"")], "none of a port's"),
    ([*BEGINNING, (TEXT, b"\0abc")], "none of a port's"),
    ([*BEGINNING, websocket.WebSocketTimeoutException("timed out")], "timed out"),
    ([*BEGINNING, OSError("reset")], "reset")])
def test_what_is_no_port_is_named(messages, said):
    found, _channel = tunnel(*messages)
    with pytest.raises(KubeError, match=f"etcd on Node n: port 2379: the connection is lost: .*{said}"):
        found.receive()


SETTINGS = types.SimpleNamespace(verify_ssl=True, ssl_ca_cert="/ca", cert_file="/cert", key_file="/key",
                                 tls_server_name="api", proxy=None)


class Connection:
    """Credentials that are renewed once."""

    def __init__(self, settings=SETTINGS, renews=True):
        self.settings, self.generation, self.renews = settings, 0, renews
        self.impersonation = [("Impersonate-User", "somebody")]

    def authorization(self):
        return f"Bearer {self.generation}"

    def renew(self, _generation):
        self.generation += 1
        return self.renews


@pytest.fixture
def connected(monkeypatch):
    """Give what connections were asked for, and what they answer."""
    asked, answers = [], []

    class WebSocket(Channel):
        def __init__(self, **options):
            super().__init__()
            self.options = options

        def connect(self, url, **options):
            asked.append((url, dict(options, **self.options)))
            if answers:
                raise answers.pop(0)

        def getsubprotocol(self):
            return web_socket.PROTOCOL

    monkeypatch.setattr(web_socket.websocket, "WebSocket", WebSocket)
    return asked, answers


def open_one(connection):
    return port_forward.opened(connection, "https://198.18.0.1:6443", "/api/v1/pods/p", 2379, "etcd", 5, 60)


def test_a_connection_has_the_credentials_of_all_requests(connected):
    open_one(Connection())
    (url, options), = connected[0]
    assert url == "wss://198.18.0.1:6443/api/v1/pods/p/portforward?ports=2379"
    assert options["header"] == ["Impersonate-User: somebody", "authorization: Bearer 0"]
    assert options["sslopt"]["ca_certs"] == "/ca" and options["sslopt"]["check_hostname"] is True
    assert options["sslopt"]["certfile"] == "/cert" and options["sslopt"]["server_hostname"] == "api"
    assert options["subprotocols"] == ["v4.channel.k8s.io"] and options["http_no_proxy"] == ["*"]
    assert options["redirect_limit"] == 0


def test_a_connection_goes_by_the_proxy_of_the_others(connected, monkeypatch):
    """Whether a proxy is for this server is decided once, when the settings are made."""
    monkeypatch.setenv("no_proxy", "198.18.0.1")
    settings = types.SimpleNamespace(**dict(
        vars(SETTINGS), proxy="http://proxy.example:3128",
        proxy_headers={"proxy-authorization": "Basic dXNlcjpwYTpzcw=="}))
    open_one(Connection(settings))
    options = connected[0][0][1]
    assert (options["http_proxy_host"], options["http_proxy_port"]) == ("proxy.example", 3128)
    assert options["http_proxy_auth"] == ("user", "pa:ss")
    assert not _is_no_proxy_host("198.18.0.1", options["http_no_proxy"])


def test_a_proxy_without_a_port_has_that_of_its_scheme(connected):
    open_one(Connection(types.SimpleNamespace(**dict(vars(SETTINGS), proxy="http://proxy.example"))))
    assert connected[0][0][1]["http_proxy_port"] == 80


def refusal(status, text):
    return websocket.WebSocketBadStatusException("refused", status, resp_body=text)


def test_credentials_that_are_refused_are_read_again_once(connected):
    asked, answers = connected
    answers += [refusal(401, b"")]
    open_one(Connection())
    assert [options["header"][1] for _url, options in asked] == ["authorization: Bearer 0", "authorization: Bearer 1"]
    answers += [refusal(401, b""), refusal(401, b"")]
    with pytest.raises(KubeError) as raised:
        open_one(Connection())
    assert raised.value.status == 401


@pytest.mark.parametrize(("error", "status", "said"), [
    (refusal(403, b'{"kind": "Status", "message": "may not"}'), 403, "may not"),
    (refusal(404, None), 404, "etcd"),
    (ConnectionRefusedError("refused"), None, "does not answer"),
    (websocket.WebSocketTimeoutException("timed out"), None, "does not answer: timed out")])
def test_a_refusal_is_an_error_of_the_api_server(connected, error, status, said):
    connected[1].append(error)
    with pytest.raises(KubeError, match=said) as raised:
        open_one(Connection())
    assert raised.value.status == status


# What an API server says in place of what is asked for

PLAIN = types.SimpleNamespace(verify_ssl=False, ssl_ca_cert=None, cert_file=None, key_file=None, tls_server_name=None,
                              proxy=None)
ACCEPTED = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Protocol: v4.channel.k8s.io\r\nSec-WebSocket-Accept: %s\r\n\r\n")
ALLOWED_BYTES = 100_000


@contextlib.contextmanager
def endless_server(begin, piece, pause_seconds=0.0):
    """Give the URL of an API server that connects, sends ``begin``, and then ``piece`` again and again."""
    listener, over = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve():
        connection = listener.accept()[0]
        with connection, contextlib.suppress(OSError):
            asked = connection.recv(65536).decode()
            key = next(line.partition(": ")[2] for line in asked.splitlines() if line.startswith("Sec-WebSocket-Key"))
            digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
            connection.sendall(ACCEPTED % base64.b64encode(digest) + begin)
            while not over.wait(pause_seconds):
                connection.sendall(piece)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.close()
        thread.join(10)


def received(url, limit_seconds):
    found = port_forward.opened(Connection(PLAIN, False), url, "/api/v1/pods/p", 2379, "etcd", 1, limit_seconds)
    with contextlib.closing(found):
        while found.receive():
            pass


@pytest.mark.parametrize(("begin", "piece"), [
    # A frame of an exabyte.
    (b"\x82\x7f" + (2 ** 60).to_bytes(8, "big"), b"x" * 65536),
    # A message in parts without a last one.
    (b"\x02\x02\x00x", b"\x00\x7e\xff\xff" + b"x" * 65535),
    # Pings.
    (b"", b"\x89\x7d" + b"x" * 125)], ids=["frame", "parts", "pings"])
def test_a_message_of_any_length_is_left(monkeypatch, begin, piece):
    monkeypatch.setattr(web_socket, "_MESSAGE_BYTES", ALLOWED_BYTES)
    with endless_server(begin, piece) as url, pytest.raises(KubeError, match="longer than any that is expected"):
        received(url, 60)


def test_a_refusal_of_any_length_is_left(monkeypatch):
    monkeypatch.setattr(web_socket, "_ANSWER_BYTES", ALLOWED_BYTES)
    head = b"HTTP/1.1 503 Busy\r\nContent-Length: 1000000000\r\n\r\n"
    with slow_server(head + b"x" * (2 * ALLOWED_BYTES), b"x") as url, \
            pytest.raises(KubeError, match="longer than any that is expected"):
        received(url, 60)


@pytest.mark.parametrize("kind", ["status line", "head", "refusal"])
def test_a_connection_that_is_never_made_is_left(kind):
    with slow_server(*ENDLESS[kind]) as url, ends(), pytest.raises(KubeError, match="does not answer"):
        received(url, 1)


def test_bytes_that_come_without_an_end_are_left():
    ports = b"\x82\x03\x00" + (2379).to_bytes(2, "little")
    with endless_server(ports, b"\x82\x02\x00x", 0.05) as url, ends(), \
            pytest.raises(KubeError, match="no end within 1 s"):
        received(url, 1)
