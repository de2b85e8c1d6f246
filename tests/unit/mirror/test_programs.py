# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs out of images: the right file of the right layer, by the digest that was given, and once."""
from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import registry
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import bill as bills
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import image_file, programs, service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import program_images
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.manifests import IRONIC_VARIANTS
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine, rendered_manifests

SOURCE = Path(__file__).parents[3] / "lab" / "engine"
PART = f"{RENDERED[0].name}.yaml"


def digest(content):
    return hashlib.sha256(content).hexdigest()


def layer(*members, packed="gz"):
    """Return a layer: members are (name, content), content bytes, or a text for a link."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode=f"w:{packed}") as stream:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            stream.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return output.getvalue()


def image(directory, *layers):
    directory.mkdir(parents=True, exist_ok=True)
    for content in (b"{}", *layers):
        (directory / digest(content)).write_bytes(content)
    (directory / "manifest.json").write_text(json.dumps({
        "config": {"digest": "sha256:" + digest(b"{}")},
        "layers": [{"digest": "sha256:" + digest(content)} for content in layers]}))
    return directory


@pytest.mark.parametrize("layers", [
    [layer(("bin/manager", b"x"))], [layer(("./bin/manager", b"x"), packed="")],
    [layer(("bin/manager", b"old")), layer(("bin/manager", b"x"))],
    [layer(("bin/manager", b"x")), layer(("etc/x", b""))],
    [layer(("bin/real", b"x"), ("bin/manager", "real"))], [layer(("real", b"x")), layer(("bin/manager", "/real"))],
    [layer(("bin/.wh.manager", b"")), layer(("bin/manager", b"x"))],
    # A folder that was removed and filled again in one step of the build.
    [layer(("bin/manager", b"old")), layer(("bin/.wh..wh..opq", b""), ("bin/manager", b"x"))],
    [layer(("bin/manager", b"old")), layer((".wh.bin", b""), ("bin/manager", b"x"))],
    [layer(("bin/manager", b"old")), layer(("bin/.wh.manager", b""), ("bin/manager", b"x"))],
    [layer(("usr/bin/manager", b"x")), layer(("bin/manager", b"old")), layer((".wh.bin", b""), ("bin", "usr/bin"))],
    [layer(("bin", "usr/bin")), layer(("usr/bin/manager", b"x"))]])
def test_a_file_is_that_of_the_last_layer_that_has_it(tmp_path, layers):
    image_file.take(str(image(tmp_path / "image", *layers)), "/bin/manager", str(tmp_path / "manager"))
    assert (tmp_path / "manager").read_bytes() == b"x" and os.access(tmp_path / "manager", os.X_OK)


@pytest.mark.parametrize("layers, text", [
    ([layer(("other", b"x"))], "/bin/manager: not in the image"),
    ([layer(("bin/manager", b"x")), layer(("bin/.wh.manager", b""))], "removed in a layer"),
    ([layer(("bin/manager", b"x")), layer((".wh.bin", b""))], "removed in a layer"),
    ([layer(("bin/manager", b"x")), layer(("bin/.wh..wh..opq", b""))], "removed in a layer"),
    ([layer(("bin/manager", "/etc/x"))], "/etc/x: not in the image"),
    ([layer(("bin/manager", "manager"))], "more than 8 links")])
def test_an_image_without_the_file_is_named_and_nothing_of_this_machine_is_read(tmp_path, layers, text):
    with pytest.raises(image_file.ImageFileError, match=text):
        image_file.take(str(image(tmp_path / "image", *layers)), "/bin/manager", str(tmp_path / "manager"))
    assert not (tmp_path / "manager").exists()


def test_a_layer_is_read_as_far_as_honest_ones_go(tmp_path, monkeypatch):
    long = tarfile.TarInfo("x" * 20000)
    announced = tarfile.TarInfo("x")
    announced.size = 2 ** 60
    cases = {
        "longer than headers are": long.tobuf(tarfile.PAX_FORMAT),
        "entries or 16 GiB": announced.tobuf(tarfile.GNU_FORMAT),
        "expected a tar archive, plain or by gzip": b"\x28\xb5\x2f\xfd" + bytes(1024),
        "layer that can't be read": gzip.compress(layer(("a", b"x"), packed=""))[:40]}
    for number, (text, content) in enumerate(cases.items()):
        directory = image(tmp_path / str(number), content)
        with pytest.raises(image_file.ImageFileError, match=text):
            image_file.take(str(directory), "/manager", str(tmp_path / "manager"))
    monkeypatch.setattr(image_file, "MOST_MEMBERS", 2)
    for names, text in ((("a", "b"), "not in the image"), (("a", "b", "c"), "more than 2 entries")):
        with pytest.raises(image_file.ImageFileError, match=text):
            image_file.take(str(image(tmp_path / text, layer(*((name, b"") for name in names)))), "/manager",
                            str(tmp_path / "manager"))


def test_a_list_of_images_is_refused(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps({"manifests": [{"digest": "sha256:" + "0" * 64}]}))
    with pytest.raises(image_file.ImageFileError, match="a list of images"):
        image_file.take(str(tmp_path), "/manager", str(tmp_path / "manager"))


def test_every_program_of_a_plane_but_one_is_in_an_image():
    versions = dict((program.name, "v1.2.3") for program in engine.SETS["management"])
    found = program_images.program_images(versions)
    assert {item.program for item in found} == set(versions) - set(program_images.WITHOUT_IMAGE)
    assert len(found) == len(versions) - 1 and all(item.reference.endswith(":v1.2.3") for item in found)


class Site:
    """A registry in which each program's image has the program's name for its content; counts what was asked."""

    def __init__(self, tmp_path, monkeypatch):
        self.fetched, self.absent, self.moved = [], (), b""
        self.cache = tmp_path / "cache"
        self.made = engine.Engine(str(SOURCE), str(self.cache), engine.FROM_IMAGES)
        self.images = program_images.program_images(self.made.versions(["management"]))
        monkeypatch.setattr(registry, "digest", self.digest)
        monkeypatch.setattr(registry, "fetch_one", self.fetch)
        self.manifests = tmp_path / "files"
        self.manifests.mkdir()
        for kind, names in (("plane", [part.name for part in RENDERED]), ("ironic", IRONIC_VARIANTS)):
            for name in names:
                (self.manifests / f"{kind}-manifests-{name}.{self.made.pins_key}.yaml").write_text("kind: X")

    def digest(self, source, name):
        return None if name in self.absent else "sha256:" + digest(name.encode() + self.moved)

    def fetch(self, source, name, wanted, directory):
        self.fetched.append((name, wanted))
        found = next(item for item in self.images if item.reference == name)
        image(Path(directory), layer((found.path.lstrip("/"), f"{found.program} {wanted}".encode())))

    def ensure(self, check_mode=False, **params):
        given = dict({"digests": {}, "bill_file": None, "manifests_dir": str(self.manifests), "trust_registry": True},
                     **params)
        return programs.ensure(given, self.made, registry.Registry("mirror"), check_mode, Progress())


@pytest.fixture
def site(tmp_path, monkeypatch):
    return Site(tmp_path, monkeypatch)


def test_programs_are_taken_once_each_by_its_digest(site):
    assert site.ensure(check_mode=True)["changed"] and not site.cache.exists()
    result = site.ensure()
    assert result["changed"] and len(result["taken"]) == len(site.images) == len(site.fetched)
    for item in site.images:
        wanted = "sha256:" + digest(item.reference.encode())
        assert Path(site.made.bin_dir, item.program).read_text() == f"{item.program} {wanted}"
        assert result["digests"][item.reference] == wanted
    assert Path(site.made.manifests_dir, PART).read_text() == "kind: X"
    again = site.ensure()
    assert not again["changed"] and again["digests"] == result["digests"] and len(site.fetched) == len(site.images)
    assert sorted(os.listdir(site.made.directory)) == ["bin", "images.json", "ironic-manifests-3", "manifests-2"]


def test_the_image_that_a_killed_run_has_left_goes_with_the_next_one(site):
    site.ensure()
    left = Path(site.made.directory, ".image-abcdefgh")
    left.mkdir()
    os.utime(left, (0, 0))
    Path(site.made.bin_dir, "etcd").unlink()
    assert site.ensure()["taken"] == ["etcd"] and not left.exists()


def test_another_digest_that_is_given_replaces_a_program(site, tmp_path):
    site.ensure()
    name = next(item.reference for item in site.images if item.program == "kube-apiserver")
    wanted = "sha256:" + "1" * 64
    assert site.ensure(digests={name: wanted})["taken"] == ["kube-apiserver"]
    assert Path(site.made.bin_dir, "kube-apiserver").read_text().endswith(wanted)
    bill = tmp_path / "bill.json"
    bill.write_bytes(bills.dump(bills.compose("0.1.0", {name: "sha256:" + "2" * 64}, {})))
    bill.chmod(0o644)
    assert site.ensure(bill_file=str(bill), digests={name: wanted})["taken"] == []
    assert site.ensure(bill_file=str(bill))["taken"] == ["kube-apiserver"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_an_image_without_a_digest_is_refused_unless_the_registry_may_say_it(site, check_mode):
    """What the registry says now would run with all rights of the plane, whatever it had yesterday."""
    known = dict((item.reference, "sha256:" + digest(item.reference.encode())) for item in site.images)
    name, last = known.popitem()
    with pytest.raises(RefusedError, match=rf'image "{name}": digests: not set, .*trust_registry=true') as refused:
        site.ensure(check_mode, trust_registry=False, digests=known)
    assert len(refused.value.problems) == 1 and site.fetched == [] and not site.cache.exists()
    result = site.ensure(check_mode, digests=known)
    assert result["changed"] and result["unpinned"] == [name]
    assert site.ensure(check_mode, trust_registry=False, digests=dict(known, **{name: last}))["unpinned"] == []


def test_an_image_is_taken_again_by_the_digest_of_the_first_time(site):
    """A tag that was moved meanwhile leads nowhere else."""
    first = site.ensure()
    assert first["unpinned"] == [item.reference for item in site.images]
    site.moved, site.fetched = b"moved", []
    Path(site.made.bin_dir, "etcd").unlink()
    again = site.ensure(trust_registry=False)
    assert again["taken"] == ["etcd"] and again["unpinned"] == [] and again["digests"] == first["digests"]
    assert [wanted for _name, wanted in site.fetched] == [first["digests"][site.fetched[0][0]]]


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_bill_that_others_could_have_written_is_not_used(site, tmp_path, mode):
    """It may lie in the folder of an image server, beside what its user may write."""
    bill = tmp_path / "bill.json"
    bill.write_bytes(bills.dump(bills.compose(
        "0.1.0", dict((item.reference, "sha256:" + "2" * 64) for item in site.images), {})))
    bill.chmod(0o644)
    assert site.ensure(True, bill_file=str(bill), trust_registry=False)["unpinned"] == []
    bill.chmod(mode)
    with pytest.raises(ReportedError, match=rf"owner \d+, mode {mode:04o}, expected a file that only root or the user"):
        site.ensure(bill_file=str(bill), trust_registry=False)
    assert site.fetched == []


def test_what_is_missing_is_named_all_at_once_before_anything_is_taken(site):
    site.absent = [item.reference for item in site.images if item.program in ("etcd", "kubectl")]
    with pytest.raises(ReportedError, match=r"(?s)2 of 10 images cannot be used:.*etcd-development/etcd.*kubectl"):
        site.ensure()
    assert site.fetched == []
    with pytest.raises(RefusedError, match='image "etcd": found another form'):
        site.ensure(digests={"etcd": "sha256:" + "1" * 64, "registry.k8s.io/kubectl:v1": "latest"})


def test_manifests_of_other_pins_are_not_used(site, tmp_path):
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "plane-manifests-x.0123456789abcdef.yaml").write_text("")
    with pytest.raises(ReportedError, match="expected those that mirror_gather of this release adds"):
        site.ensure(manifests_dir=str(tmp_path / "none"))


def test_rendered_manifests_survive_the_way_through_a_folder(site, tmp_path):
    site.ensure()
    files = rendered_manifests.files(site.made)
    folder = tmp_path / "there"
    folder.mkdir()
    for name, path in files.items():
        (folder / name).write_bytes(Path(path).read_bytes())
    other = engine.Engine(str(SOURCE), str(tmp_path / "other"))
    rendered_manifests.place(str(folder), other)
    assert Path(other.manifests_dir, PART).read_text() == "kind: X" and rendered_manifests.complete(other)


@pytest.mark.parametrize("kind", ["plane", "ironic"])
@pytest.mark.parametrize("which", [slice(1, 2), slice(1, None)])
def test_manifests_that_are_not_all_there_are_not_taken_for_all(site, kind, which):
    """A run of mirror_unpack that was killed has put some of them there."""
    missing = sorted(site.manifests.glob(f"{kind}-*"))[which]
    for path in missing:
        path.unlink()
    with pytest.raises(ReportedError, match=re.escape(f"{site.manifests}: found no {missing[0].name}") + ".*expected "):
        site.ensure()
    assert not rendered_manifests.complete(site.made)
    for path in missing:
        path.write_text("kind: X")
    site.ensure()
    assert rendered_manifests.complete(site.made)


def replaced_by_a_link(file):
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


@pytest.mark.parametrize("happens", [
    lambda file: file.chmod(0o666), lambda file: file.parent.chmod(0o777),
    lambda file: file.parent.chmod(0o775), replaced_by_a_link,
    lambda file: (file.unlink(), os.mkfifo(file))],
    ids=["file", "folder", "group", "link", "pipe"])
def test_manifests_that_others_could_have_written_are_not_applied(site, tmp_path, happens):
    """The folder may be that of an image server, into which its user may write; an administrator applies them."""
    site.ensure()
    folder = tmp_path / "there"
    folder.mkdir()
    for name, path in rendered_manifests.files(site.made).items():
        (folder / name).write_bytes(Path(path).read_bytes())
    happens(next(path for path in folder.iterdir() if path.name.startswith("plane-")))
    other = engine.Engine(str(SOURCE), str(tmp_path / "other"))
    with pytest.raises(ReportedError, match="expected what only root or the user"):
        rendered_manifests.place(str(folder), other)
    assert not rendered_manifests.complete(other)


def gathered(tmp_path, folder, check_mode=False, **params):
    given = dict({"parts": [], "images": [], "image_lists": [], "cluster_add_ons": [], "planes": [], "files": [],
                  "source_dir": None, "programs": False, "manifests": False,
                  "folders": [str(folder)], "archive": str(tmp_path / "a.tar"), "work_dir": None, "release": "0.1.0",
                  "files_ca_file": None, "cache_dir": None}, **params)
    return service.gather(given, registry.Registry(""), lambda line: None, check_mode, lambda: 0)


def test_files_of_a_folder_are_gathered_and_a_changed_one_again(tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "ironic-39.0.0-py3-none-any.whl").write_bytes(b"one")
    first = gathered(tmp_path, folder)
    assert [entry["name"] for entry in first["bill"]["files"]] == ["ironic-39.0.0-py3-none-any.whl"]
    assert not gathered(tmp_path, folder)["changed"]
    (folder / "ironic-39.0.0-py3-none-any.whl").write_bytes(b"two")
    assert gathered(tmp_path, folder)["changed"]


def test_check_mode_names_no_checksum_that_the_archive_will_not_have(tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "ironic-39.0.0-py3-none-any.whl").write_bytes(b"one")
    predicted = gathered(tmp_path, folder, check_mode=True)
    assert predicted["changed"] and predicted["checksum"] is None and not (tmp_path / "a.tar").exists()
    checksum = gathered(tmp_path, folder)["checksum"]
    unchanged = gathered(tmp_path, folder, check_mode=True)
    assert not unchanged["changed"] and unchanged["checksum"] == checksum


def test_check_mode_knows_of_manifests_that_are_yet_to_be_rendered(site, tmp_path):
    """What renders them before this renders nothing in check mode, and an archive without them is another one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    gathered(tmp_path, folder)
    given = {"manifests": True, "source_dir": str(SOURCE), "cache_dir": str(site.cache)}
    predicted = gathered(tmp_path, folder, check_mode=True, **given)
    assert predicted["changed"] and predicted["warnings"][0].startswith("manifests: not rendered yet")
    with pytest.raises(ReportedError, match="run the module plane_programs first"):
        gathered(tmp_path, folder, **given)


