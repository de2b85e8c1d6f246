# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What packages of the site depend on."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian.dpkg_status import closure

STATUS = """Package: lldpd
Status: install ok installed
Depends: libc6 (>= 2.34), libsnmp40 (>= 5.9.3+dfsg), adduser | other

Package: libsnmp40
Pre-Depends: libperl5.36:any (>= 5.36.0)

Package: libperl5.36

Package: libc6

Package: mail
Provides: mail-agent (= 1), other

Package: loop
Depends: loop, mail-agent
"""


@pytest.mark.parametrize("names, found", [
    (["libc6"], {"libc6"}), (["nothing"], set()), (["loop"], {"loop", "mail-agent", "mail"}),
    (["lldpd=1.0"], {"lldpd", "libc6", "libsnmp40", "libperl5.36", "other", "mail"})])
def test_a_package_needs_all_that_it_depends_on(names, found):
    assert closure(STATUS, names) == found


def test_what_is_known_is_named_without_its_own_dependencies():
    assert closure(STATUS, ["lldpd"], {"libsnmp40"}) == {"lldpd", "libc6", "libsnmp40", "other", "mail"}
    assert closure(STATUS, ["libsnmp40"], {"libperl5.36"}) == {"libsnmp40", "libperl5.36"}
