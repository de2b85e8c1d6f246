# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of hosts to BareMetalHosts: read once, check all, write what differs, wait for all on one watch."""
from __future__ import annotations

import time
from collections import namedtuple
from typing import Any

from .._bmc.preflight import image_reach
from .._common.options import confirmation
from .._common.problems.errors import RefusedError
from .._common.problems.problem import renamed
from .._common.problems.problem import text as problem_text
from .._common.transfer.image_server import image_fetcher
from .._common.waiting import parallel
from .._ironic.audit import raid_volumes
from .._kube.api.cluster_clock import clock_of
from .._kube.objects.precondition import uid_of
from .._kube.pods import deployment_pod
from .._kube.reconcile.plan import DONE, UNCHANGED
from .._kube.reconcile.report import counts
from .._kube.responses.advice import reading_failed
from .._kube.responses.errors import KubeError
from .._metal3.kinds import KNOWN
from .description import inventory as host_inventory
from .description import objects as host_objects
from .description.named_secrets import named_secrets
from .enrolment import bmc_change as host_bmc_change
from .enrolment import credentials as host_credentials
from .enrolment import images as host_images
from .enrolment import validation as host_validation
from .enrolment.bmc_service import BmcChange
from .enrolment.reconcile import HostRules
from .enrolment.writes import NAMESPACE, HostWrites
from .state import goals as host_goals
from .state import handed_over as host_handed_over
from .state import table as host_table
from .state.reading import hosts_and_secrets
from .state.wait import follow_hosts

CONFIG_MAP = KNOWN["ConfigMap"]

Current = namedtuple("Current", ["hosts", "elsewhere", "secrets"])


def names_for(params):
    """Return ``{option: name}`` for errors as the parameter ``field_names`` asks, None for the options' own names."""
    return host_inventory.names_in_role() if params.get("field_names") == "variables" else None


def _way(params):
    """Return what the user does to confirm; empty when the module is not used by a playbook of this collection."""
    names = params.get("confirm_names")
    return confirmation.way(names, params["confirm_among"], params["confirm_playbook"]) if names else ""


class Outcome:
    """What became of one host of the list.

    ``baseline`` is the host as it was before this run, ``current`` as it was when its write was decided, ``stored``
    as it is known now.
    """

    def __init__(self, host, current):
        self.name = host["name"]
        self.host = host
        self.baseline = current
        self.current = current
        self.stored = current
        self.action = DONE[UNCHANGED]
        self.error = ""
        self.protected = []
        self.seconds = 0.0

    def result(self, namespace):
        """Return the host's result as plain data."""
        facts = host_table.summary(self.stored) if self.stored else host_table.absent(self.name, namespace)
        changed = self.action != DONE[UNCHANGED]
        facts.update(action=self.action, changed=changed, failed=bool(self.error), error=self.error,
                     protected=self.protected, seconds=round(self.seconds, 1))
        return facts


