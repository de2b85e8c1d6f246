# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a wire by frames of one's own: they are sent again while answers are listened for."""
from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from .._common.problems.errors import ReportedError

# A question may be lost while a switch's port learns; firmware repeats it, too.
REPEAT_SECONDS = 1.0
_LONGEST_FRAME = 9216 + 14
# linux/if_packet.h; Python has no names for them.
_SOL_PACKET, _ADD_MEMBERSHIP, _PROMISCUOUS = 263, 1, 1


class ProbeError(ReportedError):
    """The wire could not be asked."""


def ask(interface: str, protocol: int, questions: Sequence[bytes], seconds: float,
        take: Callable[[bytes], bytes | None], is_enough: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic, promiscuous: bool = False) -> None:
    """Send frames each second and hand over each frame that comes in, until time is over or enough was found.

    Needs the right to open packet sockets, since the interface may have no address yet, and the ports may be taken.

    :param interface: name of a network interface of this machine
    :param protocol: number of the frames that are listened for, of linux/if_ether.h
    :param questions: whole Ethernet frames
    :param seconds: how long to listen
    :param take: gets a frame of any content, and returns one that answers it, or None
    :param is_enough: whether the wait ends
    :param promiscuous: whether frames for cards other than the interface's own come in, too
    :raises ProbeError: when the interface is missing or down, or the right is
    """
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol)) as wire:
            wire.bind((interface, protocol))
            if promiscuous:
                wire.setsockopt(_SOL_PACKET, _ADD_MEMBERSHIP,
                                struct.pack("iHH8x", socket.if_nametoindex(interface), _PROMISCUOUS, 0))
            end, again_at = clock() + seconds, clock()
            while not is_enough():
                now = clock()
                if now >= end:
                    break
                if now >= again_at:
                    for question in questions:
                        wire.send(question)
                    again_at = now + REPEAT_SECONDS
                if not _readable(wire, min(end, again_at) - now):
                    continue
                answer = take(wire.recv(_LONGEST_FRAME))
                if answer is not None:
                    wire.send(answer)
    except OSError as exc:
        raise ProbeError(f"interface {interface}: {exc.strerror or exc}; check that it exists and is up, and run "
                         "as root") from exc


def _readable(wire: Any, seconds: float) -> bool:
    return bool(select.select([wire], [], [], max(0.0, seconds))[0])
