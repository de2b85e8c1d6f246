# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What leaves a module as Ansible prints it: texts that others wrote steer no terminal."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._common.module import Module
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError

# Sets the terminal's title, which some report back as if it were typed; a C1 control; a line that is turned.
STEERING = "\x1b]0;id\x07 \x9b31m \u202egnp"
SHOWN = "\\x1b]0;id\\x07 \\x9b31m \\u202egnp"


@pytest.fixture
def answer(capsys, tmp_path):
    """Return a callable that runs a module's work and returns its answer."""
    def call(work, **options):
        with patch_module_args(dict(options, _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
            work(Module({"text": {"type": "str"}}))
        return json.loads(capsys.readouterr().out)
    return call


def fail(module):
    with module.reporting():
        raise ReportedError(f"first line\n{STEERING}")


def test_a_failure_steers_no_terminal(answer, monkeypatch):
    """Its traceback, which Ansible prints as well when it is asked to, ends with the same text."""
    given, end = [], AnsibleModule.fail_json
    monkeypatch.setattr(AnsibleModule, "fail_json",
                        lambda module, msg, **result: (given.append(result["exception"]), end(module, msg, **result)))
    assert answer(fail)["msg"] == f"first line\n{SHOWN}"
    assert SHOWN in given[0] and not {"\x1b", "\x9b"} & set(given[0])


def test_a_warning_steers_no_terminal(answer, monkeypatch):
    given = []
    monkeypatch.setattr(AnsibleModule, "warn", lambda _module, warning, **_options: given.append(warning))
    answer(lambda module: module.finish({"changed": False, "warnings": [STEERING]}))
    assert given == [SHOWN]


@pytest.mark.parametrize("many", [False, True])
def test_a_difference_steers_no_terminal(answer, many):
    diff = {"before_header": STEERING, "after_header": STEERING, "before": f"a\n{STEERING}", "after": {"a": STEERING}}
    found = answer(lambda module: module.finish({"changed": True, "diff": [diff] if many else diff}),
                   _ansible_diff=True)
    found = found["diff"][0] if many else found["diff"]
    assert found["before_header"] == found["after_header"] == SHOWN and found["before"] == f"a\n{SHOWN}"
    assert not {"\x1b", "\x9b", "\u202e"} & set(found["after"])


def test_other_results_are_what_they_are(answer):
    """Ansible prints them as JSON, and other tasks read them."""
    assert answer(lambda module: module.finish({"changed": False, "stdout": STEERING}))["stdout"] == STEERING


@pytest.mark.parametrize("url, shown", [
    ("http://images/a.raw?sig=abc", "http://images/a.raw?(hidden)"),
    ("http://me:word@images/a.raw", "http://(hidden)@images/a.raw"),
    ("http://me:word@images/a.raw?sig=abc", "http://(hidden)@images/a.raw?(hidden)"),
    ("oci://registry.example.org:5000/a:1@sha256:abc", "oci://registry.example.org:5000/a:1@sha256:abc"),
    ("http://***@images/a.raw", "http://***@images/a.raw")])
def test_no_query_and_no_login_of_a_url_leaves_a_module(answer, monkeypatch, url, shown):
    """Whoever has the signature of an image store can read: BMO quotes it, and it is in no parameter."""
    given = []
    monkeypatch.setattr(AnsibleModule, "warn", lambda _module, warning, **_options: given.append(warning))
    found = answer(lambda module: module.finish({
        "changed": False, "hosts": [{"image_url": url}], "warnings": [f"found {url}"]}))
    assert found["hosts"] == [{"image_url": shown}]
    assert given == [f"found {shown}"]
    assert answer(lambda module: module.fail_json(f"{url}: no"))["msg"] == f"{shown}: no"
