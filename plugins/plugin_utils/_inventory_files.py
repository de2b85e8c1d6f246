# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of an inventory Ansible could not read: it warns of them and goes on, ignores them, or names no file."""
from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import NamedTuple

from ansible import constants
from ansible.errors import AnsibleError
from ansible.inventory.manager import IGNORED
from ansible.parsing.vault import AnsibleVaultError
from ansible.utils.path import unfrackpath

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name

UNREAD = "inventory-file"
UNUSED = "variables-of-nobody"
VAULT_HINT = "give the vault's password, by --ask-vault-pass or --vault-password-file"
_VARIABLES = "variables, as name: value"
_LIKENESS = 0.7


class FileProblem(NamedTuple):
    """What is wrong with a file of variables.

    :ivar code: the lint's rule
    :ivar path: the file, or its folder
    :ivar line: its line, None when it is not known
    :ivar ends: whether Ansible can read no variables at all because of it
    """

    code: str
    path: str
    line: int | None
    actual: str
    expected: str
    hint: str
    ends: bool = False


def unread(inventory):
    """Return the paths of the files that are part of an inventory and that no inventory plugin could read.

    :param inventory: Ansible's InventoryManager; with None, when Ansible does not say, there are none
    """
    if inventory is None:
        return []
    # A source with a comma is a list of hosts.
    sources = [unfrackpath(source, follow=False) for source in inventory._sources if source and "," not in source]
    read = set(str(source) for source in inventory._inventory.processed_sources)
    return [path for source in sources for path in _files(source) if path not in read]


def _files(source):
    """Return the files that Ansible reads of a source, in its order."""
    if not os.path.isdir(source):
        return [source]
    return [path for name in sorted(os.listdir(source)) if not IGNORED.search(os.fsencode(name))
            for path in _files(os.path.join(source, name))]


def of_variables(inventory, loader, groups):
    """Return a FileProblem for each file of ``group_vars`` and ``host_vars`` that is not read as it is meant.

    :param inventory: Ansible's InventoryManager; with None, when Ansible does not say, there are none
    :param loader: Ansible's DataLoader, which has the passwords of vaults
    :param groups: names of groups that a site may have none of yet
    """
    if inventory is None:
        return []
    found, complete = [], not unread(inventory)
    sources = dict.fromkeys(unfrackpath(source, follow=False) for source in inventory._sources
                            if source and "," not in source)
    folders = dict((source if os.path.isdir(source) else os.path.dirname(source), None) for source in sources)
    for folder in folders:
        for name, kind, known in (("group_vars", "group", {*inventory.groups, *groups}),
                                  ("host_vars", "host", {*inventory.hosts, "localhost"})):
            # Beside a file others may lie, which have the groups and hosts that this one has not.
            found += _of_folder(os.path.join(folder, name), kind, known, loader, complete and folder in sources)
    return found


def _of_folder(folder, kind, known, loader, is_whole):
    if not os.path.isdir(folder):
        return []
    found, files = [], {}
    for entry in sorted(os.listdir(folder)):
        path, owner = os.path.join(folder, entry), _owner(folder, entry, known)
        if owner is None:
            continue
        if owner not in known:
            if is_whole:
                near = difflib.get_close_matches(owner, known, 1, _LIKENESS)
                found.append(FileProblem(
                    UNUSED, path, None, f"variables of the {kind} {owner}, which the inventory has not",
                    f"a {kind} of the inventory", "rename it" + (f" (perhaps {near[0]} is meant)" if near else "")
                    + ", or remove it"))
            continue
        if owner not in files:
            files[owner] = loader.find_vars_files(folder, owner)
        if not any(file == path or file.startswith(path + os.sep) for file in files[owner]) and not _is_empty(path):
            taken = next(name for name in _names(owner) if os.path.exists(os.path.join(folder, name)))
            taken += os.sep if os.path.isdir(os.path.join(folder, taken)) else ""
            found.append(FileProblem(
                UNREAD, path, None, f"a file that is not read, because Ansible reads {taken} beside it",
                f"one of both for the {kind} {owner}", f"move what is in it to {taken}"))
    return found + [problem for paths in files.values() for path in paths for problem in _of_content(path, loader)]


def _names(owner):
    """Return the names of files and folders of a group or host, in the order in which Ansible takes the first."""
    return [owner, *(owner + extension for extension in constants.YAML_FILENAME_EXTENSIONS)]


def _owner(folder, entry, known):
    """Return the group or host that a file or folder is for by its name, None for one that is for none, a README."""
    if entry in known or os.path.isdir(os.path.join(folder, entry)):
        return None if entry.startswith(".") else entry
    stem, extension = os.path.splitext(entry)
    return stem if extension in constants.YAML_FILENAME_EXTENSIONS and not entry.startswith(".") else None


def _is_empty(path):
    return os.path.isdir(path) and not os.listdir(path)


def _of_content(path, loader):
    try:
        content = loader.load_from_file(path, cache="all", unsafe=True, trusted_as_template=True)
    except AnsibleVaultError as exc:
        return [FileProblem(UNREAD, path, None, f"a file that cannot be decrypted ({_in_one_line(exc)})",
                            "the password of its vault", VAULT_HINT, True)]
    except AnsibleError as exc:
        mark = getattr(exc.__cause__, "problem_mark", None)
        return [FileProblem(UNREAD, path, mark and mark.line + 1, _in_one_line(exc), _VARIABLES, "correct it", True)]
    if content and not isinstance(content, Mapping):
        return [FileProblem(UNREAD, path, None, type_name(content), _VARIABLES, "correct it", True)]
    return []


def _in_one_line(exc):
    return " ".join(str(exc).split()).rstrip(".")
