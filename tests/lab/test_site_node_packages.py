# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node image of Kubernetes' Debian packages, by the role, from a signed repository. Needs root; takes minutes."""
from __future__ import annotations

import json
import os
import subprocess
from types import SimpleNamespace

import folder_server
import package_repository
import pytest
from ansible_programs import PROGRAMS
from image_files import ImageFiles
from support import REPOSITORY, Run, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = pytest.mark.metal

# A build of the version, and of one that is newer: the role takes the version that it was given.
BUILD, NEWER = "1.1", "v9.9.9"
DROP_IN = "etc/systemd/system/kubelet.service.d/10-kubeadm.conf"
# As the package kubeadm of Kubernetes' own repository has it: without the folder of further configuration.
PACKAGED_DROP_IN = """[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS
"""
PACKAGED_SERVICE = "[Service]\nExecStart=/usr/bin/kubelet\n[Install]\nWantedBy=multi-user.target\n"
VERSION_ASKED = {"kubeadm": ("version", "-o", "short"), "kubelet": ("--version",)}


@pytest.fixture(scope="module")
def engine():
    return module("plane_programs", source_dir=str(REPOSITORY / "lab" / "engine"), sets=["management", "node"],
                  cache_dir=user_folders.cache_dir())


@pytest.fixture(scope="module")
def version(engine):
    return engine["versions"]["kubelet"]


def add_packages(folder, engine, version):
    """Write the packages that Kubernetes' own repository has, with their files in the same places."""
    programs, number = engine["engine_dir"] + "/bin/", f"{version.lstrip('v')}-{BUILD}"
    files = {
        "kubelet": {"/usr/lib/systemd/system/kubelet.service": (PACKAGED_SERVICE.encode(), 0o644)},
        "kubeadm": {"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": (PACKAGED_DROP_IN.encode(), 0o644)},
        "kubectl": {}}
    for name, others in files.items():
        package_repository.add_package(folder, name, number, dict({f"/usr/bin/{name}": (programs + name, 0o755)},
                                                                  **others),
                                       ("kubernetes-cni", "conntrack") if name == "kubelet" else ())
        package_repository.add_package(folder, name, f"{NEWER.lstrip('v')}-{BUILD}", {f"/usr/bin/{name}": (b"", 0o755)})
    package_repository.add_package(folder, "kubernetes-cni", f"1.7.1-{BUILD}", {"/opt/cni/bin/loopback": (b"", 0o755)})


@pytest.fixture(scope="module")
def repository(engine, version, tmp_path_factory):
    """A repository on the loopback address, its key, and a key that is not its own."""
    folder = tmp_path_factory.mktemp("packages")
    add_packages(folder, engine, version)
    with package_repository.signer() as own, package_repository.signer() as other:
        package_repository.publish(folder, own)
        with folder_server.running(folder, "127.0.0.1") as server:
            yield SimpleNamespace(url=server.url, requested=server.requested, key=own.public_key,
                                  identifier=own.identifier, wrong_key=other.public_key)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("site-node-packages")


@pytest.fixture(scope="module")
def run_role(repository, version, folder):
    """A function that applies the role node_image as a user does; it takes the repository's key and other variables."""
    def run(key, **variables):
        tasks = [{"ansible.builtin.import_role": {"name": "metal3.baremetal.node_image"}, "vars": dict({
            "node_image_directory": str(folder / "www"), "node_image_cache_dir": str(folder / "cache"),
            "node_image_kubernetes_version": version,
            "node_image_kubernetes_repository": {"source": f"deb {repository.url}/ /", "key": key}}, **variables)}]
        playbook, log = folder / "play.json", folder / "output"
        playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
        with log.open("w") as output:
            process = PROGRAMS.start("ansible-playbook", [str(playbook)], (output, output), os.getcwd())
            return Run(process, log).finish(1500)

    return run


@pytest.fixture(scope="module")
def files(run_role, repository, folder):
    """The files of the image that was built of packages."""
    run_role(repository.key).ok()
    return ImageFiles(folder / "www" / "node.qcow2", folder)


def test_a_key_that_is_not_the_repository_s_is_named(run_role, repository, folder):
    run_role(repository.wrong_key).failed(
        "kubernetes_repository.key: found another key than that of the repository's signature",
        f"apt says of {repository.url}: NO_PUBKEY {repository.identifier}",
        "take the key that the repository's owner publishes")
    assert not [name for name, _code in repository.requested if name.endswith(".deb")]
    assert not (folder / "www" / "node.qcow2").exists()


def test_a_version_that_the_repository_does_not_have_is_named(run_role, repository):
    run_role(repository.key, node_image_kubernetes_version="v1.0.9").failed("1.0.9-*", "kubelet")


def test_the_packages_of_the_version_are_installed(files, version, folder):
    files.copy("/var/lib/dpkg", folder)
    listed = subprocess.run(
        ["dpkg", f"--admindir={folder / 'dpkg'}", "-l", "kubelet", "kubeadm", "kubectl", "kubernetes-cni"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    found = dict(line.split()[1:3] for line in listed if line.startswith("ii "))
    number = f"{version.lstrip('v')}-{BUILD}"
    assert found == {"kubelet": number, "kubeadm": number, "kubectl": number, "kubernetes-cni": f"1.7.1-{BUILD}"}


def test_the_programs_are_those_of_the_packages(files, version, folder):
    files.copy("/usr/bin", folder / "usr")
    for name, arguments in VERSION_ASKED.items():
        printed = subprocess.run([str(folder / "usr" / "bin" / name), *arguments], check=True, capture_output=True,
                                 text=True).stdout
        assert printed.split()[-1] == version
    assert "/pause:" in files.read("/etc/containerd/config.toml")


def test_kubelet_reads_the_folder_of_further_configuration_whatever_its_package_says(files, folder):
    for path in ("/etc/systemd", "/usr/lib/systemd"):
        files.copy(path, folder / "units" / path.lstrip("/").rpartition("/")[0])
    assert files.read("/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf") == PACKAGED_DROP_IN
    effective = subprocess.run(
        ["systemd-analyze", "cat-config", f"--root={folder / 'units'}", "systemd/system/kubelet.service"],
        check=True, capture_output=True, text=True).stdout
    assert DROP_IN in effective and "--config-dir=/etc/kubernetes/kubelet.conf.d" in effective
    assert [line for line in effective.splitlines() if line.startswith("ExecStart=")] == [
        "ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS "
        "$KUBELET_EXTRA_ARGS"]


def test_the_image_s_own_apt_has_the_repository_and_its_key(files, repository):
    path = "/etc/apt/keyrings/kubernetes.asc"
    assert files.read(path).split() == repository.key.split()
    assert f"[signed-by={path}] {repository.url}/" in files.read("/etc/apt/sources.list")


def test_the_second_run_changes_nothing(run_role, repository, files):
    assert "changed=0" in run_role(repository.key).ok().output
