# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a plane that say which programs it runs, and of which versions."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.waiting.progress import Progress
from . import base_parts, python_environment
from .engine import BUILT, Engine


def ensure(params: Mapping[str, Any], cache_dir: str, check_mode: bool, progress: Progress
           ) -> tuple[dict[str, Any], bool]:
    """Return ``services_python``, ``engine_dir`` and ``versions``, and whether the Python environment was created.

    :param params: ``source_dir``, ``services_python``, ``requirements_file``, and ``programs`` for a plane whose
        programs may be out of images
    :param cache_dir: folder of engines
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises ReportedError: when the environment can't be created
    """
    given, requirements_file = params["services_python"], params["requirements_file"]
    python, made = python_environment.services(given, requirements_file, check_mode, progress)
    engine = Engine(params["source_dir"], cache_dir, params.get("programs", BUILT))
    ironic = python_environment.package_version(base_parts.IRONIC.name, python, None if given else requirements_file)
    return {"services_python": python, "engine_dir": engine.directory,
            "versions": base_parts.versions(engine.pins, ironic)}, made
