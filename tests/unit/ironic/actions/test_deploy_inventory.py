# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments from inventory variables: the image, its checksum, and what becomes the config drive."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import inventory as deploy_inventory

URL = "http://192.0.2.1/a.raw"
SECRET = "canary-7f3a"


@pytest.mark.parametrize(("image", "options"), [
    ({"url": URL}, {"source": URL}),
    ({"url": URL, "format": "raw", "checksum": URL + ".sum", "checksum_type": "sha256"},
     {"source": URL, "disk_format": "raw", "checksum": URL + ".sum"}),
    ({"url": URL, "checksum": "abc", "checksum_type": "sha512"},
     {"source": URL, "checksum_algorithm": "sha512", "checksum_value": "abc"}),
    ({"url": URL, "checksum": "abc", "checksum_type": "auto"}, {"source": URL, "checksum": "abc"}),
    ({"url": URL, "format": "live-iso"}, {"boot_iso": URL}),
])
def test_images(image, options):
    assert deploy_inventory.deployment("a", {"bmh_image": image}) == {"node": "a", "image": options, "config_drive": {}}


def test_a_server_without_an_image_has_no_deployment():
    assert deploy_inventory.deployment("a", {"bmh_user_data": "x"}) is None


def test_data_becomes_the_config_drive():
    found = deploy_inventory.deployment("a", {
        "bmh_image": {"url": URL}, "bmh_user_data": {"content": "#cloud-config"}, "bmh_meta_data": {"key": "value"},
        "bmh_network_data": '{"links": []}', "ironic_node": {"name": "node-a"}})
    assert found["node"] == "node-a"
    assert found["config_drive"] == {
        "user_data": "#cloud-config", "meta_data": {"key": "value"}, "network_data": {"links": []}}


def test_all_problems_of_a_server_are_reported_without_its_data():
    with pytest.raises(RefusedError) as refusal:
        deploy_inventory.deployment("a", {
            "bmh_image": {"format": "raw"}, "bmh_user_data": {"name": "a-secret"}, "bmh_meta_data": SECRET})
    assert SECRET not in str(refusal.value)
    for text in ("a: bmh_image.url: not set, expected the URL of an image",
                 "a: bmh_user_data.name: found \"a-secret\", expected the data itself; set bmh_user_data",
                 "a: bmh_meta_data: found a text that is no JSON object, expected a dictionary"):
        assert text in str(refusal.value)
