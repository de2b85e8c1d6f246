# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that a host entry stands for: a BareMetalHost and its Secrets. Pure functions of data."""
from __future__ import annotations

import base64
from collections import namedtuple

from ..._common.options.field_checks import text_of
from ..._common.options.fields import to_crd
from . import fields as host_fields

API_VERSION = "metal3.io/v1alpha1"
KIND = "BareMetalHost"
# BMO caches, and so watches, only Secrets with this label (secretutils.LabelEnvironmentName).
ENVIRONMENT_LABEL = "environment.metal3.io"
SECRET_SELECTOR = ENVIRONMENT_LABEL + "=baremetal"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGER = "metal3.baremetal"

# What a consumer (Cluster API's Metal3Machine, a person) relies on: never changed under it.
PROTECTED = ("online", "image", "custom_deploy", "user_data", "network_data", "meta_data")

# bmh: the desired BareMetalHost; protected: options that were given but not applied, because of a consumer;
# removals: CRD names of fields to remove although another manager owns them.
Desired = namedtuple("Desired", ["bmh", "protected", "removals"])


def consumer_of(bmh):
    """Return ``Kind namespace/name`` of a host's consumer, empty when there is none."""
    reference = (bmh.get("spec") or {}).get("consumerRef")
    if not reference:
        return ""
    return f"{reference.get('kind', 'object')} {reference.get('namespace', '')}/{reference.get('name', '')}"


def has_inline_credentials(bmc):
    """True when user name and password are given in the entry itself."""
    return bool((bmc or {}).get("username")) and bool((bmc or {}).get("password"))


def credentials_secret_name(host):
    """Return the name of the credentials Secret of an entry."""
    return (host.get("bmc") or {}).get("credentials_name") or f"{host.get('name')}-bmc-secret"


def stored_secret_name(bmh):
    """Return the name of the credentials Secret that a BareMetalHost has, empty when it has none."""
    return ((bmh.get("spec") or {}).get("bmc") or {}).get("credentialsName") or ""


def data_secret_name(host, option):
    """Return the name of the Secret that holds an entry's user, network or meta data."""
    return (host.get(option) or {}).get("name") or f"{host.get('name')}-{option.replace('_', '-')}"


def is_removal(value):
    """True when an option is given as empty: its field is to be removed."""
    if isinstance(value, dict):
        return all(item is None for item in value.values())
    return value in ("", [])


def _secret(name, namespace, values, owner):
    metadata = {"name": name, "namespace": namespace,
                "labels": {ENVIRONMENT_LABEL: "baremetal", MANAGED_BY_LABEL: MANAGER}}
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": API_VERSION, "kind": KIND,
                                        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
    data = dict((key, base64.b64encode(value.encode()).decode()) for key, value in values.items())
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": data}


def credentials_secret(host, namespace):
    """Return the credentials Secret of an entry, or None when it names an existing one.

    It has no owner reference: BMO adds its own when it uses the Secret.
    """
    bmc = host.get("bmc") or {}
    if not has_inline_credentials(bmc):
        return None
    return _secret(credentials_secret_name(host), namespace,
                   {"username": bmc["username"], "password": bmc["password"]}, None)


def guarded_options(current, forced):
    """Return the options that are not applied, because the stored host has a consumer.

    :param current: the stored BareMetalHost, or None
    :param forced: apply them in spite of a consumer
    """
    return PROTECTED if current and consumer_of(current) and not forced else ()


def is_own_data(secret):
    """Say whether a stored Secret is one that this collection has written for user, network or meta data."""
    labels = secret["metadata"].get("labels") or {}
    return labels.get(MANAGED_BY_LABEL) == MANAGER and set(secret.get("data") or {}) <= set(
        host_fields.DATA_KEYS.values())


