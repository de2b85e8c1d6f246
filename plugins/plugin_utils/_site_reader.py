# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of the lint: from an inventory to a Site, and from its findings back to files and lines."""
from __future__ import annotations

import difflib
import functools
import re

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses.virtual_router import others_of
from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import (
    Problem,
    renamed,
    renamed_field,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import text as problem_text
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance import described as expectations
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import inventory as ironic_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import checks as lint_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import rules as lint_rules
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import site_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import described
from ansible_collections.metal3.baremetal.plugins.module_utils._resources import server_variables
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_files as inventory_files
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _managed_site as managed_site
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _virtual_routers as virtual_routers
from ansible_collections.metal3.baremetal.plugins.plugin_utils._host_variables import (
    HostVariables,
    shown,
    without_secrets,
)

# What a variable must look like to be one that is known, mistyped. Lower, and words of the site's own would be taken.
_LIKENESS = 0.86
# Groups of an inventory that playbooks are for.
GROUPS = (managed_site.SERVERS, cluster_inventory.GROUP, managed_site.MANAGEMENT)
# Of all roles and playbooks; other variables have the prefix of one of them.
_SHARED = ("metal3_boot_consoles", "metal3_boot_logs", "metal3_ca_file", "metal3_confirm", "metal3_ironic",
           "metal3_kubeconfig", "metal3_namespace", "metal3_optional_groups")


class SiteReader:
    """Reads a site and lints it.

    :param hostvars: Ansible's variable ``hostvars``
    :param hosts: names of the servers in the inventory
    :param clusters: names of the inventory hosts that stand for clusters
    :param own_variables: ``{name: variables that an inventory file gives this host alone}``
    :param children: groups directly below that of the clusters with their hosts, see ``cluster_inventory.name_of``
    :param role_variables: names of variables: those of the roles ``hosts`` and ``cluster``, under ``machine`` those of
        all roles, and under ``playbooks`` the names of playbooks whose variables begin with them
    :param nested: names of those of ``children`` that have groups below them
    :param unread: paths of files of the inventory that Ansible could not read
    """

    def __init__(self, hostvars, hosts, clusters, own_variables, role_variables, children=None,
                 nested=(), unread=()):
        self.variables = dict((name, HostVariables(hostvars.raw_get(name), hostvars[name], own_variables.get(name)))
                              for name in list(hosts) + list(clusters))
        self._hostvars = hostvars
        self.hosts = hosts
        self.clusters = clusters
        self.role_variables = role_variables
        self._children = children
        self._nested = nested
        self._unread = unread
        self._names = host_inventory.field_names()

    def lint(self, options):
        """Return all findings, as ``lint_report`` takes them.

        :param options: parameters of the module
        """
        entries = [host_inventory.entry(name, self.variables[name]) for name in self.hosts]
        unnamed = cluster_inventory.name_problems(
            dict((name, self.variables[name]) for name in self.clusters), self._children)
        clusters = dict((name, self._parameters(name)) for name in self.clusters)
        first = self.variables[self.hosts[0]] if self.hosts else {}
        namespace = first.get("hosts_namespace") or first.get("metal3_namespace") or cluster_inventory.DEFAULT_NAMESPACE
        found = [lint_checks.finding(
            "host-and-cluster", "host", name, "", "a server that stands for a cluster too", "one of the two",
            "take it out of one of the groups") for name in self.hosts if name in clusters]
        found += [lint_checks.finding(
            "cluster-without-host", "site", name, "", "a group without a host", "a host, which stands for the cluster",
            f"give the group {name} a host, for example {name}-cluster")
            for name, hosts in self._children or [] if not hosts]
        found += [lint_checks.Finding("cluster", problem._replace(subject=name, field="name"))
                  for name, problem in unnamed.items()]
        found += [lint_checks.finding(
            inventory_files.UNREAD, "site", path, "", "a file that no inventory plugin could read",
            "hosts, groups and their variables",
            "correct it where Ansible's warning says, or take it out of the inventory: what is in it was not checked")
            for path in self._unread]
        found += self._mistyped_groups()
        found += self._named_by_nested(clusters, unnamed)
        found += self._without_add_on(clusters)
        found += [lint_checks.finding(
            "value", "cluster", name, cluster_inventory.OPTIONS_VARIABLE,
            type_name(self.variables[name][cluster_inventory.OPTIONS_VARIABLE]), "a dictionary",
            "write the options below it, as name: value")
            for name in clusters
            if not isinstance(self.variables[name].get(cluster_inventory.OPTIONS_VARIABLE) or {}, dict)]
        found += [lint_checks.Finding("cluster", problem._replace(subject=name)) for name in clusters
                  for problem in cluster_inventory.former_names(name, self.variables[name])]
        found += self._mistyped()
        found += [lint_checks.Finding("site", problem) for name in self._machines
                  for problem in described.problems(self._variables_of_machine(name).get(described.VARIABLE), name)]
        found += self._of_other_modules()
        found += self._managed()
        found += lint_checks.lint(lint_checks.Site(
            namespace, entries, clusters, options["pools"], options["known_secrets"], options["versions"],
            options["provisioning_cidr"], options["provisioning_network"], self._dhcp(clusters), self._homes(clusters),
            dict((name, self._routers(self.variables[name])) for name in clusters),
            virtual_routers.each_of_planes(self._routers_of_machines)))
        unreadable = self._unreadable()
        reported = set((item.problem.subject, item.problem.field) for item in unreadable)
        found = unreadable + [item for item in found if (item.problem.subject, self._variable(item)) not in reported]
        found = [item for item in found if item.problem.code not in options["skip_rules"]]
        return _merged([self._located(item, options["base_dir"]) for item in found])

    def _mistyped_groups(self):
        """Groups that no playbook is for, and that are nearly one of those that are missing: site leaves it out."""
        groups = getattr(getattr(self._hostvars, "_inventory", None), "groups", {})
        # Those that the module was given by another name are no mistakes.
        there = [name for name, group in groups.items()
                 if not set(host.name for host in group.get_hosts()) <= set(self.variables)]
        found = []
        for wanted in GROUPS:
            near = [] if wanted in groups else difflib.get_close_matches(wanted, there, 1, _LIKENESS)
            found += [lint_checks.finding(
                "unknown-group", "site", name, "", "a group that no playbook is for", f"the group {wanted}",
                f"rename it, or add an empty group {wanted} if it is another one") for name in near]
        return found

    def _named_by_nested(self, clusters, unnamed):
        """Clusters that an upper group names: one that is meant to group clusters, such as a site, is taken for one."""
        return [lint_checks.finding(
            "cluster-group-nested", "cluster", name, "name", f"nothing, and the group {group} with groups below it",
            "cluster_name, or a group without groups below it",
            f"set cluster_name: the cluster's name would be {group}, and a cluster that has another name now would be "
            "made a second time")
            for group, hosts in self._children or [] if group in self._nested for name in hosts
            if name in clusters and name not in unnamed and not self.variables[name].get("cluster_name")]

    def _without_add_on(self, clusters):
        """Clusters that nothing gives a pods' network; what the manifests hold is only read when they are applied."""
        return [lint_checks.finding(
            "network-add-on", "cluster", name, "", "no cluster_manifests", "a network add-on in cluster_manifests",
            "add it, set cluster_network_addon to flannel, or to none when something else brings it")
            for name, parameters in clusters.items()
            if not self.variables[name].get("cluster_manifests")
            and parameters.get("network_addon", "manifests") == "manifests"
            and self.variables[name].get("cluster_wait_for", "available") == "available"]

    def _parameters(self, name):
        """Return the description of a cluster; the host's name is used where the inventory gives no clear one."""
        try:
            return cluster_inventory.parameters(name, self.variables[name], self._children)
        except cluster_inventory.ClusterNameError:
            return cluster_inventory.parameters(name, self.variables[name], [])

    @functools.cached_property
    def _machines(self):
        """Names of the machines of planes."""
        return cluster_groups.members(self._hostvars, managed_site.MANAGEMENT)

    @functools.cached_property
    def _planes(self):
        """The planes that these machines name, read once for all clusters."""
        return managed_site.MachinePlanes(self._hostvars, self._machines)

    @functools.cached_property
    def _routers_of_machines(self):
        """The virtual routers of each of these machines, read once for all clusters."""
        return virtual_routers.of_machines(self._hostvars, self._machines)

    def _variables_of_machine(self, name):
        return HostVariables(self._hostvars.raw_get(name), self._hostvars[name])

    def _dhcp(self, clusters):
        """Return what DHCP lends, by cluster: by default what serves DHCP for its plane, as in the role's variables."""
        served = {}
        for name in self._machines:
            variables = self._variables_of_machine(name)
            if variables.get("provisioning_network_dhcp_ranges") is not None:
                served[name] = {"ranges": _listed(variables["provisioning_network_dhcp_ranges"]),
                                "hosts": _listed(variables.get("provisioning_network_dhcp_hosts"))}
        found = dict((name, self.variables[name].get("cluster_dhcp", self._of_plane(served, self.variables[name])))
                     for name in clusters)
        return dict((name, lent) for name, lent in found.items() if lent is not None)

    def _of_plane(self, served, cluster):
        """Return what the machines of a cluster's plane lend, None when they lend nothing.

        :param served: ``{name of a machine: what it lends}``
        :param cluster: variables of the cluster
        """
        lent = [served[name] for name in self._planes.of_cluster(cluster) if name in served]
        found = dict((part, [item for machine in lent for item in machine[part]]) for part in ("ranges", "hosts"))
        return found if any(found.values()) else None

    def _routers(self, cluster):
        """Return the virtual routers by which the plane of a cluster holds its addresses.

        :param cluster: variables of the cluster
        """
        return others_of(virtual_routers.of_planes(dict(
            (name, self._routers_of_machines[name]) for name in self._planes.of_cluster(cluster))))

    def _homes(self, clusters):
        """Return where servers and clusters are managed: an inventory may have those of several planes."""
        homes = dict((name, (kubeconfig, namespace or cluster_inventory.DEFAULT_NAMESPACE)) for name in self.hosts
                     for kubeconfig, namespace in [named_hosts.home_of(self._hostvars[name])])
        homes.update((name, (named_hosts.cluster_plane_of(self._hostvars[name]), parameters["namespace"]))
                     for name, parameters in clusters.items())
        return homes

    def _managed(self):
        """What keeps a site from moving its management into the cluster that is to have it."""
        chosen, found = site_checks.chosen(dict((name, self.variables[name]) for name in self.clusters))
        if chosen is not None:
            manager, managing = managed_site.manager_of(self._hostvars)
            found = found + site_checks.problems(chosen, self.variables[chosen], manager, managing, dict(
                (name, self.variables[name]) for name in self.hosts))
        return [lint_checks.Finding(
            self._kind(problem.subject) if problem.subject in self.variables else "site", problem) for problem in found]

    def _of_other_modules(self):
        """What other modules than baremetal_host read of a server: firmware, and what is expected of it."""
        return [lint_checks.Finding("host", problem) for name in self.hosts for problem in (
            *server_variables.problems(name, self.variables[name]),
            *expectations.problems(name, self.variables[name]))]

    def _unreadable(self):
        return [
            lint_checks.finding(
                "template-error", self._kind(name), name, variable, text, "a value",
                inventory_files.VAULT_HINT if "decrypt" in text else "define what is missing, or correct the template")
            for name, variables in self.variables.items() for variable, text in sorted(variables.errors.items())]

    def _kind(self, name):
        return "cluster" if name in self.clusters else "host"

    def _mistyped(self):
        """Variables that nobody reads, and that are nearly those that are missing."""
        found = []
        names = {"host": set(host_inventory.VARIABLES.values()) | set(self.role_variables["hosts"]) | set(_SHARED),
                 "cluster": set(self.role_variables["cluster"]) | set(_SHARED),
                 "site": {described.VARIABLE, *self.role_variables.get("machine", ()), *_SHARED}}
        known = set().union(*names.values(), self.role_variables.get("playbooks", ()), [ironic_inventory.OWN_VARIABLE])
        others = (host_inventory.PREFIX, "ansible_", *(f"{name}_" for name in self.role_variables.get("playbooks", ())))
        of_machines = dict((name, self._variables_of_machine(name)) for name in self._machines
                           if name not in self.variables)
        for name, variables in (self.variables | of_machines).items():
            kind = "site" if name in of_machines else self._kind(name)
            missing = sorted(names[kind] - set(variables))
            for variable in sorted(variables):
                if variable in known or variable.startswith(others):
                    continue
                near = difflib.get_close_matches(variable, missing, 1, _LIKENESS)
                if near:
                    found.append(lint_checks.finding(
                        "unknown-variable", kind, name, variable, "a variable that is not read",
                        "a variable of a role or playbook", f"perhaps {near[0]} is meant"))
        return found

    def _variable(self, item):
        name, field = item.problem.subject, item.problem.field
        if item.problem.code.startswith(site_checks.PREFIX_OF_CODES):
            # They name variables, not options.
            return field
        if item.kind == "host" and re.split(r"[.\[]", field)[0] in host_inventory.OTHERS:
            # Their paths begin with the variable.
            return field
        if item.kind == "host" and field not in self.variables.get(name, ()):
            return renamed_field(field, self._names) if field else ""
        if item.kind == "cluster" and field and field not in self.variables.get(name, ()):
            return cluster_inventory.variable_of(field, self.variables[name])
        return field

    def _located(self, item, base_dir):
        """Return a finding as a dict: its Problem with variables in place of options, and where it stands."""
        variable = self._variable(item)
        variables = self.variables.get(item.problem.subject)
        if variables is None and item.problem.subject in self._machines:
            variables = self._variables_of_machine(item.problem.subject)
        # A file that could not be read has no lines.
        place = (item.problem.subject if item.problem.code == inventory_files.UNREAD else None, None, None)
        if variables is not None:
            place = variables.origin(variable) if variable else place
            if place[0] is None:
                # What is missing has no line: where the host itself is described.
                first = ("bmc_address", "boot_mac", "cluster_kubernetes_version", "cluster_endpoint")
                own = [variables.origin(name) for name in first if name in variables]
                place = next((found for found in own if found[0]), (variables.file(), None, None))
        names = self._names if item.kind == "host" else None
        secrets = variables.secrets if variables is not None else set()
        actual, expected, hint = [
            phrase and without_secrets(renamed(phrase, names), secrets)
            for phrase in (item.problem.actual, item.problem.expected, item.problem.hint)]
        problem = item.problem._replace(field=variable, actual=actual, expected=expected, hint=hint)
        return dict(problem._asdict(), level=lint_rules.BY_NAME[problem.code].level, kind=item.kind,
                    names=[problem.subject], path=shown(place[0], base_dir), line=place[1], column=place[2],
                    text=problem_text(problem))


def of_files(files, options):
    """Return the findings about files of variables, as :meth:`SiteReader.lint` returns its own.

    :param files: list of ``_inventory_files.FileProblem``
    :param options: parameters of the module
    """
    found = []
    for item in files:
        # Without one that ends all reading there is nothing else to report.
        if item.code in options["skip_rules"] and not item.ends:
            continue
        path = shown(item.path, options["base_dir"])
        problem = Problem(item.code, path, "", item.actual, item.expected, item.hint)
        found.append(dict(problem._asdict(), level=lint_rules.BY_NAME[item.code].level, kind="site", names=[path],
                          path=path, line=item.line, column=None, text=problem_text(problem)))
    return found


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _merged(findings):
    """Return findings with those about one line, which many hosts share, reported once."""
    merged = {}
    for item in findings:
        key = (item["code"], item["field"], item["actual"], item["expected"], item["path"], item["line"])
        if item["line"] is None or key not in merged:
            merged[key if item["line"] is not None else len(merged)] = item
        else:
            merged[key]["names"].append(item["subject"])
    for item in merged.values():
        more = len(item["names"]) - 1
        if more:
            item["subject"] = f"{item['subject']} and {more} more"
            item["text"] = problem_text(Problem(*(item[part] for part in Problem._fields)))
    return list(merged.values())
