# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pins of a ``go.mod``, and what the programs that are built from it report as their versions; pure."""
from __future__ import annotations

import re

from ..._common.problems.errors import ReportedError
from ..parts.catalogue import BMO, CERT_MANAGER, CLUSTER_API

KUBERNETES = "k8s.io/kubernetes"
ETCD = "go.etcd.io/etcd/server/v3"


class GoModError(ReportedError):
    """A ``go.mod`` does not pin what is asked of it."""


class GoMod:
    """The pins of a ``go.mod``: its Go version and its modules' versions.

    :param text: contents of the file
    """

    def __init__(self, text: str) -> None:
        match = re.search(r"^go (\S+)$", text, re.MULTILINE)
        if not match:
            raise GoModError("go.mod: no line \"go <version>\"")
        self.go = match.group(1)
        self._versions = {}
        for block in re.findall(r"^require \(\n(.*?)^\)", text, re.MULTILINE | re.DOTALL):
            self._versions.update(re.findall(r"^\s+(\S+) (v\S+)", block, re.MULTILINE))
        self._versions.update(re.findall(r"^require (\S+) (v\S+)", text, re.MULTILINE))
        for module, target, version in re.findall(r"^(?:replace)?\s+(\S+) => (\S+) (v\S+)$", text, re.MULTILINE):
            if module == target:
                self._versions[module] = version

    def has(self, module: str) -> bool:
        """Return whether a module is pinned."""
        return module in self._versions

    def version(self, module: str) -> str:
        """Return the version a module is pinned to.

        :raises GoModError: when it is not pinned
        """
        try:
            return self._versions[module]
        except KeyError:
            raise GoModError(f"go.mod: module {module} is not required") from None


def stamps(pins: GoMod) -> dict[str, str]:
    """Return the linker's ``-X`` settings that make the programs report their versions, as a dict name → value.

    The same for all programs: the linker skips what a program does not contain. CAPM3, IPAM and etcd have nothing to
    stamp: the first two know no version of their own, etcd's is a constant. What is not pinned is not stamped.

    :param pins: a GoMod
    """
    values = {}
    for package, module in (
        ("k8s.io/component-base/version", KUBERNETES),
        ("k8s.io/client-go/pkg/version", KUBERNETES),
        ("sigs.k8s.io/cluster-api/version", CLUSTER_API),
    ):
        if not pins.has(module):
            continue
        version = pins.version(module)
        major, minor = version.lstrip("v").split(".")[:2]
        values.update({
            package + ".gitVersion": version,
            package + ".gitMajor": major,
            package + ".gitMinor": minor,
        })
    if pins.has(BMO):
        bmo = pins.version(BMO)
        values[BMO + "/pkg/version.Raw"] = bmo
        values[BMO + "/pkg/version.String"] = "metal3-io/baremetal-operator " + bmo
    if pins.has(CERT_MANAGER):
        values[CERT_MANAGER + "/pkg/util.AppVersion"] = pins.version(CERT_MANAGER)
    return values


def linker_flags(pins: GoMod) -> str:
    """Return the value of ``-ldflags``.

    :param pins: a GoMod
    """
    return " ".join(["-s", "-w"] + ["-X '%s=%s'" % item for item in sorted(stamps(pins).items())])
