# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered manifests as files of one folder, as an archive carries them where nothing can be rendered."""
from __future__ import annotations

import os
import shutil
from typing import Any

from ..._common.files import regular_file
from ..._common.problems.errors import ReportedError
from ..parts import catalogue, manifests

# Of each kind what is rendered.
_RENDERED = {"plane": tuple(part.name for part in catalogue.RENDERED), "ironic": tuple(manifests.IRONIC_VARIANTS)}


def _file(kind: str, name: str, made: Any) -> str:
    """Return the name of a file in the folder; manifests of other pins are other files."""
    return f"{kind}-manifests-{name}.{made.pins_key}.yaml"


def _folders(made: Any) -> dict[str, str]:
    return {"plane": made.manifests_dir, "ironic": made.ironic_dir}


def complete(made: Any) -> bool:
    """Return whether an engine has all manifests.

    :param made: an Engine
    """
    return all(os.path.isdir(folder) for folder in _folders(made).values())


def files(made: Any) -> dict[str, str]:
    """Return name in the folder → path, of what an engine has rendered.

    :param made: an Engine
    :raises ReportedError: when it has rendered nothing yet
    """
    found = {}
    for kind, folder in _folders(made).items():
        try:
            names = sorted(os.listdir(folder))
        except FileNotFoundError as exc:
            raise ReportedError(f"{folder}: missing, expected rendered manifests; run the module plane_programs "
                                "first") from exc
        found.update((_file(kind, name.removesuffix(".yaml"), made), os.path.join(folder, name)) for name in names)
    return found


def place(directory: str, made: Any) -> None:
    """Copy an engine's manifests out of a folder to where they are looked for.

    :param directory: folder with the files of :func:`files`, and perhaps others
    :param made: an Engine
    :raises ReportedError: when not all of its pins are there, or others could have written them
    """
    for kind, folder in _folders(made).items():
        if os.path.isdir(folder):
            continue
        files_of = dict((_file(kind, name, made), name) for name in _RENDERED[kind])
        # A run of mirror_unpack may have been killed in between, and what is placed here is never placed again.
        missing = sorted(set(files_of).difference(_listed(directory)))
        if missing:
            found = _file(kind, "*", made) if len(missing) == len(files_of) else ", ".join(missing)
            raise ReportedError(f"{directory}: found no {found}, expected those that mirror_gather of this release "
                                "adds; unpack its archive there, to the end")
        # What they say is done with a cluster administrator's rights; the folder may be that of an image server.
        _require_own(directory, os.stat(directory))
        partial = folder + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        for file, name in files_of.items():
            _copy(os.path.join(directory, file), os.path.join(partial, name + ".yaml"))
        os.rename(partial, folder)


def _copy(source: str, target: str) -> None:
    try:
        with regular_file.reading(source) as (reader, found):
            _require_own(source, found)
            content = reader.read()
    except OSError as exc:
        raise _refused(source, exc.strerror or str(exc)) from exc
    with open(target, "wb") as writer:
        writer.write(content)


def _require_own(path: str, found: os.stat_result) -> None:
    """Refuse what somebody else than this user and root could have written.

    :raises ReportedError: when they could
    """
    if regular_file.others_may_write(found):
        raise _refused(path, regular_file.owner_and_mode(found))


def _refused(path: str, found: str) -> ReportedError:
    return ReportedError(f"{path}: found {found}, expected what only root or the user {os.geteuid()} may write: it is "
                         "applied as it is; unpack the archive into a folder of your own (mirror_files_dir), and name "
                         "that as manifests_dir, or take it from others (chmod go-w)")


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError as exc:
        raise ReportedError(f"{directory}: {exc.strerror}; correct manifests_dir") from exc
