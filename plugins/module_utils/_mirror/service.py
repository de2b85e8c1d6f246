# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathering an archive on a machine that reaches the registries, and unpacking it where nothing else is reached."""
from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .._cluster.render import images as cluster_images
from .._common.files import file_digest, open_folder, regular_file, user_folders, whole_file
from .._common.options.field_checks import DIGEST, DIGEST_RULE, show
from .._common.problems.errors import RefusedError, ReportedError
from .._common.problems.problem import Problem
from .._common.texts.formats import timestamp
from .._common.transfer import download, registry
from .._manifests import documents
from .._plane import program_images
from .._plane.cluster import operator_images
from .._plane.parts.catalogue import BY_NAME
from .._plane.process import engine, go_mod, rendered_manifests
from . import archive, image_lists, plane_images, verified_copy, work_folder
from . import bill as bills

_DOCUMENT_MODE = 0o644


class Wanted(NamedTuple):
    """What an archive is to have.

    :ivar images: names with tag
    :ivar digests: name → digest, of images that must have this one
    :ivar files: dicts ``name``, ``url`` and ``checksum``
    :ivar local: name of a file → its path on this machine
    :ivar unknown: in words, what the archive may lack
    """

    images: list[str]
    digests: dict[str, str]
    files: list[Mapping[str, Any]]
    local: dict[str, str]
    unknown: list[str]


def wanted(parts: Iterable[str], images: Iterable[str], files: Iterable[Mapping[str, Any]],
           source_dir: str | None, programs: bool = False, local: Mapping[str, str] | None = None,
           add_ons: Iterable[str] = (), planes: Iterable[Mapping[str, Any]] = ()) -> Wanted:
    """Return what is to be gathered.

    :param parts: names of parts of the plane, whose images are taken at the pinned version
    :param images: further names of images; with a digest behind an ``@``, the image that has it
    :param files: see :class:`Wanted`
    :param source_dir: folder with the ``go.mod`` that pins the parts
    :param programs: whether the images of the programs of a plane of processes are gathered, too
    :param local: see :class:`Wanted`
    :param add_ons: of clusters, out of :data:`cluster_images.ADD_ONS`
    :param planes: in clusters, see :data:`plane_images.OPTIONS`
    :raises RefusedError: with all that is no name of an image or no file
    """
    parts, files, planes = list(parts), list(files), list(planes)
    operated = plane_images.of_operators(planes, lambda path: documents.read([path]))
    of_add_ons = [cluster_images.reference(image, None, None) for add_on in add_ons
                  for image in cluster_images.ADD_ONS[add_on]]
    named = [*images, *operated.images, *of_add_ons,
             *plane_images.references(planes, lambda settings: _pinned(settings, source_dir))]
    if parts or programs:
        if not source_dir:
            raise RefusedError([Problem("mirror-source", "", "source_dir", None, "the folder with go.mod",
                                        "set it, or set parts to [] and programs to false")])
        pins = _pins(source_dir)
        named += [f"{image}:{pins.version(BY_NAME[name].module)}" for name in parts
                  for image in BY_NAME[name].images.values()]
        if programs:
            versions = dict((program.name, pins.version(program.module))
                            for program in engine.SETS[engine.MANIFEST_SET])
            named += [image.reference for image in program_images.program_images(versions)]
    named, digests, found = plane_images.by_digest(named)
    names = sorted(dict.fromkeys(named))
    found += operated.problems
    found += [problem for name in names for problem in [bills.reference_problem(name)] if problem]
    found += [problem for entry in files for problem in bills.file_problems(entry)]
    local = dict(local or {})
    given = [*(entry["name"] for entry in files), *local]
    twice = sorted(set(name for name in given if given.count(name) > 1))
    found += [Problem("mirror-file", f'file "{name}"', "name", "twice", "once", "rename one") for name in twice]
    if found:
        raise RefusedError(found)
    return Wanted(names, digests, files, local, operated.unknown)


