# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file lab.json is read or refused."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import figures

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.sampled_from(sorted(figures.FIELDS)), inner), max_leaves=8)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=30) | JSON.map(json.dumps) | st.just("[" * 100000) | st.just("1" * 5000))
def test_any_lab_json_is_figures_or_refused(text):
    try:
        found = figures.parsed(text)
    except ValueError as error:
        assert str(error)
    else:
        assert all(isinstance(found[name], kind) for name, kind in figures.FIELDS.items())


@pytest.mark.parametrize("content", [b"[]", b"\xff", b"{", b'{"name": "one", "index": true}'])
def test_a_broken_lab_json_is_reported_with_what_to_do(tmp_path, content):
    (tmp_path / "lab.json").write_bytes(content)
    with pytest.raises(figures.FiguresError, match=r"lab\.json: .*restore the file"):
        figures.read(str(tmp_path))
