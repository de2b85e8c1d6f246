# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many requests to Ironic side by side, one outcome for each."""
from __future__ import annotations

from .._common import parallel
from .client import WORKERS
from .errors import IronicError


def run(calls):
    """Run callables, with an :class:`IronicError` as an outcome; see :func:`parallel.run`."""
    return parallel.run(calls, WORKERS, IronicError)


def persist(calls, tell, sleep):
    """Run callables, and those that met a locked node or no answer again; see :func:`parallel.persist`."""
    return parallel.persist(calls, WORKERS, IronicError, tell, sleep)
