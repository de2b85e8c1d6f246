# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two rotations of one BMC's password: a run begins between any two steps of another one, or takes up a killed one."""
from __future__ import annotations

import json
import os
import threading

import pytest
from host.test_rotation import NEW, OLD, Bmc, Site, encoded

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.passwords.accounts import Outcome
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.run_locks import RunLocks
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation import claim, rotation_service

OTHER = "password-of-the-other-run"
SECRET = "h1-bmc-secret"


class Killed(BaseException):
    """The end of a run that nothing in it catches."""


def killed():
    raise Killed


class Steps:
    """Does something before one step of a run, and before no other one.

    :param step: ``looked``, ``kept``, ``claimed``, ``checked``, ``changed``, ``written`` or ``given back``: what has
        just been done when it is called
    """

    NAMES = ("looked", "kept", "claimed", "checked", "changed", "written", "given back")

    def __init__(self, service, step, action):
        self._action = action
        for name, owner, method in (
                ("looked", service, "_look"), ("kept", service, "_kept"), ("claimed", service._claims, "take"),
                ("checked", service, "_check_again"), ("changed", service._change, "change"),
                ("written", service, "_rotate"), ("given back", service._claims, "give_back")):
            if name == step:
                setattr(owner, method, self._wrapped(getattr(owner, method)))

    def _wrapped(self, method):
        def wrapped(*arguments):
            found = method(*arguments)
            action, self._action = self._action, lambda: None
            action()
            return found
        return wrapped


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "locks")


@pytest.fixture
def bmc():
    with Bmc() as found:
        yield found


def other(site, tmp_path, elsewhere, **params):
    """Return a run with another password, of this machine or of another one."""
    entry = dict(site.entries[0], bmc=dict(site.entries[0]["bmc"], new_password=OTHER))
    service = site.service(hosts=[entry], **params)
    if elsewhere:
        service._claims._locks = RunLocks(str(tmp_path / "other-locks"))
        service._claims._locks.holder = f"other-node:{tmp_path}"
    return service


@pytest.mark.parametrize("elsewhere", [True, False], ids=["two-machines", "one-machine"])
@pytest.mark.parametrize("step", Steps.NAMES)
def test_whatever_the_other_run_meets_bmc_and_secret_have_one_password(site, bmc, tmp_path, step, elsewhere):
    """It begins where this run has just done a step, and runs to its end there."""
    site.add("h1", bmc, new=None)
    outcomes = []

    def run_other():
        try:
            outcomes.extend(host["error"] for host in other(site, tmp_path, elsewhere).run()["hosts"])
        except RefusedError as exc:
            outcomes.append(str(exc))

    file = tmp_path / "passwords.json"
    service = site.service(password_file=str(file))
    Steps(service, step, run_other)
    try:
        error = service.run()["hosts"][0]["error"]
    except RefusedError as exc:
        error = str(exc)
    kept = json.loads(file.read_text())["bmc_new_passwords"]["h1"] if file.exists() else ""
    assert bmc.password == site.password(SECRET) and site.claims() == {} and not bmc.wrong_logins()
    of_other, = outcomes
    if step in ("looked", "kept"):
        # This run had not claimed it: it is the one that is refused, with nothing done.
        assert not of_other and bmc.password == OTHER and bmc.patches == 1
        assert {"looked": "the Secret holds other credentials", "kept": "another Secret h1-bmc-secret than before"}[
            step] in error
    elif step in ("written", "given back") and elsewhere:
        # The claim is over, only its lock is still held.
        assert not error and not of_other and bmc.password == OTHER
    else:
        assert not error and bmc.password == kept and bmc.patches == 1
        assert ("begun on machine" if elsewhere else "another run on this machine") in of_other


@pytest.mark.parametrize(("given", "step"), [
    (given, step) for given in (True, False) for step in Steps.NAMES if not given or step != "kept"])
