# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site adds to the deploy agent's ramdisk: the rules for its options, and the files that come of them; pure."""
from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import redacted
from . import rescue_files
from .cpio import File

PYTHON_DIR = "/usr/local/lib/python3.11/dist-packages"
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
SHADOW = "/etc/shadow"
NETWORK_DIR = "/etc/agent-network"
# What Debian's file system has as links, and what is mounted over at boot.
_LINKS = ("bin", "lib", "lib64", "sbin", "var/lock", "var/run")
_MOUNTED = ("dev", "proc", "run", "sys", "tmp")
_AUTHORITY = re.compile(r"-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----")
_PRIVATE_KEY = "PRIVATE KEY-----"
_SSH_KEY = re.compile(r"[^\n]*\b(ssh-[a-z0-9-]+|ecdsa-[a-z0-9-]+|sk-[a-z0-9@.-]+) [A-Za-z0-9+/=]+( [^\n]*)?")
_HASH = re.compile(r"\$(5|6|y|gy|7|2b)\$[A-Za-z0-9./$=,+-]{8,200}")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+~:*-]+)?")
# A password would be in the image, and in the list of processes.
_SOURCE = re.compile(r"deb (\[[^\]\n]*\] )?(?![a-z+]+:/*[^/\s]*@)[a-z+]+:\S+ \S+( \S+)*")
_MODULE = re.compile(r"[A-Za-z0-9_-]+")
# No quote, space, dollar sign or brace: GRUB's language has a meaning for them.
_PARAMETER = re.compile(r"[A-Za-z0-9_.,:/=@%+\[\]-]+")
_CONSOLE = re.compile(r"tty[A-Za-z]*[0-9]+(,[0-9]+[noe]?[78]?r?)?")
_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:-]*")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PATH = re.compile(r"(/[A-Za-z0-9@_.+-]+)+")
_TEXTS = (
    ("packages", _PACKAGE, "the name of a Debian package, with =version where one is wanted"),
    ("debian_sources", _SOURCE, "a line of a sources.list that begins with deb, without a password"),
    ("kernel_modules", _MODULE, "the name of a kernel module"),
    ("kernel_parameters", _PARAMETER, "a parameter of letters, digits and _.,:/=@%+[]-"),
    ("consoles", _CONSOLE, "a console, for example ttyS0,115200n8"),
    ("ntp_servers", _SERVER, "a name or an address"),
    ("ssh_keys", _SSH_KEY, "a line of an authorized_keys file"))
LISTS = (*(name for name, _rule, _expected in _TEXTS), "ca_certificates", "hardware_managers", "files")
# Options that a ramdisk from elsewhere cannot have.
BUILD_OPTIONS = (*(name for name, _rule, _expected in _TEXTS), "ca_certificates", "root_password_hash",
                 "python_requirements", "hardware_managers", "files", "network_data", "rescue", "revision")


class Base(NamedTuple):
    """What the ramdisk is installed with, apart from its recipe: all of it takes minutes to change.

    :param packages: Debian packages
    :param sources: lines of a sources.list in place of the machine's
    :param requirements: text of a requirements file with hashes
    :param kernel_modules: names of modules that stay in it
    :param revision: any text; another one builds with the newest packages
    """

    packages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    requirements: str = ""
    kernel_modules: tuple[str, ...] = ()
    revision: str = ""


