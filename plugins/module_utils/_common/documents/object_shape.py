# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of an API server as far as they have the form that their kind is to have; pure.

Fields are optional in most CRDs, ``spec`` among them, and a server with another version of a CRD holds other types.
What has another type is left out, as if it were not there, so that nothing that reads the object has to expect it.
"""
from __future__ import annotations

import ipaddress
from typing import Any

from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import formats

TEXT, NUMBER, TRUTH = (str,), (int, float), (bool,)


class Each:
    """The shape of a dictionary whose keys are not known: all its values have this one."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class Open:
    """The shape of a dictionary of which some keys are known; all others are kept as they are.

    :param needs: keys without which the dictionary is left out
    """

    def __init__(self, needs: Any = (), **known: Any) -> None:
        self.needs = needs
        self.known = known


def is_address(value: str) -> bool:
    """True when a value is the text of an IP address, without a zone: that may be any text."""
    try:
        return isinstance(value, str) and "%" not in value and bool(ipaddress.ip_address(value))
    except ValueError:
        return False


def is_moment(value: Any) -> bool:
    """True for a point in time as the API writes it, or null, which BMO writes for an operation that has not run."""
    return value is None or (isinstance(value, str) and formats.moment(value) is not None)


_NAMED = Open(name=TEXT, namespace=TEXT, kind=TEXT)
_TEXTS = Each(TEXT)
_METADATA = Open(
    labels=_TEXTS, annotations=_TEXTS, finalizers=[TEXT], ownerReferences=[_NAMED], uid=TEXT, resourceVersion=TEXT,
    deletionTimestamp=TEXT, generation=NUMBER, managedFields=[Open(fieldsV1=Open(), manager=TEXT, operation=TEXT)])
_CREDENTIALS = Open(credentials=_NAMED, credentialsVersion=TEXT)
_IMAGE = Open(url=TEXT, checksum=TEXT, checksumType=TEXT, format=TEXT)
_RAID = Open(hardwareRAIDVolumes=[Open()], softwareRAIDVolumes=[Open()])
_PARTS = Open(
    cpu=Open(count=NUMBER, model=TEXT, arch=TEXT), systemVendor=_TEXTS, ramMebibytes=NUMBER, hostname=TEXT,
    storage=[Open(name=TEXT, sizeBytes=NUMBER, model=TEXT, serialNumber=TEXT, type=TEXT)],
    nics=[Open(name=TEXT, mac=TEXT, ip=TEXT, speedGbps=NUMBER, model=TEXT, lldp=_TEXTS)])

HOST = Open(
    metadata=_METADATA,
    spec=Open(bmc=Open(address=TEXT, credentialsName=TEXT, disableCertificateVerification=TRUTH), bootMACAddress=TEXT,
              online=TRUTH, image=_IMAGE, customDeploy=Open(method=TEXT), consumerRef=_NAMED, userData=_NAMED,
              networkData=_NAMED, metaData=_NAMED, preprovisioningNetworkDataName=TEXT, externallyProvisioned=TRUTH,
              disablePowerOff=TRUTH, inspectionMode=TEXT, raid=_RAID),
    status=Open(provisioning=Open(state=TEXT, ID=TEXT, image=_IMAGE, customDeploy=Open(method=TEXT), raid=_RAID),
                operationalStatus=TEXT, errorType=TEXT, errorMessage=TEXT, errorCount=NUMBER, poweredOn=TRUTH,
                hardware=_PARTS, goodCredentials=_CREDENTIALS, triedCredentials=_CREDENTIALS, lastUpdated=TEXT,
                operationHistory=Each(Open(start=is_moment, end=is_moment))))
HARDWARE_DATA = Open(metadata=_METADATA, spec=Open(hardware=_PARTS))
SECRET = Open(metadata=_METADATA, type=TEXT, data=_TEXTS)
_RANGE = Open(start=TEXT, end=TEXT, subnet=TEXT, prefix=NUMBER, gateway=TEXT, dnsServers=[TEXT])
CONDITION = Open(type=TEXT, status=TEXT, message=TEXT, reason=TEXT, lastTransitionTime=TEXT, observedGeneration=NUMBER)
_CONDITIONS = [CONDITION]
_ANSWER = Open(address=_NAMED, addressRef=_NAMED, errorMessage=TEXT, conditions=_CONDITIONS)
POOL = Open(metadata=_METADATA, spec=Open(
    namePrefix=TEXT, pools=[_RANGE], clusterName=TEXT, prefix=NUMBER, gateway=TEXT, dnsServers=[TEXT],
    preAllocations=Each(is_address), allocationStrategy=TEXT))
