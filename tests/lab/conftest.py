# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the lab that ``tests/gates/test-lab`` has brought up; no test leaves its run or faults to the next."""
from __future__ import annotations

import os
import signal
import traceback

import operator_account
import plane_site
import pytest
import starting_state
from ansible_programs import PROGRAMS
from machine_room.client import MachineRoomClient
from module_forks import ModuleForks
from program_forks import ProgramForks
from support import Lab, Run

LAST_MODULE = pytest.StashKey[str]()
SHOWN_LINES = 60


def pytest_configure(config):
    """Name the markers of these tests, and let them clean up when they get a signal to end."""
    config.addinivalue_line("markers", "air_gap: no internet but an archive; make test-air-gap runs them")
    config.addinivalue_line("markers", "awx: in the image of the execution environment; make test-awx runs them")
    config.addinivalue_line("markers", "claims: each option on machines that boot; make test-claims runs them")
    config.addinivalue_line("markers", "nodes: needs root; boots what is on the disks of simulated servers")
    config.addinivalue_line("markers", "guides: all commands of a page, for minutes; make test-guides runs them")
    config.addinivalue_line("markers", "ha: needs seven servers and no other test beside it; make test-ha runs them")
    config.addinivalue_line("markers", "metal: virtual servers, which take minutes to boot; make test-metal runs them")
    config.addinivalue_line("markers", "metal_pivot: the same with planes of sites; make test-metal-pivot runs them")
    config.addinivalue_line("markers", "lifecycle: machines of a cluster are replaced; make test-lifecycle runs them")
    config.addinivalue_line("markers", "long: takes minutes, or is a variant; make test-long runs them")
    config.addinivalue_line("markers", "metalstack: its provider is played; make test-metalstack runs them")
    config.addinivalue_line("markers", "pivot: the management moves to another plane; make test-pivot runs them")
    config.addinivalue_line("markers", "plane: a plane beside the lab's; make test-plane runs them")
    config.addinivalue_line("markers", "scale: Ironic as several processes; make test-scale runs them")
    config.addinivalue_line("markers", "upgrade: an older plane becomes the present; make test-plane-upgrade runs them")
    signal.signal(signal.SIGTERM, _end)


def _end(number, _frame):
    # A second signal must not interrupt what cleans up. Unlike SIG_IGN, a handler is nothing that playbooks inherit.
    signal.signal(number, lambda *_arguments: None)
    pytest.exit(f"ended by {signal.Signals(number).name}", returncode=128 + number)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Show a failure at once, an hour before the others end; add what the lab's parts say before it is taken down."""
    report = yield
    if report.failed:
        item.config.get_terminal_writer().line(
            "\n".join(["", f"{report.when} of {item.nodeid} failed", *report.longreprtext.splitlines()[-SHOWN_LINES:]]))
    if report.failed and "lab" in item.funcargs:
        try:
            text = item.funcargs["lab"].describe()
        except Exception:
            # Here it would end all tests.
            text = traceback.format_exc()
        report.sections.append(("the lab when it failed", text))
    return report


# In hooks and not in a fixture: a failed test's run must be gone before other fixtures put things right, and a fixture
# of the test's would not be there when one of the module's has failed.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown():
    """Kill what a test has started and not waited for."""
    with Run.none_unfinished():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish():
    """Kill what a test has started that was interrupted."""
    with Run.none_unfinished():
        return (yield)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The running lab; without one these tests fail, they do not skip."""
    found = Lab(tmp_path_factory.mktemp("runs"))
    # Playbooks reach into virtual servers, where Python is another.
    if any(server["kind"] == "virtual" for server in found.servers.values()):
        yield found
        return
    folder = tmp_path_factory.mktemp("forks")
    settings = dict((name, value) for name, value in os.environ.items() if name.startswith("ANSIBLE_"))
    with ProgramForks(folder, settings) as programs, ModuleForks(folder) as modules:
        PROGRAMS.run_as_forks(programs, modules)
        yield found


@pytest.fixture(scope="session")
def room(lab):
    """The lab's machine room, whose knobs make servers fail."""
    return MachineRoomClient.of_lab(str(lab.dir))


@pytest.fixture(scope="module")
def kubeconfig(lab, _starting_state):
    """Path of the kubeconfig of a cluster of one machine for a plane; a module with another has its own fixture."""
    with plane_site.cluster(lab, "plane") as path:
        yield path


@pytest.fixture(scope="module")
def target(kubeconfig):
    """A client of the cluster that a plane is installed in."""
    return plane_site.client(kubeconfig)


@pytest.fixture(scope="module")
def as_operator(lab, _starting_state, tmp_path_factory):
    """Run a module's playbooks with the rights of docs/rbac only."""
    lab.kubeconfig = operator_account.make(lab, tmp_path_factory.mktemp("operator"))
    yield lab.kubeconfig
    lab.kubeconfig = None


@pytest.fixture(scope="module", autouse=True)
def _starting_state(request):
    """Before a module that uses the lab, put right what another has left: one failure is not to make others."""
    items = [item for item in request.session.items if item.getparent(pytest.Module) is request.node]
    if not any("lab" in item.fixturenames for item in items):
        return

    def tell(line):
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print("\n" + line, flush=True)

    stash = request.config.stash
    before, stash[LAST_MODULE] = stash.get(LAST_MODULE, None), request.node.name
    starting_state.ensure(
        request.getfixturevalue("lab"), request.getfixturevalue("room"), request.node.name, before, tell,
        direct_may_be_free=getattr(request.module, "TAKES_DIRECT", False))
