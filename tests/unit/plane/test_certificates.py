# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import datetime
import json
import os
import stat
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import certificates, kubeconfig

WANTED = {"name": "etcd", "common_name": "etcd", "organizations": [], "sans": ["localhost", "127.0.0.1"],
          "usages": ["server", "client"]}


@pytest.fixture
def authority(tmp_path):
    made = certificates.Authority(str(tmp_path / "pki"))
    made.make("test")
    return made


def reasons(made):
    return dict((item["name"], item["reason"]) for item in made)


def test_made_once(tmp_path):
    directory = str(tmp_path / "pki")
    first = certificates.ensure(certificates.Authority(directory), [WANTED], ["service-account"])
    assert reasons(first) == {"ca": "missing", "service-account": "missing", "etcd": "missing"}
    assert certificates.ensure(certificates.Authority(directory), [WANTED], ["service-account"]) == []
    for path in (tmp_path / "pki").iterdir():
        private = path.suffix == ".key"
        assert stat.S_IMODE(path.stat().st_mode) == (0o600 if private else 0o644), path


def test_two_runs_at_once_make_one_authority(tmp_path, monkeypatch):
    """The second one begins when the first one makes the authority, and waits for it."""
    directory, begun, found = str(tmp_path / "pki"), threading.Event(), []
    held, make = certificates.file_lock.held_alone, certificates.Authority.make

    def ensure():
        return certificates.ensure(certificates.Authority(directory), [WANTED], ["service-account"])

    def other():
        found.append(ensure())
        begun.set()

    def holding(path):
        if threading.current_thread() is second:
            begun.set()
        return held(path)

    def making(self, common_name):
        second.start()
        assert begun.wait(30)
        make(self, common_name)

    second = threading.Thread(target=other)
    monkeypatch.setattr(certificates.file_lock, "held_alone", holding)
    monkeypatch.setattr(certificates.Authority, "make", making)
    assert len(ensure()) == 3
    second.join(30)
    assert found == [[]]
    assert certificates.Authority(directory).certificate_fault(WANTED) is None


def test_check_mode_makes_nothing(tmp_path):
    made = certificates.ensure(certificates.Authority(str(tmp_path / "pki")), [WANTED], ["s"], check_mode=True)
    assert [item["name"] for item in made] == ["ca", "s", "etcd"]
    assert not (tmp_path / "pki").exists()


@pytest.mark.parametrize("change,reason", [
    ({"common_name": "other"}, "other subject"),
    ({"organizations": ["system:masters"]}, "other subject"),
    ({"sans": ["localhost"]}, "other alternative names"),
    ({"usages": ["server"]}, "other usages"),
])
def test_a_changed_wish_is_reissued(authority, change, reason):
    authority.issue(WANTED)
    wanted = dict(WANTED, **change)
    assert authority.certificate_fault(wanted) == reason
    authority.issue(wanted)
    assert authority.certificate_fault(wanted) is None


def test_near_expiry(authority, monkeypatch):
    authority.issue(WANTED)
    monkeypatch.setattr(certificates, "RENEW_BEFORE_DAYS", certificates.VALIDITY_DAYS + 1)
    assert authority.certificate_fault(WANTED) == "near expiry"


def test_another_authority_and_mixed_up_files(authority, tmp_path):
    authority.issue(WANTED)
    other = dict(WANTED, name="other")
    authority.issue(other)
    os.replace(tmp_path / "pki" / "other.key", tmp_path / "pki" / "etcd.key")
    assert authority.certificate_fault(WANTED) == "key and certificate do not match"
    authority.issue(WANTED)
    authority.make("test")
    assert authority.certificate_fault(WANTED) == "signed by another authority"


def test_a_signing_key_beside_the_public_key_of_another_one_is_created_again(authority, tmp_path):
    """A run was killed between the two files: nobody would believe a token of a service account any more."""
    pair, other = os.path.join(authority.directory, "s"), str(tmp_path / "other")
    for path in (pair, other):
        certificates.make_key_pair(path)
    assert certificates.key_pair_fault(pair) is None
    os.replace(other + ".pub", pair + ".pub")
    assert reasons(certificates.ensure(authority, [], ["s"], "test")) == {"s": "keys do not match"}
    assert certificates.key_pair_fault(pair) is None


def test_an_unreadable_authority_is_created_again(authority, tmp_path):
    (tmp_path / "pki" / "ca.crt").write_text("broken")
    made = certificates.ensure(certificates.Authority(str(tmp_path / "pki")), [WANTED])
    assert reasons(made) == {"ca": "missing", "etcd": "missing"}