def test_a_run_that_was_killed_is_taken_up_by_the_next_one_of_the_machine(site, bmc, tmp_path, step, given):
    """By one with the same password of the user's, and by one whose file knows nothing of the first one's password."""
    site.add("h1", bmc, new=NEW if given else None)
    service = site.service(password_file=str(tmp_path / "one.json"))
    Steps(service, step, killed)
    with pytest.raises(Killed):
        service.run()
    had = bmc.password
    run = site.service(password_file=str(tmp_path / "two.json"), confirm="1").run()
    host, = run["hosts"]
    assert not host["error"] and bmc.password == site.password(SECRET) != OLD and site.claims() == {}
    # What the BMC had already counts; and no account is locked by a search.
    assert bmc.password == NEW if given else had in (OLD, bmc.password) or step in ("written", "given back")
    assert bmc.wrong_logins() == (step == "changed") and not run["warnings"]


@pytest.mark.parametrize("step", ["claimed", "changed"])
def test_another_machine_takes_a_killed_run_up_when_its_name_is_repeated(site, bmc, tmp_path, step):
    site.add("h1", bmc)
    service = site.service()
    Steps(service, step, killed)
    with pytest.raises(Killed):
        service.run()
    logins = len(bmc.logins)
    node = os.uname().nodename
    for wrong in (None, "third-node"):
        with pytest.raises(RefusedError, match=f"bmc_credentials_take_over={node}"):
            other(site, tmp_path, True, take_over=wrong).run()
    # Nobody has logged in for that: the password may be about to change.
    assert len(bmc.logins) == logins and site.claims() == {SECRET: NEW}
    if step == "changed":
        with pytest.raises(RefusedError, match="finish that rotation first") as error:
            other(site, tmp_path, True, take_over=node).run()
        assert NEW not in str(error.value) and site.claims() == {SECRET: NEW} and bmc.password == NEW
        site.entries[0]["bmc"]["new_password"] = None
        assert site.run(password_file=str(tmp_path / "file.json"))["changed"]
        assert json.loads((tmp_path / "file.json").read_text()) == {"bmc_new_passwords": {"h1": NEW}}
        assert bmc.password == site.password(SECRET) == NEW
    else:
        assert other(site, tmp_path, True, take_over=node).run()["changed"]
        assert bmc.password == site.password(SECRET) == OTHER
    assert site.claims() == {}


@pytest.mark.parametrize("unproven", [True, False])
def test_a_claim_stays_while_the_bmc_may_have_its_password(site, bmc, unproven):
    site.add("h1", bmc)
    bmc.refuses = True
    service = site.service()
    if unproven:
        service._change.change = lambda wanted, works: Outcome("unproven", "no answer")
    host, = service.run()["hosts"]
    assert host["failed"] and site.claims() == ({SECRET: NEW} if unproven else {})
    bmc.refuses = False
    assert site.run()["changed"] and bmc.password == site.password(SECRET) == NEW and site.claims() == {}


def test_a_secret_that_could_not_be_written_is_finished_by_another_file(site, bmc, tmp_path, monkeypatch):
    site.add("h1", bmc, new=None)
    monkeypatch.setattr(rotation_service.SecretWrites, "problems_again", lambda *dummy: ["it is not to be"])
    site.server.meanwhile["Secret", SECRET] = None

    def change():
        site.server.objects["Secret", SECRET]["metadata"]["resourceVersion"] = "99"

    bmc.now = change
    host, = site.service(password_file=str(tmp_path / "one.json")).run()["hosts"]
    assert "Secret h1-bmc-secret does not" in host["error"] and site.claims() == {SECRET: bmc.password}
    monkeypatch.undo()
    had = bmc.password
    assert site.run(password_file=str(tmp_path / "two.json"))["changed"]
    assert bmc.password == site.password(SECRET) == had and bmc.patches == 1 and site.claims() == {}


def test_a_password_that_others_have_put_into_a_claim_is_not_given_to_a_bmc(site, bmc, tmp_path):
    """Who may create Secrets would know it."""
    site.add("h1", bmc, new=None)
    planted = claim.claim(SECRET, "metal3", "known-to-others", "")
    planted["metadata"].update(uid="planted", resourceVersion="7")
    site.server.objects["Secret", planted["metadata"]["name"]] = planted
    assert site.run(password_file=str(tmp_path / "file.json"))["changed"]
    assert bmc.password == site.password(SECRET) and site.claims() == {}
    assert bmc.password not in ("known-to-others", OLD)


