# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Temporary API servers, which live for the time of a ``with``: one etcd, no controllers, nothing kept."""
from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from typing import Any

from ..._common.files import private_folder
from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import end_of
from . import certificates, readiness

_LOOPBACK = "127.0.0.1"
_READY_SECONDS = 120
_STOP_SECONDS = 20
_LOG_BYTES = 1000
# Of a process whose parent was killed: it must not outlive it.
_BOUND = ("setpriv", "--pdeathsig", "KILL")
_PROGRAMS = ("etcd", "kube-apiserver")


class ThrowawayError(ReportedError):
    """The API servers could not be started."""


class ThrowawayServers:
    """Several API servers on free ports of the loopback interface, each with a state of its own.

    They know no kind but Kubernetes' own, and nothing of what is stored is acted on. Only who can read the folder, the
    user who runs them, can ask them or their etcd.

    :param bin_dir: folder with the programs ``etcd`` and ``kube-apiserver``
    :param names: a name for each API server, of lower case letters
    """

    def __init__(self, bin_dir: str, names: list[str]) -> None:
        self._bin_dir = bin_dir
        self._names = names
        self._processes: dict[str, Any] = {}
        self._kept = contextlib.ExitStack()
        self.folder = ""

    def __enter__(self) -> ThrowawayServers:
        """Start them and wait until they answer.

        :raises ThrowawayError: when a program is missing or does not become ready
        """
        absent = [os.path.join(self._bin_dir, name) for name in _PROGRAMS
                  if not os.access(os.path.join(self._bin_dir, name), os.X_OK)]
        absent += [] if shutil.which(_BOUND[0]) else [f"{_BOUND[0]} (package util-linux)"]
        if absent or not certificates.HAS_CRYPTOGRAPHY:
            raise ThrowawayError("rehearsal: found no " + ", ".join(absent or ["Python package cryptography"])
                                 + ", expected it; build the programs by plane_programs, or do without a rehearsal")
        self.folder = self._kept.enter_context(private_folder.folder("metal3-rehearsal-"))
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        """End them and remove their files."""
        self._stop()

    def kubeconfig(self, name: str) -> str:
        """Return the path of the kubeconfig of an API server."""
        return os.path.join(self.folder, f"{name}.kubeconfig")

    def resident_bytes(self) -> int:
        """Return how much memory they have by now."""
        total = 0
        for process in self._processes.values():
            with open(f"/proc/{process.pid}/statm", encoding="utf-8") as stream:
                total += int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return total

    def issue(self, certificate: dict[str, Any]) -> None:
        """Issue another certificate of their authority.

        :param certificate: see ``certificates.ensure()``
        """
        certificates.ensure(certificates.Authority(self.pki), [certificate])

    def add(self, name: str, program: str, arguments: list[str], environment: dict[str, str],
            ready: dict[str, Any]) -> None:
        """Start another program beside them, which ends as they do, and wait until it does its work.

        :param name: what it is called
        :param program: name of the program, in the same folder
        :param arguments: its arguments
        :param environment: all of its environment
        :param ready: see ``readiness.fault()``
        :raises ThrowawayError: when it is missing or does not become ready
        """
        path = os.path.join(self._bin_dir, program)
        if not os.access(path, os.X_OK):
            raise ThrowawayError(f"rehearsal: found no {path}, expected it; build the programs by plane_programs, or "
                                 f"do without {program}")
        self._run(name, program, arguments, environment)
        self._wait({name: ready})

    def require(self, name: str) -> None:
        """Make sure that one of their programs still runs.

        :raises ThrowawayError: when it has ended
        """
        if self._processes[name].poll() is not None:
            raise ThrowawayError(f"rehearsal: {name} has ended; its last lines: {self._end(name)}")

    def log(self, name: str) -> str:
        """Return what one of their programs has printed so far."""
        with open(os.path.join(self.folder, name + ".log"), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    @property
    def pki(self) -> str:
        """The folder with their authority and certificates."""
        return os.path.join(self.folder, "pki")

    def _start(self) -> None:
        client_port, peer_port, *ports = free_ports(2 + len(self._names))
        pki = self.pki
        urls = dict((name, f"https://{_LOOPBACK}:{port}") for name, port in zip(self._names, ports))
        certificates.ensure(certificates.Authority(pki), [
            _certificate("etcd", ["server", "client"]), _certificate("server", ["server"]),
            _certificate("client", ["client"]),
            *(dict(_certificate(name, ["client"]), organizations=["system:masters"], kubeconfig={
                "path": self.kubeconfig(name), "server": url, "namespace": "default"}) for name, url in urls.items())],
            ["account"], "metal3.baremetal rehearsal")
        etcd = f"https://{_LOOPBACK}:{client_port}"
        self._run("etcd", "etcd", _etcd_arguments(os.path.join(self.folder, "etcd"), pki, etcd,
                                                  f"https://{_LOOPBACK}:{peer_port}"))
        ca_file = os.path.join(pki, "ca.crt")
        self._wait({"etcd": {"url": etcd + "/health", "ca_file": ca_file,
                             "client_cert": os.path.join(pki, "client.crt"),
                             "client_key": os.path.join(pki, "client.key")}})
        for name, port in zip(self._names, ports):
            self._run(name, "kube-apiserver", _server_arguments(name, pki, etcd, port))
        self._wait(dict((name, {"url": url + "/readyz", "ca_file": ca_file}) for name, url in urls.items()))

    def _run(self, name: str, program: str, arguments: list[str], environment: dict[str, str] | None = None) -> None:
        with open(os.path.join(self.folder, name + ".log"), "wb") as log:
            self._processes[name] = subprocess.Popen(
                [*_BOUND, os.path.join(self._bin_dir, program), *arguments], stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True, env=environment)

    def _wait(self, checks: dict[str, dict[str, Any]]) -> None:
        for check in checks.values():
            check["timeout_seconds"] = _READY_SECONDS
        faults = readiness.wait(checks, lambda: [name for name, process in self._processes.items()
                                                 if process.poll() is not None])
        if faults:
            raise ThrowawayError("; ".join(f"rehearsal: {name} is not ready: {text}; its last lines: {self._end(name)}"
                                           for name, text in sorted(faults.items())))

    def _end(self, name: str) -> str:
        return end_of(" ".join(self.log(name)[-4 * _LOG_BYTES:].split()), _LOG_BYTES)

    def _stop(self) -> None:
        # A graceful end would wait for watches that nobody reads any more, and store what nobody needs.
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait(_STOP_SECONDS)
        self._processes.clear()
        self._kept.close()


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that were free a moment ago."""
    holders = [socket.socket() for _number in range(count)]
    try:
        for holder in holders:
            holder.bind((_LOOPBACK, 0))
        return [int(holder.getsockname()[1]) for holder in holders]
    finally:
        for holder in holders:
            holder.close()


def _certificate(name: str, usages: list[str]) -> dict[str, Any]:
    return {"name": name, "common_name": name, "organizations": [], "usages": usages, "kubeconfig": None,
            "sans": ["localhost", _LOOPBACK] if "server" in usages else []}


def _etcd_arguments(folder: str, pki: str, url: str, peer_url: str) -> list[str]:
    return ["--name=rehearsal", f"--data-dir={folder}", f"--listen-client-urls={url}", f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}", f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=rehearsal={peer_url}", f"--cert-file={pki}/etcd.crt", f"--key-file={pki}/etcd.key",
            f"--trusted-ca-file={pki}/ca.crt", "--client-cert-auth", f"--peer-cert-file={pki}/etcd.crt",
            f"--peer-key-file={pki}/etcd.key", f"--peer-trusted-ca-file={pki}/ca.crt", "--peer-client-cert-auth",
            "--log-level=warn", "--unsafe-no-fsync"]


def _server_arguments(name: str, pki: str, etcd: str, port: int) -> list[str]:
    return [f"--etcd-servers={etcd}", f"--etcd-prefix=/{name}", f"--etcd-cafile={pki}/ca.crt",
            f"--etcd-certfile={pki}/client.crt", f"--etcd-keyfile={pki}/client.key", f"--bind-address={_LOOPBACK}",
            f"--advertise-address={_LOOPBACK}", f"--secure-port={port}", "--endpoint-reconciler-type=none",
            f"--tls-cert-file={pki}/server.crt", f"--tls-private-key-file={pki}/server.key",
            f"--client-ca-file={pki}/ca.crt", "--authorization-mode=RBAC",
            "--service-account-issuer=https://rehearsal.invalid", f"--service-account-key-file={pki}/account.pub",
            f"--service-account-signing-key-file={pki}/account.key", "--service-cluster-ip-range=198.18.0.0/24",
            "--disable-admission-plugins=ServiceAccount", "--profiling=false"]
