# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMCs that are to read a medium: what is asked of them, what is left behind, and what their answers mean."""
from __future__ import annotations

import pytest
from fakes.clock import Clock
from fakes.redfish import FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.virtual_media import media_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.virtual_media.media_probe import MediaProbe
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress

URL = "https://198.18.0.1:6183/images/probe.iso"
DRIVE = "/redfish/v1/Systems/System.Embedded.1/VirtualMedia/1"


class Bmc(FakeRedfish):
    """A BMC with one virtual CD.

    :param refuses: ``(status, text)`` of the answer to a medium, or None
    :param strict: whether it refuses parameters beside Image
    :param shows: what it shows as the image, given the URL
    :param stuck: whether it ejects nothing
    """

    def __init__(self, refuses=None, strict=False, shows=lambda url: url, stuck=False, **options):
        resources = tree("dell")
        drive = resources[DRIVE]
        drive["Actions"]["#VirtualMedia.EjectMedia"] = {"target": DRIVE + "/Actions/VirtualMedia.EjectMedia"}
        super().__init__(resources, **options)
        self.drive, self.refuses, self.strict, self.shows, self.stuck = drive, refuses, strict, shows, stuck
        self.asked = []

    def act(self, path, body):
        """Carry an action out and return ``(status, document)``, None for what is no action of the drive."""
        if not path.startswith(DRIVE + "/Actions/"):
            return None
        action = path.rpartition(".")[2]
        self.asked.append((action, body))
        if action == "EjectMedia":
            if not self.stuck:
                self.drive.update(Image=None, Inserted=False)
            return 204, None
        if self.strict and set(body) != {"Image"}:
            return 400, {"error": {"code": "Base.1.0.ActionParameterUnknown", "message": "unknown parameter"}}
        if self.refuses:
            return self.refuses[0], {"error": {"code": "Base.1.0.GeneralError", "message": self.refuses[1]}}
        shown = self.shows(body["Image"])
        self.drive.update(Image=shown, Inserted=shown is not None)
        return 204, None


def probe(bmc, check_mode=False, scheme="redfish-virtualmedia+http", timeout_seconds=0.1, time=None):
    """Return the verdict on a BMC."""
    hosts = [{"name": "a", "bmc": {"address": f"{scheme}://127.0.0.1:{bmc.port}", "username": "admin",
                                   "password": "right"}}]
    given = {} if time is None else {"clock": time, "sleep": time.sleep}
    found, = MediaProbe(URL, timeout_seconds, check_mode, **given).run(hosts, Settings(None, 2, 5, 8), Progress(), None)
    check, = found["checks"]
    return check


@pytest.mark.parametrize("shows", [lambda url: url, lambda url: url.rpartition("/")[2]], ids=["url", "name"])
@pytest.mark.parametrize("strict", [False, True])
def test_what_was_inserted_is_ejected(strict, shows):
    with Bmc(strict=strict, shows=shows) as bmc:
        check = probe(bmc)
        assert (check["status"], bmc.drive["Inserted"], bmc.open_sessions) == ("ok", False, 0)
    assert [action for action, dummy in bmc.asked] == ["InsertMedia"] * (1 + strict) + ["EjectMedia"]
    assert all(body.get("Image", URL) == URL for dummy, body in bmc.asked)


@pytest.mark.parametrize(("text", "hint"), [
    ("SSL: CERTIFICATE_VERIFY_FAILED", "import its authority"),
    # As sushy-tools says it, cut after so many characters.
    ("Failed fetching image: Max retries exceeded with url: /a.iso (Caused by SSLError(SSLCertVerificationEr...",
     "import its authority"),
    ("HTTP 404 Not Found", "correct the path"),
    ("Connection timed out", "BMC's network"),
    ("could not resolve host", "by its address"),
    ("a reason of its own", "look at the BMC's log"),
])
def test_a_refusal_says_what_to_do(text, hint):
    with Bmc(refuses=(500, text)) as bmc:
        check = probe(bmc)
    assert check["status"] == "problem" and text in check["actual"] and hint in check["hint"]
    assert [action for action, dummy in bmc.asked] == ["InsertMedia"]


def test_a_medium_that_never_appears_is_a_problem():
    with Bmc(shows=lambda url: None) as bmc:
        check = probe(bmc)
    assert check["status"] == "problem" and "does not show it as inserted" in check["actual"]
    assert f"it may still insert it: when it does, eject it at the BMC 127.0.0.1:{bmc.port}" in check["hint"]
    assert "EjectMedia" not in [action for action, dummy in bmc.asked]


