# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what is collected into a new folder without secrets, and keeps what could not be read."""
from __future__ import annotations

from typing import Any, NamedTuple

from . import contents, secret_values
from .folders import NewFolder

try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False

Object = dict[str, Any]


class File(NamedTuple):
    """A file that was written.

    :ivar path: below the folder
    :ivar size: in bytes
    :ivar hidden: how many secrets were in it
    """

    path: str
    size: int
    hidden: int


class Unread(NamedTuple):
    """What could not be read.

    :ivar what: it is
    :ivar why: it was not
    :ivar group: what becomes one warning
    """

    what: str
    why: str
    group: str


class Collected:
    """The files of one run; only :meth:`written` is for threads.

    :param folder: the NewFolder
    :param check_mode: write nothing
    :ivar hiding: hides secrets; of all that is written, so that it is set before anything is
    :ivar paths: names of files
    :ivar files: what was written
    :ivar shortened: paths of those among them that have the newest lines only
    :ivar unread: what could not be read
    """

    def __init__(self, folder: NewFolder, check_mode: bool) -> None:
        self._folder, self._check_mode = folder, check_mode
        self.hiding = secret_values.Hiding(())
        self.paths = contents.Paths()
        self.files: list[File] = []
        self.shortened: list[str] = []
        self.unread: list[Unread] = []

    @property
    def path(self) -> str:
        """The folder's path."""
        return self._folder.path

    @property
    def hidden(self) -> int:
        """How many secrets were in what was written."""
        return sum(item.hidden for item in self.files)

    def create(self) -> bool:
        """Create the folder; return whether that was done, which it is not in check mode."""
        if not self._check_mode:
            self._folder.create()
        return not self._check_mode

    def write_objects(self, path: str, objects: list[Object], as_list: bool = False) -> None:
        """Write objects as YAML.

        :param as_list: as a list, else there is one
        """
        without = [contents.shown(obj) for obj in objects]
        count = sum(map(secret_values.marks, without)) - sum(map(secret_values.marks, objects))
        self.write_document(path, without if as_list else without[0], max(0, count))

    def write_document(self, path: str, value: Any, hidden: int = 0) -> None:
        """Write a structure as YAML.

        :param hidden: how many secrets were taken out of it
        """
        value, more = self.hiding.structure(value)
        self.files.append(self.written(path, _as_yaml(value), hidden + more))

    def written(self, path: str, text: str, hidden: int = 0) -> File:
        """Write a text, and return what ``files`` is to have of it.

        :param hidden: how many secrets were taken out of it
        """
        text, count = self.hiding.text(text)
        content = text.encode("utf-8", "replace")
        if not self._check_mode:
            self._folder.write(path, content)
        return File(path, len(content), hidden + count)

    def leave_out(self, what: str, why: str, group: str) -> None:
        """Keep what could not be read; see :class:`Unread`."""
        self.unread.append(Unread(what, why, group))

    def warnings(self) -> list[str]:
        """Return one text for each group: of a hundred containers that nobody may read, one is enough."""
        groups: dict[str, list[Unread]] = {}
        for item in self.unread:
            groups.setdefault(item.group, []).append(item)
        return [self.hiding.text(f"{items[0].what}{f' and {len(items) - 1} more' if len(items) > 1 else ''}: not read: "
                                 f"{items[0].why}")[0] for items in groups.values()]


def _as_yaml(value: Any) -> str:
    try:
        return _dumped(value, getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    except UnicodeEncodeError:
        # Of halves of characters, which a name in an archive may have, only the slow one makes escapes.
        return _dumped(value, yaml.SafeDumper)


def _dumped(value: Any, dumper: Any) -> str:
    # Folded at a blank, a text of two words would no longer be found by who looks for it.
    text: str = yaml.dump(value, Dumper=dumper, default_flow_style=False, sort_keys=False, allow_unicode=True,
                          width=10 ** 9)
    return text
