# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A part's settings: what fits, and what becomes of its Deployments; pure."""
from __future__ import annotations

import re
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ..._common.options.field_checks import DIGEST, DIGEST_RULE, show
from ..._common.problems.problem import Problem
from ..parts.catalogue import BY_NAME, Part
from ..parts.fit import VERSION_LABEL

Object = dict[str, Any]

POD_SECURITY_LABEL = "pod-security.kubernetes.io/enforce"
# Of the Pod Security Standards.
WITHOUT_HOST_NETWORK = ("baseline", "restricted")
_PROXY = (("http", "HTTP_PROXY"), ("https", "HTTPS_PROXY"), ("no_proxy", "NO_PROXY"))


def problems(settings: Object) -> list[Problem]:
    """Return what does not fit in one part's settings.

    :param settings: one item of the module's option ``parts``
    """
    part = BY_NAME[settings["name"]]
    subject, found = f"part {part.name}", []
    for name in ("leader_election", "feature_gates", "log_level"):
        if settings.get(name) is not None and name not in part.flags:
            found.append(Problem("part-setting-unknown", subject, name, show(settings[name]),
                                 f"no value, because {part.title} has no flag for it", f"remove {name}"))
    if (settings.get("replicas") or 1) > 1 and settings.get("leader_election") is False:
        found.append(Problem("part-replicas-without-leader", subject, "leader_election", "false",
                             f"true with replicas={settings['replicas']}", "set leader_election=true"))
    if settings.get("replicas") is not None and settings["replicas"] < 0:
        found.append(Problem("part-replicas", subject, "replicas", show(settings["replicas"]), "0 or more",
                             "leave it out for upstream's number"))
    digest = settings.get("digest")
    if digest and not DIGEST.fullmatch(digest):
        found.append(Problem("part-digest", subject, "digest", show(digest), DIGEST_RULE,
                             "take it from the registry"))
    if digest and len(part.images) > 1:
        found.append(Problem("part-digest-of-several", subject, "digest", show(digest),
                             f"no value, because {part.title} has {len(part.images)} images", "remove digest"))
    found += _image_problems(part, subject, settings)
    found += [Problem("part-feature-gate", subject, f"feature_gates.{name}", None if value is None else show(value),
                      "true or false", "correct it, or remove the gate for upstream's value")
              for name, value in (settings.get("feature_gates") or {}).items() if _gate(value) is None]
    found += [Problem("part-argument", subject, "arguments", show(argument), "a flag that begins with --",
                      "write it as --<name>=<value>")
              for argument in settings.get("arguments") or [] if not argument.startswith("--")]
    return found


def _image_problems(part: Part, subject: str, settings: Object) -> list[Problem]:
    given = settings.get("image")
    if not given:
        return []
    if len(part.images) > 1:
        return [Problem("part-image-of-several", subject, "image", show(given),
                        f"no value, because {part.title} has {len(part.images)} images", "remove image")]
    if settings.get("digest"):
        return [Problem("part-image", subject, "digest", show(settings["digest"]), "no value beside image",
                        "put it behind the image's name as @sha256:…, or remove it")]
    wanted = next(iter(part.images.values())).rpartition("/")[2]
    digest = f"@{DIGEST.pattern}"
    if re.fullmatch(rf"[^\s@]+/{re.escape(wanted)}(:[\w.-]+({digest})?|{digest})", given):
        return []
    return [Problem("part-image", subject, "image", show(given),
                    f"<registry>/<path>/{wanted} with a tag or a digest; by its last part the manager is found",
                    "push the image under such a name")]


def image(reference: str, version: str, mirror: str | None, digest: str | None) -> str:
    """Return the name of an image.

    :param reference: upstream's name without a tag
    :param version: its tag
    :param mirror: registry and path that the name is put behind, host included; None for upstream's registry
    :param digest: ``sha256:…``; then the tag only says what it is
    """
    name = f"{mirror.rstrip('/')}/{reference}" if mirror else reference
    return f"{name}:{version}" + (f"@{digest}" if digest else "")


