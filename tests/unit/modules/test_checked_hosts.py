# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain has seen of hosts goes along with the reboot that comes after it."""
from __future__ import annotations

import json
import pathlib
from types import SimpleNamespace

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args
from fakes.api_server import ApiServer

from ansible_collections.metal3.baremetal.plugins.modules import baremetal_host_action

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"
HOST = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
        "metadata": {"name": "h1", "namespace": "metal3", "uid": "u1", "resourceVersion": "1"},
        "spec": {"online": True, "consumerRef": {"kind": "Metal3Machine", "namespace": "metal3", "name": "m"}},
        "status": {"poweredOn": True, "operationalStatus": "OK", "provisioning": {"state": "provisioned"}}}


@pytest.mark.parametrize("uid, consumer, message", [
    ("former", "Metal3Machine metal3/m", "found another BareMetalHost of this name"),
    ("u1", "Metal3Machine metal3/other", "found a host in use by Metal3Machine metal3/m, expected"),
    ("u1", "", "found a host in use by Metal3Machine metal3/m, expected none"),
    ("u1", "Metal3Machine metal3/m", "")])
def test_another_host_than_the_one_that_was_drained_is_not_rebooted(capsys, tmp_path, uid, consumer, message):
    with ApiServer([HOST]) as server:
        path = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts/h1"
        own = server.answer(SimpleNamespace(method="GET", path=path))[1]["metadata"]["uid"]
        with pytest.raises(SystemExit), patch_module_args({
                "host": server.url, "api_key": "a-token", "names": ["h1"], "action": "reboot", "force_hosts": ["h1"],
                "confirm": "1", "checked": [{"name": "h1", "uid": own if uid == "u1" else uid, "consumer": consumer}],
                "wait": False,
                "_ansible_remote_tmp": str(tmp_path)}):
            baremetal_host_action.main()
    answer = json.loads(capsys.readouterr().out)
    assert message in answer.get("msg", "") and bool(answer.get("failed")) is bool(message), answer
    assert bool(server.stored) is not bool(message)


def test_what_is_drained_is_what_was_planned_and_confirmed():
    round_of, = [task for task in yaml.safe_load((ROLES / "maintenance" / "tasks" / "round.yml").read_text())
                 if task["name"] == "Drain the servers' nodes"]
    assert round_of["metal3.baremetal.host_maintenance"]["checked"] == "{{ maintenance_plan.checked }}"


def test_whatever_a_maintenance_interrupts_after_the_drain_is_what_was_drained():
    tasks = dict((task["name"], task) for step in yaml.safe_load(
        (ROLES / "maintenance" / "tasks" / "round.yml").read_text()) for task in step.get("block", [step]))
    given = "{{ maintenance_drained.checked }}"
    for name in ("Reboot the servers", "Switch the servers off"):
        assert tasks[name]["metal3.baremetal.baremetal_host_action"]["checked"] == given
    assert tasks["Change BIOS settings and firmware"]["vars"]["hosts_checked"] == given
    for name in ("firmware", "firmware_check"):
        text = (ROLES / "hosts" / "tasks" / f"{name}.yml").read_text()
        acts = [task["metal3.baremetal.baremetal_host_action"] for task in yaml.safe_load(text)
                if "metal3.baremetal.baremetal_host_action" in task]
        assert [act["checked"] for act in acts] == ["{{ hosts_checked }}"]
