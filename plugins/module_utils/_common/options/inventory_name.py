# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of inventory hosts that others choose, such as whoever may create objects or allocate machines; pure."""
from __future__ import annotations

import re
from typing import Any

# Names that mean something else to Ansible: its groups, and the machine that it runs on (C.LOCALHOST).
RESERVED = ("all", "ungrouped", "localhost", "127.0.0.1", "::1")
RULE = ("letters, digits, '-', '.', '_' and '~', at most 253 characters, beginning and ending with a letter or digit, "
        f"and none of {', '.join(RESERVED)}")
# ssh gets the name, and it is joined to paths of host_vars: anything else could be an option, or lead elsewhere. BMO
# calls nodes of Ironic ``namespace~name``.
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._~-]{0,251}[A-Za-z0-9])?")


def is_possible(name: Any) -> bool:
    """Say whether an inventory host may have a name; see :data:`RULE`."""
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and name.lower() not in RESERVED
