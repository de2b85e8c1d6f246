# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of Ironic as they are documented: of a module of their own, and below the option ``ironic``."""
from __future__ import annotations

import re

import yaml

from ansible_collections.metal3.baremetal.plugins.doc_fragments.ironic import ModuleDocFragment
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import ironic_argument_spec

OWN = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
BELOW = yaml.safe_load(ModuleDocFragment.SUBOPTIONS)["options"]["ironic"]["suboptions"]


def test_both_have_the_options_of_the_argument_spec_with_type_choices_and_default():
    for options in (OWN, BELOW):
        assert {name: {key: value for key, value in option.items() if key != "description"}
                for name, option in options.items()} == {
            name: {key: value for key, value in option.items() if key != "no_log"}
            for name, option in ironic_argument_spec().items()}


def test_references_name_the_option_where_it_stands():
    own, below = (set(re.findall(r"O\(([^)]*)\)", yaml.safe_dump(options, width=1000))) for options in (OWN, BELOW))
    assert own and own <= set(OWN)
    assert below == {f"ironic.{name}" for name in own}
