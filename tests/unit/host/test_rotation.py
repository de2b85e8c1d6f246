# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""New passwords for hosts' BMCs: what is written in which order, where a run may end, and what the next one does."""
from __future__ import annotations

import base64
import json
import os
import stat

import pytest
from bmc_certificates import issue
from fakes.kubernetes import Server
from fakes.redfish import FakeRedfish, tree
from fakes.silence import away, falls_silent

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.run_locks import RunLocks
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation import password_file, rotation_service
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation.rotation_service import RotationService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import wait as host_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

OLD, NEW = "old-secret-word", "new-secret-word"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Bmc(FakeRedfish):
    """A BMC whose passwords can be replaced; ``now`` is called when one was."""

    def __init__(self, password=OLD, refuses=False, now=lambda: None, certificate=None):
        super().__init__(tree("dell"), password=password, certificate=certificate)
        self.refuses, self.now, self.patches = refuses, now, 0

    def change(self, path, body, condition):
        """Answer a PATCH: ``(status, document)``."""
        self.patches += 1
        if self.refuses:
            return 400, {"error": {"code": "Base.1.0.GeneralError", "message": f"no '{body['Password']}'"}}
        self.password = body["Password"]
        self.now()
        return 200, {}


class Site:
    """An API server with hosts, each with a Secret and a BMC, and BMO as far as it looks at credentials."""

    def __init__(self, folder):
        self.server = Server()
        self.entries = []
        self.folder = folder

    def add(self, name, bmc, secret="", password=OLD, new=NEW, path="1", entry=True, ca_cert=None, **status):
        """Add a host; its Secret unless there is one of that name."""
        secret = secret or f"{name}-bmc-secret"
        scheme = "redfish+http" if ca_cert is None else "redfish"
        address = f"{scheme}://127.0.0.1:{bmc.port}/redfish/v1/Systems/{path}"
        self.server.objects["BareMetalHost", name] = {
            "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
            "metadata": {"name": name, "namespace": "metal3", "uid": name, "resourceVersion": "1"},
            "spec": {"online": True, "bmc": {"address": address, "credentialsName": secret}},
            "status": dict({"poweredOn": True, "operationalStatus": "OK", "provisioning": {"state": "provisioned"}},
                           **status)}
        self.server.objects.setdefault(("Secret", secret), {
            "apiVersion": "v1", "kind": "Secret", "metadata": {
                "name": secret, "namespace": "metal3", "uid": secret, "resourceVersion": "1",
                "labels": {"environment.metal3.io": "baremetal"}},
            "data": {"username": encoded("admin"), "password": encoded(password)}})
        if entry:
            self.entries.append({"name": name, "bmc": {"address": address, "new_password": new}, "ca_cert": ca_cert})

    def password(self, secret):
        return base64.b64decode(self.server.objects["Secret", secret]["data"]["password"]).decode()

    def service(self, check_mode=False, **params):
        params = dict({"namespace": "metal3", "hosts": self.entries, "password_file": None, "password_length": 20,
                       "batch_size": 10, "confirm": str(len(self.entries)), "confirm_among": [], "wait": False,
                       "take_over": None, "wait_timeout_seconds": 1, "error_limit": 1}, **params)
        return RotationService(self.server, Settings(None, 2, 5, 8), params, check_mode, Progress(), None,
                               sleep=lambda seconds: None, locks=RunLocks(str(self.folder)))

    def claims(self):
        """Return ``{credentials Secret: the password of the rotation that has not ended}``."""
        return dict((name.removesuffix("-rotation"), self.password(name)) for kind, name in self.server.objects
                    if kind == "Secret" and name.endswith("-rotation"))

    def run(self, **options):
        result = self.service(**options).run()
        text = json.dumps(result)
        for word in (OLD, NEW, encoded(OLD), encoded(NEW)):
            assert word not in text
        return result

    def refused(self, **options):
        with pytest.raises(RefusedError) as error:
            self.service(**options).run()
        assert [request for request in self.server.writes() if not request[3]] == []
        return str(error.value)


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "locks")


