# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Annotations of a BareMetalHost: their names, and how BMO 0.13 and CAPM3 1.13 read their values.

Sources: ``baremetalhost_types.go``, ``annotations.go`` and ``baremetalhost_controller.go`` of BMO;
``api/v1beta2/common_types.go`` and ``baremetal/metal3machine_manager.go`` of CAPM3.
"""
from __future__ import annotations

import json

from ..._common.documents.document_text import from_json

PAUSED = "baremetalhost.metal3.io/paused"
DETACHED = "baremetalhost.metal3.io/detached"
STATUS = "baremetalhost.metal3.io/status"
REBOOT = "reboot.metal3.io"
INSPECT = "inspect.metal3.io"
HARDWARE_DETAILS = "inspect.metal3.io/hardwaredetails"
# CAPM3 1.13 reads both and sets the first.
UNHEALTHY = "capm3.metal3.io/unhealthy"
UNHEALTHY_DEPRECATED = "capi.metal3.io/unhealthy"
UNHEALTHY_MARKS = (UNHEALTHY, UNHEALTHY_DEPRECATED)
# The value of PAUSED by which CAPM3 knows that it paused a host itself, with its Cluster.
PAUSED_BY_CAPM3 = "metal3.io/capm3"
# This collection's own, with the time as its value: BMO looks at a host again at once when any annotation changes
# (updateEventHandler), whatever pause it makes after a failure or a flash.
RETRY = "metal3.baremetal/retry"
# With the time as its value, of a host whose reboot was asked for and is not to be asked for again, so that a run that
# was killed is continued. It is written together with REBOOT, which BMO takes away.
REBOOT_BEGUN = "metal3.baremetal/reboot-begun"
# This collection's own, of a host that is being maintained; its value is the reason that the user gave.
MAINTENANCE = "metal3.baremetal/maintenance"
# When that began, RFC 3339 in UTC; and how many seconds the last one took, which the next one says beforehand.
MAINTENANCE_BEGUN = "metal3.baremetal/maintenance-begun"
MAINTENANCE_TOOK = "metal3.baremetal/maintenance-took-seconds"
# Marks, in the value of DETACHED, a host that was detached only while its BMC address changes; BMO ignores the key.
FOR_BMC_CHANGE = "metal3.baremetal/bmc-change"
# Marks, in the value of DETACHED, a host that is on its way to another plane, by the uid of that cluster's kube-system.
TO_PLANE = "metal3.baremetal/to-plane"
# Of a host that has come from another plane and is still there, too: ``uid of kube-system/uid of the host there``.
FROM_PLANE = "metal3.baremetal/from-plane"
# Values of PAUSED by which this collection knows what it keeps a host for: the move of a whole plane, that of single
# hosts, a restore. The second one is that of UNHEALTHY as well, until the host has arrived.
FOR_MOVE = "metal3.baremetal/move"
FOR_HOST_MOVE = "metal3.baremetal/host-move"
FOR_RESTORE = "metal3.baremetal/restore"
# Of a host that is held for the move of a whole plane: which Ironic the run has begun to take its node from, so that no
# later one takes another Ironic, which it does not find, for this one that has stopped.
FORMER_IRONIC = "metal3.baremetal/former-ironic"
# By which playbook such a host gets on.
_PLAYBOOKS = {FOR_MOVE: "pivot", FOR_HOST_MOVE: "move_hosts", FOR_RESTORE: "restore"}

INSPECTION_DISABLED = "disabled"


def of(bmh):
    """Return the annotations of an object."""
    return (bmh.get("metadata") or {}).get("annotations") or {}


def maintained_since(bmh):
    """Return since when a host is being maintained, empty for a mark that does not say it, None without a mark."""
    found = of(bmh)
    return str(found.get(MAINTENANCE_BEGUN, "")) if MAINTENANCE in found else None


def is_reboot(key):
    """True for the anonymous and for keyed reboot annotations."""
    return key == REBOOT or key.startswith(REBOOT + "/")


def reboot_key(key):
    """Return the name of the keyed reboot annotation of a key."""
    return f"{REBOOT}/{key}"


def arguments(value):
    """Return a value's JSON object as a dict, empty when it is none; BMO takes such a value for one without arguments.

    :param value: value of an annotation, or None
    """
    try:
        result = from_json(value or "{}")
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


def compact(value):
    """Return a dict as the text of an annotation, empty for an empty one."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if value else ""


def saved_status(bmh):
    """Return a host's status as the text of :data:`STATUS`, empty without one.

    Without what HardwareData has, as CAPM3 saves it: annotations of an object have 256 KiB together.
    """
    return compact(dict((key, value) for key, value in (bmh.get("status") or {}).items() if key != "hardware"))


def to_plane(bmh):
    """Return the uid of the plane that a host is detached for, None for one that is not on its way."""
    return arguments(of(bmh).get(DETACHED)).get(TO_PLANE)


def kept_by(bmh):
    """Return the annotations by which a move or a restore keeps a host, each with its playbook."""
    found = of(bmh)
    kept = dict((key, _PLAYBOOKS[found[key]]) for key in (PAUSED, UNHEALTHY) if found.get(key) in _PLAYBOOKS)
    if to_plane(bmh) is not None:
        kept[DETACHED] = _PLAYBOOKS[FOR_HOST_MOVE]
    return kept


def pause_of_others(bmh):
    """Return the value of a pause that is neither this collection's for a move or a restore nor CAPM3's, else None."""
    value = of(bmh).get(PAUSED)
    # A backup may hold anything.
    return None if not isinstance(value, str) or value in _PLAYBOOKS or value == PAUSED_BY_CAPM3 else value


def delays_deletion(bmh):
    """True when a detached host that is deleted stays until it is attached (``delayDeleteForDetachedHost``)."""
    return DETACHED not in of(bmh) or arguments(of(bmh)[DETACHED]).get("deleteAction") == "delay"


def held_by(bmh, forced_only=False):
    """Return the keys of the keyed reboot annotations, by which BMO keeps a host powered off, sorted.

    :param forced_only: only those with ``force``; a host that is not provisioned heeds no others
    """
    return sorted(key[len(REBOOT) + 1:] for key, value in of(bmh).items()
                  if key.startswith(REBOOT + "/") and (not forced_only or arguments(value).get("force") is True))


def is_inspection_disabled(inspection_mode, annotations):
    """True when inspection is disabled by the field or by the older annotation (``InspectionDisabled``).

    :param inspection_mode: ``spec.inspectionMode``, or None
    :param annotations: annotations of the host
    """
    return inspection_mode == INSPECTION_DISABLED or (annotations or {}).get(INSPECT) == INSPECTION_DISABLED
