# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what is in a cluster of a plane's parts, and refuses what does not fit; writes nothing."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.api import bulk
from ..._kube.responses.advice import reading_failed
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from . import fit
from .catalogue import PARTS

Object = dict[str, Any]

# What nobody says of who may not read it.
_LACKS = {
    "Provider": "versions are read from Deployments alone",
    "Deployment": "versions are read from clusterctl's inventory alone, and whether pods are available is not checked",
    "CustomResourceDefinition": "contracts and stored versions are not checked",
}


class UnfitError(RefusedError):
    """Versions do not fit; the result has the matrix, too.

    :param problems: the Problems, at least one
    :param matrix: from :func:`fit.rows`
    """

    def __init__(self, problems: Iterable[Problem], matrix: list[Object]) -> None:
        super().__init__(problems)
        self.matrix = matrix

    def result(self) -> dict[str, Any]:
        """Return what the failed module returns besides the text."""
        return dict(super().result(), **described(self.matrix))


def read(client: Any, definitions: list[Object] | None = None) -> tuple[fit.Plane, list[str]]:
    """Return what is in a cluster, and a warning for each kind that may not be read.

    :param client: a KubeClient
    :param definitions: its CustomResourceDefinitions, megabytes of them, when they have been read already
    :raises KubeError: when the API server can't be asked
    """
    warnings: list[str] = []
    kinds = [kind for kind in _LACKS if definitions is None or kind != "CustomResourceDefinition"]
    calls: list[Callable[[], Any]] = [_lister(client, kind) for kind in kinds]
    outcomes = bulk.run(calls + [lambda: client.request("GET", "/version").get("gitVersion")])
    refused = outcomes[-1].error
    if refused is not None:
        if refused.status not in (403, 404):
            raise refused
        warnings.append(f"plane: the version of Kubernetes is not checked: {refused.message}")
    found = {"CustomResourceDefinition": definitions or []}
    for kind, outcome in zip(kinds, outcomes):
        found[kind] = outcome.value
        if outcome.error is None:
            continue
        if outcome.error.status not in (403, 404):
            raise outcome.error
        found[kind] = []
        if outcome.error.status == 403:
            warnings.append("plane: %s: %s" % (_LACKS[kind], reading_failed(
                outcome.error, KNOWN[kind], None, client.server)))
    return fit.plane(outcomes[-1].value, found["Provider"], found["Deployment"],
                     found["CustomResourceDefinition"]), warnings


def namespaces(client: Any) -> list[str]:
    """Return the namespaces of a plane's parts: upstream's, and where else they run, as far as that may be read.

    :param client: a KubeClient
    :raises KubeError: when the API server can't be asked
    """
    try:
        found = fit.namespaces(client.list(KNOWN["Deployment"])[0])
    except KubeError as exc:
        if exc.status not in (403, 404):
            raise
        found = []
    return list(dict.fromkeys([*(part.namespace for part in PARTS), *found]))


def _lister(client: Any, kind: str) -> Callable[[], Any]:
    return lambda: client.list(KNOWN[kind])[0]


def described(matrix: list[Object]) -> dict[str, Any]:
    """Return the matrix as modules return it.

    :param matrix: from :func:`fit.rows`
    """
    return {"matrix": matrix, "table": fit.table(matrix)}


def verified(there: fit.Plane, planned: Mapping[str, fit.Planned], wanted: Iterable[str], warnings: list[str],
             others: Iterable[Problem] = ()) -> dict[str, Any]:
    """Return the matrix and warnings of what fits.

    :param there: what is in the cluster
    :param planned: part's name → what is to be installed
    :param wanted: names of the parts that it is about, see :func:`fit.problems`
    :param warnings: of :func:`read`
    :param others: problems that were found before, reported together with these
    :raises UnfitError: with all that does not fit
    """
    matrix = fit.rows(there, planned)
    problems, more = fit.problems(there, planned, wanted)
    problems = list(others) + problems
    if problems:
        raise UnfitError(problems, matrix)
    return dict(described(matrix), warnings=warnings + more)


def run(client: Any, wanted: list[str]) -> dict[str, Any]:
    """Return the result of the module ``plane_check``.

    :param client: a KubeClient
    :param wanted: names of the parts that must be there
    :raises UnfitError: with all that does not fit
    """
    there, warnings = read(client)
    result = verified(there, {}, wanted, warnings)
    versions = dict((row["name"], row["found"]) for row in result["matrix"])
    return dict(result, changed=False, versions=dict((name, versions[name]) for name in ["kubernetes", *wanted]))