def problems(params: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the options.

    :param params: the module's parameters, in which ``hardware_managers`` and ``files`` have ``content`` as bytes
    """
    found = []
    for field, rule, expected in _TEXTS:
        found += [_wrong(f"{field}[{number}]", text, expected) for number, text in enumerate(params[field])
                  if not rule.fullmatch(text)]
    for number, text in enumerate(params["ca_certificates"]):
        if _PRIVATE_KEY in text:
            found.append(Problem("agent-image", "", f"ca_certificates[{number}]", "a private key", "certificates alone",
                                 "remove it from the text: whoever reads the image server would have it"))
        if not _AUTHORITY.search(text.replace("\r\n", "\n")):
            found.append(Problem("agent-image", "", f"ca_certificates[{number}]", "a text without a certificate",
                                 "certificates in PEM form", "give the file's contents, not its path"))
    if params["root_password_hash"] and not _HASH.fullmatch(params["root_password_hash"]):
        found.append(Problem("agent-image", "", "root_password_hash", "another text",
                             "a password as /etc/shadow has it", "print one with openssl passwd -6"))
    found += _requirements_problems(params["python_requirements"])
    found += _manager_problems(params["hardware_managers"])
    return found + _file_problems(params["files"])


def _wrong(field: str, value: Any, expected: str, hint: str = "correct it") -> Problem:
    return Problem("agent-image", "", field, show(redacted(value) if isinstance(value, str) else value), expected, hint)


def _requirements_problems(text: str) -> list[Problem]:
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.partition("#")[0].strip()]
    return [_wrong(f"python_requirements: line {number}", line, "<package>==<version> --hash=sha256:…",
                   "lock the versions with their hashes")
            for number, line in enumerate(lines, start=1)
            if not re.match(r"[A-Za-z0-9][A-Za-z0-9._\[\]-]*==\S+ ", line) or "--hash=sha256:" not in line]


def _manager_problems(managers: list[dict[str, Any]]) -> list[Problem]:
    found = []
    names = [manager["name"] for manager in managers]
    for number, manager in enumerate(managers):
        field = f"hardware_managers[{number}]"
        if not _NAME.fullmatch(manager["name"]) or names.count(manager["name"]) > 1:
            found.append(_wrong(field + ".name", manager["name"], "a name for a Python module that no other one has"))
        try:
            tree = ast.parse(manager["content"])
        except (SyntaxError, ValueError) as exc:
            found.append(Problem("agent-image", "", field, f"what Python cannot read ({exc})", "a Python file",
                                 "correct it"))
            continue
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        if manager["class_name"] not in classes:
            found.append(_wrong(field + ".class_name", manager["class_name"],
                                "a class of the file: " + (", ".join(classes) or "it has none")))
    return found


def _file_problems(files: list[dict[str, Any]]) -> list[Problem]:
    found = []
    paths = [file["path"] for file in files]
    for number, file in enumerate(files):
        path, field = file["path"], f"files[{number}]"
        if not _PATH.fullmatch(path) or {".", ".."} & set(path.split("/")) or paths.count(path) > 1:
            found.append(_wrong(field + ".path", path, "an absolute path that no other file has"))
        for link in _LINKS:
            if path.startswith(f"/{link}/"):
                other = path.replace("/var/", "/", 1) if link.startswith("var") else "/usr" + path
                found.append(_wrong(field + ".path", path, f"a path without links; /{link} is one", f"use {other}"))
        if path.split("/")[1:2] and path.split("/")[1] in _MOUNTED:
            found.append(_wrong(
                field + ".path", path, "a path outside of " + ", ".join(f"/{name}" for name in _MOUNTED),
                "use another folder: this one is mounted over at boot"))
        # Of 0644 without quotes YAML makes the number 420, and Ansible the text.
        if not re.fullmatch("0[0-7]{3}", file["mode"]):
            found.append(_wrong(field + ".mode", file["mode"], "0 and three octal digits",
                                "write it in quotes, for example \"0644\""))
    return found


def base(params: Mapping[str, Any]) -> Base:
    """Return what the ramdisk is installed with.

    :param params: the module's parameters, without problems
    """
    packages = set(params["packages"])
    if params["ssh_keys"]:
        packages.add("openssh-server")
    if params["ntp_servers"]:
        packages.add("chrony")
    if params["rescue"]:
        packages.update(rescue_files.PACKAGES)
    return Base(tuple(sorted(packages)), tuple(params["debian_sources"]), params["python_requirements"].strip(),
                tuple(sorted(set(params["kernel_modules"]))), params["revision"])


def parameter_line(params: Mapping[str, Any]) -> str:
    """Return the kernel's parameters: the last console is the system's, so they stand in the given order."""
    return " ".join([f"console={console}" for console in params["consoles"]] + params["kernel_parameters"])


def site_files(params: Mapping[str, Any], authorities: str, shadow: str) -> list[File]:
    """Return the files that the options add to the ramdisk or replace in it.

    :param params: the module's parameters, without problems
    :param authorities: the certificate authorities of the ramdisk as it was built
    :param shadow: its ``/etc/shadow``
    """
    made: dict[str, File] = {}

    def add(path: str, text: str | bytes, mode: int = 0o644) -> None:
        made[path] = File(path, text.encode() if isinstance(text, str) else text, mode)

    if params["ca_certificates"]:
        added = [text.replace("\r\n", "\n").strip() + "\n" for text in params["ca_certificates"]]
        add(AUTHORITIES, authorities + "".join(added))
    if params["ssh_keys"]:
        add("/root/.ssh/authorized_keys", "".join(key.strip() + "\n" for key in params["ssh_keys"]), 0o600)
    if params["root_password_hash"]:
        add(SHADOW, re.sub("(?m)^root:[^:]*:", lambda _match: f"root:{params['root_password_hash']}:", shadow), 0o640)
    for needed in rescue_files.files(params) if params["rescue"] else []:
        add(*needed)
    if params["kernel_modules"]:
        add("/etc/modules-load.d/site.conf", "".join(name + "\n" for name in params["kernel_modules"]))
    if params["ntp_servers"]:
        add("/etc/chrony/chrony.conf", _chrony(params["ntp_servers"]))
        add("/etc/systemd/system/ironic-python-agent.service.d/time.conf", _TIME_FIRST)
    for manager in params["hardware_managers"]:
        name = manager["name"]
        add(f"{PYTHON_DIR}/{name}.py", manager["content"])
        add(f"{PYTHON_DIR}/{name}-0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
        add(f"{PYTHON_DIR}/{name}-0.dist-info/entry_points.txt",
            f"[ironic_python_agent.hardware_managers]\n{name} = {name}:{manager['class_name']}\n")
    for number, document in enumerate(params["network_data"]):
        add(f"{NETWORK_DIR}/{number:04}.json", json.dumps(document, sort_keys=True, indent=1) + "\n")
    for file in params["files"]:
        add(file["path"], file["content"], int(file["mode"], 8))
    return sorted(made.values())


def _chrony(servers: list[str]) -> str:
    # The clock of a server that was off may be years away.
    return "".join(f"server {server} iburst\n" for server in servers) + "makestep 1 -1\nrtcsync\n"


# Certificates are checked by the clock; an agent whose servers of time do not answer starts all the same.
_TIME_FIRST = """[Unit]
Wants=chrony.service
After=chrony.service

[Service]
ExecStartPre=-/usr/bin/chronyc -h 127.0.0.1 waitsync 30 0.5 0 1
TimeoutStartSec=90
"""
