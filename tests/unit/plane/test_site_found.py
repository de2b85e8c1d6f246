# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a plane in a folder: there, not there, damaged; what is asked for before it is removed."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.discovery import discovered
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import site_removal_service, site_service

FIGURES = {"name": "rack1", "mode": "process", "dir": "/var/lib/metal3/rack1", "ports": {},
           "urls": {"ironic": "https://192.0.2.10:6385"}}


def found(folder):
    return site_service.found({"dir": str(folder)}, False, Progress(None))


def test_the_figures_of_a_plane_are_read(tmp_path):
    (tmp_path / "lab.json").write_text(json.dumps(FIGURES))
    assert found(tmp_path) == {"changed": False, "existed": True, "management_plane": FIGURES}


@pytest.mark.parametrize("folder", [".", "missing"])
def test_without_a_plane_there_are_none(tmp_path, folder):
    assert found(tmp_path / folder) == {"changed": False, "existed": False, "management_plane": {}}


@pytest.mark.parametrize("text", ["{", "[]", json.dumps(dict(FIGURES, ports=None))])
def test_damaged_figures_are_an_error(tmp_path, text):
    (tmp_path / "lab.json").write_text(text)
    with pytest.raises(ReportedError, match=r"lab\.json"):
        found(tmp_path)


@pytest.mark.parametrize("state", ["absent", "stopped", "found"])
def test_a_folder_that_others_may_write_into_is_not_followed(tmp_path, monkeypatch, state):
    """Its kubeconfig may name a program, which would be run as this user; and its figures say what is deleted."""
    folder = plane(tmp_path, "etcd")
    monkeypatch.setattr(site_removal_service, "KubeClient", lambda options: pytest.fail(f"asked {options}"))
    folder.chmod(0o777)
    service = site_service if state == "found" else site_removal_service
    with pytest.raises(ReportedError, match=r"rack1: found owner \d+, mode 0777, expected a folder that only user"):
        getattr(service, state)(params(folder, "1"), True, Progress(None))


@pytest.mark.parametrize("state", ["absent", "stopped"])
def test_a_copy_of_a_planes_folder_stops_nothing_of_the_plane(tmp_path, monkeypatch, state):
    original, copy = tmp_path / "rack1", tmp_path / "rack1.copy"
    for folder in (original, copy):
        folder.mkdir()
        (folder / "lab.json").write_text(json.dumps(dict(FIGURES, dir=str(original))))
    monkeypatch.setattr(site_removal_service.orphans, "clear", lambda figures: pytest.fail(f"cleared {figures['dir']}"))
    with pytest.raises(ReportedError, match=r"a copy of .*rack1"):
        getattr(site_removal_service, state)(params(copy, "0"), False, Progress(None))
    assert (copy / "lab.json").exists() and (original / "lab.json").exists()


def params(folder, confirm):
    """Return the module's parameters in a play of one plane."""
    return {"dir": str(folder), "name": "rack1", "confirm": confirm, "confirm_among": ["one"]}


def plane(tmp_path, *programs):
    folder = tmp_path / "rack1"
    (folder / "ironic").mkdir(parents=True)
    (folder / "ironic" / "ironic.sqlite").write_text("data")
    (folder / "lab.json").write_text(json.dumps(dict(FIGURES, dir=str(folder))))
    conf = folder / "supervisor" / "conf.d"
    conf.mkdir(parents=True)
    for program in programs:
        (conf / f"{program}.conf").write_text("")
    return folder


@pytest.mark.parametrize(("programs", "confirm", "asked"), [
    ((), None, "1 folder .*rack1.* with all data of the plane.*metal3_confirm=1"), ((), "0", "expected 1"),
    (("etcd", "ironic"), None, r"2 programs \(etcd, ironic\).*metal3_confirm=2"),
    (("etcd", "ironic"), "1", "expected 2")])
def test_a_plane_is_removed_by_a_number_also_when_no_program_is_configured(
        tmp_path, monkeypatch, programs, confirm, asked):
    folder = plane(tmp_path, *programs)
    monkeypatch.setattr(site_removal_service.orphans, "clear", lambda figures: pytest.fail(f"cleared {figures['dir']}"))
    with pytest.raises(ReportedError, match=asked):
        site_removal_service.absent(params(folder, confirm), False, Progress(None))
    monkeypatch.setattr(site_removal_service.orphans, "find", lambda _figures: [])
    planned = site_removal_service.absent(params(folder, confirm), True, Progress(None))
    assert planned["changed"] and "without check mode this would be refused" in planned["warnings"][0]
    assert (folder / "ironic" / "ironic.sqlite").exists()


