# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to etcd by TLS in a tunnel, answered by a server as its gateway answers."""
from __future__ import annotations

import base64
import datetime
import http.server
import ipaddress
import json
import socket
import ssl
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from fakes.restored_plane import authority

from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import client_certificate
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.errors import EtcdError
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.member import Member, Status
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

STATUS = {"version": "3.6.16", "header": {"revision": "7"}}


class Gateway(http.server.BaseHTTPRequestHandler):
    """Answers what the test has given for a path."""

    protocol_version = "HTTP/1.1"
    answers: dict = {}
    asked: list = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, json.loads(body), self.connection.getpeercert()))
        status, content = self.answers.get(self.path, (404, b"404 page not found"))
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(content), 30000):
            part = content[at:at + 30000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_arguments):
        pass


def certificate_of(secret, folder):
    """Issue what etcd on a node has, and return the path of key and certificate."""
    ca = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"]))
    ca_key = serialization.load_pem_private_key(base64.b64decode(secret["data"]["tls.key"]), None)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder().subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "node")]))
        .issuer_name(ca.subject).public_key(key.public_key()).serial_number(2).not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(ca_key, hashes.SHA256()))
    path = folder / "server.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return str(path)


@pytest.fixture
def secret():
    return {"data": authority()}


@pytest.fixture
def gateway(secret, tmp_path):
    """Run the server and return its class and port."""
    handler = type("Handler", (Gateway,), {"answers": {}, "asked": []})
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_of(secret, tmp_path))
    context.load_verify_locations(cadata=base64.b64decode(secret["data"]["tls.crt"]).decode())
    context.verify_mode = ssl.CERT_REQUIRED
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield handler, server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


