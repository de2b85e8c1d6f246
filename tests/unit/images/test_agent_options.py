# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the ramdisk: what is refused, and the files that come of the rest."""
from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._images.agent import agent_options, rescue_files

MANAGER = {"name": "site_hardware", "class_name": "Manager", "content": b"class Manager:\n    pass\n"}
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@example.org"
HASH = "$6$saltsalt$" + "a" * 86
REQUIREMENT = "example==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n"
EMPTY = {"packages": [], "debian_sources": [], "kernel_modules": [], "kernel_parameters": [], "consoles": [],
         "ntp_servers": [], "ssh_keys": [], "ca_certificates": [], "root_password_hash": "", "python_requirements": "",
         "hardware_managers": [], "files": [], "network_data": [], "rescue": False, "revision": ""}
GOOD = {"packages": ["lldpd", "nvme-cli=2.4+really2.3-3"],
        "debian_sources": ["deb https://mirror.example.org/debian/20260101T000000Z/ bookworm main"],
        "kernel_modules": ["mlx5_core", "dm-multipath"],
        "kernel_parameters": ["ipa-api-url=https://[2001:db8::1]:6385", "quiet"],
        "consoles": ["tty0", "ttyS1,115200n8"],
        "ntp_servers": ["ntp.example.org", "2001:db8::123"], "ssh_keys": [KEY, 'from="192.0.2.0/24" ' + KEY],
        "ca_certificates": [CERTIFICATE], "root_password_hash": HASH, "python_requirements": REQUIREMENT,
        "hardware_managers": [MANAGER], "files": [
            {"path": "/usr/lib/firmware/x.bin", "content": b"\x00\xff", "mode": "0644"}],
        "network_data": [{"links": []}], "rescue": True, "revision": "2"}


def problems(**changes):
    return agent_options.problems(dict(EMPTY, **changes))


def files(**options):
    made = agent_options.site_files(dict(EMPTY, **options), CERTIFICATE, "root:*:3652:0:99999:7:::\ndaemon:*:::\n")
    return dict((file.path, file) for file in made)


def test_nothing_is_wrong_with_what_is_documented():
    assert agent_options.problems(GOOD) == []


@pytest.mark.parametrize("field, value, place", [
    ("packages", ["lldpd", "two words"], "packages[1]"),
    ("packages", ["--option"], "packages[0]"),
    ("debian_sources", ["http://mirror.example.org bookworm main"], "debian_sources[0]"),
    ("debian_sources", ["deb http://mirror.example.org bookworm main\ndeb x"], "debian_sources[0]"),
    ("kernel_modules", ["../x"], "kernel_modules[0]"),
    ("kernel_parameters", ["a b"], "kernel_parameters[0]"),
    ("kernel_parameters", ["a\nboot"], "kernel_parameters[0]"),
    ("kernel_parameters", ["a=$b"], "kernel_parameters[0]"),
    ("kernel_parameters", ["a;reboot"], "kernel_parameters[0]"),
    ("consoles", ["/dev/ttyS0"], "consoles[0]"),
    ("ntp_servers", ["a\nallow all"], "ntp_servers[0]"),
    ("ssh_keys", ["/root/.ssh/id_ed25519.pub"], "ssh_keys[0]"),
    ("ssh_keys", [KEY + "\n" + KEY], "ssh_keys[0]"),
    ("ca_certificates", ["/etc/ssl/ca.pem"], "ca_certificates[0]"),
    ("ca_certificates", [CERTIFICATE + PRIVATE_KEY], "ca_certificates[0]"),
    ("root_password_hash", "secret", "root_password_hash"),
    ("root_password_hash", HASH + ":0:0\nroot", "root_password_hash"),
    ("python_requirements", "example==1.0\n", "python_requirements: line 1"),
    ("python_requirements", "--index-url http://x\n", "python_requirements: line 1"),
    ("hardware_managers", [dict(MANAGER, class_name="Other")], "hardware_managers[0].class_name"),
    ("hardware_managers", [dict(MANAGER, name="../x")], "hardware_managers[0].name"),
    ("hardware_managers", [dict(MANAGER, content=b"class")], "hardware_managers[0]"),
    ("hardware_managers", [MANAGER, MANAGER], "hardware_managers[0].name"),
    ("files", [{"path": "etc/x", "content": b"", "mode": "0644"}], "files[0].path"),
    ("files", [{"path": "/etc/../x", "content": b"", "mode": "0644"}], "files[0].path"),
    ("files", [{"path": "/lib/x", "content": b"", "mode": "0644"}], "files[0].path"),
    ("files", [{"path": "/run/x", "content": b"", "mode": "0644"}], "files[0].path"),
    ("files", [{"path": "/etc/x", "content": b"", "mode": "u+x"}], "files[0].mode"),
    # As Ansible gives 0644 without quotes.
    ("files", [{"path": "/etc/x", "content": b"", "mode": "420"}], "files[0].mode"),
])
def test_what_is_refused(field, value, place):
    assert place in [problem.field for problem in problems(**{field: value})]


def test_no_message_shows_the_hash_of_a_password():
    text = " ".join(map(str, problems(root_password_hash="canary-5f1e")))
    assert "root_password_hash" in text and "canary" not in text


def test_all_problems_come_at_once():
    assert len(problems(packages=["A"], consoles=["x"], ssh_keys=[""], ca_certificates=[""])) == 4


