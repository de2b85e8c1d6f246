# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an archive is to have: images of clusters, and those that a list names."""
from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.spec import (
    ENDPOINT_HOLDERS,
    NETWORK_ADDONS,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import endpoint, flannel
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render.images import ADD_ONS
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import image_lists, service

# As kubeadm prints it.
LIST = """registry.k8s.io/kube-apiserver:v1.35.4
registry.k8s.io/pause:3.10.1
"""


def images_of(text):
    pairs = [line.strip().lstrip("- ").partition(": ") for line in text.splitlines()]
    return sorted(value for key, dummy, value in pairs if key == "image")


def test_all_that_a_cluster_with_flannel_pulls_is_gathered():
    rendered = yaml.safe_dump(flannel.objects(["10.244.0.0/16"], None, None))
    assert set(images_of(rendered)) == set(service.wanted([], [], [], None, add_ons=["flannel"]).images)


def test_the_image_of_kube_vip_is_that_of_the_endpoint():
    image, = service.wanted([], [], [], None, add_ons=["kube-vip"]).images
    assert image == endpoint.images.reference(endpoint.images.KUBE_VIP, None, None)


def test_each_add_on_is_a_value_of_a_clusters_description():
    assert set(ADD_ONS) <= set(ENDPOINT_HOLDERS) | set(NETWORK_ADDONS)


def test_lists_are_read_without_what_is_no_image(tmp_path):
    path = tmp_path / "images.txt"
    path.write_text("# of v1.35.4\n\n" + LIST)
    assert image_lists.read([str(path)]) == LIST.split()


def test_lists_that_cannot_be_read_are_all_named(tmp_path):
    pipe, binary = tmp_path / "pipe", tmp_path / "binary"
    os.mkfifo(pipe)
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(RefusedError) as error:
        image_lists.read([str(pipe), str(binary), str(tmp_path / "missing")])
    assert [Path(item.subject.split('"')[1]).name for item in error.value.problems] == ["pipe", "binary", "missing"]


def test_a_name_in_a_list_that_is_no_image_is_refused(tmp_path):
    path = tmp_path / "images.txt"
    path.write_text("I1129 version.go:253] remote version is much newer\n")
    with pytest.raises(RefusedError):
        service.wanted([], image_lists.read([str(path)]), [], None)
