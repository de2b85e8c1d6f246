# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BareMetalHosts, Machines and Ironic's nodes as inventory hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
name: baremetal_hosts
short_description: Bare metal hosts of a Metal3 management cluster
version_added: "0.1.0"
description:
  - Gives the BareMetalHosts of a management cluster as inventory hosts, and on request the Machines of Cluster API and
    the nodes of Ironic.
  - >-
    All facts of a host are in its variable C(metal3). C(metal3.kind) is V(host), V(machine) or V(node),
    C(metal3.server) the URL of the API server, or of Ironic, that it was read from. Those of a
    V(host) are what M(metal3.baremetal.baremetal_host_info) returns, with C(cluster), the name of the cluster that
    uses the host, and C(addresses), those of its NICs at inspection.
  - >-
    Those of a V(machine) are C(name), C(namespace), C(uid), C(labels), C(cluster), C(control_plane), C(pool),
    C(phase), C(ready), C(kubernetes_version), C(failure_domain), C(provider_id), C(node) (the name of the Node),
    C(host) and C(host_namespace) (of its BareMetalHost), C(hostname) and C(addresses). The latter two are what CAPM3
    reports to Cluster API, which is name and addresses of the host at inspection, not those that a pool gave it.
  - >-
    Those of a V(node) are C(uid), C(host) and C(host_namespace) (of the BareMetalHost that it was made for) and what
    Ironic says of it, for example C(provision_state), C(power_state), C(maintenance), C(last_error), C(traits) and
    C(properties), but nothing of how Ironic logs in at its BMC. A node of a host that is in the inventory is in that
    host's C(metal3.node), without an inventory host of its own.
  - The hosts are in the groups C(metal3_hosts), C(metal3_machines) and C(metal3_nodes). No variable but C(metal3) is
    set, C(ansible_host) neither; O(compose) sets what is needed.
  - Values from the cluster are never templates. Secrets are not read. C(addresses) holds IP addresses only, and
    C(hostname) a host name or nothing, whatever the object says, since C(ansible_host) is made of them.
  - >-
    Names are refused that no inventory host can have or that mean something else to Ansible, such as C(localhost), and
    those of a group or, but for O(extended_groups), of a host that the inventory has already from another source. A
    host is never that of two objects; the same object of the same server may come by two files of this plugin.
  - An option that the plugin does not have is refused.
  - The file is called C(metal3.yml), C(metal3.yaml), or ends with C(.metal3.yml) or C(.metal3.yaml).
options:
  kubeconfig:
    # Of modules it may be a dictionary; a cache of an inventory must not hold one.
    type: path
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [metal3.baremetal.baremetal_hosts]
  sources:
    description: What becomes inventory hosts.
    type: list
    elements: str
    choices: [hosts, machines, nodes]
    default: [hosts]
  namespaces:
    description: Namespaces of the hosts and machines. Nodes that were made for hosts of other namespaces are left out.
    type: list
    elements: str
    default: [metal3]
  all_namespaces:
    description: Whether to read all namespaces; O(namespaces) is ignored then.
    type: bool
    default: false
  label_selector:
    description: Only hosts and machines that match this label selector, for example V(rack=r1,role!=spare).
    type: str
  states:
    description: Only hosts in these provisioning states; all by default. Machines and nodes are not concerned.
    type: list
    elements: str
    choices:
      - new
      - unmanaged
      - registering
      - match profile
      - inspecting
      - preparing
      - ready
      - available
      - provisioning
      - provisioned
      - externally provisioned
      - deprovisioning
      - powering off before delete
      - deleting
    default: []
  host_names:
    description:
      - What inventory hosts are called. V(name) is the object's name, V(name_namespace) the name, a dot and the
        namespace.
      - Two objects with one name are refused.
    type: str
    choices: [name, name_namespace]
    default: name
  extended_groups:
    description:
      - Groups of other inventory sources to whose hosts this one may add what is known of hosts and nodes of the same
        names. Any other host of another source keeps its variables, since whoever may create objects chooses their
        names; a machine of the name of a host of another source is always refused.
      - >-
        Known are the sources that Ansible has read before: of a folder those whose file names come first, of several
        C(-i) those named first.
    type: list
    elements: str
    default: [baremetal]
  ironic:
    description:
      - How Ironic is found, when O(sources) has V(nodes).
      - By default the environment says it, for example E(OS_CLOUD).
    type: dict
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes_inventory
  - metal3.baremetal.ironic.suboptions
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
seealso:
  - module: metal3.baremetal.baremetal_host_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
