# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What filters that take ``hostvars`` and names of hosts have in common."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ansible.errors import AnsibleError, AnsibleFilterError
from jinja2 import TemplateError, Undefined, UndefinedError

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import (
    is_name,
    show,
    type_name,
)
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_files as inventory_files

# Variables that say where a server is managed, as the role hosts has them, and what they are without them.
_PLANE = ((("hosts_kubeconfig", "metal3_kubeconfig"), "the kubeconfig that is found"),
          (("hosts_namespace", "metal3_namespace"), "metal3"))
# The same of a cluster, as the role cluster has them.
_PLANE_OF_CLUSTER = ("cluster_kubeconfig", "metal3_kubeconfig")
# Variables that say which Ironic without Kubernetes is asked, as its playbooks have them.
_IRONIC = (("ironic_nodes_cloud", "the cloud that the environment names"),
           ("ironic_nodes_clouds_file", "the clouds.yaml that is found"))


def require_list(plugin, names):
    """Refuse a text, whose letters would be taken for names, and what has no names.

    :param plugin: name of the filter or test, for the message
    :param names: list of names
    :raises AnsibleFilterError: when it is none
    """
    _require(plugin, list_problem(names))


def list_problem(names, variable="<variable>"):
    """Return what is wrong with a value in place of a list of names, empty when it is one.

    :param names: of any type
    :param variable: the user's variable, for the message
    """
    if isinstance(names, Iterable) and not isinstance(names, (str, bytes, Mapping)):
        return ""
    found = f"the text {show(names)}" if isinstance(names, str) else "nothing" if names is None else type_name(names)
    example = names.split(",") if isinstance(names, str) and is_name(names.replace(",", ".")) else ["<name>"]
    # Ansible takes key=value of its command line for a text.
    return (f"found {found}, expected a list of names; give a list on the command line as JSON: -e "
            f"'{json.dumps({variable: example})}'")


def plane_of(variables):
    """Return in words where a server is managed.

    :param variables: mapping of its variables
    """
    kubeconfig, namespace = (found or default for found, (_kinds, default) in zip(home_of(variables), _PLANE))
    return f"namespace {namespace} of {kubeconfig}"


def home_of(variables):
    """Return kubeconfig and namespace by which a server is managed, each empty where the variables do not say it.

    :param variables: mapping of its variables
    """
    return tuple(next(filter(None, (_text(variables, of) for of in kinds)), "") for kinds, _default in _PLANE)


def planes_of(hostvars, names):
    """Return where servers are managed, as ``{what plane_of returns: name of the first server there}``.

    :param hostvars: mapping of host names to variables
    :param names: list of names; those that the inventory does not have are left out
    """
    planes = {}
    for name in names:
        if name in hostvars:
            planes.setdefault(plane_of(hostvars[name]), name)
    return planes


def cluster_plane_of(variables):
    """Return the kubeconfig of the plane that manages a cluster, empty for that which is found.

    :param variables: mapping of its variables
    """
    return next(filter(None, (_text(variables, name) for name in _PLANE_OF_CLUSTER)), "")


def require_one_plane(plugin, planes):
    """Refuse servers of several planes or namespaces: what is made of them goes to that of the first one.

    :param plugin: name of the filter, for the message
    :param planes: mapping of what :func:`plane_of` returns to the name of a server
    :raises AnsibleFilterError: naming a server of each
    """
    _require(plugin, planes_problem(planes))


def planes_problem(planes):
    """Return what is wrong with servers of several planes or namespaces, empty when all are of one.

    :param planes: as for :func:`require_one_plane`
    """
    return _several_problem(
        "metal3_kubeconfig, metal3_namespace: found servers of several planes or namespaces", planes)


def ironic_of(variables):
    """Return in words by which Ironic without Kubernetes a server is managed.

    :param variables: mapping of its variables
    """
    cloud, file = (_text(variables, name) or default for name, default in _IRONIC)
    return f"{cloud} in {file}"