@pytest.mark.parametrize("left", ["half of a file", "no file"])
def test_an_archive_that_was_cut_is_gathered_again(tmp_path, left):
    """To unpack it is refused, with the advice to gather it again; its bill is at its beginning."""
    folder, path = tmp_path / "wheels", tmp_path / "a.tar"
    folder.mkdir()
    (folder / "ironic-39.0.0-py3-none-any.whl").write_bytes(b"wheel" * 2000)
    gathered(tmp_path, folder)
    whole = path.read_bytes()
    with tarfile.open(path) as stream:
        last = stream.getmembers()[-1]
    path.write_bytes(whole[:last.offset_data + 5000] if left == "half of a file" else whole[:last.offset] + bytes(1024))
    assert gathered(tmp_path, folder)["changed"] and path.read_bytes() == whole
    assert not gathered(tmp_path, folder)["changed"]


def test_what_is_no_archive_is_not_gathered_over(tmp_path):
    folder, path = tmp_path / "wheels", tmp_path / "a.tar"
    folder.mkdir()
    path.write_bytes(b"minutes of a meeting")
    with pytest.raises(ReportedError, match=f"{path}: .*delete it, or name another path by archive") as caught:
        gathered(tmp_path, folder)
    assert "gather it again" not in str(caught.value) and path.read_bytes() == b"minutes of a meeting"