def _pins(source_dir: str) -> go_mod.GoMod:
    with open(os.path.join(source_dir, "go.mod"), encoding="utf-8") as stream:
        return go_mod.GoMod(stream.read())


def _pinned(settings: Mapping[str, Any], source_dir: str | None) -> str:
    """Return the version of a part that is rendered of a module.

    :param settings: of the part
    :param source_dir: folder with the ``go.mod`` of parts that name none and have a kustomization
    :raises RefusedError: when nothing says it
    """
    part = BY_NAME[settings["name"]]
    folder = settings.get("source_dir") or (source_dir if part.folder is not None else None)
    if not folder:
        raise RefusedError([Problem("mirror-part", f"part {part.name}", "version", None, "that of its manifests",
                                    f"set {part.name}_options.version, or {part.name}_source_dir")])
    return _pins(folder).version(part.module)


def gather(params: Mapping[str, Any], source: registry.Registry, report: Callable[[str], Any], check_mode: bool,
           clock: Callable[[], float] = time.time) -> dict[str, Any]:
    """Gather images and files into one archive, and return the module's result.

    What an earlier run has gathered, whole, is kept in ``work_dir``, so that one that was cut goes on.

    :param params: the parameters of the module ``mirror_gather``
    :param source: where images are read from
    :param report: callable that takes a line of progress
    :param check_mode: only ask for digests
    :param clock: callable that returns seconds since 1970
    :raises RefusedError: for wrong names, and for a work folder that others could have filled
    :raises ReportedError: when something can't be gathered, naming all that can't
    """
    local, pending = _local(params, check_mode)
    items = wanted(params["parts"], [*params["images"], *image_lists.read(params["image_lists"])], params["files"],
                   params["source_dir"], params["programs"], local, params["cluster_add_ons"],
                   params["planes"])
    digests, errors = _digests(source, items.images, items.digests)
    if errors:
        raise ReportedError("%d of %d images cannot be gathered:\n%s" % (
            len(errors), len(items.images), "\n".join(f"- {text}" for text in errors)))
    path, work_dir = params["archive"], work_folder.path_of(params["archive"], params["work_dir"])
    before = _bill_before(path)
    planned = {"images": digests, "files": dict((entry["name"], entry["checksum"]) for entry in items.files)}
    planned["files"].update((name, str(file_digest.checksum(source_path))) for name, source_path in items.local.items())
    unchanged = not pending and before is not None and before["release"] == params["release"] and planned == {
        kind: dict((entry["name"], entry["digest"]) for entry in before[kind])
        for kind in ("images", "files")} and archive.is_whole(path, before)
    if not unchanged:
        work_folder.check(work_dir)
    warnings = [*pending, *(_lacking(text) for text in items.unknown)]
    if unchanged:
        return dict(_result(path, before, False), warnings=warnings)
    if check_mode:
        # Of a bill with the sizes of files, which nobody knows yet.
        return dict(_result(path, bills.compose(
            params["release"], digests, dict((name, (digest, 0)) for name, digest in planned["files"].items())), True),
            checksum=None, warnings=warnings)
    with work_folder.held(work_dir):
        made = bills.compose(params["release"], digests,
                             _fill(work_dir, items, digests, source, params["files_ca_file"], report))
        created = timestamp(clock())
        for name, content in ((bills.BILL, made), (bills.SPDX, bills.spdx(made, created)),
                              (bills.CYCLONEDX, bills.cyclonedx(made, created))):
            whole_file.write(os.path.join(work_dir, name), bills.dump(content), _DOCUMENT_MODE, False)
        report(f"writing {path}")
        archive.write(path, work_dir, made)
        if not params["work_dir"]:
            work_folder.remove(work_dir)
    return dict(_result(path, made, True), warnings=warnings)


