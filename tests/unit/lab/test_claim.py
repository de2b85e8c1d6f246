# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import errno
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import claim, credentials, host_limits, removal
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import layout
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans, ports
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.figures import FiguresError
from ansible_collections.metal3.baremetal.plugins.modules import lab as lab_module

ENGINE = Path(__file__).resolve().parents[3] / "lab" / "engine"


@pytest.fixture
def environ(tmp_path):
    return {"METAL3_LAB_HOME": str(tmp_path / "labs"), "HOME": str(tmp_path)}


@pytest.fixture(autouse=True)
def free_machine(monkeypatch):
    monkeypatch.setattr(claim, "networks", list)
    monkeypatch.setattr(claim, "network_devices", list)
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses=None: {})
    monkeypatch.setattr(orphans, "lab_dirs", set)
    # Those of this machine are what its labs need.
    monkeypatch.setattr(host_limits, "restore", list)
    # A lab of this machine may have the index that a test's lab gets; its bridge and its nodes are to stay.
    monkeypatch.setattr(orphans, "clear", lambda figures: [])


def ensure(name, environ, **options):
    return claim.ensure(name, {"engine_dir": "/e"}, lambda lab: [], environ, **options)


def test_labs_get_the_lowest_free_index_and_keep_it(environ, tmp_path):
    assert ensure("one", environ)[0]["index"] == 0
    assert ensure("two", environ)[0]["index"] == 1
    assert ensure("one", environ) == (ensure("one", environ)[0], [], [])
    removal.remove("one", environ)
    assert ensure("three", environ)[0]["index"] == 0
    assert ensure("two", environ)[0]["index"] == 1
    lab_file = tmp_path / "labs" / "two" / "lab.json"
    assert stat.S_IMODE(lab_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(lab_file.parent.stat().st_mode) == 0o700
    assert json.loads(lab_file.read_text())["engine_dir"] == "/e"


def test_limits_of_the_machine_go_back_with_the_last_lab(environ, tmp_path, monkeypatch):
    monkeypatch.setattr(host_limits, "restore", lambda: ["raised limit"])
    ensure("one", environ)
    ensure("two", environ)
    assert "raised limit" not in removal.remove("one", environ)
    broken = tmp_path / "labs" / "three"
    broken.mkdir()
    (broken / "lab.json").write_text("{")
    assert "raised limit" not in removal.remove("two", environ)
    assert "raised limit" in removal.remove("three", environ)


def test_check_mode_writes_nothing(environ, tmp_path):
    assert ensure("one", environ, check_mode=True)[2] == ["lab.json", "servers.json"]
    assert not (tmp_path / "labs" / "one").exists()


def test_labs_that_run_elsewhere_keep_their_index(environ, tmp_path, monkeypatch):
    elsewhere = dict(environ, METAL3_LAB_HOME=str(tmp_path / "elsewhere"))
    running = ensure("one", elsewhere)[0]["dir"]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "lab.json").write_text("{")
    monkeypatch.setattr(orphans, "lab_dirs", lambda: {running, str(tmp_path / "gone"), str(tmp_path / "broken")})
    assert ensure("one", environ)[0]["index"] == 1
    # Its own processes are no other lab's.
    monkeypatch.setattr(orphans, "lab_dirs", lambda: {str(tmp_path / "labs" / "one")})
    removed = removal.remove("one", environ)
    assert removed == [f"folder {tmp_path / 'labs' / 'one'}"]
    assert ensure("one", environ)[0]["index"] == 0


def test_folders_are_made_once_for_their_owner_only(tmp_path):
    directory = str(tmp_path)
    assert claim.ensure_folders(directory, check_mode=True) == claim.ensure_folders(directory) != []
    assert claim.ensure_folders(directory) == []
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")} == {0o700}


def test_what_is_in_the_way_is_passed_by(environ, monkeypatch):
    taken = {layout("x", 0, environ)["ports"]["ironic"]}
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses=None: dict(
        (part, port) for part, port in wanted.items() if port in taken))
    assert ensure("one", environ)[0]["index"] == 1


