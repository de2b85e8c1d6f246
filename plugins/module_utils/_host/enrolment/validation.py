# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a list of hosts, all of them checked before anything is written; pure.

Each subject's rules are in a file of their own, ``host_<subject>_rules.py``; here they are run over the list.

Sources: BMO 0.13's webhook (``baremetalhost_validation.go``), the CRD's schema, what Ironic refuses later, and what
only shows when the whole list is compared with the cluster's hosts.
"""
from __future__ import annotations

import re

from ..._common.options.field_checks import show
from ..._common.options.fields import as_read, check_fields
from ..._common.problems.problem import Problem
from ..description import fields as host_fields
from ..description import inventory as host_inventory
from ..rules import bmc as host_bmc_rules
from ..rules import boot as host_boot_rules
from ..rules import data as host_data_rules
from ..rules import goal as host_goal_rules
from ..rules import hint as host_hint_rules
from ..rules import identity as host_identity_rules
from ..rules import image as host_image_rules
from ..rules import metadata as host_metadata_rules
from ..rules import obsolete as host_obsolete_rules
from ..rules import raid as host_raid_rules
from ..rules import secret as host_secret_rules
from . import change_rules as host_change_rules


def check_values(hosts):
    """Check raw entries against the table of fields: types, choices, limits, unknown options.

    :param hosts: what was given as O(hosts), of any type
    :returns: list of Problem
    """
    if not isinstance(hosts, list):
        return [Problem("value", "hosts", "hosts", show(hosts), "a list of hosts", "give a list of dictionaries")]
    problems = []
    for position, entry in enumerate(read_entries(hosts)):
        label = _label(entry, position)
        if not isinstance(entry, dict):
            problems.append(
                Problem("value", label, "hosts", show(entry), "a dictionary", "give one dictionary for each host")
            )
        else:
            problems += [_with_hint(problem) for problem in check_fields(label, "", host_fields.HOST, entry)]
    return problems


def _with_hint(problem):
    """Return a Problem that names the variable of another module, where an unknown option was made of one."""
    meant = host_inventory.other_meant(problem.field) if problem.code == "unknown-variable" else None
    return problem._replace(hint=f"remove it (perhaps {meant} is meant)") if meant else problem


def check_raw(hosts, wait_for=None):
    """Check raw entries, and what is well-typed in them by :func:`check_list` too.

    :param hosts: what was given as O(hosts), of any type
    :param wait_for: goal of the run, or None
    :returns: list of Problem
    """
    problems = check_values(hosts)
    if not isinstance(hosts, list):
        return problems
    reported = set(
        (problem.subject, _head(problem.field)) for problem in problems if problem.code != "unknown-variable"
    )
    labelled = [(_label(entry, position), entry) for position, entry in enumerate(read_entries(hosts))]
    typed = [dict((option, value) for option, value in entry.items()
                  if (isinstance(value, str) if option == "name" else (label, option) not in reported))
             if isinstance(entry, dict) else {} for label, entry in labelled]
    not_dicts = set(label for label, entry in labelled if not isinstance(entry, dict))
    # An option that is left out here because of its type must not be called missing as well.
    return problems + [problem for problem in check_list(typed, wait_for) if problem.subject not in not_dicts
                       and (problem.subject, _head(problem.field)) not in reported]


def read_entries(hosts):
    """Return entries with their values as Ansible reads them; what is no dictionary, or of a wrong type, as it is.

    :param hosts: list of entries
    """
    return [as_read(host_fields.HOST, entry) if isinstance(entry, dict) else entry for entry in hosts]


def _head(path):
    return re.split(r"[.\[]", path)[0]


def _label(entry, position):
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else f"hosts[{position}]"


def check_list(hosts, wait_for=None):
    """Check well-typed entries by themselves and against each other.

    :param hosts: list of dicts as the module gets them
    :param wait_for: goal of the run, or None
    :returns: list of Problem
    """
    problems = []
    labelled = [(_label(host, position), host) for position, host in enumerate(hosts)]
    for label, host in labelled:
        problems += host_identity_rules.check_name(label, host)
        if host.get("state") != "absent":
            problems += _check_present(label, host, wait_for)
        problems += host_goal_rules.check_state(label, host, wait_for)
    return problems + host_identity_rules.check_duplicates(labelled) + host_secret_rules.check_shared(labelled)


def _check_present(label, host, wait_for):
    address, problems = host_bmc_rules.read_address(label, host)
    problems += host_bmc_rules.check_credentials(label, host)
    problems += host_bmc_rules.check_lengths(label, host, address)
    problems += host_boot_rules.check(label, host, address)
    problems += host_bmc_rules.check_verification(label, host, address)
    problems += host_hint_rules.check(label, "root_device_hints", host.get("root_device_hints"))
    problems += host_image_rules.check(label, host)
    problems += host_data_rules.check(label, host)
    problems += host_raid_rules.check(label, host, address)
    problems += host_metadata_rules.check(label, host)
    problems += host_goal_rules.check_power(label, host, wait_for)
    problems += host_obsolete_rules.check(label, host)
    return problems + host_metadata_rules.check_taints(label, host)


def still_missing(problems, current):
    """Return problems without those of options that were left out and that the stored host has.

    :param problems: what :func:`check_list` returned
    :param current: ``{name: BareMetalHost}``
    """
    return [problem for problem in problems if not (
        problem.code == "boot-mac-missing"
        and (current.get(problem.subject) or {"spec": {}})["spec"].get("bootMACAddress"))]


def check_against_cluster(hosts, current, secrets, namespace, wait_for=None, forced=(), elsewhere=(),
                          allow_detach=False, deploys=True):
    """Check entries against the hosts and Secrets that are there.

    :param hosts: list of dicts that :func:`check_list` found no fault with
    :param current: ``{name: BareMetalHost}`` of the namespace
    :param secrets: ``{name: Secret}``; must hold every Secret that an entry refers to, or writes and another host
        has, if it exists
    :param namespace: name of the namespace, for messages
    :param wait_for: goal of the run, or None
    :param forced: names of hosts for which the consumer's protection is lifted
    :param elsewhere: list of BareMetalHosts of other namespaces
    :param allow_detach: whether a host may be detached for a change of its BMC
    :param deploys: whether images, custom deployments and their data are written
    :returns: list of Problem
    """
    problems = []
    names = set(host["name"] for host in hosts)
    others = host_identity_rules.taken(names, current, elsewhere, namespace)
    # BMO inspects and cleans the server of a host that is new here, whatever runs on it for another one that is paused.
    all_others = host_identity_rules.taken(names, current, elsewhere, namespace, at_rest=True) \
        if any(map(host_identity_rules.is_at_rest, elsewhere)) else others
    for host in hosts:
        bmh = current.get(host["name"])
        if host.get("state") == "absent":
            problems += host_change_rules.check_deletion(host, bmh, forced)
            continue
        is_begun = bmh is None and not host_identity_rules.arrives_paused(host)
        problems += host_identity_rules.check_taken(host, all_others if is_begun else others)
        problems += host_secret_rules.check_stored(host, secrets, namespace)
        problems += host_secret_rules.check_written(host, names, current, secrets, namespace, forced, deploys)
        if bmh is not None:
            problems += host_change_rules.check(host, bmh, forced, allow_detach)
            problems += host_change_rules.check_held(host, bmh, forced)
        problems += host_goal_rules.check_stored(host, bmh, wait_for)
    return problems
