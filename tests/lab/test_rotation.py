# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's credentials replaced while hosts are there, by a run that was killed and one that went on."""
from __future__ import annotations

import base64
import ssl
import urllib.error
import urllib.request

import pytest
from support import eventually

pytestmark = pytest.mark.plane


def credentials(lab, folder="."):
    return tuple((lab.dir / "secrets" / folder / f"ironic_{name}").read_text().strip()
                 for name in ("username", "password"))


def answer(lab, login):
    """Return the status of Ironic's answer to a request with a login."""
    request = urllib.request.Request(lab.figures["urls"]["ironic"] + "/v1/nodes", headers={
        "Authorization": "Basic " + base64.b64encode(":".join(login).encode()).decode()})
    context = ssl.create_default_context(cafile=str(lab.dir / "pki" / "ca.crt"))
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as response:
            return response.status
    except urllib.error.HTTPError as exc:
        return exc.code


def in_error(lab):
    return [name for name, host in lab.hosts().items() if (host.get("status") or {}).get("errorType")]


def test_both_sides_use_the_new_credentials_and_no_host_is_in_error(lab):
    old, operator = credentials(lab), lab.pid("bmo")
    errors = []

    def begun():
        errors.extend(in_error(lab))
        return (lab.dir / "secrets" / "previous" / "ironic_password").exists() and (
            lab.dir / "secrets" / "ironic_password").exists() and credentials(lab) != old

    running = lab.start("rotate_credentials")
    eventually(begun, 300, "other credentials", not_yet=FileNotFoundError)
    running.kill()
    # The operator has the old ones still, and they are good.
    assert answer(lab, old) == 200 and credentials(lab, "previous") == old
    chosen = credentials(lab)
    run = lab.start("rotate_credentials")
    eventually(lambda: errors.extend(in_error(lab)) or run.process.poll() is not None, 300, "the end of the run")
    run.finish(10).ok()
    new = credentials(lab)
    assert new == chosen != old and answer(lab, new) == 200 and answer(lab, old) == 401
    assert not (lab.dir / "secrets" / "previous").exists() and lab.pid("bmo") != operator
    for word in (*old, *new):
        assert word not in run.output
    # Done by BMO through Ironic, which takes nothing else any more.
    lab.playbook("inspect", "--limit", "server-01").ok()
    assert errors == [] and in_error(lab) == []
    assert lab.playbook("install").ok().changed() == 0
