# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered manifests as files of one folder, as an archive carries them where nothing can be rendered."""
from __future__ import annotations

import os
import re
import shutil
from typing import Any

from ..._common.files import regular_file
from ..._common.problems.errors import ReportedError

# <kind>-manifests-<what>.<key of the pins>.yaml: manifests of other pins are other files.
_FILE = re.compile(r"(plane|ironic)-manifests-([a-z0-9_.-]+)\.([0-9a-f]{16})\.yaml")


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
        found.update((f"{kind}-manifests-{name.removesuffix('.yaml')}.{made.pins_key}.yaml", os.path.join(folder, name))
                     for name in names)
    return found


def place(directory: str, made: Any) -> None:
    """Copy an engine's manifests out of a folder to where they are looked for.

    :param directory: folder with the files of :func:`files`, and perhaps others
    :param made: an Engine
    :raises ReportedError: when there are none of its pins, or others could have written them
    """
    for kind, folder in _folders(made).items():
        if os.path.isdir(folder):
            continue
        names = [match for match in map(_FILE.fullmatch, sorted(_listed(directory)))
                 if match and match.group(1) == kind and match.group(3) == made.pins_key]
        if not names:
            raise ReportedError(f'{directory}: found no {kind}-manifests-*.{made.pins_key}.yaml, expected those that '
                                "mirror_gather of this release adds; unpack its archive there")
        # What they say is done with a cluster administrator's rights; the folder may be that of an image server.
        _require_own(directory, os.stat(directory))
        partial = folder + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        for match in names:
            _copy(os.path.join(directory, match.group(0)), os.path.join(partial, match.group(2) + ".yaml"))
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
