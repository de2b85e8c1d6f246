# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in containers of pods, in the protocol of kubelets, and questions that are asked there."""
from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import socket
import subprocess
import sys
import threading
import types
from urllib.parse import parse_qs, urlsplit

import pytest
import websocket

from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import asking
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import pod_exec, web_socket
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import deployment_pod
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

BINARY, CLOSE, TEXT = (getattr(websocket.ABNF, f"OPCODE_{name}") for name in ("BINARY", "CLOSE", "TEXT"))
SUCCESS = (BINARY, b'\3{"status": "Success"}')


def status(**more):
    return BINARY, b"\3" + json.dumps(dict({"status": "Failure"}, **more)).encode()


def exit_code(number):
    return status(reason="NonZeroExitCode", details={"causes": [{"reason": "ExitCode", "message": str(number)}]})


@pytest.fixture
def said(monkeypatch):
    """Give what the other side says, and what it was sent: the URL path, the messages, and how it was ended."""
    messages, sent = [], []

    class Channel:
        def recv_data(self):
            if not messages:
                raise websocket.WebSocketConnectionClosedException("gone")
            message = messages.pop(0)
            if isinstance(message, Exception):
                raise message
            return message

        def send_binary(self, data):
            sent.append(data)

        def settimeout(self, seconds):
            sent.append(seconds)

        def close(self, timeout=None):
            sent.append("closed")

    def opened(_connection, server, path, _subject, *_seconds):
        sent.append(server + path)
        return Channel()

    monkeypatch.setattr(web_socket, "opened", opened)
    return messages, sent


def run(given=b""):
    return pod_exec.run(None, "https://api", "/api/v1/pods/p", "ironic", ["python3", "-c", "a & b"], given, "Pod n/p",
                        60)


def test_a_program_is_given_its_input_and_its_outputs_are_kept_apart(said):
    messages, sent = said
    messages += [(BINARY, b"\1"), (BINARY, b"\2"), (BINARY, b"\3"), (BINARY, b"\1one "), (BINARY, b"\2a warning"),
                 (BINARY, b"\1two"), SUCCESS]
    assert run(b"x" * 100000) == asking.Printed(b"one two", b"a warning", 0)
    assert sent[0] == ("https://api/api/v1/pods/p/exec?container=ironic&command=python3&command=-c&command=a+%26+b"
                       "&stdin=true&stdout=true&stderr=true")
    # It may work for so long without a word.
    assert sent[1] == 60 and sent[-1] == "closed"
    assert [part[:1] for part in sent[2:-1]] == [b"\0"] * 2
    assert b"".join(part[1:] for part in sent[2:-1]) == b"x" * 100000


def test_a_program_that_fails_has_its_exit_code(said):
    said[0].extend([(BINARY, b"\2no module"), exit_code(3)])
    assert run() == asking.Printed(b"", b"no module", 3)


@pytest.mark.parametrize("messages, words", [
    ([status(reason="InternalError", message="executable file not found")], "Pod n/p: executable file not found"),
    ([status()], "Pod n/p: HTTP 500"), ([(BINARY, b"\3no JSON")], "a status that is none"),
    ([(BINARY, b"\3[]")], "a status that is none"), ([exit_code("many")], "a status that is none"),
    ([status(reason="NonZeroExitCode")], "a status that is none"),
    ([(BINARY, b"\1one"), (CLOSE, b"")], "ended without a word of how the program has"),
    ([(TEXT, b"\1one")], "none of a program's"), ([(BINARY, b"")], "none of a program's"),
    ([(BINARY, b"\7abc")], "none of a program's"), ([], "the connection is lost: gone"),
    ([websocket.WebSocketTimeoutException("timed out")], "the connection is lost: timed out"),
    ([OSError("no end within 60 s")], "no end within 60 s")])
def test_what_is_no_end_of_a_program_is_an_error(said, messages, words):
    said[0].extend(messages)
    with pytest.raises(KubeError, match=words):
        run()
    assert said[1][-1] == "closed"


@pytest.mark.parametrize("stream", [b"\1", b"\2"])
def test_a_program_that_prints_without_an_end_is_left(said, monkeypatch, stream):
    monkeypatch.setattr(pod_exec, "_PRINTED_BYTES", 1024 ** 2)
    said[0].extend([(BINARY, stream + b"x" * 300_000)] * 4)
    with pytest.raises(KubeError, match="prints more than 1 MiB"):
        run()


# Which container is asked


DEPLOYMENT = {"metadata": {"namespace": "n"}, "spec": {"selector": {"matchLabels": {"b": "2", "a": "1"}}}}


