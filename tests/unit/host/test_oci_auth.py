# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets with registry credentials, as BMO takes and refuses them."""
from __future__ import annotations

import base64
import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.rules import oci_auth

URL = "oci://registry.example.org:5000/image:1"
ENTRY = {"username": "u", "password": "hidden-word"}


def secret(config, kind="kubernetes.io/dockerconfigjson", key=".dockerconfigjson"):
    text = config if isinstance(config, str) else json.dumps(config)
    return {"type": kind, "data": {key: base64.b64encode(text.encode()).decode()}}


@pytest.mark.parametrize("given, url", [
    (secret({"auths": {"registry.example.org:5000": ENTRY}}), URL),
    (secret({"auths": {"registry.example.org:5000": {"auth": "eA=="}}}), URL),
    (secret({"registry.example.org:5000": ENTRY}, "kubernetes.io/dockercfg", ".dockercfg"), URL),
    (secret({"auths": {"https://index.docker.io/v1/": ENTRY}}), "oci://docker.io/library/x:1"),
])
def test_secrets_that_bmo_takes(given, url):
    assert oci_auth.fault(given, url) is None


@pytest.mark.parametrize("given, message", [
    ({"data": {"username": "eA=="}}, "type Opaque"),
    (secret({}, key="config.json"), "without the key .dockerconfigjson"),
    (secret("no json: hidden-word"), "no JSON object"),
    (secret("[]"), "no JSON object"),
    ({"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "%"}}, "no JSON object"),
    # Whoever may write the Secret must not end a run over all hosts.
    ({"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": base64.b64encode(
        b"[" * 100000).decode()}}, "no JSON object"),
    (secret({"auths": {"registry.example.org": ENTRY}}), "no credentials for registry.example.org:5000"),
    (secret({"auths": {"https://registry.example.org:5000": ENTRY}}), "no credentials for"),
    (secret({"auths": {"registry.example.org:5000": {}}}), "no credentials for"),
    (secret({"auths": [1]}), "no credentials for"),
])
def test_secrets_that_bmo_refuses(given, message):
    fault = oci_auth.fault(given, URL)
    assert message in fault[0] and fault[1]
    assert "hidden-word" not in " ".join(fault)
