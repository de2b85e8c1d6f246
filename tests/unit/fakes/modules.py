# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's modules and their argument specs."""
from __future__ import annotations

import contextlib
import functools
import importlib
import pathlib

import pytest
from ansible.module_utils.basic import AnsibleModule

REPOSITORY = pathlib.Path(__file__).parents[3]
FILES = sorted((REPOSITORY / "plugins" / "modules").glob("*.py"))
# The others are action plugins, which run on the controller.
MODULES = [path.stem for path in FILES if "def main(" in path.read_text()]


@functools.cache
def spec_of(name):
    """Return a module's argument spec."""
    found = []

    class Found(Exception):
        """Ends the module as soon as its spec is known."""

    def init(module, argument_spec, **_arguments):
        found.append(argument_spec)
        raise Found

    module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.{name}")
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Found):
        patch.setattr(AnsibleModule, "__init__", init)
        module.main()
    return found[0]
