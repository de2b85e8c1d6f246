# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two inspections are compared by what people replace: disks, cards, memory, processors, firmware."""
from __future__ import annotations

import copy

import pytest

from ansible_collections.metal3.baremetal.plugins.filter.hardware_changes import hardware_changes as filter_changes
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import hardware_changes

HARDWARE = {
    "ramMebibytes": 32768, "hostname": "h1",
    "cpu": {"count": 8, "arch": "x86_64", "model": "A", "clockMegahertz": 2400},
    "firmware": {"bios": {"version": "1.0", "vendor": "V", "date": ""}},
    "systemVendor": {"manufacturer": "M", "productName": "P", "serialNumber": "42"},
    "nics": [{"name": "eno1", "mac": "00:5c:52:00:00:01", "ip": "192.0.2.1", "speedGbps": 10, "pxe": True},
             {"name": "eno1", "mac": "00:5c:52:00:00:01", "ip": "2001:db8::1", "speedGbps": 10, "pxe": True}],
    "storage": [{"name": "/dev/sda", "serialNumber": "S1", "sizeBytes": 480 * 10 ** 9, "type": "SSD", "model": "D"}],
}


def changed(edit):
    after = copy.deepcopy(HARDWARE)
    edit(after)
    return [(row["what"], row["before"], row["after"]) for row in hardware_changes.changes(HARDWARE, after)]


def replace_disk(hardware):
    hardware["storage"][0] = {"name": "/dev/sda", "serialNumber": "S2", "sizeBytes": 960 * 10 ** 9, "model": "D"}


@pytest.mark.parametrize("edit, rows", [
    (lambda hardware: None, []),
    (lambda hardware: hardware["nics"][0].update(ip="192.0.2.99"), []),
    (lambda hardware: hardware["cpu"].update(clockMegahertz=1), []),
    (lambda hardware: hardware.update(ramMebibytes=65536), [("RAM", "32 GiB", "64 GiB")]),
    (lambda hardware: hardware["cpu"].update(count=16), [("CPUs", "8", "16")]),
    (lambda hardware: hardware["firmware"]["bios"].update(version=""), [("BIOS version", "1.0", "-")]),
    (replace_disk, [("disk S1", "480 GB, D, SSD, /dev/sda", "-"), ("disk S2", "-", "960 GB, D, /dev/sda")]),
    (lambda hardware: hardware["storage"][0].update(name="/dev/sdb"), [("disk S1, name", "/dev/sda", "/dev/sdb")]),
    (lambda hardware: hardware["nics"].append({"name": "eno2", "mac": "00:5c:52:00:00:02"}),
     [("NIC 00:5c:52:00:00:02", "-", "eno2")]),
    (lambda hardware: hardware["nics"][1].update(pxe=False), [("NIC 00:5c:52:00:00:01, boots", "yes", "no")]),
])
def test_what_differs(edit, rows):
    assert changed(edit) == rows


def test_a_first_inspection_finds_everything_new():
    rows = hardware_changes.changes({}, HARDWARE)
    assert len(rows) == 11 and all(row["before"] == "-" for row in rows)


def test_the_filter():
    before = [{"name": "h1", "hardware_data": HARDWARE}, {"name": "h2", "hardware_data": {}}]
    after = [{"name": "h1", "hardware_data": dict(HARDWARE, ramMebibytes=1)}]
    assert filter_changes(after, before) == [
        {"host": "h1", "what": "RAM", "before": "32 GiB", "after": "1 MiB"}]
    assert filter_changes(after, before, as_table=True) == [
        "HOST  WHAT  BEFORE  AFTER", "h1    RAM   32 GiB  1 MiB"]
    with pytest.raises(Exception, match="hardware_data: true"):
        filter_changes([{"name": "h1"}], before)


SHARED = [{"name": "/dev/sda", "serialNumber": "S1", "sizeBytes": 480 * 10 ** 9},
          {"name": "/dev/sdb", "serialNumber": "S1", "sizeBytes": 960 * 10 ** 9}]


@pytest.mark.parametrize("before, after, rows", [
    ({"storage": SHARED}, {"storage": SHARED[::-1]}, []),
    ({"storage": SHARED}, {"storage": SHARED[1:]}, [("disk S1 /dev/sda", "480 GB, /dev/sda", "-")]),
    ({"storage": SHARED[1:]}, {"storage": SHARED}, [("disk S1 /dev/sda", "-", "480 GB, /dev/sda")]),
    ({"nics": [{"name": "eno1", "mac": "00:5c:52:00:00:01"}, {"name": "eno2", "mac": "00:5c:52:00:00:01"}]},
     {"nics": [{"name": "eno2", "mac": "00:5c:52:00:00:01"}]}, [("NIC 00:5c:52:00:00:01 eno1", "eno1", "-")]),
])
def test_what_has_the_same_serial_number_or_address_is_distinguished_by_its_name(before, after, rows):
    found = hardware_changes.changes(before, after)
    assert [(row["what"], row["before"], row["after"]) for row in found] == rows


def test_hosts_of_one_name_in_several_namespaces_are_compared_each_with_itself():
    def hosts(first, second):
        return [{"name": "h1", "namespace": space, "hardware_data": dict(HARDWARE, ramMebibytes=size)}
                for space, size in (("rack-1", first), ("rack-2", second))]

    assert filter_changes(hosts(1024, 2048), hosts(1024, 2048)) == []
    assert [row["after"] for row in filter_changes(hosts(4096, 2048), hosts(1024, 2048))] == ["4 GiB"]
