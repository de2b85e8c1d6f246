# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers of a run have another value of a variable than the one that counts for all of them."""
from __future__ import annotations

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from jinja2 import TemplateError

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show

_UNKNOWN = "what cannot be templated"


def mixed(hostvars, names, acting, variables):
    """Return where servers differ from what counts: ``[(variable, what counts, {value in words: [names]})]``.

    What a play or a role gives is the same for all servers. So a server that has no variable of its own differs only
    when what counts is the acting host's own.

    :param hostvars: mapping of host names to variables, those of the inventory, of facts and of the command line
    :param names: of servers; those that are not in the inventory are left to others
    :param acting: name of the host whose task is for all of them
    :param variables: ``{variable: (value that counts, default of the role)}``
    """
    of_acting = _own(hostvars[acting], variables) if acting in hostvars else {}
    found = dict((variable, {}) for variable in variables)
    for name in names:
        if name == acting or name not in hostvars:
            continue
        own = _own(hostvars[name], variables)
        for variable, (counts, default) in variables.items():
            value = _value_of(variable, own, of_acting, counts, default)
            if _plain(value, default) != _plain(counts, default):
                found[variable].setdefault(_in_words(value, default), []).append(name)
    return [(variable, _in_words(variables[variable][0], variables[variable][1]), others)
            for variable, others in found.items() if others]


def _value_of(variable, own, of_acting, counts, default):
    """Return the value that would count for a server in a run of its own."""
    if variable not in of_acting:
        return own.get(variable, counts)
    if of_acting[variable] is _Unknown:
        return counts if own.get(variable) is _Unknown else own.get(variable, default)
    if _plain(of_acting[variable], default) != _plain(counts, default):
        # Of the play, which comes before what the inventory says.
        return counts
    return own.get(variable, default)


def _own(variables, names):
    """Return those of the variables that are set."""
    return dict((name, _read(variables, name)) for name in names if name in variables)


def _read(variables, name):
    try:
        value = variables[name]
        str(value)
        return value
    except (AnsibleError, TemplateError):
        # The latter is what an undefined value raises in a filter from ansible-core 2.19 on. The play may define it.
        return _Unknown


class _Unknown:
    """Stands for a value that cannot be known, and equals no other one."""


def _plain(value, default):
    """Return a value as it is compared: command lines and INI inventories have texts for numbers and booleans."""
    if value is _Unknown:
        return value
    if isinstance(default, bool):
        try:
            return boolean(value)
        except TypeError:
            return str(value)
    return "" if value is None else str(value)


def _in_words(value, default):
    plain = _plain(value, default)
    if plain is _Unknown:
        return _UNKNOWN
    return show(plain) if isinstance(plain, bool) else show(plain).strip('"') or "nothing"
