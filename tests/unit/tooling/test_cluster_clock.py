# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times that an API server has are compared with its clock, by ``_kube/api/cluster_clock.py`` (decision 0895)."""
from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3] / "plugins"
_CLOCK = re.compile(r"\btime\.time\b|\bdatetime\.now\b|\butcnow\b|\bdatetime\.today\b")
# What compares no time that an API server has; the reason of each.
_OWN = {
    "_bmc/preflight/service.py": "what BMCs' clocks and certificates are to a client",
    "_bmc/protocols/gather.py": "how far a BMC's clock is from this machine's",
    "_bmc/protocols/power.py": "as above; not looked at",
    "_common/files/left_over.py": "ages of files of this machine",
    "_compliance/service.py": "certificates of BMCs",
    "_ironic/fitness/service.py": "how far Ironic's clock is from this machine's",
    "_kube/api/cluster_clock.py": "the one place",
    "_kube/api/transport.py": "how far the server's clock is from this machine's",
    "_logs/service.py": "since when this machine's journal is read",
    "_metalstack/client.py": "part of a login",
    "_mirror/service.py": "when an archive was made",
    "_move/whole_plane/journal.py": "for whoever reads the journal on this machine",
    "_plane/cluster/certificates.py": "whether a certificate serves for another month",
    "_plane/cluster/given_certificate.py": "a certificate that is given, before there is a client",
    "_plane/process/certificates.py": "certificates in files of this machine, and the clock of validity()",
}


def test_this_machines_clock_is_asked_where_no_time_of_an_api_server_is_compared():
    found = {str(path.relative_to(ROOT)).removeprefix("module_utils/") for path in ROOT.rglob("*.py")
             if _CLOCK.search(path.read_text())}
    assert found == set(_OWN)
