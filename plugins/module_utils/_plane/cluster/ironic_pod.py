# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the containers of Ironic's pod: images, resources, proxy; and where the pod may run; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.options.field_checks import DIGEST, DIGEST_RULE, show
from ..._common.problems.problem import Problem
from ..._metal3.ironic_place import IRONIC_CONTAINER, IRONIC_DEPLOYMENT
from ..parts.catalogue import IRONIC
from . import ironic_database
from . import settings as part_settings

Object = dict[str, Any]

IMAGE = IRONIC.images[IRONIC_DEPLOYMENT]
DOWNLOADER = "quay.io/metal3-io/ironic-ipa-downloader"
KEEPALIVED = "quay.io/metal3-io/keepalived"
DOWNLOADER_CONTAINER = "ironic-ipa-downloader"
# Metal3's page "Supported release versions", table "CI Test Matrix": the release of Ironic's stable branch that is
# tested with the pinned minor of the Bare Metal Operator.
DEFAULT_TAG = "v35.0.0"
# Upstream's tests of all releases have this tag of the images beside Ironic's own.
OTHER_TAG = "latest"
# Key of the option ``images`` → image.
OTHER_IMAGES = {"ipa_downloader": DOWNLOADER, "keepalived": KEEPALIVED, "mariadb": ironic_database.IMAGE}
# What decides which images the pod pulls, as options of modules.
IMAGE_OPTIONS: dict[str, dict[str, Any]] = {
    "image_version": {"type": "str", "default": DEFAULT_TAG},
    "digest": {"type": "str"},
    "images": {"type": "dict", "options": dict((name, {"type": "dict", "options": {
        "version": {"type": "str"}, "digest": {"type": "str"}}}) for name in OTHER_IMAGES)},
    "cache_url": {"type": "str"},
    "keepalived": {"type": "bool", "default": False},
    "mariadb": {"type": "bool", "default": False},
}
# Image → the option without which the pod does not have it.
_NEEDED_BY = {DOWNLOADER: "cache_url", KEEPALIVED: "keepalived", ironic_database.IMAGE: "mariadb"}
# What asks servers elsewhere; a probe of another one would ask the proxy for itself.
_ASKING = (IRONIC_CONTAINER, DOWNLOADER_CONTAINER)
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_ANTI, _REQUIRED = "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"


def problems(options: Object) -> list[Problem]:
    """Return what does not fit in the options, without a look at the pod.

    :param options: the parameters of the module ``plane_ironic``
    """
    digests = [("digest", options.get("digest"))] + [
        (f"images.{name}.digest", settings.get("digest")) for name, settings in sorted(_images(options).items())]
    return [Problem("ironic-digest", "ironic", field, show(digest), DIGEST_RULE, "take it from the registry")
            for field, digest in digests if digest and not DIGEST.fullmatch(digest)]


def unknown_containers(deployment: Object, options: Object) -> list[Problem]:
    """Return problems with resources of containers that the pod does not have.

    :param deployment: with the containers that it is to have
    :param options: see :func:`problems`
    """
    names = [item["name"] for item in containers(deployment["spec"]["template"]["spec"])]
    return [Problem("ironic-resources", "ironic", f"resources.{name}", "a container that Ironic's pod does not have",
                    f"one of {', '.join(names)}", "correct the name, or remove it")
            for name in sorted(options.get("resources") or {}) if name not in names]


def containers(pod: Object) -> list[Object]:
    """Return all containers of a pod, those that it begins with at the end.

    :param pod: its specification
    """
    return [*pod["containers"], *(pod.get("initContainers") or [])]


def complete(pod: Object, options: Object) -> None:
    """Give the containers of the pod their images and settings.

    :param pod: its specification; is changed
    :param options: see :func:`problems`
    """
    references = _references(options, options.get("image_registry_mirror"))
    resources, proxy = options.get("resources") or {}, _proxy(options)
    for container in containers(pod):
        container["imagePullPolicy"] = options.get("image_pull_policy") or "IfNotPresent"
        container["image"] = references.get(container["image"], container["image"])
        if resources.get(container["name"]):
            container["resources"] = resources[container["name"]]
        if proxy and container["name"] in _ASKING:
            kept = [item for item in container.get("env") or [] if item["name"] not in proxy]
            container["env"] = kept + [{"name": name, "value": value} for name, value in proxy.items()]


def pulled(options: Mapping[str, Any]) -> list[str]:
    """Return the images that the pod pulls, by their names in upstream's registries.

    :param options: those of :data:`IMAGE_OPTIONS`
    """
    references = _references(options, None)
    return [references[IMAGE], *(references[image] for image, option in _NEEDED_BY.items() if options.get(option))]


def _references(options: Mapping[str, Any], mirror: str | None) -> dict[str, str]:
    """Return image of the manifests → what is pulled in its place."""
    found = {IMAGE: part_settings.image(IMAGE, options["image_version"], mirror, options.get("digest"))}
    for key, image in OTHER_IMAGES.items():
        given = _images(options).get(key) or {}
        found[image] = part_settings.image(image, given.get("version") or OTHER_TAG, mirror, given.get("digest"))
    return found


def place(pod: Object, options: Object) -> None:
    """Say where the pod may run; what several pods need of their nodes stays.

    :param pod: its specification; is changed
    :param options: see :func:`problems`
    """
    for option, field in (("node_selector", "nodeSelector"), ("tolerations", "tolerations"),
                          ("priority_class", "priorityClassName")):
        if options.get(option):
            pod[field] = options[option]
    given = options.get("affinity")
    if not given:
        return
    apart = ((pod.get("affinity") or {}).get(_ANTI) or {}).get(_REQUIRED) or []
    pod["affinity"] = dict(given)
    if apart:
        anti = dict(given.get(_ANTI) or {})
        anti[_REQUIRED] = [*apart, *(anti.get(_REQUIRED) or [])]
        pod["affinity"][_ANTI] = anti


def _images(options: Mapping[str, Any]) -> dict[str, Object]:
    return dict((name, settings) for name, settings in (options.get("images") or {}).items() if settings)


def _proxy(options: Object) -> dict[str, str]:
    """Return the variables of a proxy; what the pod and its neighbours serve is never asked through it."""
    given = dict(options.get("proxy") or {})
    if not any(given.get(name) for name in ("http", "https")):
        return {}
    database = str((options.get("database") or {}).get("host") or "")
    own = [*_THIS_MACHINE, options.get("provisioning_ip"), *(options.get("replica_addresses") or []),
           database.partition(":")[0] if database.count(":") == 1 else database]
    direct = [item.strip() for item in str(given.get("no_proxy") or "").split(",")]
    given["no_proxy"] = ",".join(dict.fromkeys(filter(None, [*direct, *own])))
    return part_settings.proxy_variables(given)