@pytest.fixture
def bmc():
    with Bmc() as found:
        yield found


def test_the_bmc_comes_before_the_secret(site, bmc):
    site.add("h1", bmc)
    seen = []
    bmc.now = lambda: seen.append(site.password("h1-bmc-secret"))
    result = site.run()
    assert seen == [OLD] and bmc.password == site.password("h1-bmc-secret") == NEW and not bmc.wrong_logins()
    assert result["changed"] and result["hosts"] == [
        {"name": "h1", "secret": "h1-bmc-secret", "changed": True, "failed": False, "error": ""}]
    # Tried before the BMC was changed, then written with what was read.
    assert [(verb, name, dry) for verb, dummy, name, dry in site.server.writes()] == [
        ("APPLY", "h1-bmc-secret-rotation", True), ("PATCH", "h1-bmc-secret", True),
        ("APPLY", "h1-bmc-secret-rotation", False), ("PATCH", "h1-bmc-secret", False),
        ("DELETE", "h1-bmc-secret-rotation", False)]
    assert not os.listdir(site.folder)
    # Again: nothing, and no password is tried in vain.
    again = site.run(confirm=None)
    assert not again["changed"] and bmc.patches == 1 and not bmc.wrong_logins() and again["diff"] == []


@pytest.mark.parametrize(("on_bmc", "in_secret"), [(NEW, OLD), (NEW, NEW), (OLD, OLD)])
def test_a_run_goes_on_where_another_one_ended(site, on_bmc, in_secret):
    with Bmc(on_bmc) as bmc:
        site.add("h1", bmc, password=in_secret)
        result = site.run()
        assert bmc.password == site.password("h1-bmc-secret") == NEW
        assert bmc.wrong_logins() == ((on_bmc, in_secret) == (NEW, OLD)) and result["changed"] == (in_secret == OLD)


@pytest.fixture
def racks(tmp_path):
    """Two pairs of a file with an authority, and a certificate that it has signed."""
    found = []
    for name in ("rack1", "rack2"):
        paths, signer = issue(tmp_path, name)
        found.append((paths[0], issue(tmp_path, f"{name}-bmc", issuer=signer)[0]))
    return found


@pytest.mark.parametrize("on_bmc", [OLD, NEW])
def test_each_bmc_is_verified_by_the_authority_of_its_own_server(site, racks, on_bmc):
    """Also where a run that was killed is gone on with, which keeps no authority."""
    with Bmc(on_bmc, certificate=racks[0][1]) as first, Bmc(on_bmc, certificate=racks[1][1]) as second:
        site.add("h1", first, ca_cert=racks[0][0])
        site.add("h2", second, ca_cert=racks[1][0])
        assert [host["error"] for host in site.run()["hosts"]] == ["", ""]
        assert first.password == second.password == NEW and site.password("h2-bmc-secret") == NEW


def test_a_bmc_that_only_the_authority_of_another_rack_vouches_for_gets_no_password(site, racks):
    with Bmc(certificate=racks[0][1]) as bmc:
        site.add("h1", bmc, ca_cert=racks[1][0])
        assert "tls: unable to get local issuer certificate" in site.refused() and bmc.logins == []


def test_hosts_that_share_an_account_trust_its_bmc_alike(site, racks):
    with Bmc(certificate=racks[0][1]) as bmc:
        for name, (ca_cert, dummy) in zip(("h1", "h2"), racks):
            site.add(name, bmc, ca_cert=ca_cert)
        text = site.refused()
        assert "h2: ca_cert: found another file than that of h1, expected the same one" in text and bmc.logins == []


