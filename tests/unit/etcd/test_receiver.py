# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that waits on a machine for etcd's data, run as a machine runs it."""
from __future__ import annotations

import contextlib
import copy
import datetime
import hashlib
import inspect
import io
import os
import socket
import ssl
import subprocess
import sys
import tarfile
import threading

import pytest
from fakes.restored_plane import merged

from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import etcd_receiver
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import delivery, receiver
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import certificates

NO_CHECK_TIME = 0x200000


def data(folder, name="data.tar.gz", content=b"database"):
    path = folder / name
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("member/snap/db")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    sent, keys = path.read_bytes(), folder / f"keys-of-{name}"
    keys.mkdir()
    return delivery.with_identity(str(path), len(sent), hashlib.sha256(sent).hexdigest(), str(keys))


def free_port():
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as found:
        return found.getsockname()[1]


class Machine:
    """A machine that waits."""

    def __init__(self, folder, given):
        self.target, self.port = folder / "etcd", free_port()
        files = folder / "run"
        files.mkdir()
        (files / receiver.PROGRAM).write_text(inspect.getsource(etcd_receiver))
        (files / receiver.CERTIFICATE).write_bytes(given.certificate)
        (files / receiver.KEY).write_bytes(given.key)
        self.process = subprocess.Popen(
            [sys.executable, str(files / receiver.PROGRAM), str(self.port), str(given.size), given.sha256,
             str(self.target)], stderr=subprocess.DEVNULL)

    def send(self, given):
        """Send as a restore does, as soon as the machine listens."""
        said = "refused"
        while "refused" in said.lower() and self.process.poll() is None and "has refused" not in said:
            said = delivery.is_sent(given, "127.0.0.1", self.port)
        return said


@pytest.fixture
def given(tmp_path):
    return data(tmp_path)


@pytest.fixture
def machine(tmp_path, given):
    found = Machine(tmp_path, given)
    yield found
    found.process.kill()
    found.process.wait()


def test_the_machine_takes_the_data_and_goes_on(machine, given):
    assert machine.send(given) == "" and machine.process.wait(10) == 0
    assert (machine.target / "member" / "snap" / "db").read_bytes() == b"database"
    assert os.listdir(machine.target) == ["member"] and os.stat(machine.target).st_mode & 0o777 == 0o700


def test_other_data_is_refused_and_the_machine_waits_on(machine, given, tmp_path):
    other = data(tmp_path, "other.tar.gz", b"databasf")
    assert "has refused the data" in machine.send(given._replace(path=other.path))
    # Who only looks whether somebody is there.
    socket.create_connection(("127.0.0.1", machine.port)).close()
    assert machine.process.poll() is None and not (machine.target / "member").exists()
    assert machine.send(given) == "" and machine.process.wait(10) == 0


def silent(port, count):
    """Connect as a load balancer does that only keeps a connection."""
    found = []
    while len(found) < count:
        with contextlib.suppress(ConnectionRefusedError):
            found.append(socket.create_connection(("127.0.0.1", port), timeout=5))
    return found


@pytest.mark.parametrize("count", [1, 80])
def test_who_connects_and_says_nothing_keeps_nobody_from_sending(machine, given, count):
    """80 are more than the machine keeps."""
    strays = silent(machine.port, count)
    try:
        assert machine.send(given) == "" and machine.process.wait(10) == 0
    finally:
        for stray in strays:
            stray.close()


def test_who_says_a_byte_at_a_time_keeps_nobody_from_sending(machine, given):
    stray, = silent(machine.port, 1)
    ended = threading.Event()

    def trickle():
        # A record of TLS that never becomes whole.
        with contextlib.suppress(OSError):
            stray.sendall(b"\x16\x03\x01\x40\x00")
            while not ended.wait(0.05):
                stray.sendall(b"\x00")
    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        assert machine.send(given) == "" and machine.process.wait(10) == 0
    finally:
        ended.set()
        thread.join()
        stray.close()


