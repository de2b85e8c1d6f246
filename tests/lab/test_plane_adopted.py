# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane that others have made by the real clusterctl and kubectl, on a real API server without controllers.

It is refused until it is adopted.
"""
from __future__ import annotations

import json
from types import SimpleNamespace

import bare_plane
import cert_manager
import pytest
import releases
from fakes import move_planes
from others_plane import Others

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import OWNER_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = pytest.mark.plane

NAMES = [part.name for part in RENDERED]
PARTS = [{"name": name} for name in NAMES]
LACKS = f"metadata.labels.{OWNER_LABEL[0]}: not set, expected {OWNER_LABEL[1]}"


@pytest.fixture(scope="module")
def servers():
    """An API server without controllers."""
    with bare_plane.served() as found:
        yield found


@pytest.fixture(scope="module")
def target(servers):
    return bare_plane.client(servers)


@pytest.fixture(scope="module")
def others(servers, tmp_path_factory):
    """They have installed all of it."""
    folder = SimpleNamespace(figures={
        "engine_dir": move_planes.engine_dir(), "urls": {"image_server": "https://images.example"}})
    found = Others(folder, servers.kubeconfig(bare_plane.NAME), tmp_path_factory.mktemp("others"), with_pods=False)
    found.cert_manager(cert_manager.built())
    # Nobody answers for cert-manager.
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        assert found.kubectl("delete", kind, "--all").returncode == 0
    found.init(*(part.name for part in RENDERED if part.type))
    found.operator("https://ironic.example:6385/v1/")
    return found


def stored(target):
    """Return Deployment → its version and whose it is."""
    return dict((item["metadata"]["name"], (item["metadata"]["resourceVersion"], (
        item["metadata"].get("labels") or {}).get(OWNER_LABEL[0]))) for item in target.list(KNOWN["Deployment"])[0]
        if not item["metadata"]["name"].startswith("cert-manager"))


def refused(servers, *flags, **arguments):
    """Run plane_components, which must fail; return what it says."""
    with pytest.raises(AssertionError) as caught:
        bare_plane.run(servers, PARTS, *flags, **arguments)
    return str(caught.value)


@pytest.mark.parametrize("flags", [["--check"], []])
def test_it_is_neither_changed_nor_removed(servers, target, others, flags):
    before = stored(target)
    assert len(before) == len(RENDERED) and {owner for _version, owner in before.values()} == {None}
    told = refused(servers, *flags)
    for part in RENDERED:
        for name in part.images:
            assert f"part {part.name}: Deployment {part.namespace}/{name}: {LACKS}" in told
    told = refused(servers, *flags, state="absent", confirm=str(len(RENDERED)))
    assert LACKS in told and "remove the part by what has installed it" in told
    assert stored(target) == before


def test_all_parts_must_be_named(servers, target, others):
    before = stored(target)
    told = refused(servers, adopt=NAMES[1:])
    assert f"part {NAMES[0]}: Deployment " in told and f"part {NAMES[1]}: Deployment " not in told
    assert stored(target) == before


def test_adopted_it_is_the_collections_which_needs_no_name_then(servers, target, others):
    assert bare_plane.run(servers, PARTS, "--check", adopt=NAMES, certificates="collection")["changed"]
    assert {owner for _version, owner in stored(target).values()} == {None}
    assert bare_plane.run(servers, PARTS, adopt=NAMES, certificates="collection")["changed"]
    assert {owner for _version, owner in stored(target).values()} == {OWNER_LABEL[1]}
    assert not bare_plane.run(servers, PARTS, certificates="collection")["changed"]


def test_what_clusterctl_has_upgraded_since_is_not_taken_back(servers, target, others):
    done = others.clusterctl("upgrade", "apply", "--ipam", f"metal3:{releases.NEWER}")
    assert done.returncode == 0, json.dumps(vars(done))
    before = stored(target)
    assert before["ipam-controller-manager"][1] is None
    told = refused(servers, adopt=NAMES)
    assert releases.NEWER in told and "definitions cannot go back" in told
    assert stored(target) == before
