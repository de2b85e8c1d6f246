# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Providers' manifests: rendered from their own kustomization, labelled as clusterctl would."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Any

from ..._common.documents.document_text import DocumentError, from_yaml_all
from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import end_of
from .catalogue import (
    CLUSTERCTL_LABEL,
    CORE_LABEL,
    IRONIC_CONFIG_MAP,
    IRONIC_KEEPALIVED,
    IRONIC_MARIADB,
    MARIADB_PASSWORD,
    MOVE_HIERARCHY_LABEL,
    MOVE_LABEL,
    PROVIDER_LABEL,
    Part,
)

try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False

# clusterctl move finds the operator's objects only with these (Metal3 user guide, pivoting, for the first two kinds;
# the others have what a user has written, too).
MOVED_DEFINITIONS = dict({
    "baremetalhosts.metal3.io": (CLUSTERCTL_LABEL, MOVE_LABEL, MOVE_HIERARCHY_LABEL),
}, **dict((f"{plural}.metal3.io", (CLUSTERCTL_LABEL, MOVE_LABEL)) for plural in (
    "hardwaredata", "hostfirmwaresettings", "hostfirmwarecomponents", "hostupdatepolicies", "dataimages",
    "bmceventsubscriptions", "hostclaims", "hostdeploypolicies")))
# Of a program's folder in the cache; with a number that changes with what is made of upstream's manifests.
FOLDER = "manifests-2"
IRONIC_RENDERED = "ironic-manifests-3"

# In BMO's module.
IRONIC_FOLDER = "ironic-deployment"
_IRONIC_VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {"resources": ["../base"]},
    "basic-auth": {"resources": ["../base"], "components": ["../components/basic-auth"]},
    "tls": {"resources": ["../base"], "components": ["../components/tls"]},
    # With TLS the web server checks passwords: upstream's overlay patches it.
    "basic-auth_tls": {"resources": ["../overlays/basic-auth_tls"]},
}
# What the component of keepalived merges its settings into; whoever installs has settings of their own.
_SETTINGS = {"configMapGenerator": [{"name": IRONIC_CONFIG_MAP, "literals": ["PROVISIONING_IP="]}],
             "generatorOptions": {"disableNameSuffixHash": True}}
_WITHOUT_MARIADB = dict(_IRONIC_VARIANTS, **dict((name + IRONIC_KEEPALIVED, {
    "resources": ["../variant-" + name, "../settings"], "components": ["../components/keepalived"]})
    for name in _IRONIC_VARIANTS))
# Upstream has MariaDB with TLS only.
IRONIC_VARIANTS = dict(_WITHOUT_MARIADB, **dict((name + IRONIC_MARIADB, {
    "resources": ["../variant-" + name], "components": ["../components/mariadb"]})
    for name in _WITHOUT_MARIADB if "tls" in name))
# Whoever installs has settings and a password of their own.
_LEFT_OUT = (IRONIC_CONFIG_MAP, MARIADB_PASSWORD)

# In cert-manager's module; make/manifests.mk there makes a release of them in the same way.
CHART_FOLDER, CHART_DEFINITIONS = "deploy/charts/cert-manager", "deploy/crds"
CHART_NAMESPACE = "cert-manager"
# Helm itself says 1.20, which the chart refuses.
CHART_KUBERNETES = "v1.35.0"
CHART_VALUES = ("installCRDs=true", "creator=static", "startupapicheck.enabled=false")

_CLUSTER_SCOPED = ("Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding",
                   "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[=-])([^}]*))?\}")


class ManifestError(ReportedError):
    """A provider's manifests could not be rendered."""


def load(path: Any) -> Any:
    """Return the objects of a manifest file.

    :param path: file with YAML documents
    :raises ManifestError: for what is no YAML
    """
    with open(path, "rb") as stream:
        content = stream.read()
    try:
        return [obj for obj in from_yaml_all(content) if obj]
    except DocumentError as exc:
        raise ManifestError(f"{path}: found {exc}, expected YAML documents; delete it, then run the module "
                            "plane_programs") from None


