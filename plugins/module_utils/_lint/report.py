# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings of a lint as lines of text, as SARIF 2.1.0 and as JUnit XML; pure.

A finding here is a dict: the fields of its Problem (``code``, ``subject``, ``field``, ``actual``, ``expected``,
``hint``) and its ``text``; ``level``, ``kind``, ``names`` (all that it concerns), ``path`` (of a file, or None),
``line`` and ``column`` (from 1, or None).
"""
from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from .._common.texts.plain_text import plain
from .rules import ERROR, RULES, WARNING, Rule

SARIF_VERSION = "2.1.0"
# The schema's own name for itself, by which tools recognise the format.
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
TOOL = "metal3.baremetal.site_lint"
# XML 1.0 knows no other control characters than tab and line ends.
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def place(item: dict[str, Any]) -> str:
    """Return ``path:line`` of a finding, as much of it as is known."""
    if not item["path"]:
        return ""
    return f"{item['path']}:{item['line']}" if item["line"] else item["path"]


def line(item: dict[str, Any]) -> Any:
    """Return a finding as one line, which may quote what a BMC once reported and steers no terminal."""
    found = place(item)
    return plain(f"{found + ': ' if found else ''}{item['level']} {item['code']}: {' '.join(item['text'].split())}")


def count(findings: list[dict[str, Any]]) -> dict[str, int]:
    """Return ``{"error": n, "warning": n}``."""
    return dict((level, sum(item["level"] == level for item in findings)) for level in (ERROR, WARNING))


def text(findings: list[dict[str, Any]], hosts: int, clusters: int) -> str:
    """Return all findings as text: a line of numbers, then a line for each.

    :param hosts: how many servers were looked at
    :param clusters: how many clusters were looked at
    """
    numbers = [_number(hosts, "server"), _number(clusters, "cluster")]
    levels = [_number(number, level) for level, number in count(findings).items()]
    return "\n".join([f"{', '.join(numbers)}: {', '.join(levels)}"] + [line(item) for item in findings])


def _number(number: int, noun: str) -> str:
    return "%d %s%s" % (number, noun, "" if number == 1 else "s")


def sarif(findings: list[dict[str, Any]], tool_version: str, tool: str = TOOL,
          rules: Sequence[Rule] = RULES) -> dict[str, Any]:
    """Return a SARIF log as plain data.

    :param tool_version: version of the collection, empty when it is not known
    :param tool: name of what has found them
    :param rules: all that it looks at
    """
    version = {"version": tool_version} if tool_version else {}
    position = dict((rule.rule, number) for number, rule in enumerate(rules))
    return {
        "$schema": SARIF_SCHEMA,
        "version": SARIF_VERSION,
        "runs": [{
            "tool": {"driver": {
                **version, "name": tool,
                "rules": [{"id": rule.rule, "shortDescription": {"text": rule.summary},
                           "defaultConfiguration": {"level": rule.level},
                           "properties": {"source": rule.source}} for rule in rules]}},
            "results": [_result(item, position[item["code"]]) for item in findings],
            "columnKind": "unicodeCodePoints",
        }],
    }


def _result(item: dict[str, Any], position: Mapping[str, int]) -> dict[str, Any]:
    result = {"ruleId": item["code"], "ruleIndex": position, "level": item["level"], "message": {"text": item["text"]}}
    location: dict[str, Any] = {}
    if item["path"]:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(item["path"])}}
        if item["line"]:
            region = {"startLine": item["line"]}
            if item["column"]:
                region["startColumn"] = item["column"]
            location["physicalLocation"]["region"] = region
    if item["subject"]:
        name = ".".join(part for part in (item["subject"], item["field"]) if part)
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
    if location:
        result["locations"] = [location]
    return result


def _uri(path: str) -> str:
    return ("file://" if path.startswith("/") else "") + quote(path)


def junit(findings: list[dict[str, Any]], strict: bool = False, skipped: Collection[str] = (), tool: str = TOOL,
          rules: Sequence[Rule] = RULES) -> str:
    """Return JUnit XML: a test case for each rule, which fails with its errors.

    Warnings are in the text of the rule's case, which passes with them.

    :param strict: warnings make their case fail too
    :param skipped: names of rules that were not looked at
    :param tool: as for :func:`sarif`
    :param rules: as for :func:`sarif`
    """
    cases = []
    failures = 0
    for rule in rules:
        own = [item for item in findings if item["code"] == rule.rule]
        text = "\n".join(line(item) for item in own)
        body = ""
        if rule.rule in skipped:
            body = "<skipped/>"
        elif own and (strict or rule.level == ERROR):
            failures += 1
            body = f"<failure message={_attribute(line(own[0]))} type={quoteattr(rule.rule)}>{_text(text)}</failure>"
        elif own:
            body = f"<system-out>{_text(text)}</system-out>"
        cases.append(f"    <testcase classname={quoteattr(tool)} name={quoteattr(rule.rule)}>{body}</testcase>")
    head = f'tests="{len(rules)}" failures="{failures}" errors="0" skipped="{len(skipped)}"'
    return "\n".join(
        ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {head}>",
         f"  <testsuite name={quoteattr(tool)} {head}>"] + cases + ["  </testsuite>", "</testsuites>", ""])


def _text(text: str) -> Any:
    return escape(_NO_XML.sub("?", text))


def _attribute(text: str) -> Any:
    return quoteattr(_NO_XML.sub("?", text))
