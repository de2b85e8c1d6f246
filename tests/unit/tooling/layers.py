# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads docs/layers.yml and what the plugins import; writes the tables of docs/architecture.md when it is run."""
from __future__ import annotations

import ast
import functools
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
PLUGINS = REPOSITORY / "plugins"
PAGE = REPOSITORY / "docs" / "architecture.md"
PREFIX = "ansible_collections.metal3.baremetal.plugins."
# The tables stand between these lines.
BEGIN, END = "<!-- begin: made from layers.yml -->", "<!-- end -->"


class Import(NamedTuple):
    """One import.

    ``target`` is a file below plugins/ without suffix, or the dotted name of a module from elsewhere with the imported
    name; ``guarded`` says whether an ImportError of it is caught.
    """

    target: str
    own: bool
    guarded: bool


def load() -> dict[str, Any]:
    """Return the contents of docs/layers.yml."""
    with open(REPOSITORY / "docs" / "layers.yml", encoding="utf-8") as stream:
        return yaml.safe_load(stream)


@functools.cache
def _tree(name: str, root: Path) -> ast.Module:
    return ast.parse((root / f"{name}.py").read_text(encoding="utf-8"))


def files(root: Path = PLUGINS) -> list[str]:
    """Return all Python files below plugins/ without their suffix, as ``module_utils/_kube/api/client``."""
    return sorted(str(path.relative_to(root).with_suffix("")) for path in root.rglob("*.py")
                  if path.name != "__init__.py")


def _absolute(node: ast.ImportFrom, name: str) -> str:
    if not node.level:
        return node.module or ""
    package = name.split("/")[:-node.level]
    return PREFIX + ".".join(package + ([node.module] if node.module else []))


def _file(dotted: str, root: Path) -> str:
    """Return the file that a dotted name below plugins/ is in."""
    parts = dotted.split(".")
    while parts and not (root.joinpath(*parts).with_suffix(".py").exists()):
        parts.pop()
    return "/".join(parts) or dotted


def _guarded(tree: ast.AST) -> set[ast.AST]:
    return {inner for node in ast.walk(tree) if isinstance(node, ast.Try)
            for handler in node.handlers if isinstance(handler.type, ast.Name) and handler.type.id == "ImportError"
            for statement in node.body for inner in ast.walk(statement)}


@functools.cache
def imports(name: str, root: Path = PLUGINS) -> list[Import]:
    """Return what a file imports.

    :param name: file below plugins/ without suffix
    """
    tree = _tree(name, root)
    guarded = _guarded(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{_absolute(node, name)}.{alias.name}" for alias in node.names]
        else:
            continue
        for dotted in names:
            own = dotted.startswith(PREFIX)
            found.append(Import(_file(dotted[len(PREFIX):], root) if own else dotted, own, node in guarded))
    return found


def uses(name: str, module: str, root: Path = PLUGINS) -> set[str]:
    """Return the dotted names below an imported module that a file uses: ``path.join`` of ``os``."""
    tree = _tree(name, root)
    chains = set()
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name) and node.id == module:
            chains.add(".".join(reversed(parts)))
    return {chain for chain in chains if not any(other.startswith(chain + ".") for other in chains)}


def calls(name: str, root: Path = PLUGINS) -> set[str]:
    """Return the names of the functions that a file calls by their bare name."""
    tree = _tree(name, root)
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