class HostService:
    """One run over a list of hosts.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server check writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param phase: says where a server is, for the wait's progress, as ``goals.HostHistory`` takes it
    :param raid_nodes: callable that returns Ironic's nodes by UUID with ``raid_volumes.FIELDS``, None to ask nobody
    :param system: callable that takes a provisioned BareMetalHost and says what is to come of its system, empty for
        nothing; None to look at none
    """

    def __init__(self, client, params, check_mode, progress, clock=time.monotonic, sleep=time.sleep, phase=None,
                 raid_nodes=None, system=None):
        self.client = client
        self.phase = phase
        self.raid_nodes = raid_nodes
        self.system = system or (lambda bmh: "")
        self.namespace = params["namespace"]
        self.hosts = params["hosts"]
        self.deploy = params["deploy"]
        self.create_namespace = params["create_namespace"]
        self.goal = params["wait_for"]
        self.fetch = image_fetcher(params["image_ca_file"]) if params.get("check_images") else None
        self.asked = deployment_pod.of_options(params.get("ironic_pod")) if self.fetch else None
        self.timeout_seconds = params["wait_timeout_seconds"]
        self.error_limit = params["error_limit"]
        self.names = names_for(params)
        self.rules = HostRules(self.namespace, self.goal, frozenset(params["force_hosts"]), params["allow_detach"],
                               params["allow_deprovision"] or not self.deploy, params["allow_power_off"], self.names,
                               _way(params), asks=not check_mode,
                               detached_only=params["delete_only_detached"], deploys=self.deploy,
                               refuses_protected=params["refuse_protected"], now=clock_of(client))
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.began_at = clock()
        self.bmc_change = BmcChange(client, self.rules, progress, clock, sleep)
        self.writes: Any = None
        self.warnings = []
        self.namespace_missing = False

    def run(self):
        """Do it all and return the module's result.

        :raises RefusedError: when the list has faults
        :raises KubeError: when the API server can't be asked
        """
        current = self._checked()
        writes = self.writes = HostWrites(
            self.client, self.rules, current, self.check_mode, self.progress, self.sleep)
        writes.reconcile.namespace_missing = self.namespace_missing
        outcomes = [Outcome(host, current.hosts.get(host["name"])) for host in self.hosts]
        present = [item for item in outcomes if item.host["state"] != "absent"]
        if self.check_mode:
            writes.reconcile.detached = set(
                item.name for item in present
                if item.current is not None and host_bmc_change.detaching(item.host, item.current) is not None)
        else:
            writes.reconcile.detached = self.bmc_change.detach(present, current)
        try:
            writes.write([item for item in present if not item.error], len(self.hosts))
        finally:
            if not self.check_mode:
                self.bmc_change.attach([item for item in present if item.name in writes.reconcile.detached])
        writes.delete([item for item in outcomes if item.host["state"] == "absent"])
        if self.goal and not self.check_mode:
            self._wait([item for item in outcomes if not item.error])
        return self._result(outcomes)

    # Reading and checking

    def _checked(self):
        problems = host_validation.check_raw(self.hosts, self.goal)
        try:
            current = self._read()
        except KubeError:
            if problems:
                raise RefusedError(problems, self.names) from None
            raise
        problems = host_validation.still_missing(problems, current.hosts) + self.rules.problems(
            self.hosts, current.hosts, current.secrets, current.elsewhere) + self._handed_over(current.hosts)
        if self.fetch and self.deploy and not problems:
            problems = host_images.problems(self.hosts, current.hosts, self.fetch, parallel.run)
            problems += self._of_ironic(current.hosts)
        if problems:
            raise RefusedError(problems, self.names)
        if not self.rules.asks:
            self.warnings += confirmation.asked_later(
                problem_text(problem, self.names) for problem in self.rules.unconfirmed(self.hosts, current.hosts))
        if not self.deploy:
            self.hosts = [host_objects.without_deployment(host) for host in self.hosts]
        return current

    def _of_ironic(self, known):
        """Return a problem for each image that is not reached from where Ironic runs."""
        if not self.asked:
            return []
        found, warnings = image_reach.problems([
            image_reach.Image(host["name"], "image", host["image"])
            for hosts in host_images.due(self.hosts, known).values() for host in hosts], self.asked)
        self.warnings += warnings
        return found

    def _read(self):
        def wanted(stored):
            used = set(name for bmh in stored.values() for _field, name in named_secrets(bmh))
            written = [host_objects.written_secrets(host) for host in self.hosts]
            return used.intersection(name for names, _given in written for name in names).union(
                *(given for _names, given in written), *(host_objects.referenced_secrets(host) for host in self.hosts),
                *(host_objects.left_references(host, stored.get(host.get("name"))).values() for host in self.hosts))

        (here, elsewhere, warning), secrets = hosts_and_secrets(self.client, self.namespace, wanted)
        if warning:
            self.warnings.append(warning)
        if self.create_namespace and not here and any(host.get("state") != "absent" for host in self.hosts):
            self.namespace_missing = self.client.get(NAMESPACE, None, self.namespace) is None
        return Current(here, elsewhere, secrets)

    def _handed_over(self, known):
        """Return a problem for each new host that another plane manages by now."""
        new = [host for host in self.hosts if host["state"] != "absent" and host.get("name") not in known
               and host.get("name") not in self.rules.forced]
        if not new:
            return []
        try:
            config = self.client.get(CONFIG_MAP, self.namespace, host_handed_over.NAME)
        except KubeError as exc:
            if exc.status != 403:
                raise
            self.warnings.append("whether another plane manages the hosts by now was not checked: " + reading_failed(
                exc, CONFIG_MAP, self.namespace, self.client.server))
            return []
        return host_handed_over.problems(new, host_handed_over.read(config), self.namespace)

    # Waiting

    def _wait(self, outcomes):
        now = self.clock()
        deadline = now + self.timeout_seconds
        histories = {}
        for item in outcomes:
            history = self._history(item, now)
            if self.goal == "deleted":
                if item.stored is None:
                    continue
            elif item.stored is not None:
                history.update(item.stored, now)
            histories[item.name] = history
        silence = follow_hosts(
            self.client, self.namespace, histories, deadline, self.progress, self.clock, self._text)
        now = self.clock()
        for item in outcomes:
            history = histories.get(item.name)
            if history is not None:
                item.stored, item.seconds = history.bmh, history.seconds_taken(now)
                item.error = self._text(history.error(self.timeout_seconds, now, silence))
        self._look_for_volumes(outcomes)

    def _look_for_volumes(self, outcomes):
        """Fail hosts without the hardware volumes that they were prepared with: BMO does not notice."""
        due = [(item, facts) for item in outcomes
               if self.goal in ("available", "provisioned") and item.stored is not None and not item.error
               for facts in [host_table.summary(item.stored)] if facts["hardware_raid_levels"] is not None]
        nodes = self.raid_nodes() if due and self.raid_nodes else {}
        for item, facts in due:
            found = raid_volumes.difference(
                nodes.get(facts["node_id"], {}), facts["state"], facts["hardware_raid_levels"])
            if found:
                item.error = self._text(f"{found}; {raid_volumes.NEXT_STEP}")

    def _history(self, item, now):
        detached = item.name in self.writes.reconcile.detached
        secret = self.writes.current.secrets.get(host_objects.credentials_secret_name(item.host))
        return host_goals.HostHistory(
            self.goal, item.baseline, now, self.error_limit, tolerated=("detached",) if detached else (),
            lacking=None if self.goal == "deleted" else lambda bmh: (
                self.bmc_change.lacking(item.name, bmh) if detached else "") or host_credentials.untried(
                    bmh, secret) or self._system_of(bmh),
            phase=self.phase, uid=uid_of(item.stored))

    def _system_of(self, bmh):
        """Return what is to come of a provisioned host's system, empty for nothing."""
        return self.system(bmh) if self.goal == "provisioned" and host_goals.reached(bmh, self.goal) else ""

    def _text(self, text):
        return renamed(text, self.names)

    # Result

    def _result(self, outcomes):
        hosts = [item.result(self.namespace) for item in outcomes]
        return {
            "changed": any(facts["changed"] for facts in hosts) or self.namespace_missing,
            "hosts": hosts,
            "counts": counts(hosts),
            "diff": self.writes.diffs,
            "warnings": self.warnings + self.writes.warnings,
            "seconds": round(self.clock() - self.began_at, 3),
        }


def shortened(facts):
    """Return a host's result without what does not matter in a failure, so that the message stays readable."""
    return dict((key, facts[key]) for key in ("name", "state", "action", "changed", "failed", "error"))


def failure(hosts, goal):
    """Return the text of a failure, a line for each failed host; empty when there is none.

    :param hosts: the results of all hosts
    :param goal: goal of the wait, or None
    """
    failed = [facts for facts in hosts if facts["failed"]]
    if not failed:
        return ""
    lines = ["%d of %d hosts failed%s:" % (len(failed), len(hosts), f" to become {goal}" if goal else "")]
    lines += [f"- {facts['name']} ({facts['state']}): {facts['error']}" for facts in failed]
    return "\n".join(lines)