def with_owners(secret, stored):
    """Return a data Secret with the hosts as owners that another entry, or a run over other hosts, has given it.

    Without them an apply by the same field manager takes them away, and the Secret goes with the host that is left,
    although others name it.

    :param secret: the desired Secret; all others than of data come back as they are
    :param stored: the Secret as it is or is to be for other entries, or None
    """
    owners = [owner for owner in ((stored or {}).get("metadata") or {}).get("ownerReferences") or []
              if owner.get("kind") == KIND and owner.get("uid")]
    if not owners or not is_own_data(secret):
        return secret
    own = secret["metadata"].get("ownerReferences") or []
    # A host that was created again has another uid.
    names = set(owner["name"] for owner in own)
    kept = [{"apiVersion": API_VERSION, "kind": KIND, "name": owner["name"], "uid": owner["uid"]}
            for owner in owners if owner.get("name") and owner["name"] not in names]
    owners = sorted(own + kept, key=lambda owner: (owner["name"], owner["uid"]))
    return dict(secret, metadata=dict(secret["metadata"], ownerReferences=owners)) if kept else secret


def data_secrets(host, namespace, owner=None, protected=()):
    """Return the Secrets for data that an entry gives inline.

    :param owner: the stored BareMetalHost, with which they are to go away; None while it does not exist
    :param protected: options that are not applied
    """
    secrets = []
    for option in data_options(host):
        if option not in protected:
            secrets.append(_secret(data_secret_name(host, option), namespace,
                                   {host_fields.DATA_KEYS[option]: host[option]["content"]}, owner))
    return secrets


def data_options(host):
    """Return the options of an entry whose data is given inline."""
    return [option for option in host_fields.DATA_KEYS if (host.get(option) or {}).get("content") is not None]


def written_secrets(host):
    """Return ``(names, of them those that the entry gives)`` of the Secrets that an entry writes."""
    options = data_options(host)
    names = set(data_secret_name(host, option) for option in options)
    if has_inline_credentials(host.get("bmc")):
        names.add(credentials_secret_name(host))
    return names, set(host[option]["name"] for option in options if host[option].get("name"))


def referenced_secrets(host):
    """Return the names of Secrets that an entry refers to and that must exist already."""
    return set(name for _field, name in secret_references(host))


def secret_references(host):
    """Return ``(path of the option, name)`` of each Secret that an entry refers to and that must exist already."""
    found = []
    bmc = host.get("bmc") or {}
    if bmc.get("credentials_name") and not has_inline_credentials(bmc):
        found.append(("bmc.credentials_name", bmc["credentials_name"]))
    for option in host_fields.DATA_KEYS:
        data = host.get(option) or {}
        if data.get("name") and data.get("content") is None:
            found.append((option + ".name", data["name"]))
    if (host.get("image") or {}).get("oci_auth_secret_name"):
        found.append(("image.oci_auth_secret_name", host["image"]["oci_auth_secret_name"]))
    return found


def left_references(host, current):
    """Return ``{CRD field: name of a Secret}`` that a host to be deployed refers to without its entry saying so.

    CAPM3 1.13 forgets what it has written to a host when the host's machine is deleted in more than one pass, and gives
    it back with references to Secrets that go with the machine; BMO 0.13 waits for them without a word in the status.

    :param host: an entry
    :param current: the stored BareMetalHost, or None
    """
    if not current or consumer_of(current) or not any(host.get(name) for name in host_fields.DEPLOYMENT):
        return {}
    references = dict((field.crd, current["spec"].get(field.crd)) for field in host_fields.SPEC
                      if field.name in host_fields.DATA_KEYS and host.get(field.name) is None)
    return dict((crd, value["name"]) for crd, value in references.items()
                if isinstance(value, dict) and value.get("name"))


def without_deployment(host):
    """Return an entry without the options that deploy something."""
    return dict((name, value) for name, value in host.items() if name not in host_fields.DEPLOYMENT)


