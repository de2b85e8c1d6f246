# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's registry: who may pull and push, what is in it, and how the node image's containerd pulls through it."""
from __future__ import annotations

import base64
import json
import uuid
from pathlib import Path

import bmc_certificates
import pytest
import registry_store
from registry_store import IMAGE, digest, push

pytestmark = pytest.mark.nodes

LOGIN_NEEDED, OTHER_AUTHORITY, WITH_FALLBACK = "private.example.org", "other.example.org", "fallback.example.org"


@pytest.fixture(scope="module")
def store(lab, tmp_path_factory):
    return registry_store.opened(lab, tmp_path_factory.mktemp("registry"))


def test_everybody_may_pull_and_nobody_pushes_without_the_password(store):
    assert digest(store, IMAGE, store.no_login) == store.digest
    # The lab may have those of runs before this one.
    name = f"own/{uuid.uuid4().hex}:v1"
    assert "nauthorized" in push(store, name, store.no_login).stderr
    wrong = store.folder / "wrong-login"
    wrong.write_text(json.dumps({"auths": {store.host: {"auth": base64.b64encode(
        f"{store.username}:{store.password[:-1]}".encode()).decode()}}}))
    assert "nauthorized" in push(store, name, wrong).stderr
    assert "manifest unknown" in digest(store, name, store.no_login)
    assert push(store, name, store.login).returncode == 0
    assert digest(store, name, store.no_login) == store.digest


def test_a_registry_of_another_authority_is_refused(store):
    (certificate, _key), _signer = bmc_certificates.issue(store.folder, "other")
    trust = store.folder / "other-trust"
    trust.mkdir()
    Path(certificate).rename(trust / "ca.crt")
    assert "certificate signed by unknown authority" in push(store, "own/image:v2", store.login, trust).stderr


def test_what_is_private_is_pulled_with_the_password_only(store):
    assert push(store, "private/team/image:v1", store.login).returncode == 0
    assert "nauthorized" in digest(store, "private/team/image:v1", store.no_login)
    assert digest(store, "private/team/image:v1", store.login) == store.digest


def test_containerd_of_a_node_pulls_by_upstreams_name_through_the_files_of_the_option(lab, store, tmp_path):
    """With a login, without one, with a fallback, from a mirror of another authority, and what no mirror has."""
    url = f"https://{lab.figures['bridge']['address'].partition('/')[0]}:{lab.figures['ports']['registry']}"
    (other, _key), _signer = bmc_certificates.issue(tmp_path, "other")
    authority = (lab.dir / "pki" / "ca.crt").read_text()
    mirrors = [
        {"registry": "quay.io", "url": url + "/quay.io", "ca_certificate": authority},
        {"registry": WITH_FALLBACK, "url": url + "/quay.io", "ca_certificate": authority, "fallback": True},
        {"registry": LOGIN_NEEDED, "url": url + "/private", "ca_certificate": authority, "credentials_secret": "login"},
        {"registry": OTHER_AUTHORITY, "url": url, "ca_certificate": Path(other).read_text()}]
    assert push(store, "private/team/image:v1", store.login).returncode == 0
    own = IMAGE.partition("/")[2]
    references = [IMAGE, f"{WITH_FALLBACK}/{own}", f"{LOGIN_NEEDED}/team/image:v1", f"{OTHER_AUTHORITY}/{IMAGE}",
                  "quay.io/metal3-io/unknown:v1"]
    before, answers, output = registry_store.pulled(lab, tmp_path, mirrors, references, {
        "username": store.username, "password": store.password})
    folder = "root/etc/containerd/certs.d/" + LOGIN_NEEDED
    assert [line for line in before if LOGIN_NEEDED in line] == [
        f"600 root {folder}/hosts.toml", f"644 root {folder}/mirror.crt"]
    for reference in references[:3]:
        assert store.digest in answers[reference] and "refused" not in answers[reference], answers[reference]
    assert "certificate signed by unknown authority" in answers[references[3]]
    assert f"{references[4]}: not found" in answers[references[4]]
    assert store.password not in output
