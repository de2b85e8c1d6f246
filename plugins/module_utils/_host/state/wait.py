# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for many hosts on one watch."""
from __future__ import annotations

from ..._common.documents.object_shape import HOST, shaped
from ..._common.waiting.wait_loop import WaitLoop
from ..._kube.api.follow import follow
from ..._metal3.kinds import KNOWN


def follow_hosts(client, namespace, histories, deadline, progress, clock, text=str):
    """Follow hosts until none is waited for any more, or until the deadline.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param histories: ``{name: HostHistory}``; brought up to date
    :param deadline: reading of the clock
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param text: callable that gives a text the names that the reader knows
    :returns: that the API server has not answered at the deadline, empty when it has; what ``error`` of a history takes
    :raises KubeError: when the API server refuses
    """
    loop = WaitLoop(f"API server {client.server}", progress, clock, text)
    loop.run(histories, follow(client, KNOWN["BareMetalHost"], namespace, deadline, clock=clock),
             lambda objects, name: shaped(objects.get(name), HOST))
    return loop.silence()
