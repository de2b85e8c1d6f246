# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a BareMetalHost's error message means: cause, next step, and whether waiting can help."""
from __future__ import annotations

import re
from collections import namedtuple

from ..._bmc.virtual_media.media_checks import TRUST

# definitive: BMO will try again, but with the same result until somebody acts.
Explanation = namedtuple("Explanation", ["cause", "next_step", "definitive"])

_DISK = ("a disk could not be written", "look at the disk's health; choose another one by root_device_hints", False)
_DOWNLOAD = ("the image can't be downloaded", "look whether image.url answers from the provisioning network", False)

# Of a ramdisk of which nothing is heard: what is known of the server's boot is the cause then.
_NEVER_REPORTED = "the deploy ramdisk booted for inspection never reported"
_STOPPED_CALLING = "the deploy ramdisk stopped calling Ironic"

# The first pattern that matches wins. Messages are those of BMO 0.13, Ironic 39 and sushy 5.
_TABLE = (
    (r"Firmware update failed|update_firmware|SimpleUpdate", "a firmware image could not be flashed",
     "give an image that fits the server, by another URL: BMO may take this one for flashed from now on", True),
    (r"apply_configuration failed|BIOS (apply )?configuration failed|[Ff]ailed to apply BIOS",
     "the BMC refused BIOS settings", "correct the settings", True),
    # Ironic's redfish/raid.py; the last is Python's, of named disks none of which the server has.
    (r"'create_configuration'.*(failed to find matching physical disks|spans count|too few for|is not enough for|"
     r"single span|Cannot calculate spans|is not supported by the driver|is missing from logical_disk|"
     r"min\(\) arg is an empty sequence)",
     "the RAID volumes do not fit the server's drives",
     "compare raid with the drives that the BMC lists: their number, sizes, kinds and names", True),
    (r"'create_configuration'.*returned code (400|405|409|422)\b", "the RAID controller refused a volume",
     "correct raid by what the BMC says, or look at the controller and its drives", True),
    # Before what is of BMCs: Python reports an agent that can't be reached in the same words.
    (r"connect to the agent running on node.*not yet valid",
     "the clocks of the server and of Ironic's machine differ: the certificate of the deploy ramdisk's agent is not "
     "valid yet", "compare the server's clock (BIOS, as UTC) with that of the machine that Ironic runs on", False),
    (r"connect to the agent running on node", "Ironic does not reach the agent of the deploy ramdisk",
     "look at the network from Ironic to the server (TCP port 9999): routes, firewall, the server's address; and at "
     "the server's console, whether the ramdisk still runs", False),
    # Before Ironic's own verification of the BMC, which Python reports in the same words.
    (r"Virtual media mount failed.*([Cc]ertificate|CERTIFICATE_VERIFY_FAILED|SSLError|x509)",
     "the BMC does not trust the TLS certificate of the server that gives out the boot image", TRUST, True),
    # HPE's and Supermicro's; with the codes of refused credentials.
    (r"LicenseKeyRequired|OemLicenseNotPassed|Not licensed to perform",
     "the BMC lacks a license for what Ironic asks of it",
     "give the BMC the license that the message names; without one for virtual media choose a scheme that boots from "
     "the network", True),
    # The BMC quotes the connection to the image server, in the words for one to itself.
    (r"Virtual media mount failed", "the BMC did not take the boot image as virtual media",
     "look whether the BMC's network reaches the URL in the message (playbook network_check, network_check_media_url), "
     "and at the BMC's log", False),
    (r"No suitable virtual media device", "the BMC has no virtual CD that Ironic can use",
     "look whether virtual media is switched on at the BMC and licensed, or choose a scheme that boots from the "
     "network", False),
    # Before the BMC's own answers with these codes.
    (r"Validation of image href .* HTTP code 40[134]\b|Received status code 40[134] from|"
     r"[Cc]hecksum file \S+ status code 40[134]\b",
     "the image server does not give out the image or its checksum file", "correct image.url and image.checksum", True),
    (r"Validation of image href", *_DOWNLOAD),
    (r"Creating iso image failed: .*(isolinux|ldlinux)",
     "Ironic has no isolinux, by which a legacy BIOS boots virtual media",
     "install isolinux where Ironic runs (Debian: isolinux and syslinux-common; of a plane as processes run install "
     "again), or set boot_mode to UEFI", False),
    # Ironic's own disk: of a server's the agent names no file, and calls no download so.
    (r"\[Errno 28\] No space left on device: '", "Ironic has no space left for the boot image",
     "make space on the disk with the folders in which Ironic makes and publishes boot images (in a cluster the pod's "
     "volume /shared)", False),
    (r"Failed to download image .*No space left|Disk volume where .* doesn't have enough disk space",
     "Ironic has no space left for an image",
     "make space on the disk on which Ironic keeps images (in a cluster the pod's volume /shared)", False),
    (r"Memory size is too small for requested image",
     "the image does not fit into the server's memory, where the agent unpacks what is not raw",
     "give the image as raw, which is written as it comes, or a smaller one", True),
    # What the deploy agent reports of an image, before the BMC's own answers: it quotes broken connections. Whatever
    # goes wrong while it streams a raw image, it calls a failed download of an image that it was unable to write.
    (r"too small|[Nn]o space left|not enough space|is larger than",
     "the image does not fit on the root device", "choose a larger disk by root_device_hints or a smaller image", True),
    (r"Read-only file system|flagged read-only|write-protected", "a disk is write-protected",
     "take the protection off (jumper, controller, locked drive) or choose another disk by root_device_hints", True),
    (r"Input/output error|I/O error|ImageWriteError|Writing image to device", *_DISK),
    (r"[Cc]hecksum|image (is )?corrupt|does not match.*hash|ImageChecksumError",
     "the image's checksum is not the given one",
     "correct image.checksum and image.checksum_type, or the image on the server", True),
    (r"Download of image \S+ failed", *_DOWNLOAD),
    (r"failed to read preprovisioningNetworkData", "the Secret of the preprovisioning network data can't be read",
     "look whether the Secret that spec.preprovisioningNetworkDataName names is there; give its contents as "
     "preprovisioning_network_data", True),
    (r"Preprovisioning Image is not acceptable|no acceptable formats for preprovisioning image",
     "there is no deploy ramdisk in a form in which the server can boot it",
     "look at the PreprovisioningImage of the host's name, and whether its format fits the scheme of bmc.address",
     False),
    (r"ironic version does not support DisablePowerOff", "this Ironic can't keep a server from being switched off",
     "use a newer Ironic, or leave out disable_power_off", True),
    (r"secret doesn't exist|failed to fetch secret|auth secret .* not found in namespace",
     "a Secret that the host refers to does not exist",
     "create it, or give bmc.username and bmc.password", True),
    (r"No BMC CredentialsName defined|Missing BMC connection detail|Validation error with BMC credentials",
     "the credentials Secret lacks username or password",
     "give both as bmc.username and bmc.password, or correct the Secret", True),
    (r"Empty BMC address", "the host has no BMC address", "set bmc.address", True),
    (r"Unknown BMC type", "this BMO does not know the scheme of the BMC address",
     "choose a scheme that this BMO supports", True),
    (r"MAC address .* conflicts with existing node|port with MAC address .* already exists|MACAlreadyExists",
     "another Ironic node already has this boot MAC address, perhaps the remains of a deleted host",
     "find the node with `baremetal port list --address <MAC>`; correct boot_mac_address or delete the left-over node",
     True),
    (r"code:? 401\b|401 [Uu]nauthorized|[Uu]nauthorized|InvalidCredentials|authentication fail|[Ll]ogin fail|"
     r"RAKP 2 HMAC is invalid|unable to establish IPMI v2|password invalid|code 403\b|\bForbidden\b",
     "the BMC refused the credentials",
     "correct bmc.username and bmc.password; look whether the account is locked or lacks the operator role", True),
    (r"certificate is not yet valid", "the BMC's TLS certificate is not valid yet by the clock of Ironic's machine",
     "compare the clocks of the BMC and of the machine that Ironic runs on, then renew the certificate if it is wrong",
     True),
    (r"certificate verify failed|CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|certificate has expired|"
     r"SSLCertVerificationError|hostname .* doesn't match",
     "the BMC's TLS certificate is not trusted by Ironic",
     "add the BMC's CA to Ironic, renew the certificate, or set bmc.disable_certificate_verification", True),
    (r"(Resource|HTTP [A-Z]+) \S*/Systems/[^/\s]+/? (not found|returned code 404)|Redfish System .* was not found|"
     r"attribute \S+ is missing from the resource \S*/(Managers|Chassis)/",
     "the BMC answers, but has no system at the path of the address",
     "look up the system's path under /redfish/v1/Systems on the BMC and correct bmc.address", True),
    # Also of a task that is over, and of a BMC that starts again.
    (r"Resource .* not found|code 404|ResourceNotFound", "the BMC does not have what Ironic asked it for",
     "look whether the BMC has the path in the message: its firmware may be too old for it, or start again", False),
    (r"More than one System|multiple systems|exactly one",
     "the BMC has several systems and the address names none", "add the system's path to bmc.address", True),
    (r"boot interface is not suitable for node .* with vendor",
     "Ironic does not boot a server of this vendor by the scheme of its BMC address",
     "choose the scheme that the playbook preflight recommends for bmc.address", True),
    (r"requires a provisioning network", "this BMO runs without a provisioning network, which the scheme needs",
     "use a virtual media or UEFI HTTP scheme", True),
    (r"does not support secure boot", "the BMC's scheme does not support secure boot",
     "choose a Redfish scheme or another boot_mode", True),
    (r"requires a BootMACAddress", "the BMC's scheme needs the boot MAC address", "set boot_mac_address", True),
    (r"Unable to connect|Connection refused|ConnectionError|No route to host|timed out.*(redfish|ipmi)|"
     r"Failed to establish|Name or service not known|getaddrinfo|Max retries exceeded|Connection reset|"
     r"code 50[234]\b|Service Unavailable",
     "the BMC does not answer", "look at the BMC's address, power and network as Ironic reaches them", False),
    # After what a BMC answers that can't be used at all.
    (r"Setting boot mode to \S+ failed", "the BMC did not set the boot mode",
     "look which boot modes the server's BIOS allows; set boot_mode to one of them, or the mode in the BIOS", False),
    (r"Failed to set secure boot state", "the BMC did not set secure boot",
     "look in the server's BIOS whether secure boot can be changed, or choose another boot_mode", False),
    (r"no network interfaces match|no NICs|valid.*interfaces.*inventory|no ports|[Nn]o suitable.*(NIC|MAC)",
     "inspection reported no usable network interface",
     "look at the server's NICs, and whether the deploy ramdisk has their drivers", False),
    (r"[Tt]imeout reached while inspecting|[Ii]nspection.*time(d )?out",
     _NEVER_REPORTED,
     "look at the server's console: does it boot the ramdisk, and does it reach Ironic's callback address", False),
    (r"[Tt]imeout reached while (waiting for callback|(cleaning|servicing) the node)|Timeout reached.*callback|"
     r"never called back",
     _STOPPED_CALLING,
     "look at the server's console: boot order, and the network from the server to Ironic", False),
    (r"No partitions found", "the image has no partition table, so it is no whole-disk image",
     "give an image of a whole disk, or the right image.format", True),
    (r"Unable to find a valid partition table", "the image's partition table is none for this disk: it is broken, or "
     "made for another sector size", "compare the disk's sector size with that of the image; look at the image", True),
    # The first is Ironic's own, the other ones are the agent's.
    (r"requested image is not valid for use|Security: (Unable to safety check|Image matched multiple|Image failed|"
     r"Detected image format|Expected format)", "the image is not of the given format, or of none that Ironic permits",
     "compare image.format with what qemu-img info says of the image; the formats that are permitted are Ironic's "
     "[conductor]permitted_image_formats", True),
    (r"[Nn]o suitable device|device hints|root device|could not find.*disk|No suitable block",
     "no disk of the server matches the root device hints, or the server has no usable disk",
     "compare root_device_hints with the inspected disks", True),
    (r"[Ii]mage.*(download|fetch|not found|unreachable|could not be (found|accessed))|"
     r"[Dd]ownload.*(image|fail)|ImageDownloadError|ImageRefValidationFailed|code (404|403).*image", *_DOWNLOAD),
    # A deploy step is named write_image, whatever was wrong with it.
    (r"[Ww]rit(e(?!_image)|ing).*(error|fail)", *_DISK),
    (r"configdrive|config drive", "the config drive could not be made or written",
     "look at the size and form of user_data, network_data and meta_data", False),
    # Before cleaning, whose steps these are.
    (r"RAID|'(create|delete)_configuration'|step raid\.", "the RAID volumes could not be made or deleted",
     "compare raid with the controller's disks", False),
    (r"[Cc]leaning failed|[Cc]lean step|Failed to clean|CleanFail",
     "cleaning the disks failed", "look at the disks' health; clean by hand or set "
     "automated_cleaning_mode to disabled", False),
    (r"power state|PowerStateFailure|power on|power off|PowerOn operation failed",
     "the BMC did not change or report the power state", "look at the BMC; power the server by hand once", False),
    (r"adoption failed|Adoption failed", "Ironic, after a restart, could not adopt the provisioned host again",
     "look whether the BMC answers and the image's URL is still valid", False),
)
_EXPLAINED_CHARACTERS = 4000
# From version 0.14 BMO names the image in front of the error: its words are not about what went wrong.
_IMAGE_NAMED = re.compile(r"\AImage provisioning failed \(url: .*?\): ")
_PATTERNS = tuple((re.compile(pattern), Explanation(cause, next_step, definitive))
                  for pattern, cause, next_step, definitive in _TABLE)

