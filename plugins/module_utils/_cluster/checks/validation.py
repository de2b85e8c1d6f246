# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a cluster description that need nothing but the description; pure.

Sources: the webhooks and CRDs of Cluster API 1.13, CAPM3 1.13 and IPAM 1.13, and what their controllers refuse later.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..._common import ip_texts
from ..._common.field_checks import LABEL_KEY_RULE, LABEL_VALUE_RULE, is_label_key, is_label_value, show, shown, text_of
from ..._common.formats import moment
from ..._common.problem import Problem
from ..._ipam.validation import pool_problems
from .. import addon as cluster_addon
from .. import description as cluster_description
from .. import endpoint as cluster_endpoint
from .. import registries as cluster_registries
from ..model import CONTROL_PLANE, FAMILIES, ClusterDescription
from ..render import kubeadm as cluster_kubeadm
from ..render.network import attached
from ..render.objects import render
from ..render.preallocations import preallocation_problems
from ..spec import METALSTACK, NAME_RULE
from ..workflow.snapshot import OWNER_LABELS
from .address import endpoint_problems, overlap_problems
from .image import image_problems
from .links import link_problems
from .metalstack import metalstack_problems
from .node_labels import label_problems
from .topology import topology_problems
from .versions import parse

# A Machine's name is <owner>-<hash>-<suffix>, and a node's name has at most 63 characters.
_LONGEST_OWNER_NAME = 63 - 17
_METADATA_FORMS = ("strings", "objectNames", "indexes", "namespaces", "ipAddressesFromPool", "prefixesFromPool",
                   "gatewaysFromPool", "fromHostInterfaces", "fromLabels", "fromAnnotations")
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
# Of a control plane, with etcd on its machines (KubeadmControlPlane's remediation).
_REPLACED_FROM_REPLICAS = 3
_FEWEST_RENEWAL_DAYS = 7
_PERMISSIONS = re.compile(r"^0?[0-7]{3,4}$")
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Checked(NamedTuple):
    """A description and all that is wrong with it.

    :param description: as read
    :param mistakes: of types and names of options
    :param problems: all others
    :param objects: the objects of the cluster, none when anything is wrong
    """

    description: ClusterDescription
    mistakes: list[Problem]
    problems: list[Problem]
    objects: list[dict[str, Any]]


def check_description(params: Mapping[str, Any]) -> Checked:
    """Read and check a description, and render it when nothing is wrong with it.

    :param params: as ``description.read`` takes them
    """
    description, mistakes = cluster_description.read(params)
    if not mistakes:
        problems, objects = _checked_and_rendered(description)
        return Checked(description, [], problems, objects)
    rest, paths = cluster_description.without_mistakes(params)
    sound = cluster_description.read(rest)[0]
    return Checked(description, mistakes, [
        line for line in description_problems(sound) if not _follows(line, paths)], [])


def _follows(line, paths):
    """Return whether a Mistake only says that something is missing which was removed for its own mistakes."""
    field = line.field or ""
    # An option of the cluster is one of each of its groups.
    return bool(paths & set(re.split(r"[.\[\]]+", field))) \
        or any(re.match(re.escape(path) + r"(?=$|[.\[])", field) for path in paths)


def description_problems(description: ClusterDescription) -> list[Problem]:
    """Return every problem of a description."""
    return _checked_and_rendered(description)[0]


