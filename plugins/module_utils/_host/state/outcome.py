# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the results of bulk tasks say about one server; pure."""
from __future__ import annotations

from ..._common.texts.plain_text import plain

# Under which key a bulk module has its list.
_LISTS = ("hosts", "nodes", "policies")
# Too long for an event of each server; the modules ending in _info have it.
_LEFT_OUT = ("hardware", "annotations", "labels", "settings", "components", "facts")
# What says where a server is, in the words of the different modules.
_STATES = ("state", "provision_state", "host_state", "verdict", "action")


def report(results, name):
    """Return the task result of one server.

    :param results: registered results of bulk modules, in the order of their tasks; None for a task that did not run
    :param name: name of the server
    :returns: dict with ``msg``, ``host``, ``diff``, ``changed`` and ``failed``, or with ``skipped``
    """
    parts = [(result, facts) for result in results for facts in _items(result) if facts.get("name") == name]
    if not parts:
        return {"skipped": True, "changed": False, "msg": f"nothing was done to {name}"}
    errors = [_text(result, facts) for result, facts in parts if has_failed(facts)]
    host = {}
    for dummy, facts in parts:
        host.update((key, value) for key, value in facts.items() if key not in _LEFT_OUT)
    host["changed"], host["failed"] = any(facts.get("changed") for dummy, facts in parts), bool(errors)
    # No module says it, which would do so: Ansible prints the message of a failure as it is.
    message = plain("\n".join(errors) or _state(parts[-1][1]) + _ended_by(results), keep_lines=True)
    return {"changed": host["changed"], "failed": host["failed"], "host": host, "msg": message,
            "diff": [diff for result, dummy in parts for diff in result.get("diff") or [] if diff.get("host") == name]}


def has_failed(facts):
    """Return whether a server's entry of a result is a failure; where ``failed`` is missing, ``error`` says it."""
    return bool(facts["failed"] if "failed" in facts else facts.get("error"))


def with_failures(results):
    """Return whether one of the results has a server that failed.

    :param results: as for :func:`report`
    """
    return any(has_failed(facts) for result in results for facts in _items(result))


def unreported(result, outcome, names):
    """Return whether a bulk result has an outcome that no server of a list reports.

    :param result: registered result of a bulk module
    :param outcome: ``failed`` or ``changed``
    :param names: names of the servers that report their own part
    """
    if not result.get(outcome):
        return False
    concerned = [facts.get("name") for facts in _items(result)
                 if (has_failed(facts) if outcome == "failed" else facts.get(outcome))]
    return not concerned or not set(concerned) <= set(names)


def _text(result, facts):
    """Return a failure in the form in which a bulk task lists the servers that failed."""
    items = _items(result)
    count = len([item for item in items if has_failed(item)])
    head = str(result.get("msg") or "").partition("\n")[0] or f"{count} of {len(items)} hosts failed, among them:"
    state = _state(facts)
    label = facts["name"] + (f" ({state})" if state else "")
    # The texts of a preflight name their server.
    lines = facts.get("failing") or [f"{label}: {line}" for line in str(facts.get("error") or "").splitlines()]
    return "\n".join([head, *(f"- {line}" for line in lines), *([result["advice"]] if result.get("advice") else [])])


def _state(facts):
    return next((str(facts[key]) for key in _STATES if facts.get(key)), "")


def _ended_by(results):
    """Return a note for a server of which later steps were left out because another one failed."""
    names = sorted(set(facts["name"] for result in results for facts in _items(result)
                       if facts.get("name") and has_failed(facts)))
    return f"; the steps that follow were left out, as these failed: {', '.join(names)}" \
        if names and len(results) > 1 else ""


def _items(result):
    if not isinstance(result, dict):
        return []
    found = next((result[key] for key in _LISTS if isinstance(result.get(key), list)), [])
    return [facts for facts in found if isinstance(facts, dict)]
