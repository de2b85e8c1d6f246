# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deploy agent's images in a folder, with a ramdisk that is in the cache already."""
from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.agent import (
    agent_options,
    agent_ramdisk,
    agent_service,
    boot_iso,
    cpio,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root

ROOT = Path(__file__).resolve().parents[3]
RECIPE = ROOT / "lab" / "agent_image"
FILES = [{"path": "/etc/agent/ca.crt", "content": "certificate", "source": None, "mode": "0644"}]
EMPTY = {
    "downloads": [], "ca_file": None, "iso": False, "ca_certificates": [], "ssh_keys": [], "root_password_hash": "",
    "rescue": False,
    "packages": [], "debian_sources": [], "python_requirements": "", "kernel_modules": [], "kernel_parameters": [],
    "consoles": [], "ntp_servers": [], "hardware_managers": [], "files": [], "network_data": [],
    "initramfs_limit_mb": 100, "revision": ""}
NETWORK = {"links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": "00:5c:52:00:00:01"}],
           "networks": [{"id": "n", "link": "eno1", "type": "ipv4_dhcp"}]}


@pytest.fixture
def params(tmp_path):
    return dict(EMPTY, source_dir=str(RECIPE), cache_dir=str(tmp_path / "cache"), directory=str(tmp_path / "www"))


def built(params):
    """Put a ramdisk into the cache where the real one would be."""
    made = agent_ramdisk.AgentRamdisk(params["source_dir"], params["cache_dir"], agent_options.base(params))
    os.makedirs(made.directory, exist_ok=True)
    contents = dict((name, "content of " + name) for name in agent_ramdisk.FILES)
    contents.update(authorities="authorities\n", shadow="root:*:1::::::\n", **{agent_ramdisk.FOLDERS: '["etc"]'})
    for name, text in contents.items():
        Path(made.path(name)).write_text(text)
    return made


def ensure(params, check_mode=False, **changes):
    return agent_service.ensure(dict(params, **changes), check_mode, Progress())


def test_the_second_run_changes_nothing(params, tmp_path):
    built(params)
    first = ensure(params, files=FILES)
    assert first["changed"] and first["published"] == list(agent_ramdisk.FILES)
    for name, file in first["files"].items():
        data = (tmp_path / "www" / name).read_bytes()
        assert file == {"path": str(tmp_path / "www" / name), "sha256": hashlib.sha256(data).hexdigest(),
                        "size_bytes": len(data)}
    second = ensure(params, files=FILES)
    assert (second["changed"], second["published"], second["files"]) == (False, [], first["files"])


def test_what_is_published_needs_no_cache(params):
    made = built(params)
    ensure(params)
    shutil.rmtree(made.directory)
    assert not ensure(params)["changed"]


def test_check_mode_predicts_and_writes_nothing(params, tmp_path):
    assert ensure(params, check_mode=True)["published"] == list(agent_ramdisk.FILES)
    assert os.listdir(tmp_path) == []


def test_the_disc_that_a_killed_run_has_left_goes_with_the_next_one(params, tmp_path, monkeypatch):
    monkeypatch.setattr(debian_root, "check_means", lambda *_means: None)
    monkeypatch.setattr(boot_iso, "write", lambda path, *_parts: Path(path).write_text("a disc"))
    left = Path(built(params).directory).parent / "metal3-agent-iso-abcdefgh"
    left.mkdir()
    os.utime(left, (0, 0))
    ensure(params, iso=True)
    assert (tmp_path / "www" / agent_service.ISO).read_text() == "a disc"
    assert [name for name in os.listdir(left.parent) if "iso" in name] == []


def test_a_sites_file_changes_the_ramdisk_alone(params):
    built(params)
    ensure(params, files=FILES)
    result = ensure(params, files=[dict(FILES[0], content="another")])
    assert result["changed"] and result["published"] == ["initrd"]


