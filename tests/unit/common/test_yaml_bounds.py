# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML of a kilobyte that stands for more than any memory holds, and deep YAML, wherever others' files are read."""
from __future__ import annotations

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.conversion import documents as conversion
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.manifests import manifest_file
from ansible_collections.metal3.baremetal.plugins.module_utils._common.documents import yaml_bounds
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.redaction import HIDDEN
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance import file_reading
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests import documents
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import release
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, manifests

LISTS = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]" for number in range(1, 9))])
MERGES = "\n".join(["a0: &a0 {x: 1, y: 2}", *(
    f"a{number}: &a{number} {{<<: [{', '.join([f'*a{number - 1}'] * 10)}]}}" for number in range(1, 9))])
TEXTS = f"a: &a {'x' * 4096}\nb: [{', '.join(['*a'] * 4096)}]"
ITSELF = "a: &a {b: [*a]}"
OBJECT = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: a}\n"
BOMBS = pytest.mark.parametrize("bomb", [LISTS, MERGES, TEXTS, ITSELF])


@BOMBS
def test_what_unfolds_without_end_is_refused(bomb):
    with pytest.raises(ValueError, match="alias"):
        yaml_bounds.check(bomb)


@pytest.mark.parametrize("text", [
    "", "a: '* & *'", "&a a: *a", "a: &a {b: &b 1}\nc: [*a, *b]\nd: {<<: *a}", "a: &a 1\n---\na: &a 2\nb: *a",
    "a: &a [x, x]\nb: [" + "*a, " * 1000 + "]", "a: *unknown\nb: &b 1",
    "- &a " + "x" * 100000 + "\n- *a"])
def test_honest_aliases_are_taken(text):
    yaml_bounds.check(text)


def test_what_is_no_yaml_says_so():
    with pytest.raises(yaml.YAMLError):
        yaml_bounds.check("a: [&b *b")


@pytest.mark.parametrize("loader", [None, yaml.SafeLoader])
@pytest.mark.parametrize("begin, end", [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")])
def test_depth_is_bounded(begin, end, loader):
    yaml_bounds.check(begin * 200 + "a" + end * 200, loader)
    with pytest.raises(RecursionError):
        yaml_bounds.check(begin * 201 + "a" + end * 201, loader)
    yaml_bounds.check(f"--- {begin}a{end}\n" * 300 if end else "- a\n" * 300, loader)


@pytest.mark.parametrize("text, found", [
    ("a: *b", True), ("a: &b 1\nc: *b", True), ("a: '*b'", False), ("a: ]\nb: *c", False), ("[" * 5000, False),
    (b"a: *b", True), (b"\xff", False), ("a: \ud800", False), ("", False)])
def test_aliases_are_found(text, found):
    assert yaml_bounds.has_alias(text) is found


# In the loader of libyaml it would end the process.
@pytest.mark.parametrize("deep", ["[" * 10 ** 6, "{a: [" * 10 ** 6], ids=["lists", "lists and mappings"])
def test_deep_manifests_are_refused(deep):
    text = f"{OBJECT}spec: {deep}"
    assert "nested too deeply" in documents.read([text])[1][0].actual
    assert "nested too deeply" in conversion.read("file.yml", text)[1][0].actual
    assert manifest_file.difference(text, [yaml.safe_load(OBJECT)])[0] == f"{HIDDEN}\n"
    with pytest.raises(manifests.ManifestError, match="nested too deeply"):
        manifests.parse(text)


@BOMBS
def test_a_catalogue_and_a_cabling_file_are_refused(bomb, tmp_path):
    path = tmp_path / "file.yml"
    path.write_text(bomb)
    with pytest.raises(RefusedError) as refused:
        file_reading.read(str(path), str(path))
    assert [problem.subject.split()[0] for problem in refused.value.problems] == ["firmware_catalogue", "cabling_file"]
    assert all("alias" in problem.actual for problem in refused.value.problems)


@BOMBS
def test_manifests_that_are_to_be_converted_are_refused(bomb):
    found, problems = conversion.read("file.yml", f"{OBJECT}spec:\n" + "\n".join(
        f"  {line}" for line in bomb.splitlines()))
    assert not found and "alias" in problems[0].actual


@BOMBS
def test_manifests_that_are_to_be_applied_are_refused(bomb):
    objects, problems = documents.read([OBJECT + bomb])
    assert not objects and "alias" in problems[0].actual


@BOMBS
def test_a_file_that_is_replaced_is_hidden(bomb):
    assert manifest_file.difference(OBJECT + bomb, [yaml.safe_load(OBJECT)])[0] == f"{HIDDEN}\n"


@BOMBS
def test_a_parts_manifests_and_its_metadata_are_refused(bomb):
    with pytest.raises(manifests.ManifestError, match="alias"):
        manifests.parse(OBJECT + bomb)
    with pytest.raises(release.Refused, match="alias"):
        release.check_metadata(catalogue.BY_NAME["capm3"], "v1.13.0", bomb.encode())
