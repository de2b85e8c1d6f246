# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node images: options, what is refused of an image by its header and by what qemu-img says, and publishing."""
from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import importlib.util
import json
import lzma
import os
import shutil
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root
from ansible_collections.metal3.baremetal.plugins.module_utils._images.disks import disk_facts, disk_image, node_disk
from ansible_collections.metal3.baremetal.plugins.module_utils._images.node import (
    given_programs,
    node_build,
    node_options,
    node_service,
)

ROOT = Path(__file__).resolve().parents[3]
KEY = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ\n-----END PGP PUBLIC KEY BLOCK-----\n"
REPOSITORY = {"source": "deb https://packages.example.org/v1.35/deb/ /", "key": KEY}
EMPTY = {"name": "node.qcow2", "download": None, "ca_file": None, "disks": {}, "kubernetes_version": "",
         "kubernetes_dir": None, "kubernetes_repository": None, "packages": [], "debian_sources": [],
         "ca_certificates": [], "files": [], "image_archives": [], "kernel_parameters": [], "disk_size_gib": 6,
         "revision": ""}
GOOD = dict(EMPTY, kubernetes_version="v1.35.4", kubernetes_repository=REPOSITORY)
DOWNLOAD = {"url": "https://images.example.org/a.qcow2", "checksum": "sha256:" + "0" * 64}
MIB = 1024 ** 2


def fields(params):
    return [problem.field for problem in node_options.problems(params)]


def test_nothing_is_wrong_with_what_is_documented():
    assert fields(GOOD) == fields(dict(GOOD, kubernetes_repository=None, kubernetes_dir="/usr/bin")) == []
    assert fields(dict(EMPTY, download=DOWNLOAD, name="debian.raw")) == []


@pytest.mark.parametrize("change, field", [
    ({"name": "../x.qcow2"}, "name"), ({"name": "node"}, "name"), ({"name": "node.raw"}, "name"),
    ({"kubernetes_version": "1.35"}, "kubernetes_version"), ({"kubernetes_version": ""}, "kubernetes_version"),
    ({"kubernetes_dir": "/usr/bin"}, "kubernetes_repository"),
    ({"kubernetes_repository": None}, "kubernetes_repository"),
    ({"kubernetes_repository": dict(REPOSITORY, source="deb [trusted=yes] http://a /")},
     "kubernetes_repository.source"),
    ({"kubernetes_repository": dict(REPOSITORY, key="/etc/key.asc")}, "kubernetes_repository.key"),
    ({"packages": ["--x"]}, "packages[0]"), ({"ca_certificates": ["/etc/ca.pem"]}, "ca_certificates[0]"),
    ({"kernel_parameters": ["a;b"]}, "kernel_parameters[0]"), ({"disk_size_gib": 1}, "disk_size_gib"),
    ({"files": [{"path": "/lib/x", "content": b"", "mode": "0644"}]}, "files[0].path"),
    ({"disks": {"h1": "480 GB"}}, "disks.h1"), ({"disks": {"h1": -1}}, "disks.h1"),
    ({"disks": {"h1": True}}, "disks.h1"),
    ({"download": DOWNLOAD}, "kubernetes_version"), ({"download": dict(DOWNLOAD, url="file:///x")}, "download.url"),
    ({"download": dict(DOWNLOAD, checksum="")}, "download.checksum")])
def test_what_is_refused(change, field):
    assert field in fields(dict(GOOD, **change))


def header(version=3, backing=0, incompatible=0, encryption=0):
    made = bytearray(disk_facts.HEADER_BYTES)
    struct.pack_into(">4sIQ", made, 0, b"QFI\xfb", version, backing)
    struct.pack_into(">I", made, 32, encryption)
    struct.pack_into(">Q", made, 72, incompatible)
    return bytes(made)


@pytest.mark.parametrize("data, field", [
    (header(backing=512), "backing file"), (header(version=2, backing=512), "backing file"),
    (header(incompatible=4), "data file"), (header(encryption=1), "encryption"), (header(version=9), "version"),
    (header(incompatible=32), "features"), (header()[:90], ""), (b"KDMV" + bytes(600), ""), (b"", ""), (b"<html>", "")])