class Tunnel:
    """What a port of a pod would be, on this machine."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        return self.socket.recv(1000)

    def close(self):
        self.socket.close()


class Client:
    """A KubeClient that reaches the server."""

    def __init__(self, port):
        self.port, self.paths = port, []

    def port_forward(self, path, port, _subject, _timeout_seconds, _limit_seconds):
        self.paths.append((path, port))
        if isinstance(self.port, Exception):
            raise self.port
        return Tunnel(self.port)


def member(secret, port):
    return Member(Client(port), "node-1", client_certificate.tls_context(secret, "Secret metal3/prod-etcd"))


def test_etcd_is_asked_with_a_certificate_of_its_authority(secret, gateway):
    handler, port = gateway
    handler.answers["/v3/maintenance/status"] = 200, json.dumps(STATUS).encode()
    found = member(secret, port)
    assert found.status() == Status("3.6.16", 7, "")
    assert found._client.paths == [("/api/v1/namespaces/kube-system/pods/etcd-node-1", 2379)]
    # Without a common name, which would be a user of etcd's.
    subject = handler.asked[0][2]["subject"]
    assert subject == ((("organizationName", "metal3.baremetal"),),)


@pytest.mark.parametrize("change", [
    {"header": "7"}, {"header": None}, {"header": {"revision": "many"}}, {"header": {"revision": "9" * 5000}},
    {"header": {"revision": -1}}, {"version": None}, {"version": 3}, {"version": "3.6\x1b]0;x"},
    {"version": "9" * 70000}])
def test_a_status_that_is_none_is_named(secret, gateway, change):
    """One that does not fit its file would take the place of a snapshot that can be restored."""
    handler, port = gateway
    handler.answers["/v3/maintenance/status"] = 200, json.dumps(dict(STATUS, **change)).encode()
    with pytest.raises(EtcdError, match="etcd on Node node-1: found a status without"):
        member(secret, port).status()


@pytest.mark.parametrize(("errors", "said"), [
    (["NOSPACE", {"a": 1}], "NOSPACE; {'a': 1}"), ("\x1b[31m", "\\x1b[31m"), (["x" * 5000], "x" * 300 + "..."),
    ({}, "")])
def test_what_is_wrong_with_a_member_is_a_line(secret, gateway, errors, said):
    handler, port = gateway
    handler.answers["/v3/maintenance/status"] = 200, json.dumps(dict(STATUS, errors=errors)).encode()
    assert member(secret, port).status().wrong == said


def test_a_member_is_up_to_date_when_it_answers_for_all(secret, gateway):
    handler, port = gateway
    handler.answers["/v3/kv/range"] = 200, b'{"header": {"revision": "7"}}'
    assert member(secret, port).is_up_to_date()
    assert handler.asked[0][1] == {"key": "AA==", "count_only": True}, "no value is read, and not only this member's"


def test_the_messages_of_a_snapshot_come_one_by_one(secret, gateway):
    handler, port = gateway
    lines = [{"result": {"blob": "A" * 44000, "remaining_bytes": "1"}}, {"result": {"blob": "BBBB"}}]
    handler.answers["/v3/maintenance/snapshot"] = 200, b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    with member(secret, port).snapshot() as messages:
        assert list(messages) == [line["result"] for line in lines]


def test_members_and_their_addresses(secret, gateway):
    handler, port = gateway
    handler.answers["/v3/cluster/member/list"] = 200, b'{"members": [{"ID": "7"}, 5]}'
    handler.answers["/v3/cluster/member/update"] = 200, b"{}"
    found = member(secret, port)
    assert found.members() == [{"ID": "7"}]
    found.set_peer_urls("7", ["https://192.0.2.7:2380"])
    assert handler.asked[1][1] == {"ID": "7", "peerURLs": ["https://192.0.2.7:2380"]}


@pytest.mark.parametrize(("answer", "said"), [
    ((404, b"not found"), "HTTP 404: not found; its gateway is off"),
    ((503, b'{"error": "etcdserver: no leader"}'), "HTTP 503: .*no leader"),
    ((200, b"no JSON"), "no JSON object"),
    ((200, b"[]"), "no JSON object"),
    ((200, b'{"a": "' + b"x" * 1024 ** 2 + b'"}'), "no JSON object")])
def test_what_is_no_answer_is_named(secret, gateway, answer, said):
    handler, port = gateway
    handler.answers["/v3/maintenance/status"] = answer
    with pytest.raises(EtcdError, match=f"etcd on Node node-1: .*{said}"):
        member(secret, port).status()


@pytest.mark.parametrize(("line", "said"), [
    (b'{"error": {"message": "etcdserver: too many requests"}}\n', "too many requests"),
    (b'{"result": {"blob": "' + b"A" * 1024 ** 2 + b'"}}\n', "more than 1048576 bytes"),
    (b"\x1b[31m\n", "no JSON object")])
def test_a_snapshot_that_ends_early_is_named(secret, gateway, line, said):
    handler, port = gateway
    handler.answers["/v3/maintenance/snapshot"] = 200, line
    with pytest.raises(EtcdError, match=said), member(secret, port).snapshot() as messages:
        list(messages)


def test_who_has_another_authority_is_not_asked(gateway):
    with pytest.raises(EtcdError, match="CERTIFICATE_VERIFY_FAILED"):
        member({"data": authority()}, gateway[1]).status()


def test_a_pod_that_is_not_reached_is_named(secret):
    with pytest.raises(EtcdError, match="no answer"):
        member(secret, KubeError("no answer")).status()


@pytest.mark.parametrize(("data", "said"), [
    (None, "tls.crt: found no certificate"),
    ({}, "tls.crt: found no certificate"),
    ({"tls.crt": "bm8="}, "tls.crt: found no certificate"),
    ({"tls.crt": dict, "tls.key": None}, "tls.key: found no key, expected that of the authority of an etcd that"),
    ({"tls.crt": dict, "tls.key": "bm8="}, "tls.key: found no key")])
def test_a_secret_without_an_authority_is_named(secret, data, said):
    data = data and dict((name, secret["data"][name] if value is dict else value) for name, value in data.items())
    with pytest.raises(EtcdError, match=f"Secret metal3/prod-etcd: {said}"):
        client_certificate.tls_context({"data": data} if data is not None else None, "Secret metal3/prod-etcd")


@pytest.mark.parametrize("kind", [ed25519.Ed25519PrivateKey, x25519.X25519PrivateKey])
def test_a_key_that_cannot_sign_is_named(secret, kind):
    """Whoever writes the Secret of one cluster ended the run for all others with a traceback."""
    pem = kind.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    secret["data"]["tls.key"] = base64.b64encode(pem).decode()
    with pytest.raises(EtcdError, match="Secret metal3/prod-etcd: found an authority that signs nothing"):
        client_certificate.tls_context(secret, "Secret metal3/prod-etcd")


@pytest.mark.parametrize("ahead_seconds", [-7200.0, 0.0, 7200.0])
def test_etcd_takes_the_certificate_by_its_own_clock(secret, ahead_seconds):
    """A machine that is ahead would make one that is not valid yet, one that is behind one that is over."""
    authority, key = client_certificate._authority(secret, "Secret")
    certificate = client_certificate._issued(authority, key, ahead_seconds)[0]
    theirs = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=ahead_seconds)
    assert certificate.not_valid_before_utc < theirs < certificate.not_valid_after_utc


def test_no_key_is_left_in_a_file(secret, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    client_certificate.tls_context(secret, "Secret")
    assert list(tmp_path.iterdir()) == []
