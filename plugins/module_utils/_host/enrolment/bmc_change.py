# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a host gets another BMC: how BMO and Ironic learn of it; pure.

BMO 0.13 passes a changed BMC to Ironic only when host or port of the address or the credentials Secret have changed
(``bmcAddressMatches`` in ``register.go``), and never of another driver. So a change of the system's path, of the scheme
or of certificate verification is lost. What always works is what BMO's webhook wants for changes of a host that is not
registering anyway: the host is detached, which deletes its node in Ironic, and attached again, which makes a new one.
"""
from __future__ import annotations

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..actions.actions import STEADY
from ..description import annotations as host_annotations
from ..description.objects import consumer_of
from ..state.goals import state_of

# No node of the host is in Ironic yet.
_UNREGISTERED = ("new", "unmanaged")


def changes(host, bmh):
    """Return the options of an entry that give a stored host another BMC: ``bmc.address`` and its verification.

    :param host: an entry, as the module gets it
    :param bmh: the stored BareMetalHost, or None
    """
    given, stored = host.get("bmc") or {}, ((bmh or {}).get("spec") or {}).get("bmc") or {}
    if not given.get("address") or not stored.get("address"):
        return []
    pairs = (("bmc.address", given["address"], stored["address"]),
             ("bmc.disable_certificate_verification", bool(given.get("disable_certificate_verification")),
              bool(stored.get("disableCertificateVerification"))))
    return [option for option, new, old in pairs if new != old]


def is_left_detached(bmh):
    """True when a run that was to change the BMC ended before it attached the host again."""
    return host_annotations.FOR_BMC_CHANGE in host_annotations.arguments(
        host_annotations.of(bmh or {}).get(host_annotations.DETACHED))


def _is_detached(bmh):
    # The webhook goes by the status.
    return (bmh.get("status") or {}).get("operationalStatus") == "detached"


def detaching(host, bmh):
    """Return the value of the annotation by which a host is detached for an entry's change, or None for no need.

    A host that somebody else has detached is not touched: Ironic learns of the change when it is attached.
    """
    if is_left_detached(bmh):
        return host_annotations.of(bmh)[host_annotations.DETACHED]
    if not changes(host, bmh) or _is_detached(bmh) or state_of(bmh) in _UNREGISTERED:
        return None
    # Deleting the host meanwhile waits until it is attached, so that it is powered off and cleaned.
    arguments = {"deleteAction": "delay", host_annotations.FOR_BMC_CHANGE: True}
    if state_of(bmh) not in STEADY:
        arguments["force"] = True
    return host_annotations.compact(arguments)


def check_consumer(host, bmh, forced):
    """Say why a host in use is not detached; the action ``detach`` is refused in the same way.

    :param bmh: the stored BareMetalHost
    :param forced: names of hosts for which the consumer's protection is lifted
    :returns: list of Problem
    """
    options = changes(host, bmh)
    if not options or detaching(host, bmh) is None or is_left_detached(bmh) or not consumer_of(bmh) \
            or host["name"] in forced:
        return []
    return [Problem("bmc-change", host["name"], options[0], f"a change of a host in use by {consumer_of(bmh)}",
                    "a host without consumer, because it is detached for the change",
                    "name the host in force_hosts if it may be without management meanwhile")]


def check(host, bmh, allow_detach):
    """Say why a change of a host's BMC can't be made.

    :param allow_detach: whether a host that is registered may be detached for it
    :returns: list of Problem
    """
    state = state_of(bmh)
    options = changes(host, bmh)
    if not options or _is_detached(bmh):
        return []
    option = options[0]
    if state in _UNREGISTERED and option != "bmc.address":
        return []
    stored = (bmh.get("spec") or {}).get("bmc") or {}
    actual, was = ((show(host["bmc"]["address"]), stored["address"]) if option == "bmc.address" else (
        "another value", str(bool(stored.get("disableCertificateVerification"))).lower()))

    def problem(expected, next_step):
        return [Problem("bmc-change", host["name"], option, actual, f"{was}: {expected}", next_step)]

    if host_annotations.DETACHED in host_annotations.of(bmh) and not is_left_detached(bmh):
        return problem("it does not change before the host is detached", "wait until it is, then run again")
    if host_annotations.PAUSED in host_annotations.of(bmh):
        return problem("it does not change while the host is paused", "resume the host first")
    if state == "registering" or (state in STEADY and allow_detach):
        return []
    if state in STEADY:
        return problem(f"it changes only in registering or detached, the host is {state}",
                       "set allow_detach: the host is detached for the change and attached again, what runs on it goes "
                       "on; or delete and enrol it again")
    if state in _UNREGISTERED:
        # The webhook (validateChanges) knows of no other state, not even of those before registering.
        return problem(f"it changes only in registering or detached, the host is {state}",
                       "wait until BMO registers the host, then run again")
    return problem(f"it changes only in registering or detached, the host is {state}",
                   "wait until the host is available, then set allow_detach")