# All hosts of the namespace metal3, by the kubeconfig that KUBECONFIG names
# metal3.yml
plugin: metal3.baremetal.baremetal_hosts

---
# Beside the inventory of a site, whose servers are in the group "baremetal" or in "storage"
# zz.metal3.yml
plugin: metal3.baremetal.baremetal_hosts
extended_groups: [baremetal, storage]

---
# Free hosts of two racks, grouped
# free.metal3.yml
plugin: metal3.baremetal.baremetal_hosts
kubeconfig: ~/.kube/management
context: admin@management
label_selector: rack in (r1, r2)
states: [available]
keyed_groups:
  - key: metal3.labels.rack
    prefix: rack
  - key: metal3.hardware.product
    prefix: model
groups:
  large: metal3.hardware.ram_mebibytes >= 262144

---
# Nodes of all workload clusters, to log in to where they keep the addresses that they had at inspection
# nodes.metal3.yml
plugin: metal3.baremetal.baremetal_hosts
sources: [machines]
all_namespaces: true
strict: true
compose:
  ansible_host: metal3.addresses | first
  ansible_user: "'metal3'"
keyed_groups:
  - key: metal3.cluster
    prefix: cluster
groups:
  control_plane: metal3.control_plane

---
# Hosts with what Ironic knows of them; the result is kept for ten minutes
# all.metal3.yml
plugin: metal3.baremetal.baremetal_hosts
sources: [hosts, nodes]
ironic:
  cloud: metal3
