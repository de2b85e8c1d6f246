"""What a server must remember when the machine room restarts: one JSON file, replaced atomically."""
from __future__ import annotations

import json
import os


def load(path):
    """Return the saved state, or an empty mapping if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def save(path, state):
    """Replace the saved state; a reader gets the old one or the new one.

    :param state: mapping of plain data; it holds the agent's token, so the file is readable by its owner only
    """
    descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(state, file, sort_keys=True)
    os.replace(path + ".new", path)
