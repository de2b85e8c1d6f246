# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A description that was wrong and is corrected: what a cluster needs to take it up."""
from __future__ import annotations

import re

import pytest
import small_cluster
from support import NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

# A failure from before a run counts after three minutes.
pytestmark = pytest.mark.long

NAME = "mended"
SECONDS = 1200


@pytest.fixture
def play(lab, monkeypatch):
    """Return a callable that runs a playbook for the cluster with an image; the cluster is deleted afterwards."""
    monkeypatch.setenv("LAB_CLUSTER", "workload")

    def run(playbook, image, **extra):
        variables = small_cluster.variables(lab, NAME, image, endpoint=10)
        return lab.playbook(playbook, seconds=SECONDS, extra=dict(variables, **extra))

    try:
        yield run
    finally:
        run("teardown", {}, **small_cluster.teardown(NAME)).ok()


def test_a_control_plane_that_never_began_is_to_be_deleted_when_the_description_is_corrected(lab, play):
    cause = "the image's checksum is not the given one"
    play("cluster", {"checksum": "0" * 64}).failed(cause)
    output = play("cluster", {}).failed(cause, "when the description is right, delete that Machine").output
    machine = re.search(r"Machine (\S+) is older than the description", output).group(1)
    lab.kube.delete(KNOWN["Machine"], NAMESPACE, machine)
    play("cluster", {}).ok()
    assert play("cluster", {}).ok().changed() == 0
