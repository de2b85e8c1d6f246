# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a file of manifests with its objects of v1beta1 in v1beta2; pure.

Documents in which nothing is converted stay as they are, letter by letter; of others the comments are lost.
"""
from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..._common.documents.document_text import DocumentError, from_yaml
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._metal3.conversion.objects import Converted, convert

try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False

CODE = "conversion"
_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#|\s#\s", re.MULTILINE)


class Document(NamedTuple):
    """A document of a file.

    :param text: as the file has it, without the line that separates it from the one before
    :param objects: its objects, one or those of a List, and what became of each
    :param content: the document itself, with the objects that were converted
    """

    text: str
    objects: list[tuple[Any, Converted]]
    content: Any

    @property
    def changes(self) -> bool:
        """Say whether an object of it is converted."""
        return any(before is not converted.obj for before, converted in self.objects)


def read(subject: str, text: str) -> tuple[list[Document], list[Problem]]:
    """Return the documents of a file, and what keeps them from being converted.

    :param subject: what messages call the file
    :param text: its text
    """
    documents, problems = [], []
    for part in _SEPARATOR.split(text):
        try:
            content = _loaded(part)
        except DocumentError as exc:
            problems.append(_unreadable(subject, str(exc)))
            continue
        document = _document(part, content)
        documents.append(document)
        problems += [Problem(CODE, f"{subject}: {title(before)}", mistake.path, mistake.actual, mistake.expected,
                             "correct it")
                     for before, converted in document.objects for mistake in converted.mistakes]
    return documents, problems


def _unreadable(subject: str, found: str) -> Problem:
    return Problem(CODE, subject, "", found, "YAML documents", "correct them; of templates convert what comes out")


def _document(text: str, content: Any) -> Document:
    if not (isinstance(content, dict) and content.get("kind") == "List" and isinstance(content.get("items"), list)):
        converted = convert(content)
        return Document(text, [(content, converted)], converted.obj)
    objects = [(item, convert(item)) for item in content["items"]]
    return Document(text, objects, dict(content, items=[converted.obj for _item, converted in objects]))


def written(documents: list[Document]) -> str:
    """Return the text of a file of these documents."""
    parts = [_dumped(document.content) if document.changes else document.text for document in documents]
    return "---".join(parts[:1] + [part if part[:1].isspace() or not part else f"\n{part}" for part in parts[1:]])


def _dumped(content: Any) -> str:
    return str(yaml.dump(content, Dumper=_dumper(), sort_keys=False, width=110, allow_unicode=True))


def loses_comments(document: Document) -> bool:
    """Say whether a document that is written again has comments, or what looks like one."""
    return document.changes and bool(_COMMENT.search(document.text))


def title(obj: Any) -> str:
    """Return how an object is named in messages: ``Kind namespace/name``."""
    if not isinstance(obj, dict):
        return "document"
    found = obj.get("metadata")
    metadata = found if isinstance(found, dict) else {}
    name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
    return plain(f"{obj.get('kind')} {name or 'without a name'}")


def _loaded(text: str) -> Any:
    class Loader(yaml.SafeLoader):
        """Leaves times as the texts that they are in JSON."""

    Loader.yaml_implicit_resolvers = dict(
        (first, [entry for entry in resolvers if entry[0] != "tag:yaml.org,2002:timestamp"])
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items())
    return from_yaml(text, Loader)


def _dumper() -> Any:
    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as such, and what is used twice twice."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: Any, data: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)

    Dumper.add_representer(str, text)
    return Dumper