def pod(name, phase="Running", ready="True", **metadata):
    return {"metadata": dict({"name": name}, **metadata), "spec": {"containers": [{"name": "first"}, {"name": "own"}]},
            "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}}


class Client:
    """What an API server has."""

    def __init__(self, *pods, **deployment):
        self.pods, self.found, self.asked = pods, deployment.get("found", DEPLOYMENT), []

    def get(self, _resource, *place):
        assert place == ("n", "ironic")
        return self.found

    def list(self, _resource, namespace, selector):
        self.asked.append((namespace, selector))
        return list(self.pods), "1"


def test_a_pod_that_is_ready_is_asked_in_the_container_that_kubectl_takes():
    client = Client(pod("a", phase="Succeeded"), pod("b", deletionTimestamp="now"), pod("c", ready="False"), pod("e"),
                    pod("d", annotations={"kubectl.kubernetes.io/default-container": "own"}))
    assert deployment_pod.container_of(client, "n", "ironic") == ("d", "own")
    assert client.asked == [("n", "a=1,b=2")]
    assert deployment_pod.container_of(Client(pod("c", ready="False")), "n", "ironic") == ("c", "first")


@pytest.mark.parametrize("client, words", [
    (Client(found=None), "Deployment n/ironic: found none"), (Client(), "found no pod that runs"),
    (Client(pod("a", phase="Pending")), "found no pod that runs"),
    # A selector without labels would be all pods of the namespace.
    (Client(pod("a"), found={"spec": {}}), "found no pod that runs")])
def test_without_a_pod_nobody_is_asked(client, words):
    with pytest.raises(KubeError, match=words):
        asking.ask([["tcp", "127.0.0.1", 1, 1]], deployment_pod.asked(client, "n", "ironic"))


def test_the_option_of_a_module_leads_to_its_kubeconfig_when_it_is_asked(tmp_path):
    assert deployment_pod.of_options(None) is None
    asked = deployment_pod.of_options({"kubeconfig": str(tmp_path / "none"), "context": None, "namespace": "n",
                                       "deployment": "ironic"})
    assert asked.place == "Deployment n/ironic"
    with pytest.raises(KubeError, match="found no file"):
        asked.run(b"")


# With a kubelet that runs the program


PLAIN = types.SimpleNamespace(verify_ssl=False, ssl_ca_cert=None, cert_file=None, key_file=None, tls_server_name=None,
                              proxy=None)
CONNECTION = types.SimpleNamespace(settings=PLAIN, generation=0, impersonation=[], authorization=lambda: None)
ACCEPTED = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Protocol: v4.channel.k8s.io\r\nSec-WebSocket-Accept: %s\r\n\r\n")


def frame(content):
    size = len(content)
    return b"\x82" + (bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")) + content


def message_of(stream):
    """Return the content of a client's message, which is masked."""
    size = stream.read(2)[1] & 127
    if size > 125:
        size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
    mask, content = stream.read(4), stream.read(size)
    return bytes(byte ^ mask[number % 4] for number, byte in enumerate(content))


@pytest.fixture
def kubelet():
    """Give the URL of an API server that runs one program, by this Python, whose input stays open."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection = listener.accept()[0]
        with connection, connection.makefile("rb") as stream:
            path = stream.readline().decode().split()[1]
            head = dict(line.decode().strip().split(": ", 1) for line in iter(stream.readline, b"\r\n"))
            key = head["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            connection.sendall(ACCEPTED % base64.b64encode(hashlib.sha1(key.encode()).digest()))
            command = parse_qs(urlsplit(path).query)["command"]
            left = int(command[-1])
            with subprocess.Popen([sys.executable, *command[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as program:
                while left:
                    content = message_of(stream)[1:]
                    program.stdin.write(content)
                    program.stdin.flush()
                    left -= len(content)
                printed, errors, code = program.stdout.read(), program.stderr.read(), program.wait(60)
            connection.sendall(frame(b"\1" + printed) + frame(b"\2" + errors[:60000]) + frame(
                (exit_code(code) if code else SUCCESS)[1]))
            # Until the other side ends it.
            with contextlib.suppress(OSError):
                stream.read(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    thread.join(10)


class Running(Client):
    """An API server with a pod that runs."""

    def __init__(self, url):
        super().__init__(pod("p"))
        self.url = url

    def execute(self, path, *given):
        assert path == "/api/v1/namespaces/n/pods/p"
        return pod_exec.run(CONNECTION, self.url, path, *given)


def test_questions_are_answered_by_the_python_of_a_container(kubelet):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    asked = deployment_pod.asked(Running(kubelet), "n", "ironic")
    # More than one message of the program, and characters of several bytes.
    questions = [["tcp", "127.0.0.1", port, 5],
                 *[["tcp", "ä" * 80 + f"{number}.invalid", 1, 5] for number in range(900)]]
    first, *others = asking.ask(questions, asked)
    assert first == {"reached": False, "words": "connection refused"}
    assert {answer["words"] for answer in others} == {"no address for that name"}


def test_what_a_containers_python_complains_of_is_kept(kubelet):
    printed = deployment_pod.asked(Running(kubelet), "n", "ironic").run(b"import sys\nsys.exit('no such thing')\n")
    assert printed == asking.Printed(b"", b"no such thing\n", 1)
