# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt says of a repository whose signature it does not verify; the lines are apt 2.6's."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian.signatures import key_problem
from ansible_collections.metal3.baremetal.plugins.module_utils._images.node import node_build

REPOSITORY = {"source": "deb https://packages.example.org/v1.35/deb/ /", "key": "a key"}
ADDRESS = "https://packages.example.org/v1.35/deb"
UNKNOWN = ("The following signatures couldn't be verified because the public key is not available: "
           "NO_PUBKEY FEF8A72E0B884636")


def test_another_key_is_named_with_the_address_and_the_missing_key():
    output = f"Err:1 {ADDRESS}  InRelease\n  {UNKNOWN}\nW: GPG error: {ADDRESS}  InRelease: {UNKNOWN}\n"
    text = str(key_problem(output, REPOSITORY))
    assert text.startswith("node_image: kubernetes_repository.key: found another key")
    assert ADDRESS in text and "NO_PUBKEY FEF8A72E0B884636" in text and "; take the key" in text


@pytest.mark.parametrize("verdict", [
    "The following signatures were invalid: EXPKEYSIG FEF8A72E0B884636 Packages <packages@example.org>",
    "The following signatures were invalid: BADSIG FEF8A72E0B884636 Packages <packages@example.org>",
    "Clearsigned file isn't valid, got 'NODATA' (does the network require authentication?)"])
def test_a_signature_that_does_not_hold_is_named(verdict):
    assert "a signature that it does not verify" in str(
        key_problem(f"W: GPG error: {ADDRESS}/ InRelease: {verdict}", REPOSITORY))


@pytest.mark.parametrize("output", [
    "", f"E: Failed to fetch {ADDRESS}/InRelease  Connection refused",
    f"W: GPG error: https://mirror.example.org/debian bookworm InRelease: {UNKNOWN}",
    f"W: GPG error: {ADDRESS}2 InRelease: {UNKNOWN}"])
def test_other_errors_and_other_repositories_are_not_the_key_s(output):
    assert key_problem(output, REPOSITORY) is None


def test_the_build_says_it_in_place_of_apt_s_last_lines(tmp_path, monkeypatch):
    output = f"W: GPG error: {ADDRESS}  InRelease: {UNKNOWN}"

    def fail(*_arguments, **_options):
        raise debian_root.ImageBuildError("installing Debian bookworm: setpriv failed", output)

    monkeypatch.setattr(node_build.debian_root, "install", fail)
    (tmp_path / "packages.txt").write_text("bash\n")
    params = {"source_dir": str(tmp_path), "packages": [], "debian_sources": [], "kubernetes_version": "v1.35.4",
              "kubernetes_repository": REPOSITORY}
    build = object.__new__(node_build.NodeBuild)
    build._params, build._source_dir = params, str(tmp_path)
    with pytest.raises(debian_root.ImageBuildError, match="NO_PUBKEY FEF8A72E0B884636"):
        build._install(str(tmp_path / "root"), str(tmp_path))
    output = "E: Unable to locate package kubelet"
    with pytest.raises(debian_root.ImageBuildError, match="setpriv failed"):
        build._install(str(tmp_path / "root"), str(tmp_path))
