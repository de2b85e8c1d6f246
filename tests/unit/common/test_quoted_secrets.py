# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Known secrets are hidden in texts, however these quote or cut them."""
from __future__ import annotations

import json

import pytest
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.quoted_secrets import without_secrets
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.redaction import secret_texts

MARK = "(hidden)"
CERTIFICATE = "-----BEGIN\n<a> & \"b\"\n"


@pytest.mark.parametrize("quoted", [
    CERTIFICATE, f"expected list, got map[content:{CERTIFICATE}]", json.dumps({"content": CERTIFICATE}),
    json.dumps(CERTIFICATE).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    " ".join(CERTIFICATE.split()), repr(CERTIFICATE)])
def test_texts_that_quote_a_secret(quoted):
    secrets = secret_texts({"files": [{"path": "/etc/key", "content": CERTIFICATE}], "users": [{"passwd": "a"}]})
    assert secrets == {CERTIFICATE, "a"}
    shown = without_secrets({"msg": f"refused: {quoted}", "problems": [quoted]}, secrets)
    assert "BEGIN" not in json.dumps(shown)
    assert shown["msg"].startswith("refused: ") and MARK in shown["msg"]


def test_texts_without_a_secret_stay_as_they_are():
    assert without_secrets({"msg": "cluster a: found 1", "seconds": 1.5}, {"a", "1"}) == {
        "msg": "cluster a: found 1", "seconds": 1.5}


@pytest.mark.parametrize("left", [6, 9, 14])
def test_the_beginning_of_a_secret_in_a_text_that_was_cut_is_hidden(left):
    secret = "canary-<5e7a>93af"
    for form in (secret, secret.replace("<", "\\u003c")):
        text = "x" * 200 + form[:left]
        assert without_secrets({"msg": f"{text}...; correct it"}, [secret])["msg"] == (
            "x" * 200 + "(hidden)...; correct it")
    assert without_secrets("x" * 200 + "canar...", [secret]).endswith("xcanar...")


def test_of_several_cut_texts_in_one_each_is_hidden():
    secret = "canary-...-5e7a93af"
    text = "x" * 100
    assert without_secrets(f"{text}canary-...-5e7...; {secret[:7]}... and {secret[:6]}...", [secret]) == (
        f"{text}{MARK}...; {MARK}... and {MARK}...")


@pytest.mark.parametrize("text", ["." * 20000, "canary..." * 2000])
def test_a_text_of_dots_does_not_take_minutes(text):
    """A BMC or whoever writes an object may send one of megabytes, which would hold up the run for days."""
    shown = within_processor_time(2, without_secrets, {"model": text}, ["canary-5e7a93af", "another-" * 400])
    assert shown["model"] == text.replace("canary", MARK)
