# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of the lint: inventory variables, templated one by one, and where each was written down."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from ansible.errors import AnsibleError
from jinja2 import TemplateError

try:
    # From ansible-core 2.19 on the loader notes file, line and column of what it reads.
    from ansible._internal._datatag._tags import Origin, VaultedValue
except ImportError:
    Origin = VaultedValue = None

_SECRET_NAME = re.compile(r"passw|token|secret$|^content$|certificate_?key|private|_data$", re.IGNORECASE)
# Of longer secrets this much is looked for, since texts in messages may be cut.
_TELLING_CHARACTERS = 12
HIDDEN = "(hidden)"


class HostVariables(Mapping):
    """The variables of one inventory host; one that can't be templated reads as None and is noted.

    :param raw: mapping of variables as written
    :param templated: mapping of the same names that templates on access
    :param own: those among them that are written down for this host alone, in an inventory file
    """

    def __init__(self, raw, templated, own=None):
        self.raw = raw
        self._own = own or {}
        self._templated = templated
        self._values = {}
        self.errors = {}
        self.secrets = set()

    def __getitem__(self, name):
        if name not in self.raw:
            raise KeyError(name)
        if name not in self._values:
            try:
                self._values[name] = self._noted(name, self._plain(self._templated[name]))
            except (AnsibleError, TemplateError) as exc:
                self._values[name] = None
                self.errors[name] = " ".join(str(exc).split())
        return self._values[name]

    def __iter__(self):
        return iter(self.raw)

    def __len__(self):
        return len(self.raw)

    def __contains__(self, name):
        return name in self.raw

    def _plain(self, value):
        """Return a value with all that is in it templated and without tags; secrets are noted on the way."""
        if isinstance(value, Mapping):
            return dict((str(key), self._noted(str(key), self._plain(item))) for key, item in value.items())
        if isinstance(value, (list, tuple)):
            return [self._plain(item) for item in value]
        if isinstance(value, str):
            text = "".join((value,))
            if VaultedValue is not None and VaultedValue.is_tagged_on(value):
                self.secrets.add(text)
            return text
        return value

    def _noted(self, name, value):
        if isinstance(value, str) and _SECRET_NAME.search(name):
            self.secrets.add(value)
        return value

    def origin(self, path):
        """Return ``(file, line, column)`` of the innermost key or element of a path that the loader knows.

        :param path: for example ``bmh_image.url`` or ``networks.nodes.ipv4.ranges[0].start``
        :returns: None for what is not known; the line of the variable when the rest of the path comes from a template
        """
        steps = re.findall(r"[^.\[\]]+", path)
        found = self._variable_place(steps[0]) if steps else None
        value = self.raw.get(steps[0]) if steps else None
        for step in steps[1:]:
            if isinstance(value, Mapping) and step in value:
                found = _place(_key(value, step)) or found
                value = value[step]
            elif isinstance(value, (list, tuple)) and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
                found = _place(value) or found
            else:
                break
        return found or (None, None, None)

    def file(self):
        """Return the inventory file that the host is of, None when no file is known."""
        path = self.raw.get("inventory_file")
        # Of a list of hosts it is the list.
        return str(path) if isinstance(path, str) and os.path.isfile(path) else None

    def _variable_place(self, name):
        """Return the place of a variable.

        A value knows its place, except for true, false and null. A name that several files define has the place of the
        one that counts least, since Ansible lays their values over it.
        """
        if name not in self.raw:
            return None
        key, value = _place(_key(self.raw, name)), _place(self.raw[name])
        if name in self._own:
            key = _place(_key(self._own, name)) or key
        if key and value and (key[0] != value[0] or not 0 <= value[1] - key[1] <= 1):
            return value
        return key or value


def _key(mapping, name):
    return next((key for key in mapping if key == name), None)


def _place(value):
    origin = Origin.get_tag(value) if Origin is not None else None
    if origin is None or not origin.path:
        return None
    return str(origin.path), origin.line_num, origin.col_num


def places(hostvars, names, variable):
    """Return where a variable is written down, as dicts with ``name``, ``path``, ``line`` and ``column``.

    For a host without it that is its inventory file, without a line; a host of no file is left out.

    :param hostvars: Ansible's variable ``hostvars``
    :param names: names of hosts
    :param variable: its name
    """
    found = []
    for name in names:
        variables = HostVariables(hostvars.raw_get(name), hostvars[name])
        path, line, column = variables.origin(variable)
        if path is None:
            path, line, column = variables.file(), None, None
        if path is not None:
            found.append({"name": str(name), "path": shown(path, os.getcwd()), "line": line, "column": column})
    return found


def shown(path, base_dir):
    """Return a path as code scanners want it: relative to the checkout when it is below it."""
    if path is None:
        return None
    relative = os.path.relpath(path, base_dir)
    return path if relative.startswith("..") else relative


def without_secrets(text, secrets):
    """Return a text in which no secret shows, not even its beginning.

    :param secrets: texts
    """
    for secret in sorted(secrets, key=len, reverse=True):
        for form in (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]):
            if not form.strip():
                continue
            if len(form) > _TELLING_CHARACTERS and form[:_TELLING_CHARACTERS] in text and form not in text:
                text = text[:text.index(form[:_TELLING_CHARACTERS])] + HIDDEN
            text = text.replace(form, HIDDEN)
    return text
