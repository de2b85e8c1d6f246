# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lints a site on the controller: no module is run, so that no value leaves this process."""
from __future__ import annotations

import json
import os

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.path import unfrackpath

from ansible_collections.metal3.baremetal.plugins.module_utils._common.documents.document_text import from_json
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import report as lint_report
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import rules as lint_rules
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_files as inventory_files
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _report_file as report_file
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _site_reader as site_reader

_COLLECTION = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARGUMENT_SPEC = {
    "hosts_group": {"type": "str", "default": "baremetal"},
    "clusters_group": {"type": "str", "default": "clusters"},
    "pools": {"type": "list", "elements": "dict"},
    "known_secrets": {"type": "list", "elements": "str", "no_log": False},
    "versions": {"type": "dict"},
    "provisioning_cidr": {"type": "str"},
    "provisioning_network": {"type": "bool", "default": True},
    "skip_rules": {"type": "list", "elements": "str", "default": []},
    "strict": {"type": "bool", "default": False},
    "sarif_file": {"type": "path"},
    "junit_file": {"type": "path"},
    "base_dir": {"type": "path"},
}


class ActionModule(ActionBase):
    """See the module of the same name."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_diff = False

    def run(self, tmp=None, task_vars=None):
        """Read the site, lint it, write the reports."""
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(ARGUMENT_SPEC)
        options["skip_rules"] = sorted(set(options["skip_rules"]))
        unknown = [rule for rule in options["skip_rules"] if rule not in lint_rules.BY_NAME]
        if unknown:
            raise AnsibleActionFail(f"skip_rules: found {', '.join(unknown)}, expected rules of "
                                    "docs/lint-rules.md; correct skip_rules (variable lint_skip_rules)")
        options["base_dir"] = unfrackpath(options["base_dir"] or os.getcwd())
        hostvars, groups = task_vars["hostvars"], task_vars["groups"]
        hosts, clusters = [groups.get(options[group], []) for group in ("hosts_group", "clusters_group")]
        inventory = getattr(hostvars, "_inventory", None)
        files = inventory_files.of_variables(inventory, self._loader, site_reader.GROUPS)
        findings = site_reader.of_files(files, options)
        if not any(item.ends for item in files):
            findings += site_reader.SiteReader(
                hostvars, hosts, clusters, _own_variables(hostvars, hosts + clusters), self._role_variables(),
                cluster_groups.children(hostvars, options["clusters_group"]),
                cluster_groups.with_children(hostvars, options["clusters_group"]),
                inventory_files.unread(inventory)).lint(options)
        counts = lint_report.count(findings)
        reports = {
            options["sarif_file"]: lambda: self._sarif(findings),
            options["junit_file"]: lambda: lint_report.junit(findings, options["strict"], options["skip_rules"])}
        written = [report_file.write(path, content(), self._task.check_mode)
                   for path, content in reports.items() if path]
        result.update(changed=any(written), findings=findings, counts=counts, hosts=len(hosts), clusters=len(clusters))
        result["failed"] = bool(counts[lint_rules.ERROR] or (options["strict"] and counts[lint_rules.WARNING]))
        result["msg"] = lint_report.text(findings, len(hosts), len(clusters))
        if not result["failed"]:
            for line in result["msg"].splitlines():
                self._display.display("  " + line, stderr=True)
        return result

    def _role_variables(self):
        """Return the names of variables as ``SiteReader`` takes them."""
        found = {}
        folder = os.path.join(_COLLECTION, "roles")
        for role in sorted(os.listdir(folder)):
            specs = self._loader.load_from_file(os.path.join(folder, role, "meta", "argument_specs.yml"))
            found[role] = sorted(set(name for point in specs["argument_specs"].values()
                                     for name in point.get("options") or ()))
        playbooks = [os.path.splitext(name)[0] for name in os.listdir(os.path.join(_COLLECTION, "playbooks"))
                     if name.endswith(".yml")]
        return {"hosts": found["hosts"], "cluster": found["cluster"],
                "machine": sorted(set(name for names in found.values() for name in names)),
                # Those of a playbook with a role of its name are the role's.
                "playbooks": sorted(name for name in playbooks if name not in found)}

    def _sarif(self, findings):
        manifest = os.path.join(_COLLECTION, "galaxy.yml")
        if os.path.exists(manifest):
            version = self._loader.load_from_file(manifest)["version"]
        else:
            # As installed.
            with open(os.path.join(_COLLECTION, "MANIFEST.json"), "rb") as stream:
                version = from_json(stream.read())["collection_info"]["version"]
        return json.dumps(lint_report.sarif(findings, str(version)), indent=2) + "\n"


def _own_variables(hostvars, names):
    """Return what an inventory file says of each host alone, to tell lines by; nothing where Ansible does not say."""
    inventory = getattr(hostvars, "_inventory", None)
    return {} if inventory is None else dict((name, inventory.get_host(name).vars) for name in names)
