# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's registry: who may pull and push, what is in it, and how the node image's containerd pulls through it."""
from __future__ import annotations

import base64
import json
import os
import subprocess
import uuid
from pathlib import Path

import bmc_certificates
import pytest
import registry_store
from registry_store import IMAGE, digest, push

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import description as cluster_description
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import registries
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import node_image

pytestmark = pytest.mark.nodes

LOGIN_NEEDED, OTHER_AUTHORITY, WITH_FALLBACK = "private.example.org", "other.example.org", "fallback.example.org"
# The node image's own root file system, read only below what is written here; all of it ends with its namespaces.
CONTAINERD = """
set -eu
cd "$1"; image=$2; offset=$3; shift 3
mkdir lower upper root
mount -o "ro,noload,loop,offset=$offset" "$image" lower
mount -t tmpfs tmpfs upper
mkdir upper/files upper/work
mount -t overlay overlay -o lowerdir=lower,upperdir=upper/files,workdir=upper/work root
mount -t proc proc root/proc
mount --rbind /dev root/dev
for folder in run tmp var/lib/containerd; do mount -t tmpfs tmpfs "root/$folder"; done
cp -a files/. root/
chroot root sh -e /commands.sh
stat -c '%a %U %n' root/etc/containerd/certs.d/private.example.org/*
chroot root containerd > containerd.log 2>&1 &
for _try in $(seq 300); do if [ -S root/run/containerd/containerd.sock ]; then break; fi; sleep 0.1; done
for reference; do
  echo "== $reference"
  chroot root timeout 100 ctr images pull --hosts-dir /etc/containerd/certs.d "$reference" 2>&1 || echo refused
  chroot root ctr images list "name==$reference"
done
"""


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
    url = "https://%s:%d" % (lab.figures["bridge"]["address"].partition("/")[0], lab.figures["ports"]["registry"])
    (other, _key), _signer = bmc_certificates.issue(tmp_path, "other")
    authority = (lab.dir / "pki" / "ca.crt").read_text()
    description, mistakes = cluster_description.read({"name": "mirrored", "registry_mirrors": [
        {"registry": "quay.io", "url": url + "/quay.io", "ca_certificate": authority},
        {"registry": WITH_FALLBACK, "url": url + "/quay.io", "ca_certificate": authority, "fallback": True},
        {"registry": LOGIN_NEEDED, "url": url + "/private", "ca_certificate": authority, "credentials_secret": "login"},
        {"registry": OTHER_AUTHORITY, "url": url, "ca_certificate": Path(other).read_text()}]})
    assert mistakes == []
    secret = {"username": store.username, "password": store.password}
    files = tmp_path / "files"
    for entry in registries.files(description):
        path = files / entry["path"].lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        # As Cluster API's bootstrap provider puts the contents of Secrets in.
        path.write_text(entry["content"] if "content" in entry else secret[entry["contentFrom"]["secret"]["key"]])
        path.chmod(int(entry["permissions"], 8))
    (files / "commands.sh").write_text("\n".join(registries.commands(description)) + "\n")
    assert push(store, "private/team/image:v1", store.login).returncode == 0
    own = IMAGE.partition("/")[2]
    references = [IMAGE, f"{WITH_FALLBACK}/{own}", f"{LOGIN_NEEDED}/team/image:v1", f"{OTHER_AUTHORITY}/{IMAGE}",
                  "quay.io/metal3-io/unknown:v1"]
    image = os.path.join(os.path.dirname(os.path.realpath(lab.dir / "www" / "images" / "node.raw")), "node.raw")
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", CONTAINERD, "containerd",
         str(tmp_path), image, str(node_image.FIRST_SECTOR * node_image.SECTOR_BYTES), *references],
        capture_output=True, text=True, check=False, timeout=500)
    before, *parts = done.stdout.split("== ")
    assert done.returncode == 0, done.stderr
    folder = "root/etc/containerd/certs.d/" + LOGIN_NEEDED
    assert before.splitlines() == [f"600 root {folder}/hosts.toml", f"644 root {folder}/mirror.crt"]
    answers = dict((part.partition("\n")[0], part) for part in parts)
    assert list(answers) == references
    for reference in references[:3]:
        assert store.digest in answers[reference] and "refused" not in answers[reference], answers[reference]
    assert "certificate signed by unknown authority" in answers[references[3]]
    assert f"{references[4]}: not found" in answers[references[4]]
    assert store.password not in done.stdout + done.stderr
