# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the user wrote to a ClusterDescription; pure."""
from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError

from ..._common.options.field_checks import type_name
from ..._common.options.plain_names import with_dictionaries
from ..._common.problems.problem import Problem
from .model import ClusterDescription
from .spec import (
    description_options,
    group_options,
    machine_options,
    network_options,
    pool_of_workers_options,
    standalone_machine_options,
)

DEFAULT_POD_CIDRS = ("192.168.0.0/18",)
DEFAULT_SERVICE_CIDRS = ("10.96.0.0/12",)

# What of a dictionary without options of its own is read here, by shape: see _shape_of.
FREE_SHAPES = {
    "metadata": {"*": [{}]},
    "network_data": {"links": {"*": [{"macAddress": {}}]}, "networks": {"*": [{"routes": [{"services": {}}]}]},
                     "services": {}},
    "cluster_configuration": {"etcd": {}},
    "init_configuration": {"timeouts": {}, "nodeRegistration": {}},
    "join_configuration": {"timeouts": {}, "nodeRegistration": {}},
}
# The shape of an element of a list of texts.
_TEXT = "text"
_MODULE = "metal3.baremetal.cluster"
# Without a label that has no value by mistake, a selector would choose any host, and a node would lack it.
_AS_WRITTEN = ("host_selector", "node_labels")


def read(params: Mapping[str, Any]) -> tuple[ClusterDescription, list[Problem]]:
    """Check types and names of options and return ``(description, mistakes)``.

    :param params: what the user wrote, with the options of ``spec.description_options``; keys of other options are
        mistakes
    :returns: the description with defaults filled in, and a list of Problems; with mistakes, options of the description
        may be None that have a default
    """
    mistakes = []
    values = _checked("", description_options(), _known(params), mistakes)
    for option in ("workers", "standalone_machines", "networks"):
        # Ansible notes the wrong type and leaves the value.
        if not isinstance(values.get(option) or {}, dict):
            values[option] = {}
    for option, inner in (("workers", pool_of_workers_options()),
                          ("standalone_machines", standalone_machine_options())):
        keeps, found = values.get(option) is None, _by_name(option, inner, values, mistakes)
        absent = sorted(name for name in found if found[name].get("state") == "absent")
        values.update({option: dict((name, found[name]) for name in found if name not in absent),
                       f"keeps_{option}": keeps, f"absent_{option}": absent})
    values.update(
        networks=_by_name("networks", network_options(), values, mistakes),
        control_plane=_checked("control_plane", group_options(), {}, mistakes)
        if values.get("control_plane") is None else values["control_plane"],
        pod_cidrs=values.get("pod_cidrs") or list(DEFAULT_POD_CIDRS),
        service_cidrs=values.get("service_cidrs") or list(DEFAULT_SERVICE_CIDRS),
        machines=dict((option, values.get(option)) for option in machine_options()))
    known = dict((field.name, values.get(field.name)) for field in fields(ClusterDescription))
    description = ClusterDescription(**known)
    return description, [problem._replace(subject=description.subject) for problem in mistakes]


def read_option(name: str, options: Mapping[str, Any], value: Any,
                module: str = _MODULE) -> tuple[dict[str, Any], list[Problem]]:
    """Check one option that is no part of a description, as Ansible checks it, and return ``(values, mistakes)``.

    :param name: the option
    :param options: argument spec of what is in it, a dictionary
    :param value: what the user wrote, of any type
    :param module: name of the module whose option it is
    """
    mistakes: list[Problem] = []
    return _checked(name, options, _known(value), mistakes, module), mistakes


def _by_name(option, options, values, mistakes):
    """Return the items of an option that is a dictionary by name, each checked."""
    return dict((name, _checked(f"{option}.{name}", options, _known({} if value is None else value), mistakes))
                for name, value in (values.get(option) or {}).items())


def _known(value):
    """Return a copy without the options that were left out, which a module's parameters hold as None."""
    if isinstance(value, dict):
        # YAML has keys that are numbers or true; JSON, and with it every module, has texts only.
        return dict((str(key), _with_text_keys(item) if key in _AS_WRITTEN else _known(item))
                    for key, item in value.items() if item is not None)
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value


def _with_text_keys(value):
    return dict((str(key), item) for key, item in value.items()) if isinstance(value, dict) else value


def _checked(where, options, params, mistakes, module=_MODULE):
    if not isinstance(params, dict):
        mistakes.append(Problem("value", "", where, type_name(params), "a dictionary",
                                "write its options below it, as name: value"))
        params = {}
    params = _with_right_shapes(where, options, with_dictionaries(options, params), mistakes)
    result = ArgumentSpecValidator(options).validate(params)
    for error in result.errors:
        mistakes += _unknown(where, error, options, module) if isinstance(error, UnsupportedError) \
            else [_invalid(where, error, module)]
    return result.validated_parameters


def _with_right_shapes(where, options, params, mistakes):
    """Return options without those whose value is no dictionary or list where one is needed; note each of them.

    Ansible's own check does not end well with such values, and it knows nothing of what is in a dictionary without
    options of its own.
    """
    found = []
    right = {}
    for name, value in params.items():
        before = len(found)
        if name in options:
            _check_shape(name, value, _shape_of(name, options[name]), found)
        if len(found) == before:
            right[name] = value
    mistakes.extend(problem._replace(field=_joined(where, problem.field)) for problem in found)
    return right


