# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes belong to the Bare Metal Operator, as pure functions."""
from __future__ import annotations

import re

# BMO's ``ironicNodeName``: namespace, "~", name of the BareMetalHost. It puts this name on every node that it makes
# or takes over and leaves no other mark (instance_uuid comes only with an image). Kubernetes allows no "~" in either
# part, so that the first one divides them.
_NAME = re.compile(r"^(?P<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?)~(?P<host>[a-z0-9]([-a-z0-9.]*[a-z0-9])?)\Z")

# What to do about a server that somebody wants to register once more.
LEAVE_IT = ("the server belongs to the Bare Metal Operator, and its node and ports must stay as they are; take it out "
            "of this list or inventory group, and use baremetal_host (playbook enroll) for it")


def host_of(name: str | None) -> tuple[str, str] | None:
    """Return ``(namespace, name)`` of the BareMetalHost that a node belongs to, None when it has no owner.

    :param name: name of the node, or None
    """
    match = _NAME.match(name or "")
    return (match.group("namespace"), match.group("host")) if match else None


def refusal(name: str, forced: frozenset[str]) -> str | None:
    """Return why a node of that name is not to be touched, None when it may be.

    :param name: name of the node
    :param forced: names of nodes that are to be touched whoever owns them
    """
    owner = host_of(name)
    if owner is None or name in forced:
        return None
    return ("it belongs to BareMetalHost %s/%s, and the Bare Metal Operator would undo or be misled by the change; "
            "use baremetal_host, or name it in force_nodes" % owner)
