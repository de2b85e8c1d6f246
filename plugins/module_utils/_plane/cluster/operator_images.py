# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that a resource ``Ironic`` results in, by the manifests of the Ironic operator; pure.

Sources: ``pkg/ironic/version.go``, ``pkg/ironic/containers.go`` and ``cmd/main.go`` of the operator, 0.4 to 0.11. An
image of the resource comes first. A version in the resource means upstream's image of it, whatever the operator's
default is. Defaults are flags of the operator, then its environment, then those of its release.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from .ironic_pod import DOWNLOADER, IMAGE, KEEPALIVED

Object = Mapping[str, Any]

# What decides which images there are, as options of modules.
OPTIONS: dict[str, dict[str, Any]] = {
    "manifests": {"type": "path"},
    "registry_mirror": {"type": "str"},
    "version": {"type": "str"},
    "images": {"type": "dict", "options": dict(
        (name, {"type": "str"}) for name in ("ironic", "keepalived", "deploy_ramdisk_downloader"))},
    "disable_downloader": {"type": "bool", "default": False},
    "keepalived": {"type": "bool", "default": False},
    "other_images": {"type": "list", "elements": "str", "default": []},
}
MANIFESTS_VARIABLE = "ironic_operator_manifests"
_OPERATOR = "ironic-standalone-operator"
# Of the image in the manifests of a release, and of one that a user has chosen.
_RELEASE = re.compile(r"(?:release-|v)([0-9]+\.[0-9]+)(?:\.[0-9]+)?")
# Minor of the operator → version of Ironic that it has (defaultVersion in pkg/ironic/version.go).
_DEFAULT_VERSIONS = {"0.4": "30.0", "0.5": "31.0", "0.6": "32.0", "0.7": "33.0", "0.8": "34.0", "0.9": "35.0",
                     "0.10": "37.0", "0.11": "38.0"}
_LATEST = "latest"
# The operator's setting, its flag and its variable.
_SETTINGS = (("ironic", "ironic-image", "IRONIC_IMAGE"), ("keepalived", "keepalived-image", "KEEPALIVED_IMAGE"),
             ("downloader", "ramdisk-downloader-image", "RAMDISK_DOWNLOADER_IMAGE"),
             ("version", "ironic-version", "IRONIC_VERSION"))
_EXPANDED = re.compile(r"\$\(([A-Za-z0-9_]+)\)")


class Found(NamedTuple):
    """What is known.

    :ivar images: names with tag
    :ivar problems: why the manifests do not say the rest
    :ivar unknown: in words, what nobody says because no manifests are named
    """

    images: list[str]
    problems: list[Problem]
    unknown: list[str]


def pulled(options: Object, objects: Iterable[Object] | None) -> Found:
    """Return the images of the operator, and of the pod that it makes of the resource.

    :param options: those of :data:`OPTIONS`
    :param objects: those of the file ``manifests``; None when none is named
    """
    operator = None if objects is None else _operator(list(objects), str(options["manifests"]))
    problems = [] if operator is None else operator.problems
    settings = {} if operator is None else operator.settings
    given = options.get("images") or {}
    found = list(operator.images if operator else []) + list(options.get("other_images") or [])
    unknown = [] if operator else ["the operator's image"]
    ironic = given.get("ironic") or _ironic(options, settings)
    if ironic:
        found.append(ironic)
    elif operator is None:
        unknown.append("Ironic's image, because neither version nor images.ironic is in ironic_operator_options")
    elif not problems:
        problems = [_mistake(options, f"an operator of {show(operator.tag)}", "a release whose default is known: "
                             f"{', '.join(_DEFAULT_VERSIONS)}",
                             "set ironic_operator_options.version, or ironic_operator_options.images.ironic")]
    if not options.get("disable_downloader"):
        found.append(given.get("deploy_ramdisk_downloader") or settings.get("downloader") or f"{DOWNLOADER}:{_LATEST}")
    if options.get("keepalived"):
        found.append(given.get("keepalived") or settings.get("keepalived") or f"{KEEPALIVED}:{_LATEST}")
    return Found([_upstream(image, options.get("registry_mirror")) for image in dict.fromkeys(found)], problems,
                 unknown)


class _Operator(NamedTuple):
    images: list[str]
    settings: dict[str, str]
    tag: str
    problems: list[Problem]


def _ironic(options: Object, settings: Mapping[str, str]) -> str:
    """Return Ironic's image when the resource names none, empty when nobody says it."""
    if options.get("version"):
        return _of_version(options["version"])
    if settings.get("ironic"):
        return settings["ironic"]
    version = settings.get("version") or settings.get("release") or ""
    return _of_version(version) if version else ""