@pytest.mark.parametrize("first, second, found", [(True, None, "false"), (False, True, "true"), (None, True, "true")])
def test_hosts_that_share_an_account_are_verified_alike(site, bmc, first, second, found):
    """The login was that of the first of them, so that a password went where the second one must not send it."""
    for name, value in (("h1", first), ("h2", second)):
        site.add(name, bmc)
        site.entries[-1]["bmc"]["disable_certificate_verification"] = value
    text = site.refused()
    assert f"h2: bmc.disable_certificate_verification: found {found}, expected that of h1" in text, text
    assert bmc.logins == []
    for entry in site.entries:
        entry["bmc"]["disable_certificate_verification"] = False if entry["name"] == "h1" else None
    assert [host["error"] for host in site.run()["hosts"]] == ["", ""]


def test_check_mode_changes_nothing(site, bmc, tmp_path):
    site.add("h1", bmc, new=None)
    file = tmp_path / "passwords.json"
    result = site.run(check_mode=True, password_file=str(file), confirm=None)
    assert result["changed"] and bmc.patches == 0 and site.password("h1-bmc-secret") == OLD and not file.exists()
    assert "set metal3_confirm=1" in result["warnings"][0] and len(result["diff"]) == 2


@pytest.mark.parametrize("confirm", [None, "", "1", "h1", "3"])
def test_the_number_is_asked_for(site, bmc, confirm):
    with Bmc() as other:
        site.add("h1", bmc)
        site.add("h2", other)
        assert "set metal3_confirm=2" in site.refused(confirm=confirm) and bmc.patches == other.patches == 0


@pytest.mark.parametrize(("confirm", "fits"), [
    ("1", False), ("h1,h9", False), ("h2", False), ("h1", True), ("h2,h1", True)])
def test_a_number_does_not_count_for_one_of_several_tasks(site, bmc, confirm, fits):
    site.add("h1", bmc)
    if fits:
        assert site.run(confirm=confirm, confirm_among=["h1", "h2"])["changed"] and bmc.password == NEW
    else:
        assert "metal3_confirm=h1,h2" in site.refused(confirm=confirm, confirm_among=["h1", "h2"]) and bmc.patches == 0


def test_what_the_api_server_refuses_is_known_before(site, bmc):
    site.add("h1", bmc)
    site.server.failures["Secret", "h1-bmc-secret"] = f"forbidden: {encoded(NEW)}"
    text = site.refused()
    assert "Secret h1-bmc-secret" in text and encoded(NEW) not in text and bmc.patches == 0


def test_a_lost_answer_to_the_secret_is_found_out(site, bmc):
    site.add("h1", bmc)
    site.server.lost = [("PATCH", "Secret", "h1-bmc-secret")]
    assert site.run()["changed"] and site.password("h1-bmc-secret") == NEW


@pytest.mark.parametrize(("becomes", "fails"), [(None, False), ("somebody-elses-word", True)])
def test_a_secret_that_changes_meanwhile(site, bmc, becomes, fails):
    site.add("h1", bmc)
    secret = site.server.objects["Secret", "h1-bmc-secret"]

    def change():
        # BMO adds its owner, somebody else a password.
        secret["metadata"]["resourceVersion"] = "99"
        if becomes:
            secret["data"]["password"] = encoded(becomes)

    bmc.now = change
    host, = site.run()["hosts"]
    assert host["failed"] is fails and site.password("h1-bmc-secret") == (becomes or NEW)
    assert ("holds other credentials" in host["error"]) is fails


def test_a_refused_password_is_named_and_ends_the_run(site, bmc):
    with Bmc(refuses=True) as bad, Bmc() as late:
        site.add("h1", bmc)
        site.add("h2", bad)
        site.add("h3", late)
        first, second, third = site.run(batch_size=1)["hosts"]
        assert (first["failed"], second["failed"], third["failed"]) == (False, True, True)
        assert "the BMC refused the new password" in second["error"] and third["error"] == rotation_service.NOT_BEGUN
        assert site.password("h2-bmc-secret") == site.password("h3-bmc-secret") == OLD and late.patches == 0