def _checked_and_rendered(description):
    """Return every problem of a description, and the objects of one that has none.

    Rules that compare parts of it are applied to those parts that are right in themselves.
    """
    subject = description.subject
    found = _identity(subject, description) + cluster_addon.option_problems(subject, description)
    found += metalstack_problems(subject, description) + topology_problems(subject, description)
    networks = network_problems(subject, description) + link_problems(subject, description)
    if description.endpoint and not networks:
        networks = cluster_endpoint.holder_problems(subject, description)
    found += networks + cluster_registries.problems(subject, description)
    for group in description.groups:
        found += _group(subject, description, group)
    # Groups have mistakes in options of the whole cluster in common.
    found = list(dict.fromkeys(found))
    sound = _sound_part(description, found)
    needed = {} if _wrong(found, r".*\.(replicas|autoscaler|max_surge|attached_networks)\b.*") \
        else addresses_needed(sound)
    pools = pool_problems(sound.pools, sound.namespace, needed=needed)
    whole = not found and not pools
    found += pools
    if not pools:
        found += overlap_problems(subject, sound)
        found += endpoint_problems(subject, sound) if sound.endpoint else []
    if not whole:
        return found, []
    found += preallocation_problems(subject, description)
    objects = []
    try:
        objects = render(description)
    except ValueError as exc:
        found.append(Problem("version", subject, "", str(exc), f"fields that {description.api_version} has"))
    return found, [] if found else objects


def _sound_part(description, found):
    """Return a description with only those networks and addresses that no mistake is about."""
    networks = dict((name, network) for name, network in description.networks.items()
                    if not _wrong(found, rf"networks\.{re.escape(name)}(\.(?!pre_allocations).*)?"))
    return replace(
        description, networks=networks, endpoint=None if _wrong(found, r"endpoint\b.*") else description.endpoint,
        **dict((option, [] if _wrong(found, option + r"\b.*") else getattr(description, option))
               for option in ("pod_cidrs", "service_cidrs")))


def _wrong(found, fields):
    return any(re.fullmatch(fields, line.field or "", re.DOTALL) for line in found)


def description_warnings(description):
    """Return what of a description works and will be regretted, as lines.

    :param description: one without problems
    """
    fields = [f"networks.{name}.{family}.pool_annotation" for name in sorted(description.networks)
              for family in FAMILIES if (description.networks[name].get(family) or {}).get("pool_annotation")]
    fields += [f"{group.field}.network_data" for group in description.groups
               if _mentions(group.get("network_data"), "fromPoolAnnotation")]
    subject = description.subject
    warnings = [f"{subject}: {field}: CAPM3 1.13 does not give back an address from a pool that an annotation names: "
                "the IPClaim of a deleted machine stays, held by CAPM3's finalizer; name the pool itself (option "
                "pool)" for field in fields]
    holder = cluster_endpoint.holder_warning(description)
    if holder:
        field, actual, advice = holder
        warnings.append(f"{subject}: {field}: {actual}; {advice}")
    for group in description.groups:
        replicas, check = group.initial_replicas, group.get("health_check")
        if group.is_control_plane and check and check["enabled"] and replicas < _REPLACED_FROM_REPLICAS:
            warnings.append(
                f"{subject}: {group.field}.health_check: found {replicas} replicas, expected {_REPLACED_FROM_REPLICAS} "
                "or more; a machine is rebooted with reboot_retry_limit and never replaced, because etcd would lose "
                "its quorum with it")
    return warnings


def _mentions(value, key):
    if isinstance(value, dict):
        return key in value or any(_mentions(item, key) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, key) for item in value)


def addresses_needed(description):
    """Return how many addresses each pool must have: one for each machine, and for those that a rollout adds."""
    needed = {}
    for group in description.groups:
        largest = group.largest_replicas
        names = attached(description, group)
        for network, _family, _settings, pool in description.pool_uses:
            if network in names:
                needed[pool] = needed.get(pool, 0) + (
                    group.initial_replicas if largest is None else largest) + surge(group)
    return needed


