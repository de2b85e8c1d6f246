# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reverse of enrolment: hosts go, when their number or names are repeated, and nothing of them is left."""
from __future__ import annotations

import pytest
from support import HOST, NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils.kube.resources import KNOWN

pytestmark = pytest.mark.usefixtures("as_operator")

VICTIMS = ("server-01", "server-02")
LIMIT = ("--limit", ",".join(VICTIMS))


def secrets(lab):
    return [item["metadata"]["name"] for item in lab.kube.list(KNOWN["Secret"], NAMESPACE)[0]
            if item["metadata"]["name"].startswith(VICTIMS)]


def test_hosts_go_when_they_are_named_once_more(lab):
    before = lab.hosts()
    lab.playbook("unenroll", *LIMIT).failed("hosts_confirm: seen nothing, expected 2", "server-01,server-02")
    lab.playbook("unenroll", *LIMIT, "-e", "unenroll_confirm=3").failed("seen 3, expected 2")
    assert lab.playbook("unenroll", *LIMIT, "-e", "unenroll_confirm=2", "--check").ok().changed() == 1
    assert sorted(lab.hosts()) == sorted(before)
    assert not [name for name, host in lab.hosts().items() if host["metadata"].get("deletionTimestamp")]
    try:
        lab.kube.patch(HOST, NAMESPACE, VICTIMS[0], {"spec": {"consumerRef": {
            "apiVersion": "example.org/v1", "kind": "Somebody", "name": "else", "namespace": NAMESPACE}}})
        lab.playbook("unenroll", *LIMIT, "-e", "unenroll_confirm=2").failed("server-01", "Somebody")
        assert sorted(lab.hosts()) == sorted(before)
        lab.kube.patch(HOST, NAMESPACE, VICTIMS[0], {"spec": {"consumerRef": None}})

        assert secrets(lab)
        lab.playbook("unenroll", *LIMIT, "-e", "unenroll_confirm=server-01,server-02").ok()
        assert sorted(set(before) - set(lab.hosts())) == sorted(VICTIMS)
        assert sorted(lab.nodes()) == sorted(lab.hosts())
        # The garbage collector takes them away, in its own time.
        eventually(lambda: not secrets(lab), 60, "no Secret of %s" % " and ".join(VICTIMS))
        assert lab.playbook("unenroll", *LIMIT, "-e", "unenroll_confirm=2").ok().changed() == 0
    finally:
        if lab.host(VICTIMS[0]):
            lab.kube.patch(HOST, NAMESPACE, VICTIMS[0], {"spec": {"consumerRef": None}})
        lab.playbook("enroll").ok()
    assert all(lab.state(name) == "available" for name in VICTIMS)
