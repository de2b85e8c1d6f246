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
import sys
from pathlib import Path

import pytest
from processes import processes_of
from support import REPOSITORY, eventually

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
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    inodes.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    ports = set()
    for table, family, loopback in (("tcp", socket.AF_INET, "127.0.0.1"), ("tcp6", socket.AF_INET6, "::1")):
        for line in Path("/proc/net/" + table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] != "0A" or f"socket:[{fields[9]}]" not in inodes:
                continue
            ports.add(int(fields[1].partition(":")[2], 16))
            raw = bytes.fromhex(fields[1].partition(":")[0])
            packed = b"".join(raw[start:start + 4][::-1] for start in range(0, len(raw), 4))
            address = socket.inet_ntop(family, packed)
            assert address in (loopback, lab.figures["bridge"]["address"].partition("/")[0]), line
    # Only virtual servers boot from the network.
    used = dict((name, port) for name, port in lab.figures["ports"].items() if name != "network_boot")
    assert set(used.values()) <= ports


# Brings the lab up twice.
@pytest.mark.long
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The collection, built and installed as a user has it: a function that runs its playbooks, without make."""
    folder = tmp_path_factory.mktemp("installed")
    programs = Path(sys.executable).parent
    # Nothing of the checkout's, and nothing of what make gives the tests.
    environment = dict((key, value) for key, value in os.environ.items()
                       if not key.startswith(("ANSIBLE_", "METAL3_", "LAB", "MAKE", "MFLAGS", "PYTHON")))
    environment.update(ANSIBLE_COLLECTIONS_PATH=str(folder / "collections"),
                       PATH=f"{programs}:{os.environ['PATH']}")

    def run(*command, seconds, cwd=folder, **variables):
        return subprocess.run(command, cwd=cwd, env=dict(environment, **variables), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=seconds)

    built = run("ansible-galaxy", "collection", "build", "--output-path", str(folder), cwd=REPOSITORY, seconds=120)
    assert built.returncode == 0, built.stdout
    artifact, = folder.glob("metal3-baremetal-*.tar.gz")
    unpacked = run("ansible-galaxy", "collection", "install", "--no-deps", "--offline", "--collections-path",
                   str(folder / "collections"), str(artifact), seconds=120)
    assert unpacked.returncode == 0, unpacked.stdout
    inventory = folder / "collections" / "ansible_collections" / "metal3" / "baremetal" / "inventory" / "lab"
    return lambda playbook, **variables: run(
        "ansible-playbook", "metal3.baremetal." + playbook, "-i", str(inventory), seconds=1200, **variables)


@pytest.fixture
def second(lab):
    name = lab.name + "-2"
    yield name
    lab.make("lab-down", "LAB=" + name).ok()


@pytest.mark.long
def test_the_installed_collection_runs_a_second_lab_beside_the_first_and_leaves_nothing(
        lab, second, installed, tmp_path):
    """Without make, the checkout and the variables of either; the folder of the labs is given as a link."""
    (tmp_path / "labs").symlink_to(lab.dir.parent)
    environment = {"LAB": second, "LAB_SERVERS": "1", "LAB_CLUSTER": "none", "METAL3_LAB_HOME": str(tmp_path / "labs")}
    up = installed("lab", **environment)
    assert up.returncode == 0, up.stdout
    directory = lab.dir.parent / second
    figures = json.loads((directory / "lab.json").read_text())
    assert figures["index"] != lab.figures["index"]
    assert figures["dir"] == str(directory)
    assert processes_of(directory)
    wait_until_all_are_well(lab)
    down = installed("lab_down", **environment)
    assert down.returncode == 0, down.stdout
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


def test_a_bad_name_is_refused_with_an_exit_code(lab, installed):
    """Ansible only warns of an inventory that it can't read, runs the plays without hosts, and succeeds."""
    for target in ("lab", "lab-down", "lab-status", "lab-env"):
        lab.make(target, "LAB=Bad Name").failed("lab name 'Bad Name': expected a lower case letter")
    for variables in ({"LAB": "Bad Name"}, {"METAL3_LAB_HOME": "labs"}):
        refused = installed("lab_down", **variables)
        assert refused.returncode != 0 and "the inventory describes no lab" in " ".join(refused.stdout.split())
