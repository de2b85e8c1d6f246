# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site's catalogue of firmware and its cabling file against what is known of servers."""
from __future__ import annotations

import os

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance import file_reading, profile, site_files
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance.rules import LEVELS

HARDWARE = {
    "systemVendor": {"manufacturer": "Example Inc.", "productName": "R1"},
    "nics": [{"name": "eno1", "lldp": {"switchSystemName": "leaf-1", "switchID": "00:11", "portID": "7"}},
             {"name": "eno2"}]}
KNOWN = profile.Known(HARDWARE, {"bios": "2.4", "bmc": "7.0"}, {})
R1 = {"manufacturer": "Example Inc.", "product_name": "R1", "firmware": {"bios": ["2.3", "2.4"]}}
MAKER = {"manufacturer": "Example Inc.", "firmware": {"bios": "1.0", "bmc": "7.0"}}


def found(catalogue=None, cabling=None, known=KNOWN, **expected):
    problems = site_files.findings("h1", expected, known, site_files.SiteFiles(catalogue, cabling))
    assert all(problem.code in LEVELS for problem in problems)
    return [(problem.code, problem.field, problem.actual, problem.expected) for problem in problems]


def test_what_is_as_the_files_say_has_no_finding():
    assert found() == []
    assert found([MAKER, R1], {"h1": {"eno1": {"switch": "leaf-1", "switch_port": 7}}}) == []
    assert found([R1, MAKER]) == [], "the model goes before the maker, in whatever order"
    anyones = {"product_name": "R1", "firmware": {"bios": "2.4"}}
    assert found([anyones, MAKER]) == found([MAKER, anyones]) == [], "also without its maker"
    assert found([R1, dict(anyones, firmware={"bios": "1.0"})]) == [], "with the maker it says more"
    assert found([MAKER], firmware={"bios": "2.4"}) == [], "the host goes before the catalogue"


def test_network_cards_of_a_model_are_compared_without_their_serial_numbers():
    known = KNOWN._replace(firmware={"bios": "2.4", "nic:A": "9.2"})
    model = dict(R1, firmware={"nic": "9.3"})
    assert found([model], known=known) == [("firmware-differs", "firmware.nic:A", '"9.2"', "9.3")]
    assert found([model], known=known, firmware={"nic:A": "9.2"}) == [], "the host goes before the catalogue"
    assert found([dict(R1, firmware={"nic:A": "9.3"})], known=known, firmware={"nic": "9.2"}) == []


@pytest.mark.parametrize("files, finding", [
    (([MAKER],), ("firmware-differs", "firmware.bios", '"2.4"', "1.0")),
    (([dict(R1, firmware={"nic": "1"})],), ("firmware-unknown", "firmware.nic", None, "1")),
    (([dict(R1, product_name="R2")],), ("firmware-uncatalogued", "firmware_catalogue", '"Example Inc. R1"',
                                        "a model of the catalogue")),
    ((None, {"h1": {"eno1": {"switch": "leaf-2"}}}), ("cabling-differs", "cabling.eno1.switch", '"leaf-1"', "leaf-2")),
    ((None, {"h1": {"eno1": {"switch": "leaf-1"}, "eno2": {"switch_port": "8"}}}), (
        "cabling-unknown", "cabling.eno2.switch_port", None, "8")),
    ((None, {"h1": {"eno1": {"switch": "leaf-1"}, "eno3": {"switch": "leaf-1"}}}), (
        "hardware-differs", "cabling.eno3", None, "a network card eno3")),
    ((None, {"h1": {}}), ("cabling-unlisted", "cabling.eno1", '"leaf-1 7"',
                          "no switch, since the cabling file has none for this network card")),
    ((None, {"h2": {}}), ("cabling-unlisted", "cabling", None, "the server in the cabling file"))])
def test_a_difference_names_what_was_found_and_expected(files, finding):
    assert found(*files) == [finding]


def test_a_server_that_was_not_inspected():
    unknown = profile.Known(None, {}, {})
    assert [item[:2] for item in found([R1], {"h1": {}}, unknown)] == [
        ("hardware-unknown", "firmware_catalogue"), ("hardware-unknown", "cabling")]


@pytest.mark.parametrize("text, message", [
    ("a: 1", "expected a list of entries"), ("- 3", "[0]: found 3, expected an entry"),
    ("- {firmware: {bios: '1'}}", "expected manufacturer or product_name, or both"),
    ("- {product_name: R1, firmware: {bios: 2.4}}", "[0].firmware.bios: found 2.4, expected a version as text"),
    ("- {product_name: R1, firmware: {}}", "[0].firmware: found"),
    ("- {product_name: 3, firmware: {b: '1'}}", "a text"),
    ("- {product_name: R1, version: 1, firmware: {b: '1'}}", "[0].version: found \"an unknown field\""),
    ("- {product_name: R1, firmware: {b: '1'}}\n- {product_name: R1, firmware: {b: '2'}}", "each model once"),
    ("- {", "expected YAML or JSON"), ("\udcff", "expected YAML or JSON")])
def test_a_wrong_catalogue_is_refused(tmp_path, text, message):
    path = tmp_path / "firmware.yml"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(RefusedError) as refused:
        file_reading.read(str(path), None)
    assert message in str(refused.value) and f"firmware_catalogue {path}" in str(refused.value)


@pytest.mark.parametrize("text, message", [
    ("- a", "expected host to network card"), ("h1: [eno1]", "h1: found"), ("h1: {eno1: leaf-1}", "h1.eno1: found"),
    ("h1: {eno1: {}}", "expected switch or switch_port, or both"),
    ("h1: {eno1: {switch: leaf-1, port: 7}}", "h1.eno1.port: found \"an unknown field\""),
    ("h1: {eno1: {switch: [a]}}", "expected a text or a whole number"),
    ("h1: {eno1: {switch_port: true}}", "expected a text or a whole number")])
def test_a_wrong_cabling_file_is_refused(tmp_path, text, message):
    path = tmp_path / "cabling.yml"
    path.write_text(text)
    with pytest.raises(RefusedError) as refused:
        file_reading.read(None, str(path))
    assert message in str(refused.value) and f"cabling_file {path}" in str(refused.value)


def test_files_that_are_there_are_read(tmp_path):
    (tmp_path / "f.yml").write_text("- {product_name: R1, firmware: {bios: '2.4'}}\n")
    (tmp_path / "c.json").write_text('{"h1": {"eno1": {"switch": "leaf-1"}}}')
    files = file_reading.read(str(tmp_path / "f.yml"), str(tmp_path / "c.json"))
    assert found(*files) == []
    with pytest.raises(RefusedError, match=r"firmware_catalogue .*none.yml: .*expected a file that can be read"):
        file_reading.read(str(tmp_path / "none.yml"), None)


def test_what_is_no_file_or_too_large_for_one_is_not_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_text("- manufacturer: x\n")
    monkeypatch.setattr(file_reading, "_LONGEST_BYTES", 10)
    with pytest.raises(RefusedError) as refused:
        file_reading.read(str(tmp_path / "pipe"), str(tmp_path / "large"))
    assert [problem.actual for problem in refused.value.problems] == ["no regular file", "more than 10 bytes"]