@pytest.mark.parametrize("programs", [(), ("etcd", "ironic")])
def test_a_plane_whose_number_is_repeated_is_removed(tmp_path, monkeypatch, programs):
    folder = plane(tmp_path, *programs)
    monkeypatch.setattr(site_removal_service.orphans, "clear", lambda _figures: [])
    given = params(folder, str(len(programs) or 1))
    with pytest.raises(ReportedError, match=r"found 2 planes \(one, two\) in this play, expected one"):
        site_removal_service.absent(dict(given, confirm_among=["one", "two"]), False, Progress(None))
    assert site_removal_service.absent(given, False, Progress(None))["changed"] and not folder.exists()
    assert not site_removal_service.absent(dict(given, confirm=None), False, Progress(None))["changed"]


class Ironic:
    """An Ironic with nodes, or the error that it answers with."""

    def __init__(self, answer):
        self.answer, self.options = answer, {}

    def __call__(self, options):
        self.options = options
        if isinstance(self.answer, Exception):
            raise self.answer
        return self

    def list_nodes(self, _fields):
        return [dict(dict.fromkeys(discovered.FIELDS), **node) for node in self.answer]


def with_ironic(tmp_path, monkeypatch, answer):
    folder = plane(tmp_path, "etcd", "ironic")
    (folder / "ironic" / "ironic.conf").write_text("")
    (folder / "secrets").mkdir()
    for name in ("ironic_username", "ironic_password"):
        (folder / "secrets" / name).write_text(f"{name} of the plane\n")
    ironic = Ironic(answer)
    monkeypatch.setattr(site_removal_service, "IronicClient", ironic)
    monkeypatch.setattr(site_removal_service.orphans, "clear", lambda _figures: [])
    return folder, ironic


def test_a_plane_is_not_removed_while_its_ironic_has_nodes_without_a_host(tmp_path, monkeypatch):
    folder, ironic = with_ironic(tmp_path, monkeypatch, [
        {"uuid": "u1", "name": "rack1-01", "provision_state": "active"}, {"uuid": "u2", "provision_state": "available"},
        {"uuid": "u3", "name": "metal3~host-1", "provision_state": "active"},
        {"uuid": "u4", "provision_state": "enroll"}])
    for check_mode in (True, False):
        with pytest.raises(ReportedError, match=r"Ironic node without BareMetalHost: found 2 \(rack1-01, u2\)"):
            site_removal_service.absent(params(folder, "2"), check_mode, Progress(None))
    assert (folder / "ironic" / "ironic.sqlite").exists()
    assert (ironic.options["endpoint"], ironic.options["username"]) == (
        "https://192.0.2.10:6385", "ironic_username of the plane")


def test_an_ironic_that_has_only_nodes_of_hosts_and_unknown_machines_stands_against_nothing(tmp_path, monkeypatch):
    folder, _ironic = with_ironic(tmp_path, monkeypatch, [
        {"uuid": "u3", "name": "metal3~host-1", "provision_state": "active"},
        {"uuid": "u4", "provision_state": "enroll"}])
    assert site_removal_service.absent(params(folder, "2"), False, Progress(None))["warnings"] == []
    assert not folder.exists()


@pytest.mark.parametrize("answer", [IronicError("Ironic does not answer"), None], ids=["no answer", "no login"])
def test_nodes_that_cannot_be_known_are_said_before_and_after(tmp_path, monkeypatch, answer):
    folder, _ironic = with_ironic(tmp_path, monkeypatch, answer)
    if answer is None:
        (folder / "secrets" / "ironic_password").unlink()
    unknown = "whether its Ironic has nodes that are no BareMetalHosts is not known: "
    with pytest.raises(ReportedError, match=rf"all data of the plane; {unknown}.*metal3_confirm=2"):
        site_removal_service.absent(params(folder, None), False, Progress(None))
    done = site_removal_service.absent(params(folder, "2"), False, Progress(None))
    assert done["warnings"][0].startswith(unknown) and not folder.exists()