def test_hosts_that_share_an_account_or_a_secret_are_changed_together(site, bmc):
    with Bmc() as other:
        site.add("h1", bmc)
        site.add("h2", bmc, path="2", secret="shared")
        site.add("h3", other, secret="shared")
        # One of them does not accept it: no Secret has it.
        other.refuses = True
        failed = site.run()["hosts"]
        assert all(host["failed"] for host in failed) and site.password("shared") == OLD
        assert bmc.password == OLD and "h1, h2: the old password was set again" in failed[0]["error"]
        other.refuses = False
        assert not any(host["failed"] for host in site.run()["hosts"])
        assert site.password("shared") == site.password("h1-bmc-secret") == bmc.password == other.password == NEW
        # The first run has taken back what it had set on the first BMC: the Secret would not have fitted it.
        assert (bmc.patches, other.patches) == (3, 2)


@pytest.mark.parametrize("becomes", [
    "locked", "secret", "gone", "moved", "shared", "account", "elsewhere"])
def test_hosts_of_later_batches_are_looked_at_again(site, bmc, becomes):
    with Bmc() as late:
        site.add("h1", bmc)
        site.add("h2", late)

        def change():
            if becomes == "locked":
                site.server.objects["BareMetalHost", "h2"]["metadata"]["annotations"] = {
                    "metal3.baremetal/lock": '{"reason":"fan","until":"2099-01-01T00:00:00Z"}'}
            elif becomes == "secret":
                site.server.objects["Secret", "h2-bmc-secret"]["data"]["password"] = encoded("somebody-elses")
            elif becomes == "moved":
                site.server.objects["BareMetalHost", "h2"]["spec"]["bmc"]["credentialsName"] = "h1-bmc-secret"
            elif becomes == "shared":
                site.add("h3", late, entry=False, secret="h2-bmc-secret")
            elif becomes in ("account", "elsewhere"):
                site.add("h3", late, entry=False)
                if becomes == "elsewhere":
                    site.server.objects["BareMetalHost", "h3"]["metadata"]["namespace"] = "lab"
            else:
                del site.server.objects["Secret", "h2-bmc-secret"]

        bmc.now = change
        first, second = site.run()["hosts"]
        assert not first["failed"] and second["failed"] and late.patches == 0
        assert {"locked": "fan", "secret": "another Secret", "gone": "without user name", "moved": "now h1-bmc-secret",
                "shared": "metal3/h3 shares Secret h2-bmc-secret", "account": "metal3/h3 shares one account of one BMC",
                "elsewhere": "lab/h3 shares one account of one BMC"}[becomes] in second["error"]
        assert "nothing was changed" in second["error"]


@pytest.mark.parametrize("shares", ["secret", "account"])
def test_a_part_of_those_that_share_is_refused(site, bmc, shares):
    with Bmc() as other:
        site.add("h1", bmc)
        site.add("h2", other if shares == "secret" else bmc, entry=False,
                 secret="h1-bmc-secret" if shares == "secret" else "own", path="2")
        assert "metal3/h2 shares" in site.refused() and bmc.patches == 0


def test_a_neighbour_with_an_account_of_its_own_does_not_matter(site, bmc):
    site.add("h1", bmc)
    site.add("h2", bmc, entry=False, path="2")
    site.server.objects["Secret", "h2-bmc-secret"]["data"]["username"] = encoded("root")
    site.add("h3", bmc, entry=False)
    del site.server.objects["BareMetalHost", "h3"]["spec"]["bmc"]["credentialsName"]
    assert site.run()["changed"] and ("GET", "Secret", "", False) not in site.server.requests


