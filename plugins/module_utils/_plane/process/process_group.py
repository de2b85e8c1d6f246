# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a lab's programs to the wanted state: configured, running, ready."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..._common.files import file_lock
from . import figures as figures_file
from . import orphans, ports, readiness, service_manager
from .supervisor import ALIVE_STATES, Supervisor
from .supervisor_files import Layout, SupervisorError, configured, last_lines, remove_program, write_program
from .supervisor_files import differences as differences_of

RUNNING = "running"
ABSENT = "absent"
# A program that waits for another one may have to be started again, each second or two where that one is slow; one that
# always dies won't get better.
RESTART_LIMIT = 20
LOCK = "lock"
ADDRESS_IN_USE = "address already in use"
# What the kernel writes behind the path of a running program's file that was removed or replaced.
_GONE = " (deleted)"


def start(supervisor: Any, programs: Any, check_mode: bool = False, pending: Iterable[str] = ()) -> Any:
    """Configure programs and have them running; one that runs as configured stays unchanged.

    When supervisord itself is gone, what it left behind is ended first: its successor would start everything twice.

    :param supervisor: a Supervisor
    :param programs: list of dicts, see supervisor_files.program_config()
    :param check_mode: change nothing, only report
    :param pending: files that a run without check mode has changed before
    :returns: dict name → ``started``, ``restarted``, ``stopped`` or ``running``
    """
    with _alone(supervisor.layout, check_mode, True):
        return _started(supervisor, programs, check_mode, pending)


@contextlib.contextmanager
def _alone(layout: Layout, check_mode: bool, makes: bool) -> Iterator[None]:
    """Keep other runs waiting: to one a supervisord that another one is just starting is what a killed one has left.

    :param makes: whether the folder is made when there is none
    """
    if makes and not check_mode:
        os.makedirs(layout.directory, mode=0o700, exist_ok=True)
    if check_mode or not os.path.isdir(layout.directory):
        yield
        return
    with file_lock.held(os.path.join(layout.directory, LOCK)):
        yield


def _started(supervisor: Any, programs: Any, check_mode: bool, pending: Iterable[str]) -> Any:
    daemon_differs = supervisor.write_config(check_mode)
    differing = [program["name"] for program in programs if write_program(supervisor.layout, program, check_mode)
                 or set(pending) & set(program.get("restart_on") or [])]
    states = supervisor.processes()
    actions = dict((program["name"], RUNNING) for program in programs)
    replaced = _replaced(supervisor.layout.lab_dir, programs, states)
    if check_mode:
        # Configured by a run that was killed before supervisord knew of it.
        due = supervisor.pending()
        for name in actions:
            if states.get(name, {}).get("statename") not in ALIVE_STATES:
                actions[name] = "started"
            elif name in differing or daemon_differs or name in due or name in replaced:
                actions[name] = "restarted"
        return actions
    if daemon_differs and supervisor.alive():
        supervisor.shutdown(orphans.TERMINATE_SECONDS + orphans.KILL_SECONDS)
    if not supervisor.alive():
        orphans.stop_processes(supervisor.layout.lab_dir)
        service = service_manager.of(figures_file.read(supervisor.layout.lab_dir))
        if service:
            service.start()
            supervisor.until_alive()
        else:
            supervisor.start(_services_python(supervisor.layout.lab_dir))
        return dict((name, "started") for name in configured(supervisor.layout))
    actions.update(supervisor.reload(actions))
    states = supervisor.processes()
    for name in sorted(actions):
        state = states.get(name, {}).get("statename")
        if actions[name] == RUNNING and state not in ALIVE_STATES:
            supervisor.start_program(name, waiting=state == "BACKOFF")
            actions[name] = "started"
        elif actions[name] == RUNNING and name in replaced:
            supervisor.stop_programs([name])
            supervisor.start_program(name)
            actions[name] = "restarted"
    return actions


def _replaced(lab_dir: str, programs: Any, states: Any) -> set[str]:
    """Return the names of programs of the plane's engine whose file was replaced since they were started.

    A program that is taken out of an image with another digest has the path of the former one.
    """
    folder = (figures_file.read(lab_dir) or {}).get("engine_dir")
    if not folder:
        return set()
    own = os.path.join(os.path.realpath(folder), "bin")
    found = set()
    for program in programs:
        # One that has ended meanwhile, and what is not this user's, has nothing to say.
        with contextlib.suppress(OSError):
            running = os.readlink(f"/proc/{states.get(program['name'], {}).get('pid') or 0}/exe")
            path = os.path.join(own, os.path.basename(program["command"][0]))
            if running == path + _GONE and os.access(path, os.X_OK):
                found.add(program["name"])
    return found


def changed(actions: Any) -> Any:
    """Return whether anything was done, of what start() or stop() returned."""
    return any(action not in (RUNNING, ABSENT) for action in actions.values())


