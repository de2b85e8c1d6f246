# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether BMO has logged in at a host's BMC with the credentials that are stored now; pure.

BMO notes the version of the Secret that it tried last and of the one that worked (``registerHost`` in
``baremetalhost_controller.go``). Until it has tried a new one, a host goes on as if nothing had changed. Of a host that
is registered already it calls them good when Ironic has taken them (``Register`` in ``register.go``): Ironic logs in
with them at its next request to the BMC only.
"""
from __future__ import annotations

from ..actions.actions import STEADY
from ..state.goals import state_of

# BMO registers a host in all other states (``ensureRegistered``).
_UNTRIED_IN = ("", "unmanaged", "match profile", "deleting")
# Digits of 64 bits.
_LONGEST_VERSION = 20


def untried(bmh, secret):
    """Return why a host's credentials are not known to be good, empty when they are or when that does not count.

    :param bmh: the BareMetalHost
    :param secret: its credentials Secret as it is stored, or None when that is not known
    """
    if secret is None:
        return ""
    spec, status, metadata = bmh.get("spec") or {}, bmh.get("status") or {}, secret["metadata"]
    state = (status.get("provisioning") or {}).get("state") or ""
    if state in _UNTRIED_IN or (spec.get("bmc") or {}).get("credentialsName") != metadata["name"]:
        return ""
    if _covers(status.get("goodCredentials"), metadata):
        return ""
    return "BMO %s the user name and password of Secret %s" % (
        "is trying" if _covers(status.get("triedCredentials"), metadata) else "has not yet tried", metadata["name"])


def warning(name, bmh):
    """Return what a user should know of new credentials of a stored host, empty when BMO tries them at once."""
    if state_of(bmh) not in STEADY:
        return ""
    return (f"{name}: BMO has not logged in with the new user name and password: a host in state {state_of(bmh)} is "
            "not verified again, and an error shows when Ironic asks the BMC next; check them at once by bmc_preflight "
            "(playbook preflight)")


def _covers(credentials, metadata):
    """True when BMO's note is of this version of the Secret, or of a later one."""
    credentials = credentials or {}
    noted, stored = str(credentials.get("credentialsVersion") or ""), str(metadata.get("resourceVersion") or "")
    if (credentials.get("credentials") or {}).get("name") != metadata["name"]:
        return False
    # BMO itself writes to the Secret (its label, its owner), which makes a later version with the same content.
    return noted == stored or (_is_number(noted) and _is_number(stored) and int(noted) >= int(stored))


def _is_number(version):
    # Others may write a status; of thousands of digits Python makes no number.
    return version.isdecimal() and len(version) <= _LONGEST_VERSION
