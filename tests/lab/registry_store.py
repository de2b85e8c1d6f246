# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests need of the lab's registry: skopeo, the login, and an image of one of the plane's controllers."""
from __future__ import annotations

import base64
import json
import subprocess
from types import SimpleNamespace

from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import oci_layout, registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine

PINS = engine.GoMod((REPOSITORY / "lab" / "engine" / "go.mod").read_text())
VERSION = PINS.version(catalogue.IPAM)
IMAGE = "quay.io/metal3-io/ip-address-manager:" + VERSION


def skopeo(*arguments, **options):
    return subprocess.run(["skopeo", "--insecure-policy", *arguments], capture_output=True, text=True, check=False,
                          timeout=120, **options)


def opened(lab, folder):
    """Return the registry, an image to push, and files for skopeo: the lab's authority, and the login for pushing."""
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