@pytest.mark.parametrize("says", ["OK", "error"])
def test_bmo_must_take_it(site, bmc, monkeypatch, says):
    """BMO's note of the Secret's version, and no error of the BMC's since."""
    site.server.logs_in = False
    site.add("h1", bmc)
    waits = []

    def wait(client, namespace, histories, deadline, progress, clock):
        status = site.server.objects["BareMetalHost", "h1"]["status"]
        secret = site.server.objects["Secret", "h1-bmc-secret"]["metadata"]
        waits.append(histories["h1"].waiting)
        if says == "OK":
            status["goodCredentials"] = {"credentials": {"name": secret["name"]},
                                         "credentialsVersion": secret["resourceVersion"]}
        else:
            status.update(operationalStatus="error", errorType="registration error", errorMessage="m", errorCount=1)
        histories["h1"].update(client.objects["BareMetalHost", "h1"], clock())
        return ""

    monkeypatch.setattr(rotation_service, "follow_hosts", wait)
    host, = site.run(wait=True)["hosts"]
    assert waits == [True] and host["failed"] is (says == "error") and host["changed"]
    if says == "error":
        assert "BMO does not use it" in host["error"]
        # The next run has nothing to change, and waits again.
        site.server.objects["BareMetalHost", "h1"]["status"].update(operationalStatus="OK", errorType="")
        says = "OK"
        assert site.run(wait=True, confirm=None)["changed"] is False and len(waits) == 2


def test_an_api_server_that_falls_silent_hides_no_password_that_was_replaced(site, bmc, monkeypatch):
    site.server.logs_in = False
    site.add("h1", bmc)
    bmc.now = lambda: monkeypatch.setattr(site.server, "get", away)
    monkeypatch.setattr(host_wait, "follow", falls_silent)
    host, = site.run(wait=True)["hosts"]
    assert host["changed"] and site.password("h1-bmc-secret") == NEW
    assert "the BMC and the Secret have the new password, BMO does not use it: not logged in to" in host["error"]
    assert "has not answered for 30 s, until the end of wait_timeout_seconds: connection refused" in host["error"]


def test_an_error_of_something_else_does_not_matter():
    def host(kind, message="m"):
        return {"metadata": {}, "status": {"operationalStatus": "error", "errorType": kind, "errorMessage": message,
                                           "errorCount": 1} if kind else {}}

    old, of_bmc = "provisioning error", "registration error"
    for before, now, well in (("", "", True), (old, old, True), ("", old, False), (of_bmc, of_bmc, False),
                              (of_bmc, "", True)):
        assert rotation_service._is_well(host(before), host(now)) is well


def test_generated_passwords_are_kept_before_the_first_is_used(site, bmc, tmp_path):
    file = tmp_path / "folder" / "passwords.json"
    seen = []
    bmc.now = lambda: seen.append((json.loads(file.read_text()), stat.S_IMODE(file.stat().st_mode)))
    with Bmc() as other:
        site.add("h1", bmc, new=None)
        site.add("h2", other, new=None)
        site.run(password_file=str(file))
        (content, mode), = seen
        assert mode == 0o600 and content["bmc_new_passwords"] == {"h1": bmc.password, "h2": other.password}
        # The next run takes them from there.
        assert site.run(password_file=str(file), confirm=None)["changed"] is False


def test_another_generated_password_than_the_refused_one_takes_another_entry(site, tmp_path):
    """The file still has it, and the next run takes what the file has."""
    file = tmp_path / "passwords.json"
    with Bmc(refuses=True) as bad:
        site.add("h1", bad, new=None)
        first, = site.run(password_file=str(file))["hosts"]
        refused_one = json.loads(file.read_text())["bmc_new_passwords"]["h1"]
        assert f"remove h1 from {file}" in first["error"] and "password_length" in first["error"]
        bad.refuses = False
        file.write_text(json.dumps({"bmc_new_passwords": {}}))
        assert not site.run(password_file=str(file), password_length=12)["hosts"][0]["failed"]
        assert bad.password != refused_one and len(bad.password) == 12
    with Bmc(refuses=True) as given:
        site.entries.clear()
        site.add("h2", given)
        assert "remove" not in site.run(password_file=str(file))["hosts"][0]["error"]


@pytest.mark.parametrize(("content", "text"), [
    ("$ANSIBLE_VAULT;1.1;AES256\n3336", "ansible-vault has encrypted"), ("{}", "another file"),
    ("a: b", "another file"), ('{"bmc_new_passwords": {"h1": 7}}', "another file"),
    ('{"bmc_new_passwords": []}', "another file")])
