# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of Metal³'s own settings names only variables of roles, and all that go to Ironic's pod and the operator."""
from __future__ import annotations

import re

import yaml
from tooling.pages import ROOT

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic

PAGE = (ROOT / "docs" / "docsite" / "rst" / "upstream_settings.rst").read_text(encoding="utf-8")
# "ironic_processes: separate" is one, "bmo" and "ports.image_server" are none.
ROLES = ("bmo", "ironic", "provisioning_network", "bootstrap_plane", "agent_image")
NAMED = set(re.findall(r"``((?:%s)_[a-z0-9_]+)(?::[^`]*)?``" % "|".join(ROLES), PAGE))
SETTINGS = set(re.findall(r"``([A-Z][A-Z0-9_]+)``", PAGE))


def options(role):
    content = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    return set(content["argument_specs"]["main"]["options"])


def test_every_variable_is_one_of_a_role():
    known = set().union(*map(options, ROLES))
    # A file, not a variable.
    assert NAMED - {"ironic_bmo_configmap.env"} <= known and len(NAMED) > 30


def test_every_setting_of_the_operator_and_of_ironics_pod_is_there():
    variables = (ROOT / "roles" / "bmo" / "vars" / "main.yml").read_text(encoding="utf-8")
    of_operator = set(re.findall(r"'([A-Z][A-Z0-9_]+)':", variables))
    assert len(of_operator) > 8
    # Derived from ironic_tls and from the site's authorities.
    assert of_operator | set(ironic.VARIABLES.values()) - {"WEBSERVER_CACERT_FILE"} <= SETTINGS
