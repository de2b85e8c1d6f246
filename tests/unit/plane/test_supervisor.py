# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import contextlib
import http.server
import os
import shutil
import socket
import subprocess
import threading
from http.client import BadStatusLine
from xmlrpc.client import Fault

import pytest
from fakes.slow_server import slow_server

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import status
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import layout as lab_layout
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    readiness,
    supervisor,
    supervisor_files,
)


@pytest.fixture
def layout(tmp_path):
    # Short, for the path of its socket.
    made = supervisor_files.Layout(str(tmp_path / "s"))
    supervisor.Supervisor(made).write_config()
    return made


def program(**changes):
    return dict({"name": "etcd", "command": ["/bin/etcd", "--name=a b", "--share=50%"], "environment": {}}, **changes)


def test_program_config_quotes(layout):
    text = supervisor_files.program_config(layout, program(environment={"A": 'say "50%"\\', "N": 3}))
    assert "command=/bin/etcd '--name=a b' --share=50%%\n" in text
    assert 'environment=A="say \\"50%%\\"\\\\",METAL3_LAB_DIR="' in text and 'N="3"' in text


@pytest.mark.parametrize("changes", [
    {"name": "Etcd"}, {"name": "a:b"}, {"name": ""}, {"environment": {"A": "1\n2"}}, {"command": ["a\nb"]},
    {"name": "etcd\n"}, {"environment": {"A": "1\r2"}}, {"command": ["a\rb"]}])
def test_what_the_config_cannot_hold_is_refused(layout, changes):
    with pytest.raises(supervisor_files.SupervisorError):
        supervisor_files.program_config(layout, program(**changes))


def test_a_value_that_the_config_cannot_hold_is_not_shown(layout):
    """It may be a password or a key."""
    with pytest.raises(supervisor_files.SupervisorError, match="program etcd: environment variable LOGIN: ") as error:
        supervisor_files.program_config(layout, program(environment={"LOGIN": "hidden-word\nhidden-word"}))
    assert "hidden" not in str(error.value)


def test_a_program_is_written_when_it_or_its_files_change(layout, tmp_path):
    watched = tmp_path / "ca.crt"
    wanted = program(restart_on=[str(watched)], ready={"tcp": "127.0.0.1:1"})
    assert supervisor_files.write_program(layout, wanted, check_mode=True)
    assert supervisor_files.configured(layout) == {}
    assert supervisor_files.write_program(layout, wanted)
    assert not supervisor_files.write_program(layout, wanted)
    watched.write_text("new")
    assert supervisor_files.write_program(layout, wanted)
    assert supervisor_files.configured(layout) == {"etcd": {"tcp": "127.0.0.1:1"}}
    for path in (layout.config, layout.program_file("etcd")):
        assert os.stat(path).st_mode & 0o077 == 0
    assert supervisor_files.remove_program(layout, "etcd")
    assert not supervisor_files.remove_program(layout, "etcd")
    assert supervisor_files.configured(layout) == {}


def test_a_socket_path_that_is_too_long_is_refused(tmp_path):
    long = supervisor_files.Layout("/" + "x" * 90 + "/supervisor")
    with pytest.raises(supervisor_files.SupervisorError, match="choose a shorter folder"):
        long.check()


def test_without_supervisord(layout):
    daemon = supervisor.Supervisor(layout)
    assert not daemon.alive()
    assert daemon.processes() == {}
    assert daemon.pid() is None
    assert daemon.shutdown(1) is False


def test_only_what_is_named_is_restarted(layout, monkeypatch):
    """What a killed run has configured of another program may be one that works on hosts."""
    done = []

    def call(_self, method, *arguments):
        done.append((method.partition(".")[2], *arguments))
        return [[["new", "other-new"], ["etcd", "ironic"], ["gone", "other-gone"]]]

    monkeypatch.setattr(supervisor.Supervisor, "_call", call)
    daemon = supervisor.Supervisor(layout)
    assert daemon.pending() == {"gone": "stopped", "other-gone": "stopped", "etcd": "restarted", "ironic": "restarted",
                                "new": "started", "other-new": "started"}
    assert done == [("reloadConfig",)]
    assert daemon.reload(["new", "etcd", "gone"]) == {
        "gone": "stopped", "other-gone": "stopped", "etcd": "restarted", "new": "started", "other-new": "started"}
    assert [call for call in done[2:] if "Process" in call[0]] == [
        ("stopProcessGroup", "gone"), ("removeProcessGroup", "gone"), ("stopProcessGroup", "other-gone"),
        ("removeProcessGroup", "other-gone"), ("stopProcessGroup", "etcd"), ("removeProcessGroup", "etcd"),
        ("addProcessGroup", "etcd"), ("addProcessGroup", "new"), ("addProcessGroup", "other-new")]