def test_a_path_through_a_link_names_the_other_one():
    problem, = problems(files=[{"path": "/lib/firmware/x", "content": b"", "mode": "0644"}])
    assert problem.hint == "use /usr/lib/firmware/x"


def test_no_option_adds_no_file():
    assert files() == {}


def test_authorities_come_after_debians():
    site = CERTIFICATE.replace("MIIB", "SITE")
    made = files(ca_certificates=[site.replace("\n", "\r\n")])
    assert made[agent_options.AUTHORITIES].content.decode() == CERTIFICATE + site


def test_the_password_is_roots_alone():
    shadow = files(root_password_hash=HASH)[agent_options.SHADOW]
    assert shadow.content.decode() == f"root:{HASH}:3652:0:99999:7:::\ndaemon:*:::\n"
    assert shadow.mode == 0o640


def test_keys_are_roots_alone():
    keys = files(ssh_keys=[KEY])["/root/.ssh/authorized_keys"]
    assert keys.content.decode() == KEY + "\n" and keys.mode == 0o600


def test_the_agent_finds_a_hardware_manager(tmp_path, monkeypatch):
    for path, file in files(hardware_managers=[MANAGER]).items():
        target = tmp_path / path.rpartition("dist-packages/")[2]
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.content)
    monkeypatch.syspath_prepend(tmp_path)
    found = [point for point in importlib.metadata.entry_points(group="ironic_python_agent.hardware_managers")
             if point.name == "site_hardware"]
    assert found[0].load().__name__ == "Manager"
    sys.modules.pop("site_hardware")


def test_the_clock_is_set_before_the_agent_starts():
    made = files(ntp_servers=["192.0.2.1", "192.0.2.2"])
    assert made["/etc/chrony/chrony.conf"].content.startswith(b"server 192.0.2.1 iburst\nserver 192.0.2.2 iburst\n")
    assert b"After=chrony.service" in made["/etc/systemd/system/ironic-python-agent.service.d/time.conf"].content


def test_a_rescue_adds_its_user_after_the_agent_and_there_is_no_password_before():
    made = files(rescue=True)
    unit = made["/etc/systemd/system/ironic-python-agent.service.d/rescue.conf"].content.decode()
    program = made["/usr/local/sbin/add-rescue-user"]
    assert f"ConditionPathExists=!{rescue_files.PASSWORD_FILE}\n" in unit
    assert "ConfigurationDirectory=ipa-rescue-config\nConfigurationDirectoryMode=0700\n" in unit
    assert "ExecStopPost=/usr/local/sbin/add-rescue-user\n" in unit and program.mode == 0o755
    assert made["/etc/sudoers.d/rescue"].mode == 0o440
    assert made["/etc/ssh/sshd_config.d/rescue.conf"].content.startswith(b"Match User rescue\n")
    assert agent_options.SHADOW not in made and rescue_files.PASSWORD_FILE not in made


@pytest.mark.parametrize(("keys", "waits"), [([], True), ([KEY], False)])
def test_without_a_key_no_ssh_server_runs_before_a_rescue(keys, waits):
    unit = files(rescue=True, ssh_keys=keys).get("/etc/systemd/system/ssh.service.d/rescue.conf")
    assert (unit is not None) == waits
    if waits:
        assert f"\nConditionPathExists={rescue_files.PASSWORD_FILE}\n" in unit.content.decode()


@pytest.mark.parametrize("password", ["", "$5$salt$hash"])
def test_only_a_password_of_the_agents_makes_a_user(tmp_path, password):
    """The program runs here with stand-ins for what it calls."""
    stored, calls = tmp_path / "password", tmp_path / "calls"
    if password:
        stored.write_text(password)
    for name, code in (("id", 1), ("useradd", 0), ("chpasswd", 0), ("systemctl", 0)):
        stand_in = tmp_path / name
        read = "cat >> calls\n" if name == "chpasswd" else ""
        stand_in.write_text(f'#!/bin/sh\ncd "$(dirname "$0")"\necho {name} "$@" >> calls\n{read}exit {code}\n')
        stand_in.chmod(0o755)
    program = files(rescue=True)["/usr/local/sbin/add-rescue-user"].content.decode()
    subprocess.run(["sh", "-c", program.replace(rescue_files.PASSWORD_FILE, str(stored))], check=True,
                   env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (calls.read_text().splitlines() if password else calls.exists()) == ([
        "id rescue", "useradd --create-home --shell /bin/bash rescue", "chpasswd --encrypted",
        "rescue:" + password, "systemctl --no-block start ssh"] if password else False)


def test_network_data_are_in_their_order():
    made = files(network_data=[{"links": [1]}, {"links": [2]}])
    assert [json.loads(file.content) for _path, file in sorted(made.items())] == [{"links": [1]}, {"links": [2]}]


def test_only_what_takes_minutes_builds_again():
    light = ("kernel_parameters", "consoles", "ca_certificates", "root_password_hash", "hardware_managers", "files",
             "network_data")
    assert agent_options.base(dict(EMPTY, **dict((name, GOOD[name]) for name in light))) == agent_options.Base()
    for name in set(GOOD) - set(light):
        assert agent_options.base(dict(EMPTY, **{name: GOOD[name]})) != agent_options.Base(), name


def test_the_kernel_gets_consoles_in_their_order():
    assert agent_options.parameter_line(GOOD) == (
        "console=tty0 console=ttyS1,115200n8 ipa-api-url=https://[2001:db8::1]:6385 quiet")
