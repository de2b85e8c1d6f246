# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian root file systems for images: installation, services, and the programs that this needs."""
from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

from ..._common import timed_run
from ..._common.files import file_digest, open_folder
from ..._common.problems.errors import ReportedError
from ..._common.redaction.redaction import redacted

SUITE = "bookworm"
# Of the recipes: their kernels, boot loaders and packages of Python.
MACHINE = "x86_64"
MIB = 1024 ** 2
FORWARDED_APT_SETTINGS = (
    "Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::http::Proxy", "Acquire::https::Proxy")
# What runs in it ends with this process, however that ends, and takes its mounts along.
CONTAINED = ("setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
CHROOT_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
TIMEOUT_SECONDS = 1200
# The time of all files of an image, 1980-01-01, before which FAT has none: the same contents give the same bytes.
EPOCH_SECONDS = 315532800


class ImageBuildError(ReportedError):
    """The image could not be built; the message names the step and what to do.

    :param text: the message
    :param output: all that the program printed that failed, which may have logins in URLs: for decisions, not for users
    """

    def __init__(self, text: str, output: str = "") -> None:
        super().__init__(text)
        self.output = output


def packages(text: str) -> list[str]:
    """Return the package names of ``packages.txt``: one a line, comments after ``#``."""
    return [line.split("#")[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def apt_sources(index_targets: str) -> list[str]:
    """Return sources.list lines for Debian's own mirrors, as this machine uses them.

    :param index_targets: lines ``<origin>|<address>|<release code name>|<component>``, from apt-get indextargets
    :raises ImageBuildError: for an address with a login: all users see the installation's arguments, and whoever has
        the image its sources
    """
    lines = []
    for line in index_targets.splitlines():
        origin, address, code_name, component = line.split("|")
        if origin == "Debian" and code_name.split("-")[0] == SUITE and component == "main":
            if "@" in address.partition("://")[2].partition("/")[0]:
                raise ImageBuildError(
                    f"sources of this machine's apt: found {redacted(address)} with a login, expected addresses "
                    "without: it would be in the image; set debian_sources, or give this machine a mirror that asks "
                    "for none")
            lines.append(f"deb {address} {code_name} main")
    return sorted(set(lines))


def tree_digest(directory: str) -> str:
    """Return a digest of a recipe's files: paths, modes and contents."""
    digest = hashlib.sha256()
    for parent, folders, names in os.walk(directory):
        folders[:] = sorted(_of_recipe(folders))
        for name in sorted(names):
            path = os.path.join(parent, name)
            digest.update(f"{os.path.relpath(path, directory)} {os.stat(path).st_mode & 73:o}\n".encode())
            with open(path, "rb") as stream:
                digest.update(hashlib.sha256(stream.read()).digest())
    return digest.hexdigest()


def _of_recipe(folders: Iterable[str]) -> list[str]:
    """Return folders without that of Python's compiled copies, which whoever imports a script has left there."""
    return [name for name in folders if name != "__pycache__"]


def run(arguments: Sequence[str], step: str, if_late: str = "look at this machine's disk and load, then run again",
        getting_on: bool = False, **options: Any) -> str:
    """Run a command of an image's build and return what it prints.

    :param arguments: program and arguments
    :param step: what it does, for errors
    :param if_late: what to do when it does not end within 20 minutes, a phrase in the imperative
    :param getting_on: whether it may take as long as it reads or writes: its length is that of a file of any size
    :param options: for :func:`timed_run.run`
    :raises ImageBuildError: when it fails or does not end
    """
    try:
        result = timed_run.run(arguments, TIMEOUT_SECONDS, timed_run.bytes_moved if getting_on else None,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    except timed_run.LateError as exc:
        raise ImageBuildError(f"{step}: {arguments[0]} {exc}; {if_late}") from exc
    if result.returncode:
        text = " ".join((result.stderr or result.stdout).splitlines()[-15:])
        raise ImageBuildError("%s: %s failed (exit code %d): %s" % (
            step, arguments[0], result.returncode, re.sub(r"https?://\S+", "(address)", text)),
            result.stderr + result.stdout)
    return result.stdout


def check_means(what: str, commands: Iterable[tuple[str, str]], files: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse to begin without root, a program or a file, or on a machine of another architecture.

    :param what: what is built
    :param commands: program and the Debian package that has it
    :param files: path and the Debian package that has it
    :raises ImageBuildError: naming it, of programs and files all that are missing
    """
    if os.geteuid() != 0:
        raise ImageBuildError(
            f"building {what} needs root: it makes a root file system whose files belong to many users. "
            "Run it as root (in a playbook by become: true), take an image from elsewhere (download, downloads), or in "
            "a lab do without nodes that boot")
    if os.uname().machine != MACHINE:
        raise ImageBuildError(
            f"building {what}: found a machine of {os.uname().machine}, expected one of {MACHINE}, for which all "
            "images are; build it on another machine, or take an image from elsewhere (download, downloads)")
    missing = [f"{command} is missing: install the package {package}" for command, package in commands
               if not shutil.which(command)]
    missing += [f"{path} is missing: install the package {package}" for path, package in files
                if not os.path.exists(path)]
    if missing:
        raise ImageBuildError("; ".join(dict.fromkeys(missing)))


def install(target: str, names: list[str], work: str, hooks: Sequence[str] = (), sources: Sequence[str] = (),
            added: Sequence[str] = ()) -> None:
    """Install Debian with some packages.

    :param target: folder to install into, or a file that ends with ``.tar``
    :param names: packages
    :param work: folder for temporary files
    :param hooks: shell commands that run at the end, with the folder as ``$1``
    :param sources: lines of a sources.list in place of this machine's
    :param added: lines beside them
    :raises ImageBuildError: when a step fails
    """
    # Not quietly: of apt's errors nothing would be left.
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=" + ",".join(names),
               "--aptopt=" + _apt_settings(work)]
    command += [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("man", "doc", "locale", "info")]
    command += [f"--customize-hook={hook}" for hook in hooks]
    lines = list(sources) or apt_sources(run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)",
         "Created-By: Packages"], "reading apt's sources"))
    if added and not lines:
        # Without any source mmdebstrap takes Debian's own, beside given ones it does not.
        raise ImageBuildError(
            f"sources of this machine's apt: found none of Debian {SUITE}, expected some beside the repository that is "
            "given; name them in debian_sources")
    run([*CONTAINED, *command, SUITE, target, *lines, *added], "installing Debian " + SUITE,
        if_late="check whether apt's mirror and proxy answer, then run again",
        env=dict(os.environ, LC_ALL="C.UTF-8", TMPDIR=work, SOURCE_DATE_EPOCH=str(EPOCH_SECONDS)))


def _apt_settings(work: str) -> str:
    """Write this machine's settings of apt and return the file: a proxy's address may have a password in it."""
    path, lines = os.path.join(work, "apt-settings.conf"), []
    for setting in FORWARDED_APT_SETTINGS:
        value = run(["apt-config", "shell", "VALUE", setting], "reading apt's settings").strip()
        if value:
            lines.append("%s %s;\n" % (setting, value.split("=", 1)[1].replace("'", '"')))
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        stream.writelines(lines)
    return path


def place(root: str, path: str) -> str:
    """Return where a file of a root file system is written; its folder is made, and a link in its place removed.

    Links of the system, ``/etc/localtime`` for one, lead to files of this machine while nobody has started it.

    :param root: the root file system
    :param path: the file's absolute path in it
    :raises ImageBuildError: when its folder is a link that leads out of the root file system
    """
    top = os.path.realpath(root)
    folder, name = os.path.split(os.path.join(top, path.lstrip("/")))
    folder = os.path.realpath(folder)
    if os.path.commonpath([folder, top]) != top:
        raise ImageBuildError(f"{path}: found a folder that is a link to {folder}, expected one without links; use "
                              "that path")
    open_folder.make(folder)
    target = os.path.join(folder, name)
    if os.path.islink(target):
        os.unlink(target)
    return target


def add_files(source: str, root: str, replaced: dict[str, str] | None = None) -> None:
    """Copy a folder's text files into a root file system.

    :param source: folder that mirrors the root
    :param root: the root file system
    :param replaced: text in the files → what is written in its place
    """
    for parent, folders, names in os.walk(source):
        folders[:] = _of_recipe(folders)
        for name in names:
            path = os.path.join(parent, name)
            target = place(root, os.path.relpath(path, source))
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
            for before, after in (replaced or {}).items():
                text = text.replace(before, after)
            with open(target, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(target, 0o644)


def clean(root: str) -> None:
    """Remove what must be each machine's own, and what apt leaves.

    :param root: the root file system
    """
    for pattern in ("etc/ssh/ssh_host_*", "var/log/*.log", "var/lib/dbus/machine-id", "var/cache/apt/*.bin",
                    # Settings of the machine that builds, its proxy among them.
                    "etc/apt/apt.conf.d/99mmdebstrap"):
        for path in glob.glob(os.path.join(root, pattern)):
            os.unlink(path)
    # Empty, not missing: systemd makes a new one, and does not take this for a first boot, which resets services.
    with open(os.path.join(root, "etc/machine-id"), "w", encoding="utf-8"):
        pass
    hostname = os.path.join(root, "etc/hostname")
    with open(hostname, "w", encoding="utf-8") as stream:
        stream.write("localhost\n")
    os.chmod(hostname, 0o644)
    resolv_conf = os.path.join(root, "etc/resolv.conf")
    if os.path.lexists(resolv_conf):
        os.unlink(resolv_conf)
    os.symlink("../run/systemd/resolve/stub-resolv.conf", resolv_conf)


def replace_in_sources(root: str, before: str, after: str) -> None:
    """Replace a text in the lists of apt's sources.

    :param root: the root file system
    """
    folder = os.path.join(root, "etc/apt")
    for path in [os.path.join(folder, "sources.list"), *glob.glob(os.path.join(folder, "sources.list.d/*"))]:
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text.replace(before, after))


def forget_times(root: str) -> None:
    """Give all files and folders the same time.

    :param root: the root file system
    """
    for parent, folders, names in os.walk(root):
        for name in folders + names:
            os.utime(os.path.join(parent, name), (EPOCH_SECONDS, EPOCH_SECONDS), follow_symlinks=False)
    os.utime(root, (EPOCH_SECONDS, EPOCH_SECONDS))


def write_checksum(path: str) -> None:
    """Write ``<path>.sha256``, as ``sha256sum`` does.

    :param path: the file
    """
    with open(path + ".sha256", "w", encoding="utf-8") as stream:
        stream.write(f"{file_digest.digest(path)}  {os.path.basename(path)}\n")