groups:
  in_maintenance: metal3.node.maintenance | default(false)
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/metal3-inventory
cache_timeout: 600
"""

from ansible.errors import AnsibleParserError, AnsibleUndefinedVariable
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show
from ansible_collections.metal3.baremetal.plugins.module_utils._inventory import hosts as inventory_hosts
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import ironic_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.connection import kube_argument_spec
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_options as inventory_options
from ansible_collections.metal3.baremetal.plugins.plugin_utils._inventory_sources import (
    Reader,
    SourceError,
    server_of,
)
from ansible_collections.metal3.baremetal.plugins.plugin_utils._plain_expression import path_of, value_at
from ansible_collections.metal3.baremetal.plugins.plugin_utils._taken_names import HOST, taken

VARIABLE = "metal3"
FILE_NAMES = ("metal3.yml", "metal3.yaml")
GROUPS = {"host": "metal3_hosts", "machine": "metal3_machines", "node": "metal3_nodes"}
_SELECTION = ("sources", "namespaces", "all_namespaces", "label_selector", "states")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """See DOCUMENTATION."""

    NAME = "metal3.baremetal.baremetal_hosts"

    def verify_file(self, path):
        """Take files that are named as DOCUMENTATION says."""
        name = path.rpartition("/")[2]
        return super().verify_file(path) and (
            name in FILE_NAMES or name.endswith(tuple("." + ending for ending in FILE_NAMES)))

    def parse(self, inventory, loader, path, cache=True):
        """Add the groups and hosts."""
        super().parse(inventory, loader, path, cache)
        wrong = inventory_options.mistake(self._read_config_data(path), self.option_definitions)
        if wrong:
            raise AnsibleParserError(f"{path}: {wrong}")
        if not self.get_option("all_namespaces") and not all(self.get_option("namespaces") or [""]):
            found = "an empty name" if self.get_option("namespaces") else "nothing"
            raise AnsibleParserError(f"{path}: namespaces: found {found}, expected names of namespaces; name them, or "
                                     "set all_namespaces")
        try:
            entries = inventory_hosts.entries(self._facts(path, cache), self.get_option("host_names"))
        except SourceError as exc:
            # The display of Ansible would add the texts of all causes.
            raise AnsibleParserError(f"{path}: {exc}") from None
        except inventory_hosts.NameClash as exc:
            raise AnsibleParserError(f"{path}: {exc}; set host_names to {inventory_hosts.NAME_AND_NAMESPACE}, or "
                                     "select one of them by namespaces or sources") from None
        except inventory_hosts.NameImpossible as exc:
            raise AnsibleParserError(
                f"{path}: {exc}; rename it, or leave it out by namespaces, label_selector or sources") from None
        for group in GROUPS.values():
            inventory.add_group(group)
        # All before the first is added: Ansible keeps what a source that fails has added.
        self._refuse_taken(path, entries)
        for entry in entries:
            self._add(entry)

    def _refuse_taken(self, path, entries):
        for entry in entries:
            # A Machine is no server: it may be on another one tomorrow.
            groups = [] if entry.kind == "machine" else self.get_option("extended_groups")
            owner = taken(entry.name, entry.facts, self.inventory, VARIABLE, groups)
            also = f" or a host in one of {', '.join(groups)} (extended_groups)" if groups and owner == HOST else ""
            hint = "; if both are the same server, add a group of the host to extended_groups" if owner == HOST else ""
            if owner:
                raise AnsibleParserError(
                    f"{path}: {entry.kind} {show(entry.name)}: found {owner} of this name, expected a name of its own"
                    f"{also}; rename one, or leave the object out by namespaces, label_selector or sources{hint}")

    def _facts(self, path, cache):
        connection, found = self._connection()
        ironic = self._ironic(path)
        selection = dict((name, self.get_option(name)) for name in _SELECTION)
        # What is kept was read for these options, so that it is not taken for others.
        asked = dict(selection, servers=[found[name] for name in (
            "kubeconfig", "context", "host", "impersonate_user", "impersonate_groups")] + [
            ironic.get(name) for name in ("cloud", "clouds_file", "endpoint")])
        key = self.get_cache_key(path)
        keep = self.get_option("cache")
        if keep:
            asked["api_server"] = server_of(connection)
        if keep and cache:
            kept = self._cache.get(key)
            if kept and kept["asked"] == asked:
                return kept["facts"]
        facts = Reader(connection, ironic, None if selection["all_namespaces"] else selection["namespaces"],
                       selection["label_selector"], selection["states"]).read(selection["sources"])
        if keep:
            self._cache[key] = {"asked": asked, "facts": facts}
        return facts

    def _connection(self):
        """Return the options of the connection as they were given, and with the environment variables beside them.

        Who names a server for this inventory does not mean the one of the environment.
        """
        given, found = {}, {}
        for name in kube_argument_spec():
            value, origin = self.get_option_and_origin(name)
            found[name] = self._resolved(value)
            given[name] = None if str(origin).startswith("env:") else found[name]
        return given, found

    def _ironic(self, path):
        """Return the options of Ironic, checked; Ansible does not look below an inventory plugin's own options."""
        given = dict((name, self._resolved(value)) for name, value in (self.get_option("ironic") or {}).items())
        checked = ArgumentSpecValidator(ironic_argument_spec()).validate(given)
        if checked.error_messages:
            raise AnsibleParserError(f"{path}: ironic: {'; '.join(checked.error_messages)}")
        return checked.validated_parameters

    def _resolved(self, value):
        """Return an option's value; a template in the plugin's file may look a token up."""
        return self.templar.template(value) if isinstance(value, str) else value

    def _add(self, entry):
        name, strict = entry.name, self.get_option("strict")
        self.inventory.add_host(name, group=GROUPS[entry.kind])
        self.inventory.set_variable(name, VARIABLE, entry.facts)
        host = self.inventory.get_host(name)
        self._set_composite_vars(self.get_option("compose"), host.vars, name, strict=strict)
        # With what other sources and compose have set, so that it need not be fetched for each group.
        variables = host.get_vars()
        self._add_host_to_composed_groups(
            self.get_option("groups"), variables, name, strict=strict, fetch_hostvars=False)
        self._add_host_to_keyed_groups(
            self.get_option("keyed_groups"), variables, name, strict=strict, fetch_hostvars=False)

    def _compose(self, template, variables, **more):
        """Return the value of an expression, without the template engine where it only names a fact."""
        path = path_of(template) if isinstance(template, str) and not self.get_option("use_extra_vars") else None
        # Variables of other sources may be templates.
        if path and path[0] == VARIABLE:
            try:
                return value_at(path, variables)
            except KeyError as exc:
                raise AnsibleUndefinedVariable(f"{exc} is undefined") from None
            except TypeError:
                # Not a dictionary, which Jinja may know to look into.
                pass
        return super()._compose(template, variables, **more)
