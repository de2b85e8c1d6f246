# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the result of a bulk task says about one server; pure."""
from __future__ import annotations

# What baremetal_host_info is for.
_LEFT_OUT = ("hardware", "annotations", "labels")


def report(result, name):
    """Return the task result of one server.

    :param result: registered result of ``baremetal_host`` or ``baremetal_host_action``; None when there is none
    :param name: name of the server
    :returns: dict with ``msg``, ``host``, ``diff``, ``changed`` and ``failed``, or with ``skipped``
    """
    hosts = _hosts(result)
    facts = next((facts for facts in hosts if facts.get("name") == name), None)
    if facts is None:
        return {"skipped": True, "changed": False, "msg": f"nothing was done to {name}"}
    failed = bool(facts.get("failed"))
    text = facts.get("state")
    if failed:
        count = len([item for item in hosts if item.get("failed")])
        # The form in which a bulk task lists failed hosts.
        text = f"{count} of {len(hosts)} hosts failed, among them:\n- {name} ({text}): {facts.get('error')}"
    return {"changed": bool(facts.get("changed")), "failed": failed, "msg": text,
            "diff": [diff for diff in result.get("diff") or [] if diff.get("host") == name],
            "host": dict((key, value) for key, value in facts.items() if key not in _LEFT_OUT)}


def unreported(result, outcome, names):
    """Return whether a bulk result has an outcome that no server of a list reports.

    :param result: as for :func:`report`
    :param outcome: ``failed`` or ``changed``
    :param names: names of the servers that report their own part
    """
    if not result.get(outcome):
        return False
    concerned = [facts["name"] for facts in _hosts(result) if facts.get(outcome)]
    return not concerned or not set(concerned) <= set(names)


def _hosts(result):
    hosts = result.get("hosts") if isinstance(result, dict) else None
    return [facts for facts in hosts if isinstance(facts, dict)] if isinstance(hosts, list) else []