def test_programs_are_stopped_that_supervisord_knows(layout, monkeypatch):
    done = []

    def call(_self, *arguments):
        done.append(arguments)
        return [{"name": "etcd"}, {"name": "ironic"}]

    monkeypatch.setattr(supervisor.Supervisor, "_call", call)
    supervisor.Supervisor(layout).stop_programs(["ironic", "unknown"])
    assert done[1:] == [("supervisor.stopProcessGroup", "ironic")]


def refusing(monkeypatch, errors, done=None):
    """Let supervisord answer with errors, by the name of what is asked for."""
    def call(_self, method, *arguments):
        name = method.partition(".")[2]
        if done is not None:
            done.append(name)
        if name in errors:
            raise errors[name]
        return [[["new"], ["etcd"], []]]

    monkeypatch.setattr(supervisor.Supervisor, "_call", call)


def test_what_another_run_has_done_meanwhile_is_done(layout, monkeypatch):
    refusing(monkeypatch, {"stopProcessGroup": Fault(10, "BAD_NAME: etcd"), "removeProcessGroup": Fault(10, "BAD_NAME"),
                           "addProcessGroup": Fault(90, "ALREADY_ADDED: new")})
    assert supervisor.Supervisor(layout).reload(["etcd"]) == {"etcd": "restarted", "new": "started"}


@pytest.mark.parametrize("name, error, said", [
    ("reloadConfig", Fault(92, "CANT_REREAD: a section"), "programs are not read: CANT_REREAD: a section; see whether"),
    ("removeProcessGroup", Fault(91, "STILL_RUNNING: etcd"), "program etcd is not removed: STILL_RUNNING: etcd; see"),
    ("addProcessGroup", ConnectionRefusedError(111, "refused"), "program etcd is not added: supervisord does not"),
    ("stopProcessGroup", BadStatusLine("x"), "program etcd does not stop: supervisord does not answer on .*sock"),
    ("stopProcessGroup", TimeoutError("timed out"), r"does not answer on .* \(timed out\); see its log .*log, ")
], ids=["unread", "running", "refused", "garbage", "late"])
def test_what_supervisord_refuses_or_leaves_unanswered_is_reported(layout, monkeypatch, name, error, said):
    refusing(monkeypatch, {name: error})
    with pytest.raises(supervisor_files.SupervisorError, match=said):
        supervisor.Supervisor(layout).reload(["etcd"])


def test_nothing_is_known_of_programs_while_supervisord_shuts_down(layout, monkeypatch):
    refusing(monkeypatch, {"getAllProcessInfo": Fault(6, "SHUTDOWN_STATE")})
    assert supervisor.Supervisor(layout).processes() == {}


def test_programs_are_stopped_side_by_side_before_supervisord(layout, monkeypatch):
    """It stops one after the other, each within seconds of its own, which its own end does not wait for."""
    done = []
    refusing(monkeypatch, {"stopAllProcesses": Fault(6, "SHUTDOWN_STATE"), "getPID": Fault(6, "SHUTDOWN_STATE")}, done)
    assert supervisor.Supervisor(layout).shutdown(1) is True
    assert done == ["getPID", "stopAllProcesses", "shutdown"]


def test_last_lines(tmp_path):
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n" for number in range(10000)))
    assert supervisor_files.last_lines(str(path), 2) == ["line 9998", "line 9999"]
    assert supervisor_files.last_lines(str(tmp_path / "none")) == []
    path.write_text("x" * 9000)
    assert supervisor_files.last_lines(str(path)) == ["x" * supervisor_files.LINE_LIMIT]


@pytest.fixture
def server():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            login = self.headers["Authorization"] == "Basic " + base64.b64encode(b"user:word").decode()
            self.send_response(401 if self.path == "/login" and not login else 503 if self.path == "/" else 200)
            self.end_headers()
            self.wfile.write({"/login": b'{"drivers": [{}]}', "/idle": b'{"drivers": []}'}.get(self.path, b"ok"))

        def log_message(self, format, *args):
            """Keep quiet."""

    made = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


def test_readiness(server, tmp_path):
    assert readiness.fault({}) is None
    assert readiness.fault({"tcp": server, "url": f"http://{server}/ok", "file": str(tmp_path)}) is None
    assert "HTTP 503, expected 200" in readiness.fault({"url": f"http://{server}/"})
    assert readiness.fault({"url": f"http://{server}/", "status": [200, 503]}) is None
    assert "missing" in readiness.fault({"file": str(tmp_path / "none")})
    assert readiness.faults({"a": {"tcp": server}, "b": {"file": "/nonexistent"}}) == {"b": "/nonexistent: missing"}


