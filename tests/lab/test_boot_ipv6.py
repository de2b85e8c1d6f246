# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real firmware (OVMF) boots iPXE by IPv6 from the rendered DHCP, by TFTP and by HTTP; it needs no lab."""
from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from network.test_description import GOOD

from ansible_collections.metal3.baremetal.plugins.module_utils._network import description, dnsmasq

pytestmark = pytest.mark.metal

MAC, KEPT = "00:5c:52:31:3a:01", ["fd00:22::11", "fd00:22::12"]
SECONDS = 900
LOADER = pathlib.Path("/usr/lib/ipxe/snponly.efi")
STARTED = "iPXE initialising devices"


@pytest.fixture
def boot(tmp_path):
    """A function that boots a machine and returns what its console and the servers' logs have.

    It takes the text of these logs that shows what was booted from, and further settings of DHCP.
    """
    def run(text, **dhcp):
        for name in ("www", "tftp"):
            (tmp_path / name).mkdir()
            shutil.copy(LOADER, tmp_path / name / "snponly.efi")
        shutil.copy("/usr/share/OVMF/OVMF_VARS_4M.fd", tmp_path / "vars.fd")
        settings = dict(dict(GOOD["dhcp"], loaders=None, tftp_root=None, ipxe_script_url=None), **dhcp,
                        hosts=[{"mac": MAC, "addresses": KEPT}])
        described = dict(GOOD, name="prov", dhcp=settings)
        # Folders of pytest have names of their own, which a site's need not be.
        assert not [problem for problem in description.problems(described) if problem.field != "dhcp.tftp_root"]
        (tmp_path / "prov.conf").write_text(dnsmasq.configuration(described, str(tmp_path / "leases")))
        asked = {"folder": str(tmp_path), "mac": MAC, "seconds": SECONDS, "texts": [text, STARTED]}
        done = subprocess.run(["unshare", "--net", sys.executable, str(pathlib.Path(__file__).with_name(
            "firmware_ipv6.py")), json.dumps(asked)], capture_output=True, text=True, timeout=SECONDS + 60, check=False)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert STARTED in found["console"], "\n".join(found.values())
        return found

    return run


def test_firmware_boots_by_tftp_over_ipv6_though_an_address_is_kept_for_its_server(boot, tmp_path):
    text = f"sent {tmp_path / 'tftp' / 'snponly.efi'} to fd00:22::"
    found = boot(text, tftp_root=str(tmp_path / "tftp"))
    assert text in found["dnsmasq"] and "Start PXE over IPv6" in found["console"]
    assert "no addresses available" not in found["dnsmasq"]


def test_firmware_boots_by_http_over_ipv6(boot):
    found = boot("GET /snponly.efi", http_boot_url="http://[fd00:22::1]:6180/snponly.efi")
    assert '"GET /snponly.efi HTTP/1.1" 200' in found["web"] and "Start HTTP Boot over IPv6" in found["console"]