CLAIM = Open(metadata=_METADATA, spec=Open(pool=_NAMED, poolRef=_NAMED), status=_ANSWER)
ADDRESS = Open(metadata=_METADATA, spec=Open(
    address=is_address, pool=_NAMED, poolRef=_NAMED, claim=_NAMED, claimRef=_NAMED))
_UPDATE = Open(("component", "url"), component=TEXT, url=TEXT)
_ERROR = Open(count=NUMBER, message=TEXT)
_ANY = Open(metadata=_METADATA, spec=Open(), status=Open(conditions=_CONDITIONS))
# Kinds beside the BareMetalHost, as far as more than spec, status and conditions of them is looked at.
_KINDS = {
    "BareMetalHost": HOST,
    "HardwareData": HARDWARE_DATA,
    "HostFirmwareSettings": Open(metadata=_METADATA, spec=Open(settings=Open()), status=Open(
        settings=_TEXTS, schema=_NAMED, conditions=_CONDITIONS, lastUpdated=TEXT)),
    "FirmwareSchema": Open(metadata=_METADATA, spec=Open(schema=Each(Open(
        attribute_type=TEXT, allowable_values=[TEXT], lower_bound=NUMBER, upper_bound=NUMBER, min_length=NUMBER,
        max_length=NUMBER, read_only=TRUTH, unique=TRUTH)))),
    "HostFirmwareComponents": Open(metadata=_METADATA, spec=Open(updates=[_UPDATE]), status=Open(
        components=[Open(("component",), component=TEXT, currentVersion=TEXT, initialVersion=TEXT,
                         lastVersionFlashed=TEXT)],
        updates=[_UPDATE], conditions=_CONDITIONS, lastUpdated=TEXT)),
    "HostUpdatePolicy": Open(metadata=_METADATA, spec=Open(firmwareSettings=TEXT, firmwareUpdates=TEXT)),
    "DataImage": Open(metadata=_METADATA, spec=Open(url=TEXT), status=Open(attachedImage=Open(url=TEXT), error=_ERROR)),
    # Of workload clusters, whose API servers are others'.
    "Node": Open(metadata=_METADATA, spec=Open(unschedulable=TRUTH, providerID=TEXT), status=Open(
        conditions=_CONDITIONS, addresses=[Open(type=TEXT, address=TEXT)])),
    "Lease": Open(metadata=_METADATA, spec=Open(renewTime=TEXT)),
    "Pod": Open(metadata=_METADATA, spec=Open(volumes=[Open()]), status=Open(phase=TEXT)),
    "PodDisruptionBudget": Open(
        metadata=_METADATA, spec=Open(selector=Open(matchLabels=_TEXTS, matchExpressions=[
            Open(("key", "operator"), key=TEXT, operator=TEXT, values=[TEXT])])),
        status=Open(disruptionsAllowed=NUMBER)),
    "BMCEventSubscription": Open(metadata=_METADATA, spec=Open(
        hostName=TEXT, destination=TEXT, context=TEXT, httpHeadersRef=_NAMED), status=Open(
            error=TEXT, subscriptionID=TEXT)),
}


def of_kind(obj: Any, kind: Any) -> Any:
    """Return an object without what has another type than its kind says; see :func:`shaped`."""
    return shaped(obj, _KINDS.get(kind, _ANY))


def shaped(obj: Any, shape: Any) -> Any:
    """Return an object without what has another type than its shape says; ``spec`` is there in any case.

    :param obj: the object, or None; its ``metadata`` has a name
    :param shape: one of this file's
    """
    if obj is None:
        return None
    return dict({"spec": {}} if "spec" in shape.known else {}, **_known(obj, shape))


def _known(value: Any, shape: Any) -> Any:
    result = dict(value)
    for key, part in shape.known.items():
        if key in result:
            if _fits(result[key], part):
                result[key] = _fitting(result[key], part)
            else:
                del result[key]
    return result


def _fits(value: Any, shape: Any) -> Any:
    if isinstance(shape, Open):
        return isinstance(value, dict) and all(
            key in value and _fits(value[key], shape.known[key]) for key in shape.needs)
    if isinstance(shape, Each):
        return isinstance(value, dict)
    if isinstance(shape, list):
        return isinstance(value, list)
    if shape in (is_address, is_moment):
        return shape(value)
    # True is a number to Python.
    return isinstance(value, shape) and (shape is TRUTH or not isinstance(value, bool))


def _fitting(value: Any, shape: Any) -> Any:
    if isinstance(shape, Open):
        return _known(value, shape)
    if isinstance(shape, Each):
        return dict((key, _fitting(item, shape.shape)) for key, item in value.items() if _fits(item, shape.shape))
    if isinstance(shape, list):
        return [_fitting(item, shape[0]) for item in value if _fits(item, shape[0])]
    return value
