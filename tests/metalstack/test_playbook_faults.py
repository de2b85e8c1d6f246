# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks metalstack and metalstack_teardown on a metal-api that answers wrongly, and killed at each step.

Here and not with the unit tests because each runs playbooks several times: ``make test-metalstack``.
"""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from fakes import playbook
from fakes.metal_site import ORDER, PINNED, environment, faultless_api, freed, inventory, nothing, run, whole, writes

api = pytest.fixture(faultless_api)


@pytest.mark.parametrize("fault", [409, 503, "half", "lost"])
def test_a_fault_of_each_step_is_got_over_without_a_second_allocation(api, tmp_path, fault):
    api.faults += [(path, fault) for path in sorted(set(ORDER))]
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0 and api.faults == [], output
    assert whole(api)
    api.faults += [(path, fault) for path in (
        f"/v1/machine/{PINNED}/free", "/v1/ip/free/[^/]+", "/v1/network/free/[^/]+")]
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    if fault == "half":
        # What it has done is not known, so that the run ends there; the next one goes on.
        for dummy in range(3):
            assert code != 0 and "answers 500" in output, output
            code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code == 0 and api.faults == [] and nothing(api), output


def kill_after(api, folder, count, name, *arguments):
    """Start a playbook and kill it as soon as metal-api has had so many writes."""
    (folder / "hosts.yml").write_text(inventory())
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "METAL_"))}
    api.requests.clear()
    process = subprocess.Popen(
        [os.path.join(os.path.dirname(sys.executable), "ansible-playbook"), "-i", "hosts.yml",
         f"metal3.baremetal.{name}", *arguments], cwd=folder, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**kept, **environment(api), "ANSIBLE_COLLECTIONS_PATH": str(playbook.ROOT / ".build"),
             "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_LOCAL_TEMP": str(folder / "tmp")})
    deadline = time.monotonic() + 600
    while len(writes(api)) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(writes(api)) >= count


@pytest.mark.parametrize("reached", range(1, len(ORDER) + 1))
def test_a_run_that_was_killed_is_taken_up(api, tmp_path, reached):
    """Killed as soon as metal-api has had so many allocations, the answer to the last of them perhaps on its way."""
    kill_after(api, tmp_path, reached, "metalstack")
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    assert sorted(writes(api)) == sorted(ORDER)
    assert whole(api)


@pytest.mark.parametrize("reached", range(1, 6))
def test_a_teardown_that_was_killed_is_taken_up(api, tmp_path, reached):
    code, output = run(api, tmp_path, "metalstack")
    assert code == 0, output
    kill_after(api, tmp_path, reached, "metalstack_teardown", "-e", "metal3_confirm=prod")
    code, output = run(api, tmp_path, "metalstack_teardown", "-e", "metal3_confirm=prod")
    assert code == 0, output
    freed([path.split("/")[2] for path in writes(api)])
    assert nothing(api)
