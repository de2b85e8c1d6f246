# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's folders for what is kept between runs, as the XDG base directory specification has them."""
from __future__ import annotations

import os
from collections.abc import Mapping


def base(environ: Mapping[str, str] | None, variable: str, default: str) -> str:
    """Return one of the XDG base folders; their specification wants relative paths ignored."""
    environ = os.environ if environ is None else environ
    base = environ.get(variable, "")
    return base if os.path.isabs(base) else os.path.join(environ.get("HOME", "/root"), default)


def state_dir(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder for what is to outlive a run and is nowhere else.

    :param environ: mapping of environment variables (XDG_STATE_HOME, HOME); the process's own by default
    """
    return os.path.join(base(environ, "XDG_STATE_HOME", ".local/state"), "metal3.baremetal")


def cache_dir(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder for what is slow to make and shared by all labs.

    :param environ: mapping of environment variables (XDG_CACHE_HOME, HOME); the process's own by default
    """
    return os.path.join(base(environ, "XDG_CACHE_HOME", ".cache"), "metal3.baremetal")