class Late(Clock):
    """The time of a probe, in which a BMC shows the medium only so many seconds after it was asked for."""

    def __init__(self, bmc, seconds):
        super().__init__()
        self.bmc, self.seconds = bmc, seconds

    def sleep(self, seconds):
        """Let time pass."""
        before = self.now
        super().sleep(seconds)
        if before < self.seconds <= self.now:
            self.bmc.drive.update(Image=URL, Inserted=True)


@pytest.mark.parametrize("how", ["accepted", "lost", "gateway"])
def test_a_medium_that_comes_late_is_ejected(how):
    """Ironic found the device in use, and the server could have booted from it."""
    with Bmc(shows=lambda url: None, refuses=(504, "gateway timeout") if how == "gateway" else None) as bmc:
        if how == "lost":
            bmc.drop = lambda path: path.endswith("InsertMedia")
        time = Late(bmc, 15)
        check = probe(bmc, timeout_seconds=10 if how == "accepted" else 20, time=time)
        assert (check["status"], bmc.drive["Inserted"]) == ("problem", False) and "EjectMedia" in dict(bmc.asked)
        assert "may still insert" not in check["hint"]


def test_a_medium_that_comes_late_and_is_not_ejected_is_named():
    with Bmc(shows=lambda url: None, stuck=True) as bmc:
        check = probe(bmc, timeout_seconds=10, time=Late(bmc, 15))
    assert "could not eject it: still inserted" in check["actual"]


def test_a_bmc_that_falls_silent_may_have_the_medium():
    with Bmc() as bmc:
        bmc.drop = lambda path: "InsertMedia" in dict(bmc.asked)
        check = probe(bmc)
    assert "does not show it" in check["actual"] and f"eject it at the BMC 127.0.0.1:{bmc.port}: " in check["hint"]


def test_a_medium_that_stays_is_named():
    with Bmc(stuck=True) as bmc:
        check = probe(bmc)
    assert check["status"] == "problem" and "could not eject it: still inserted" in check["actual"]
    assert f"eject it at the BMC 127.0.0.1:{bmc.port}" in check["hint"]


def test_a_drive_in_use_is_left_alone():
    with Bmc() as bmc:
        bmc.drive.update(Image="https://198.18.0.1/ironic/boot.iso", Inserted=True)
        check = probe(bmc)
        assert (check["status"], bmc.asked) == ("unknown", []) and "boot.iso" in check["actual"]


def test_a_medium_that_comes_meanwhile_is_neither_replaced_nor_ejected():
    """The answer to an insertion is lost, and the drive then holds another one's medium."""
    with Bmc(refuses=(500, "busy")) as bmc:
        act = bmc.act

        def taken(path, body):
            bmc.drive.update(Image="https://198.18.0.1/ironic/boot.iso", Inserted=True)
            return act(path, body)

        bmc.act = taken
        probe(bmc)
        assert [action for action, dummy in bmc.asked] == ["InsertMedia"] and bmc.drive["Inserted"]


def test_check_mode_inserts_nothing():
    with Bmc() as bmc:
        check = probe(bmc, check_mode=True)
        assert (check["status"], bmc.asked) == ("unknown", []) and "would take it" in check["actual"]


def test_a_redirected_action_is_not_followed():
    with Bmc() as bmc:
        bmc.redirects[DRIVE + "/Actions/VirtualMedia.InsertMedia"] = (307, "http://127.0.0.1:9/steal")
        check = probe(bmc)
    assert check["status"] == "problem" and "is not followed" in check["actual"]


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/steal", "//127.0.0.1:9/steal", 7, None])
def test_an_action_elsewhere_gets_no_credentials(target):
    with Bmc() as bmc:
        bmc.drive["Actions"]["#VirtualMedia.InsertMedia"]["target"] = target
        assert probe(bmc)["status"] in ("problem", "unknown")
        assert not bmc.asked


def test_a_bmc_that_can_not_be_asked_is_a_problem():
    with Bmc(password="other") as bmc:
        check = probe(bmc)
        assert check["status"] == "problem" and "login" in check["actual"] and len(bmc.logins) == 1


@pytest.mark.parametrize("url", ["http://10.0.0.1/a.iso", "https://images.example:8443/a/b.iso", "http://[fd00::1]/a.iso"])
def test_urls_that_are_taken(url):
    assert media_checks.url_problem(url) is None
