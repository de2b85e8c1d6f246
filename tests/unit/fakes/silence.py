# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server that does not answer."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

_CAUSE = KubeError("connection refused", reason="Unreachable")


def away(*_arguments, **_options):
    """Answer no request."""
    raise _CAUSE


def falls_silent(*_arguments, **_options):
    """Yield the last step of a wait in which nothing was read."""
    yield last_step({}, False)


def last_step(objects, is_listed=True):
    """Return the last step of a wait, with what was read before the silence."""
    return Step(objects, set(objects), 30, _CAUSE, is_listed)
