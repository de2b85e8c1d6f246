# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab itself: status, environment, repair, a second one side by side, and that nothing is left of it."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
from pathlib import Path

import pytest
from processes import processes_of
from support import eventually

REAL = ("etcd", "kube-apiserver", "kube-controller-manager", "capi", "cabpk", "kcp", "capm3", "ipam", "bmo", "ironic")


def wait_until_all_are_well(lab):
    """Wait until every part answers; on a busy machine one may miss a question."""
    eventually(lambda: all(part["health"] == "ok" for part in lab.parts().values()), 60, "every part is well")


def test_every_part_is_up_and_says_what_it_is(lab):
    wait_until_all_are_well(lab)
    parts = lab.parts()
    assert set(REAL) <= set(parts)
    for name, part in parts.items():
        assert part["pid"], part
        assert part["kind"] == ("real" if name != "machine-room" else "simulated"), part
    table = lab.make("lab-status", "LAB=" + lab.name).ok().output
    for name in parts:
        assert name in table


def test_the_environment_is_enough_for_kubectl(lab):
    script = 'eval "$(make -s lab-env)" && kubectl get baremetalhosts -A -o json'
    answer = subprocess.run(["bash", "-euc", script], cwd=Path(__file__).parents[2], capture_output=True, text=True,
                            check=True, env=dict(os.environ, LAB=lab.name))
    assert sorted(item["metadata"]["name"] for item in json.loads(answer.stdout)["items"]) == sorted(lab.servers)


def test_the_environment_names_secrets_by_file_only(lab):
    exports = lab.make("lab-env", "LAB=" + lab.name).ok().output
    names = [line.partition("=")[0] for line in exports.splitlines()]
    assert {"export KUBECONFIG", "export OS_CLOUD"} <= set(names)
    assert all(name.startswith("export ") for name in names)
    password = (lab.dir / "secrets" / "ironic_password").read_text().strip()
    assert password not in exports


def test_secrets_are_readable_by_their_owner_only(lab):
    assert stat.S_IMODE(lab.dir.stat().st_mode) == 0o700
    for pattern in ("secrets/**/*", "pki/**/*.key", "kubeconfig", "kubeconfigs/*", "clouds.yaml"):
        found = [path for path in lab.dir.glob(pattern) if path.is_file()]
        assert found, pattern
        for path in found:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_nothing_listens_beyond_loopback_and_the_bridge(lab):
    inodes = set()
    for pid in processes_of(lab.dir):
        # Processes end meanwhile, and close what they had open.
        with contextlib.suppress(OSError):
            for descriptor in os.listdir("/proc/%d/fd" % pid):
                with contextlib.suppress(OSError):
                    inodes.add(os.readlink("/proc/%d/fd/%s" % (pid, descriptor)))
    ports = set()
    for table, family, loopback in (("tcp", socket.AF_INET, "127.0.0.1"), ("tcp6", socket.AF_INET6, "::1")):
        for line in Path("/proc/net/" + table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] != "0A" or "socket:[%s]" % fields[9] not in inodes:
                continue
            ports.add(int(fields[1].partition(":")[2], 16))
            raw = bytes.fromhex(fields[1].partition(":")[0])
            packed = b"".join(raw[start:start + 4][::-1] for start in range(0, len(raw), 4))
            address = socket.inet_ntop(family, packed)
            assert address in (loopback, lab.figures["bridge"]["address"].partition("/")[0]), line
    assert set(lab.figures["ports"].values()) <= ports


def test_a_half_dead_lab_is_repaired_with_its_hosts(lab):
    before = dict((name, host["metadata"]["uid"]) for name, host in lab.hosts().items())
    nodes = set(node.id for node in lab.nodes().values())
    parts = lab.parts()
    # The supervisor first, which would start the others again.
    os.kill(int((lab.dir / "supervisor" / "supervisord.pid").read_text()), signal.SIGKILL)
    for program in ("kube-apiserver", "ironic", "bmo", "machine-room", "image-server"):
        os.kill(parts[program]["pid"], signal.SIGKILL)
    lab.make("lab", "LAB=" + lab.name).ok()
    assert dict((name, host["metadata"]["uid"]) for name, host in lab.hosts().items()) == before
    assert set(node.id for node in lab.nodes().values()) == nodes
    wait_until_all_are_well(lab)
    again = lab.make("lab", "LAB=" + lab.name).ok()
    assert again.changed() == 0, again.output


@pytest.fixture
def second(lab):
    name = lab.name + "-2"
    yield name
    lab.make("lab-down", "LAB=" + name).ok()


def test_a_second_lab_runs_beside_the_first_and_leaves_nothing(lab, second):
    lab.make("lab", "LAB=" + second, environment={"LAB_SERVERS": "1"}).ok()
    directory = lab.dir.parent / second
    figures = json.loads((directory / "lab.json").read_text())
    assert figures["index"] != lab.figures["index"]
    assert processes_of(directory)
    wait_until_all_are_well(lab)
    lab.make("lab-down", "LAB=" + second).ok()
    assert not processes_of(directory)
    assert not directory.exists()
    for port in figures["ports"].values():
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    assert str(directory) not in Path("/proc/mounts").read_text()
    assert not Path("/sys/class/net", figures["bridge"]["name"]).exists()
    again = lab.make("lab-down", "LAB=" + second).ok()
    assert again.changed() == 0
