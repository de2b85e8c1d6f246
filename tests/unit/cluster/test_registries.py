# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors of registries: what containerd on the nodes reads, and what is refused."""
from __future__ import annotations

import base64
import subprocess

import pytest
import tomllib

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import kubeadm, registries
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout import reasons

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
MIRROR = {"registry": "quay.io", "url": "https://mirror.example.org:5000/quay.io"}
ROOT = "https://mirror.example.org:5000/v2/quay.io"
FOLDER = "/etc/containerd/certs.d/quay.io"


def described(*mirrors, **changes):
    params = dict({
        "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.51.100.10", "holder": "none"},
        "image": {"url": "https://images.example.org/node.qcow2", "checksum": "0" * 64},
        "registry_mirrors": list(mirrors)}, **changes)
    description, mistakes = cluster_description.read(params)
    assert mistakes == []
    return description


def rendered(*mirrors):
    return dict((entry["path"], entry) for entry in registries.files(described(*mirrors)))


def hosts(*mirrors):
    return tomllib.loads(rendered(*mirrors)[f"{FOLDER}/hosts.toml"]["content"])


def problems(*mirrors, **changes):
    return [str(line) for line in validation.description_problems(described(*mirrors, **changes))]


def test_only_the_mirror_is_asked_unless_the_registry_is_a_fallback():
    keys = {"capabilities": ["pull", "resolve"], "override_path": True}
    assert hosts(MIRROR) == dict(keys, server=ROOT, host={ROOT: keys})
    assert hosts(dict(MIRROR, fallback=True)) == {"host": {ROOT: keys}}


def test_a_mirror_without_a_path_has_all_repositories():
    parsed = hosts(dict(MIRROR, url="https://mirror.example.org/"))
    assert parsed["server"] == "https://mirror.example.org/v2"


def test_the_authorities_of_a_mirror_lie_beside_its_file():
    mirror = dict(MIRROR, ca_certificate=CERTIFICATE)
    parsed = hosts(mirror)
    assert parsed["ca"] == parsed["host"][ROOT]["ca"] == "mirror.crt"
    assert rendered(mirror)[f"{FOLDER}/mirror.crt"]["content"] == CERTIFICATE


def test_a_login_comes_from_a_secret_and_is_roots_only():
    files = rendered(dict(MIRROR, credentials_secret="login"), dict(MIRROR, registry="docker.io"))
    assert files[f"{FOLDER}/password"]["contentFrom"] == {"secret": {"name": "login", "key": "password"}}
    modes = dict((path, entry["permissions"]) for path, entry in files.items())
    assert modes == {f"{FOLDER}/hosts.toml": "0600", f"{FOLDER}/username": "0600", f"{FOLDER}/password": "0600",
                     "/etc/containerd/certs.d/docker.io/hosts.toml": "0644"}


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("password", ["plain", "it's \"100 %s\" $HOME \\n", "x" * 200])
def test_the_command_on_the_node_adds_the_login(tmp_path, monkeypatch, fallback, password):
    """Run as the node runs it, with another folder."""
    monkeypatch.setattr(registries, "DIRECTORY", str(tmp_path))
    mirror = dict(MIRROR, credentials_secret="login", fallback=fallback)
    folder = tmp_path / "quay.io"
    folder.mkdir()
    file = folder / "hosts.toml"
    file.write_text(rendered_content(mirror))
    (folder / "username").write_text("me\n")
    (folder / "password").write_text(password)
    command, = registries.commands(described(mirror))
    subprocess.run(["sh", "-c", command], check=True)
    parsed = tomllib.loads(file.read_text())
    header = {"Authorization": ["Basic " + base64.b64encode(f"me:{password}".encode()).decode()]}
    assert parsed["host"][ROOT]["header"] == header
    assert parsed.get("header") == (None if fallback else header)
    assert [path.name for path in folder.iterdir()] == ["hosts.toml"]


def rendered_content(mirror):
    return next(entry["content"] for entry in registries.files(described(mirror)) if "content" in entry)


def test_all_machines_get_the_files_and_the_login_before_any_other_command():
    description = described(dict(MIRROR, credentials_secret="login"), pre_commands=["own"],
                            workers={"pool-a": {"replicas": 1}})
    for group in description.groups:
        spec = kubeadm.config_spec(description, group)
        assert [entry["path"] for entry in spec["files"]] == [
            f"{FOLDER}/hosts.toml", f"{FOLDER}/username", f"{FOLDER}/password"]
        login, own = spec["preKubeadmCommands"]
        assert login.startswith(f"cd {FOLDER} && ") and own == "own"


def test_valid_mirrors_are_accepted():
    assert problems(MIRROR, {"registry": "registry.example.org:5000", "url": "http://198.51.100.5:5000"},
                    {"registry": "_default", "url": "https://[2001:db8::5]"},
                    {"registry": "docker.io", "url": "https://m.example.org/docker.io/",
                     "ca_certificate": CERTIFICATE * 2, "credentials_secret": "login", "fallback": True}) == []


@pytest.mark.parametrize("changes, expected", [
    ({"registry": "https://quay.io"}, "registry_mirrors[0].registry: found \"https://quay.io\", expected a registry's"),
    ({"registry": "../quay.io"}, "registry_mirrors[0].registry: found \"../quay.io\""),
    ({"url": "mirror.example.org"}, "registry_mirrors[0].url: found \"mirror.example.org\", expected an address such"),
    ({"url": "https://m.example.org/'; reboot"}, "registry_mirrors[0].url: found \"https://m.example.org/'; reboot\""),
    ({"url": "https://m.example.org/{{ x }}"}, "registry_mirrors[0].url"),
    ({"url": "http://m.example.org", "credentials_secret": "login"},
     "registry_mirrors[0].credentials_secret: found a value, expected not set with http://; the password"),
    ({"url": "http://m.example.org", "ca_certificate": CERTIFICATE},
     "registry_mirrors[0].ca_certificate: found a value"),
    ({"ca_certificate": "/etc/ssl/ca.crt"}, "registry_mirrors[0].ca_certificate: found another text, expected certif"),
    ({"ca_certificate": CERTIFICATE + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"},
     "registry_mirrors[0].ca_certificate: found another text"),
])
def test_what_no_node_could_use_is_refused(changes, expected):
    line, = problems(dict(MIRROR, **changes))
    assert line.startswith("cluster metal3/c1: " + expected)


def test_one_registry_has_one_mirror_and_its_files_are_not_described_twice():
    line, = problems(MIRROR, dict(MIRROR, url="https://other.example.org"))
    assert "registry_mirrors[1].registry: found quay.io twice, expected one entry for each registry" in line
    line, = problems(MIRROR, files=[{"path": f"{FOLDER}/hosts.toml", "content": ""}])
    assert f"files[0].path: found {FOLDER}/hosts.toml twice" in line


def test_a_change_of_a_mirror_is_named_as_the_reason_of_a_rollout():
    def config(**changes):
        description = described(dict(MIRROR, credentials_secret="login", **changes))
        return kubeadm.config_spec(description, description.groups[0])

    before = config()
    assert set(reasons._of_config(before, config(url="https://other.example.org"))) == {"registry_mirrors"}
    assert set(reasons._of_config(before, config(fallback=True))) == {"registry_mirrors"}
    assert list(reasons._of_config(before, config())) == []