def test_the_sites_files_follow_the_ramdisk_where_the_kernel_looks_for_them(params, tmp_path):
    built(params)
    ensure(params, files=FILES)
    initrd = (tmp_path / "www" / "initrd").read_bytes()
    head = cpio.archive([])
    # Not compressed at the beginning: Ironic unpacks what begins like zstd.
    assert initrd.startswith(head + b"content of initrd")
    tail = cpio.archive([cpio.File("/etc/agent/ca.crt", b"certificate")], ["etc"])
    assert initrd.endswith(tail) and (len(initrd) - len(tail)) % 4 == 0


def test_too_large_a_ramdisk_is_not_published(params, tmp_path):
    made = built(params)
    ensure(params)
    with open(made.path("initrd"), "wb") as stream:
        stream.truncate(101 * 1000 * 1000)
    with pytest.raises(ReportedError, match=r"initramfs: found 101 MB, expected at most 100 MB"):
        ensure(params, files=FILES)
    assert not ensure(params)["changed"]
    assert ensure(params, files=FILES, initramfs_limit_mb=200)["changed"]


def test_all_problems_are_reported_at_once_and_nothing_is_built(params, tmp_path):
    with pytest.raises(RefusedError) as raised:
        ensure(params, files=[dict(FILES[0], source="/nonexistent", content=None)], packages=["No"],
               network_data=[dict(NETWORK, networks=[{"id": "n", "link": "eno9", "type": "ipv4"}]), {"links": []},
                             dict(NETWORK, links=[*NETWORK["links"], {"type": "phy"}])])
    fields = [problem.field for problem in raised.value.problems]
    assert fields == ["files[0].source", "packages[0]", "network_data[0]", "network_data[1]", "network_data[2]"]
    assert "what the agent cannot use (no id)" in str(raised.value.problems[-1])
    assert os.listdir(tmp_path) == []


def test_links_that_cannot_stand_on_one_another_are_reported(params):
    vlan = {"id": "eno1.5", "type": "vlan", "vlan_link": "eno1", "vlan_id": 5, "mtu": 9000}
    with pytest.raises(RefusedError, match=r'network_data\[1\]\.links\[1\]\.mtu: found 9000, expected at most 1500'):
        ensure(params, network_data=[NETWORK, dict(NETWORK, links=[*NETWORK["links"], vlan])])


def test_a_pip_that_does_not_come_to_an_end_says_what_to_look_at(tmp_path, monkeypatch):
    pip = tmp_path / "python3"
    pip.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    pip.chmod(0o755)
    monkeypatch.setattr(agent_ramdisk.sys, "executable", str(pip))
    monkeypatch.setattr(debian_root, "TIMEOUT_SECONDS", 0.5)
    for step in ("check_means", "install"):
        monkeypatch.setattr(debian_root, step, lambda *_arguments, **_options: None)
    (tmp_path / "packages.txt").write_text("")
    made = agent_ramdisk.AgentRamdisk(str(tmp_path), str(tmp_path / "cache"), agent_options.Base())
    with pytest.raises(debian_root.ImageBuildError, match=r"^installing ironic-python-agent: .*python3 did not end "
                                                          r"within .*check whether the package index answers"):
        made.build(Progress())
    assert not made.complete()


def test_network_data_that_the_agent_can_use(params, tmp_path):
    built(params)
    ensure(params, network_data=[NETWORK])
    assert json.dumps(NETWORK, sort_keys=True, indent=1).encode() in (tmp_path / "www" / "initrd").read_bytes()


