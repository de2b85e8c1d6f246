# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image cache: images of other servers in a folder of an image server, verified, converted, with their versions."""
from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..._common.files import file_digest, open_folder, regular_file, whole_file
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import redacted
from ..._common.texts.formats import disk
from ..._common.transfer import download
from ..._common.transfer.image_server import image_fetcher
from ..disks import disk_image
from ..publishing.image_folder import LOCK, ImageFolder, Taken
from ..publishing.private_work import held
from . import cache_options, versions

# Raise it when an image is verified in another way than before: it is verified again then.
RECIPE = "1"
# Of what this service has published, and no other.
_OWN_KEY = "image-cache "
# Below the folder, so that what is verified gets its name without a second copy.
WORK = ".metal3-cache"
# Of files of the work folder that no later run goes on with.
_TEMPORARY = "making-"
_MODE = 0o644


def ensure(params: dict[str, Any], check_mode: bool, progress: Any) -> dict[str, Any]:
    """Bring a folder of images to what the options say and return the module's result.

    :param params: the module's parameters
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: when options are wrong
    :raises ReportedError: when images failed; the others are published
    """
    found = cache_options.problems(params["images"]) + _missing(params["images"])
    if params["keep_versions"] < 0:
        found.append(Problem("image-option", "", "keep_versions", f"{params['keep_versions']}", "0 or more",
                             "correct it"))
    if found:
        raise RefusedError(found)
    cache = Cache(params, check_mode, progress)
    if params["state"] == "absent":
        with cache.alone(False):
            removed = cache.remove_all()
        return {"changed": bool(removed), "images": [], "removed": removed,
                "warnings": cache.left(cache.of_unknown_origin())}
    wanted = [image for image in params["images"] if image["state"] == "present"]
    cache.read_checksums(wanted)
    gone = [image["name"] for image in params["images"] if image["state"] == "absent"]
    with cache.alone(bool(wanted)):
        removed = [name for name in gone if cache.remove(name)]
        images = cache.published(wanted)
    return {"changed": bool(removed) or any(image["changed"] for image in images), "images": images, "removed": removed,
            "warnings": cache.left(name for name in gone if name not in removed)}


def _missing(images: list[dict[str, Any]]) -> list[Problem]:
    return [Problem("image-path", image["name"], f"images[{number}].path", f'"{image["path"]}", which is missing',
                    "a file", "correct the path")
            for number, image in enumerate(images)
            if image["state"] == "present" and image["path"] and not os.path.isfile(image["path"])]


