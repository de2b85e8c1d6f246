# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of the fields that a CRD has, that a table of options has, and that an object has.

A path is ``spec.image.url``; ``[]`` stands for the elements of a list, ``*`` at the end for whatever is below.
"""
from __future__ import annotations

ANY = ".*"


def of_schema(schema, path="spec"):
    """Return the paths of all leaves of an OpenAPI schema."""
    if schema.get("type") == "array":
        return of_schema(schema["items"], path + "[]")
    properties = schema.get("properties")
    if not properties:
        # Free keys, or a plain value.
        return {path + ANY} if schema.get("additionalProperties") or "x-kubernetes-preserve-unknown-fields" in schema \
            or schema.get("type") == "object" else {path}
    return set().union(*(of_schema(below, f"{path}.{name}") for name, below in properties.items()))


def of_fields(fields, path="spec"):
    """Return the paths that a tuple of Fields (``host_fields``) can write."""
    found = set()
    for field in fields:
        if field.crd is None:
            continue
        place = f"{path}.{field.crd}{'[]' if field.kind == 'list' else ''}"
        nested = [part for part in field.fields or () if part.crd]
        if nested:
            found |= of_fields(nested, place)
        else:
            found.add(place + ANY if field.kind == "dict" else place)
    return found


def of_object(value, path="spec"):
    """Return the paths of all leaves of an object."""
    if isinstance(value, dict) and value:
        return set().union(*(of_object(below, f"{path}.{key}") for key, below in value.items()))
    if isinstance(value, list) and value:
        return set().union(*(of_object(below, path + "[]") for below in value))
    return {path}


def lacking(wanted, given):
    """Return those of the wanted paths that the given ones do not cover.

    A given path covers itself, and all below when one of the two is free there.
    """
    def covered(path):
        plain = path[:-len(ANY)] if path.endswith(ANY) else path
        return any(plain == other or (other.endswith(ANY) and (plain + ".").startswith(other[:-1]))
                   or (path.endswith(ANY) and other.startswith(plain + ".")) or plain + ANY == other
                   for other in given)
    return sorted(path for path in wanted if not covered(path))
