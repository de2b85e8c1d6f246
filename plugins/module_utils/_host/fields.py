# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a host: option name, name in the BareMetalHost CRD, type and limits.

One table for the argument spec, for checking values with all errors at once, and for building the object. It
follows the v1alpha1 CRD of BMO 0.13 (``config/base/crds/bases/metal3.io_baremetalhosts.yaml``).
"""
from __future__ import annotations

from collections import namedtuple

# name: option; crd: key in the CRD, None for what is no field of ``spec``; kind: str, int, bool, dict or list;
# fields: nested Fields of a dict or of a list of dicts; element: kind of a list's elements; minimum, maximum_length
# (also of a list), choices: the CRD's limits; secret: never shown; removable: an empty text, which is none of the
# choices, removes the field, as it does for other texts.
Field = namedtuple("Field", [
    "name", "crd", "kind", "required", "choices", "minimum", "maximum_length", "fields", "element", "secret",
    "removable"])


def field(name, crd, kind="str", required=False, choices=None, minimum=None, maximum_length=None, fields=None,
          element=None, secret=False, removable=False):
    return Field(name, crd, kind, required, choices, minimum, maximum_length, fields, element, secret, removable)


ROOT_DEVICE_HINTS = (
    field("device_name", "deviceName"),
    field("hctl", "hctl"),
    field("model", "model"),
    field("vendor", "vendor"),
    field("serial_number", "serialNumber"),
    field("min_size_gigabytes", "minSizeGigabytes", "int", minimum=0),
    field("wwn", "wwn"),
    field("wwn_with_extension", "wwnWithExtension"),
    field("wwn_vendor_extension", "wwnVendorExtension"),
    field("rotational", "rotational", "bool"),
)

RAID = (
    field("hardware_raid_volumes", "hardwareRAIDVolumes", "list", element="dict", fields=(
        field("level", "level", required=True, choices=("0", "1", "2", "5", "6", "1+0", "5+0", "6+0")),
        field("size_gibibytes", "sizeGibibytes", "int", minimum=0),
        field("name", "name", maximum_length=64),
        field("rotational", "rotational", "bool"),
        field("number_of_physical_disks", "numberOfPhysicalDisks", "int", minimum=1),
        field("controller", "controller"),
        field("physical_disks", "physicalDisks", "list", element="str"),
    )),
    field("software_raid_volumes", "softwareRAIDVolumes", "list", element="dict", maximum_length=2, fields=(
        field("level", "level", required=True, choices=("0", "1", "1+0")),
        field("size_gibibytes", "sizeGibibytes", "int", minimum=0),
        field("physical_disks", "physicalDisks", "list", element="dict", fields=ROOT_DEVICE_HINTS),
    )),
)


def _data(name, crd, secret_key):
    """A field whose content lives in a Secret: given inline (``content``) or by the Secret's name."""
    return field(name, crd, "dict", fields=(
        field("name", None), field("content", secret_key, secret=True)))


# Fields that deploy something. Left as they are when an entry does not mention them, because leaving them out must
# not wipe a server; an empty dictionary removes them.
DEPLOYMENT = ("image", "custom_deploy", "user_data", "network_data", "meta_data")
# option: key in the Secret that BMO reads (host_config_data.go).
DATA_KEYS = {
    "user_data": "userData", "network_data": "networkData", "meta_data": "metaData",
    "preprovisioning_network_data": "networkData",
}

SPEC = (
    field("online", "online", "bool"),
    field("bmc", "bmc", "dict", fields=(
        field("address", "address"),
        field("username", None, secret=False),
        field("password", None, secret=True),
        field("credentials_name", "credentialsName"),
        field("disable_certificate_verification", "disableCertificateVerification", "bool"),
    )),
    field("boot_mac_address", "bootMACAddress"),
    field("boot_mode", "bootMode", choices=("UEFI", "UEFISecureBoot", "legacy"), removable=True),
    field("description", "description"),
    field("architecture", "architecture"),
    field("automated_cleaning_mode", "automatedCleaningMode", choices=("metadata", "disabled"), removable=True),
    field("inspection_mode", "inspectionMode", choices=("agent", "disabled"), removable=True),
    field("disable_power_off", "disablePowerOff", "bool"),
    field("externally_provisioned", "externallyProvisioned", "bool"),
    field("consumer_ref", "consumerRef", "dict", fields=(
        field("api_version", "apiVersion"),
        field("kind", "kind"),
        field("name", "name"),
        field("namespace", "namespace"),
        field("field_path", "fieldPath"),
        field("resource_version", "resourceVersion"),
        field("uid", "uid"),
    )),
    field("root_device_hints", "rootDeviceHints", "dict", fields=ROOT_DEVICE_HINTS),
    field("raid", "raid", "dict", fields=RAID),
    field("image", "image", "dict", fields=(
        field("url", "url"),
        field("checksum", "checksum"),
        field("checksum_type", "checksumType", choices=("md5", "sha256", "sha512", "auto")),
        field("format", "format", choices=("raw", "qcow2", "vdi", "vmdk", "live-iso")),
        field("oci_auth_secret_name", "ociAuthSecretName"),
    )),
    field("custom_deploy", "customDeploy", "dict", fields=(field("method", "method"),)),
    _data("user_data", "userData", "userData"),
    _data("network_data", "networkData", "networkData"),
    _data("meta_data", "metaData", "metaData"),
    _data("preprovisioning_network_data", "preprovisioningNetworkDataName", "networkData"),
    field("firmware", "firmware", "dict", fields=(
        field("simultaneous_multithreading_enabled", "simultaneousMultithreadingEnabled", "bool"),
        field("sriov_enabled", "sriovEnabled", "bool"),
        field("virtualization_enabled", "virtualizationEnabled", "bool"),
    )),
    field("hardware_profile", "hardwareProfile"),
    field("taints", "taints", "list", element="dict", fields=(
        field("key", "key", required=True),
        field("effect", "effect", required=True),
        field("value", "value"),
        field("time_added", "timeAdded"),
    )),
)

# What Ansible shows in place of a secret parameter.
METADATA = (
    field("name", None, required=True),
    field("state", None, choices=("present", "absent")),
    field("labels", None, "dict"),
    field("annotations", None, "dict"),
)

HOST = METADATA + SPEC
BY_NAME = dict((field.name, field) for field in HOST)


def argument_spec(fields=HOST):
    """Return the argument spec of a tuple of Fields."""
    return dict((field.name, _option(field)) for field in fields)


def _option(field):
    option = {"type": field.kind}
    if field.required:
        option["required"] = True
    if field.choices:
        option["choices"] = list(field.choices) + ([""] if field.removable else [])
    if field.kind == "list":
        option["elements"] = field.element
    if field.fields:
        option["options"] = argument_spec(field.fields)
    if field.secret:
        option["no_log"] = True
    elif "secret" in field.name or "key" in field.name or "credentials" in field.name:
        # Names of Secrets and taint keys are no secrets.
        option["no_log"] = False
    return option


def to_crd(fields, values):
    """Return given values under their CRD names; options that are not set are left out.

    :param fields: tuple of Fields
    :param values: dict by option name
    """
    result = {}
    for field in fields:
        value = values.get(field.name)
        if value is None or field.crd is None:
            continue
        if field.fields and field.kind == "dict":
            value = to_crd(field.fields, value)
        elif field.fields:
            value = [to_crd(field.fields, item) for item in value]
        result[field.crd] = value
    return result
