# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User names, passwords and queries in URLs."""
from __future__ import annotations

import pytest
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import field_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction


@pytest.mark.parametrize("text, shown", [
    ("https://u:pw@h/i", "https://***@h/i"),
    ("https://token@h:8080/i", "https://***@h:8080/i"),
    ("redfish+http://u:p@w@[2001:db8::1]:443/x", "redfish+http://***@[2001:db8::1]:443/x"),
    ("https://u:p/w?#@h/i", "https://***@h/i"),
    ("https://u:123@h", "https://***@h"),
    ("u:pw@192.0.2.1", "***@192.0.2.1"),
    ("u:p/w@192.0.2.1", "***@192.0.2.1"),
    ("https://h/i?mail=a@b", "https://h/i?***"),
    ("found http://h/i?X-Sig=a%2Fb&e=1#x; correct it", "found http://h/i?***#x; correct it"),
    ("(https://u:pw@h/i?sig=a), then", "(https://***@h/i?***), then"),
    ('{"url": "s3+https://h/?a=b"}', '{"url": "s3+https://h/?***"}'),
    ("https://h/i?***", "https://h/i?***"), ("https://h/i?(hidden)", "https://h/i?(hidden)"),
    ("'https://u:pw@h/i' and 'https://v:pw@k/j'", "'https://***@h/i' and 'https://***@k/j'"),
])
def test_they_are_not_shown(text, shown):
    assert redaction.redacted(text) == shown


@pytest.mark.parametrize("text", [
    "https://h/i", "https://h:8080/i@2x.iso", "https://[2001:db8::1]:8080/i@2x.iso",
    "is it https://h/i? Or /i?a=b", "oci://r.example.org:5000/i:1@sha256:abc", "oci://r.example.org/i:1@sha256:abc",
    "git@h:path", "a: me@example.org", "me@example.org", "/srv/a@b", "",
])
def test_other_texts_are_left_as_they_are(text):
    assert redaction.redacted(text) == text


def test_whole_parameters():
    assert redaction.hidden_parameters({"a": ["https://u:pw@h/", 1, None], "b": {"c": True}, "d": ["u:pw@h"]}) == {
        "a": ["https://(hidden)@h/", 1, None], "b": {"c": True}, "d": ["***@h"]}


def test_a_query_that_changes_is_marked_and_looked_for_elsewhere():
    one, two = {"url": "http://h/i?sig=before"}, {"url": "http://h/i?sig=after"}
    assert redaction.hidden_difference(one, two) == (
        {"url": "http://h/i?(hidden)"}, {"url": "http://h/i?(hidden, changed)"})
    assert redaction.hidden_parameters({"image": one}) == {"image": {"url": "http://h/i?(hidden)"}}
    assert redaction.secret_texts(one) == {"sig=before"}


def test_many_addresses_take_no_longer_than_one():
    text = "://a" * 20000
    assert within_processor_time(5, redaction.redacted, text + "?") == text + "?"


def test_messages_show_values_without_them():
    assert field_checks.show(["https://u:pw@h/"]) == '["https://***@h/"]'


def test_a_value_with_keys_of_several_types_is_shown():
    assert field_checks.show({"a": 1, 2: "https://u:pw@h/"}) == "{'a': 1, 2: 'https://***@h/'}"
