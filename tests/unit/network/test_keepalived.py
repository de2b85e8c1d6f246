# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane's address by keepalived: what is refused, what is written, and two real ones that hold it in turn."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import jinja2
import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._network import keepalived, keepalived_service, systems

TEMPLATE = pathlib.Path(__file__).parents[3] / "roles" / "provisioning_network" / "templates" / "keepalived.service.j2"
GOOD = {"name": "prov", "address": "172.22.0.2/24", "own_address": "172.22.0.11/24", "machines": ["first", "second"],
        "machine": "first", "virtual_router_id": 51, "peers": [], "check_ports": [6385], "keepalived": "keepalived"}


def options(**changes):
    return dict(GOOD, **changes)


def unshared(*command):
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return subprocess.run(["unshare", *own, "--net", *command], capture_output=True, text=True, timeout=300,
                          check=False, env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))


@pytest.mark.parametrize(("changes", "field"), [
    ({"name": "a b"}, "name"), ({"name": "prov\n}"}, "name"), ({"address": "172.22.0.2"}, "address"),
    ({"address": "172.22.1.2/24"}, "address"), ({"address": "172.22.0.11/24"}, "address"),
    ({"address": "172.22.0.2/25"}, "address"), ({"own_address": ""}, "own_address"),
    ({"address": "fd00::2/64"}, "address"), ({"virtual_router_id": 0}, "virtual_router_id"),
    ({"virtual_router_id": 256}, "virtual_router_id"), ({"machine": "third"}, "machine"),
    ({"machines": [str(number) for number in range(11)], "machine": "1"}, "machines"),
    ({"machines": ["first", "first"]}, "machines"), ({"peers": ["172.22.0.11"]}, "peers[0]"),
    ({"peers": ["x }"]}, "peers[0]"), ({"peers": ["fd00::1"]}, "peers[0]"), ({"check_ports": [0]}, "check_ports[0]"),
    ({"check_ports": [6385, 70000]}, "check_ports[1]")])
def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path, changes, field):
    with pytest.raises(RefusedError) as caught:
        keepalived_service.ensure(options(config_file=str(tmp_path / "x" / "k.conf"), **changes), False)
    assert [problem.field for problem in caught.value.problems] == [field] and not list(tmp_path.iterdir())


def test_priorities_follow_the_inventory_and_a_machine_whose_check_fails_is_behind_all_others():
    machines = [str(number) for number in range(keepalived.MOST_MACHINES)]
    found = [keepalived.priority(machines, machine) for machine in machines]
    assert found == sorted(set(found), reverse=True) and all(0 < number < 255 for number in found)
    assert found[0] + keepalived.FAILED_WEIGHT < found[-1] and found[-1] + keepalived.FAILED_WEIGHT > 0


@pytest.mark.parametrize("changes", [
    {}, {"check_ports": []}, {"check_ports": [6385, 6183]}, {"peers": ["172.22.0.12"]}, {"machine": "second"},
    {"name": "prov.100"}])
def test_keepalived_itself_takes_the_file(tmp_path, changes):
    given = options(**changes)
    (tmp_path / "k.conf").write_text(keepalived.configuration(given))
    name, program = given["name"], f"keepalived --config-test --use-file={tmp_path / 'k.conf'}"
    done = unshared("sh", "-ec", f"ip link add {name} type veth peer name other; ip addr add 172.22.0.11/24 dev {name};"
                    f" ip link set {name} up; ip link set other up; {program}")
    assert done.returncode == 0 and done.stdout + done.stderr == ""


def write(path, answer, check_mode=False, **changes):
    given = options(**dict({"name": "lo", "config_file": str(path)}, **changes))
    return keepalived_service.ensure(given, check_mode, lambda _command: answer)


