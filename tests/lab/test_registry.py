# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's registry: who may pull and push, and what is in it."""
from __future__ import annotations

import base64
import json
import subprocess
import uuid
from pathlib import Path
from types import SimpleNamespace

import bmc_certificates
import pytest
from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import oci_layout, registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine

pytestmark = pytest.mark.nodes

PINS = engine.GoMod((REPOSITORY / "lab" / "engine" / "go.mod").read_text())
VERSION = PINS.version(catalogue.IPAM)
IMAGE = "quay.io/metal3-io/ip-address-manager:" + VERSION


def skopeo(*arguments, **options):
    return subprocess.run(["skopeo", "--insecure-policy", *arguments], capture_output=True, text=True, check=False,
                          timeout=120, **options)


@pytest.fixture(scope="module")
def store(lab, tmp_path_factory):
    """The registry, an image to push, and files for skopeo: the lab's authority, and the login for pushing."""
    folder = tmp_path_factory.mktemp("registry")
    host = "127.0.0.1:%d" % lab.figures["ports"]["registry"]
    username, password = ((lab.dir / "secrets" / f"registry_{name}").read_text() for name in ("username", "password"))
    (folder / "trust").mkdir()
    (folder / "trust" / "ca.crt").write_bytes((lab.dir / "pki" / "ca.crt").read_bytes())
    (folder / "login").write_text(json.dumps({"auths": {host: {
        "auth": base64.b64encode(f"{username}:{password}".encode()).decode()}}}))
    (folder / "no-login").write_text("{}")
    versions = {"ip-address-manager": VERSION}
    images = registry.ControllerImages(lab.figures["engine_dir"], versions, str(folder))
    images.build(SimpleNamespace(event=print))
    layout = images.layouts()[IMAGE]
    return SimpleNamespace(
        host=host, folder=folder, trust=folder / "trust", login=folder / "login", no_login=folder / "no-login",
        username=username, password=password, layout=layout, digest=oci_layout.manifest_digest(layout))


def push(store, name, login, trust=None):
    return skopeo("copy", "--dest-authfile", str(login), "--dest-cert-dir", str(trust or store.trust),
                  "--preserve-digests", f"oci:{store.layout}", f"docker://{store.host}/{name}")


def digest(store, name, login):
    done = skopeo("inspect", "--authfile", str(login), "--cert-dir", str(store.trust), "--format", "{{.Digest}}",
                  f"docker://{store.host}/{name}")
    return done.stdout.strip() or done.stderr


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
