# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks in the pod of an Ironic who has the address that it is to hold."""
from __future__ import annotations

from ..._elsewhere import answered, asking

# One of the answers of ``holder`` (``_elsewhere/questions.py``), beside "here" and "nobody".
ELSEWHERE = "elsewhere"
# Ironic's API, its web server and SSH: who refuses a connection is there, too.
_PORTS = (6385, 6180, 22)
_SECONDS = 3


def answer(address: str, asked: asking.Asked) -> str:
    """Return whether the machine of the pod has an address, another one, or nobody that answers.

    :param address: an IP address
    :param asked: where the pod is
    :raises ReportedError: when nobody could be asked
    """
    found, = asking.ask([["holder", address, list(_PORTS), _SECONDS]], asked)
    return answered.words(found)
