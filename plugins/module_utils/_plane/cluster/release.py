# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release by clusterctl's names: which of its files are a part's manifests, and what its metadata.yaml says; pure.

Sources: Cluster API's "clusterctl provider contract" and the Cluster API operator's page of OCI artifacts.
"""
from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from ..._common.documents.document_text import DocumentError, from_yaml
from ..._common.options.field_checks import DIGEST
from ..parts import fit, matrix
from ..parts.catalogue import Part

METADATA = "metadata.yaml"
# For a release that has one part only.
_ANY = "components.yaml"
_BY_TYPE = {"CoreProvider": "core-components.yaml", "BootstrapProvider": "bootstrap-components.yaml",
            "ControlPlaneProvider": "control-plane-components.yaml", "IPAMProvider": "ipam-components.yaml",
            "InfrastructureProvider": "infrastructure-components.yaml"}
# clusterctl does not know it.
_BY_NAME = {"cert_manager": "cert-manager.yaml"}
_OCI = "oci://"
_ARTIFACT = re.compile(
    _OCI + r"(?P<host>[a-zA-Z0-9.-]+(?::\d+)?)/(?P<path>[a-z0-9]+(?:(?:[._]|__|-+|/)[a-z0-9]+)*)"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?@(?P<digest>" + DIGEST.pattern + ")")
# Annotation of a layer by which OCI tools name the file that it is.
_TITLE = "org.opencontainers.image.title"
# What stands in messages; no other is asked for.
_FILE = re.compile(r"[A-Za-z0-9._-]{1,100}")
_CONTRACTS = sorted(set(contract for known in matrix.CONTRACTS.values() for contract in known))


class Refused(Exception):
    """Field, what was found, what was expected, hint."""


class Artifact(NamedTuple):
    """Where an artifact is.

    :ivar host: the registry, with its port if it has one
    :ivar path: name of the artifact there, without a tag
    :ivar digest: of its manifest
    """

    host: str
    path: str
    digest: str


class Layer(NamedTuple):
    """One file of an artifact.

    :ivar digest: of its contents
    :ivar size_bytes: as its manifest says
    """

    digest: str
    size_bytes: int


def is_artifact(source: str) -> bool:
    """Return whether a source of manifests is an artifact of a registry."""
    return source.startswith(_OCI)


def artifact(source: str) -> Artifact:
    """Return where an artifact is.

    :param source: ``oci://<registry>/<path>@sha256:…``, before the ``@`` a tag, which only tells people what it is
    :raises Refused: for one without a digest, and for another form
    """
    match = _ARTIFACT.fullmatch(source)
    if not match:
        raise Refused("manifests", source.rpartition("@")[2] if "@" in source else source,
                      f"{_OCI}<registry>/<path>@sha256:… or {_OCI}<registry>/<path>:<tag>@sha256:…",
                      "name the digest: a tag may be moved; a login stands in manifests_username_file and "
                      "manifests_password_file")
    return Artifact(match["host"], match["path"], match["digest"])


def files_of(manifest: Any) -> dict[str, Layer]:
    """Return name → layer, of what an artifact has.

    :param manifest: its manifest, decoded; what somebody else has written
    :raises ValueError: for what is no manifest of named files
    """
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    if not isinstance(layers, list):
        raise ValueError("no manifest with layers, but perhaps a list of manifests")
    found: dict[str, Layer] = {}
    for layer in layers:
        annotations = layer.get("annotations") if isinstance(layer, dict) else None
        name = annotations.get(_TITLE) if isinstance(annotations, dict) else None
        if not isinstance(name, str) or not _FILE.fullmatch(name):
            continue
        digest, size = layer.get("digest"), layer.get("size")
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or not isinstance(size, int) or size < 0:
            raise ValueError("a layer without a valid digest and size")
        if name in found:
            raise ValueError("a name twice")
        found[name] = Layer(digest, size)
    return found


def size_bytes(manifest: Any) -> int:
    """Return how many bytes all layers of an artifact have, as its manifest says.

    :param manifest: as of :func:`files_of`, which has accepted it
    :raises ValueError: for a layer without a size
    """
    total = 0
    for layer in manifest["layers"]:
        size = layer.get("size") if isinstance(layer, dict) else None
        if not isinstance(size, int) or size < 0:
            raise ValueError("a layer without a valid size")
        total += size
    return total


def names(part: Part) -> tuple[str, ...]:
    """Return what a part's manifests may be called in a release, the preferred name first."""
    own = _BY_NAME.get(part.name) or _BY_TYPE.get(part.type or "")
    return (own, _ANY) if own else (_ANY,)


def chosen(part: Part, offered: Collection[str], where: str) -> str:
    """Return which file of a release has a part's manifests.

    :param offered: names of the files that there are
    :param where: option that the release was named by, or that names its files
    :raises Refused: when there is none
    """
    for name in names(part):
        if name in offered:
            return name
    raise Refused(where, ", ".join(sorted(offered)[:8]) or None, " or ".join(names(part)),
                  "name a release that has this part")


def check_metadata(part: Part, version: str, content: bytes | None) -> None:
    """Check that ``metadata.yaml`` names one contract of Cluster API for a version, and that this is known.

    :param version: of the release
    :param content: of ``metadata.yaml``, or None when there is none
    :raises Refused: when there is none for a provider, and when it says something else
    """
    if part.contract is None:
        return
    if content is None:
        raise Refused("manifests", f"no {METADATA}", f"{METADATA} beside the manifests",
                      "take it from the same release")
    wanted = fit.number(version)[:2]
    contracts = [entry.get("contract") for entry in _series(content)
                 if (entry.get("major"), entry.get("minor")) == wanted]
    series = ".".join(str(number) for number in wanted)
    if len(contracts) != 1:
        raise Refused("manifests", f"{METADATA} with {len(contracts)} entries of {series}",
                      f"one entry of releaseSeries for {series}",
                      f"take the {METADATA} of this version, or correct version")
    # The definitions' labels are compared with the Cluster API that is there; IPAM's do not name this one.
    if contracts[0] not in _CONTRACTS:
        raise Refused("manifests", f"{METADATA} with a contract that is not known, for {series}",
                      " or ".join(_CONTRACTS), f"take a {part.title} for a Cluster API that this collection knows")


def _series(content: bytes) -> list[dict[str, Any]]:
    """Return the entries of ``releaseSeries``.

    :raises Refused: for what is no such document
    """
    try:
        document = from_yaml(content)
    except DocumentError as exc:
        raise Refused("manifests", f"{METADATA}: {exc}", "clusterctl's Metadata", "correct it") from None
    series = document.get("releaseSeries") if isinstance(document, dict) else None
    if not isinstance(series, list) or document.get("kind") != "Metadata" or not all(
            isinstance(entry, dict) for entry in series):
        raise Refused("manifests", f"{METADATA} of another form", "clusterctl's Metadata with releaseSeries",
                      "correct it")
    return series
