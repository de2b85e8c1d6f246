# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a cluster of a plane's parts, and whether it fits with itself and with what is to be installed; pure."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.text_table import lines
from ..._ironic.fitness.checks import OPERATOR_MINOR
from ..._kube.objects.deployments import has_available_pod, wants_pods
from ..._metal3.kinds import KNOWN
from . import matrix
from .catalogue import BY_NAME, IRONIC, PARTS, PROVIDER_LABEL, Part

Object = dict[str, Any]

CONTRACT_LABEL = re.compile(r"cluster\.x-k8s\.io/(v\d+\w*)")
VERSION_LABEL = "app.kubernetes.io/version"
MANAGER_LABEL = "app.kubernetes.io/managed-by"
# Of the definitions of a part that runs as a process and has no entry in clusterctl's inventory.
VERSION_ANNOTATION = "metal3.baremetal/version"
_VERSION = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})\S*")
_UNKNOWN = "version not known"
# Tags are what somebody has called an image.
_TAG = re.compile(r"v\d+\.\d+\.\d+[0-9A-Za-z.+-]*")
# Of ironic-image's branches, each of which has one release of Ironic.
_BRANCH = re.compile(r"release-(\d{1,9})\.(\d{1,9})")


class Found(NamedTuple):
    """A part as it is in a cluster.

    :ivar version: its version, or None when nothing says which
    :ivar source: what says so, for a reader
    :ivar namespace: where its pods or its inventory entry are, or None
    :ivar unavailable: Deployments of it without an available pod
    :ivar managers: Deployment of it → value of its label ``app.kubernetes.io/managed-by``, or None
    """

    version: str | None
    source: str
    namespace: str | None
    unavailable: tuple[str, ...]
    managers: tuple[tuple[str, str | None], ...] = ()


class Plane(NamedTuple):
    """What is in a cluster.

    :ivar kubernetes: version of its API server
    :ivar parts: part's name → Found; only of parts that are there
    :ivar definitions: name → CustomResourceDefinition, of all groups
    """

    kubernetes: str | None
    parts: dict[str, Found]
    definitions: dict[str, Object]


class Planned(NamedTuple):
    """A part as it is to be installed.

    :ivar version: its version, or None when nothing says which
    :ivar objects: its objects
    """

    version: str | None
    objects: list[Object]


def plane(kubernetes: str | None, providers: list[Object], deployments: list[Object],
          definitions: list[Object]) -> Plane:
    """Return what is in a cluster.

    :param kubernetes: version of the API server, or None
    :param providers: entries of clusterctl's inventory
    :param deployments: Deployments of all namespaces that may be read
    :param definitions: CustomResourceDefinitions
    """
    named = dict((item["metadata"]["name"], item) for item in definitions)
    found = dict((part.name, _found(part, providers, deployments, named)) for part in PARTS)
    found[IRONIC.name] = _ironic(deployments)
    return Plane(kubernetes, dict((name, item) for name, item in found.items() if item is not None), named)


def _found(part: Part, providers: list[Object], deployments: list[Object],
           definitions: Mapping[str, Object]) -> Found | None:
    running = [(item, tag) for item in deployments for tag in [_tag(part, item)] if tag is not None]
    named = [(f"{item['metadata']['namespace']}/{item['metadata']['name']}", item) for item, _tag_ in running]
    unavailable = tuple(name for name, item in named if wants_pods(item) and not has_available_pod(item))
    managers = tuple((name, (item["metadata"].get("labels") or {}).get(MANAGER_LABEL)) for name, item in named)
    entries = [item for item in providers
               if part.type and (item.get("type"), item.get("providerName")) == (part.type, part.provider_name)]
    if entries:
        where = entries[0]["metadata"]
        return Found(entries[0].get("version"), f"Provider {where['namespace']}/{where['name']}", where["namespace"],
                     unavailable, managers)
    for item, tag in running:
        where = item["metadata"]
        label = (where.get("labels") or {}).get(VERSION_LABEL)
        version = label if label and _VERSION.fullmatch(label) else tag if _TAG.fullmatch(tag) else None
        return Found(version, f"Deployment {where['namespace']}/{where['name']}", where["namespace"], unavailable,
                     managers)
    own = own_definitions(part, definitions)
    noted = set((item["metadata"].get("annotations") or {}).get(VERSION_ANNOTATION) for item in own)
    # Of a run that was killed between two definitions the older one counts.
    version = min(noted, key=number, default=None)
    return Found(version if number(version) else None, "definitions", None, ()) if own else None