def surge(group):
    """Return how many machines more than its replicas a group has during a rollout."""
    value, replicas = group.get("max_surge"), group.largest_replicas
    if replicas is None:
        replicas = group.initial_replicas
    if replicas == 0:
        return 0
    if value is None:
        return 1
    if str(value).endswith("%"):
        return -(-replicas * int(str(value)[:-1]) // 100)
    return int(value)


def _identity(subject, description):
    found = []
    if not re.match(NAME_RULE, description.name):
        found.append(
            Problem("cluster-name", subject, "name", shown(description.name), "lower case letters, digits and dashes")
        )
    if not parse(description.kubernetes_version):
        found.append(Problem("version", subject, "kubernetes_version", shown(description.kubernetes_version),
                             "a version such as v1.35.4"))
    endpoint = description.endpoint
    if not endpoint:
        # A class of the user's knows it.
        found += [] if description.cluster_class else [
            Problem("endpoint", subject, "endpoint", None, "host and port of the API server")]
    elif not 1 <= endpoint["port"] <= 65535:
        found.append(Problem("endpoint", subject, "endpoint.port", shown(endpoint["port"]), "1 to 65535"))
    for option in ("pod_cidrs", "service_cidrs"):
        found += _cidrs(subject, option, getattr(description, option))
    domains = [domain["name"] for domain in description.failure_domains or []]
    for name in sorted(set(name for name in domains if domains.count(name) > 1)):
        found.append(Problem("reference", subject, "failure_domains", f"{name} twice", "one entry for each domain"))
    wanted = description.node_ip_network
    if wanted and wanted not in description.networks:
        found.append(Problem("reference", subject, "node_ip_network", shown(wanted), _one_of(description.networks)))
    elif wanted and wanted not in [network for network, _family, _settings, _pool in description.pool_uses]:
        found.append(Problem("reference", subject, "node_ip_network", shown(wanted),
                             "a network with addresses from a pool"))
    return found


def _one_of(names):
    return "one of %s" % (", ".join(sorted(names)) or "no networks, for none is described")


def _cidrs(subject, option, cidrs):
    found, versions = [], []
    for number, text in enumerate(cidrs):
        try:
            versions.append(ip_texts.network(text).version)
        except ValueError as exc:
            found.append(Problem("network", subject, f"{option}[{number}]", f"{text} ({exc})",
                                 "a network such as 10.244.0.0/16"))
    if len(versions) > 2 or len(set(versions)) != len(versions):
        found.append(
            Problem("network", subject, option, ", ".join(cidrs), "at most one network of each address family")
        )
    return found


def network_problems(subject, description):
    """Return the mistakes in a description's networks."""
    found = []
    networks = description.networks
    for name in sorted(networks):
        network, field = networks[name], f"networks.{name}"
        if not re.match(NAME_RULE, name):
            found.append(Problem("network", subject, field, shown(name),
                                 "a name of lower case letters, digits and dashes"))
        if not 1280 <= network["mtu"] <= 9000:
            found.append(Problem("network", subject, field + ".mtu", shown(network["mtu"]), "1280 to 9000 (CAPM3 CRD)"))
        given = [key for key in ("interface", "bond", "vlan") if network.get(key)]
        if len(given) > 1:
            found.append(Problem("network", subject, field, " and ".join(given), "one of interface, bond and vlan"))
        found += _vlan(subject, field, name, networks)
        if network.get("bond") and len(set(network["bond"]["interfaces"])) < 2:
            found.append(Problem(
                "network", subject, field + ".bond.interfaces", ", ".join(network["bond"]["interfaces"]) or None,
                "at least two interfaces"))
        for family in ("ipv4", "ipv6"):
            found += _family(subject, f"{field}.{family}", network.get(family))
    identities = [networks[name]["vlan"]["id"] for name in networks if networks[name].get("vlan")]
    for identity in sorted(set(entry for entry in identities if identities.count(entry) > 1)):
        found.append(Problem("network", subject, "networks", f"VLAN {identity} twice",
                             "one network for each VLAN (CAPM3's list is keyed by vlanID)"))
    return found


def _vlan(subject, field, name, networks):
    vlan = networks[name].get("vlan")
    if not vlan:
        return []
    found = []
    if not 1 <= vlan["id"] <= 4094:
        found.append(Problem("network", subject, field + ".vlan.id", shown(vlan["id"]), "1 to 4094"))
    seen, parent = [name], vlan["network"]
    while parent in networks and parent not in seen:
        seen.append(parent)
        parent = (networks[parent].get("vlan") or {}).get("network")
    if parent in seen:
        found.append(
            Problem("network", subject, field + ".vlan.network", " on ".join(seen + [parent]), "a link that ends")
        )
    elif vlan["network"] not in networks:
        found.append(Problem("network", subject, field + ".vlan.network", shown(vlan["network"]), _one_of(networks)))
    return found


def _family(subject, field, settings):
    if not settings:
        return []
    found = []
    sources = [key for key in ("ranges", "pool", "pool_annotation") if settings.get(key)]
    if settings["mode"] == "pool" and not sources:
        found.append(
            Problem("network", subject, field, "no addresses", "ranges, the name of a pool, or a pool_annotation")
        )
    if settings["mode"] != "pool" and sources:
        found.append(Problem("network", subject, field + ".mode", f"{settings['mode']} with {' and '.join(sources)}",
                             "mode pool, or neither ranges nor pool"))
    if settings.get("pool_annotation") and len(sources) > 1:
        found.append(Problem("network", subject, field, " and ".join(sources), "pool_annotation alone"))
    targets = [route.get("network") for route in settings.get("routes") or []]
    for target in sorted(set(str(entry) for entry in targets if targets.count(entry) > 1)):
        found.append(Problem("network", subject, field + ".routes", f"{target} twice",
                             "one route for each network (CAPM3's list is keyed by network)"))
    for number, route in enumerate(settings.get("routes") or []):
        for key in ("network", "prefix", "gateway"):
            if route.get(key) is None:
                found.append(Problem("network", subject, f"{field}.routes[{number}].{key}", None, "a value"))
    return found


def _group(subject, description, group):
    field = group.field
    found = [] if group.is_standalone else _replicas(subject, field, group)
    found += _timeouts(subject, field, group)
    owner = group.owner
    if not group.is_control_plane and (group.name == CONTROL_PLANE or not re.match(NAME_RULE, group.name)):
        found.append(Problem("cluster-name", subject, field, shown(group.name),
                             f"lower case letters, digits and dashes, and another name than {CONTROL_PLANE}"))
    if len(owner) > _LONGEST_OWNER_NAME:
        found.append(Problem("cluster-name", subject, field, f"{owner}, {len(owner)} characters",
                             f"at most {_LONGEST_OWNER_NAME} characters of cluster and pool name",
                             "nodes are named after it and have at most 63"))
    if group.is_standalone and group.name in {**description.workers, **dict.fromkeys(description.absent_workers)}:
        found.append(Problem("cluster-name", subject, field, f"{group.name}, the name of a pool of workers too",
                             "another name", "rename the machine"))
    for label in sorted(set(group.get("machine_labels") or {}) & set(OWNER_LABELS) if group.is_standalone else ()):
        found.append(Problem("reference", subject, description.option_path(group, "machine_labels"), shown(label),
                             "no label by which Cluster API finds the machines of an owner", "remove the label"))
    if group.get("image"):
        found += image_problems(subject, description.option_path(group, "image"), group.get("image"))
    elif not group.get("custom_deploy") and description.provider != METALSTACK and not description.cluster_class:
        found.append(Problem("cluster-image", subject, description.option_path(group, "image"), None,
                             "an image or custom_deploy"))
    for name in group.get("attached_networks") or []:
        if name not in description.networks:
            found.append(
                Problem("reference", subject, field + ".attached_networks", shown(name), _one_of(description.networks))
            )
    domains = [domain["name"] for domain in description.failure_domains or []]
    if group.get("failure_domain") and group.is_control_plane:
        found.append(Problem("reference", subject, field + ".failure_domain", shown(group.get("failure_domain")),
                             "nothing",
                             "a KubeadmControlPlane has no such field and spreads its machines over all "
                             "failure_domains with control_plane true: describe only those that it may use"))
    elif group.get("failure_domain") and domains and group.get("failure_domain") not in domains:
        found.append(Problem("reference", subject, field + ".failure_domain", shown(group.get("failure_domain")),
                             f"one of {', '.join(domains)}"))
    found += _selector(subject, field, group) + _metadata(subject, field, group)
    found += _files(subject, field, description, group) + _commands(subject, field, group)
    for number, taint in enumerate(group.get("node_taints") or []):
        if not taint.get("key") or taint.get("effect") not in _TAINT_EFFECTS:
            found.append(Problem("user-data", subject, f"{field}.node_taints[{number}]", shown(taint),
                                 f"a key and an effect of {', '.join(_TAINT_EFFECTS)}"))
    found += label_problems(subject, field, group)
    return found + _users(subject, field, group) + _health_check(subject, field, group)


def _replicas(subject, field, group):
    found = []
    replicas, most, least = group.get("replicas"), group.get("max_surge"), group.get("max_unavailable")
    if replicas is not None and replicas < 0:
        found.append(Problem("replicas", subject, field + ".replicas", shown(replicas), "0 or more"))
    found += _autoscaler(subject, field, group) + _rollout_dates(subject, field, group)
    for key, value in (("max_surge", most), ("max_unavailable", least)):
        if value is not None and not re.match(r"^\d+%?$", str(value)):
            found.append(Problem("replicas", subject, f"{field}.{key}", shown(value), "a number or a percentage"))
    if found:
        return found
    if group.is_control_plane:
        external = ((group.get("cluster_configuration") or {}).get("etcd") or {}).get("external")
        if replicas is not None and (replicas < 1 or (replicas % 2 == 0 and not external)):
            found.append(
                Problem("replicas", subject, field + ".replicas", shown(replicas),
                        "an odd number (etcd keeps a quorum)")
            )
        if str(most) not in ("None", "0", "1"):
            found.append(
                Problem("replicas", subject, field + ".max_surge", shown(most), "0 or 1 (KubeadmControlPlane webhook)")
            )
        elif str(most) == "0" and replicas is not None and replicas < 3:
            found.append(Problem("replicas", subject, field + ".max_surge", 0, "1, or at least 3 replicas"))
    elif _zero(most) and _zero(least) and most is not None:
        found.append(Problem("replicas", subject, field + ".max_unavailable", shown(least),
                             "more than 0 when max_surge is 0"))
    if group.get("node_reuse") and not (most is not None and _zero(most)):
        found.append(Problem("replicas", subject, field + ".max_surge", shown(most), "0 with node_reuse",
                             "a host can only be reused when its machine goes before the new one comes"))
    return found


def _rollout_dates(subject, field, group):
    found, after, days = [], group.get("rollout_after"), group.get("certificate_renewal_days")
    if after is not None and not _is_time(after):
        found.append(Problem("replicas", subject, field + ".rollout_after", shown(after),
                             "a time in UTC such as 2026-11-23T20:00:00Z"))
    if days is not None and not group.is_control_plane:
        found.append(Problem("replicas", subject, field + ".certificate_renewal_days", shown(days),
                             "nothing, for kubelets of workers renew their certificates themselves"))
    elif days is not None and days < _FEWEST_RENEWAL_DAYS:
        found.append(Problem("replicas", subject, field + ".certificate_renewal_days", shown(days),
                             f"{_FEWEST_RENEWAL_DAYS} or more (KubeadmControlPlane CRD)"))
    return found


def _is_time(text):
    try:
        return bool(_TIME.match(text)) and moment(text) is not None
    except ValueError:
        return False


def _autoscaler(subject, field, group):
    sizes = group.get("autoscaler")
    if not sizes:
        return []
    if group.is_control_plane:
        return [Problem("replicas", subject, field + ".autoscaler", "%(min_size)d to %(max_size)d" % sizes, "nothing",
                        "only pools of workers are scaled")]
    found = []
    if group.get("replicas") is not None:
        found.append(Problem("replicas", subject, field + ".replicas", shown(group.get("replicas")),
                             "nothing with autoscaler",
                             "each run would undo what the autoscaler did"))
    if sizes["min_size"] < 0:
        found.append(Problem("replicas", subject, field + ".autoscaler.min_size", shown(sizes["min_size"]),
                             "0 or more"))
    elif sizes["max_size"] < max(1, sizes["min_size"]):
        found.append(Problem("replicas", subject, field + ".autoscaler.max_size", shown(sizes["max_size"]),
                             f"{max(1, sizes['min_size'])} or more"))
    return found


def _timeouts(subject, field, group):
    name = "controlPlaneComponentHealthCheckSeconds"
    values = [((group.get(part) or {}).get("timeouts") or {}).get(name)
              for part in ("init_configuration", "join_configuration")]
    if not group.is_control_plane or values[0] == values[1]:
        return []
    return [Problem("user-data", subject, f"{field}.join_configuration.timeouts.{name}", shown(values[1]),
                    f"{values[0] or 'nothing'}, as in init_configuration (KubeadmControlPlane webhook)")]


def _zero(value):
    return str(value or 0).rstrip("%").strip("0") == ""


def _selector(subject, field, group):
    found = []
    for key, value in (group.get("host_selector") or {}).items():
        found += _label(subject, f"{field}.host_selector.{key}", key, value)
    keys = [entry["key"] for entry in group.get("host_selector_expressions") or []]
    for key in sorted(set(key for key in keys if keys.count(key) > 1)):
        found.append(Problem("host-selector", subject, field + ".host_selector_expressions", f"key {key} twice",
                             "one expression for each key (CAPM3's list is keyed by it)"))
    for number, entry in enumerate(group.get("host_selector_expressions") or []):
        wants = entry["operator"] in ("In", "NotIn")
        if wants != bool(entry.get("values")):
            found.append(Problem("host-selector", subject, f"{field}.host_selector_expressions[{number}].values",
                                 shown(entry.get("values") or None),
                                 f"{'values' if wants else 'none'} for {entry['operator']}"))
    return found


def _label(subject, where, key, value):
    """Return what keeps CAPM3 from comparing a label (``labels.NewRequirement``); it would try for ever."""
    if value is None or isinstance(value, (dict, list)):
        advice = "for several values use host_selector_expressions" if isinstance(value, list) else None
        if key in ("match_labels", "matchLabels") and isinstance(value, dict):
            labels = ", ".join("%s: %s" % item for item in value.items())
            advice = f"write the labels themselves: host_selector: {{{labels}}}"
        elif key in ("match_expressions", "matchExpressions"):
            advice = "write them in host_selector_expressions"
        return [Problem(
            "host-selector", subject, where, None if value is None else show(value), "the value of a label", advice)]
    found = []
    if not is_label_key(str(key)):
        found.append(Problem("host-selector", subject, where, f"the key {show(key)}", LABEL_KEY_RULE))
    if not is_label_value(text_of(value)):
        found.append(Problem("host-selector", subject, where, show(value), LABEL_VALUE_RULE))
    return found


def _metadata(subject, field, group):
    found, keys = [], []
    for form, entries in (group.get("metadata") or {}).items():
        if form == "dnsServersFromPool":
            found.append(Problem("user-data", subject, f"{field}.metadata.{form}", "%d entr%s" % (
                len(entries or []), "y" if len(entries or []) == 1 else "ies"),
                "none (CAPM3 1.13 takes an address of the pool for it and writes nothing into the meta data)",
                "the pool's DNS servers are in the network data already"))
            continue
        if form not in _METADATA_FORMS:
            found.append(Problem("user-data", subject, f"{field}.metadata.{form}", show(form),
                                 f"one of {', '.join(_METADATA_FORMS)}"))
            continue
        for number, entry in enumerate(entries or []):
            where = f"{field}.metadata.{form}[{number}]"
            key = entry.get("key") if isinstance(entry, dict) else None
            if not key or isinstance(key, (dict, list)):
                found.append(Problem("user-data", subject, where + ".key", None if not key else show(key), "a key"))
                continue
            keys.append(entry["key"])
            if form == "fromHostInterfaces" and bool(entry.get("fromBootMAC")) == bool(entry.get("interface")):
                found.append(
                    Problem("user-data", subject, where, shown(entry),
                            "either interface or fromBootMAC (CAPM3 webhook)")
                )
    for key in sorted(set(key for key in keys if keys.count(key) > 1)):
        found.append(Problem("user-data", subject, field + ".metadata", f"key {key} twice", "one entry for each key"))
    return found


def _files(subject, field, description, group):
    found, paths = [], cluster_kubeadm.generated_paths(description, group)
    for number, entry in enumerate(group.get("files") or []):
        where = f"{field}.files[{number}]"
        if not entry["path"].startswith("/"):
            found.append(Problem("user-data", subject, where + ".path", shown(entry["path"]), "an absolute path"))
        if entry["path"] in paths:
            found.append(Problem("user-data", subject, where + ".path", f"{entry['path']} twice",
                                 "each path once, even with append (KubeadmConfig webhook)"))
        paths.append(entry["path"])
        if (entry.get("content") is None) == (not entry.get("content_secret")):
            found.append(Problem("user-data", subject, where, "both or neither", "either content or content_secret"))
        if entry.get("permissions") and not _PERMISSIONS.match(str(entry["permissions"])):
            found.append(
                Problem("user-data", subject, where + ".permissions", shown(entry["permissions"]),
                        "octal digits such as 0644")
            )
        if not entry.get("encoding"):
            found += _jinja(subject, where + ".content", entry.get("content") or "")
    return found


def _users(subject, field, group):
    found = []
    for number, user in enumerate(group.get("users") or []):
        where = f"{field}.users[{number}]"
        if not user.get("name"):
            found.append(Problem("user-data", subject, where + ".name", None, "a name"))
        # These the API server would refuse with the password in its log.
        if not isinstance(user.get("passwd") or "", str):
            found.append(Problem("user-data", subject, where + ".passwd", type(user["passwd"]).__name__, "a text"))
        if user.get("passwd") and user.get("passwdFrom"):
            found.append(
                Problem("user-data", subject, where, "passwd and passwdFrom", "one of them (KubeadmConfig webhook)")
            )
    return found


def _commands(subject, field, group):
    found = []
    for option in ("boot_commands", "pre_commands", "post_commands"):
        for number, command in enumerate(group.get(option) or []):
            found += _jinja(subject, f"{field}.{option}[{number}]", command)
    return found


def _jinja(subject, where, text):
    """Cloud-init renders the whole user data as a Jinja template: an unfinished tag makes it unreadable."""
    for opening, closing in (("{#", "#}"), ("{%", "%}"), ("{{", "}}")):
        if text.count(opening) > text.count(closing):
            return [Problem("user-data", subject, where, f"{opening} without {closing}", "text that Jinja can read",
                            f"cloud-init renders user data as a Jinja template: write it as {{{{ '{opening}' }}}}, or "
                            "give a file's content in base64")]
    return []


def _health_check(subject, field, group):
    check = group.get("health_check")
    if not check:
        return []
    found = []
    if check.get("reboot_timeout_seconds") is not None and check["reboot_timeout_seconds"] < 100:
        found.append(Problem(
            "health-check", subject, field + ".health_check.reboot_timeout_seconds",
            shown(check["reboot_timeout_seconds"]),
            "100 or more (CAPM3 webhook)"))
    if check.get("reboot_retry_limit") is not None and check["reboot_retry_limit"] < 1:
        found.append(Problem(
            "health-check", subject, field + ".health_check.reboot_retry_limit", shown(check["reboot_retry_limit"]),
            "1 or more (CAPM3 webhook)"))
    if 0 < check["node_startup_timeout_seconds"] < 30:
        found.append(Problem("health-check", subject, field + ".health_check.node_startup_timeout_seconds",
                             shown(check["node_startup_timeout_seconds"]), "0, or 30 and more (Cluster API webhook)"))
    return found