def _bill_before(path: str) -> bills.Bill | None:
    """Return the bill of an archive of before, None when there is none.

    :raises ReportedError: for what may be somebody's other file
    """
    if not os.path.exists(path):
        return None
    try:
        return archive.bill_of(path)
    except archive.ArchiveError as exc:
        raise ReportedError(f"{str(exc).rpartition('; ')[0]}; to gather the archive there, delete it, or name another "
                            "path by archive") from exc


def _local(params: Mapping[str, Any], check_mode: bool) -> tuple[dict[str, str], list[str]]:
    """Return name in the archive → path, of the files that are on this machine already, and in words what is not yet.

    :raises RefusedError: for a folder that cannot be read, and a name that cannot be in an archive
    :raises ReportedError: when manifests are asked for and none are rendered
    """
    found: dict[str, str] = {}
    problems, pending = [], []
    if params["manifests"]:
        made = engine.Engine(params["source_dir"], params["cache_dir"] or user_folders.cache_dir())
        if check_mode and not rendered_manifests.complete(made):
            # What renders them before this renders nothing in check mode.
            pending.append("manifests: not rendered yet, so that check mode has none in the bill")
        else:
            found.update(rendered_manifests.files(made))
    for folder in params["folders"]:
        try:
            names = sorted(os.listdir(folder))
        except OSError as exc:
            problems.append(Problem("mirror-folder", f'folder "{folder}"', None, exc.strerror,
                                    "a folder that can be read", "correct folders"))
            continue
        for name in names:
            fault = bills.name_problem(name)
            path = os.path.join(folder, name)
            # Who may write into the folder would choose by a link what the archive makes readable.
            if fault or name in found or os.path.islink(path) or not os.path.isfile(path):
                problems.append(fault or Problem(
                    "mirror-file", f'file "{name}"', "name", f"twice or no plain file in {folder}",
                    "a file that nothing else is named like, and no link", "rename it, or remove it from the folder"))
            found[name] = path
    if problems:
        raise RefusedError(problems)
    return found, pending


def _fill(work_dir: str, items: Wanted, digests: Mapping[str, str], source: registry.Registry,
          files_ca_file: str | None, report: Callable[[str], Any]) -> dict[str, tuple[str, int]]:
    """Download what ``work_dir`` has not got, whole, and return ``{file: (digest, size)}``."""
    for number, name in enumerate(items.images):
        directory = archive.image_dir(work_dir, number)
        if archive.image_fault(directory, digests[name]):
            report(f"gathering {name}")
            registry.fetch(source, name, digests[name], directory)
            fault = archive.image_fault(directory, digests[name])
            if fault:
                raise ReportedError(f"{name}: {fault}; run again, and find out who changes what is sent if it stays")
    sizes = {}
    for entry in items.files:
        target = archive.file_path(work_dir, entry["name"])
        if file_digest.checksum(target) != entry["checksum"]:
            report(f"gathering {entry['name']}")
            download.file(entry["url"], target, entry["checksum"], files_ca_file)
        sizes[entry["name"]] = (entry["checksum"], os.path.getsize(target))
    for name, path in items.local.items():
        target = archive.file_path(work_dir, name)
        # No link, and no pipe, by now either.
        with regular_file.reading(path) as (stream, _status), whole_file.writing(target, _DOCUMENT_MODE) as copy:
            shutil.copyfileobj(stream, copy)
        sizes[name] = (str(file_digest.checksum(target)), os.path.getsize(target))
    return sizes


