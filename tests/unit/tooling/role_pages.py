# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the reference of roles and playbooks from argument_specs, defaults and docs/reference.yml when it is run."""
from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from tooling import ansible_yaml

REPOSITORY = Path(__file__).resolve().parents[3]
ROLES = REPOSITORY / "roles"
PLAYBOOKS = REPOSITORY / "playbooks"
BEGIN, END = "<!-- begin: made from argument_specs.yml by make docs-roles -->", "<!-- end -->"
_MARKUP = re.compile(r"\b([A-Z])\(((?:[^()\\]|\\.)*)\)")


class Variable(NamedTuple):
    """A row of a table; ``default`` as a user would write it."""

    name: str
    type: str
    default: str
    description: str


def markdown(text: str | list[str]) -> str:
    """Return a description with Ansible's markup as Markdown, in one line."""
    def replace(match: re.Match[str]) -> str:
        kind, content = match[1], match[2]
        if kind == "B":
            return f"**{content}**"
        if kind == "I":
            return f"*{content}*"
        return f"`{content.split('#')[0] if kind == 'P' else content}`"

    lines = [text] if isinstance(text, str) else text
    return " ".join(_MARKUP.sub(replace, line) for line in lines).replace("|", "\\|")


@functools.cache
def specs(role: str) -> dict[str, Any]:
    """Return the entry points of a role by name."""
    return ansible_yaml.read(ROLES / role / "meta" / "argument_specs.yml")["argument_specs"]


@functools.cache
def defaults(role: str) -> dict[str, Any]:
    """Return the defaults of a role."""
    path = ROLES / role / "defaults" / "main.yml"
    return ansible_yaml.read(path) or {} if path.is_file() else {}


def variables(role: str, entry_point: str) -> list[Variable]:
    """Return the variables of an entry point: required ones first, then by name."""
    found, options = defaults(role), specs(role)[entry_point].get("options") or {}
    rows = []
    for name in sorted(options, key=lambda name: (not options[name].get("required"), name)):
        option = options[name]
        kind = option.get("type", "str")
        if kind == "list" and "elements" in option:
            kind = f"list of {option['elements']}"
        if "choices" in option:
            kind += ": " + ", ".join(f"`{_shown(choice)}`" for choice in option["choices"])
        rows.append(Variable(name, kind, _default(name, option, found), markdown(option.get("description", ""))))
    return rows


def _default(name: str, option: dict[str, Any], found: dict[str, Any]) -> str:
    if option.get("required"):
        return "required"
    value = option.get("default", found.get(name))
    if isinstance(value, str) and "{{" in value:
        # The description says it: an expression is no text for a table.
        return ""
    return "" if value is None or value == "" else f"`{_shown(value)}`"


def _shown(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).strip()
    return text.removesuffix("\n...").strip().replace("|", "\\|")


def table(rows: list[Variable]) -> list[str]:
    """Return the lines of a table of variables."""
    lines = ["| variable | type | default | meaning |", "|---|---|---|---|"]
    return lines + [f"| `{row.name}` | {row.type} | {row.default} | {row.description} |" for row in rows]


def role_text(role: str) -> str:
    """Return what a role's README says of its entry points, as Markdown."""
    lines: list[str] = []
    for name, spec in specs(role).items():
        lines += [f"## Entry point `{name}`", "", spec["short_description"] + ".", ""]
        lines += [f"{markdown(line)}\n" for line in _list(spec.get("description"))]
        lines += table(variables(role, name)) if spec.get("options") else ["It has no variables."]
        lines.append("")
    return "\n".join(lines)


def _list(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def roles() -> list[str]:
    """Return the names of all roles."""
    return sorted(path.name for path in ROLES.iterdir() if (path / "meta").is_dir())


def readme(role: str) -> Path:
    """Return the path of a role's README."""
    return ROLES / role / "README.md"


def with_reference(page: str, text: str) -> str:
    """Return a page whose part between :data:`BEGIN` and :data:`END` is replaced.

    :raises ValueError: for a page without these lines
    """
    before, begin, rest = page.partition(BEGIN)
    dummy, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"not found: the lines {BEGIN} and {END}")
    return f"{before}{begin}\n{text}{end}{after}"