def _of_version(version: str) -> str:
    return f"{IMAGE}:{version if version == _LATEST else f'release-{version}'}"


def _operator(objects: list[Object], path: str) -> _Operator:
    deployments = [obj for obj in objects if obj.get("kind") == "Deployment"]
    containers = [container for obj in deployments for part in ("initContainers", "containers")
                  for container in dicts_in(_pod(obj), part)]
    images = [container["image"] for container in containers if isinstance(container.get("image"), str)]
    managers = [container for container in containers if _repository(container.get("image")).endswith(_OPERATOR)]
    if len(managers) != 1:
        return _Operator(images, {}, "", [Problem(
            "mirror-part", f'file "{path}"', MANIFESTS_VARIABLE,
            f"{len(managers) or 'no'} containers with an image …/{_OPERATOR}", "one, of the operator's Deployment",
            "name the manifests that the operator is installed from, such as install.yaml of its release")])
    tag = str(managers[0]["image"]).partition("@")[0].rpartition(":")[2]
    environment, problems = _environment(managers[0], objects, path)
    settings = _settings(managers[0], environment)
    release = _RELEASE.fullmatch(tag)
    version = _LATEST if tag == _LATEST else _DEFAULT_VERSIONS.get(release.group(1), "") if release else ""
    return _Operator(images, dict(settings, **({"release": version} if version else {})), tag, problems)


def _pod(deployment: Object) -> Object:
    return dict_in(dict_in(dict_in(deployment, "spec"), "template"), "spec")


def _repository(image: Any) -> str:
    name = image.partition("@")[0] if isinstance(image, str) else ""
    return name.rpartition(":")[0] if ":" in name.rpartition("/")[2] else name


def _environment(container: Object, objects: list[Object], path: str) -> tuple[dict[str, str], list[Problem]]:
    """Return the container's variables, and a problem for each ConfigMap with some that the file has not."""
    maps = dict((str(dict_in(obj, "metadata").get("name")), dict_in(obj, "data")) for obj in objects
                if obj.get("kind") == "ConfigMap")
    found: dict[str, str] = {}
    missing: list[str] = []

    def data_of(reference: Object) -> Object:
        name = str(reference.get("name"))
        if name not in maps and not reference.get("optional"):
            missing.append(name)
        return maps.get(name) or {}

    for source in dicts_in(container, "envFrom"):
        if dict_in(source, "configMapRef"):
            found.update((f"{source.get('prefix') or ''}{key}", str(value))
                         for key, value in data_of(dict_in(source, "configMapRef")).items())
    wanted = [variable for _name, _flag, variable in _SETTINGS]
    for entry in dicts_in(container, "env"):
        reference = dict_in(dict_in(entry, "valueFrom"), "configMapKeyRef")
        if isinstance(entry.get("value"), str):
            found[str(entry.get("name"))] = entry["value"]
        elif reference and entry.get("name") in wanted:
            found[str(entry["name"])] = str(data_of(reference).get(str(reference.get("key"))) or "")
    return found, [Problem(
        "mirror-part", f'file "{path}"', MANIFESTS_VARIABLE, f"no ConfigMap {show(name)}, which the operator reads",
        "all that its defaults are in", "add it to the file") for name in dict.fromkeys(missing)]


def _settings(container: Object, environment: Mapping[str, str]) -> dict[str, str]:
    words = [word for part in ("command", "args") for word in container.get(part) or [] if isinstance(word, str)]
    flags = {}
    for number, word in enumerate(words):
        # Go's flag takes one dash for two.
        name, has_value, value = word.lstrip("-").partition("=")
        if word.startswith("-"):
            flags[name] = value if has_value else next(iter(words[number + 1:]), "")
    values = dict((name, _EXPANDED.sub(lambda match: environment.get(match.group(1), match.group()), flags[flag])
                   if flags.get(flag) else environment.get(variable, "")) for name, flag, variable in _SETTINGS)
    return dict((name, value) for name, value in values.items() if value)


def _upstream(image: str, mirror: str | None) -> str:
    """Return an image's name in its own registry, of one that is behind the site's mirror."""
    prefix = (mirror or "").rstrip("/") + "/"
    return image[len(prefix):] if mirror and image.startswith(prefix) else image


def _mistake(options: Object, actual: str, expected: str, hint: str) -> Problem:
    return Problem("mirror-part", f'file "{options["manifests"]}"', MANIFESTS_VARIABLE, actual, expected, hint)