def parse(text: str, values: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Return the objects of a manifest's text, with its variables replaced.

    :param text: YAML documents with ``${NAME}``
    :param values: dict NAME → text
    :raises ManifestError: for a name without a value, and for what is no manifest
    """
    try:
        objects = [obj for obj in from_yaml_all(substitute(text, values)) if obj]
    except DocumentError as exc:
        raise ManifestError(str(exc)) from None
    if not all(isinstance(obj, dict) and isinstance(obj.get("kind"), str) and isinstance(obj.get("apiVersion"), str)
               and isinstance(obj.get("metadata"), dict) for obj in objects):
        raise ManifestError("found a document that is no object with apiVersion, kind and metadata")
    return objects


def dump(objects: Any, path: Any) -> None:
    """Write objects to a manifest file.

    :param objects: list of dicts
    :param path: file to write
    """
    with open(path, "w", encoding="utf-8") as stream:
        yaml.dump_all(objects, stream, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), default_flow_style=False)


def substitute(text: str, values: dict[str, str] | None = None) -> str:
    """Return a text with its ``${NAME}`` replaced as clusterctl (envsubst) does.

    ``${NAME:=default}`` and ``${NAME:-default}`` take the default when NAME is missing or empty, ``${NAME=default}``
    and ``${NAME-default}`` when it is missing.

    :param text: the text
    :param values: dict NAME → text
    :raises ManifestError: with all names that have neither value nor default
    """
    values = values or {}
    unknown = []

    def replacement(match: Any) -> str:
        name, operator, default = match.groups()
        value = values.get(name)
        if value is None or (value == "" and operator and operator.startswith(":")):
            if operator is None:
                unknown.append(name)
                return match.group(0)
            return default
        return value

    result = _VARIABLE.sub(replacement, text)
    if unknown:
        raise ManifestError(f"no value for {', '.join(sorted(set(unknown)))}")
    return result


def service_account(objects: list[dict[str, Any]]) -> tuple[str, str]:
    """Return namespace and name of the service account that a provider's manager runs under.

    :param objects: the provider's objects, with its Deployment
    :raises ManifestError: when there is not just one Deployment
    """
    found = [obj for obj in objects if obj["kind"] == "Deployment"]
    if len(found) != 1:
        raise ManifestError(f"expected one Deployment, found {len(found)}")
    return found[0]["metadata"]["namespace"], found[0]["spec"]["template"]["spec"]["serviceAccountName"]


def complete(objects: list[dict[str, Any]], provider: Part, version: str) -> list[dict[str, Any]]:
    """Return a provider's objects as ``clusterctl init`` would install them.

    A missing Namespace is added, every object gets clusterctl's labels, and the provider its inventory entry, by
    which ``clusterctl move``, ``describe`` and ``upgrade`` find it. The input is changed.

    :param objects: rendered objects
    :param provider: a Part
    :param version: for example ``v1.13.2``
    """
    namespace = service_account(objects)[0]
    if not any(obj["kind"] == "Namespace" for obj in objects):
        objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}] + objects
    if provider.label:
        labels = {CLUSTERCTL_LABEL: "", PROVIDER_LABEL: provider.label}
        objects = objects + [{
            "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3",
            "kind": "Provider",
            "metadata": {"name": provider.label, "namespace": namespace, "labels": {CORE_LABEL: "inventory"}},
            "providerName": provider.provider_name,
            "type": provider.type,
            "version": version,
        }]
        for obj in objects:
            obj["metadata"].setdefault("labels", {}).update(labels)
    for obj in objects:
        if obj["kind"] == "CustomResourceDefinition":
            for label in MOVED_DEFINITIONS.get(obj["metadata"]["name"], ()):
                obj["metadata"].setdefault("labels", {})[label] = ""
        if obj["kind"] not in _CLUSTER_SCOPED:
            obj["metadata"].setdefault("namespace", namespace)
    return objects


def inventory_definition(path: Any) -> Any:
    """Return clusterctl's own definition of its inventory, labelled as clusterctl does.

    :param path: the manifest in the Cluster API module
    """
    objects = load(path)
    for obj in objects:
        obj["metadata"].setdefault("labels", {})[CORE_LABEL] = "inventory"
    return objects


def render(provider: Any, version: Any, module_dir: Any, kubectl: Any, scratch: Any, path: Any,
           extra: Any = ()) -> None:
    """Render one provider's ``config/default`` to a manifest file.

    :param provider: a Part
    :param version: the module's version
    :param module_dir: the module's folder in Go's module cache; only read
    :param kubectl: the program
    :param scratch: folder to work in; is made, and emptied before
    :param path: file to write
    :param extra: further objects, written as they are
    :raises ManifestError: naming the provider
    """
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(os.path.join(module_dir, provider.folder, "config"), os.path.join(scratch, "config"))
    try:
        text = _kustomized(kubectl, os.path.join(scratch, "config", "default"))
        dump(list(extra) + complete(parse(text), provider, version), path)
    except ManifestError as exc:
        raise ManifestError(f"provider {provider.name}: {exc}") from exc


def _kustomized(kubectl: Any, directory: str) -> str:
    return _output([kubectl, "kustomize", directory])


def _output(command: list[str], environ: dict[str, str] | None = None) -> str:
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            check=False, universal_newlines=True, env=environ)
    if result.returncode:
        raise ManifestError(f"{os.path.basename(command[0])} {command[1]} failed (exit code {result.returncode}): "
                            f"{end_of(' '.join(result.stderr.split()), 1000)}")
    return result.stdout


def render_chart(version: str, module_dir: str, helm: str, scratch: str, path: str) -> None:
    """Render cert-manager's chart to the manifest file that its release has.

    :param version: the module's version, which the chart in the module does not name
    :param module_dir: the module's folder in Go's module cache; only read
    :param helm: the program
    :param scratch: folder to work in; is made, and emptied before
    :param path: file to write
    :raises ManifestError: with what helm says
    :raises OSError: when the module has no such chart
    """
    shutil.rmtree(scratch, ignore_errors=True)
    chart = os.path.join(scratch, "chart")
    shutil.copytree(os.path.join(module_dir, CHART_FOLDER), chart, copy_function=shutil.copyfile)
    for directory in (chart, os.path.join(chart, "templates")):
        os.chmod(directory, 0o755)
    described = load(os.path.join(chart, "Chart.template.yaml"))[0]
    dump([dict(described, version=version, appVersion=version)], os.path.join(chart, "Chart.yaml"))
    source = os.path.join(module_dir, CHART_DEFINITIONS)
    for name in sorted(os.listdir(source)):
        if name.endswith(".yaml"):
            shutil.copyfile(os.path.join(source, name), os.path.join(chart, "templates", name))
    # So that it reads no configuration of the user's.
    own = dict((f"HELM_{kind}_HOME", os.path.join(scratch, "helm")) for kind in ("CACHE", "CONFIG", "DATA"))
    command = [helm, "template", CHART_NAMESPACE, chart, f"--namespace={CHART_NAMESPACE}",
               f"--kube-version={CHART_KUBERNETES}", *(f"--set={value}" for value in CHART_VALUES)]
    text = _output(command, dict(os.environ, **own))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CHART_NAMESPACE}}
    dump([namespace, *parse(text)], path)


def render_ironic(module_dir: str, kubectl: str, scratch: str, directory: str) -> None:
    """Render the variants of BMO's ``ironic-deployment`` to a file each.

    :param module_dir: BMO's folder in Go's module cache; only read
    :param kubectl: the program
    :param scratch: folder to work in; is made, and emptied before
    :param directory: folder to write to
    :raises ManifestError: with what kubectl says
    """
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(os.path.join(module_dir, IRONIC_FOLDER), scratch, copy_function=shutil.copyfile)
    os.chmod(scratch, 0o755)
    _kustomization(os.path.join(scratch, "settings"), _SETTINGS)
    component = os.path.join(scratch, "components", "mariadb", "kustomization.yaml")
    # So that its Secret has a name that can be given.
    dump([dict(item, generatorOptions=_SETTINGS["generatorOptions"]) for item in load(component)], component)
    for name, kustomization in IRONIC_VARIANTS.items():
        folder = os.path.join(scratch, "variant-" + name)
        _kustomization(folder, kustomization)
        dump([obj for obj in parse(_kustomized(kubectl, folder)) if obj["metadata"]["name"] not in _LEFT_OUT],
             os.path.join(directory, name + ".yaml"))


def _kustomization(folder: str, content: dict[str, Any]) -> None:
    os.mkdir(folder)
    dump([dict({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}, **content)],
         os.path.join(folder, "kustomization.yaml"))
