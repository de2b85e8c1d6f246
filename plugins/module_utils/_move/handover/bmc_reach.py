# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the other plane's Ironic reaches the BMCs of the hosts that it gets, and trusts their certificates."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._bmc.preflight import reach, trust, verdict
from ..._common.problems.errors import ReportedError
from ..._common.problems.problem import Problem
from ..._elsewhere import asking
from ..._kube.objects.deployments import has_available_pod
from ..._kube.pods import deployment_pod
from ..objects.reading import Side

Object = dict[str, Any]


def from_where(asked: asking.Asked | None, hosts: list[Object],
               params: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Return problems with BMCs that the other plane's Ironic does not reach or trust, and warnings.

    :param asked: of :func:`place`
    :param hosts: BareMetalHosts
    :param params: see :func:`place`
    """
    if params["reach_from"] == "none":
        return [], []
    if asked is None:
        return [], ["BMCs: whether the other plane's Ironic reaches them was not asked: no Deployment "
                    f"{params['ironic_namespace']}/{params['ironic_deployment']} with an available pod over there; "
                    "set reach_from to here when it runs on this machine"]
    found, warnings = problems(hosts, asked)
    if warnings:
        return found, warnings
    if params["reach_from"] == "here" and not params.get("ironic_config"):
        return found, ["BMCs: whether the other plane's Ironic trusts their certificates was not asked: no "
                       "ironic_config, the path of its configuration on this machine"]
    untrusted, warnings = distrusted(hosts, asked, params.get("ironic_config"))
    return found + untrusted, warnings


def place(there: Side, params: Mapping[str, Any]) -> asking.Asked | None:
    """Return where the Ironic that takes over is asked, None when it can't be.

    :param there: the plane that takes over
    :param params: ``reach_from``, ``ironic_namespace``, ``ironic_deployment`` and ``ironic_config``, see the module
        ``plane_move``
    """
    if params["reach_from"] == "none":
        return None
    if params["reach_from"] == "here":
        return asking.from_here()
    where = (params["ironic_namespace"], params["ironic_deployment"])
    return deployment_pod.asked(there.client, *where) if has_available_pod(there.deployment(*where)) else None


def distrusted(hosts: Iterable[Object], asked: asking.Asked,
               config: str | None) -> tuple[list[Problem], list[str]]:
    """Return a problem for each BMC whose certificate Ironic does not trust, and a warning when nobody was asked.

    :param hosts: BareMetalHosts; those whose certificate is not verified are left out
    :param asked: where it is asked from
    :param config: path of Ironic's configuration there; None where Ironic's images have it
    """
    hosts = list(hosts)
    bmcs = [(host.get("spec") or {}).get("bmc") or {} for host in hosts]
    try:
        answers = trust.answers([(bmc.get("address"), not bmc.get("disableCertificateVerification")) for bmc in bmcs],
                                asked, config)
    except ReportedError as exc:
        return [], [f"BMCs: whether their certificates are trusted was not asked from {asked.place}: {exc}"]
    return [Problem("move-trust", f"BareMetalHost {host['metadata']['name']}", "spec.bmc.address",
                    f"a certificate at {answer.target} that the other plane's Ironic does not trust, asked from "
                    f"{asked.place}: {answer.words}", "a certificate that both Ironics trust", trust.ADVICE)
            for host, answer in zip(hosts, answers) if answer and answer.words], []


def problems(hosts: Iterable[Object], asked: asking.Asked) -> tuple[list[Problem], list[str]]:
    """Return a problem for each host whose BMC is not reached, and a warning when nobody could be asked.

    :param hosts: BareMetalHosts; those without a BMC, and with an address that nobody can read, are left out
    :param asked: where it is asked from
    """
    hosts = list(hosts)
    try:
        answers = reach.answers([((host.get("spec") or {}).get("bmc") or {}).get("address") for host in hosts], asked)
    except ReportedError as exc:
        # No proof that they are not reached.
        return [], [f"BMCs: whether they are reached was not asked from {asked.place}: {exc}"]
    return [Problem("move-reach", f"BareMetalHost {host['metadata']['name']}", "spec.bmc.address",
                    f"{answer.words} at {answer.target}, asked from {asked.place}",
                    "a BMC that the other plane's Ironic reaches", reach.ADVICE)
            for host, answer in zip(hosts, answers) if answer and answer.words], []


def media_problems(found: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Return a problem for each host whose BMC did not read a medium of the image server over there.

    :param found: ``checks`` of all hosts as the module ``bmc_media_check`` returns them
    """
    return [Problem("move-media", f"BareMetalHost {item['subject']}", "spec.bmc.address", item["actual"],
                    item["expected"] or "", item["hint"]) for item in found if item["status"] == verdict.PROBLEM]