def described() -> dict[str, Any]:
    """Return docs/reference.yml: what no argument spec knows of the playbooks."""
    return ansible_yaml.read(REPOSITORY / "docs" / "reference.yml")


@functools.cache
def plays(name: str) -> list[dict[str, Any]]:
    """Return the plays of a playbook."""
    return ansible_yaml.read(PLAYBOOKS / f"{name}.yml")


def checks_groups(play: dict[str, Any]) -> bool:
    """Return whether a play only checks that there are hosts for those that follow."""
    files = [str(task.get("ansible.builtin.import_tasks")) for task in play.get("tasks", [])]
    return bool(files) and all(file.startswith("tasks/required_") for file in files)


def hosts(name: str, *others: str) -> list[str]:
    """Return the patterns of hosts of a playbook's own plays, without those that are given."""
    found = [play["hosts"] for play in plays(name) if "hosts" in play and not checks_groups(play)]
    return [pattern for pattern in dict.fromkeys(found) if pattern not in others]


def entry_points(name: str) -> list[tuple[str, str]]:
    """Return the roles that a playbook runs, with the entry point of each."""
    found = []
    for play in plays(name):
        found += [(item["role"].rpartition(".")[2], "main") for item in play.get("roles", ())]
        for task in play.get("tasks", ()):
            role = task.get("ansible.builtin.import_role")
            if role:
                found.append((role["name"].rpartition(".")[2], role.get("tasks_from", "main")))
    return [(role, point) for role, point in found if point in specs(role)]


def imported(name: str) -> list[str]:
    """Return the playbooks that a playbook imports."""
    return [Path(play["import_playbook"]).stem for play in plays(name) if "import_playbook" in play]


def tags_of(value: Any) -> list[str]:
    """Return the tags of plays or tasks and of all that is in them."""
    own = value.get("tags", []) if isinstance(value, dict) else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [own] if isinstance(own, str) else [*own, *(tag for item in inner for tag in tags_of(item))]


def tags(name: str) -> list[str]:
    """Return the tags of a playbook, without that of tasks that always run, imported ones among them."""
    found = tags_of(plays(name)) + [tag for other in imported(name) for tag in tags(other)]
    return [tag for tag in dict.fromkeys(found) if tag != "always"]


def playbook_text(name: str, given: dict[str, Any]) -> str:
    """Return the section of a playbook, as Markdown.

    :param given: its entry of docs/reference.yml
    """
    lines = [f"## {name}", "", given["does"], ""]
    if hosts(name):
        lines += [f"Hosts: {', '.join(f'`{pattern}`' for pattern in hosts(name))}.", ""]
    if imported(name):
        lines += [f"Runs: {', '.join(f'[{other}](#{other})' for other in imported(name))}; with their variables.", ""]
    lines += [f"Tags: {', '.join(f'`{tag}`' for tag in tags(name))}.", ""]
    if "confirms" in given:
        lines += [f"`metal3_confirm`: {given['confirms']}", ""]
    rows = [Variable(variable, "", "", text) for variable, text in given.get("variables", {}).items()]
    for role, point in entry_points(name):
        known = {row.name for row in rows} | {*given.get("sets", ()), "metal3_confirm"}
        rows += [row for row in variables(role, point) if row.name not in known]
    return "\n".join(lines + (table(rows) + [""] if rows else []))


def playbooks_page() -> str:
    """Return docs/playbooks.md."""
    given = described()
    note = "<!-- made from docs/reference.yml and the roles' argument_specs.yml by make docs-roles -->"
    lines = [f"{note}\n{given['head']}"]
    return "\n".join(lines + [playbook_text(name, entry) for name, entry in given["playbooks"].items()])


def pages() -> dict[Path, str]:
    """Return all pages as they must be, by path."""
    found = dict((readme(role), with_reference(readme(role).read_text(encoding="utf-8"), role_text(role)))
                 for role in roles())
    return {**found, REPOSITORY / "docs" / "playbooks.md": playbooks_page()}


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