def desired_host(host, namespace, current=None, owned=None, forced=False, dangling=()):
    """Return what the BareMetalHost of an entry is to be.

    Options that are not given leave their field as it is; empty ones remove it. Fields of :data:`PROTECTED` stay as
    they are while the stored host has a consumer, and so does the consumer itself when somebody else set it.

    :param host: an entry, as the module gets it
    :param current: the stored BareMetalHost, or None
    :param owned: ``{"spec": names, "labels": keys, "annotations": keys}`` that this collection owns on it
    :param forced: apply protected fields in spite of a consumer
    :param dangling: those of :func:`left_references` whose Secret is not there: they are removed
    :returns: a Desired
    """
    stored = (current or {}).get("spec") or {}
    owned = owned or {"spec": (), "labels": (), "annotations": ()}
    guarded = guarded_options(current, forced)
    if guarded and "consumerRef" not in owned["spec"]:
        # Who reserved the host by this collection may also release it.
        guarded += ("consumer_ref",)
    spec, protected, removals = {}, [], []
    for field in host_fields.SPEC:
        given = host.get(field.name)
        kept = stored.get(field.crd)
        if given is not None and field.name not in guarded:
            value = None if is_removal(given) else _without_unset(field, _spec_value(field, given, host, kept), kept)
            if value is not None:
                spec[field.crd] = value
            elif field.crd in stored and field.crd not in owned["spec"]:
                removals.append(field.crd)
            continue
        if given is not None:
            wanted = None if is_removal(given) else _without_unset(field, _spec_value(field, given, host, kept), kept)
            # A Secret's content can't be compared through its name; it is left alone all the same.
            if wanted != kept:
                protected.append(field.name)
        if kept is not None and field.crd in dangling:
            if field.crd not in owned["spec"]:
                removals.append(field.crd)
        elif kept is not None and field.crd in owned["spec"]:
            spec[field.crd] = kept
    if "online" not in stored:
        # Required by the CRD; what is stored is not sent again, for who owns it may change it at any time.
        spec.setdefault("online", True)
    metadata = {"name": host["name"], "namespace": namespace}
    for kind in ("labels", "annotations"):
        values = _metadata(host.get(kind), ((current or {}).get("metadata") or {}).get(kind) or {}, owned[kind])
        if values:
            metadata[kind] = values
    bmh = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}
    return Desired(bmh, protected, removals)


def _metadata(given, stored, owned):
    if given is None:
        return dict((key, stored[key]) for key in owned if key in stored)
    return dict((str(key), text_of(value)) for key, value in given.items())


def _without_unset(field, value, kept):
    """Return a value of ``spec`` without what says no more than leaving it out, None when that is the value itself.

    BMO writes a host as a whole when it takes it up, by types that leave such values out (``omitempty``). Sent again,
    they would be a change each time. What is stored is sent, since it may be another value.

    :param kept: the stored value, or None
    """
    if kept is None and ((field.unset_at_zero and not value) or (field.kind == "str" and value == "")):
        return None
    if not isinstance(value, dict) or not field.fields:
        return value
    stored, parts = kept if isinstance(kept, dict) else {}, dict((part.crd, part) for part in field.fields)
    left = dict((key, _without_unset(parts[key], item, stored.get(key)) if key in parts else item)
                for key, item in value.items())
    return dict((key, item) for key, item in left.items() if item is not None)


def _spec_value(field, given, host, kept):
    if field.name == "bmc":
        value = to_crd(field.fields, given)
        if given.get("address"):
            value["credentialsName"] = credentials_secret_name(host)
        return value
    if field.name == "preprovisioning_network_data":
        return data_secret_name(host, field.name)
    if field.name in host_fields.DATA_KEYS:
        # BMO and CAPM3 may have added the namespace, which says nothing new.
        value = {"name": data_secret_name(host, field.name)}
        return dict(kept, **value) if isinstance(kept, dict) and kept.get("name") == value["name"] else value
    if field.name == "boot_mac_address" and isinstance(kept, str) and kept.lower() == given.lower():
        # The webhook compares without case, so another spelling is no change.
        return kept
    return to_crd((field,), {field.name: given})[field.crd]


def owned_fields(tree):
    """Return what :func:`desired_host` needs of a FieldsV1 tree of this collection's ownership."""
    def keys(*path):
        node = tree
        for part in path:
            node = node.get("f:" + part) or {}
        return tuple(mark[2:] for mark in node if mark.startswith("f:"))
    return {"spec": keys("spec"), "labels": keys("metadata", "labels"), "annotations": keys("metadata", "annotations")}
