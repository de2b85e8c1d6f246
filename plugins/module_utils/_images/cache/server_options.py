# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of an image server, as the role ``image_server`` has it: what is refused; pure."""
from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Mapping
from typing import Any

from ..._common.options.field_checks import is_host_name, show
from ..._common.problems.problem import Problem
from . import cache_options

_PREFIX = "image_server_"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
# What nginx reads as one word.
_PATH = re.compile(r"/[A-Za-z0-9._/@+-]*")
# All of these would be served: passwords and keys of the machine, and its programs.
_SYSTEM = ("/", "/bin", "/home", "/lib", "/opt", "/sbin", "/srv", "/tmp", "/usr", "/var", "/var/lib", "/var/log")
_SECRET = ("/boot", "/dev", "/etc", "/proc", "/root", "/run", "/sys", "/var/lib/metal3.baremetal")


def problems(described: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with a description, images included.

    :param described: ``name``, ``addresses``, ``port``, ``names``, ``directory``, ``tls``, ``certificate_file``,
        ``key_file``, ``ca_certificate_file``, ``ca_key_file``, ``keep_versions`` and ``images``
    """
    found = []
    if not _NAME.fullmatch(str(described["name"])):
        found.append(_wrong("name", described["name"], "lower case letters, digits and '-', at most 32"))
    found += _address_problems(described)
    port = str(described["port"])
    if not port.isdigit() or not 1 <= int(port) <= 65535:
        found.append(_wrong("port", described["port"], "a number from 1 to 65535",
                            "leave it out for that of http or https"))
    if not str(described["keep_versions"]).isdigit():
        found.append(_wrong("keep_versions", described["keep_versions"], "a number, 0 or more"))
    directory = str(described["directory"])
    # Two slashes at the beginning are kept by normpath.
    resolved = "/" + posixpath.normpath(directory).lstrip("/")
    if not _PATH.fullmatch(directory) or "/../" in directory + "/":
        found.append(_wrong("directory", directory, "an absolute path of letters, digits, '.', '_', '@', '+' and '-'"))
    elif resolved in _SYSTEM or any(resolved.startswith(path + "/") or resolved == path for path in _SECRET):
        found.append(_wrong("directory", directory, "a folder that holds nothing but images",
                            "all of it would be served: set another one, for example /srv/www"))
    return found + _tls_problems(described) + cache_options.problems(described["images"], _PREFIX + "images")


def _address_problems(described: Mapping[str, Any]) -> list[Problem]:
    found, addresses = [], described["addresses"]
    if not addresses:
        found.append(Problem("image-server", "", _PREFIX + "addresses", None, "an address of the machine", "set it"))
    for number, address in enumerate(addresses):
        try:
            ipaddress.ip_address(str(address))
        except ValueError:
            found.append(_wrong(f"addresses[{number}]", address, "an IP address"))
        if address in addresses[:number]:
            found.append(_wrong(f"addresses[{number}]", address, "an address that is not in the list yet", "remove it"))
    found += [_wrong(f"names[{number}]", name, "a DNS name") for number, name in enumerate(described["names"])
              if not is_host_name(str(name))]
    if addresses and not described["names"] and all(str(address) in ("0.0.0.0", "::") for address in addresses):
        found.append(Problem("image-server", "", _PREFIX + "names", None, "a name by which clients call it",
                             "set it, or an address of the machine in image_server_addresses"))
    return found


def _tls_problems(described: Mapping[str, Any]) -> list[Problem]:
    found = []
    for one, other in (("certificate_file", "key_file"), ("ca_certificate_file", "ca_key_file")):
        for missing, given in ((one, other), (other, one)):
            if described[given] and not described[missing]:
                found.append(Problem("image-server", "", _PREFIX + missing, None,
                                     f"a file that belongs to {_PREFIX}{given}", f"set it, or remove {_PREFIX}{given}"))
    found += [_wrong(field, described[field], "an absolute path of letters, digits, '.', '_', '@', '+' and '-'")
              for field in ("certificate_file", "key_file")
              if described[field] and not _PATH.fullmatch(str(described[field]))]
    if described["certificate_file"] and described["ca_certificate_file"]:
        found.append(_wrong("ca_certificate_file", described["ca_certificate_file"],
                            "none beside image_server_certificate_file, which is issued already", "remove one of both"))
    if not described["tls"]:
        found += [_wrong(field, described[field], "none with image_server_tls: false",
                         "remove it, or set image_server_tls")
                  for field in ("certificate_file", "ca_certificate_file") if described[field]]
    return found


def _wrong(field: str, value: Any, expected: str, hint: str = "correct it") -> Problem:
    return Problem("image-server", "", _PREFIX + field, show(value), expected, hint)
