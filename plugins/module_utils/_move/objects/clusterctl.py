# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ``clusterctl move``, from a plane or from files, never two of them at a time on one machine."""
from __future__ import annotations

import fcntl
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._common.files import file_lock
from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import cut, plain
from ..._kube.api import cluster_identity

# It tries each request for minutes itself; a move of thousands of objects takes less.
_LIMIT_SECONDS = 3600
_KEPT_LINES = 20
_LINE_LIMIT = 500


# Of these types, so that a caller of another form is found before it runs.
Report = Callable[[str], Any]
Run = Callable[[str, dict[str, Any], dict[str, Any], str, str, Report, int], None]
RunFromFolder = Callable[[str, dict[str, Any], str, str, Report], None]


class MoveError(ReportedError):
    """``clusterctl move`` failed, or another one still runs."""


@contextmanager
def alone(work_dir: str, report: Report) -> Iterator[int]:
    """Keep other runs of this machine waiting; what was read before may be of before another run's end.

    The lock is the process's own and its child's: when a run was killed, its clusterctl goes on, and the next run does
    not begin before that one has ended.

    :param work_dir: folder for the lock
    :param report: callable that takes a line of progress
    :returns: the lock's descriptor, for :func:`move`
    :raises MoveError: when another one does not end
    """
    os.makedirs(work_dir, mode=0o700, exist_ok=True)
    with file_lock.opened(os.path.join(work_dir, "move.lock")) as lock:
        _wait_for(lock, report)
        yield lock.fileno()


def side(client: Any, kubeconfig: str, uid: str) -> dict[str, Any]:
    """Return by what clusterctl, which reads kubeconfigs itself, finds the plane that was checked, and no other one.

    Without a context it would take the current one of the file: not that of the environment, by which the client may
    have chosen, nor the one of before somebody has switched it.

    :param client: a KubeClient of the plane
    :param kubeconfig: path of the file that the client has read
    :param uid: of the cluster that was checked, see ``cluster_identity``
    :raises KubeError: when the file leads to another API server by now
    :raises MoveError: when another cluster answers there by now
    """
    client.require_same_server()
    other = cluster_identity.problems(client, uid)
    if other:
        raise MoveError(f"clusterctl was not started: {other[0]}")
    return {"kubeconfig": kubeconfig, "context": client.context}


def move(program: str, source: dict[str, Any], target: dict[str, Any], namespace: str, work_dir: str,
         report: Report, lock: int) -> None:
    """Run ``clusterctl move`` to its end.

    :param program: path of clusterctl
    :param source: the plane it goes from, see :func:`side`
    :param target: the other plane
    :param namespace: name of the namespace
    :param work_dir: folder for clusterctl's own configuration
    :param report: callable that takes a line of progress
    :param lock: of :func:`alone`
    :raises MoveError: when it fails; the text has its last lines
    """
    arguments = ["--namespace", namespace, "--kubeconfig", source["kubeconfig"]]
    if source.get("context"):
        arguments += ["--kubeconfig-context", source["context"]]
    _run([program, "move", *arguments, *_to(target)], work_dir, lock, report,
         "what was moved so far is paused over there and still here; correct the cause and run again, or take it back "
         "by state undone")


def restore(program: str, target: dict[str, Any], folder: str, work_dir: str, report: Report) -> None:
    """Have clusterctl create the objects of a folder, those that are not there.

    :param program: path of clusterctl
    :param target: the plane, see :func:`side`
    :param folder: folder with a file for each object
    :param work_dir: folder for the lock and for clusterctl's own configuration
    :param report: callable that takes a line of progress
    :raises MoveError: when it fails; the text has its last lines
    """
    with alone(work_dir, report) as lock:
        _run([program, "move", "--from-directory", folder, *_to(target)], work_dir, lock, report,
             "what was restored so far stays, and hosts are held; correct the cause and run again")


def _to(target: dict[str, Any]) -> list[str]:
    context = ["--to-kubeconfig-context", target["context"]] if target.get("context") else []
    return ["--to-kubeconfig", target["kubeconfig"], *context]


def _wait_for(lock: Any, report: Report, sleep: Callable[[float], Any] = time.sleep) -> None:
    deadline = time.monotonic() + _LIMIT_SECONDS
    is_announced = False
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise MoveError("clusterctl move: another one has been running on this machine for an hour; look at it "
                                "by: pgrep -af 'clusterctl move'") from None
            if not is_announced:
                report("another clusterctl move runs on this machine, left by a run that was killed: waiting for its "
                       "end")
                is_announced = True
            sleep(1)
        else:
            return


def _run(arguments: list[str], work_dir: str, lock: int, report: Report, next_step: str) -> None:
    # Its own question for a newer version leads to the internet.
    environment = dict(os.environ, XDG_CONFIG_HOME=work_dir, CLUSTERCTL_DISABLE_VERSIONCHECK="true")
    try:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=environment, pass_fds=[lock])
    except OSError as exc:
        raise MoveError(f"clusterctl: found {arguments[0]}, which cannot be run ({exc.strerror}), expected the "
                        "program; correct the option clusterctl") from exc
    timer = threading.Timer(_LIMIT_SECONDS, process.kill)
    timer.start()
    kept: list[str] = []
    try:
        with process:
            for line in _lines(process.stdout):
                kept = [*kept, line][-_KEPT_LINES:]
                report(f"clusterctl: {line}")
    finally:
        timer.cancel()
    code = process.returncode
    if code:
        words = " | ".join(kept[-3:]) or "no output"
        raise MoveError(f"clusterctl move: ended with code {code}: {words}; {next_step}")


def _lines(stream: Any) -> Any:
    for content in stream:
        line = cut(plain(content.decode(errors="replace").strip()), _LINE_LIMIT)
        # Of finalizers' names, for each object.
        if line and not line.startswith("[API Server Warning]"):
            yield line