def test_a_secret_of_somebody_elses_is_left_alone(site, bmc):
    site.add("h1", bmc)
    theirs = {"metadata": {"name": f"{SECRET}-rotation", "namespace": "metal3", "uid": "u", "resourceVersion": "3"},
              "data": {"key": encoded("value")}}
    site.server.objects["Secret", f"{SECRET}-rotation"] = theirs
    assert "is somebody else's; delete or rename it" in site.refused()
    assert bmc.patches == 0 and site.server.objects["Secret", f"{SECRET}-rotation"] == theirs


def test_a_lost_answer_to_a_claim_is_found_out(site, bmc):
    site.add("h1", bmc)
    site.server.lost = [("APPLY", "Secret", f"{SECRET}-rotation"), ("DELETE", "Secret", f"{SECRET}-rotation")]
    assert site.run()["changed"] and site.claims() == {} and bmc.password == NEW


def test_a_claim_that_another_one_has_taken_over_is_not_deleted(site, bmc, tmp_path):
    """By an operator who has repeated the name although this run was not over."""
    site.add("h1", bmc)

    def take_over():
        taken = site.server.objects["Secret", f"{SECRET}-rotation"]
        taken["metadata"]["annotations"][claim.HOLDER] = f"other-node:{tmp_path}"
        taken["metadata"]["resourceVersion"] = "99"

    service = site.service()
    Steps(service, "written", take_over)
    run = service.run()
    assert "on machine other-node" in run["warnings"][0] and site.claims() == {SECRET: NEW}


def test_of_hosts_that_share_both_secrets_are_claimed_or_none(site, bmc, tmp_path):
    with Bmc() as second:
        site.add("h1", bmc)
        site.add("h2", bmc, path="2", secret="second")
        site.add("h3", second, secret="second")
        site.server.meanwhile["Secret", "second-rotation"] = None

        def claim_other():
            found = claim.claim("second", "metal3", OTHER, "other-node:/x")
            found["metadata"].update(uid="other", resourceVersion="7")
            site.server.objects["Secret", "second-rotation"] = found

        service = site.service()
        Steps(service, "looked", claim_other)
        with pytest.raises(RefusedError, match="another run has begun"):
            service.run()
        assert site.claims() == {"second": OTHER} and bmc.patches == second.patches == 0
        del site.server.objects["Secret", "second-rotation"]
        service = site.service()
        Steps(service, "kept", killed)
        original = service._claims.take

        def take(*arguments):
            claim_other()
            return original(*arguments)

        service._claims.take = take
        assert all("another run has begun" in host["error"] for host in service.run()["hosts"])
        assert site.claims() == {"second": OTHER} and bmc.patches == second.patches == 0


def test_a_lock_that_can_not_be_made_ends_the_run(site, bmc, tmp_path):
    (tmp_path / "file").write_text("")
    site.folder = tmp_path / "file"
    site.add("h1", bmc)
    host, = site.run()["hosts"]
    assert "XDG_STATE_HOME" in host["error"] and bmc.patches == 0 and site.claims() == {}


def test_two_threads_of_which_one_waits_at_the_bmc(site, bmc, tmp_path):
    """The second one is refused while the first one is in the middle of it."""
    site.add("h1", bmc)
    reached, go_on = threading.Event(), threading.Event()

    def wait():
        reached.set()
        assert go_on.wait(30)

    bmc.now = wait
    results = []
    first = threading.Thread(target=lambda: results.append(site.run()))
    first.start()
    try:
        assert reached.wait(30)
        for elsewhere in (True, False):
            with pytest.raises(RefusedError):
                other(site, tmp_path, elsewhere).run()
    finally:
        go_on.set()
        first.join(30)
    assert results[0]["changed"] and bmc.password == site.password(SECRET) == NEW and bmc.wrong_logins() == 0
