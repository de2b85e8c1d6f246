# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registries: URLs that are refused, and answers of theirs."""
from __future__ import annotations

import os

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import registry

SECRET = "canary-registry-7"


@pytest.mark.parametrize("url", [f"https://user:{SECRET}@registry.example", f"user:{SECRET}@registry.example/path"])
def test_a_registry_is_named_without_a_login(url):
    with pytest.raises(registry.RegistryError, match="set username_file and password_file") as failed:
        registry.parse(url)
    assert SECRET not in str(failed.value)


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """Return a function that has skopeo fail with a text of containers/image."""
    program = tmp_path / "skopeo"
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def fail(text):
        program.write_text(f"""#!/bin/sh
cat >&2 <<'END'
time="2026-01-01T00:00:00Z" level=fatal msg="{text}"
END
exit 1
""")
        program.chmod(0o700)
    return fail


READING = r'Error parsing image name \"docker://r.test/a/b:1\": reading manifest 1 in r.test/a/b: '


@pytest.mark.parametrize("text", [
    READING + "manifest unknown: manifest unknown", READING + "name unknown: repository name not known to registry",
    # Harbor, whose code is none of the specification; the second where nothing was pushed to the repository yet.
    READING + "unknown: artifact a/b:1 not found", READING + "unknown: repository a/b not found",
    READING + "unknown: Not Found", READING + r'StatusCode: 404, \"Not found\r\"',
    READING + r"error parsing HTTP 404 response body: invalid character 'N': \"Not found\""])
def test_an_image_that_a_registry_does_not_have_is_no_error(answer, text):
    """It is what an image is pushed for."""
    answer(text)
    assert registry.digest(registry.Registry("r.test"), "a/b:1") is None


@pytest.mark.parametrize("text", [
    READING + "unauthorized: project a not found", "pinging container registry r.test: StatusCode: 404, <html>",
    "pinging container registry r.test: Get https://r.test/v2/: dial tcp: lookup r.test: host not found"])
def test_a_registry_that_cannot_be_asked_is_an_error(answer, text):
    answer(text)
    with pytest.raises(registry.RegistryError):
        registry.digest(registry.Registry("r.test"), "a/b:1")


@pytest.mark.parametrize("text, step", [
    ("writing blob: write /var/tmp/x: no space left on device", r"free space in the work folder, in /var/tmp"),
    (READING + "toomanyrequests: You have reached your pull rate limit", "wait until the registry answers again"),
    ("copying: too many requests to registry", "wait until the registry answers again"),
    ("unauthorized: project mirror not found: project mirror not found", "make the project at the registry"),
    ("unauthorized: authentication required", "correct user name and password"),
    ("name unknown: The repository with name a/b does not exist in the registry", "or make the repository at"),
    ("pinging container registry r.test: connection refused", "correct the registry's address, or run again")])
def test_an_error_says_what_to_do(answer, tmp_path, text, step):
    answer(text)
    with pytest.raises(registry.RegistryError, match=step):
        registry.fetch(registry.Registry("r.test"), "a/b:1", "sha256:0", str(tmp_path / "image"))
