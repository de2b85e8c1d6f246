# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines and firewalls of metal-stack as inventory hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
name: metalstack_machines
short_description: Machines and firewalls of metal-stack
version_added: "0.1.0"
description:
  - Gives the allocated machines and firewalls of a metal-stack as inventory hosts, by one request to metal-api.
  - All facts of a host are in its variable C(metalstack), as M(metal3.baremetal.metalstack_info) returns those of a
    machine, with C(kind), which is V(machine) or V(firewall), and C(server), the URL of metal-api.
  - The hosts are in the groups C(metalstack_machines) and C(metalstack_firewalls). No variable but C(metalstack) is
    set, C(ansible_host) neither; O(compose) sets what is needed.
  - Values from metal-api are never templates. Passwords of BMCs and user data are not read. C(addresses) holds IP
    addresses only, whatever metal-api says, since C(ansible_host) is made of them.
  - The login comes from the environment (E(METAL_API_HMAC) or E(METAL_API_TOKEN)), never from the file.
  - The file is called C(metalstack.yml), C(metalstack.yaml), or ends with C(.metalstack.yml) or C(.metalstack.yaml).
options:
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [metal3.baremetal.metalstack_machines]
  api_url:
    description: URL of metal-api with its base path. Falls back to E(METAL_API_URL).
    type: str
  ca_cert:
    description: Path of a file with the authority of metal-api's certificate; by default those of the system.
    type: path
  validate_certs:
    description: Whether metal-api's certificate is verified.
    type: bool
    default: true
  request_timeout_seconds:
    description: How long metal-api may be silent during one request, in seconds.
    type: int
    default: 60
  sources:
    description: What becomes inventory hosts.
    type: list
    elements: str
    choices: [machines, firewalls]
    default: [machines, firewalls]
  project:
    description: UUID of a project; only what is allocated for it. By default whatever is allocated.
    type: str
  partition:
    description: Only those in this partition.
    type: str
  host_names:
    description:
      - What inventory hosts are called. V(name) is the allocation's name, V(id) the machine's UUID.
      - Two machines with one name are refused.
      - Whoever allocates a machine chooses its name. A name that another inventory source has given to a host, or that
        a group has, is refused too, unless O(extended_groups) says otherwise. Else a machine would get the variables
        and passwords of that host, and the host the machine's address.
    type: str
    choices: [name, id]
    default: name
  extended_groups:
    description:
      - Groups of other inventory sources whose hosts get what metal-api says of the machine of their name, for example
        V(baremetal) where the servers of a site are described by hand.
      - Those sources must be read before; Ansible reads the files of a folder in the order of their names.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - ansible.builtin.constructed
requirements:
  - metal-python >= 0.45
seealso:
  - module: metal3.baremetal.metalstack_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
# Whatever is allocated for one project; METAL_API_URL and METAL_API_HMAC say where and by which login
# metalstack.yml
plugin: metal3.baremetal.metalstack_machines
project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e

---
# Machines that have phoned home, to log in to, grouped by size
# ready.metalstack.yml
plugin: metal3.baremetal.metalstack_machines
sources: [machines]
strict: true
compose:
  ansible_host: metalstack.addresses | first
  ansible_user: "'metal'"
keyed_groups:
  - key: metalstack.size
    prefix: size
groups:
  ready: metalstack.ready
"""


from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable

from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import ip_texts
from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import inventory_name
from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.redaction import without_url_secrets
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.plain_text import plain
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack import info_service
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.client import HAS_METAL_PYTHON, MetalClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.errors import MetalError
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_options as inventory_options
from ansible_collections.metal3.baremetal.plugins.plugin_utils._taken_names import HOST, taken

VARIABLE = "metalstack"
FILE_NAMES = ("metalstack.yml", "metalstack.yaml")
KINDS = {"machines": "machine", "firewalls": "firewall"}


class InventoryModule(BaseInventoryPlugin, Constructable):
    """See DOCUMENTATION."""

    NAME = "metal3.baremetal.metalstack_machines"

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
        if not HAS_METAL_PYTHON:
            raise AnsibleParserError(f"{path}: the Python library metal-python is missing; install it where "
                                     "ansible-playbook runs")
        for source in self.get_option("sources"):
            inventory.add_group(f"metalstack_{source}")
        known, found = {}, self._facts(path)
        for facts in found:
            name = facts[self.get_option("host_names")]
            if not inventory_name.is_possible(name):
                raise AnsibleParserError(
                    f"{path}: machine {plain(facts['id'])}: found the name {show(name)}, expected one that an "
                    f"inventory host can have ({inventory_name.RULE}); set host_names to id")
            if name in known:
                raise AnsibleParserError(
                    f"{path}: {name}: found machines {plain(known[name])} and {plain(facts['id'])}, expected one "
                    "machine for each inventory host; set host_names to id, or select one of them by project or "
                    "partition")
            self._refuse_taken(path, name, facts)
            known[name] = facts["id"]
        # All before the first is added: Ansible keeps what a source that fails has added.
        for facts in found:
            self._add(facts[self.get_option("host_names")], facts)

    def _refuse_taken(self, path, name, facts):
        groups = self.get_option("extended_groups")
        owner = taken(name, facts, self.inventory, VARIABLE, groups, "id")
        hint = "; if both are the same machine, add a group of the host to extended_groups" if owner == HOST else ""
        if owner:
            raise AnsibleParserError(
                f"{path}: {facts['kind']} {plain(facts['id'])}: found the name {show(name)}, which {owner} has, "
                f"expected a name of its own; set host_names to id, or select others by project or partition{hint}")

    def _facts(self, path):
        connection = dict((option, self.get_option(option)) for option in (
            "api_url", "ca_cert", "validate_certs", "request_timeout_seconds"))
        sources = self.get_option("sources")
        try:
            client = MetalClient(connection)
            found = info_service.read(client, {
                "gather": sources, "project": self.get_option("project"), "partition": self.get_option("partition")})
        except MetalError as exc:
            raise AnsibleParserError(f"{path}: {exc}") from None
        # What is free has neither a name nor anybody who could log in.
        return [dict(without_url_secrets(facts), kind=KINDS[source], server=client.server,
                     addresses=list(filter(ip_texts.is_address, facts["addresses"])))
                for source in sources for facts in found[source] if facts["project"] and facts["name"]]

    def _add(self, name, facts):
        self.inventory.add_host(name, group=f"metalstack_{facts['kind']}s")
        self.inventory.set_variable(name, VARIABLE, facts)
        strict, host = self.get_option("strict"), self.inventory.get_host(name)
        self._set_composite_vars(self.get_option("compose"), host.vars, name, strict=strict)
        variables = host.get_vars()
        self._add_host_to_composed_groups(
            self.get_option("groups"), variables, name, strict=strict, fetch_hostvars=False)
        self._add_host_to_keyed_groups(
            self.get_option("keyed_groups"), variables, name, strict=strict, fetch_hostvars=False)
