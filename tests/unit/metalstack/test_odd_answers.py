# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What metal-api answers is data: whatever type a field has, it is shown, compared and checked without a traceback."""
from __future__ import annotations

import pytest
from fakes.options import with_value

from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack import goals, info_service, kinds, validation

PROJECT = "3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e"
MACHINE_ID = "00000000-0000-4000-8000-000000000102"
STOCK = {
    "projects": [{"id": PROJECT}], "sizes": [{"id": "s"}], "partitions": [{"id": "p"}],
    "images": [{"id": "debian-13.1", "features": ["machine"]}],
    "machines": [{
        "id": MACHINE_ID, "partition": {"id": "p"}, "size": {"id": "s"}, "tags": ["a"], "liveliness": "Alive",
        "events": {"log": [{"event": "Phoned Home"}], "crash_loop": False, "last_error_event": {"message": "x"}},
        "allocation": {"name": "m", "project": PROJECT, "role": "machine", "image": {"id": "debian-13.1"},
                       "networks": [{"networkid": "n", "ips": ["192.0.2.1"]}]}}],
    "networks": [{"id": "n", "name": "n", "projectid": PROJECT, "partitionid": "p", "parentnetworkid": "x",
                  "prefixes": ["192.0.2.0/24"], "destinationprefixes": ["0.0.0.0/0"], "labels": {"a": "b"}}],
    "ips": [{"ipaddress": "192.0.2.1", "name": "i", "projectid": PROJECT, "networkid": "n", "type": "static",
             "tags": ["a"]}]}
MACHINE = {"name": "m", "project": PROJECT, "partition": "p", "size": "s", "image": "debian-13", "tags": ["b"],
           "networks": [{"name": "n", "autoacquire": True}], "ips": ["192.0.2.1"], "reinstall": True,
           "state": "present"}
ENTRIES = [
    (kinds.MACHINE, MACHINE), (kinds.MACHINE, dict(MACHINE, id=MACHINE_ID)),
    (kinds.NETWORK, {"name": "n", "project": PROJECT, "partition": "p", "labels": {"a": "c"}, "state": "present",
                     "destination_prefixes": ["0.0.0.0/0"], "shared": True}),
    (kinds.IP, {"name": "i", "project": PROJECT, "network": "n", "address": "192.0.2.1", "tags": ["x"],
                "type": "ephemeral", "state": "present"})]
# What the client makes sure of.
KEYS = ("id", "ipaddress")


def paths(value, before=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if len(before) == 2 and key in KEYS:
            continue
        if len(before) >= 2:
            yield (*before, key)
        yield from paths(item, (*before, key))


@pytest.mark.parametrize("value", [None, 5, 1.5, True, [], {}, ["a"], {"a": 1}, "", "x", [[1]], [None], [{}]], ids=repr)
def test_no_answer_ends_a_run_with_a_traceback(value):
    changed = [with_value(STOCK, path, value) for path in paths(STOCK)]
    assert len(changed) > 40
    for objects in changed:
        stock = validation.Stock(objects)
        for kind, entry in ENTRIES:
            item = objects[kind.option][0]
            assert isinstance(kind.facts(item), dict)
            assert kind.matches(entry, item) in (True, False)
            assert isinstance(kind.changes(entry, item), dict) and isinstance(kind.update(entry, item), dict)
            assert isinstance(kind.fixed_problems(entry, item), list)
            assert isinstance(stock.problems(kind, entry), list)
        machine = objects["machines"][0]
        goals.decide_ready("m", lambda stored: kinds.image_fits("debian-13", stored))(machine)
        for name in ("machines", "firewalls"):
            for facts in info_service._facts(name, [machine]):
                assert all(isinstance(text, str) for text in [*facts["addresses"], *facts["tags"]])