def _digests(source: registry.Registry, names: list[str],
             chosen: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    digests, errors = {}, []
    for name in names:
        # What its tag stands for by now does not count where a digest was chosen.
        asked = f"{name.rpartition(':')[0]}@{chosen[name]}" if name in chosen else name
        try:
            found = registry.digest(source, asked)
        except registry.RegistryError as exc:
            errors.append(str(exc))
            continue
        if found is None:
            errors.append(f"{asked}: not in {source.prefix or 'its registry'}; correct the image's name"
                          + (" or digest" if name in chosen else ""))
        elif found != chosen.get(name, found):
            errors.append(f"{asked}: found {found}; find out who changes what is sent")
        else:
            digests[name] = found
    return digests, errors


def _lacking(text: str) -> str:
    return (f"{operator_images.MANIFESTS_VARIABLE}: not set, which would say {text}; set it to a file with the "
            "manifests that the Ironic operator is installed from, or name the image in mirror_images")


def _result(path: str, bill: bills.Bill | None, changed: bool) -> dict[str, Any]:
    return {"changed": changed, "archive": path, "bill": bill,
            "checksum": "sha256:" + bills.checksum(bill) if bill else None}


def unpack(params: Mapping[str, Any], target: registry.Registry | None, report: Callable[[str], Any],
           check_mode: bool) -> dict[str, Any]:
    """Unpack an archive into a registry and a folder of an image server, and return the module's result.

    Nothing is pushed or placed before all of the archive was found to be what its bill says.

    :param params: the parameters of the module ``mirror_unpack``
    :param target: where images are pushed to; None for files alone
    :param report: callable that takes a line of progress
    :param check_mode: only compare with what is there
    :raises RefusedError: for a checksum that is none, and a work folder that others could have filled
    :raises ReportedError: for an archive that is not what it should be, and a registry that refuses
    """
    path, checksum = params["archive"], params["checksum"]
    # An empty one is a variable that somebody has not filled, and would be none.
    if checksum is not None and not DIGEST.fullmatch(checksum):
        raise RefusedError([Problem("mirror-checksum", f"archive {path}", "checksum", show(checksum), DIGEST_RULE,
                                    "give the checksum that mirror_gather has returned")])
    bill = archive.bill_of(path, checksum)
    numbers = [number for number, entry in enumerate(bill["images"])
               if target is not None and registry.digest(target, entry["name"]) != entry["digest"]]
    files = [entry for entry in bill["files"] if params["files_dir"] and file_digest.checksum(
        os.path.join(params["files_dir"], entry["name"])) != entry["digest"]]
    differs = bool(params["bill_file"]) and \
        file_digest.checksum(params["bill_file"]) != "sha256:" + bills.checksum(bill)
    result = {"changed": bool(numbers or files) or differs, "bill": bill,
              "pushed": [bill["images"][number]["name"] for number in numbers],
              "placed": [entry["name"] for entry in files]}
    if not result["changed"]:
        return result
    work_dir = work_folder.path_of(path, params["work_dir"])
    work_folder.check(work_dir)
    if check_mode:
        return result
    with work_folder.held(work_dir):
        archive.extract(path, work_dir, bill, report)
        if target is not None:
            for number in numbers:
                report(f"pushing {bill['images'][number]['name']}")
                _push(target, bill["images"][number], archive.image_dir(work_dir, number))
        for entry in files:
            _place(entry, archive.file_path(work_dir, entry["name"]), params["files_dir"])
        if not params["work_dir"]:
            work_folder.remove(work_dir)
    if differs:
        # Last: what it names is there then.
        whole_file.write(params["bill_file"], bills.dump(bill), _DOCUMENT_MODE, False)
    return result


def _place(entry: Mapping[str, Any], source: str, directory: str) -> None:
    """Copy a file into the image server's folder; it may be long ago that it was extracted."""
    open_folder.make(directory)
    with open(source, "rb") as stream:
        found = verified_copy.write(stream, os.path.join(directory, entry["name"]), entry["digest"], _DOCUMENT_MODE)
    if found != entry["digest"]:
        raise ReportedError(f"{source}: found {found}, expected {entry['digest']} as the bill says; it was changed "
                            "after it was extracted: find out by whom, then run again")


def _push(target: registry.Registry, entry: Mapping[str, Any], directory: str) -> None:
    """Push an image and read back what the registry has."""
    registry.push(target, entry["name"], directory)
    found = registry.digest(target, entry["name"])
    if found != entry["digest"]:
        raise ReportedError(f"{entry['name']}: digest: found {found} in {target.prefix}, expected "
                            f"{entry['digest']}; find out what the registry changes")
