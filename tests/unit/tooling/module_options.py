# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documented options of modules, and what of given ones does not fit them."""
from __future__ import annotations

import functools
import importlib

from ansible.module_utils.common.parameters import DEFAULT_TYPE_VALIDATORS
from tooling import ansible_yaml

COLLECTION = "metal3.baremetal."


@functools.cache
def documented_options(name):
    """Return the documented options of a module, those of its fragments included."""
    plugins = f"ansible_collections.{COLLECTION}plugins"
    documentation = ansible_yaml.load(importlib.import_module(f"{plugins}.modules.{name}").DOCUMENTATION)
    options = dict(documentation.get("options") or {})
    fragments = documentation.get("extends_documentation_fragment") or []
    for fragment in [fragments] if isinstance(fragments, str) else fragments:
        if fragment.startswith(COLLECTION):
            parts = fragment[len(COLLECTION):].split(".")
            texts = importlib.import_module(f"{plugins}.doc_fragments.{parts[0]}").ModuleDocFragment
            found = ansible_yaml.load(getattr(texts, parts[1].upper() if len(parts) > 1 else "DOCUMENTATION"))
            for option, described in (found.get("options") or {}).items():
                options[option] = {**described, **options.get(option, {})}
    return options


def tasks_of(content):
    """Yield the tasks anywhere in a YAML document, as ``(module, arguments)``."""
    if isinstance(content, list):
        for item in content:
            yield from tasks_of(item)
    elif isinstance(content, dict):
        for key, value in content.items():
            if key.startswith(COLLECTION) and isinstance(value, dict):
                yield key[len(COLLECTION):], value
            elif key in ("tasks", "pre_tasks", "post_tasks", "block", "rescue", "always"):
                yield from tasks_of(value)


def is_template(value):
    return isinstance(value, str) and "{{" in value


def misfits(given, options, path="", complete=True):
    """Return what of given options a module does not have, and what of their values does not fit.

    :param given: mapping of options; what has a template in it is not looked at
    :param options: the options as documentation or an argument spec describes them, by name
    :param path: what names them in the result
    :param complete: whether those that are required must be there
    """
    names = dict((alias, name) for name, option in options.items() for alias in [name, *option.get("aliases", [])])
    found = [f"{path}{name}" for name in given if name not in names]
    there = {names.get(name) for name in given}
    found += [f"{path}{name}: missing" for name, option in options.items()
              if complete and option.get("required") and name not in there]
    for name, value in given.items():
        if name in names and value is not None and not is_template(value):
            found += _of_value(value, options[names[name]], f"{path}{name}", complete)
    return found


def _of_value(value, option, path, complete):
    kind = option.get("type", "str")
    if not _fits(value, kind):
        return [f"{path}: no {kind}"]
    found, described = [], option.get("suboptions") or option.get("options")
    for item in value if isinstance(value, list) else [value]:
        # As metal-stack's networks.
        if is_template(item) or (isinstance(item, str) and "may stand for an entry" in str(option.get("description"))):
            continue
        if kind == "list" and isinstance(value, list) and not _fits(item, option.get("elements", "raw")):
            found.append(f"{path}: no {option['elements']}")
        elif isinstance(item, dict) and described:
            found += misfits(item, described, f"{path}.", complete)
        elif isinstance(item, str) and option.get("choices") and item not in map(str, option["choices"]):
            found.append(f"{path}={item}")
    return found


def _fits(value, kind):
    # Ansible makes a text of everything.
    if kind in ("str", "path") and isinstance(value, (dict, list)):
        return False
    try:
        DEFAULT_TYPE_VALIDATORS[kind](value)
    except (TypeError, ValueError):
        return False
    return True
