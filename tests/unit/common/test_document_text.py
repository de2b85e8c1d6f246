# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a document has, it is read or refused by one error, whose text has nothing of it."""
from __future__ import annotations

import contextlib
import datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.documents import document_text
from ansible_collections.metal3.baremetal.plugins.module_utils._common.documents.document_text import (
    DocumentError,
    from_json,
    from_yaml,
    from_yaml_all,
)

WORD = "hunter2"
READERS = (from_json, from_yaml, from_yaml_all)
DEEPEST = 10 ** 6
NO_JSON = {
    "": "Expecting value: line 1 column 1 (char 0)",
    f"{{}}\n{WORD}": "Extra data: line 2 column 1 (char 3)",
    f'{{"{WORD}": {WORD}}}': "Expecting value: line 1 column 13 (char 12)",
    f'["{WORD}': "Unterminated string starting at: line 1 column 2 (char 1)",
    f'"{WORD}\\q"': "Invalid \\escape: line 1 column 9 (char 8)",
    "[" * DEEPEST: "a document nested too deeply",
    '{"a": ' * DEEPEST: "a document nested too deeply",
}
# Of the loader in Python and that of libyaml alike.
NO_YAML = {
    f"a: !{WORD} b": "could not determine a constructor for the tag, line 1, column 4",
    f"a: *{WORD}": "found undefined alias, line 1, column 4",
    f"a: !!int {WORD}": "invalid literal for int() with base 10",
    f"a: !!int \"it's {WORD}\"": "invalid literal for int() with base 10",
    f"a: !!float {WORD}": "could not convert string to float",
    "a: !!int ''": "a value that is not what its tag says",
    f"a: !!bool {WORD}": "a value that is not what its tag says",
    f"a: !!timestamp {WORD}": "a value that is not what its tag says",
    f"{{[{WORD}]: 1}}": "found unhashable key, line 1, column 2",
    f"a: !!binary '{WORD}'": "failed to decode base64 data: Incorrect padding, line 1, column 4",
    f"!!omap {{a: {WORD}}}": "expected a sequence, but found mapping, line 1, column 1",
    f"'{WORD}": "found unexpected end of stream, line 1, column 9",
    "a: [" * DEEPEST: "a document nested too deeply",
    "&a [*a]": "an alias inside of what it stands for",
}


@pytest.fixture(params=["libyaml", "Python"])
def yaml_loader(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)


@pytest.mark.parametrize("content, message", NO_JSON.items(), ids=lambda text: text[:30])
def test_what_is_no_json_says_what_and_where(content, message):
    for given_content in (content, content.encode()):
        with pytest.raises(DocumentError) as refused:
            from_json(given_content)
        assert str(refused.value) == message


@pytest.mark.usefixtures("yaml_loader")
@pytest.mark.parametrize("content, message", NO_YAML.items(), ids=lambda text: text[:30])
def test_what_is_no_yaml_says_what_and_where(content, message):
    for read in (from_yaml, from_yaml_all):
        for given_content in (content, content.encode()):
            with pytest.raises(DocumentError) as refused:
                read(given_content)
            assert str(refused.value) == message


@pytest.mark.parametrize("content, by_libyaml, by_python", [
    ("a: [1", "did not find expected ',' or ']'", "expected ',' or ']', but got '<stream end>'"),
    ("%TAG ! x", "did not find expected <document start>", "expected '<document start>', but found '<stream end>'"),
    ("a: @x", "found character that cannot start any token", "found character '@' that cannot start any token"),
    ("a:\n\tb: 1", "found character that cannot start any token", r"found character '\t' that cannot start any token"),
    ("\0", 'unacceptable character #x0000: control characters are not allowed in "<unicode string>", position 0',
     'unacceptable character #x0000: special characters are not allowed in "<unicode string>", position 0')])
def test_what_a_parser_quotes_of_its_own_stays(monkeypatch, content, by_libyaml, by_python):
    for message in (by_libyaml, by_python) if yaml.__with_libyaml__ else (by_python,):
        if message == by_python:
            monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
        with pytest.raises(DocumentError) as refused:
            from_yaml(content)
        assert str(refused.value).partition(", line")[0] == message