def _shape_of(name, option):
    """Return the shape of an option's value: a dict of shapes (``*`` for all other keys), a list of one, or None."""
    kind = option["elements"] if option["type"] == "list" else option["type"]
    text = _TEXT if option["type"] == "list" else None
    shape = {"dict": FREE_SHAPES.get(name, {}), "list": [None], "str": text}.get(kind)
    if "options" in option:
        shape = dict((key, _shape_of(key, inner)) for key, inner in option["options"].items())
    return [shape] if option["type"] == "list" else shape


def _check_shape(path, value, shape, found):
    if shape is _TEXT:
        if isinstance(value, (dict, list)):
            found.append(_no_text(path, value))
        return
    wanted = "a dictionary" if isinstance(shape, dict) else "a list" if isinstance(shape, list) else None
    # Ansible makes dictionaries and lists of texts.
    if value is None or wanted is None or (isinstance(value, str) and path.isidentifier() and path not in FREE_SHAPES):
        return
    if not isinstance(value, type(shape)):
        found.append(Problem("value", "", path, type_name(value), wanted,
                             "write its options below it, as name: value" if isinstance(shape, dict)
                             else "write each element below it, after a dash"))
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_shape(f"{path}.{key}", item, shape.get(key, shape.get("*")), found)
    else:
        for number, item in enumerate(value):
            if item is None and shape[0] is not None:
                found.append(Problem("value", "", f"{path}[{number}]", None, "a %s" % (
                    "dictionary" if isinstance(shape[0], dict) else "list"), "set it, or remove the element"))
            _check_shape(f"{path}[{number}]", item, shape[0], found)


def _no_text(path, value):
    """Return the Problem of an element of a list of texts, of which Ansible would make a text that nobody meant."""
    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(name, str):
        return Problem("value", "", path, f"a dictionary with name {name}", "a text", f"write {name} in its place")
    return Problem("value", "", path, type_name(value), "a text", "put one that has a colon or a dash in quotes")


def without_mistakes(params):
    """Return ``(params, paths)``: a description without the options that :func:`read` finds mistakes in.

    So that what else is wrong can be said at once.

    :param params: as :func:`read` takes them
    :returns: the params, and the paths of what was removed
    """
    given, paths = _known(params), set()
    for option, inner in (("control_plane", group_options()), ("workers", pool_of_workers_options()),
                          ("standalone_machines", standalone_machine_options()), ("networks", network_options())):
        value = given.get(option)
        if not isinstance(value, dict):
            continue
        if option == "control_plane":
            given[option] = _sound(inner, value, option, paths)
        else:
            given[option] = dict((name, _sound(inner, item or {}, f"{option}.{name}", paths)
                                  if isinstance(item or {}, dict) else {}) for name, item in value.items())
            paths.update(f"{option}.{name}" for name, item in value.items() if not isinstance(item or {}, dict))
    given = _sound(description_options(), given, "", paths)
    for name in ("name", "namespace"):
        if not given.get(name):
            given[name] = "unknown"
            paths.add(name)
    return given, paths


def _sound(options, given, where, paths):
    """Return the options without mistakes, and note the paths of the known ones that were removed."""
    result = {}
    for name, value in given.items():
        if name in options and not _has_mistakes({name: dict(options[name], required=False)}, {name: value}):
            result[name] = value
        elif name in options:
            paths.add(f"{where}.{name}" if where else name)
    return result


def _has_mistakes(options, params):
    found = []
    _checked("", options, params, found)
    return bool(found)


def _unknown(where, error, options, module):
    """Return a Problem for each unknown option, with the one that may have been meant."""
    # The error's only list of them is its text; an Ansible of another wording gives one Problem with all of it.
    known = _all_names(options)
    found = []
    for path in error.msg.partition(". Supported parameters include: ")[0].split(", "):
        # A name that an inner or outer part knows is not mistyped, but the nearest of the others may be meant here.
        name = path.rpartition(".")[2]
        near = difflib.get_close_matches(name, sorted(known - {name}), 1)
        found.append(Problem("unknown-variable", "", _joined(where, path), "an unknown option",
                             f"an option of {module}",
                             "remove it" + (f" (perhaps {near[0]} is meant)" if near else "")))
    return found


def _invalid(where, error, module):
    """Return the Problem of a value that does not fit its option, which Ansible's error names in its text only."""
    option = re.search(r"argument '(\w+)'|value of (\w+) must|arguments: (\w+)", error.msg)
    parent = re.search(r"found in '?([\w.> -]+?)'?(?:\.|$)", error.msg)
    return Problem("value", "", _joined(
        where, parent.group(1).replace(" -> ", ".") if parent else "",
        next(filter(None, option.groups())) if option else ""), error.msg, "a value of the option's type",
        f"see ansible-doc {module}")


def _joined(*parts):
    return ".".join(part for part in parts if part)


def _all_names(options):
    names = set(options)
    for option in options.values():
        names |= _all_names(option.get("options") or {})
    return names
