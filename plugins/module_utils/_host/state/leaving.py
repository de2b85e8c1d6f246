# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers stop soon although their nodes are still Ready: by what somebody has written at their hosts; pure.

Source: BMO ``controllers/metal3.io/baremetalhost_controller.go`` (manageHostPower, hasRebootAnnotation).
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.texts.plain_text import shortened
from ..description import annotations as host_annotations

Object = Mapping[str, Any]


def leaving(host: Object | None) -> str:
    """Return why a server is about to stop, as a phrase about its host; empty when nobody has asked for it.

    :param host: the BareMetalHost, None for no host
    """
    annotations = host_annotations.of(host or {})
    mark = annotations.get(host_annotations.MAINTENANCE)
    if mark is not None:
        return f"is being maintained ({shortened(mark)})"
    reboots = sorted(filter(host_annotations.is_reboot, annotations))
    if reboots:
        return f"has the annotation {shortened(reboots[0])}"
    return "has online false" if ((host or {}).get("spec") or {}).get("online") is False else ""