def _ironic(deployments: list[Object]) -> Found | None:
    """Return the Ironic in a cluster by its image's tag, the only thing that says its version; None without one."""
    for item in sorted(deployments, key=lambda entry: entry["metadata"]["name"] not in IRONIC.images):
        tag, where = _tag(IRONIC, item), item["metadata"]
        if tag is not None:
            name = f"{where['namespace']}/{where['name']}"
            return Found(release_of_tag(tag), f"Deployment {name}", where["namespace"], (),
                         ((name, (where.get("labels") or {}).get(MANAGER_LABEL)),))
    return None


def release_of_tag(tag: str | None) -> str | None:
    """Return the version that a tag of Ironic's image names, None for one that says nothing of it, as ``latest``.

    :param tag: a release's, ``v35.0.0``, or a branch's, ``release-35.0``
    """
    branch = _BRANCH.fullmatch(tag or "")
    if branch:
        return f"v{branch.group(1)}.{branch.group(2)}.0"
    return tag if tag and _TAG.fullmatch(tag) else None


def tag_of_ironic(deployment: Object) -> str | None:
    """Return the tag of Ironic's image in a Deployment, None when it has none of Ironic."""
    return _tag(IRONIC, deployment)


def runs_part(part: Part, deployment: Object) -> bool:
    """Say whether a Deployment runs the manager of a part."""
    return _tag(part, deployment) is not None


def is_of_plane(deployment: Object) -> bool:
    """Say whether a Deployment runs the manager of one of the parts."""
    return any(runs_part(part, deployment) for part in PARTS)


def namespaces(deployments: Iterable[Object]) -> list[str]:
    """Return the namespaces in which parts of the plane and Ironic run, wherever somebody has put them.

    :param deployments: of all namespaces
    """
    return sorted(set(item["metadata"]["namespace"] for item in deployments
                      if is_of_plane(item) or runs_part(IRONIC, item)))


def _tag(part: Part, deployment: Object) -> str | None:
    """Return the tag of the image of a part's manager; None when the Deployment is not the part's."""
    wanted = next(iter(part.images.values())).rpartition("/")[2]
    # Logs are gathered of whatever is there.
    template = (deployment.get("spec") or {}).get("template") or {}
    for container in (template.get("spec") or {}).get("containers") or []:
        name = str(container.get("image") or "").partition("@")[0]
        last = name.rpartition("/")[2]
        if last.partition(":")[0] == wanted:
            return last.partition(":")[2]
    return None


def own_definitions(part: Part, definitions: Mapping[str, Object]) -> list[Object]:
    """Return a part's definitions: those with its label, for one without a label those of its group.

    :param definitions: name → CustomResourceDefinition
    """
    group = part.probe["apiVersion"].partition("/")[0]
    return [item for _name, item in sorted(definitions.items())
            if (item["metadata"].get("labels") or {}).get(PROVIDER_LABEL) == part.label
            and (part.label is not None or item["spec"]["group"] == group)]


def problems(there: Plane, planned: Mapping[str, Planned], wanted: Iterable[str]) -> tuple[list[Problem], list[str]]:
    """Return what does not fit, and warnings.

    :param there: what is in the cluster
    :param planned: part's name → what is to be installed
    :param wanted: names of the parts that must be there, or in ``planned``; of them is what is refused
    """
    wanted = list(wanted)
    versions = dict((name, item.version) for name, item in there.parts.items())
    versions.update((name, item.version) for name, item in planned.items())
    found = [problem for name in wanted if name not in planned for problem in _present(name, there)]
    found += _kubernetes(there, versions, wanted)
    minors, warnings = _minors(versions, planned, wanted)
    found += minors + _operator(versions, wanted)
    found += [problem for name in wanted for problem in _contract(name, there, planned, versions)]
    found += [problem for item in planned.values() for problem in _stored(item, there)]
    warnings += [f"part {name}: version not known: found {there.parts[name].source} alone; only its definitions were "
                 "checked" for name in wanted if name in there.parts and name not in planned
                 and there.parts[name].version is None]
    return found, warnings