def test_no_program_opens_what_leads_to_another_file(data, field):
    assert [problem.field for problem in disk_facts.header_problems("a", data)] == [field]


@pytest.mark.parametrize("pack, title", [(lzma.compress, "xz"), (gzip.compress, "gzip"), (bz2.compress, "bzip2")])
def test_a_disk_that_is_compressed_is_to_be_unpacked_and_not_to_be_converted(pack, title):
    problem, = disk_facts.header_problems("a", pack(header()))
    assert str(problem).startswith(f"a: found a file that is compressed by {title}, expected qcow2")
    assert problem.hint.startswith("unpack it") and "qemu-img" not in str(problem)


@pytest.mark.parametrize("data", [header(), header(version=2, incompatible=4), header(incompatible=8),
                                  bytes(510) + b"\x55\xaa"])
def test_a_header_with_which_nothing_is_wrong(data):
    assert disk_facts.header_problems("a", data) == []


@pytest.mark.parametrize("change, field", [
    ({"format": "vmdk"}, "format"), ({"backing-filename": "/etc/shadow"}, "backing file"),
    ({"encrypted": True}, "encryption"),
    ({"format-specific": {"data": {"data-file": "/dev/sda"}}}, "data file"), ({"virtual-size": "x"}, "virtual size")])
def test_what_qemu_img_says_is_checked_again(change, field):
    info = dict({"format": "qcow2", "virtual-size": 5}, **change)
    assert field in [problem.field for problem in disk_facts.info_problems("a", info, "qcow2", {})]


def test_each_host_whose_disk_is_too_small_is_named():
    found = disk_facts.info_problems("a", {"format": "raw", "virtual-size": 10}, "raw", {"h1": 9, "h2": 10, "h3": 1})
    assert [problem.subject for problem in found] == ["h1", "h3"]
    assert "found 9 bytes, expected at least 10, the virtual size of a" in str(found[0])


def qemu_img(*arguments):
    subprocess.run(["qemu-img", *arguments], check=True, capture_output=True)


@pytest.fixture
def params(tmp_path):
    return dict(EMPTY, source_dir=None, cache_dir=str(tmp_path / "cache"), directory=str(tmp_path / "www"))


def download(params, path, name="node.qcow2"):
    """Return parameters with an image that is in the cache of downloads."""
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    target = Path(params["cache_dir"]) / "downloads" / checksum
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    return dict(params, name=name, download={"url": "https://images.example.org/a", "checksum": "sha256:" + checksum})


def ensure(params, check_mode=False):
    return node_service.ensure(params, check_mode, Progress())


def test_an_image_is_published_once_with_what_a_host_needs_to_know(params, tmp_path):
    qemu_img("create", "-f", "qcow2", str(tmp_path / "a"), "64M")
    params = dict(download(params, tmp_path / "a"), disks={"h1": 64 * MIB})
    assert ensure(params, check_mode=True) == {"changed": True, "path": str(tmp_path / "www" / "node.qcow2")}
    assert not (tmp_path / "www").exists()
    first = ensure(params)
    assert first == {"changed": True, "path": str(tmp_path / "www" / "node.qcow2"), "format": "qcow2",
                     "sha256": params["download"]["checksum"][7:], "checksum_type": "sha256",
                     "size_bytes": (tmp_path / "a").stat().st_size, "disk_bytes": 64 * MIB}
    assert ensure(params) == dict(first, changed=False)


def test_two_images_live_in_one_folder(params, tmp_path):
    for name in ("one.qcow2", "two.qcow2"):
        qemu_img("create", "-f", "qcow2", str(tmp_path / name), "64M" if name == "one.qcow2" else "128M")
        ensure(download(params, tmp_path / name, name))
    assert not ensure(download(params, tmp_path / "one.qcow2", "one.qcow2"))["changed"]


def test_a_raw_disk(params, tmp_path):
    (tmp_path / "a").write_bytes(bytes(510) + b"\x55\xaa" + bytes(MIB - 512))
    assert ensure(download(params, tmp_path / "a", "a.raw"))["disk_bytes"] == MIB


@pytest.mark.parametrize("options, message", [
    (["-b", "base.raw", "-F", "raw"], "node.qcow2: backing file: found a backing file, expected none"),
    (["-o", "data_file=data.raw"], "node.qcow2: data file: found an external data file, expected none")])