class Cache:
    """A folder of images, and what is done with it.

    :param params: the module's parameters
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    """

    def __init__(self, params: Mapping[str, Any], check_mode: bool, progress: Any) -> None:
        self._directory, self._keep = params["directory"], params["keep_versions"]
        self._ca_file, self._check_mode, self._progress = params["ca_file"], check_mode, progress
        self._checksums: dict[str, str] = {}
        self._work = ""

    @contextlib.contextmanager
    def alone(self, publishes: bool) -> Iterator[None]:
        """Keep other runs waiting: what they publish under a name would get the name of this run's version.

        :param publishes: whether images are to be there afterwards
        :raises ReportedError: when something else is in the place of the work folder
        """
        work = os.path.join(self._directory, WORK)
        if self._check_mode or not (publishes or os.path.isdir(work)):
            yield
            return
        open_folder.make(self._directory)
        with held(work, self._progress) as self._work:
            yield

    def read_checksums(self, images: list[dict[str, Any]]) -> None:
        """Read what checksum files say of images, before anything is written.

        :raises RefusedError: when they say nothing that is taken
        """
        fetch, limit = image_fetcher(self._ca_file), cache_options.LARGEST_CHECKSUM_FILE_BYTES
        found: list[Problem] = []
        for number, image in enumerate(images):
            checksum, where = image["checksum"] or "", f"images[{number}]"
            if not cache_options.is_url(checksum):
                self._checksums[image["name"]] = cache_options.read_checksum(checksum) or ""
                continue
            try:
                text = fetch(checksum, limit + 1)
            except OSError as exc:
                found.append(Problem("image-checksum", image["name"], f"{where}.checksum",
                                     f"{redacted(checksum)}: {exc}", "a checksum file that can be downloaded",
                                     "correct the URL, or name the checksum itself"))
                continue
            if len(text) > limit:
                found.append(Problem("image-checksum", image["name"], f"{where}.checksum",
                                     f"{redacted(checksum)}, larger than 1 MiB", "a checksum file",
                                     "look at what the URL leads to"))
                continue
            value, problems = cache_options.checksum_of_file(text.decode("utf-8", "replace"), image, where)
            self._checksums[image["name"]] = value
            found += problems
        if found:
            raise RefusedError(found)

    def published(self, images: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Publish the images that are not there yet, and return all as the module returns them.

        :raises ReportedError: for all that failed, when the others are published
        """
        known = dict((image["name"], self._known(image)) for image in images)
        missing = [image for image in images if known[image["name"]] is None]
        failures: list[str] = []
        if missing and not self._check_mode:
            _clear(self._work, _TEMPORARY)
            for image in missing:
                try:
                    known[image["name"]] = self._fetched(image, self._work)
                except RefusedError as exc:
                    failures += [str(problem) for problem in exc.problems]
                except ReportedError as exc:
                    failures.append(f"{image['name']}: {exc}")
            if not failures:
                _clear(self._work, "")
        results = [self._described(image, known[image["name"]], image in missing) for image in images]
        if failures:
            raise ReportedError("\n".join(failures))
        return results

    def _known(self, image: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what is known of an image that is published as it is described, else None."""
        name = image["name"]
        files = self._folder(name).published(self._key(image, self._source(image)), [name], by_time=True)
        return files[name] if files is not None else None

    def _described(self, image: Mapping[str, Any], known: Mapping[str, Any] | None, is_new: bool) -> dict[str, Any]:
        """Bring the versions of an image to their number and return the image as the module returns it."""
        name = image["name"]
        result = {"name": name, "path": os.path.join(self._directory, name), "changed": True}
        if known is None:
            return result
        version = cache_options.version_name(name, known["sha256"])
        facts = self._facts(result["path"], name, image["format"])
        result.update(known, version=version, checksum_type="sha256", **facts)
        result["changed"] = self._kept(name, version, known["sha256"]) or is_new
        return result

    def remove(self, name: str) -> bool:
        """Remove an image that was published here, with its versions; return whether there was one."""
        folder = self._folder(name)
        if not str(folder.key()).startswith(_OWN_KEY):
            return False
        if not self._check_mode:
            for version in versions.recorded(self._directory, name):
                self._unlink(version)
            self._unlink(name)
            # What says that it was published goes last: a run that is killed before is repeated.
            os.unlink(folder.path(name + ".json"))
            self._progress.wrote(folder.path(name), "deleted")
        return True

    def of_unknown_origin(self) -> list[str]:
        """Return the names of the images whose record is not believed; those of other modules have one that is."""
        return [name for name in _recorded(self._names()) if self._folder(name).key() is None]

    def left(self, names: Iterable[str]) -> list[str]:
        """Return a warning for each image that is there and was not removed, whose origin is not known.

        :param names: of the images
        """
        return [f"{self._folder(name).path(name)}: not removed; found no record of image_cache, or one that others "
                f"could have written, expected {name}.json that only this user can write; delete the file if it is "
                "not needed"
                for name in names if os.path.lexists(self._folder(name).path(name))]

    def _names(self) -> list[str]:
        return sorted(os.listdir(self._directory)) if os.path.isdir(self._directory) else []

    def remove_all(self) -> list[str]:
        """Remove all images that were published here, and the folder when nothing else is in it; return their names."""
        names = self._names()
        removed = [name for name in _recorded(names) if self.remove(name)]
        if names and not self._check_mode:
            if WORK in names:
                _clear(self._work, "")
                os.rmdir(os.path.join(self._directory, WORK))
            if set(os.listdir(self._directory)) <= {LOCK}:
                self._unlink(LOCK)
                os.rmdir(self._directory)
        return removed

    def _folder(self, name: str) -> ImageFolder:
        return ImageFolder(self._directory, name + ".json")

    def _source(self, image: Mapping[str, Any]) -> str:
        """Return what decides whether an image is another one."""
        if self._checksums[image["name"]]:
            return self._checksums[image["name"]]
        return _text_of(image["path"], os.stat(image["path"]))

    @staticmethod
    def _key(image: Mapping[str, Any], source: str) -> str:
        return f"{_OWN_KEY}{RECIPE} {image['format']} {source}"

    def _fetched(self, image: Mapping[str, Any], work: str) -> dict[str, Any]:
        # Once: a file that is replaced from here on is another image, which the next run publishes.
        name, source = image["name"], self._source(image)
        taken = os.path.join(work, hashlib.sha256(source.encode()).hexdigest())
        checksum = self._checksums[name]
        # What a run has left that lost its power may have its name without its contents.
        if not checksum or file_digest.checksum(taken, checksum.partition(":")[0]) != checksum:
            if image["url"]:
                self._download(image, taken)
            else:
                self._copy(image, source, taken)
        made = self._converted(name, image["format"], taken, work)
        files, _differing = self._folder(name).publish(
            self._key(image, source), {name: Taken(made)}, lambda made: None, self._progress.wrote)
        return files[name]

    def _download(self, image: Mapping[str, Any], target: str) -> None:
        self._progress.event(f"Downloading {image['name']} from {redacted(image['url'])}")
        download.file(image["url"], target, self._checksums[image["name"]], self._ca_file,
                      lambda size_bytes: self._check_room(image["name"], size_bytes, "the rest of the download"))

    def _copy(self, image: Mapping[str, Any], source: str, target: str) -> None:
        path, expected = image["path"], self._checksums[image["name"]]
        self._progress.event(f"Copying {image['name']} from {path}")
        self._check_room(image["name"], os.path.getsize(path), "a copy")
        with _made(os.path.dirname(target)) as temporary:
            try:
                with regular_file.named(path) as (reader, _status), open(temporary, "wb") as writer:
                    shutil.copyfileobj(reader, writer, 2 ** 20)
                    copied = _text_of(path, os.fstat(reader.fileno()))
            except regular_file.NotRegularError as exc:
                raise ReportedError(f'path: found "{path}", {exc.strerror}, expected a file, or a link of this user to '
                                    "one; what is published can be read by all: name the file that is meant") from exc
            if not expected and copied != source:
                raise ReportedError(f'path: found "{path}", which was written to while it was copied, expected a file '
                                    "that stays as it is; wait until whoever writes it is done, then run again")
            found = file_digest.checksum(temporary, expected.partition(":")[0]) if expected else ""
            if found != expected:
                raise ReportedError(f"{path}: checksum: found {found}, expected {expected}; correct the checksum, or "
                                    "find out who changed the file")
            os.replace(temporary, target)

    def _converted(self, name: str, wanted: str, source: str, work: str) -> str:
        """Return the path of a file in the wanted format, which is the source's when nothing is to be converted."""
        try:
            facts = self._facts(source, name, wanted, final=False)
        except RefusedError:
            # It would be refused again: nothing to go on with.
            os.unlink(source)
            raise
        if wanted in (cache_options.AS_IS, facts.get("format")):
            return source
        self._progress.event(f"Converting {name} from {facts['format']} to {wanted}")
        self._check_room(name, disk_image.data_bytes(source, facts["format"]), f"the image as {wanted}")
        descriptor, target = tempfile.mkstemp(dir=work, prefix=_TEMPORARY)
        os.close(descriptor)
        try:
            disk_image.convert(source, facts["format"], target)
            self._facts(target, name, wanted)
        except BaseException:
            # It may be what has filled the disk.
            os.unlink(target)
            raise
        return target

    def _facts(self, path: str, name: str, wanted: str, final: bool = True) -> dict[str, Any]:
        """Return ``format`` and ``disk_bytes`` of a file that must be a disk image, else nothing.

        :param final: whether the file must have the wanted format
        :raises RefusedError: with what is wrong
        """
        if not cache_options.is_disk(name, wanted, disk_image.head(path)):
            return {}
        facts = disk_image.verified(path, name, {})
        if final and wanted not in (cache_options.AS_IS, facts["format"]):
            raise ReportedError(f"{name}: format: found {facts['format']}, expected {wanted}; correct format or "
                                "the image's source")
        return facts

    def _check_room(self, name: str, needed_bytes: int, what: str) -> None:
        found = os.statvfs(self._directory)
        free = found.f_bavail * found.f_frsize
        if free < needed_bytes:
            raise RefusedError([Problem("image-room", name, "directory", f"{disk(free)} free in {self._directory}",
                                        f"at least {disk(needed_bytes)} for {what}",
                                        "free space, or choose another directory")])

    def _kept(self, name: str, version: str, sha256: str) -> bool:
        """Give an image the name of its version too, and remove the versions that are too many."""
        folder = self._folder(name)
        # First: by it a version that a killed run has left is found.
        before = whole_file.write(folder.path(version + ".sha256"), f"{sha256}  {version}\n".encode(), _MODE,
                                  self._check_mode)
        changed = not folder.has_name(name, version) if self._check_mode else folder.give_name(name, version)
        for former in self._superfluous(name, version):
            changed = True
            if not self._check_mode:
                self._unlink(former)
                self._progress.wrote(folder.path(former), "deleted")
        return changed or before is not None

    def _superfluous(self, name: str, version: str) -> list[str]:
        former = [item for item in versions.recorded(self._directory, name) if item != version]
        former.sort(key=self._published_at, reverse=True)
        there = [item for item in former if os.path.lexists(os.path.join(self._directory, item))]
        return [item for item in former if item not in there[:self._keep]]

    def _published_at(self, version: str) -> tuple[int, str]:
        # The image has the time of its download; its checksum is written when it is published.
        return os.lstat(os.path.join(self._directory, version + ".sha256")).st_mtime_ns, version

    def _unlink(self, name: str) -> None:
        for path in (name, name + ".sha256"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._directory, path))


def _text_of(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _recorded(names: list[str]) -> list[str]:
    return [name[:-len(".json")] for name in names if name.endswith(".json")]


@contextlib.contextmanager
def _made(work: str) -> Any:
    """Give the path of a new file for the time of a ``with``; it is gone then, unless it got another name."""
    descriptor, path = tempfile.mkstemp(dir=work, prefix=_TEMPORARY)
    os.close(descriptor)
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _clear(work: str, prefix: str) -> None:
    for name in os.listdir(work):
        if name.startswith(prefix):
            os.unlink(os.path.join(work, name))
