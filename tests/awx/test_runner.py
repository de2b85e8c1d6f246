# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each playbook that AWX offers, as AWX starts it: by ansible-runner, in an empty home, from a project that is read
only, with the answers of its survey as text and credentials by the environment.

There is no server behind the addresses: a run ends where the first of them is asked, in check mode too. What is seen
is that everything before it, with the check of all arguments of the module that asks, takes the answers.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import ansible_runner
import pytest
import yaml
from surveys import REPOSITORY, TABLE, answers

# Nothing listens there.
CLOSED = "https://127.0.0.1:1"
IMAGE = {"url": "http://127.0.0.1:1/image.raw", "checksum": "a" * 64, "checksum_type": "sha256", "format": "raw"}
INVENTORY = {
    "management": {
        "hosts": {"bastion": {"ansible_connection": "local"}},
        "vars": {
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "management_plane": {
                "mode": "cluster",
                "name": "m",
                "address": "127.0.0.1",
                "kubeconfig": "{{ lookup('ansible.builtin.env', 'KUBECONFIG') }}",
            },
        },
    },
    "baremetal": {
        "hosts": {
            "server-01": {
                "bmc_address": "redfish://127.0.0.1:1/redfish/v1/Systems/1",
                "boot_mac": "00:5c:52:31:3a:01",
                "bmh_image": IMAGE,
            },
            "server-02": {"bmc_address": "redfish://127.0.0.1:1/redfish/v1/Systems/2", "boot_mac": "00:5c:52:31:3a:02"},
        },
        "vars": {
            "bmc_username": "{{ lookup('ansible.builtin.env', 'METAL3_BMC_USERNAME') }}",
            "bmc_password": "{{ lookup('ansible.builtin.env', 'METAL3_BMC_PASSWORD') }}",
        },
    },
    "clusters": {
        "hosts": {
            "prod": {
                "cluster_kubernetes_version": "v1.35.4",
                "cluster_control_plane": {"replicas": 1},
                "cluster_workers": {},
                "cluster_endpoint": {"host": "192.0.2.100", "holder": "keepalived", "interface": "eth0"},
                "cluster_network_addon": "none",
                "cluster_image": IMAGE,
            }
        }
    },
}
REFUSED = (
    "Connection refused",
    "refused the connection",
    "not reachable",
    "can't be reached",
    "Failed to establish",
    "Max retries",
)
RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudlvjfxsly6ggy"
# By playbook: answers that are not the survey's defaults, and what the run ends with when that is not a refused
# connection.
CASES: dict[str, dict[str, Any]] = {
    # Where the collection's Go sources have not been built; in an execution environment that is so in each job.
    "install": {"ends": ("expected rendered manifests",)},
    "uninstall": {"ends": ("expected rendered manifests",)},
    "backup": {
        "inventory": {"backup_directory": "/tmp/backups", "backup_recipients": [RECIPIENT], "backup_rehearsal": False},
    },
    "discover": {
        "ends": ("0 servers found",),
        "inventory": {"discover_allowed_addresses": ["127.0.0.0/29"]},
        "answers": {
            "discover_addresses": "127.0.0.1,127.0.0.2",
            "discover_ports": "1,2",
            "discover_transports": "https",
        },
    },
    "host_action": {"answers": {"host_action": "reboot", "hosts_action_mode": "hard", "metal3_confirm": "2",
                                "hosts_action_key": ""}},
    "enroll": {"answers": {"enroll_preflight": "none"}},
    "site": {"ends": ("expected rendered manifests",), "answers": {"enroll_preflight": "none"}},
    "provision": {"answers": {"hosts_reprovision": "false", "hosts_check_images": "false", "metal3_confirm": "1"}},
    "deprovision_hosts": {"answers": {"metal3_confirm": "2"}},
    "unenroll": {"answers": {"metal3_confirm": "2", "hosts_remove_by": "detach"}},
    "teardown": {"answers": {"metal3_confirm": "prod"}},
    "cluster": {"answers": {"cluster_check_hosts": "false", "cluster_check_network": "false"}},
    "ironic_nodes": {"answers": {"ironic_nodes_provide": "server-01,server-01"}},
    "ironic_audit": {
        "answers": {"ironic_audit_namespaces": "metal3,other", "ironic_audit_repair": "node_without_host"}
    },
    "ip_pools": {
        "inventory": {
            "ip_pools_list": [{"name": "p", "ranges": [{"start": "192.0.2.1", "end": "192.0.2.9"}], "prefix": 24}]
        }
    },
    "rotate_credentials": {"ends": ("expected process, or cluster",)},
    "renew_certificates": {"ends": ("expected cluster with cert_manager or files",)},
    "firmware": {"inventory": {"bmh_firmware_settings": {"A": "B"}}},
    "metalstack": {"inventory": {"metalstack_project": "p", "metalstack_partition": "f"}},
    "metalstack_teardown": {
        "inventory": {"metalstack_project": "p", "metalstack_partition": "f"},
        "answers": {"metal3_confirm": "prod"},
    },
    "machine_action": {
        "answers": {"machine_action": "mark_for_scale_in", "machine_names": "prod-a-1,prod-a-2", "metal3_confirm": ""}
    },
    "compliance": {"inventory": {"bmh_expected": {"cpus_minimum": 8}}},
    "maintain": {"answers": {"maintain": "drain", "metal3_confirm": "server-01"}},
}
# What an answer of a wrong type leads to.
WRONG_TYPE = (
    "unable to convert",
    "we were unable to convert",
    "must have a boolean result",
    "value of type 'str'",
    "Traceback",
    "is of type",
    "unsupported operand",
    "not supported between",
    "Unexpected templating",
    "Error rendering template",
    "is undefined",
    "object has no attribute",
    "Unsupported parameters",
)


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """The checkout as AWX has it: what git knows, without a right to write."""
    target = tmp_path_factory.mktemp("project") / "project"
    listed = (
        subprocess.run(
            [
                "git",
                "ls-files",
                "-co",
                "--exclude-standard",
                "-z",
                "playbooks",
                "roles",
                "plugins",
                "meta",
                "galaxy.yml",
                "lab",
            ],
            capture_output=True,
            check=True,
            cwd=REPOSITORY,
        )
        .stdout.decode()
        .split("\0")
    )
    for name in filter(None, listed):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, target / name)
    for path in [target, *target.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    # Where the execution environment has the collection.
    collections = target.parent / "collections" / "ansible_collections" / "metal3"
    collections.mkdir(parents=True)
    (collections / "baremetal").symlink_to(target)
    return target


def _files(folder: Path) -> dict[str, tuple[int, float]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime)
        for path in folder.rglob("*")
        # Root writes there in spite of its mode, for one process that does not know PYTHONDONTWRITEBYTECODE.
        if "__pycache__" not in path.parts and not path.is_dir()
    }


