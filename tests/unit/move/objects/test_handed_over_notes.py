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


def test_a_note_that_another_run_writes_at_that_moment_stays(monkeypatch):
    """It was taken for the one of before, and deleted: enroll would have let the host in, and two planes managed it."""
    here, there = (server(uid, f"https://{uid}:6443") for uid in ("here", "there"))
    there.objects["ConfigMap", handed_over.NAME] = config(a=handed_over.note(
        host("a"), "https://here:6443", "2026-11-25T00:00:00Z"))
    patch = there.patch

    def after_another_run(*arguments, **options):
        monkeypatch.setattr(there, "patch", patch)
        patch(arguments[0], NAMESPACE, handed_over.NAME, {"data": dict((name, handed_over.note(
            host(name), "https://elsewhere:6443", "2026-11-25T00:00:00Z")) for name in ("a", "b"))})
        return patch(*arguments, **options)

    monkeypatch.setattr(there, "patch", after_another_run)
    write(here, there, "a")
    assert noted(there) == ["a", "b"]


def test_each_write_of_notes_rests_on_those_that_were_read(monkeypatch):
    here, there = (server(uid, f"https://{uid}:6443") for uid in ("here", "there"))
    checked = []
    for client in (here, there):
        client.objects["ConfigMap", handed_over.NAME] = config(a=handed_over.note(
            host("a"), "https://other:6443", "2026-11-25T00:00:00Z"))
        patch = client.patch
        monkeypatch.setattr(client, "patch", lambda *arguments, patch=patch, **options: (
            checked.append(options.get("checked")), patch(*arguments, **options))[1])
    write(here, there, "a")
    handed_over_notes.add_lacking(Side(there, NAMESPACE), {"b": handed_over.note(
        host("b"), "https://other:6443", "2026-11-25T00:00:00Z")}, [])
    assert len(checked) == 3 and all(item and item["metadata"]["uid"] == "u" for item in checked)


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
