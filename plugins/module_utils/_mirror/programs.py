# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the programs of a plane of processes out of container images of a registry, in place of building them."""
from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any

from .._common.documents.document_text import from_json
from .._common.files import private_folder, regular_file, whole_file
from .._common.problems.errors import RefusedError, ReportedError
from .._common.problems.problem import Problem
from .._common.transfer import registry
from .._plane import program_images
from .._plane.process import engine, rendered_manifests
from . import archive, image_file
from . import bill as bills

# Of each program's image, the digest that it was taken by.
RECORD = "images.json"


def ensure(params: Mapping[str, Any], made: engine.Engine, source: registry.Registry, check_mode: bool,
           progress: Any) -> dict[str, Any]:
    """Have programs and manifests in the cache, and return the module's result.

    :param params: the parameters of the module ``plane_image_programs``
    :param made: the Engine whose folder is filled; see ``engine.FROM_IMAGES``
    :param source: where images are read from
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: for digests that are none, and images that have none unless the registry may say it
    :raises ReportedError: when an image or a program is missing, naming all of them
    """
    versions = made.versions([engine.MANIFEST_SET])
    recorded = _recorded(made.directory)
    given = dict(recorded, **_given(params))
    due = [image for image in program_images.program_images(versions)
           if not os.access(os.path.join(made.bin_dir, image.program), os.X_OK)
           or given.get(image.reference) != recorded.get(image.reference)]
    unpinned = [image.reference for image in due if image.reference not in given]
    if unpinned and not params["trust_registry"]:
        raise RefusedError([_unpinned(reference) for reference in unpinned])
    rendered = rendered_manifests.complete(made)
    result = {"changed": bool(due) or not rendered, "taken": [image.program for image in due],
              "engine_dir": made.directory, "versions": versions, "digests": recorded, "unpinned": unpinned}
    if check_mode or not result["changed"]:
        return result
    digests = dict(given, **_digests(source, due, given))
    os.makedirs(made.bin_dir, exist_ok=True)
    for image in due:
        progress.event(f"taking {image.program} out of {image.reference}")
        _take(source, image, digests[image.reference], made)
        recorded[image.reference] = digests[image.reference]
        content = json.dumps(recorded, indent=1, sort_keys=True) + "\n"
        whole_file.write(os.path.join(made.directory, RECORD), content.encode(), 0o644, False)
        progress.wrote(os.path.join(made.bin_dir, image.program), "created")
    if not rendered:
        if params["manifests_dir"]:
            rendered_manifests.place(params["manifests_dir"], made)
        else:
            made.render(progress)
        progress.wrote(made.manifests_dir, "created")
    return dict(result, digests=recorded)


def _given(params: Mapping[str, Any]) -> dict[str, str]:
    """Return name of an image → digest, by the bill of an archive and by the user, whose word counts.

    :raises RefusedError: for what is no digest
    :raises ReportedError: for what is no bill
    """
    found: dict[str, str] = {}
    if params["bill_file"]:
        path = params["bill_file"]
        try:
            with regular_file.reading(path, follow=True) as (stream, status):
                if regular_file.others_may_write(status):
                    raise ReportedError(
                        f"{path}: found {regular_file.owner_and_mode(status)}, expected a file that only root or the "
                        f"user {os.geteuid()} may write: its digests decide what runs with all rights of the plane; "
                        "let mirror_unpack write it into a folder of your own, or take it from others (chmod go-w)")
                bill = bills.parse(stream.read(archive.LONGEST_DOCUMENT_BYTES))
        except ValueError as exc:
            raise ReportedError(f"{path}: {exc}; name the file that mirror_unpack has written") from exc
        found.update((entry["name"], entry["digest"]) for entry in bill["images"])
    problems = [problem for name, digest in params["digests"].items() for problem in [
        bills.reference_problem(name) or bills.digest_problem(name, digest)] if problem]
    if problems:
        raise RefusedError(problems)
    return dict(found, **params["digests"])


def _unpinned(reference: str) -> Problem:
    return Problem("image-unpinned", f'image "{reference}"', "digests", None,
                   "its digest: its program runs with all rights of the plane, and a tag can be moved",
                   "set digests (role: bootstrap_plane_image_digests) or bill_file; or set trust_registry (role: "
                   "bootstrap_plane_image_trust_registry=true), which takes what the registry has and keeps its digest")


def _recorded(directory: str) -> dict[str, str]:
    try:
        with open(os.path.join(directory, RECORD), "rb") as stream:
            found: dict[str, str] = from_json(stream.read())
    except FileNotFoundError:
        return {}
    return found


def _digests(source: registry.Registry, due: list[program_images.ProgramImage],
             given: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of images that have none yet, by which they are asked for: a tag may be moved meanwhile."""
    found, errors = {}, []
    for image in due:
        if image.reference in given:
            continue
        try:
            digest = registry.digest(source, image.reference)
        except registry.RegistryError as exc:
            errors.append(str(exc))
            continue
        if digest is None:
            errors.append(f"{image.reference}: not in {source.prefix or 'its registry'}; mirror it there, or build the "
                          "programs")
        else:
            found[image.reference] = digest
    if errors:
        raise ReportedError("%d of %d images cannot be used:\n%s" % (
            len(errors), len(due), "\n".join(f"- {text}" for text in errors)))
    return found


def _take(source: registry.Registry, image: program_images.ProgramImage, digest: str, made: engine.Engine) -> None:
    with private_folder.folder(".image-", made.directory) as work:
        directory = os.path.join(work, "image")
        registry.fetch_one(source, image.reference, digest, directory)
        try:
            image_file.take(directory, image.path, os.path.join(work, image.program))
        except image_file.ImageFileError as exc:
            raise ReportedError(f"{image.reference}: {exc}") from exc
        shutil.move(os.path.join(work, image.program), os.path.join(made.bin_dir, image.program))
