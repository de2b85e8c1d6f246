# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of the role ironic that come as text: -e name=3 and an INI inventory's group variables give them so."""
from __future__ import annotations

import pytest
from fakes import ironic_role
from tooling import ansible_yaml

SPEC = ansible_yaml.read(ironic_role.ROLE / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
# What the templates have of them.
NUMBERS = sorted(name for name, option in SPEC.items() if option["type"] == "int"
                 and name in (ironic_role.ROLE / "templates" / "ironic.conf.j2").read_text())


def test_the_template_has_numbers():
    assert "ironic_deploy_callback_timeout_seconds" in NUMBERS and len(NUMBERS) > 4


@pytest.mark.parametrize("kind", [str, int], ids=["text", "number"])
def test_a_number_is_the_same_as_a_text(tmp_path, kind):
    found = ironic_role.rendered(tmp_path, **dict.fromkeys(NUMBERS, kind("600")))["conf"]
    assert found["pxe"]["boot_retry_timeout"] == "150" and found["conductor"]["deploy_callback_timeout"] == "600"