def given(directory, name="Site Root", days=3650):
    """Put an authority of a site into a folder, and return it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificates, "VALIDITY_DAYS", days / 10)
        patch.setattr(certificates, "BACKDATED", datetime.timedelta(days=30))
        certificates.Authority(str(directory)).make(name)
    return certificates.Authority(str(directory))


def contents(directory):
    return dict((name, (directory / name).read_bytes()) for name in ("ca.crt", "ca.key"))


@pytest.mark.parametrize("ahead_seconds", [-7200.0, 0.0, 7200.0])
def test_a_certificate_is_valid_by_this_machines_clock_and_by_that_of_its_cluster(ahead_seconds):
    certificate = x509.load_pem_x509_certificate(certificates.self_signed(["a.svc"], ahead_seconds=ahead_seconds)[1])
    here = datetime.datetime.now(datetime.timezone.utc)
    for now in (here, here + datetime.timedelta(seconds=ahead_seconds)):
        assert certificate.not_valid_before_utc < now < certificate.not_valid_after_utc - datetime.timedelta(days=364)


def encrypted(path):
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                       serialization.BestAvailableEncryption(b"passphrase")))


def of_another(path):
    path.write_bytes(certificates.self_signed(["other"])[0])


@pytest.mark.parametrize(("spoil", "days", "found"), [
    (lambda pki: of_another(pki / "ca.key"), 3650, "whose key is not the one in ca.key"),
    (lambda pki: encrypted(pki / "ca.key"), 3650, "no key that can be read in ca.key"),
    (lambda pki: (pki / "ca.key").unlink(), 3650, "no key that can be read in ca.key"),
    (lambda pki: None, -1, "a certificate that was valid until 20")], ids=["other", "encrypted", "missing", "ended"])
def test_an_authority_of_the_site_s_that_cannot_sign_is_refused_and_stays(tmp_path, spoil, days, found):
    given(tmp_path, days=days)
    spoil(tmp_path)
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    for check_mode in (True, False):
        with pytest.raises(RefusedError, match=f"authority Site Root: .*ca.crt: found .*{found}"):
            certificates.ensure(certificates.Authority(str(tmp_path)), [WANTED], check_mode=check_mode)
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == before


def test_an_authority_of_the_site_s_that_ends_soon_signs_and_is_warned_of(tmp_path):
    authority = given(tmp_path, days=10)
    before = contents(tmp_path)
    assert reasons(certificates.ensure(authority, [WANTED])) == {"etcd": "missing"}
    again = certificates.Authority(str(tmp_path))
    assert certificates.ensure(again, [WANTED]) == [] and contents(tmp_path) == before
    assert "the authority Site Root, which ends on" in again.ending(certificates.DEFAULT_NAME)


def test_one_that_is_said_to_be_the_site_s_is_whatever_its_name_and_form(tmp_path):
    given(tmp_path, certificates.DEFAULT_NAME, days=10)
    assert certificates.ensure(certificates.Authority(str(tmp_path)), [], given=True) == []
    (tmp_path / "ca.crt").write_bytes(b"DER")
    with pytest.raises(RefusedError, match="found no certificate that can be read, expected the site's certificate"):
        certificates.ensure(certificates.Authority(str(tmp_path)), [], given=True)
    missing = certificates.ensure(certificates.Authority(str(tmp_path / "none")), [], check_mode=True, given=True)
    assert reasons(missing) == {"ca": "missing"}


def test_an_authority_of_this_collection_s_that_ends_soon_is_created_again(tmp_path):
    for name in ("metal3.baremetal plane a", "named by the site"):
        given(tmp_path, name, days=10)
        made = certificates.ensure(certificates.Authority(str(tmp_path)), [], common_name=name)
        assert reasons(made) == {"ca": "near expiry"}


def test_kubeconfigs_follow_their_certificate(authority, tmp_path):
    path = tmp_path / "kubeconfigs" / "etcd"
    wanted = dict(WANTED, kubeconfig={"path": str(path), "server": "https://127.0.0.1:1", "namespace": "n"})
    assert reasons(certificates.ensure(authority, [wanted])) == {
        "etcd": "missing", str(path): "missing or other contents"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert certificates.ensure(authority, [wanted]) == []
    path.chmod(0o644)
    assert list(reasons(certificates.ensure(authority, [wanted]))) == [str(path)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def token(**claims):
    part = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"header.{part}.signature"


@pytest.mark.parametrize("value,reason", [
    (None, "missing"),
    ("nonsense", "unreadable"),
    (token(exp=10), "unreadable"),
    (token(exp=10 ** 9, **{"kubernetes.io": {"serviceaccount": {"uid": "other"}}}), "of another service account"),
    (token(exp=1000, **{"kubernetes.io": {"serviceaccount": {"uid": "u"}}}), "near expiry"),
    (token(exp=10 ** 9, **{"kubernetes.io": {"serviceaccount": {"uid": "u"}}}), None),
])
def test_tokens(value, reason):
    assert kubeconfig.token_fault(value, "u", 500) == reason
