# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passwords of BMCs replaced while their servers are in use: on the BMC, in the Secret, by BMO and Ironic."""
from __future__ import annotations

import base64
import json
import secrets
import ssl
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support import HOST, NAMESPACE, eventually, module, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECRET = KNOWN["Secret"]
# One with an image of its own, in use, and one that is available.
IN_USE, FREE = "server-03", "server-01"
BOTH = (FREE, IN_USE)


class Accounts:
    """The accounts of both servers as everybody has them."""

    def __init__(self, lab, room):
        self._lab, self.room = lab, room
        self.usernames, self.delivered = (
            {name: Path(lab.servers[name]["bmc"][f"{field}_file"]).read_text().strip() for name in BOTH}
            for field in ("username", "password"))

    def answer(self, name, password):
        """Return the status of the BMC's answer to a login."""
        request = urllib.request.Request(self._lab.figures["urls"]["redfish"] + "/redfish/v1/AccountService", headers={
            "Authorization": "Basic " + base64.b64encode(f"{self.usernames[name]}:{password}".encode()).decode()})
        context = ssl.create_default_context(cafile=str(self._lab.dir / "pki" / "ca.crt"))
        try:
            with urllib.request.urlopen(request, context=context, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def secret(self, name):
        """Return the Secret of a host and the password in it."""
        found = self._lab.kube.get(SECRET, NAMESPACE, self._lab.host(name)["spec"]["bmc"]["credentialsName"])
        return found, base64.b64decode(found["data"]["password"]).decode()

    def of(self, name):
        """Return what the machine room says of an account."""
        return self.room.server(name)["account"]


@pytest.fixture(scope="module")
def accounts(lab, room):
    """The accounts of both servers; they have the delivered passwords afterwards, whatever happens."""
    found = Accounts(lab, room)
    assert all(found.of(name)["delivered"] for name in BOTH)
    yield found
    for name in BOTH:
        room.clear_knobs(name)
        secret, password = found.secret(name)
        if not found.of(name)["delivered"] or password != found.delivered[name]:
            room.reset_account(name)
            new = base64.b64encode(found.delivered[name].encode()).decode()
            lab.kube.patch(SECRET, NAMESPACE, secret["metadata"]["name"], {"data": {"password": new}}, checked=secret)


@pytest.fixture
def undisturbed(room):
    """Both servers run on: no power change, no boot."""
    def seen():
        return {name: (room.server(name)["power"], room.server(name)["boots"], room.server(name)["runs"])
                for name in BOTH}

    before = seen()
    yield
    assert seen() == before


def rotate(lab, *arguments, names=BOTH, start=False, **extra):
    """Run the playbook, or start it."""
    given = [*only(*names), *arguments]
    return lab.start("rotate_bmc_credentials", *given, extra=extra) if start else lab.playbook(
        "rotate_bmc_credentials", *given, extra=extra)


def back(lab, accounts):
    """Give the BMCs the delivered passwords again, by variables of the inventory, and name those that had others."""
    others = [name for name in BOTH if not accounts.of(name)["delivered"]]
    inventory = lab.inventory({name: {"bmc_new_password": accounts.delivered[name]} for name in BOTH})
    rotate(lab, "-i", str(inventory), metal3_confirm=",".join(others)).ok()
    assert all(accounts.of(name)["delivered"] and accounts.secret(name)[1] == accounts.delivered[name] for name in BOTH)


def expect_taken(lab, accounts, passwords):
    """Check that new passwords count everywhere, and that Ironic logs in with them."""
    nodes, ironic = lab.nodes(), lab.ironic()
    for name, new in passwords.items():
        secret, stored = accounts.secret(name)
        status = lab.host(name)["status"]
        assert stored == new and accounts.answer(name, new) == 200
        assert int(status["goodCredentials"]["credentialsVersion"]) >= int(secret["metadata"]["resourceVersion"])
        assert status["operationalStatus"] == "OK"
        before = accounts.of(name)["accepted"]
        # Ironic asks the BMC for it.
        assert ironic.get_node_boot_device(nodes[name].id)
        assert accounts.of(name)["accepted"] > before and not accounts.of(name)["failures"]


def test_new_passwords_for_servers_in_use(lab, room, accounts, tmp_path, undisturbed):
    file = tmp_path / "passwords" / "rack1.json"
    before, versions = {name: accounts.of(name)["revision"] for name in BOTH}, lab.versions()
    planned = rotate(lab, "--check", bmc_credentials_password_file=str(file)).ok()
    assert "metal3_confirm: not set, expected 2" in planned.output and planned.changed() == 1
    # The BMC's own policy, which it says beforehand.
    too_long = lab.inventory({name: {"bmc_new_password": "long-" * 5} for name in BOTH})
    rotate(lab, "-i", str(too_long), metal3_confirm="2").failed("the BMC takes 8 to 20", "2 problems")
    assert not file.exists() and versions == lab.versions()
    assert before == {name: accounts.of(name)["revision"] for name in BOTH}

    run = rotate(lab, bmc_credentials_password_file=str(file), metal3_confirm="2").ok()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    new = json.loads(file.read_text())["bmc_new_passwords"]
    assert set(new) == set(BOTH) and len(set(new.values())) == 2
    for name in BOTH:
        assert accounts.answer(name, accounts.delivered[name]) == 401
        for word in (new[name], accounts.delivered[name]):
            assert word not in run.output
    expect_taken(lab, accounts, new)

    # Again: the Secret says which password counts, so that none is tried in vain.
    accepted = {name: accounts.of(name)["revision"] for name in BOTH}
    again = rotate(lab, "--diff", bmc_credentials_password_file=str(file)).ok()
    assert again.changed() == 0 and accepted == {name: accounts.of(name)["revision"] for name in BOTH}
    assert not any(accounts.of(name)["failures"] for name in BOTH)


def test_a_run_that_was_killed_between_the_bmc_and_the_secret_is_finished(lab, room, accounts, tmp_path, undisturbed):
    file = tmp_path / "passwords.json"
    # The BMC has the new password, and its answer does not come.
    room.set_knobs(FREE, slow_password=120, lockout_threshold=3)
    revision, old = accounts.of(FREE)["revision"], accounts.secret(FREE)[1]
    running = rotate(lab, names=[FREE], start=True, bmc_credentials_password_file=str(file), metal3_confirm="1")
    eventually(lambda: accounts.of(FREE)["revision"] != revision, 60, "a new password on the BMC")
    running.kill()
    room.set_knobs(FREE, slow_password=0)
    new = json.loads(file.read_text())["bmc_new_passwords"][FREE]
    assert accounts.answer(FREE, new) == 200 and accounts.secret(FREE)[1] == old
    run = rotate(lab, names=[FREE], bmc_credentials_password_file=str(file), metal3_confirm="1").ok()
    assert run.changed() == 1 and not accounts.of(FREE)["locked"]
    room.set_knobs(FREE, lockout_threshold=0)
    expect_taken(lab, accounts, {FREE: new})


def test_a_run_that_was_killed_when_it_had_kept_the_password_is_finished(lab, accounts, tmp_path, undisturbed):
    """However far it had come with the BMC by then."""
    file = tmp_path / "passwords.json"
    running = rotate(lab, names=[FREE], start=True, bmc_credentials_password_file=str(file), metal3_confirm="1")
    eventually(file.exists, 120, "the password is kept", interval_seconds=0.01)
    running.kill()
    new = json.loads(file.read_text())["bmc_new_passwords"][FREE]
    rotate(lab, names=[FREE], bmc_credentials_password_file=str(file), metal3_confirm="1").ok()
    expect_taken(lab, accounts, {FREE: new})


def test_a_run_that_was_killed_between_the_secret_and_the_operator_is_finished(lab, accounts, tmp_path, undisturbed):
    """The operator stands still meanwhile. The next run waits for it, and changes nothing."""
    file, old = tmp_path / "passwords.json", accounts.secret(FREE)[1]
    with lab.paused("bmo"):
        running = rotate(lab, names=[FREE], start=True, bmc_credentials_password_file=str(file), metal3_confirm="1")
        eventually(lambda: accounts.secret(FREE)[1] != old, 120, "the new password in the Secret")
        running.kill()
        secret, new = accounts.secret(FREE)
        assert json.loads(file.read_text())["bmc_new_passwords"][FREE] == new and accounts.answer(FREE, new) == 200
        taken = lab.host(FREE)["status"]["goodCredentials"]["credentialsVersion"]
        assert int(taken) < int(secret["metadata"]["resourceVersion"])
        revision = accounts.of(FREE)["revision"]
        running = rotate(lab, names=[FREE], start=True, bmc_credentials_password_file=str(file))
        eventually(lambda: "BMO has not yet tried" in running.output or running.process.poll() is not None, 120,
                   "it waits for BMO")
        assert running.process.poll() is None, running.output
    assert running.finish(300).ok().changed() == 0 and accounts.of(FREE)["revision"] == revision
    expect_taken(lab, accounts, {FREE: new})


def test_a_bmc_that_lets_nobody_in_with_the_new_password_is_named_and_left_as_it_was(
        lab, room, accounts, tmp_path, undisturbed):
    file, old = tmp_path / "passwords.json", accounts.secret(IN_USE)[1]
    room.set_knobs(IN_USE, password_ignored=True)
    run = rotate(lab, bmc_credentials_password_file=str(file), metal3_confirm="2")
    run.failed("1 of 2 hosts do not have the new password", "let nobody in with it", "the old one counts again")
    line, = run.output_of(IN_USE)
    assert FREE not in line
    room.set_knobs(IN_USE, password_ignored=False)
    new = json.loads(file.read_text())["bmc_new_passwords"]
    expect_taken(lab, accounts, {FREE: new[FREE], IN_USE: old})
    assert new[IN_USE] not in run.output


def test_a_password_is_replaced_by_ipmi_as_well(lab, accounts):
    """By the module alone, which knows nothing of Kubernetes; it is one account for Redfish and IPMI."""
    old, new = accounts.secret(FREE)[1], "by-ipmi_" + secrets.token_hex(6)
    address = f"ipmi://{lab.figures['address']}:{lab.servers[FREE]['bmc']['ipmi_port']}"
    for before, after in ((old, new), (new, old)):
        bmc = {"address": address, "username": accounts.usernames[FREE], "password": before, "new_password": after}
        found = module("bmc_account", hosts=[{"name": FREE, "bmc": bmc}], confirm=FREE, connect_timeout_seconds=3)
        assert found["changed"] and found["hosts"][0]["status"] == "changed"
        assert (accounts.answer(FREE, before), accounts.answer(FREE, after)) == (401, 200)


def test_bmo_switches_a_server_with_its_new_password(lab, room, accounts, tmp_path):
    if accounts.of(FREE)["delivered"]:
        # Without the tests above.
        rotate(lab, names=[FREE], bmc_credentials_password_file=str(tmp_path / "passwords.json"),
               metal3_confirm="1").ok()
    power, online = room.server(FREE)["power"], lab.host(FREE)["spec"]["online"]
    for wanted in (not online, online):
        lab.kube.patch(HOST, NAMESPACE, FREE, {"spec": {"online": wanted}})
        lab.wait_for_host(FREE, lambda host, on=wanted: host["status"].get("poweredOn") is on, f"powered {wanted}")
        assert (room.server(FREE)["power"] == power) is (wanted == online)
    back(lab, accounts)
    expect_taken(lab, accounts, accounts.delivered)
