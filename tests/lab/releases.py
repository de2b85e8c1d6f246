# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases of the plane's parts as their projects publish them, of the manifests that the lab's engine has rendered."""
from __future__ import annotations

import hashlib
import json
from pathlib import Path

import registry_store
import yaml
from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import inventory, release
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import objects as plane_objects
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import go_mod

PROVIDERS = [part for part in RENDERED if part.type]
NEWER = "v1.13.99"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def version(part):
    return go_mod.GoMod((REPOSITORY / "lab" / "engine" / "go.mod").read_text()).version(part.module)


def without_inventory(objects):
    """Return the objects that clusterctl does not add itself."""
    return [obj for obj in objects if obj["kind"] != "Provider" and obj["metadata"]["name"] != inventory.NAME]


def rendered(lab, part):
    """Return a part's objects as the engine has rendered them."""
    return manifests.load(Path(lab.figures["engine_dir"]) / manifests.FOLDER / f"{part.name}.yaml")


def released(part, objects, of_version):
    """Return a part's objects as its release has them: with the images of its version, and nothing of this collection.

    :param objects: as they were rendered
    """
    made = plane_objects.desired(part, objects, {}, of_version)
    for obj in made:
        del obj["metadata"]["labels"][plane_objects.OWNER_LABEL[0]]
    return without_inventory(made)


def components(lab, part, path):
    """Write a part's manifests as a release has them, but for the tags of images."""
    manifests.dump(without_inventory(rendered(lab, part)), path)
    return path


def write(lab, folder, part):
    """Write one release of a part below a folder: ``<version>/`` with its manifests and ``metadata.yaml``.

    :returns: the folder of the version
    """
    made = Path(folder) / version(part)
    made.mkdir(parents=True)
    components(lab, part, made / release.names(part)[0])
    if part.type:
        metadata(made, part, version(part))
    return made


def metadata(folder, part, of_version):
    major, minor = of_version.lstrip("v").split(".")[:2]
    (folder / release.METADATA).write_text(yaml.safe_dump({
        "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Metadata", "releaseSeries": [
            {"major": int(major), "minor": int(minor), "contract": part.contract}]}))


def repositories(lab, folder, newer=None, for_use=False):
    """Write clusterctl's repositories of all providers, and its configuration; return the path of that.

    :param newer: name of the part of which there is a newer version, too
    :param for_use: whether their pods are to run
    """
    providers = []
    for part in PROVIDERS:
        made = write(lab, Path(folder) / part.label, part)
        if part.name == newer:
            (made.parent / NEWER).mkdir()
            metadata(made.parent / NEWER, part, NEWER)
        if for_use:
            objects = released(part, rendered(lab, part), version(part))
            for folder_of_version in made.parent.iterdir():
                # A newer one is the same program.
                manifests.dump(objects, folder_of_version / release.names(part)[0])
        providers.append({"name": part.provider_name, "type": part.type,
                          "url": str(made / release.names(part)[0])})
    path = Path(folder) / "clusterctl.yaml"
    path.write_text(yaml.safe_dump({"providers": providers}))
    return path


def checksum(path):
    return "sha256:" + hashlib.sha256(Path(path).read_bytes()).hexdigest()


def push(store, name, files, folder):
    """Push files as an artifact into the lab's registry, in the form that ``oras push`` gives them; return its digest.

    :param store: of ``registry_store.opened``
    :param name: of the artifact, with a tag
    :param files: paths
    :param folder: empty, for the layout
    """
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(content, media_type, **more):
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return dict({"mediaType": media_type, "digest": "sha256:" + digest, "size": len(content)}, **more)

    manifest = blob(json.dumps({
        "schemaVersion": 2, "mediaType": _MANIFEST, "artifactType": "application/vnd.acme.config",
        "config": blob(b"{}", "application/vnd.oci.empty.v1+json"),
        "layers": [blob(path.read_bytes(), "application/yaml",
                        annotations={"org.opencontainers.image.title": path.name}) for path in files],
    }).encode(), _MANIFEST)
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    registry_store.copied(store, f"oci:{folder}", name, registry_store.SAME)
    return manifest["digest"]