# Causes that stay with the server, whatever is deployed to it.
OF_DISKS = (_DISK[0], "a disk is write-protected", "no disk of the server matches the root device hints, or the server "
            "has no usable disk", "cleaning the disks failed")

# Of a host that runs: what is right for one that is to be deployed would erase it.
_DEPLOYED = "provisioned registration error"
_IMAGE_TO_CORRECT = "correct image."
_IMAGE_AS_IT_WAS = "let image.url answer as it did: by another image.url BMO deprovisions the host, which erases it"

_BY_TYPE = {
    "registration error": ("the BMC could not be used", "look at bmc.address and the credentials"),
    _DEPLOYED: ("the provisioned host's BMC could not be used any more",
                "look at bmc.address and the credentials"),
    "inspection error": ("inspection failed", "look at the server's console while it boots the deploy ramdisk"),
    "preparation error": ("preparing (cleaning, RAID, firmware) failed", "look at Ironic's log of this node"),
    "provisioning error": ("deploying or removing the image failed", "look at Ironic's log of this node"),
    "power management error": ("the power state could not be changed", "look at the BMC"),
    "servicing error": ("servicing failed", "look at Ironic's log of this node"),
}


def explain(error_type, message, boot=""):
    """Return the Explanation of a host's error.

    :param error_type: ``status.errorType``, may be empty
    :param message: ``status.errorMessage``
    :param boot: what is known of its server's boot, may be empty
    """
    # Who may write the status may write any text, and of a long one some patterns take the square of its length.
    beginning = _IMAGE_NAMED.sub("", (message or "")[:_EXPLAINED_CHARACTERS], count=1)
    for pattern, explanation in _PATTERNS:
        if pattern.search(beginning):
            if error_type == _DEPLOYED and explanation.next_step.startswith(_IMAGE_TO_CORRECT):
                return explanation._replace(next_step=_IMAGE_AS_IT_WAS)
            silent = boot and explanation.cause in (_NEVER_REPORTED, _STOPPED_CALLING)
            return explanation._replace(cause=f"{explanation.cause} ({boot})") if silent else explanation
    cause, next_step = _BY_TYPE.get(error_type or "", ("the host is in error", "look at the operator's log"))
    return Explanation(cause, next_step, False)
