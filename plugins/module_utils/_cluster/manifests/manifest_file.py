# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes in a file of a cluster's manifests, without the secrets in it."""
from __future__ import annotations

from ..._common.documents.document_text import from_yaml_all
from ..._common.redaction.redaction import HIDDEN, hidden, hidden_difference
from ..._manifests.yaml_text import text_of
from ..rollout.rollout import predecessors

OTHER_SPELLING = "# the same objects, written in another way\n"


def difference(before, objects):
    """Return a file's text before and afterwards as they may be shown; they differ if the texts do.

    A text that holds no objects is hidden as a whole.

    :param before: the file's present text, empty when there is none
    :param objects: the objects that it is to hold
    """
    stored = _objects(before)
    known = dict((_key(item), item) for item in stored or [])
    replaced = predecessors(stored or [], objects)
    shown = [hidden_difference(known.get(_key(item)), item, reference=replaced.get((item["kind"], _key(item)[-1])))[1]
             for item in objects]
    if stored is None:
        return HIDDEN + "\n", text_of(shown)
    old, new = text_of([hidden(item) for item in stored]) if stored else "", text_of(shown)
    if old == new and before != text_of(objects):
        old = OTHER_SPELLING + old
    return old, new


def _objects(text):
    """Return the objects of YAML documents, None when the text holds anything else."""
    try:
        found = from_yaml_all(text)
    except ValueError:
        return None
    complete = all(isinstance(item, dict) and isinstance(item.get("kind"), str)
                   and isinstance(item.get("metadata"), dict) and isinstance(item["metadata"].get("name"), str)
                   for item in found)
    return found if complete else None


def _key(item):
    return item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]