def _present(name: str, there: Plane) -> list[Problem]:
    """Return what lacks of a part that somebody else runs."""
    part, item = BY_NAME[name], there.parts.get(name)
    subject = f"part {name}"
    if item is None:
        return [Problem("part-missing", subject, None, f"no {part.title}", f"{part.title} in the cluster",
                        "install it, or correct the kubeconfig")]
    found = [Problem("part-unavailable", subject, None, f"Deployment {where} without an available pod",
                     "at least one", f"look at it by: kubectl -n {where.partition('/')[0]} describe pods")
             for where in item.unavailable]
    served = set((spec["group"], version["name"], spec["names"]["kind"])
                 for definition in there.definitions.values() for spec in [definition["spec"]]
                 for version in spec["versions"] if version.get("served", True))
    for api_version, kind in part.managed:
        group, _slash, version = api_version.partition("/")
        known = KNOWN.get(kind)
        older = [item.version for item in known.older] if known and known.api_version == api_version else []
        if not any((group, name, kind) in served for name in (version, *older)):
            others = sorted(entry[1] for entry in served if (entry[0], entry[2]) == (group, kind))
            found.append(Problem("part-version-not-served", subject, kind, ", ".join(others) or "no such kind",
                                 f"{' or '.join((version, *older))}, which this collection reads and writes",
                                 f"upgrade {part.title}"))
    return found


def _kubernetes(there: Plane, versions: Mapping[str, str | None], wanted: list[str]) -> list[Problem]:
    # A plane of processes may get another one first.
    version = versions.get("kubernetes") or there.kubernetes
    core, running = number(versions.get("capi")), number(version)
    limits = matrix.KUBERNETES.get(core[1]) if core[:1] == (1,) else None
    # Who installs or uses only another part has asked, or will ask, this of Cluster API.
    if "capi" not in wanted or limits is None or not running:
        return []
    first, last = limits
    patch = matrix.FIRST_PATCH.get((core[1], running[1]))
    if running[0] == 1 and (first <= running[1] <= last or (patch is not None and core[2] >= patch)):
        return []
    return [Problem("plane-kubernetes", "part capi", "version", f"{versions['capi']} in Kubernetes {version}",
                    f"Kubernetes v1.{first} to v1.{last}",
                    "upgrade the cluster" if running < (1, first) else "take a newer Cluster API")]


def _minors(versions: Mapping[str, str | None], planned: Mapping[str, Planned],
            wanted: list[str]) -> tuple[list[Problem], list[str]]:
    """Return problems with parts that are not of Cluster API's minor, and warnings of those to upgrade next."""
    core, found, warnings = number(versions.get("capi")), [], []
    for name in matrix.SAME_MINOR:
        mine = number(versions.get(name))
        if not core or not mine or not {name, "capi"} & set(wanted):
            continue
        same = mine == core if name in matrix.SAME_VERSION else mine[:2] == core[:2]
        if same:
            continue
        text = f"{BY_NAME[name].title} {versions[name]} with Cluster API {versions['capi']}"
        # On the way of an upgrade, which begins with the core.
        if "capi" in planned and name not in planned and mine < core and core[1] - mine[1] <= 1:
            warnings.append(f"part {name}: {text}: upgrade it next")
            continue
        found.append(Problem("plane-same-minor", f"part {name}", "version", text,
                             f"{versions['capi']}" if name in matrix.SAME_VERSION else
                             f"v{core[0]}.{core[1]}.x", "install versions that are released for each other"))
    return found, warnings


def _operator(versions: Mapping[str, str | None], wanted: list[str]) -> list[Problem]:
    provider, operator = number(versions.get("capm3")), number(versions.get("bmo"))
    limits = matrix.OPERATOR.get(provider[1]) if provider[:1] == (1,) else None
    if limits is None or not operator or not {"capm3", "bmo"} & set(wanted):
        return []
    first, last = limits
    if operator[0] == 0 and first <= operator[1] <= last:
        return []
    return [Problem("plane-operator", "part bmo", "version", f"{versions['bmo']} with CAPM3 {versions['capm3']}",
                    f"v0.{first}.x or v0.{last}.x", "install versions that are released for each other")]


def _contract(name: str, there: Plane, planned: Mapping[str, Planned],
              versions: Mapping[str, str | None]) -> list[Problem]:
    """Return a problem when Cluster API knows none of the contract versions that a provider's definitions name."""
    part, core = BY_NAME[name], number(versions.get("capi"))
    known = matrix.CONTRACTS.get(core[1]) if core[:1] == (1,) else None
    if known is None or part.label is None or name == "capi":
        return []
    offered = _offered(part, planned.get(name), there)
    if not offered or set(offered) & set(known):
        return []
    return [Problem("plane-contract", f"part {name}", "contract", ", ".join(offered),
                    f"{' or '.join(known)}, which Cluster API {versions['capi']} knows",
                    f"take a {part.title} for this Cluster API")]


def _offered(part: Part, item: Planned | None, there: Plane) -> list[str]:
    """Return the versions of the contract that a part will implement: the catalogue's until manifests are rendered."""
    if item is None:
        return contracts(part, own_definitions(part, there.definitions))
    if item.objects:
        return contracts(part, item.objects)
    return [part.contract] if part.contract and part.label else []