def deployment(obj: Object, part: Part, settings: Object, version: str) -> Object:
    """Return a part's Deployment with its settings.

    Arguments, feature gates, log level and environment are the manager's, that is the first Deployment's of
    :attr:`Part.images`; all others are of each Deployment.

    :param obj: the Deployment as upstream ships it; is changed
    :param version: the part's version, for example ``v1.13.5``
    """
    name, pod = obj["metadata"]["name"], obj["spec"]["template"]["spec"]
    container = pod["containers"][0]
    if name in part.images:
        container["image"] = settings.get("image") or image(
            part.images[name], version, settings.get("image_registry_mirror"), settings.get("digest"))
        if settings.get("image"):
            # Its tag may say anything.
            obj["metadata"].setdefault("labels", {})[VERSION_LABEL] = version
        container["imagePullPolicy"] = settings.get("image_pull_policy") or "IfNotPresent"
    if settings.get("replicas") is not None:
        obj["spec"]["replicas"] = settings["replicas"]
    for option, field in (("node_selector", "nodeSelector"), ("affinity", "affinity"),
                          ("priority_class", "priorityClassName")):
        if settings.get(option):
            pod[field] = settings[option]
    if settings.get("tolerations") is not None:
        pod["tolerations"] = settings["tolerations"]
    if settings.get("pull_secrets"):
        pod["imagePullSecrets"] = [{"name": secret} for secret in settings["pull_secrets"]]
    if settings.get("resources"):
        container["resources"] = settings["resources"]
    variables = proxy_variables(settings.get("proxy"))
    if name == next(iter(part.images)):
        container["args"] = arguments(container.get("args") or [], part, settings)
        variables.update((key, str(value)) for key, value in (settings.get("environment") or {}).items())
        for number, mount in enumerate(settings.get("secret_mounts") or []):
            volume = f"metal3-baremetal-{number}"
            pod.setdefault("volumes", []).append({"name": volume, "secret": {"secretName": mount["secret"]}})
            container.setdefault("volumeMounts", []).append(
                {"name": volume, "mountPath": mount["path"], "readOnly": True})
    kept = [item for item in container.get("env") or [] if item["name"] not in variables]
    if variables:
        container["env"] = kept + [{"name": key, "value": value} for key, value in variables.items()]
    return obj


def arguments(shipped: list[str], part: Part, settings: Object) -> list[str]:
    """Return a manager's arguments: upstream's, in which what the settings name is replaced.

    :param shipped: as upstream ships them
    """
    result = list(shipped)
    gates = settings.get("feature_gates")
    if gates:
        flag = part.flags["feature_gates"]
        merged = dict(pair.split("=", 1) for item in result if _flag(item) == flag
                      for pair in item.partition("=")[2].split(",") if "=" in pair)
        merged.update((name, str(_gate(value)).lower()) for name, value in gates.items())
        result = _with(result, f"{flag}={','.join('='.join(pair) for pair in merged.items())}")
    if settings.get("log_level") is not None:
        result = _with(result, f"{part.flags['log_level']}={settings['log_level']}")
    elected = settings.get("leader_election")
    # Several replicas without it would work on the same objects at once.
    if elected is None and (settings.get("replicas") or 1) > 1 and "leader_election" in part.flags:
        elected = True
    if elected is not None:
        result = _with(result, f"{part.flags['leader_election']}={str(elected).lower()}")
    for argument in settings.get("arguments") or []:
        result = _with(result, argument)
    return result


def _gate(value: Any) -> bool | None:
    """Return whether a feature gate is on, None when the value does not say it; surveys give texts."""
    try:
        return bool(boolean(value))
    except TypeError:
        return None


def _flag(argument: str) -> str:
    return argument.partition("=")[0]


def _with(items: list[str], argument: str) -> list[str]:
    """Return arguments with one of them added, in place of the one for the same flag."""
    if any(_flag(item) == _flag(argument) for item in items):
        return [argument if _flag(item) == _flag(argument) else item for item in items]
    return items + [argument]


def proxy_variables(proxy: dict[str, str] | None) -> dict[str, str]:
    """Return the variables of a container by which its programs use a proxy.

    :param proxy: ``http``, ``https`` and ``no_proxy``
    """
    # Not all programs read the same spelling.
    return dict((spelling, value) for key, name in _PROXY for value in [(proxy or {}).get(key)] if value
                for spelling in (name, name.lower()))