def test_the_check_of_network_data_leaves_the_recipe_as_it_is(params, tmp_path, monkeypatch):
    """A compiled copy of its script would make another recipe of it, and is no text that goes into the ramdisk."""
    recipe = tmp_path / "recipe"
    shutil.copytree(RECIPE, recipe, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(recipe.rglob("*"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    ensure(params, check_mode=True, source_dir=str(recipe), network_data=[NETWORK])
    assert sorted(recipe.rglob("*")) == before


def test_another_folder_is_not_taken_for_the_recipe(params, tmp_path):
    with pytest.raises(RefusedError, match=r"source_dir: found .*, expected the collection's folder lab/agent_image"):
        ensure(params, source_dir=str(tmp_path))


def test_without_root_the_reason_is_reported(params, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(debian_root.ImageBuildError, match="needs root"):
        ensure(params)
    assert os.listdir(tmp_path) == []


def test_the_caches_key_depends_on_recipe_and_base(tmp_path):
    def directory(**base):
        return agent_ramdisk.AgentRamdisk(str(tmp_path), "/cache", agent_options.Base(**base)).directory

    (tmp_path / "packages.txt").write_text("kmod\n")
    before = directory()
    assert directory() == before
    assert directory(packages=("lldpd",)) != before
    assert directory(revision="2") != before
    (tmp_path / "packages.txt").write_text("kmod\nudev\n")
    assert directory() != before


def archive_of(path, members):
    with tarfile.open(path, "w:gz") as stream:
        for name, data in members.items():
            info = tarfile.TarInfo("./" + name)
            info.size = len(data)
            stream.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/shadow"
        stream.addfile(link)
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def download(params, path, checksum, name="initrd", member=None):
    """Return an entry for a file that is in the cache of downloads."""
    target = Path(params["cache_dir"]) / "downloads" / checksum.partition(":")[2]
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    return {"name": name, "url": "https://images.example.org/ipa.tar.gz", "checksum": checksum, "member": member}


def test_a_file_of_an_archive(params, tmp_path):
    checksum = archive_of(tmp_path / "ipa.tar.gz", {"ipa.kernel": b"kernel", "ipa.initramfs": b"ramdisk"})
    entries = [download(params, tmp_path / "ipa.tar.gz", checksum, "vmlinuz", "ipa.kernel"),
               download(params, tmp_path / "ipa.tar.gz", checksum, "initrd", "ipa.initramfs")]
    assert ensure(params, downloads=entries)["published"] == ["vmlinuz", "initrd"]
    assert (tmp_path / "www" / "initrd").read_bytes() == b"ramdisk"
    assert not ensure(params, downloads=entries)["changed"]


@pytest.mark.parametrize("member", ["other", "link"])
def test_what_is_no_file_of_the_archive_is_not_published(params, tmp_path, member):
    checksum = archive_of(tmp_path / "ipa.tar.gz", {"ipa.kernel": b"kernel"})
    with pytest.raises(ReportedError, match=rf'member: found "{member}", expected a file of the archive: ipa.kernel'):
        ensure(params, downloads=[download(params, tmp_path / "ipa.tar.gz", checksum, member=member)])
    assert not (tmp_path / "www" / "initrd").exists()


@pytest.mark.parametrize("change, field", [
    ({"url": "file:///etc/shadow"}, "downloads[0].url"), ({"url": "https://"}, "downloads[0].url"),
    ({"checksum": "md5:0"}, "downloads[0].checksum"), ({"checksum": ""}, "downloads[0].checksum")])
def test_a_download_needs_an_address_and_a_checksum(params, change, field):
    entry = {"name": "initrd", "url": "https://a/b", "checksum": "sha256:" + "0" * 64, "member": None}
    with pytest.raises(RefusedError) as raised:
        ensure(params, downloads=[dict(entry, **change)], packages=["lldpd"])
    assert [problem.field for problem in raised.value.problems] == ["packages", field]


def test_the_discs_configuration_has_the_parameters():
    assert boot_iso.grub_config("console=ttyS0 quiet").splitlines() == [
        "search --no-floppy --file --set=root /.disk/info", "linux /boot/vmlinuz console=ttyS0 quiet",
        "initrd /boot/initrd", "boot"]


@pytest.mark.parametrize("place", ["cache", "cache/agent-image", "cache/agent-image/KEY"])
def test_a_cache_in_which_others_could_exchange_the_ramdisk_is_refused(params, tmp_path, place):
    made = built(params)
    (tmp_path / place.replace("KEY", made.key)).chmod(0o777)
    with pytest.raises(ReportedError, match="mode 0777, expected a folder that only user"):
        ensure(params)