def test_an_image_that_leads_to_another_file_is_not_published(params, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.raw").write_bytes(bytes(MIB))
    qemu_img("create", "-f", "qcow2", *options, "a", "1M")
    with pytest.raises(RefusedError, match=message):
        ensure(download(params, tmp_path / "a"))
    assert os.listdir(tmp_path / "www") == [".image.lock"]


@pytest.mark.parametrize("place", ["", "downloads"])
def test_a_cache_in_which_others_could_exchange_what_was_verified_is_refused(params, tmp_path, place):
    """Others could exchange it after it was digested: nodes would have got any other."""
    qemu_img("create", "-f", "qcow2", str(tmp_path / "a"), "64M")
    params = download(params, tmp_path / "a")
    (tmp_path / "cache" / place).chmod(0o777)
    with pytest.raises(ReportedError, match="mode 0777, expected a folder that only user"):
        ensure(params)
    assert not (tmp_path / "www").exists()


@pytest.mark.parametrize("place", ["cache", "cache/node-images", "cache/node-images/KEY"])
def test_a_cache_in_which_others_could_exchange_what_was_built_is_refused(params, tmp_path, place):
    build = dict(GOOD, **{name: params[name] for name in ("cache_dir", "directory")}, source_dir=str(
        ROOT / "roles" / "node_image" / "files" / "recipe"))
    made = node_build.NodeBuild(build)
    os.makedirs(made.directory)
    (tmp_path / place.replace("KEY", made.key)).chmod(0o777)
    with pytest.raises(ReportedError, match="mode 0777, expected a folder that only user"):
        ensure(build)


def test_what_takes_the_place_of_an_image_after_its_header_was_read_is_not_opened_by_qemu_img(
        params, tmp_path, monkeypatch):
    qemu_img("create", "-f", "qcow2", str(tmp_path / "a"), "64M")
    params = download(params, tmp_path / "a")
    ensure(params)
    monkeypatch.chdir(tmp_path / "www")
    qemu_img("create", "-f", "qcow2", "-o", "data_file=data.raw", "other", "1M")
    problems = disk_facts.header_problems

    def exchange(*arguments):
        os.replace("other", "node.qcow2")
        return problems(*arguments)

    monkeypatch.setattr(disk_facts, "header_problems", exchange)
    assert ensure(params)["disk_bytes"] == 64 * MIB
    assert not os.path.exists("other")


def test_an_image_that_no_longer_fits_is_refused_although_it_is_published(params, tmp_path):
    qemu_img("create", "-f", "qcow2", str(tmp_path / "a"), "64M")
    params = download(params, tmp_path / "a")
    ensure(params)
    with pytest.raises(RefusedError, match=r"h2: disk: found 1 bytes, expected at least 67108864"):
        ensure(dict(params, disks={"h2": 1}))


def test_a_checksum_of_something_else_is_reported(params, tmp_path, monkeypatch):
    def read(_url, stream, *_further):
        stream.write(b"x")
        stream.flush()
    monkeypatch.setattr(node_service.fetch.download, "_read", read)
    with pytest.raises(Exception, match=r"checksum: found sha256:2d71.*, expected sha256:0000"):
        ensure(dict(params, download=DOWNLOAD))


def test_all_files_that_are_missing_are_named_at_once(params, tmp_path):
    with pytest.raises(RefusedError) as raised:
        ensure(dict(params, source_dir=str(tmp_path), kubernetes_version="v1.35.4", kubernetes_dir=str(tmp_path),
                    image_archives=["/nonexistent"]))
    assert [problem.field for problem in raised.value.problems] == [
        "source_dir", "source_dir", *["kubernetes_dir"] * 3, "image_archives[0]"]


def test_the_key_depends_on_everything_that_the_image_is_made_of(tmp_path):
    for name in ("kubeadm", "kubelet", "kubectl", "images.tar"):
        (tmp_path / name).write_text("1")
    base = dict(GOOD, source_dir=str(ROOT / "roles" / "node_image" / "files" / "recipe"), cache_dir="/cache")
    given = dict(base, kubernetes_repository=None, kubernetes_dir=str(tmp_path))
    file = {"path": "/etc/x", "content": b"1", "mode": "0644"}
    variants = [base, given, *(dict(base, **change) for change in (
        {"packages": ["lldpd"]}, {"revision": "2"}, {"disk_size_gib": 8}, {"kernel_parameters": ["quiet"]},
        {"files": [file]}, {"files": [dict(file, content=b"2")]}, {"files": [dict(file, mode="0600")]},
        {"kubernetes_version": "v1.35.5"}, {"image_archives": [str(tmp_path / "images.tar")]}))]
    keys = [node_build.NodeBuild(params).key for params in variants]
    assert len(set(keys)) == len(keys)
    (tmp_path / "kubelet").write_text("2")
    assert node_build.NodeBuild(given).key != keys[1]


@pytest.fixture
def given(params, tmp_path, monkeypatch):
    """Return the options of an image of programs in a folder, which say that they are of the version."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("kubeadm", "kubelet", "kubectl"):
        (folder / name).write_text("#!/bin/sh\necho Kubernetes v1.35.4\necho Kustomize Version: v5.7.1\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(node_build.debian_root, "check_means", lambda *_arguments: None)
    return dict(params, source_dir=str(ROOT / "roles" / "node_image" / "files" / "recipe"),
                kubernetes_version="v1.35.4", kubernetes_dir=str(folder))


@pytest.mark.parametrize("name", ["kubeadm", "kubelet", "kubectl"])
def test_programs_of_another_version_are_refused_before_anything_is_installed(given, tmp_path, name):
    (tmp_path / "programs" / name).write_text("#!/bin/sh\necho Kubernetes v1.35.3\n")
    with pytest.raises(Exception, match=rf"kubernetes_version: {name} is v1.35.3, expected v1.35.4"):
        ensure(given)
    assert not (tmp_path / "cache").exists()


def _links_out(folder):
    (folder / "kubelet").rename(folder.parent / "elsewhere")
    (folder / "kubelet").symlink_to(folder.parent / "elsewhere")


def _is_a_pipe(folder):
    (folder / "kubelet").unlink()
    os.mkfifo(folder / "kubelet")


@pytest.mark.parametrize("change, found", [
    (_links_out, r'programs/kubelet", a link to ".*/elsewhere", expected a file of this folder'),
    (_is_a_pipe, r'programs/kubelet", no regular file, expected a file'),
    (lambda folder: (folder / "kubelet").chmod(0o644), r'programs/kubelet", mode 0644, expected an executable'),
    (lambda folder: (folder / "kubelet").chmod(0o757), r'programs/kubelet", owner \d+, mode 0757, expected a program '
     "that only root"),
    (lambda folder: folder.chmod(0o777), r'programs", owner \d+, mode 0777, expected a folder that only root'),
    (lambda folder: (folder / "kubelet").unlink(), r'programs/kubelet", which is missing, expected a file')])
def test_what_is_no_program_of_the_folder_s_owner_is_neither_run_nor_put_into_an_image(given, tmp_path, change, found):
    """As root it would do what another user has written, and so would each node."""
    change(tmp_path / "programs")
    with pytest.raises(RefusedError, match=rf"kubernetes_dir: found \".*{found}"):
        ensure(given)
    assert not (tmp_path / "cache").exists()


def test_a_link_within_the_folder_is_followed(given, tmp_path):
    folder = tmp_path / "programs"
    (folder / "kubelet").rename(folder / "kubelet-v1.35.4")
    (folder / "kubelet").symlink_to("kubelet-v1.35.4")
    assert given_programs.problems(str(folder), node_build.PROGRAMS) == []
    assert given_programs.place_of(str(folder), "kubelet") == str(folder / "kubelet-v1.35.4")


def test_a_program_that_is_exchanged_after_the_image_got_its_name_goes_into_none(given, tmp_path):
    build, root = node_build.NodeBuild(given), tmp_path / "root"
    (root / "usr/bin").mkdir(parents=True)
    (tmp_path / "programs" / "kubelet").write_text("#!/bin/sh\n")
    with pytest.raises(ReportedError, match=r"kubernetes_dir: .*/kubelet is another file than when this run began"):
        build._add(str(root))


def test_an_archive_that_is_exchanged_after_the_image_got_its_name_goes_into_none(given, tmp_path, monkeypatch):
    """The installation takes minutes; the image would be kept under the name of the other one."""
    archive, imported = tmp_path / "images.tar", []
    archive.write_text("1")
    monkeypatch.setattr(node_build, "run", lambda *arguments, **_options: imported.append(arguments))
    build = node_build.NodeBuild(dict(given, image_archives=[str(archive)]))
    (tmp_path / "unchanged").mkdir()
    build._import(str(tmp_path / "root"), str(tmp_path / "unchanged"))
    assert len(imported) == 1 and (tmp_path / "unchanged/images/0.tar").read_text() == "1"
    archive.write_text("2")
    (tmp_path / "changed").mkdir()
    with pytest.raises(ReportedError, match=r"image_archives\[0\]: .*/images.tar is another file than when this run"):
        build._import(str(tmp_path / "root"), str(tmp_path / "changed"))
    assert len(imported) == 1


def test_a_site_s_files_are_in_the_image_whatever_each_machine_gets_of_its_own(params, tmp_path, monkeypatch):
    paths, found = ["/etc/resolv.conf", "/etc/hostname", "/etc/ssh/ssh_host_ed25519_key.pub"], {}

    def install(_build, root, _work):
        for folder in ("etc/ssh", "opt/cni/bin"):
            os.makedirs(os.path.join(root, folder))
        Path(root, "etc/ssh/ssh_host_rsa_key").write_text("of the machine that builds")

    def write(root, *_arguments):
        assert not Path(root, "etc/ssh/ssh_host_rsa_key").exists() and not Path(root, "etc/machine-id").read_text()
        found.update((path, None if os.path.islink(root + path) else Path(root + path).read_text()) for path in paths)

    for name, step in (("_install", install), ("_check_version", lambda *_arguments: None),
                       ("_pause_image", lambda *_arguments: "pause")):
        monkeypatch.setattr(node_build.NodeBuild, name, step)
    monkeypatch.setattr(node_build, "run", lambda *_arguments, **_options: "")
    monkeypatch.setattr(node_build.debian_root, "check_means", lambda *_arguments: None)
    monkeypatch.setattr(node_build.node_disk, "write", write)
    monkeypatch.setattr(node_build.node_disk, "compress", lambda _raw, image: Path(image).touch())
    files = [{"path": path, "content": b"of the site", "mode": "0644"} for path in paths]
    node_build.NodeBuild(dict(GOOD, files=files, cache_dir=params["cache_dir"], source_dir=str(
        ROOT / "roles" / "node_image" / "files" / "recipe"))).build(Progress())
    assert found == dict.fromkeys(paths, "of the site")


def test_the_recipe_has_what_the_lab_s_image_has():
    """Links into the lab's recipe, so that both have the same service and the same settings of the kernel."""
    recipe = ROOT / "roles" / "node_image" / "files" / "recipe"
    links = [path for path in recipe.rglob("*") if path.is_symlink()]
    assert len(links) == 5 and all(path.is_file() for path in links)


def test_the_kernel_gets_the_parameters():
    assert node_disk.grub_config("1-2", "console=ttyS1 quiet").splitlines()[1] == (
        "linux /vmlinuz root=UUID=1-2 rw console=ttyS1 quiet")


@pytest.mark.parametrize(("sfdisk", "expected"), [
    ("exec /bin/sleep 60", r"partitioning: sfdisk did not end within .*ended; look at this machine's disk"),
    ("echo full >&2; exit 1", r"partitioning: sfdisk failed \(exit code 1\): full"),
    ("exec /bin/cat > table", r"making the root file system: mkfs\.ext4 failed")])
def test_a_disk_that_cannot_be_partitioned_is_an_error_with_its_step(tmp_path, monkeypatch, sfdisk, expected):
    """After gigabytes were written a sync takes minutes, and one that hangs would be waited for without end."""
    for name, script in (("sfdisk", sfdisk), ("mkfs.ext4", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(debian_root, "TIMEOUT_SECONDS", 0.5)
    with pytest.raises(debian_root.ImageBuildError, match=expected):
        node_disk.write("root", "raw", 3, "1-2")
    assert not (tmp_path / "table").exists() or (tmp_path / "table").read_text().startswith("label: gpt\n")


@pytest.mark.parametrize("output, found", [
    ("registry.k8s.io/etcd:3.6\nregistry.k8s.io/pause:3.10.1\n", "registry.k8s.io/pause:3.10.1"),
    ("registry.k8s.io/etcd:3.6\n", None), ("", None)])
def test_a_kubeadm_that_names_no_pause_image_is_reported(monkeypatch, output, found):
    monkeypatch.setattr(node_build, "run", lambda *_arguments, **_options: output)
    params = dict(GOOD, source_dir=str(ROOT / "roles" / "node_image" / "files" / "recipe"), cache_dir="/cache")
    build = node_build.NodeBuild(params)
    if found:
        assert build._pause_image("root") == found
    else:
        with pytest.raises(debian_root.ImageBuildError, match="asking kubeadm for its images: found no image of pause"):
            build._pause_image("root")


def test_a_conversion_finds_room_within_its_limit_however_many_processors_there_are(tmp_path, monkeypatch):
    """Its threads would share 64 areas on eight processors, of 64 MiB each; Ironic has the same setting for it."""
    (tmp_path / "qemu-img").write_text(f'#!/bin/sh\necho "$MALLOC_ARENA_MAX $(ulimit -v)" >{tmp_path}/limits\n')
    (tmp_path / "qemu-img").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    disk_image.convert("a.qcow2", "qcow2", "a.raw")
    assert (tmp_path / "limits").read_text() == "3 2097152\n"


@pytest.mark.parametrize("kind", ["qcow2", "raw"])
@pytest.mark.parametrize("script, ended", [
    ("for n in 1 2 3 4 5 6 7 8 9; do echo $n; sleep 0.3; done", None),
    ("exec sleep 60", "did not get on within 1 s, and was ended; look at this machine's disk")])
def test_a_conversion_has_an_end_once_it_does_not_get_on(tmp_path, monkeypatch, kind, script, ended):
    """It took 20 minutes at most, whatever the size of the image and however fast the disk."""
    (tmp_path / "qemu-img").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "qemu-img").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(debian_root, "TIMEOUT_SECONDS", 1)
    with pytest.raises(debian_root.ImageBuildError, match=ended) if ended else contextlib.nullcontext():
        disk_image.convert("a", kind, "b")


def test_an_image_that_finds_no_room_on_its_disk_names_the_option(tmp_path, monkeypatch):
    said = ("__populate_fs: Could not allocate block in ext2 filesystem while writing file \\\"a\\\"\n"
            "mkfs.ext4: Could not allocate block in ext2 filesystem while populating file system")
    for name, script in (("sfdisk", "cat >/dev/null"), ("mkfs.ext4", f'echo "{said}" >&2; exit 1')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(debian_root.ImageBuildError, match=r"^disk_size_gib: found 3, in which .* no room; raise it$"):
        node_disk.write("root", "raw", 3, "1-2")


IMPORTING = ROOT / "lab" / "node_image" / "import_images.py"


def manifest(architecture, system="linux"):
    return {"digest": f"sha256:{architecture}", "platform": {"os": system, "architecture": architecture}}


@pytest.mark.parametrize("listed, found", [
    ([manifest("arm64"), manifest("amd64", "windows"), manifest("amd64")], ["sha256:amd64-layer"]),
    ([{"digest": "sha256:amd64"}], ["sha256:amd64-layer"]), ([manifest("unknown", "unknown"), manifest("arm64")], [])])
def test_of_an_archive_of_several_architectures_the_image_of_the_machine_counts(monkeypatch, listed, found):
    """The archive need not have the others, which nobody can look into then."""
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="x86_64"))
    spec = importlib.util.spec_from_file_location("import_images", IMPORTING)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    contents = {"sha256:list": {"manifests": listed}, "sha256:amd64": {"layers": [{"digest": "sha256:amd64-layer"}]}}

    def chroot(_root, arguments):
        return "REF TYPE DIGEST\nname:1 list sha256:list\n" if "list" in arguments else json.dumps(
            contents[arguments[-1]])

    monkeypatch.setattr(script, "chroot", chroot)
    assert script.layers("root", "name:1") == found