def differences(layout: Layout, programs: list[dict[str, Any]], pending: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return name → in words what of a program differs from how it is configured, to be asked before start().

    :param layout: a Layout
    :param programs: see start()
    :param pending: see start()
    """
    return dict((program["name"], differences_of(layout, program, pending)) for program in programs)


def diff(actions: dict[str, str], reasons: dict[str, list[str]]) -> list[dict[str, str]]:
    """Return what is done to programs as Ansible's diff.

    :param actions: of start() or stop()
    :param reasons: of differences()
    """
    found = []
    for name, action in sorted(actions.items()):
        if action in (RUNNING, ABSENT):
            continue
        cause = f": {', '.join(reasons[name])}" if reasons.get(name) else ""
        found.append({"before_header": f"program {name}", "after_header": f"program {name}",
                      "before": "not running\n" if action == "started" else "running\n", "after": f"{action}{cause}\n"})
    return found


def note(actions: dict[str, str], wrote: Callable[[str, str], Any]) -> None:
    """Keep what was done, of what start() returned, for the result of a run that fails later."""
    for name, action in actions.items():
        if action not in (RUNNING, ABSENT):
            wrote(f"program {name}", action)


def _services_python(lab_dir: Any) -> Any:
    figures = figures_file.read(lab_dir)
    if not figures or not figures.get("services_python"):
        raise SupervisorError(f"{lab_dir}/{figures_file.FILE}: services_python: not set, expected the Python that has "
                              "supervisor; run the playbook install again, of a lab the playbook lab")
    return figures["services_python"]


def stop(supervisor: Any, names: Any, check_mode: bool = False) -> Any:
    """Stop programs and forget them.

    :param supervisor: a Supervisor
    :param names: names of programs
    :param check_mode: change nothing, only report
    :returns: dict name → ``stopped`` or ``absent``
    """
    with _alone(supervisor.layout, check_mode, False):
        return _stopped(supervisor, names, check_mode)


def _stopped(supervisor: Any, names: Any, check_mode: bool) -> Any:
    if not check_mode:
        # First: roles know by the files which programs a run that is killed meanwhile has left.
        supervisor.stop_programs(names)
        if not supervisor.alive():
            # Killed, as by the kernel for want of memory: what it had started goes on.
            orphans.stop_programs(supervisor.layout.lab_dir, names)
    actions = dict(
        (name, "stopped" if remove_program(supervisor.layout, name, check_mode) else ABSENT) for name in names)
    if check_mode:
        # Removed by a run that was killed before supervisord knew of it.
        actions.update((name, action) for name, action in supervisor.pending().items() if actions.get(name) == ABSENT)
    elif supervisor.alive():
        actions.update(supervisor.reload(actions))
    return actions


def wait(supervisor: Any, names: Any = None) -> None:
    """Wait until programs are ready.

    :param supervisor: a Supervisor
    :param names: names of programs, None for all that are configured
    :raises SupervisorError: naming each program that is not, why, its state and the end of its log
    """
    checks = configured(supervisor.layout)
    if names is not None:
        checks = dict((name, checks[name]) for name in names)

    starts = {}

    def given_up() -> list[str]:
        lost = []
        for name, info in supervisor.processes().items():
            starts.setdefault(name, set()).add(info["start"])
            if info["statename"] in ("FATAL", "STOPPED") or len(starts[name]) > RESTART_LIMIT:
                lost.append(name)
        return lost

    failed = readiness.wait(checks, given_up)
    if not failed:
        return
    states = supervisor.processes()
    parts = []
    for name in sorted(failed):
        info = states.get(name, {})
        log = supervisor.layout.log_file(name)
        parts.append("program %s is not ready (%s, %s): %s. Its log %s ends with:\n%s" % (
            name, info.get("statename", "not running"), info.get("spawnerr") or info.get("description") or "no pid",
            failed[name], log, "\n".join(last_lines(log)) or "(empty)"))
    if any(ADDRESS_IN_USE in text.lower() for name in failed for text in last_lines(supervisor.layout.log_file(name))):
        parts = ports.foreign(figures_file.read(supervisor.layout.lab_dir)) + parts
    raise SupervisorError("\n".join(parts))


def ensure(params: dict[str, Any], check_mode: bool, wrote: Callable[[str, str], Any]) -> dict[str, Any]:
    """Bring programs to a state and return the module's result.

    :param params: the parameters of the module ``plane_processes``
    :param check_mode: whether nothing is changed
    :param wrote: callable that takes a program and what became of it, called before the wait
    :raises ReportedError: when a program has no command, does not start, or does not become ready
    """
    daemon = Supervisor(Layout(params["supervisor_dir"]))
    reasons: dict[str, list[str]] = {}
    names = [program["name"] for program in params["programs"]]
    if params["state"] == "absent":
        actions = stop(daemon, names, check_mode)
    elif params["state"] == "ready":
        actions = {}
        if not check_mode:
            wait(daemon)
    else:
        for program in params["programs"]:
            if not program["command"]:
                raise SupervisorError(f"program {program['name']}: command: not set, expected the program to run")
        reasons = differences(daemon.layout, params["programs"], params["pending_files"])
        actions = start(daemon, params["programs"], check_mode, params["pending_files"])
        note(actions, wrote)
        if params["wait"] and not check_mode:
            wait(daemon, names)
    return {"changed": changed(actions), "programs": actions, "diff": diff(actions, reasons)}
