# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's BMCs as sushy speaks to them."""
from __future__ import annotations

from pathlib import Path

import sushy


def credential(server, name):
    """Return a credential of a server's BMC.

    :param name: ``username`` or ``password``
    """
    return Path(server["bmc"][name + "_file"]).read_text(encoding="utf-8").strip()


def system(lab, server, credentials_of=None, **options):
    """Return a server's system over Redfish."""
    username, password = (credential(credentials_of or server, name) for name in ("username", "password"))
    options.setdefault("verify", str(lab.dir / "pki" / "ca.crt"))
    root = sushy.Sushy(lab.figures["urls"]["redfish"], auth=sushy.auth.BasicAuth(username, password),
                       server_side_retries=0, **options)
    return root.get_system("/redfish/v1/Systems/" + server["uuid"])


def cd_drive(lab, server):
    """Return the virtual CD drive of a server's BMC."""
    return next(drive for drive in system(lab, server).virtual_media.get_members() if drive.identity == "Cd")


def media(lab, server):
    """Return the URLs of what is in the drives of a server's BMC."""
    drives = [drive for manager in system(lab, server).managers for drive in manager.virtual_media.get_members()]
    return [drive.image for drive in drives if drive.inserted and drive.image]
