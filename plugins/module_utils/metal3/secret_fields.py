# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is secret in objects and descriptions, and is hidden wherever they are shown; pure."""
from __future__ import annotations

from .field_checks import HIDDEN

# Secrets belong into Secrets (content_secret, passwdFrom), but kubeadm and cloud-init also take them in the open.
FIELDS = ("passwd", "token", "tlsBootstrapToken")
# Files may hold anything, and so may Secrets.
_PARAMETERS = FIELDS + ("content",)


def hidden(value, fields=FIELDS):
    """Return a copy of a structure with its secrets hidden.

    :param fields: names of the fields whose texts are secret; in objects of the kind Secret the contents are, too
    """
    if isinstance(value, dict):
        # Only Secrets have stringData, whatever their kind is written as.
        secret = ("data", "stringData") if value.get("kind") == "Secret" else ("stringData",)
        return dict((key, _all_hidden(item) if key in secret else HIDDEN if key in fields and isinstance(item, str)
                     else hidden(item, fields)) for key, item in value.items())
    return [hidden(item, fields) for item in value] if isinstance(value, list) else value


def hidden_parameters(params):
    """Return a module's parameters as they may be shown.

    Manifests that are given as text are not looked into: they are hidden as a whole.
    """
    shown = hidden(params, _PARAMETERS)
    if isinstance(shown.get("manifests"), list):
        shown["manifests"] = [HIDDEN if isinstance(item, str) and "\n" in item else item for item in shown["manifests"]]
    return shown


def _all_hidden(contents):
    return dict((key, HIDDEN) for key in contents) if isinstance(contents, dict) else HIDDEN