def require_one_ironic(plugin, ironics):
    """Refuse servers of several Ironics: all are asked for at that of the first one.

    :param plugin: name of the filter, for the message
    :param ironics: mapping of what :func:`ironic_of` returns to the name of a server
    :raises AnsibleFilterError: naming a server of each
    """
    _require(plugin, _several_problem(
        "ironic_nodes_cloud, ironic_nodes_clouds_file: found servers of several Ironics", ironics))


def _several_problem(found, places):
    if len(places) < 2:
        return ""
    named = "; ".join(f"{name}: {place}" for place, name in places.items())
    return (f"{found} ({named}), expected those of one, because all are asked for where the first one is; repeat the "
            "run with --limit")


def _require(plugin, problem):
    if problem:
        raise AnsibleFilterError(f"{plugin}: {problem}")


def _text(variables, name):
    """Return a variable as text, empty when it is not there, or is of what only the play has."""
    try:
        return str(variables.get(name) or "")
    except (AnsibleError, TemplateError):
        # The latter is what an undefined value raises in a filter from ansible-core 2.19 on.
        return ""


def values(plugin, hostvars, names, variable):
    """Return a variable of each host as ``{name: value}``, None where it is not set.

    A value that cannot be known is none that is not set: a server must not be left out for a name that is mistyped.

    :param plugin: name of the filter, for the message
    :param hostvars: mapping of host names to variables
    :param names: list of host names
    :param variable: name of the variable
    :raises AnsibleFilterError: naming all hosts whose value has an undefined variable in it, or cannot be templated
    """
    found, unknown = {}, {}
    for name in names:
        # Of ten thousand servers not all at a time.
        variables = Noting(hostvars[name])
        found[name] = variables.get(variable)
        unknown[name] = variables.unknown
    require_known(plugin, unknown)
    return found


class Noting(cluster_groups.Naming):
    """The variables of a host; a value that cannot be known reads as None and is noted.

    In an entry it would raise where the entries are used, and Ansible's error names neither the host nor the variable.

    :param variables: mapping of its variables
    :ivar unknown: ``{variable: why}`` of those that were read
    """

    def __init__(self, variables):
        super().__init__(variables)
        self.unknown = {}

    def __getitem__(self, name):
        try:
            return _read(self._variables[name])
        except (AnsibleError, TemplateError) as exc:
            # Of an error that Ansible keeps until a value is looked at, the text is in its cause.
            kept = exc.__cause__ if isinstance(exc, TemplateError) else None
            self.unknown[name] = " ".join(str(kept or exc).split())
            return None

    def __contains__(self, name):
        return name in self._variables


def require_known(plugin, unknown):
    """Refuse values that cannot be known, all at once.

    :param plugin: name of the filter, for the message
    :param unknown: ``{host: {variable: why}}``
    :raises AnsibleFilterError: naming all hosts and variables
    """
    found = [f"{name}: {variable}: found what cannot be templated ({why})"
             for name, variables in unknown.items() for variable, why in variables.items()]
    if found:
        names = sorted(set(variable for variables in unknown.values() for variable in variables))
        hint = f"define what it is made of, or leave out {' and '.join(names)}"
        if any("decrypt" in why for variables in unknown.values() for why in variables.values()):
            hint = f"{inventory_files.VAULT_HINT}; {hint}"
        raise AnsibleFilterError(f"{plugin}: {'; '.join(found)}, expected a value; {hint}")


def _read(value):
    """Return a value after everything in it was templated, which happens when it is looked at."""
    if isinstance(value, Mapping):
        for item in value.values():
            _read(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _read(item)
    elif isinstance(value, Undefined):
        # In place of an error, from ansible-core 2.19 on, where a template is read within another one.
        str(value)
        raise UndefinedError(value._undefined_message)
    return value


def require(plugin, hostvars, names):
    """Refuse names that the inventory does not have, all at once.

    :param plugin: name of the filter, for the message
    :param hostvars: mapping of host names to variables
    :param names: list of host names
    :raises AnsibleFilterError: naming the missing ones
    """
    require_list(plugin, names)
    missing = [name for name in names if name not in hostvars]
    if missing:
        raise AnsibleFilterError(f"{plugin}: not in the inventory: {', '.join(missing)}; correct the names, or add "
                                 "these hosts")
