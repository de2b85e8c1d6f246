# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of objects, whose names may be what another object says, for example a host of its Secret."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECRET = KNOWN["Secret"]


@pytest.mark.parametrize("name", ["../configmaps/x", "..", ".", "x/status", "x%2Fstatus", "/", "a/../../../nodes/n"])
def test_a_name_is_never_another_path(name):
    for arguments in (("metal3", name), (name, "x")):
        with pytest.raises(KubeError, match="expected one without / and %") as caught:
            SECRET.path(*arguments)
        assert caught.value.status == 404


def test_an_empty_namespace_stands_for_none_and_not_for_all():
    # With all namespaces listed, a cluster of the name would have been deleted wherever it is.
    for arguments in (("",), ("", "x")):
        with pytest.raises(KubeError, match="secrets: found an empty text, expected a name; set it") as caught:
            SECRET.path(*arguments)
        assert caught.value.status is None and not caught.value.retriable
    assert SECRET.path() == "/api/v1/secrets"
    assert KNOWN["Namespace"].path("", "metal3") == "/api/v1/namespaces/metal3"


def test_an_empty_name_does_not_stand_for_the_collection():
    # A DELETE of it deletes all that is in it.
    with pytest.raises(KubeError, match=r"found the name \(empty\), expected one"):
        SECRET.path("metal3", "")


@pytest.mark.parametrize(("name", "part"), [
    ("rack1-01.bmc", "rack1-01.bmc"), ("system:node", "system:node"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"),
    ("a b", "a%20b"), ("\ud800", "%3F")])
def test_other_signs_are_escaped(name, part):
    assert SECRET.path("metal3", name) == "/api/v1/namespaces/metal3/secrets/" + part