@pytest.mark.parametrize("name", TABLE["awx_setup_templates"])
def test_a_playbook_takes_its_survey_as_text(name, project, tmp_path):
    row, case = TABLE["awx_setup_templates"][name], CASES.get(name, {})
    given = answers(name, **case.get("answers", {}))
    assert all(isinstance(answer, str) for answer in given.values())
    home, private = tmp_path / "home", tmp_path / "private"
    home.mkdir()
    (private / "inventory").mkdir(parents=True)
    groups = json.loads(json.dumps(INVENTORY))
    everything = {"children": groups, "vars": case.get("inventory", {})}
    (private / "inventory" / "hosts.json").write_text(json.dumps({"all": everything}), encoding="utf-8")
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": CLOSED}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            }
        ),
        encoding="utf-8",
    )
    credentials = {
        "bmc": {"METAL3_BMC_USERNAME": "admin", "METAL3_BMC_PASSWORD": "bmc-password-of-the-test"},
        "kubeconfig": {"KUBECONFIG": str(kubeconfig)},
        "metalstack": {
            "METAL_API_URL": CLOSED,
            "METAL_API_HMAC": "hmac-password-of-the-test",
            "METAL_API_HMAC_AUTH_TYPE": "Metal-Admin",
        },
        "ironic": {"OS_ENDPOINT": CLOSED, "OS_USERNAME": "u", "OS_PASSWORD": "ironic-password-of-the-test"},
    }
    logins = {key: value for kind in row["credentials"] for key, value in credentials.get(kind, {}).items()}
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "ANSIBLE_COLLECTIONS_PATH": str(project.parent / "collections"),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "ANSIBLE_NOCOLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **logins,
    }
    # The runner gives its own environment on: what a developer has set must not help.
    kept = dict(os.environ)
    os.environ.clear()
    before = _files(project)
    try:
        os.environ.update(environment)
        run = ansible_runner.run(
            private_data_dir=str(private),
            project_dir=str(project),
            playbook=f"playbooks/{name}.yml",
            inventory=str(private / "inventory" / "hosts.json"),
            extravars=given,
            envvars=environment,
            quiet=True,
            timeout=150,
            cmdline="--check" if row.get("check") else None,
        )
    finally:
        os.environ.clear()
        os.environ.update(kept)
    with run.stdout as stream:
        output = stream.read()
    assert not [text for text in WRONG_TYPE if text in output], output[-5000:]
    if name in ("lint",):
        assert run.rc == 0, output[-5000:]
    else:
        ends = case.get("ends", REFUSED)
        assert run.rc != 0 and any(text in output for text in ends), output[-5000:]
    assert "password-of-the-test" not in output
    assert _files(project) == before, "the project was written to"
    # Go, which these three ask for, keeps its own.
    of_go = {".cache", ".config"} if name in ("install", "site", "uninstall") else set()
    # stevedore, by which openstacksdk finds its plug-ins, keeps what it has found.
    of_stevedore = {".cache"} if name.startswith("ironic_") else set()
    found = {path.name for path in home.iterdir()}
    assert ".ansible" in found and found <= {".ansible"} | of_go | of_stevedore, sorted(home.iterdir())
    if of_stevedore & found:
        assert [path.name for path in (home / ".cache").iterdir()] == ["python-entrypoints"]
