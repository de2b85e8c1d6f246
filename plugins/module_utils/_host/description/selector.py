# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host selectors as CAPM3 reads them (``hostLabelSelectorForMachine``, apimachinery's ``labels.NewRequirement``)."""
from __future__ import annotations

import difflib
from collections import namedtuple
from collections.abc import Mapping

from ..._common.options.field_checks import text_of, type_name
from ..._common.texts.plain_text import few

# labels: {label: value}; expressions: list of Expression.
Selector = namedtuple("Selector", ["labels", "expressions"])
Expression = namedtuple("Expression", ["key", "operator", "values"])

# Each of them shows that a dictionary holds variables of an inventory host.
_VARIABLES = ("inventory_hostname", "bmh_labels", "boot_mac")

_KEYS = {"match_labels": "labels", "matchLabels": "labels",
         "match_expressions": "expressions", "matchExpressions": "expressions"}


def _number(labels, key, values, compare):
    try:
        return compare(int(labels[key]), int(values[0]))
    except (KeyError, ValueError):
        return False


# Operators in small letters, as CAPM3 compares them. values: how many there must be, None for one or more.
_Operator = namedtuple("_Operator", ["values", "holds"])
_EQUALS = _Operator(1, lambda labels, key, values: labels.get(key) == values[0])
_ABSENT = _Operator(0, lambda labels, key, values: key not in labels)
_OPERATORS = {
    "in": _Operator(None, lambda labels, key, values: labels.get(key) in values),
    "notin": _Operator(None, lambda labels, key, values: labels.get(key) not in values),
    "exists": _Operator(0, lambda labels, key, values: key in labels),
    "doesnotexist": _ABSENT,
    "!": _ABSENT,
    "=": _EQUALS,
    "==": _EQUALS,
    "!=": _Operator(1, lambda labels, key, values: labels.get(key) != values[0]),
    "gt": _Operator(1, lambda labels, key, values: _number(labels, key, values, lambda have, want: have > want)),
    "lt": _Operator(1, lambda labels, key, values: _number(labels, key, values, lambda have, want: have < want)),
}


def as_controllers_read(operator):
    """Return an operator as a selector's object must have it.

    CAPM3 1.13 and BMO 0.13 give it in small letters to apimachinery's ``labels.NewRequirement``, which knows ``in``,
    ``notin`` and ``exists``, but for "does not exist" only ``!``: no host would ever be chosen.
    """
    return "!" if operator == "DoesNotExist" else operator


def read(selector):
    """Read a selector.

    :param selector: dict with ``match_labels`` and ``match_expressions``, or as CAPM3 writes them, each optional
    :returns: a Selector
    :raises ValueError: naming the field, what was found and what was expected
    """
    if not isinstance(selector, Mapping):
        raise ValueError(f"selector: found {selector!r}, expected a dictionary with match_labels and "
                         "match_expressions")
    parts = {}
    for key, value in selector.items():
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, 1)
            raise ValueError("selector: found %s, expected match_labels or match_expressions%s" % (
                key, f" (perhaps {near[0]})" if near else ""))
        parts[_KEYS[key]] = value
    labels, expressions = parts.get("labels") or {}, parts.get("expressions") or []
    if not isinstance(labels, Mapping):
        raise ValueError(f"match_labels: found {labels!r}, expected a dictionary of labels and values")
    if not isinstance(expressions, list):
        raise ValueError(f"match_expressions: found {expressions!r}, expected a list")
    return Selector(labels, [_expression(number, entry) for number, entry in enumerate(expressions)])


def _expression(number, entry):
    field = f"match_expressions[{number}]"
    if not isinstance(entry, Mapping) or not entry.get("key"):
        raise ValueError(f"{field}: found {entry!r}, expected a dictionary with key, operator and values")
    operator = _OPERATORS.get(str(entry.get("operator")).lower())
    if operator is None:
        raise ValueError(f"{field}.operator: found {entry.get('operator') or 'nothing'}, expected In, NotIn, Exists or "
                         "DoesNotExist")
    values = entry.get("values") or []
    if not isinstance(values, list):
        raise ValueError(f"{field}.values: found {values!r}, expected a list")
    if (not values) if operator.values is None else (len(values) != operator.values):
        wanted = "one or more" if operator.values is None else operator.values or "none"
        raise ValueError(f"{field}.values: found {len(values)}, expected {wanted} for {entry['operator']}")
    return Expression(entry["key"], str(entry["operator"]), values)


def matches(labels, selector):
    """Say whether labels satisfy a Selector; an empty one is satisfied by all.

    :param labels: ``{label: value}`` of a BareMetalHost
    """
    if any(labels.get(key) != text_of(value) for key, value in selector.labels.items()):
        return False
    return all(_OPERATORS[item.operator.lower()].holds(labels, item.key, [text_of(value) for value in item.values])
               for item in selector.expressions)


def labels_of(host):
    """Return the labels of a host in any of the forms that users have at hand.

    :param host: a BareMetalHost, a host as ``baremetal_host_info`` returns it, the variables of an inventory host
        (``metal3`` of the inventory plugin, else ``bmh_labels``), or an entry for ``baremetal_host``
    :raises ValueError: when it is none of these
    """
    if isinstance(host, Mapping):
        if isinstance(host.get("metadata"), Mapping):
            return _texts(host["metadata"].get("labels"))
        if isinstance(host.get("metal3"), Mapping):
            return _texts(host["metal3"].get("labels"))
        if any(name in host for name in _VARIABLES):
            return _texts(host.get("bmh_labels"))
        if "labels" in host or "name" in host:
            return _texts(host.get("labels"))
        actual = f"a dictionary with {few(sorted(map(str, host)), 5) or 'no keys'}"
    else:
        actual = type_name(host)
    raise ValueError(
        f"host: found {actual}, expected a BareMetalHost, its facts, or the variables of an inventory host")


def _texts(labels):
    if labels and not isinstance(labels, Mapping):
        raise ValueError(f"labels: found {labels!r}, expected a dictionary of labels and values")
    return dict((str(key), text_of(value)) for key, value in (labels or {}).items())
