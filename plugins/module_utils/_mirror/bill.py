# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bill of materials of an archive: what is in it, by digest, in our own form, as SPDX and as CycloneDX; pure."""
from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from .._common.documents.document_text import from_json
from .._common.options.field_checks import DIGEST, DIGEST_RULE, show
from .._common.problems.problem import Problem

Bill = dict[str, Any]

FORMAT = 1
BILL, SPDX, CYCLONEDX = "bill.json", "bill.spdx.json", "bill.cdx.json"
# distribution/reference: a domain, at least one path element, a tag.
_REFERENCE = re.compile(
    r"(?P<host>[a-z0-9.-]+(:\d+)?)/(?P<path>[a-z0-9]+(([._]|__|-+|/)[a-z0-9]+)*):(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://github.com/metal3-community/metal3.baremetal")


def reference_problem(reference: Any) -> Problem | None:
    """Return what is wrong with the name of an image, or None.

    :param reference: the name with registry and tag
    """
    if _REFERENCE.fullmatch(str(reference)):
        return None
    return Problem("mirror-image", f'image "{reference}"', None, "another form", "<registry>/<path>:<tag>",
                   "name registry and tag")


def digest_problem(name: str, digest: Any) -> Problem | None:
    """Return what is wrong with the digest that an image is to have, or None.

    :param name: of the image
    """
    if isinstance(digest, str) and DIGEST.fullmatch(digest):
        return None
    return Problem("mirror-image", f'image "{name}"', "digest", show(digest), DIGEST_RULE,
                   "take it from who publishes the image")


def name_problem(name: str) -> Problem | None:
    """Return what is wrong with the name of a file in an archive, or None."""
    if _FILE.fullmatch(name):
        return None
    return Problem("mirror-file", f'file "{name}"', "name", show(name),
                   "letters, digits, dots, hyphens and underscores", "name the file without a folder")


def file_problems(entry: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with a file that is to be gathered.

    :param entry: dict with ``name``, ``url`` and ``checksum``
    """
    subject, fault = f'file "{entry["name"]}"', name_problem(entry["name"])
    found = [fault] if fault else []
    if not entry["url"].startswith(("https://", "http://")):
        found.append(Problem("mirror-file", subject, "url", show(entry["url"]), "https:// or http://", "correct it"))
    if not DIGEST.fullmatch(entry["checksum"]):
        found.append(Problem("mirror-file", subject, "checksum", show(entry["checksum"]),
                             DIGEST_RULE, "take it from who publishes the file"))
    return found


def compose(release: str, images: Mapping[str, str], files: Mapping[str, tuple[str, int]]) -> Bill:
    """Return a bill.

    :param release: of the collection, or what else the archive is for
    :param images: name with tag → digest
    :param files: name → SHA-256 with ``sha256:`` before it, size in bytes
    """
    return {"format": FORMAT, "release": release,
            "images": [{"name": name, "digest": digest} for name, digest in sorted(images.items())],
            "files": [{"name": name, "digest": digest, "bytes": size}
                      for name, (digest, size) in sorted(files.items())]}


def dump(content: Any) -> bytes:
    """Return a document as the same bytes whenever it says the same."""
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def checksum(bill: Bill) -> str:
    """Return the SHA-256 of a bill as it is written, hexadecimal."""
    return hashlib.sha256(dump(bill)).hexdigest()


def parse(content: bytes) -> Bill:
    """Return a bill that somebody else may have written.

    :raises ValueError: for what is no bill of this format
    """
    found = from_json(content)
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("release"), str):
        raise ValueError(f"no bill of materials of format {FORMAT}")
    for kind, names in (("images", _REFERENCE), ("files", _FILE)):
        entries = found.get(kind)
        if not isinstance(entries, list):
            raise ValueError(f"{kind}: no list")
        for entry in entries:
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not names.fullmatch(
                    entry["name"]) or not DIGEST.fullmatch(str(entry.get("digest"))):
                raise ValueError(f"{kind}: an entry without a valid name and digest")
        if len(set(entry["name"] for entry in entries)) != len(entries):
            raise ValueError(f"{kind}: a name twice")
    return found


def _purl(entry: Mapping[str, str]) -> str:
    repository, _colon, tag = entry["name"].rpartition(":")
    return (f"pkg:oci/{repository.rpartition('/')[2]}@{quote(entry['digest'])}"
            f"?repository_url={quote(repository, safe='')}&tag={tag}")


def _named(bill: Bill) -> list[tuple[Any, str, str]]:
    """Return ``(entry, name, tag)`` of all images, then of all files, which have no tag."""
    names = [(entry, entry["name"].rpartition(":")) for entry in bill["images"]]
    images = [(entry, name, tag) for entry, (name, _colon, tag) in names]
    return images + [(entry, entry["name"], "") for entry in bill["files"]]


def spdx(bill: Bill, created: str) -> dict[str, Any]:
    """Return a bill as an SPDX 2.3 document.

    :param bill: the bill
    :param created: time of its making, RFC 3339
    """
    packages = []
    for number, (entry, name, tag) in enumerate(_named(bill)):
        is_image = bool(tag)
        package = {"SPDXID": f"SPDXRef-{number}", "name": name, "downloadLocation": "NOASSERTION",
                   "filesAnalyzed": False, "primaryPackagePurpose": "CONTAINER" if is_image else "FILE",
                   "checksums": [{"algorithm": "SHA256", "checksumValue": entry["digest"].partition(":")[2]}]}
        if is_image:
            package.update(versionInfo=tag, externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": _purl(entry)}])
        packages.append(package)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"metal3.baremetal {bill['release']}",
            "documentNamespace": f"https://spdx.org/spdxdocs/metal3.baremetal-{_identity(bill)}",
            "creationInfo": {"created": created, "creators": ["Tool: metal3.baremetal"]}, "packages": packages,
            "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                               "relatedSpdxElement": package["SPDXID"]} for package in packages]}


def cyclonedx(bill: Bill, created: str) -> dict[str, Any]:
    """Return a bill as a CycloneDX 1.6 document.

    :param bill: the bill
    :param created: time of its making, RFC 3339
    """
    components = []
    for number, (entry, name, tag) in enumerate(_named(bill)):
        is_image = bool(tag)
        component = {"type": "container" if is_image else "file", "bom-ref": f"{number}", "name": name,
                     "hashes": [{"alg": "SHA-256", "content": entry["digest"].partition(":")[2]}]}
        if is_image:
            component.update(version=tag, purl=_purl(entry))
        components.append(component)
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{_identity(bill)}", "version": 1,
            "metadata": {"timestamp": created, "component": {
                "type": "application", "name": "metal3.baremetal", "version": bill["release"]}},
            "components": components}


def _identity(bill: Bill) -> uuid.UUID:
    return uuid.uuid5(_NAMESPACE, dump(bill).decode())


def blobs(manifest: Any) -> tuple[list[str], list[str]]:
    """Return the digests that a manifest of an image, or a list of them, names: manifests and other blobs.

    :param manifest: the decoded manifest
    :raises ValueError: for what is no manifest
    """
    if not isinstance(manifest, dict):
        raise ValueError("no manifest of an image")
    listed = manifest.get("manifests")
    entries = listed if isinstance(listed, list) else [manifest.get("config"), *(manifest.get("layers") or [])]
    found = [entry.get("digest") if isinstance(entry, dict) else None for entry in entries]
    if not all(isinstance(digest, str) and DIGEST.fullmatch(digest) for digest in found):
        raise ValueError("a manifest with an entry without a digest")
    digests = [str(digest) for digest in found]
    return (digests, []) if isinstance(listed, list) else ([], digests)
