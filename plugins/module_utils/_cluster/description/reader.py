# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the user wrote to a ClusterDescription; pure."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..._common.options.option_reader import OptionReader
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

# Without a label that has no value by mistake, a selector would choose any host, and a node would lack it.
_AS_WRITTEN = ("host_selector", "node_labels")
# Also for what is an option of the module and no part of a description.
OPTIONS = OptionReader("metal3.baremetal.cluster", free_shapes={
    "metadata": {"*": [{}]},
    "network_data": {"links": {"*": [{"macAddress": {}}]}, "networks": {"*": [{"routes": [{"services": {}}]}]},
                     "services": {}},
    "cluster_configuration": {"etcd": {}},
    "init_configuration": {"timeouts": {}, "nodeRegistration": {}},
    "join_configuration": {"timeouts": {}, "nodeRegistration": {}},
}, as_written=_AS_WRITTEN)


def read(params: Mapping[str, Any]) -> tuple[ClusterDescription, list[Problem]]:
    """Check types and names of options and return ``(description, mistakes)``.

    :param params: what the user wrote, with the options of ``spec.description_options``; keys of other options are
        mistakes
    :returns: the description with defaults filled in, and a list of Problems; with mistakes, options of the description
        may be None that have a default
    """
    values, mistakes = OPTIONS.read("", description_options(), params)
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
        pod_cidrs=values.get("pod_cidrs") or list(DEFAULT_POD_CIDRS),
        service_cidrs=values.get("service_cidrs") or list(DEFAULT_SERVICE_CIDRS),
        machines=dict((option, values.get(option)) for option in machine_options()))
    if values.get("control_plane") is None:
        values["control_plane"], found = OPTIONS.read("control_plane", group_options(), {})
        mistakes += found
    known: dict[str, Any] = dict((field.name, values.get(field.name)) for field in fields(ClusterDescription))
    description = ClusterDescription(**known)
    return description, [problem._replace(subject=description.subject) for problem in mistakes]


def _by_name(option, options, values, mistakes):
    """Return the items of an option that is a dictionary by name, each checked."""
    result = {}
    for name, value in (values.get(option) or {}).items():
        result[name], found = OPTIONS.read(f"{option}.{name}", options, {} if value is None else value)
        mistakes += found
    return result


def without_mistakes(params):
    """Return ``(params, paths)``: a description without the options that :func:`read` finds mistakes in.

    So that what else is wrong can be said at once.

    :param params: as :func:`read` takes them
    :returns: the params, and the paths of what was removed
    """
    given, paths = OPTIONS.given(params), set()
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
        if name in options and not OPTIONS.read("", {name: dict(options[name], required=False)}, {name: value})[1]:
            result[name] = value
        elif name in options:
            paths.add(f"{where}.{name}" if where else name)
    return result