class Layers:
    """The rules of docs/layers.yml, for files below plugins/.

    :param data: its contents
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.rooms = [room["name"] for room in data["rooms"]]
        self._room = {room["name"]: room for room in data["rooms"]}
        self._folder = {folder["name"]: folder for folder in data["folders"]}
        self._floors = [floor["name"] for floor in data["floors"]]

    def room(self, name: str) -> str:
        """Return the room of a file in module_utils."""
        return name.split("/")[1]

    def _folders(self, name: str) -> list[str]:
        return list(self._room[self.room(name)].get("folders", ()))

    def _height(self, name: str) -> int:
        """Return the number of its room's folders that a file stands above."""
        folders, (_kind, _room, *inside, _file_name) = self._folders(name), name.split("/")
        return folders.index(inside[0]) if inside and folders else len(folders)

    def floor(self, name: str) -> str:
        """Return the floor of a file in module_utils."""
        inside = name.split("/", 2)[2]
        if re.search(r"(^|[/_])module$", inside):
            return "module"
        return "service" if inside in self._room[self.room(name)].get("services", ()) else "pure"

    def services(self) -> list[str]:
        """Return the files that are listed as services."""
        return [f"module_utils/{room['name']}/{inside}" for room in self.data["rooms"]
                for inside in room.get("services", ())]

    def folders(self) -> list[str]:
        """Return the folders that are listed in rooms."""
        return [f"module_utils/{room['name']}/{folder}" for room in self.data["rooms"]
                for folder in room.get("folders", ())]

    def faults(self, name: str, root: Path = PLUGINS) -> list[str]:
        """Return the imports and calls of a file that the rules do not allow, as ``target: why``."""
        kind = name.split("/")[0]
        if kind == "module_utils" and self.room(name) not in self._room:
            return [f"{name}: no room of docs/layers.yml"]
        if kind == "module_utils" and not self._is_in_listed_folder(name):
            return [f"{name}: no folder of its room in docs/layers.yml"]
        check = self._inside if kind == "module_utils" else self._outside
        found = [(item.target, check(name, item)) for item in imports(name, root) if item.own]
        if kind == "module_utils":
            found += [(item.target, self._foreign(name, item, root)) for item in imports(name, root) if not item.own]
            if self.floor(name) == "pure":
                found += [(call, "a pure file reaches nothing") for call in calls(name, root)
                          if call in self.data["effect_calls"]]
        return sorted({f"{target}: {why}" for target, why in found if why})

    def reaches(self, name: str, root: Path = PLUGINS) -> bool:
        """Return whether a file imports an effect, a library, or a file that is no pure one."""
        for item in imports(name, root):
            if item.own and self.floor(item.target) != "pure":
                return True
            if not item.own and self._effect(name, item, root):
                return True
        return bool(calls(name, root) & set(self.data["effect_calls"]))

    def _is_in_listed_folder(self, name: str) -> bool:
        inside = name.split("/")[2:-1]
        return not inside or inside[0] in self._folders(name)

    def _inside(self, name: str, item: Import) -> str:
        if not item.target.startswith("module_utils/"):
            return "module_utils imports module_utils only"
        own, other = self.room(name), self.room(item.target)
        if other not in self._room:
            return "no room of docs/layers.yml"
        if self.rooms.index(other) > self.rooms.index(own):
            return f"{own} is below {other}"
        if self._floors.index(self.floor(item.target)) > self._floors.index(self.floor(name)):
            return f"the floor {self.floor(name)} is below {self.floor(item.target)}"
        if own == other and self._height(item.target) > self._height(name):
            return f"the folder {name.split('/')[2]} is below it"
        return ""

    def _outside(self, name: str, item: Import) -> str:
        folder = self._folder[name.split("/")[0]]
        kind = item.target.split("/")[0]
        if kind == "plugin_utils":
            return "" if folder.get("plugin_utils") else "plugin_utils is for plugins of the controller"
        if kind != "module_utils":
            return f"{folder['name']} imports no {kind}"
        floor = self.floor(item.target)
        return "" if floor in folder["floors"] else f"{folder['name']} imports no file of the floor {floor}"

    def _foreign(self, name: str, item: Import, root: Path) -> str:
        top = item.target.split(".")[0]
        if top in sys.stdlib_module_names:
            pure = self.floor(name) == "pure"
            return "a pure file reaches nothing" if pure and self._effect(name, item, root) else ""
        if top == "ansible":
            allowed = item.target.startswith("ansible.module_utils.")
            return "" if allowed else "not there on a target"
        if top not in self.data["third_party"] + self._room[self.room(name)].get("third_party", []):
            return "not a library of this room"
        if not item.guarded:
            return "a library without a guard"
        return ""

    def _effect(self, name: str, item: Import, root: Path) -> bool:
        if item.target.startswith(("ansible.module_utils.urls", "ansible.module_utils.basic")):
            return not item.target.endswith("missing_required_lib")
        top = item.target.split(".")[0]
        if top not in sys.stdlib_module_names and top != "ansible":
            return top not in ("yaml", "cryptography", "netaddr")
        for module, allowed in self.data["effects"].items():
            if item.target == module:
                return bool(uses(name, module, root) - set(allowed)) if allowed else True
            if item.target.startswith(module + "."):
                return item.target[len(module) + 1:] not in allowed
        return False


def circles(names: list[str], root: Path = PLUGINS) -> list[str]:
    """Return the files that import each other in a circle.

    :param names: files below plugins/ without suffix
    """
    left = {name: {item.target for item in imports(name, root) if item.own} for name in names}
    free = True
    while free:
        free = [name for name, targets in left.items() if not targets & left.keys()]
        for name in free:
            del left[name]
    return sorted(left)


def tables(data: dict[str, Any]) -> str:
    """Return the tables for docs/architecture.md as Markdown."""
    lines = ["| room | holds | libraries | services |", "|---|---|---|---|"]
    for room in data["rooms"]:
        libraries = ", ".join(f"`{name}`" for name in room.get("third_party", ())) or "none"
        services = ", ".join(f"`{name}`" for name in room.get("services", ())) or "none"
        lines.append(f"| `{room['name']}` | {room['holds']} | {libraries} | {services} |")
    lines += ["", "| room | folder | holds |", "|---|---|---|"]
    lines += [f"| `{room['name']}` | `{folder}/` | {holds} |" for room in data["rooms"]
              for folder, holds in room.get("folders", {}).items()]
    lines += ["", "| floor | files | holds |", "|---|---|---|"]
    lines += [f"| {floor['name']} | {floor['files']} | {floor['holds']} |" for floor in data["floors"]]
    lines += ["", "| folder in `plugins/` | holds | of `module_utils` | `plugin_utils` |", "|---|---|---|---|"]
    for folder in data["folders"]:
        floors = ", ".join(folder["floors"]) or "nothing"
        controller = "yes" if folder.get("plugin_utils") else "no"
        lines.append(f"| `{folder['name']}/` | {folder['holds']} | {floors} | {controller} |")
    return "\n".join(lines) + "\n"


def with_tables(page: str, text: str) -> str:
    """Return a page whose part between :data:`BEGIN` and :data:`END` is replaced.

    :raises ValueError: for a page without these lines
    """
    before, begin, rest = page.partition(BEGIN)
    dummy, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name}: not found: the lines {BEGIN} and {END}")
    return f"{before}{begin}\n{text}{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), tables(load())), encoding="utf-8")