def answer_to(machine, given, identity):
    """Return what the machine answers to who sends the right bytes, and takes a certificate for valid at all times."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= NO_CHECK_TIME
    context.load_verify_locations(cadata=given.certificate.decode())
    if identity:
        context.load_cert_chain(identity)
    with contextlib.suppress(OSError), silent(machine.port, 1)[0] as connection, \
            context.wrap_socket(connection) as stream, open(given.path, "rb") as archive:
        stream.sendall(archive.read())
        return stream.recv(len(receiver.ANSWER))
    return b""


def test_only_who_has_the_restores_key_may_send(machine, given, tmp_path):
    """A stranger with the right bytes, and one with a key of its own."""
    other = data(tmp_path, "other.tar.gz")
    assert [answer_to(machine, given, identity) for identity in (None, other.identity)] == [b"", b""]
    assert machine.process.poll() is None and not (machine.target / "member").exists()
    assert answer_to(machine, given, given.identity) == receiver.ANSWER


@pytest.mark.parametrize("host", ["a" * 64, "a..example"])
def test_what_is_no_address_is_only_said(given, host):
    """Addresses of a Machine are what others have written; the machines of before are deleted by then."""
    assert delivery.is_sent(given, host, 6443).startswith(f"{host} port 6443: ")


def test_a_machine_whose_clock_is_wrong_takes_the_data(tmp_path, monkeypatch):
    """To such a machine the certificate is not valid yet, or any more."""
    monkeypatch.setattr(certificates, "_now", lambda: datetime.datetime(1990, 1, 1, tzinfo=datetime.timezone.utc))
    given = data(tmp_path)
    found = Machine(tmp_path, given)
    try:
        assert answer_to(found, given, given.identity) == receiver.ANSWER and found.process.wait(10) == 0
    finally:
        found.process.kill()
        found.process.wait()


def test_nobody_without_the_machines_key_gets_the_data(machine, given):
    other = given._replace(certificate=certificates.self_signed(["etcd-restore.invalid"])[1])
    assert "CERTIFICATE_VERIFY_FAILED" in machine.send(other)
    assert machine.process.poll() is None


def test_a_machine_that_has_the_data_waits_for_nothing(tmp_path, given):
    (tmp_path / "etcd" / "member").mkdir(parents=True)
    assert Machine(tmp_path, given).process.wait(10) == 0


def test_what_has_no_room_is_waited_for_on(tmp_path, given):
    """A folder that cannot be written to."""
    (tmp_path / "etcd").mkdir()
    (tmp_path / "etcd" / "restore.tar.gz").mkdir()
    found = Machine(tmp_path, given)
    try:
        assert found.send(given) != "" and found.process.poll() is None
        (tmp_path / "etcd" / "restore.tar.gz").rmdir()
        assert found.send(given) == "" and found.process.wait(10) == 0
    finally:
        found.process.kill()
        found.process.wait()


DESCRIBED = {"initConfiguration": {"nodeRegistration": {"name": "n"}}}


@pytest.mark.parametrize("spec", [
    DESCRIBED,
    dict(DESCRIBED, files=[{"path": "/etc/own"}], preKubeadmCommands=["own"]),
    dict(DESCRIBED, initConfiguration={"nodeRegistration": {"name": "n", "ignorePreflightErrors": ["Swap"]}})])
def test_a_kubeadm_config_is_what_it_was_afterwards(spec):
    config = {"spec": copy.deepcopy(spec)}
    assert receiver.without_receiver(config, spec) is None
    changed = merged(config, receiver.with_receiver(config, "prod", "prod-a", 7, "ab"))
    command = changed["spec"]["preKubeadmCommands"][-1]
    assert changed["spec"] != spec and command.endswith(" 7 ab /var/lib/etcd; do sleep 5; done")
    assert merged(changed, receiver.without_receiver(changed, spec)) == {"spec": spec}


@pytest.mark.parametrize(("path", "found"), [
    (None, "/var/lib/etcd"), ("/srv/etcd-1.data", "/srv/etcd-1.data"), ("/", None), ("etcd", None), ("/a b", None),
    ("/a/../b", None), ("/a;b", None), ("/a\n", None), (7, None)])
def test_only_a_plain_folder_becomes_a_part_of_a_command(path, found):
    assert receiver.data_dir({"clusterConfiguration": {"etcd": {"local": {"dataDir": path}}}}) == found


def test_the_folder_and_the_port_are_those_of_the_cluster():
    spec = dict(DESCRIBED, clusterConfiguration={"etcd": {"local": {"dataDir": "/srv/etcd"}}},
                initConfiguration={"localAPIEndpoint": {"bindPort": 443}})
    patch = receiver.with_receiver({"spec": spec}, "prod", "prod-a", 7, "ab")["spec"]
    assert " 443 7 ab /srv/etcd; " in patch["preKubeadmCommands"][0]
    assert patch["initConfiguration"]["nodeRegistration"]["ignorePreflightErrors"] == ["DirAvailable--srv-etcd"]