def test_readiness_by_what_an_answer_holds(server, tmp_path):
    for name, text in (("username", "user"), ("password", "word\n"), ("wrong", "other\n")):
        (tmp_path / name).write_text(text)
    check = {"url": f"http://{server}/login", "holds": "drivers", "username_file": str(tmp_path / "username"),
             "password_file": str(tmp_path / "password")}
    assert readiness.fault(check) is None
    assert "HTTP 401" in readiness.fault(dict(check, password_file=str(tmp_path / "wrong")))
    assert "No such file" in readiness.fault(dict(check, password_file=str(tmp_path / "none")))
    assert readiness.fault(dict(check, url=f"http://{server}/idle")) == f"http://{server}/idle: drivers is empty"
    assert "not a JSON object" in readiness.fault(dict(check, url=f"http://{server}/ok"))


def endless(connection):
    with contextlib.suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)


@pytest.mark.parametrize("answer, found", [
    (lambda connection: connection.sendall(b"\x15\x03\x01\x00\x02\x02F"), "http"),
    (lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), "not a JSON object"),
    (endless, "not a JSON object")], ids=["no HTTP", "cut", "endless"])
def test_what_answers_in_a_programs_place_neither_ends_a_run_nor_keeps_it_waiting(monkeypatch, answer, found):
    """Its port may have been taken since it was looked at, and a program may end while it answers."""
    monkeypatch.setattr(readiness, "_ANSWER_SECONDS", 0.5)

    def serve():
        connection, _address = listener.accept()
        with connection:
            connection.recv(4096)
            answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        assert found in readiness.faults({"bmo": {"url": url, "holds": "x"}})["bmo"]
        thread.join()


def test_an_answer_that_comes_byte_by_byte_keeps_no_run_waiting(monkeypatch):
    monkeypatch.setattr(readiness, "_ANSWER_SECONDS", 0.5)
    with slow_server(b"HTTP/1.1 200 OK\r\n\r\n", b"x") as url:
        assert "no complete answer within" in readiness.faults({"bmo": {"url": url, "holds": "x"}})["bmo"]


def test_waiting_ends_for_each_program_at_its_own_time(tmp_path):
    times = iter(range(100))
    missing = {"file": str(tmp_path / "none")}
    failed = readiness.wait(
        {"patient": dict(missing, timeout_seconds=3), "hasty": dict(missing, timeout_seconds=1)},
        clock=lambda: next(times))
    assert set(failed) == {"patient", "hasty"}
    assert readiness.wait({"lost": missing}, lambda: ["lost"]) == {"lost": missing["file"] + ": missing"}


def test_the_table_shows_what_is_down():
    lab = lab_layout("lab", 0, {"HOME": "/h"})
    checks = {"etcd": {}, "machine-room": {}, "other": {"tcp": "127.0.0.1:5"}}
    states = {"etcd": {"statename": "RUNNING", "pid": 7, "start": 1}, "machine-room": {"statename": "FATAL", "pid": 0},
              "other": {"statename": "RUNNING", "pid": 8, "start": 1}}
    rows = status.program_parts(lab, checks, states, {"other": "refused"})
    assert [(row["program"], row["kind"], row["pid"], row["address"], row["health"]) for row in rows] == [
        ("etcd", "real", 7, "127.0.0.1:21000", "ok"),
        ("machine-room", "simulated", None, "127.0.0.1:21014", "fatal"),
        ("other", "real", 8, "127.0.0.1:5", "refused"),
    ]
    servers = status.server_parts(lab, [{"name": "server-01"}], rows[1])
    assert servers[0]["kind"] == "simulated" and servers[0]["health"] == "fatal"
    lines = status.table(rows + servers)
    assert lines[0].split() == list(status.COLUMNS)
    assert len(lines) == 5


def test_exports_are_shell(tmp_path):
    lab = dict(lab_layout("lab", 0, {"HOME": str(tmp_path / "a b")}), engine_dir=str(tmp_path / "c d"))
    script = "\n".join(status.exports(lab)) + '\nprintf "%s\\n%s" "$KUBECONFIG" "${PATH%%:*}"'
    printed = subprocess.run([shutil.which("bash"), "-euc", script], check=True, capture_output=True, text=True).stdout
    assert printed.split("\n") == [lab["dir"] + "/kubeconfig", str(tmp_path / "c d" / "bin")]