def test_what_cannot_be_in_an_archive_is_refused_all_at_once(tmp_path):
    folder = tmp_path / "wheels"
    (folder / "sub").mkdir(parents=True)
    (folder / "a b").write_bytes(b"")
    with pytest.raises(RefusedError, match=r'(?s)file "a b".*file "sub".*no plain file.*folder ".*/absent"'):
        gathered(tmp_path, folder, folders=[str(folder), str(tmp_path / "absent")])
    (folder / "sub").rmdir()
    (folder / "a b").rename(folder / "x")
    entry = {"name": "x", "url": "https://example.org/x", "checksum": "sha256:" + "0" * 64}
    with pytest.raises(RefusedError, match='file "x": name: found twice'):
        gathered(tmp_path, folder, files=[entry])


def test_no_link_in_a_folder_leads_into_an_archive(tmp_path, monkeypatch):
    """The folder may be that of an image server, whose user would read root's files on the other side."""
    (tmp_path / "secret").write_text("canary-81")
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "node.qcow2").symlink_to(tmp_path / "secret")
    with pytest.raises(RefusedError, match=r'file "node\.qcow2".*no link'):
        gathered(tmp_path, folder)
    (folder / "node.qcow2").unlink()
    (folder / "node.qcow2").write_text("image")
    checksum = service.file_digest.checksum

    def exchanged(path):
        """It is a link after all that was looked at."""
        if path == str(folder / "node.qcow2"):
            os.unlink(path)
            os.symlink(tmp_path / "secret", path)
        return checksum(path)
    monkeypatch.setattr(service.file_digest, "checksum", exchanged)
    with pytest.raises(OSError, match=r"node\.qcow2"):
        gathered(tmp_path, folder)
    assert not (tmp_path / "a.tar").exists()
