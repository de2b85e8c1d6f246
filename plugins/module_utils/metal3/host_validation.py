# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a list of hosts, all of them judged before anything is written.

Sources: BMO 0.13's webhook (``baremetalhost_validation.go``), the CRD's schema, what Ironic refuses later, and what
only shows when the whole list and the cluster's hosts are seen together.
"""
from __future__ import annotations

import json
import re
import uuid
from urllib.parse import urlsplit

from . import bmc_address, field_checks, host_annotations, host_bmc_change, host_fields, host_inventory, oci_auth
from .field_checks import DNS_NAME as _DNS_NAME
from .field_checks import HIDDEN as _HIDDEN
from .field_checks import UNKNOWN as _UNKNOWN
from .field_checks import Problem
from .field_checks import check_fields as _check_dict
from .field_checks import show as _show
from .host_objects import consumer_of, credentials_secret_name, data_secret_name, has_inline_credentials, text_of

_MAC = re.compile(r"^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")
_HCTL = re.compile(r"^\d+:\d+:\d+:\d+$")
_HEX = re.compile(r"^[0-9A-Fa-f]+$")
_CHECKSUM_LENGTHS = {"md5": 32, "sha256": 64, "sha512": 128}
_IMAGE_SCHEMES = ("http", "https", "ftp", "gopher", "oci", "file")
# Fields that no variable of their own stands for.
_NO_VARIABLES = ("hosts", "name", "state", "bmc")


def message(problems, names=None):
    """Return all problems as one text, a line for each.

    :param names: ``{option: name}`` by which the reader knows an option, see :func:`renamed`
    """
    count = len(problems)
    lines = ["%d problem%s in the list of hosts, nothing was written:" % (count, "" if count == 1 else "s")]
    for problem in problems:
        lines.append("- %s: %s: seen %s; expected %s; %s" % (
            problem.host, renamed_field(problem.field, names), problem.seen, renamed(problem.expected, names),
            renamed(problem.next_step, names)))
    return "\n".join(lines)


def renamed(text, names):
    """Return a text in which options bear the names by which the reader knows them.

    :param names: ``{option: name}``, for example ``{"bmc.address": "bmc_address"}``, or None
    """
    # Plain words such as "image" may be meant as words.
    options = [option for option in names or () if "." in option or "_" in option]
    if not options:
        return text
    longest_first = "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))
    return re.sub(r"(?<![\w./])(%s)(?![\w/])" % longest_first, lambda match: names[match.group(1)], text)


def renamed_field(path, names):
    """Return the path of an option by the name under which the reader knows it; see :func:`renamed`."""
    head = re.match(r"^[a-z_]+", path)
    if names and head and path not in names and head.group() in names:
        return names[head.group()] + path[head.end():]
    if names and path not in names and path not in _NO_VARIABLES:
        return host_inventory.PREFIX + path
    return (names or {}).get(path, path)


def check_values(hosts):
    """Check raw entries against the table of fields: types, choices, limits, unknown options.

    :param hosts: what was given as O(hosts), of any type
    :returns: list of Problem
    """
    if not isinstance(hosts, list):
        return [Problem("hosts", "hosts", _show(hosts), "a list of hosts", "give a list of dictionaries")]
    problems = []
    for position, entry in enumerate(hosts):
        label = _label(entry, position)
        if not isinstance(entry, dict):
            problems.append(Problem(label, "hosts", _show(entry), "a dictionary", "give one dictionary for each host"))
        else:
            problems += _check_dict(label, "", host_fields.HOST, entry)
    return problems


def check_raw(hosts, wait_for=None):
    """Check raw entries, and what is well-typed in them by :func:`check_list` too.

    :param hosts: what was given as O(hosts), of any type
    :param wait_for: goal of the run, or None
    :returns: list of Problem
    """
    problems = check_values(hosts)
    if not isinstance(hosts, list):
        return problems
    told = set((problem.host, _head(problem.field)) for problem in problems if problem.seen != _UNKNOWN)
    labelled = [(_label(entry, position), entry) for position, entry in enumerate(hosts)]
    typed = [dict((option, value) for option, value in entry.items() if option == "name" or (label, option) not in told)
             if isinstance(entry, dict) else {} for label, entry in labelled]
    not_dicts = set(label for label, entry in labelled if not isinstance(entry, dict))
    # An option that is left out here because of its type must not be called missing as well.
    return problems + [problem for problem in check_list(typed, wait_for) if problem.host not in not_dicts
                       and (problem.host, _head(problem.field)) not in told]


def _head(path):
    return re.split(r"[.\[]", path)[0]


def check_list(hosts, wait_for=None):
    """Check well-typed entries by themselves and against each other.

    :param hosts: list of dicts as the module gets them
    :param wait_for: goal of the run, or None
    :returns: list of Problem
    """
    problems = []
    for position, host in enumerate(hosts):
        label = _label(host, position)
        problems += _check_name(label, host)
        if host.get("state") != "absent":
            problems += _check_host(label, host, wait_for)
        elif wait_for not in (None, "deleted"):
            problems.append(Problem(label, "state", "absent", "state present when wait_for is %s" % wait_for,
                                    "put hosts to be deleted in a task of their own"))
        if host.get("state") != "absent" and wait_for == "deleted":
            problems.append(Problem(label, "state", "present", "state absent when wait_for is deleted",
                                    "set state to absent"))
    return problems + _duplicates([(_label(host, at), host) for at, host in enumerate(hosts)])


def still_missing(problems, current):
    """Return problems without those of options that were left out and that the stored host has.

    :param problems: what :func:`check_list` returned
    :param current: ``{name: BareMetalHost}``
    """
    return [problem for problem in problems if not (
        problem.field == "boot_mac_address" and problem.seen == "none"
        and (current.get(problem.host) or {"spec": {}})["spec"].get("bootMACAddress"))]


def check_against_cluster(hosts, current, secrets, namespace, wait_for=None, forced=(), elsewhere=(),
                          allow_detach=False):
    """Check entries against the hosts and Secrets that are there.

    :param hosts: list of dicts that :func:`check_list` found no fault with
    :param current: ``{name: BareMetalHost}`` of the namespace
    :param secrets: ``{name: Secret}``; must hold every Secret that an entry refers to, if it exists
    :param namespace: name of the namespace, for messages
    :param wait_for: goal of the run, or None
    :param forced: names of hosts for which the consumer's protection is lifted
    :param elsewhere: list of BareMetalHosts of other namespaces
    :param allow_detach: whether a host may be detached for a change of its BMC
    :returns: list of Problem
    """
    problems = []
    named = set(host["name"] for host in hosts)
    others = dict(("%s/%s" % (namespace, name), bmh) for name, bmh in current.items() if name not in named)
    others.update(("%s/%s" % (bmh["metadata"]["namespace"], bmh["metadata"]["name"]), bmh)
                  for bmh in elsewhere if not _is_moving(bmh))
    others_macs = dict(((bmh["spec"].get("bootMACAddress") or "").lower(), name) for name, bmh in others.items())
    others_bmcs = dict((_identity((bmh["spec"].get("bmc") or {}).get("address")), name) for name, bmh in others.items())
    for host in hosts:
        name, bmh = host["name"], current.get(host["name"])
        if host.get("state") == "absent":
            if bmh and consumer_of(bmh) and name not in forced:
                problems.append(Problem(
                    name, "state", "absent", "no consumer (it is in use by %s)" % consumer_of(bmh),
                    "remove the consumer first (scale its cluster down), or name the host in force_hosts"))
            continue
        problems += _check_conflicts(host, others_macs, others_bmcs)
        problems += _check_secrets(host, bmh, secrets, namespace)
        if bmh is None:
            if not (host.get("bmc") or {}).get("address") and wait_for not in (None, "deleted"):
                problems.append(Problem(name, "bmc.address", "none", "a BMC address, to reach %s" % wait_for,
                                        "set bmc.address; without it a host stays unmanaged"))
        else:
            problems += _check_change(host, bmh, allow_detach)
        problems += _check_goal(host, bmh, wait_for)
    return problems


# Values -------------------------------------------------------------------------------------------------------------

def _label(entry, position):
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else "hosts[%d]" % position


# One host -----------------------------------------------------------------------------------------------------------

def _check_name(label, host):
    name = host.get("name")
    if not name:
        return [Problem(label, "name", "none", "a name", "set name")]
    if not field_checks.is_name(name):
        return [Problem(label, "name", _show(name), field_checks.NAME_RULE, "rename the host")]
    try:
        uuid.UUID(name)
    except ValueError:
        return []
    return [Problem(label, "name", _show(name), "a name that is no UUID (BMO webhook)", "rename the host")]


def _check_host(label, host, wait_for):
    problems = []
    address = None
    bmc = host.get("bmc") or {}
    if bmc.get("address"):
        try:
            address = bmc_address.parse(bmc["address"])
        except bmc_address.AddressError as exc:
            problems.append(Problem(label, "bmc.address", _show(bmc_address.redacted(bmc["address"])), exc.expected,
                                    exc.next_step))
    problems += _check_credentials(label, bmc)
    problems += _check_boot(label, host, address)
    problems += _check_hints(label, "root_device_hints", host.get("root_device_hints"))
    problems += check_image(label, host)
    problems += _check_data(label, host)
    problems += _check_raid(label, host.get("raid"), address)
    problems += _check_metadata(label, host)
    problems += _check_power(label, host, wait_for)
    problems += _check_deprecated(label, host)
    return problems


def _check_credentials(label, bmc):
    problems = []
    for field, other in (("username", "password"), ("password", "username")):
        if bmc.get(other) is not None and not bmc.get(field):
            problems.append(Problem(label, "bmc." + field, "none" if bmc.get(field) is None else "an empty text",
                                    "a value, since bmc.%s is given" % other, "set bmc.%s" % field))
    for field in ("username", "password"):
        value = bmc.get(field)
        if isinstance(value, str) and re.search(r"[\x00-\x1f\x7f]", value):
            problems.append(Problem(label, "bmc." + field, _HIDDEN, "no line breaks or control characters",
                                    "remove them (a file read with a trailing newline needs trim)"))
    if bmc.get("address") and not has_inline_credentials(bmc) and not bmc.get("credentials_name") \
            and bmc.get("username") is None and bmc.get("password") is None:
        problems.append(Problem(label, "bmc", "no credentials", "username and password, or credentials_name",
                                "set bmc.username and bmc.password"))
    if not bmc.get("address") and (has_inline_credentials(bmc) or bmc.get("credentials_name")):
        problems.append(Problem(label, "bmc.address", "none", "a BMC address, since credentials are given",
                                "set bmc.address"))
    if bmc.get("credentials_name") and not _DNS_NAME.match(bmc["credentials_name"]):
        problems.append(Problem(label, "bmc.credentials_name", _show(bmc["credentials_name"]),
                                "a Secret's name (lower case letters, digits, '-' and '.')", "correct it"))
    return problems


def _inspection_disabled(host):
    return host_annotations.is_inspection_disabled(host.get("inspection_mode"), host.get("annotations"))


def _check_boot(label, host, address):
    problems = []
    mac = host.get("boot_mac_address")
    if mac is not None:
        problem = mac_error(mac)
        if problem:
            problems.append(Problem(label, "boot_mac_address", _show(mac), problem, "correct it"))
    elif address and (address.driver.needs_mac or _inspection_disabled(host)):
        why = "the scheme %s" % address.scheme.name if address.driver.needs_mac else "a host without inspection"
        problems.append(Problem(label, "boot_mac_address", "none", "a MAC address, which %s needs" % why,
                                "set boot_mac_address to the MAC of the NIC the server boots from"))
    if address and host.get("boot_mode") == "UEFISecureBoot" and not address.driver.secure_boot:
        problems.append(Problem(label, "boot_mode", "'UEFISecureBoot'",
                                "UEFI or legacy (%s does not support secure boot)" % address.scheme.name,
                                "choose a Redfish scheme or another boot_mode"))
    if address and host.get("boot_mode") == "legacy" and address.driver.boot == "uefi-http":
        problems.append(Problem(label, "boot_mode", "'legacy'", "UEFI (%s boots by UEFI HTTP)" % address.scheme.name,
                                "choose another scheme or boot_mode"))
    if address and not address.uses_tls and (host.get("bmc") or {}).get("disable_certificate_verification"):
        problems.append(Problem(label, "bmc.disable_certificate_verification", "true",
                                "false or nothing (%s does not use TLS)" % address.scheme.name, "remove it"))
    return problems


def mac_error(mac):
    """Return what was expected when a boot MAC address is none, else None.

    :param mac: text; six pairs of hexadecimal digits with colons (CRD), of one card (neither group nor zero address)
    """
    if not _MAC.match(mac):
        return "six pairs of hexadecimal digits separated by colons"
    first = int(mac[:2], 16)
    if mac.lower() == "ff:ff:ff:ff:ff:ff" or first & 1:
        return "the address of one network card (not a group or broadcast address)"
    if mac == "00:00:00:00:00:00":
        return "the address of a network card (not all zeros)"
    return None


def _check_hints(label, path, hints):
    problems = []
    if not hints:
        return problems
    device = hints.get("device_name")
    if device:
        below = device[len("/dev/"):] if device.startswith("/dev/") else None
        if not below:
            problems.append(Problem(label, path + ".device_name", _show(device), "a path below /dev/",
                                    "write for example /dev/sda"))
        else:
            if below.startswith("disk/by-path/"):
                below = below[len("disk/by-path/"):]
            if "/" in below or not below:
                problems.append(Problem(label, path + ".device_name", _show(device),
                                        "a path directly in /dev/ or /dev/disk/by-path/ (BMO webhook)",
                                        "use one of these, or another hint such as serial_number or wwn"))
    hctl = hints.get("hctl")
    if hctl and not _HCTL.match(hctl):
        problems.append(Problem(label, path + ".hctl", _show(hctl), "four numbers like 0:0:0:0", "correct it"))
    if hints.get("min_size_gigabytes") is not None and hints["min_size_gigabytes"] < 0:
        problems.append(Problem(label, path + ".min_size_gigabytes", _show(hints["min_size_gigabytes"]), "at least 0",
                                "correct it"))
    return problems


def check_image(label, host):
    """Return the Problems of an entry's ``image``, and of what does not go with it.

    :param label: name of the entry, for messages
    :param host: dict with ``image`` and ``custom_deploy``, each may be missing
    """
    image = host.get("image")
    problems = []
    if not image or not any(value is not None for value in image.values()):
        return problems
    url = image.get("url") or ""
    parts = _url_parts(url)
    if not url:
        problems.append(Problem(label, "image.url", "none", "the image's URL",
                                "set image.url, or give an empty image to remove it"))
    elif parts is None or parts.scheme not in _IMAGE_SCHEMES or not (parts.netloc or parts.scheme == "file"):
        problems.append(Problem(label, "image.url", _show(bmc_address.redacted(url)),
                                "a URL with one of the schemes %s" % ", ".join(_IMAGE_SCHEMES), "correct image.url"))
    elif parts.username is not None:
        problems.append(Problem(label, "image.url", _show(bmc_address.redacted(url)), "a URL without credentials",
                                "serve the image where the provisioning network may read it"))
    oci = url.lower().startswith("oci://")
    if image.get("oci_auth_secret_name") and not oci:
        problems.append(Problem(label, "image.oci_auth_secret_name", _show(image["oci_auth_secret_name"]),
                                "nothing, since image.url is no oci:// reference", "remove it"))
    problems += _check_checksum(label, image, oci)
    if host.get("custom_deploy") and (host["custom_deploy"].get("method")) and image.get("format") == "live-iso":
        problems.append(Problem(label, "custom_deploy.method", _show(host["custom_deploy"]["method"]),
                                "nothing with a live-iso image", "remove custom_deploy or choose another format"))
    return problems


def _url_parts(url):
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port else None
    except ValueError:
        return None


def _check_checksum(label, image, oci):
    checksum, kind = image.get("checksum"), image.get("checksum_type")
    if image.get("format") == "live-iso" or (oci and not checksum):
        return []
    if not checksum:
        return [Problem(label, "image.checksum", "none",
                        "a checksum or the URL of a checksum file (only live-iso and oci images need none)",
                        "set image.checksum and image.checksum_type")]
    if re.match(r"^[a-z]+://", checksum):
        parts = _url_parts(checksum)
        if parts is None or parts.scheme not in ("http", "https", "file") or not (parts.netloc or parts.path):
            return [Problem(label, "image.checksum", _show(checksum), "the http(s) URL of a checksum file",
                            "correct image.checksum")]
        return []
    if not _HEX.match(checksum):
        return [Problem(label, "image.checksum", _show(checksum), "hexadecimal digits or the URL of a checksum file",
                        "correct image.checksum")]
    lengths = _CHECKSUM_LENGTHS if kind in (None, "auto") else {kind: _CHECKSUM_LENGTHS[kind]}
    if len(checksum) not in lengths.values():
        return [Problem(label, "image.checksum", "%d digits" % len(checksum),
                        " or ".join("%d (%s)" % (length, name) for name, length in sorted(lengths.items())),
                        "correct image.checksum or image.checksum_type")]
    return []


def _check_data(label, host):
    problems = []
    for option in host_fields.DATA_KEYS:
        data = host.get(option) or {}
        name, content = data.get("name"), data.get("content")
        if name and not _DNS_NAME.match(name):
            problems.append(Problem(label, option + ".name", _show(name), "a Secret's name", "correct it"))
        if content is not None and not content.strip():
            problems.append(Problem(label, option + ".content", "an empty text", "content",
                                    "give content, or an empty %s to remove it" % option))
        elif content is not None and option != "user_data" and content.lstrip()[:1] == "{":
            try:
                json.loads(content)
            except ValueError:
                problems.append(Problem(label, option + ".content", _HIDDEN, "a JSON or YAML mapping",
                                        "pass a dictionary through the filter to_json"))
        elif content is not None and option != "user_data" and content.lstrip()[:1] in ("[", "-", "#!") \
                and not content.lstrip().startswith("---"):
            problems.append(Problem(label, option + ".content", _HIDDEN, "a mapping, not a list",
                                    "give a dictionary with links, networks and services" if "network" in option
                                    else "give a dictionary"))
    return problems


def _check_raid(label, raid, address):
    problems = []
    if not raid:
        return problems
    hardware, software = raid.get("hardware_raid_volumes") or [], raid.get("software_raid_volumes") or []
    if hardware and software:
        problems.append(Problem(label, "raid", "hardware and software volumes", "one of the two (BMO webhook)",
                                "remove hardware_raid_volumes or software_raid_volumes"))
    if hardware and address and not address.driver.raid:
        problems.append(Problem(label, "raid.hardware_raid_volumes", "%d volumes" % len(hardware),
                                "none (%s does not support hardware RAID)" % address.scheme.name,
                                "choose a Redfish scheme or software_raid_volumes"))
    names = set()
    for position, volume in enumerate(hardware):
        path = "raid.hardware_raid_volumes[%d]" % position
        disks, number = volume.get("physical_disks") or [], volume.get("number_of_physical_disks")
        if disks and not volume.get("controller"):
            problems.append(Problem(label, path + ".controller", "none", "a controller, since physical_disks is given",
                                    "set controller or remove physical_disks"))
        if disks and number is not None and number != len(disks):
            problems.append(Problem(label, path + ".number_of_physical_disks", _show(number),
                                    "%d, the number of physical_disks" % len(disks), "correct one of them"))
        if volume.get("name") and volume["name"] in names:
            problems.append(Problem(label, path + ".name", _show(volume["name"]), "a name of its own", "rename it"))
        names.add(volume.get("name"))
        count = len(disks) or number
        least = {"1": 2, "5": 3, "6": 4, "1+0": 4, "5+0": 6, "6+0": 8}.get(volume.get("level"), 1)
        if count and count < least:
            problems.append(Problem(label, path, "%d disks" % count,
                                    "at least %d for RAID %s" % (least, volume["level"]),
                                    "add disks or choose another level"))
    if software and software[0].get("level") != "1":
        problems.append(Problem(label, "raid.software_raid_volumes[0].level", _show(software[0].get("level")),
                                "1 for the first volume, from which the server boots", "correct it"))
    for position, volume in enumerate(software):
        path = "raid.software_raid_volumes[%d]" % position
        disks = volume.get("physical_disks") or []
        for at, hints in enumerate(disks):
            problems += _check_hints(label, "%s.physical_disks[%d]" % (path, at), hints)
        if len(disks) == 1:
            problems.append(Problem(label, path + ".physical_disks", "1 disk", "at least 2 disks, or none for all",
                                    "add disks or remove physical_disks"))
        if volume.get("size_gibibytes") in (None, 0) and position + 1 < len(software):
            problems.append(Problem(label, path + ".size_gibibytes", "none or 0",
                                    "a size, since only the last volume can take the rest", "set size_gibibytes"))
    return problems


def _check_metadata(label, host):
    return field_checks.check_metadata(label, host) + _check_annotations(label, host)


def _check_annotations(label, host):
    problems = []
    annotations = dict((key, text_of(value)) for key, value in (host.get("annotations") or {}).items())
    for key, value in annotations.items():
        path = "annotations.%s" % key
        if host_annotations.is_reboot(key):
            problems += _check_json(label, path, value, {"mode": ("", "hard", "soft")})
        elif key == host_annotations.DETACHED:
            if value.lstrip().startswith("{"):
                problems += _check_json(label, path, value, {"deleteAction": ("", "delay", "delete")})
        elif key == host_annotations.INSPECT and value not in ("", host_annotations.INSPECTION_DISABLED):
            problems.append(Problem(label, path, _show(value), "'' or 'disabled' (BMO webhook)", "correct it"))
        elif key == host_annotations.HARDWARE_DETAILS and value:
            if not _inspection_disabled(host):
                problems.append(Problem(label, path, "hardware details", "inspection_mode disabled with it",
                                        "set inspection_mode to disabled"))
            problems += _check_json(label, path, value, {})
    inspect, mode = annotations.get(host_annotations.INSPECT), host.get("inspection_mode")
    if inspect and mode and (inspect == "disabled") != (mode == "disabled"):
        problems.append(Problem(label, "inspection_mode", _show(mode),
                                "the same as the annotation %s (%s)" % (host_annotations.INSPECT, inspect),
                                "remove the annotation, which is deprecated"))
    return problems


def _check_json(label, path, value, choices):
    if not value:
        return []
    try:
        data = json.loads(value)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        return [Problem(label, path, _show(value), "a JSON object or nothing", "correct it")]
    return [Problem(label, path, "%s %s" % (key, _show(data[key])),
                    "%s one of %s" % (key, ", ".join(filter(None, few))), "correct it")
            for key, few in choices.items() if key in data and data[key] not in few]


def _check_power(label, host, wait_for):
    problems = []
    if host.get("disable_power_off") and host.get("online") is False:
        problems.append(Problem(label, "online", "false", "true, since disable_power_off is set (BMO webhook)",
                                "set online to true or remove disable_power_off"))
    if wait_for == "provisioned" and host.get("online") is False:
        problems.append(Problem(label, "online", "false", "true: BMO provisions only hosts that shall be online",
                                "set online to true"))
    return problems


def _check_deprecated(label, host):
    problems = []
    firmware = host.get("firmware") or {}
    if any(value is not None for value in firmware.values()):
        problems.append(Problem(label, "firmware", "firmware settings", "nothing: no driver of BMO 0.13 takes them",
                                "use HostFirmwareSettings"))
    for position, taint in enumerate(host.get("taints") or []):
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            problems.append(Problem(label, "taints[%d].effect" % position, _show(taint.get("effect")),
                                    "NoSchedule, PreferNoSchedule or NoExecute", "correct it"))
    return problems


# The list -----------------------------------------------------------------------------------------------------------

def _identity(address):
    if not address:
        return None
    try:
        return bmc_address.parse(address).identity
    except bmc_address.AddressError:
        return None


def _duplicates(labelled):
    problems = []
    keys = (
        ("name", lambda host: host.get("name"), "a name of its own", "rename or remove one of them"),
        ("boot_mac_address", lambda host: (host.get("boot_mac_address") or "").lower() or None,
         "a MAC address of its own", "correct one of them"),
        ("bmc.address", lambda host: _identity((host.get("bmc") or {}).get("address")), "a BMC address of its own",
         "correct one of them"),
    )
    for field, key_of, expected, next_step in keys:
        first = {}
        for position, (label, host) in enumerate(labelled):
            key = key_of(host)
            if key is None or (field != "name" and host.get("state") == "absent"):
                continue
            if key in first:
                other_position, other = first[key]
                problems.append(Problem(
                    label, field, "the same as %s (hosts[%d] and hosts[%d])" % (other, other_position, position),
                    expected, next_step))
            else:
                first[key] = (position, label)
    return problems + _shared_secrets(labelled)


def _shared_secrets(labelled):
    """Two entries that would write one Secret with different contents."""
    problems, writers = [], {}
    for label, host in labelled:
        if host.get("state") == "absent":
            continue
        bmc = host.get("bmc") or {}
        wanted = []
        if has_inline_credentials(bmc):
            wanted.append(("bmc.credentials_name", credentials_secret_name(host), (bmc["username"], bmc["password"])))
        for option in host_fields.DATA_KEYS:
            content = (host.get(option) or {}).get("content")
            if content is not None:
                wanted.append((option + ".name", data_secret_name(host, option), (option, content)))
        for field, name, content in wanted:
            other = writers.setdefault(name, (label, field, content))
            if other[2] != content:
                problems.append(Problem(label, field, _show(name),
                                        "a Secret of its own (%s writes other contents to it)" % other[0],
                                        "choose another name"))
    return problems


# The cluster --------------------------------------------------------------------------------------------------------

def _is_moving(bmh):
    """True for a host of another namespace that BMO leaves alone, as while hosts are moved between namespaces."""
    return bool({host_annotations.PAUSED, host_annotations.DETACHED} & set(host_annotations.of(bmh)))


def _check_conflicts(host, others_macs, others_bmcs):
    problems = []
    mac = (host.get("boot_mac_address") or "").lower()
    if mac and mac in others_macs:
        problems.append(Problem(host["name"], "boot_mac_address", _show(mac),
                                "a MAC address that no other host has (%s has it)" % others_macs[mac],
                                "correct it, or remove the other host first"))
    identity = _identity((host.get("bmc") or {}).get("address"))
    if identity and identity in others_bmcs:
        problems.append(Problem(host["name"], "bmc.address", _show(host["bmc"]["address"]),
                                "a BMC that no other host has (%s has it)" % others_bmcs[identity],
                                "correct it, or remove the other host first"))
    return problems


def _check_secrets(host, bmh, secrets, namespace):
    problems = []
    bmc = host.get("bmc") or {}
    name = bmc.get("credentials_name")
    if name and not has_inline_credentials(bmc):
        secret = secrets.get(name)
        if secret is None:
            problems.append(Problem(host["name"], "bmc.credentials_name", _show(name),
                                    "a Secret in namespace %s" % namespace,
                                    "create it, or give bmc.username and bmc.password"))
        else:
            missing = [key for key in ("username", "password") if not (secret.get("data") or {}).get(key)]
            if missing:
                problems.append(Problem(host["name"], "bmc.credentials_name", _show(name),
                                        "a Secret with username and password (it lacks %s)" % " and ".join(missing),
                                        "correct the Secret, or give bmc.username and bmc.password"))
    for option, key in host_fields.DATA_KEYS.items():
        data = host.get(option) or {}
        if data.get("name") and data.get("content") is None:
            secret = secrets.get(data["name"])
            if secret is None:
                problems.append(Problem(host["name"], option + ".name", _show(data["name"]),
                                        "a Secret in namespace %s; BMO would wait for it in silence" % namespace,
                                        "create it, or give %s.content" % option))
            elif not {key, "value"} & set(secret.get("data") or {}):
                problems.append(Problem(host["name"], option + ".name", _show(data["name"]),
                                        "a Secret with the key %s or value" % key, "correct the Secret"))
    auth = (host.get("image") or {}).get("oci_auth_secret_name")
    if auth and secrets.get(auth) is None:
        problems.append(Problem(host["name"], "image.oci_auth_secret_name", _show(auth),
                                "a Secret in namespace %s" % namespace, "create it"))
    elif auth:
        fault = oci_auth.fault(secrets[auth], host["image"].get("url") or "")
        if fault:
            problems.append(Problem(host["name"], "image.oci_auth_secret_name", "%s: %s" % (_show(auth), fault[0]),
                                    fault[1], "make it by kubectl create secret docker-registry"))
    return problems


def _check_change(host, bmh, allow_detach):
    problems = []
    name, spec, status = host["name"], bmh["spec"], bmh.get("status") or {}
    state = (status.get("provisioning") or {}).get("state") or ""
    if bmh["metadata"].get("deletionTimestamp"):
        problems.append(Problem(name, "name", "a host that is being deleted", "a host that stays",
                                "wait until it is gone, then run again"))
        return problems
    problems += host_bmc_change.check(host, bmh, allow_detach)
    mac, stored = host.get("boot_mac_address"), spec.get("bootMACAddress")
    if mac and stored and mac.lower() != stored.lower():
        problems.append(Problem(name, "boot_mac_address", _show(mac),
                                "%s: it can't be changed once it is set (BMO webhook)" % stored,
                                "delete and enrol the host anew"))
    external = host.get("externally_provisioned")
    if external is False and spec.get("externallyProvisioned"):
        problems.append(Problem(name, "externally_provisioned", "false", "true: it can't be taken back (BMO webhook)",
                                "delete and enrol the host anew"))
    if external and not spec.get("externallyProvisioned") and state != "available":
        problems.append(Problem(name, "externally_provisioned", "true",
                                "a host in state available (BMO webhook), it is %s" % (state or "unknown"),
                                "wait until it is available"))
    return problems


def _check_goal(host, bmh, wait_for):
    if wait_for != "provisioned":
        return []
    spec = (bmh or {}).get("spec") or {}
    image, custom = host.get("image"), host.get("custom_deploy")
    wanted = image.get("url") if image is not None else (spec.get("image") or {}).get("url")
    method = custom.get("method") if custom is not None else (spec.get("customDeploy") or {}).get("method")
    problems = []
    if not wanted and not method and not host.get("externally_provisioned") and not spec.get("externallyProvisioned"):
        problems.append(Problem(host["name"], "image", "none", "an image, to reach provisioned",
                                "set image.url and image.checksum"))
    if host.get("online") is None and spec.get("online") is False:
        problems.append(Problem(host["name"], "online", "false on the host as stored",
                                "true: BMO provisions only hosts that shall be online", "set online to true"))
    return problems