def test_another_file_is_left_alone(site, bmc, tmp_path, content, text):
    file = tmp_path / "passwords.json"
    file.write_text(content)
    site.add("h1", bmc, new=None)
    assert text in site.refused(password_file=str(file)) and file.read_text() == content and bmc.logins == []


@pytest.mark.parametrize("change", ["read", "written", "owned"])
def test_passwords_that_others_may_have_chosen_or_read_are_not_used(site, bmc, tmp_path, monkeypatch, change):
    """Where others write, such as in /tmp, they can put the file there before the first run."""
    file = tmp_path / "passwords.json"
    file.write_text('{"bmc_new_passwords": {"h1": "known-to-others"}}')
    file.chmod({"read": 0o644, "written": 0o620, "owned": 0o600}[change])
    if change == "owned":
        monkeypatch.setattr(password_file.os, "geteuid", lambda: file.stat().st_uid + 1)
    site.add("h1", bmc, new=None)
    assert "find out who could have written or read it" in site.refused(password_file=str(file))
    assert bmc.logins == [] and bmc.password == OLD


def test_what_is_no_file_is_not_waited_for(site, bmc, tmp_path):
    os.mkfifo(tmp_path / "passwords.json")
    site.add("h1", bmc, new=None)
    assert "found no regular file" in site.refused(password_file=str(tmp_path / "passwords.json"))


def test_a_link_to_an_own_file_is_followed(tmp_path):
    file, link = tmp_path / "passwords.json", tmp_path / "link"
    file.write_text('{"bmc_new_passwords": {"h1": "new-password"}}')
    file.chmod(0o600)
    link.symlink_to(file)
    read = password_file.PasswordFile(str(link))
    assert read.read() == [] and read.of(["h1"]) == "new-password"
    file.chmod(0o640)
    assert len(read.read()) == 1


def test_a_file_that_can_not_be_written_ends_the_run(site, bmc, tmp_path):
    (tmp_path / "file").write_text("")
    site.add("h1", bmc, new=None)
    assert "password_file" in site.refused(password_file=str(tmp_path / "file" / "passwords.json"))
    assert bmc.patches == 0


def other_run(monkeypatch, passwords):
    """Have another run write its passwords into the file while this one logs in at the BMCs."""
    look = rotation_service.RotationService._look

    def looking(service, groups):
        look(service, groups)
        other = password_file.PasswordFile(service.params["password_file"])
        assert other.read() == []
        other.write(passwords)

    monkeypatch.setattr(rotation_service.RotationService, "_look", looking)


def test_two_runs_with_one_file_lose_no_password(site, bmc, tmp_path, monkeypatch):
    file = tmp_path / "passwords.json"
    site.add("h1", bmc, new=None)
    other_run(monkeypatch, {"rack2-01": "of-another-run"})
    site.run(password_file=str(file))
    assert json.loads(file.read_text())["bmc_new_passwords"] == {"h1": bmc.password, "rack2-01": "of-another-run"}


def test_another_run_on_the_same_host_ends_this_one(site, bmc, tmp_path, monkeypatch):
    file = tmp_path / "passwords.json"
    site.add("h1", bmc, new=None)
    other_run(monkeypatch, {"h1": "of-another-run"})
    said = site.refused(password_file=str(file))
    assert "found another password of h1 than when it was read" in said and "of-another-run" not in said
    assert json.loads(file.read_text())["bmc_new_passwords"] == {"h1": "of-another-run"} and bmc.password == OLD


def test_generated_passwords_have_all_kinds_of_characters():
    found = {password_file.generated(12) for dummy in range(50)}
    assert len(found) == 50
    for word in found:
        assert len(word) == 12 and word[0].isalpha() and set(word) & set("-_.") and any(map(str.isdigit, word))
        assert word.lower() != word != word.upper()


def test_a_host_that_can_not_be_read_ends_the_run(site, bmc):
    site.add("h1", bmc)

    def fail(*dummy, **options):
        raise KubeError("no", 403)

    site.server.list = fail
    with pytest.raises(KubeError):
        site.service().run()
    assert bmc.logins == []
