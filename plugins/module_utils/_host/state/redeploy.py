# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a provisioned host that deploy it again, and those without effect until then; pure.

BMO deploys again only when the image's URL or the custom method changes (``provisioningCancelled`` in
``host_state_machine.go``; user guide, "Reprovisioning").
"""
from __future__ import annotations

from ..._common.options.field_checks import show
from ..._kube.objects.finalizers import deletion_of
from ..description import fields as host_fields
from ..description.objects import consumer_of, data_secret_name
from .goals import state_of
from .taken_up import is_deleted_when_taken_up, taken_up

_DEPLOYED = ("provisioning", "provisioned")
# What BMO compares: option, its part, field of the BareMetalHost.
_COMPARED = (("image", "url", "image"), ("custom_deploy", "method", "customDeploy"))
_DATA = tuple(option for option in host_fields.DATA_KEYS if option in host_fields.DEPLOYMENT)


def _deployment(spec):
    return tuple((spec.get(field) or {}).get(part) for _option, part, field in _COMPARED)


def losses(host, bmh, forced=()):
    """Return which options of an entry take away what is deployed on a stored host, as ``(field, found, expected)``.

    :param host: an entry, as the module gets it
    :param bmh: the stored BareMetalHost
    :param forced: names of hosts for which the consumer's protection is lifted; without it nothing is taken from them
    """
    return [(field, show(given) if given else None,
             f"{show(stored)}, which is deployed: with anything else what is on the server's disks is lost")
            for field, stored, given in _taken(host, bmh, forced)]


def lost_later(host, bmh, forced=()):
    """Return the options by which an entry takes away what is deployed once BMO works on its host again.

    :param host: an entry, as the module gets it
    :param bmh: the stored BareMetalHost, which is paused or detached
    :param forced: names of hosts for which the consumer's protection is lifted
    """
    deployed = _deployment((taken_up(bmh).get("status") or {}).get("provisioning") or {})
    # A description that was lost is given back to such a host.
    return [field for field, _stored, given in _taken(host, bmh, forced) if not given or given not in deployed]


def _taken(host, bmh, forced):
    if state_of(taken_up(bmh)) != "provisioned" or (consumer_of(bmh) and host["name"] not in forced):
        return []
    compared = [(f"{option}.{part}", stored, host[option].get(part))
                for (option, part, _field), stored in zip(_COMPARED, _deployment(bmh["spec"]))
                if stored and host.get(option) is not None]
    return [(field, stored, given) for field, stored, given in compared if given != stored]


def lost_when_taken_up(bmh):
    """Return what BMO takes away from a stored host when it works on it again, empty for nothing.

    :param bmh: the stored BareMetalHost, which is paused or detached, so that its ``spec`` may have changed since, and
        its deletion have been asked for
    """
    bmh = taken_up(bmh)
    spec = bmh.get("spec") or {}
    if not spec.get("externallyProvisioned"):
        if state_of(bmh) == "externally provisioned":
            # handleExternallyProvisioned: it is inspected and cleaned.
            return "a system of its own runs, and whose spec has not externallyProvisioned true"
        if state_of(bmh) == "new" and consumer_of(bmh):
            return (f"what {consumer_of(bmh)} uses may be deployed, and which has neither a status nor a saved one, so "
                    "that BMO would begin with it from the start")
    if state_of(bmh) != "provisioned":
        return ""
    (image, method) = _deployment(spec)
    (deployed, used) = _deployment((bmh.get("status") or {}).get("provisioning") or {})
    if is_deleted_when_taken_up(bmh):
        return f"{show(deployed or used or None)} is deployed, and which is {deletion_of(bmh)}"
    # provisioningCancelled: without an image of before, one that is wanted is taken for it.
    kept = (method or image) and (not used or used == method) and (not deployed or deployed == image)
    return "" if kept else f"{show(deployed or used or None)} is deployed, and whose spec names {show(image or method)}"


def deployments(host, bmh):
    """Return which options of an entry have something deployed on a stored host that it does not have.

    :param host: an entry, as the module gets it
    :param bmh: the stored BareMetalHost
    """
    return [f"{option}.{part}" for (option, part, _field), stored in zip(_COMPARED, _deployment(bmh["spec"]))
            if isinstance(host.get(option), dict) and host[option].get(part) not in (None, stored)]


def without_effect(host, bmh, spec, changed_secrets=()):
    """Return the options of an entry whose change a stored host does not take up.

    :param host: an entry, as the module gets it
    :param bmh: the stored BareMetalHost, or None
    :param spec: ``spec`` of the BareMetalHost as it is to be
    :param changed_secrets: names of Secrets whose content changes
    """
    if bmh is None or state_of(bmh) not in _DEPLOYED or _deployment(bmh["spec"]) != _deployment(spec):
        return []
    fields = [host_fields.BY_NAME[option] for option in ("image", *_DATA)]
    options = [field.name for field in fields if field.crd in spec and bmh["spec"].get(field.crd) != spec[field.crd]]
    options += [option for option in _DATA if (host.get(option) or {}).get("content") is not None
                and data_secret_name(host, option) in changed_secrets]
    return sorted(set(options))


def warning(name, options):
    """Return what a user should know of such a change."""
    return (f"{name}: {' and '.join(options)} changed, but the server keeps what was deployed: deprovision it and "
            "provision it again for the change to take effect")
