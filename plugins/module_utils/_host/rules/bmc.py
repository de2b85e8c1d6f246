# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host's BMC is reached: address, credentials, verification of its certificate; pure."""
from __future__ import annotations

import re

from ..._bmc.addresses import address as bmc_address
from ..._common.options.field_checks import DNS_NAME, show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import HIDDEN
from ..description.objects import has_inline_credentials

# Bytes that IPMI 2.0 has for them (specification, 22.28 and 22.30).
IPMI_LENGTHS = {"username": 16, "password": 20}


def read_address(label, host):
    """Return ``(BmcAddress, Problems)`` of an entry; the address is None when there is none that can be read."""
    text = (host.get("bmc") or {}).get("address")
    if not text:
        return None, []
    try:
        return bmc_address.parse(text), []
    except bmc_address.AddressError as exc:
        return None, [
            Problem("bmc-address", label, "bmc.address", show(bmc_address.redacted(text)), exc.expected, exc.hint)
        ]


def check_credentials(label, host):
    """Return the Problems of an entry's credentials."""
    problems = []
    bmc = host.get("bmc") or {}
    for field, other in (("username", "password"), ("password", "username")):
        if bmc.get(other) is not None and not bmc.get(field):
            problems.append(Problem(
                "bmc-credentials", label, "bmc." + field, None if bmc.get(field) is None else "an empty text",
                f"a value, since bmc.{other} is given", f"set bmc.{field}"))
    for field in ("username", "password"):
        value = bmc.get(field)
        if isinstance(value, str) and re.search(r"[\x00-\x1f\x7f]", value):
            problems.append(Problem(
                "bmc-credentials", label, "bmc." + field, HIDDEN, "no line breaks or control characters",
                "remove them (a file read with a trailing newline needs trim)"))
    if bmc.get("address") and not has_inline_credentials(bmc) and not bmc.get("credentials_name") \
            and bmc.get("username") is None and bmc.get("password") is None:
        problems.append(Problem(
            "bmc-credentials", label, "bmc", "no credentials", "username and password, or credentials_name",
            "set bmc.username and bmc.password"))
    if not bmc.get("address") and (has_inline_credentials(bmc) or bmc.get("credentials_name")):
        problems.append(Problem("bmc-address", label, "bmc.address", None, "a BMC address, since credentials are given",
                                "set bmc.address"))
    if bmc.get("credentials_name") and not DNS_NAME.match(bmc["credentials_name"]):
        problems.append(Problem("bmc-credentials", label, "bmc.credentials_name", show(bmc["credentials_name"]),
                                "a Secret's name (lower case letters, digits, '-' and '.')",
                                "name the Secret without its namespace, which is the host's"))
    return problems


def check_lengths(label, host, address):
    """Return the Problems of credentials that are too long for the BMC's protocol: they never fit, and say no more.

    :param address: the host's BmcAddress, None when it has none that can be read
    """
    if not address or address.driver.protocol != "ipmi":
        return []
    return [
        Problem("bmc-credentials", label, "bmc." + field, HIDDEN, f"at most {length} bytes, as IPMI 2.0 has them",
                "set a shorter one at the BMC and here")
        for field, length in IPMI_LENGTHS.items()
        if len(str((host.get("bmc") or {}).get(field) or "").encode("utf-8")) > length]


def check_verification(label, host, address):
    """Return the Problems of not verifying a BMC's certificate.

    :param address: the host's BmcAddress, None when it has none that can be read
    """
    problems = []
    if address and not address.uses_tls and (host.get("bmc") or {}).get("disable_certificate_verification"):
        problems.append(Problem("bmc-credentials", label, "bmc.disable_certificate_verification", "true",
                                f"false or nothing ({address.scheme.name} does not use TLS)", "remove it"))
    return problems