def contracts(part: Part, objects: Iterable[Object]) -> list[str]:
    """Return the versions of Cluster API's contract that a part's definitions name.

    :param objects: of the part
    """
    return sorted(set(match.group(1) for item in objects if item["kind"] == "CustomResourceDefinition"
                      for label in item["metadata"].get("labels") or {} for match in [CONTRACT_LABEL.fullmatch(label)]
                      if match)) if part.label else []


def _stored(item: Planned, there: Plane) -> list[Problem]:
    """Return problems with definitions of which objects may be stored in a version that the new one does not have."""
    found = []
    for definition in item.objects:
        current = there.definitions.get(definition["metadata"]["name"])
        if definition["kind"] != "CustomResourceDefinition" or current is None:
            continue
        known = [version["name"] for version in definition["spec"]["versions"]]
        lost = [version for version in (current.get("status") or {}).get("storedVersions") or []
                if version not in known]
        if lost:
            found.append(Problem(
                "plane-stored-version", f"CustomResourceDefinition {definition['metadata']['name']}",
                "status.storedVersions", ", ".join(lost), f"only {', '.join(known)}, which the new definition has",
                "install the versions between one after the other: each migrates what is stored"))
    return found


def number(version: Any) -> tuple[int, ...]:
    """Return the three numbers of a version; nothing of what is no version."""
    match = _VERSION.fullmatch(str(version or ""))
    return tuple(int(text) for text in match.groups()) if match else ()


def rows(there: Plane, planned: Mapping[str, Planned]) -> list[dict[str, Any]]:
    """Return the matrix: a row for Kubernetes and one for each part that is there or planned.

    :param there: what is there
    :param planned: part's name → what is to be installed; of a plane of processes also what is no part in a cluster
    :returns: dicts ``name``, ``found``, ``source``, ``planned``, ``changes``, ``contracts``, ``stored`` and ``needs``
    """
    result = [dict(_base_row("kubernetes", there, planned), source="API server")]
    result[0]["found"] = there.kubernetes or result[0]["found"]
    result += [_base_row(name, there, planned) for name in planned if name not in (*BY_NAME, "kubernetes")]
    if IRONIC.name in there.parts and IRONIC.name not in planned:
        result.append(_base_row(IRONIC.name, there, planned))
    for part in PARTS:
        item, mine = there.parts.get(part.name), planned.get(part.name)
        if item is None and mine is None:
            continue
        own = own_definitions(part, there.definitions)
        result.append({
            "name": part.name, "found": item.version if item else None, "source": item.source if item else None,
            "planned": mine.version if mine else None, "changes": mine is not None,
            "contracts": _offered(part, mine, there),
            "stored": sorted(set(version for definition in own
                                 for version in (definition.get("status") or {}).get("storedVersions") or [])),
            "needs": _needs(part.name, number((mine or item or Found(None, "", None, ())).version))})
    return result


def _base_row(name: str, there: Plane, planned: Mapping[str, Planned]) -> dict[str, Any]:
    """Return the row of what has no definitions."""
    item, mine = there.parts.get(name), planned.get(name)
    return {"name": name, "found": item.version if item else None, "source": item.source if item else None,
            "planned": mine.version if mine else None, "changes": mine is not None,
            "contracts": [], "stored": [], "needs": []}


def _needs(name: str, version: tuple[int, ...]) -> list[str]:
    """Return what a version of a part needs, for a reader."""
    minor = version[1] if version else None
    if name == "capi" and minor in matrix.KUBERNETES:
        return ["Kubernetes v1.%d to v1.%d" % matrix.KUBERNETES[minor]]
    if name in matrix.SAME_MINOR and version:
        result = [f"Cluster API v1.{version[1]}"]
        if name == "capm3" and minor in matrix.OPERATOR:
            result.append("Bare Metal Operator v0.%d to v0.%d" % matrix.OPERATOR[minor])
        return result
    return [f"Ironic API 1.{OPERATOR_MINOR}"] if name == "bmo" else []


def table(entries: list[dict[str, Any]]) -> list[str]:
    """Return the matrix as lines of text.

    :param entries: from :func:`rows`
    """
    return lines(["part", "found", "planned", "contracts", "stored", "needs"], [
        [row["name"], row["found"] or (_UNKNOWN if row["source"] else "none"),
         row["planned"] or (_UNKNOWN if row["changes"] else "unchanged"),
         *(", ".join(row[name]) or "-" for name in ("contracts", "stored", "needs"))] for row in entries])
