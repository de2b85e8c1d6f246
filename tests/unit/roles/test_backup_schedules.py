# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several schedules of backups in one cluster: none takes anything of another one."""
from __future__ import annotations

import json

import pytest
import yaml
from fakes import playbook

ROLE = playbook.ROOT / "roles" / "backup"
LOCAL = "all: {hosts: {h1: {ansible_connection: local}}}"
GIVEN = {"backup_schedule_image": "i", "backup_schedule_volume": {"nfs": {}}, "backup_recipients": ["age1"],
         "labels": {}}


def applied(folder, **given):
    """Return the objects that the entry point schedule applies."""
    folder.mkdir()
    text = json.dumps([{"hosts": "all", "gather_facts": False, "vars_files": [
        str(ROLE / part / "main.yml") for part in ("defaults", "vars")], "tasks": [{"ansible.builtin.copy": {
            "dest": str(folder / "found.yml"),
            "content": "{{ lookup('ansible.builtin.template', '%s') }}" % (ROLE / "templates" / "schedule.yml.j2")}}]}])
    code, output = playbook.play(folder, LOCAL, text, "play.yml", "-e", json.dumps(dict(GIVEN, **given)))
    assert code == 0, output
    return list(yaml.safe_load_all((folder / "found.yml").read_text()))


def names(objects):
    return [(obj["kind"], obj["metadata"].get("namespace"), obj["metadata"]["name"]) for obj in objects
            if obj["kind"] != "Namespace"]


@pytest.mark.parametrize("given", [
    # Of the hosts of another namespace.
    {"metal3_namespace": "production"},
    # Of the same ones, to another volume.
    {"backup_schedule_name": "weekly"}, {"backup_schedule_namespace": "elsewhere"}],
    ids=["other hosts", "other name", "other namespace"])
def test_two_schedules_share_nothing(tmp_path, given):
    first, second = applied(tmp_path / "first"), applied(tmp_path / "second", **given)
    assert not set(names(first)) & set(names(second))
    for objects in (first, second):
        found = dict((obj["kind"], obj) for obj in objects)
        account = found["ServiceAccount"]["metadata"]
        for kind in ("ClusterRoleBinding", "RoleBinding"):
            subject, = found[kind]["subjects"]
            assert (subject["name"], subject["namespace"]) == (account["name"], account["namespace"])
            assert found[kind]["roleRef"]["name"] == found[kind.removesuffix("Binding")]["metadata"]["name"]


def test_names_of_one_schedule_are_short(tmp_path):
    found = names(applied(tmp_path / "one"))
    assert ("CronJob", "metal3-backup", "metal3-backup") in found and ("Role", "metal3", "metal3-backup") in found
    assert ("ClusterRole", None, "metal3-backup-metal3") in found


def test_the_name_for_a_long_namespace_is_one_that_a_cron_job_may_have(tmp_path):
    """The API server refused it after the rights were written: a CronJob's name has 52 characters."""
    found = [dict((kind, name) for kind, _namespace, name in names(applied(
        tmp_path / end, metal3_namespace="production-of-the-northern-data-centre-" + end)))["CronJob"]
        for end in ("a", "b")]
    assert [len(name) for name in found] == [52, 52] and len(set(found)) == 2
    assert all(name.startswith("metal3-backup-production-of-the-northern") for name in found)


def test_a_name_with_dots_is_one_that_a_cron_job_may_have(tmp_path):
    assert ("CronJob", "metal3-backup", "weekly.site-1") in names(applied(
        tmp_path / "one", backup_schedule_name="weekly.site-1"))


def test_a_name_of_38_characters_is_not_shortened(tmp_path):
    namespace = "n" * 38
    assert ("CronJob", "metal3-backup", f"metal3-backup-{namespace}") in names(applied(
        tmp_path / "one", metal3_namespace=namespace))


@pytest.mark.parametrize("name", ["n" * 53, "Weekly", "weekly-", "a\nb", "weekly\n", "a..b"])
def test_a_name_that_is_none_is_refused_before_anything_is_written(tmp_path, name):
    text = json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.import_role": {
        "name": "metal3.baremetal.backup", "tasks_from": "schedule"}}]}])
    code, output = playbook.play(tmp_path, LOCAL, text, "play.yml", "-e", json.dumps(dict(
        GIVEN, backup_schedule_name=name)), K8S_AUTH_HOST="https://127.0.0.1:1")
    assert code and "backup_schedule_name: found" in output and f"({len(name)} characters)" in output, output
    assert "Apply the CronJob and its rights" not in output
