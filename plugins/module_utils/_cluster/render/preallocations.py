# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which addresses a cluster's pools keep for which machine: the names of CAPM3's claims; pure.

A claim is named ``<Metal3Data>-<pool>``, and a Metal3Data after its template and a number that CAPM3 chooses; with
``--enable-bmh-name-based-preallocation`` (variable ``capm3_name_based_preallocation``) it is ``<host>-<pool>``
(``baremetal/metal3data_manager.go``). Any other name keeps an address free, as for an endpoint.
"""
from __future__ import annotations

import re

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from .objects import data_template_name


def preallocation_problems(subject, description, hosts=None):
    """Return the preallocations that are meant for a machine of the cluster and that none of its claims is named like.

    :param description: one whose networks and groups have no problems
    :param hosts: names of the BareMetalHosts that there are, None when they are not known
    """
    found = []
    for network, family, settings, pool in description.pool_uses:
        for name in sorted(settings.get("pre_allocations") or {}):
            field = f"networks.{network}.{family}.pre_allocations.{name}"
            for group in description.groups:
                if name.startswith(group.owner + "-"):
                    found += _meant_for(subject, field, name, data_template_name(description, group), pool, hosts)
                    break
    return found


def kept_for(description, pool, keys, hosts):
    """Return those names of preallocations by which a pool keeps addresses for claims of a cluster's machines.

    :param pool: name of the pool
    :param keys: names of its preallocations
    :param hosts: names of the BareMetalHosts that the machines may get
    """
    templates = [re.escape(data_template_name(description, group)) for group in description.groups
                 if pool in description.pools_taken(group)]
    claims = re.compile(rf"(?:{'|'.join(templates)})-\d+-{re.escape(pool)}")
    of_hosts = set(f"{host}-{pool}" for host in hosts)
    return [name for name in keys if name in of_hosts or (templates and claims.fullmatch(name))]


def _meant_for(subject, field, name, template, pool, hosts):
    claims = re.compile(rf"{re.escape(template)}-\d+-{re.escape(pool)}")
    host = name[:-len(pool) - 1] if name.endswith("-" + pool) else None
    could_be_host = host and (not re.search(r"-[0-9a-f]{8}-\d+$", host) if hosts is None else host in hosts)
    if claims.fullmatch(name) or could_be_host:
        return []
    return [Problem("network", subject, field, shown(name), f"{template}-<number>-{pool}, or <host>-{pool}",
                    "the name is that of an IPClaim; its hash changes with the networks and the meta data of the "
                    "machines, so that names of hosts are better (capm3_name_based_preallocation)")]