def test_the_file_is_written_once_and_not_in_check_mode(tmp_path):
    path, taken = tmp_path / "folder" / "k.conf", systems.Result(0, "", "")
    assert write(path, taken, True)["changed"] and not path.exists()
    result = write(path, taken)
    assert result["changed"] and result["priority"] == 200 and path.read_text() == result["diff"]["after"]
    assert not write(path, taken)["changed"]
    assert write(path, taken, machine="second")["priority"] == 190


def test_what_keepalived_does_not_take_is_not_written(tmp_path):
    path = tmp_path / "k.conf"
    with pytest.raises(keepalived_service.KeepalivedError, match="does not take the file: bad line"):
        write(path, systems.Result(5, "", "bad\nline"))
    with pytest.raises(keepalived_service.KeepalivedError, match="is not installed"):
        write(path, systems.Result(127, "", "keepalived is not installed"))
    with pytest.raises(keepalived_service.KeepalivedError, match="interface nosuch0: missing; make it first"):
        write(path, systems.Result(0, "", ""), name="nosuch0")
    assert not path.exists()
    # Both come before it in the same run of the role.
    assert "not installed yet" in write(path, systems.Result(127, "", ""), True)["warnings"][0]
    assert "yet to be made" in write(path, systems.Result(5, "", ""), True, name="nosuch0")["warnings"][0]


def unit(path, notifies):
    """Return what the service's unit sets, ``{name: value}``."""
    text = jinja2.Template(TEMPLATE.read_text()).render(
        provisioning_network_name="prov", provisioning_network_program="keepalived",
        provisioning_network_notifies=notifies, provisioning_network_keepalived_config_file=path,
        provisioning_network_keepalived_run_folder="metal3-keepalived-prov")
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize("mistake", ["", "interface", "number"])
def test_who_starts_the_service_learns_whether_keepalived_runs(tmp_path, mistake):
    """The interface may have gone since the file was written, and others may have written it."""
    path = tmp_path / "k.conf"
    text = keepalived.configuration(options(name="nosuch0" if mistake == "interface" else "prov"))
    path.write_text(text.replace("_id 51", "_id 999") if mistake == "number" else text)
    done = unshared("sh", "-ec", "ip link add prov type veth peer name other; ip addr add 172.22.0.11/24 dev prov;"
                    "ip link set prov up; ip link set other up; exec " + unit(path, True)["ExecStartPre"])
    assert (done.returncode == 0) is (not mistake), done.stderr
    said = {"": "", "interface": "interface nosuch0", "number": "VRID '999' not valid"}[mistake]
    assert said in done.stdout + done.stderr


def test_the_service_has_started_when_keepalived_has_read_its_file(tmp_path):
    """Where it says nothing of the kind, the start would wait for it until its time is up."""
    assert unit(tmp_path, True)["Type"] == "notify" and "Type" not in unit(tmp_path, False)
    assert all("--dont-fork" in unit(tmp_path, notifies)["ExecStart"] for notifies in (True, False))


@pytest.mark.parametrize(("version", "notifies"), [
    ("Config options:  NFTABLES LVS VRRP INIT=systemd SYSTEMD_NOTIFY\n", True),
    ("Config options:  NFTABLES LVS VRRP INIT=systemd\n", False), ("", False)])
def test_whether_keepalived_says_that_it_has_started_is_how_it_was_built(tmp_path, version, notifies):
    assert write(tmp_path / "k.conf", systems.Result(0, "", version))["notifies"] is notifies


def test_the_first_machine_holds_the_address_while_its_plane_answers_and_gets_it_back(tmp_path):
    for machine, own in (("first", "172.22.0.11/24"), ("second", "172.22.0.12/24")):
        (tmp_path / f"{machine}.conf").write_text(keepalived.configuration(options(machine=machine, own_address=own)))
    done = unshared(sys.executable, str(pathlib.Path(__file__).with_name("vrrp_wire.py")), str(tmp_path))
    logs = "".join(path.read_text() for path in tmp_path.glob("*.log"))
    assert done.returncode == 0, done.stderr + logs
    assert json.loads(done.stdout) == [["first"], ["second"], ["first"]], logs