def test_another_process_on_a_labs_port_is_named(environ, monkeypatch):
    figures = ensure("one", environ)[0]
    port = figures["ports"]["ironic"]
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses=None: {"ironic": port})
    monkeypatch.setattr(ports, "holders_of", lambda places: {place: {os.getpid()} for place in places})
    with pytest.raises(FiguresError, match=fr"port {port} \(ironic\) is taken by pid {os.getpid()} \("):
        ensure("one", environ)


def test_a_broken_file_is_named(environ, tmp_path):
    ensure("one", environ)
    (tmp_path / "labs" / "one" / "lab.json").write_text("{")
    with pytest.raises(FiguresError, match=r"lab\.json: not JSON"):
        ensure("one", environ)
    assert removal.remove("one", environ) == [f"folder {tmp_path / 'labs' / 'one'}"]


@pytest.mark.parametrize("name", ["../x", "X", "", "a" * 21])
def test_removal_refuses_names_that_are_none(name, environ):
    with pytest.raises(ValueError, match="lab name"):
        removal.remove(name, environ)


def test_networks_of_this_machine(monkeypatch):
    """As the kernel writes them, each address backwards; the default route says nothing."""
    monkeypatch.undo()
    routes = "\n".join(["Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT",
                        "eth0 00000000 0100000A 0003 0 0 0 00000000 0 0 0",
                        "eth0 0000000A 00000000 0001 0 0 0 000000FF 0 0 0",
                        "br-1 000012C6 00000000 0001 0 0 0 0000FEFF 0 0 0"])
    monkeypatch.setattr(claim, "open", lambda *_arguments, **_options: io.StringIO(routes), raising=False)
    assert [(device, str(network)) for device, network in claim.networks()] == [
        ("eth0", "10.0.0.0/8"), ("br-1", "198.18.0.0/15")]


def test_processes_of_a_lab_are_found_and_ended(tmp_path, monkeypatch):
    monkeypatch.undo()
    lab_dir = str(tmp_path / "lab")
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    mine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=dict(os.environ, METAL3_LAB_DIR=lab_dir))
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env=dict(os.environ, METAL3_LAB_DIR=lab_dir + "-2"))
    try:
        for process in (mine, other):
            process.stdout.readline()
        assert orphans.processes(lab_dir) == [mine.pid]
        assert {lab_dir, lab_dir + "-2"} <= orphans.lab_dirs()
        # The test is their parent, so that they stay as zombies until asked for.
        os.kill(mine.pid, 15)
        assert mine.wait(10) == -15
        assert orphans.stop_processes(lab_dir) == []
        assert other.poll() is None
    finally:
        for process in (mine, other):
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def without_pidfd(_pid):
    raise OSError(errno.ENOSYS, "Function not implemented")


