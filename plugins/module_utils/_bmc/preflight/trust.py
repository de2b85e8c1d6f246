# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from where an Ironic runs whether it trusts the certificates of BMCs."""
from __future__ import annotations

from collections.abc import Sequence

from ..._elsewhere import answered, asking
from ..._elsewhere import trust as program
from ..addresses import address as bmc_address
from . import reach

ADVICE = ("give that Ironic the BMCs' certificate authority (ironic_bmc_ca_file, then playbook install), or a "
          "certificate that it trusts to the BMC")
_SECONDS = 5


def answers(bmcs: Sequence[tuple[str | None, bool]], asked: asking.Asked,
            config: str | None = None) -> list[reach.Answer | None]:
    """Return for each BMC why Ironic does not trust its certificate, None for one whose certificate is not looked at.

    :param bmcs: address of each BMC as its host has it, and whether Ironic verifies its certificate
    :param asked: where Ironic runs
    :param config: path of Ironic's configuration there; None where Ironic's images have it
    :raises ReportedError: when nobody could be asked, which proves nothing about the certificates
    """
    targets = [_target(address) if verified else None for address, verified in bmcs]
    questions = sorted(set(target for target in targets if target is not None))
    if not questions:
        return [None for _target_ in targets]
    found = dict(zip(questions, map(answered.words, asking.ask(
        [[config, *question, _SECONDS] for question in questions], asked, program))))
    return [None if target is None else reach.Answer("%s:%d" % target, found[target]) for target in targets]


def _target(text: str | None) -> tuple[str, int] | None:
    """Return the host and port of a BMC that speaks Redfish by TLS; Ironic verifies no other."""
    parts = bmc_address.readable(text)
    return (parts.host, parts.effective_port) if parts and parts.uses_tls else None