@pytest.mark.usefixtures("yaml_loader")
@pytest.mark.parametrize("content", [
    f"!!int '\\ndeadbeef{WORD}'", f"!!int \"'{WORD}\"", f"!!int \"'{WORD}\\\"\"",
    "9999-99-99", "9" * 5000, f"'{WORD}\\q", f'"{WORD}\\q"', f"%TAG ! {WORD}", f"a: !{WORD}!b c", f"\0{WORD}",
    f"- {WORD}\n{WORD}", f"{WORD}: @{WORD}", f"--- {WORD} ---\n] {WORD}", f"<<: {WORD}", f"{{<<: [{WORD}]}}",
    f"!!set [{WORD}]", f"!!omap {{{WORD}: 1}}", f"!!pairs [{WORD}]", f"!!python/name:{WORD} ''", "!!float : .inf\n-",
    f"a: b: {WORD}", f"\ud800{WORD}"])
def test_no_error_has_a_word_of_the_document(content):
    errors = []
    for read in READERS:
        try:
            read(content)
        except DocumentError as exc:
            errors.append(str(exc))
    assert errors and all(error and WORD not in error and "\n" not in error for error in errors), errors


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("content", [None, 5, ["a"], {"a": 1}])
def test_what_is_no_text_is_no_document(read, content):
    with pytest.raises(DocumentError, match="no text"):
        read(content)


@pytest.mark.parametrize("read", READERS)
def test_bytes_that_are_no_text_are_no_document(read):
    with pytest.raises(DocumentError, match="bytes that are no UTF-8"):
        read(b'"\xff\xfea"')


def test_numbers_that_python_does_not_read_are_refused():
    for read in READERS:
        with pytest.raises(DocumentError, match="digits"):
            read('{"a": ' + "9" * 9000 + "}")


def test_the_line_is_known():
    for read, content in ((from_json, "{\n]"), (from_yaml, "a: 1\nb: [}"), (from_yaml_all, "a\n---\n- ]")):
        with pytest.raises(DocumentError) as refused:
            read(content)
        assert refused.value.line == content.count("\n") + 1
    with pytest.raises(DocumentError) as refused:
        from_yaml("[" * DEEPEST)
    assert refused.value.line is None


@pytest.mark.usefixtures("yaml_loader")
def test_documents_are_read():
    for content in (b'{"a": [1, "\\u00e4", null]}', '{"a": [1, "\u00e4", null]}'):
        assert from_json(content) == {"a": [1, "\u00e4", None]}
    assert from_yaml("a: &b [1, \u00e4]\nc: *b".encode()) == {"a": [1, "\u00e4"], "c": [1, "\u00e4"]}
    assert from_yaml("2026-11-28") == datetime.date(2026, 11, 28)
    assert from_yaml("") is None
    assert from_yaml_all("---\na: 1\n---\n---\n[]\n---\nfalse\n") == [{"a": 1}, [], False]


@pytest.mark.usefixtures("yaml_loader")
def test_several_documents_are_not_one():
    with pytest.raises(DocumentError, match="but found another document, line 2"):
        from_yaml("a\n--- b")


def test_a_loader_of_its_own_is_used():
    class Loader(yaml.SafeLoader):
        pass

    def refuse(_loader, _node):
        raise ValueError(f"not here: '{WORD}'")

    Loader.add_constructor("!own", lambda loader, node: loader.construct_scalar(node).upper())
    Loader.add_constructor("!other", refuse)
    assert from_yaml("!own a", Loader) == "A"
    with pytest.raises(DocumentError, match=r"^not here$"):
        from_yaml("!other a", Loader)


def test_json_is_read_without_pyyaml(monkeypatch):
    monkeypatch.delattr(document_text, "yaml")
    assert from_json("[1]") == [1]
    with pytest.raises(DocumentError):
        from_json("[")


SIGNS = "!&*%@{}[]<>,:?-|#'\"\\ \n\t01.9aé~=_"


@given(st.one_of(st.binary(), st.text(), st.text(SIGNS).map(lambda text: f"a: {text}")))
def test_there_is_no_other_error(content):
    for read in READERS:
        with contextlib.suppress(DocumentError):
            read(content)
