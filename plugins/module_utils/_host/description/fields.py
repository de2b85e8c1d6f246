# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a host: option name, name in the BareMetalHost CRD, type and limits.

The table follows the v1alpha1 CRD of BMO 0.13 (``config/base/crds/bases/metal3.io_baremetalhosts.yaml``).
"""
from __future__ import annotations

from ..._common.options.fields import METADATA, Field

ROOT_DEVICE_HINTS = (
    Field("device_name", "deviceName"),
    Field("hctl", "hctl"),
    Field("model", "model"),
    Field("vendor", "vendor"),
    Field("serial_number", "serialNumber"),
    Field("min_size_gigabytes", "minSizeGigabytes", "int", minimum=0, unset_at_zero=True),
    Field("wwn", "wwn"),
    Field("wwn_with_extension", "wwnWithExtension"),
    Field("wwn_vendor_extension", "wwnVendorExtension"),
    Field("rotational", "rotational", "bool"),
)

RAID = (
    Field("hardware_raid_volumes", "hardwareRAIDVolumes", "list", element="dict", fields=(
        Field("level", "level", required=True, choices=("0", "1", "2", "5", "6", "1+0", "5+0", "6+0")),
        Field("size_gibibytes", "sizeGibibytes", "int", minimum=0),
        Field("name", "name", maximum_length=64),
        Field("rotational", "rotational", "bool"),
        Field("number_of_physical_disks", "numberOfPhysicalDisks", "int", minimum=1),
        Field("controller", "controller"),
        Field("physical_disks", "physicalDisks", "list", element="str"),
    )),
    Field("software_raid_volumes", "softwareRAIDVolumes", "list", element="dict", maximum_length=2, fields=(
        Field("level", "level", required=True, choices=("0", "1", "1+0")),
        Field("size_gibibytes", "sizeGibibytes", "int", minimum=0),
        Field("physical_disks", "physicalDisks", "list", element="dict", fields=ROOT_DEVICE_HINTS),
    )),
)


def _data(name, crd, secret_key):
    """A field whose content lives in a Secret: given inline (``content``) or by the Secret's name."""
    return Field(name, crd, "dict", fields=(
        Field("name", None), Field("content", secret_key, secret=True)))


# Fields that deploy something. Left as they are when an entry does not mention them, because leaving them out must
# not wipe a server; an empty dictionary removes them.
DEPLOYMENT = ("image", "custom_deploy", "user_data", "network_data", "meta_data")
# option: key in the Secret that BMO reads (host_config_data.go).
DATA_KEYS = {
    "user_data": "userData", "network_data": "networkData", "meta_data": "metaData",
    "preprovisioning_network_data": "networkData",
}

SPEC = (
    Field("online", "online", "bool"),
    Field("bmc", "bmc", "dict", fields=(
        Field("address", "address"),
        Field("username", None, secret=False),
        Field("password", None, secret=True),
        Field("credentials_name", "credentialsName"),
        Field("disable_certificate_verification", "disableCertificateVerification", "bool", unset_at_zero=True),
    )),
    Field("boot_mac_address", "bootMACAddress"),
    Field("boot_mode", "bootMode", choices=("UEFI", "UEFISecureBoot", "legacy"), removable=True),
    Field("description", "description"),
    Field("architecture", "architecture"),
    Field("automated_cleaning_mode", "automatedCleaningMode", choices=("metadata", "disabled"), removable=True),
    Field("inspection_mode", "inspectionMode", choices=("agent", "disabled"), removable=True),
    Field("disable_power_off", "disablePowerOff", "bool", unset_at_zero=True),
    Field("externally_provisioned", "externallyProvisioned", "bool", unset_at_zero=True),
    Field("consumer_ref", "consumerRef", "dict", fields=(
        Field("api_version", "apiVersion"),
        Field("kind", "kind"),
        Field("name", "name"),
        Field("namespace", "namespace"),
        Field("field_path", "fieldPath"),
        Field("resource_version", "resourceVersion"),
        Field("uid", "uid"),
    )),
    Field("root_device_hints", "rootDeviceHints", "dict", fields=ROOT_DEVICE_HINTS),
    Field("raid", "raid", "dict", fields=RAID),
    Field("image", "image", "dict", fields=(
        Field("url", "url"),
        Field("checksum", "checksum"),
        Field("checksum_type", "checksumType", choices=("md5", "sha256", "sha512", "auto")),
        Field("format", "format", choices=("raw", "qcow2", "vdi", "vmdk", "live-iso")),
        Field("oci_auth_secret_name", "ociAuthSecretName"),
    )),
    Field("custom_deploy", "customDeploy", "dict", fields=(Field("method", "method"),)),
    _data("user_data", "userData", "userData"),
    _data("network_data", "networkData", "networkData"),
    _data("meta_data", "metaData", "metaData"),
    _data("preprovisioning_network_data", "preprovisioningNetworkDataName", "networkData"),
    Field("firmware", "firmware", "dict", fields=(
        Field("simultaneous_multithreading_enabled", "simultaneousMultithreadingEnabled", "bool"),
        Field("sriov_enabled", "sriovEnabled", "bool"),
        Field("virtualization_enabled", "virtualizationEnabled", "bool"),
    )),
    Field("hardware_profile", "hardwareProfile"),
    Field("taints", "taints", "list", element="dict", fields=(
        Field("key", "key", required=True),
        Field("effect", "effect", required=True),
        Field("value", "value"),
        Field("time_added", "timeAdded"),
    )),
)

HOST = METADATA + SPEC
BY_NAME = dict((field.name, field) for field in HOST)
