# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of Secrets are read whatever is in their place."""
from __future__ import annotations

import base64

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import secret_data


def encoded(content):
    return base64.b64encode(content).decode()


def test_what_a_secret_holds_is_read_as_bytes_and_as_text():
    secret = {"data": {"password": encoded("pä".encode()), "raw": encoded(b"\xff"), "empty": ""}}
    assert secret_data.value(secret, "password") == "pä".encode() and secret_data.text(secret, "password") == "pä"
    # What is no text has none, and is there.
    assert secret_data.value(secret, "raw") == b"\xff" and secret_data.text(secret, "raw") == ""
    assert secret_data.value(secret, "empty") == b"" and secret_data.value(secret, "other") is None


@pytest.mark.parametrize("secret", [
    None, {}, {"data": None}, {"data": []}, {"data": {"key": None}}, {"data": {"key": 1}}, {"data": {"key": "ä"}},
    {"data": {"key": "no base64!"}}, {"data": {"key": "abc"}}, {"data": {"key": ["aGVsbG8="]}}])
def test_anything_else_is_no_value(secret):
    assert secret_data.value(secret, "key") is None and secret_data.text(secret, "key") == ""