@pytest.mark.parametrize("pidfd_open", [os.pidfd_open, without_pidfd])
def test_an_id_that_another_process_has_by_now_gets_no_signal(tmp_path, monkeypatch, pidfd_open):
    monkeypatch.undo()
    monkeypatch.setattr(orphans.os, "pidfd_open", pidfd_open)
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    lab_dir, started = str(tmp_path / "lab"), []
    try:
        for folder in (lab_dir, str(tmp_path / "other")):
            started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            env=dict(os.environ, METAL3_LAB_DIR=folder)))
            started[-1].stdout.readline()
        mine, other = started
        ended = subprocess.Popen(["true"])
        ended.wait()
        # As they were found a moment ago, and nothing when it is looked for again.
        looks = [[ended.pid, mine.pid, other.pid], []]
        monkeypatch.setattr(orphans, "processes", lambda _lab_dir: looks.pop(0))
        orphans.stop_processes(lab_dir)
        assert mine.wait(10) == -15 and other.poll() is None
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def test_mounts_innermost_first(tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text("".join(f"1 2 0:1 / {point} rw - tmpfs x rw\n" for point in (
        "/labs/lab/a", "/labs/lab/a/b\\040c", "/labs/lab2", "/labs/lab")))
    assert orphans.mounts("/labs/lab", str(table)) == ["/labs/lab", "/labs/lab/a/b c", "/labs/lab/a"]


def test_loop_devices(tmp_path):
    for number, backing in ((0, "/labs/lab/machines/disk"), (1, "/labs/lab2/disk")):
        (tmp_path / (f"loop{number}") / "loop").mkdir(parents=True)
        (tmp_path / (f"loop{number}") / "loop" / "backing_file").write_text(backing + "\n")
    assert orphans.loop_devices("/labs/lab", str(tmp_path)) == ["/dev/loop0"]


def test_devices_of_the_bridge(tmp_path):
    (tmp_path / "m3lab0" / "brif" / "m3lab0-01").mkdir(parents=True)
    assert orphans.links("m3lab0", str(tmp_path)) == ["m3lab0-01", "m3lab0"]
    assert orphans.links("m3lab1", str(tmp_path)) == []
    for name in ("m3lab0-server-01", "m3lab01-x", "other"):
        (tmp_path / "netns" / name).mkdir(parents=True)
    assert orphans.network_namespaces("m3lab0-", str(tmp_path / "netns")) == ["m3lab0-server-01"]


def test_the_machine_rooms_token_is_chosen_once(tmp_path):
    path = tmp_path / "secrets" / "machine_room_token"
    assert credentials.ensure_machine_room(str(tmp_path), check_mode=True) == [str(path)]
    assert not path.exists()
    assert credentials.ensure_machine_room(str(tmp_path)) == [str(path)]
    token = path.read_text()
    assert len(token) == 40 and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert credentials.ensure_machine_room(str(tmp_path)) == []
    assert path.read_text() == token


def test_credentials_are_chosen_once(tmp_path):
    bmc = dict((field, str(tmp_path / "bmc" / field)) for field in ("username_file", "password_file"))
    assert len(credentials.ensure_bmc([{"bmc": bmc}], check_mode=True)) == 2
    assert not (tmp_path / "bmc").exists()
    assert len(credentials.ensure_bmc([{"bmc": bmc}])) == 2
    password = (tmp_path / "bmc" / "password_file").read_text()
    assert len(password) == 20 and stat.S_IMODE((tmp_path / "bmc" / "password_file").stat().st_mode) == 0o600
    assert credentials.ensure_bmc([{"bmc": bmc}]) == []
    assert (tmp_path / "bmc" / "password_file").read_text() == password


def module_run(capsys, tmp_path, **arguments):
    with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
        lab_module.main()
    return json.loads(capsys.readouterr().out)


def test_a_failed_run_of_the_module_lists_the_files_that_stay(environ, tmp_path, capsys, monkeypatch):
    for key, value in environ.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(credentials, "ensure_registry", refuse)
    given = {"name": "one", "source_dir": str(ENGINE), "services_python": sys.executable}
    answer = module_run(capsys, tmp_path, **given)
    assert answer["failed"] and answer["changed"] is True and "read-only" in answer["msg"]
    names = [(os.path.basename(entry["object"]), entry["action"]) for entry in answer["written"]]
    assert ("lab.json", "created") in names and ("machine_room_token", "created") in names
    assert [entry for entry in answer["written"] if not os.path.exists(entry["object"])] == []
    again = module_run(capsys, tmp_path, **given)
    assert again["failed"] and again["changed"] is False and "written" not in again

    monkeypatch.setattr(host_limits, "restore", refuse)
    gone = module_run(capsys, tmp_path, name="one", state="absent")
    assert gone["failed"] and gone["changed"] is True
    assert gone["written"] == [{"object": f"folder {tmp_path}/labs/one", "action": "deleted"}]


def refuse(*dummy, **dummy2):
    raise OSError("read-only file system")
