# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in front of Ironic by which its API is older than it is."""
from __future__ import annotations

import re

from demanding_proxy import TlsProxy

# Ironic sends all headers of an answer at once.
_NEWEST = re.compile(rb"(?i)(X-OpenStack-Ironic-API-Maximum-Version: *)[0-9.]+")


class OlderApi(TlsProxy):
    """Says another newest version of the API than Ironic's.

    :param newest: that version, for example ``1.86``; see :class:`TlsProxy` for the others
    """

    def __init__(self, *given, newest):
        self._header = rb"\g<1>" + newest.encode()
        super().__init__(*given)

    def answered(self, chunk):
        return _NEWEST.sub(self._header, chunk)
