# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as text, SARIF and JUnit XML."""
from __future__ import annotations

from xml.etree import ElementTree

import jsonschema
import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import report as lint_report
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import rules as lint_rules

# What SARIF 2.1.0 asks of the parts that are used here (sections 3.13, 3.14, 3.19, 3.27, 3.28, 3.29, 3.30, 3.49).
MESSAGE = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
WHOLE = {"type": "integer", "minimum": 1}


def closed(properties, *required):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


LOCATION = closed({
    "physicalLocation": closed({
        "artifactLocation": closed({"uri": {"type": "string", "format": "uri-reference"}}, "uri"),
        "region": closed({"startLine": WHOLE, "startColumn": WHOLE}, "startLine")}, "artifactLocation"),
    "logicalLocations": {"type": "array", "items": closed({"fullyQualifiedName": {"type": "string"}})}})
RESULT = closed({"ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "level": LEVEL,
                 "message": MESSAGE, "locations": {"type": "array", "items": LOCATION}}, "message")
RULE = closed({"id": {"type": "string"}, "shortDescription": MESSAGE, "defaultConfiguration": closed({"level": LEVEL}),
               "properties": {"type": "object"}}, "id")
LOG = closed({
    "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
    "runs": {"type": "array", "minItems": 1, "items": closed({
        "tool": closed({"driver": closed({
            "name": {"type": "string"}, "version": {"type": "string"},
            "rules": {"type": "array", "items": RULE, "uniqueItems": True}}, "name")}, "driver"),
        "results": {"type": "array", "items": RESULT},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}}, "tool")}}, "version", "runs")


def item(level="error", kind="host", path="inventory/hosts.yml", line=3, column=5, **parts):
    problem = Problem(**dict({"code": "boot-mac-invalid", "subject": "server-01", "field": "boot_mac", "actual": '"a"',
                              "expected": "b", "hint": "correct it"}, **parts))
    return dict(problem._asdict(), level=level, kind=kind, names=[problem.subject], path=path, line=line,
                column=column, text=str(problem))


FINDINGS = [
    item(), item(line=None, column=None), item(path=None, line=None, column=None, hint=None),
    item(code="rollout-spare", level="warning", subject="prod-cluster", field="", path="/elsewhere/a b.yml"),
    item(code="no-hosts", level="warning", subject="", field="", actual="<none> & \x07 \ud800", path=None,
         line=None, column=None)]


@pytest.mark.parametrize("finding, text", list(zip(FINDINGS, [
    'inventory/hosts.yml:3: error boot-mac-invalid: server-01: boot_mac: found "a", expected b; correct it',
    'inventory/hosts.yml: error boot-mac-invalid: server-01: boot_mac: found "a", expected b; correct it',
    'error boot-mac-invalid: server-01: boot_mac: found "a", expected b',
    '/elsewhere/a b.yml:3: warning rollout-spare: prod-cluster: found "a", expected b; correct it',
    "warning no-hosts: found <none> & \\x07 \\ud800, expected b; correct it"])))
def test_lines(finding, text):
    assert lint_report.line(finding) == text


def test_text_begins_with_numbers():
    assert lint_report.text(FINDINGS, 1, 2).splitlines()[0] == "1 server, 2 clusters: 3 errors, 2 warnings"
    assert len(lint_report.text(FINDINGS, 1, 2).splitlines()) == 6
    assert lint_report.text([], 0, 1) == "0 servers, 1 cluster: 0 errors, 0 warnings"


@pytest.mark.parametrize("findings", [[], FINDINGS])
def test_sarif_has_the_form_of_the_standard(findings):
    log = lint_report.sarif(findings, "0.1.0")
    jsonschema.Draft7Validator(LOG).validate(log)
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [rule.rule for rule in lint_rules.RULES]
    for result, finding in zip(run["results"], findings):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == finding["code"]
    assert len(run["results"]) == len(findings)


def test_sarif_tells_where():
    results = lint_report.sarif(FINDINGS, "0.1.0")["runs"][0]["results"]
    places = [result.get("locations", [{}])[0].get("physicalLocation") for result in results]
    assert places[0] == {"artifactLocation": {"uri": "inventory/hosts.yml"}, "region": {
        "startLine": 3, "startColumn": 5}}
    assert places[1] == {"artifactLocation": {"uri": "inventory/hosts.yml"}}
    assert places[2] is None
    assert places[3]["artifactLocation"] == {"uri": "file:///elsewhere/a%20b.yml"}
    assert "locations" not in results[4]


def test_junit_has_a_case_for_each_rule():
    root = ElementTree.fromstring(lint_report.junit(FINDINGS).encode())
    cases = root.findall("./testsuite/testcase")
    assert [case.get("name") for case in cases] == [rule.rule for rule in lint_rules.RULES]
    assert root.get("tests") == str(len(cases))
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["boot-mac-invalid"]
    assert root.get("failures") == "1"
    by_name = dict((case.get("name"), case) for case in cases)
    assert len(by_name["boot-mac-invalid"].find("failure").text.splitlines()) == 3
    assert "<none> & \\x07 \\ud800" in by_name["no-hosts"].find("system-out").text


def test_junit_when_warnings_count_and_rules_are_skipped():
    root = ElementTree.fromstring(lint_report.junit(FINDINGS, True, ["bmc-address"]).encode())
    cases = dict((case.get("name"), case) for case in root.iter("testcase"))
    assert [name for name, case in cases.items() if case.find("failure") is not None] == [
        "no-hosts", "rollout-spare", "boot-mac-invalid"]
    assert [name for name, case in cases.items() if case.find("skipped") is not None] == ["bmc-address"]
    assert (root.get("failures"), root.get("skipped")) == ("3", "1")
