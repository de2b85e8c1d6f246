# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of hosts that leave a plane, of two runs at once."""
from __future__ import annotations

import pytest
from fakes.planes import NAMESPACE, host, server

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import handed_over_notes
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side


def noted(client):
    return sorted(handed_over.read(client.objects.get(("ConfigMap", handed_over.NAME))))


def write(here, there, name):
    handed_over_notes.write(Side(here, NAMESPACE), Side(there, NAMESPACE), [host(name)], [name], "2026-11-25T00:00:00Z")


def test_a_run_that_finds_no_notes_and_is_not_the_first_to_write_them_keeps_both(monkeypatch):
    here, there = (server(uid, f"https://{uid}:6443") for uid in ("here", "there"))
    create = here.create

    def after_another_run(*arguments, **options):
        monkeypatch.setattr(here, "create", create)
        write(here, there, "a")
        return create(*arguments, **options)

    monkeypatch.setattr(here, "create", after_another_run)
    write(here, there, "b")
    assert noted(here) == ["a", "b"]


def test_notes_that_can_not_be_written_end_the_run(monkeypatch):
    here, there = (server(uid, f"https://{uid}:6443") for uid in ("here", "there"))

    def refuse(*_arguments, **_options):
        raise KubeError("forbidden", 403)

    monkeypatch.setattr(here, "create", refuse)
    with pytest.raises(KubeError, match="forbidden"):
        write(here, there, "a")
    assert noted(here) == []


def config(**data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": {
        "name": handed_over.NAME, "namespace": NAMESPACE, "uid": "u", "resourceVersion": "1"}}


@pytest.mark.parametrize("stored", [{}, {"c": "https://c:6443"}])
def test_hosts_that_had_left_before_are_noted_where_all_else_goes(stored):
    """Else enroll would let them in there, and two planes would switch one server."""
    here, there = (server(uid, f"https://{uid}:6443", objects) for uid, objects in (
        ("here", []), ("there", [host("is-there")])))
    here.objects["ConfigMap", handed_over.NAME] = config(**dict(
        (name, handed_over.note(host(name), url, "2026-11-25T00:00:00Z")) for name, url in (
            ("left", "https://other:6443"), ("came", "https://other:6443"), ("is-there", "https://other:6443"),
            ("went-there", "https://there:6443"), ("c", "https://other:6443"))), broken="none")
    if stored:
        there.objects["ConfigMap", handed_over.NAME] = config(**dict(
            (name, handed_over.note(host(name), url, "2026-11-25T00:00:00Z")) for name, url in stored.items()))
    handed_over_notes.carry(Side(here, NAMESPACE), Side(there, NAMESPACE), ["came"])
    found = handed_over.read(there.objects["ConfigMap", handed_over.NAME])
    assert dict((name, note.server) for name, note in found.items()) == {
        "left": "https://other:6443", "c": "https://other:6443", **stored}
    writes = len(there.writes())
    handed_over_notes.carry(Side(here, NAMESPACE), Side(there, NAMESPACE), ["came"])
    assert len(there.writes()) == writes
