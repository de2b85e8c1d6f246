# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lines of a serial console mean: known signs, and nothing of the lines themselves."""
from __future__ import annotations

import pytest
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._boot.console import Signs, is_medium_started, stage


def sign(lines):
    return Signs().take(lines)


@pytest.mark.parametrize(("line", "expected"), [
    ("[    1.930251] Kernel panic - not syncing: No working init found.", "stopped by a panic"),
    ("agent[402]: SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify "
     "failed: certificate is not yet valid (_ssl.c:992)'))", "set the server's clock"),
    ("certificate verify failed: certificate has expired (_ssl.c:992)", "renew it"),
    ("certificate verify failed: unable to get local issuer certificate (_ssl.c:9)", "ca_certificates of agent_image"),
    ("certificate verify failed: self-signed certificate in certificate chain", "ca_certificates of agent_image"),
    ("\x1b[2J  PXE-E18: Server response timeout.", "UDP port 69"),
    ("  PXE-E23: Client received TFTP error from server.", "refuses its boot loader"),
    ("BdsDxe: failed to load Boot0001 \"UEFI PXEv4\": Access Denied", "secure boot has refused"),
    ("error: failure reading sector 0x1234 from `cd0'.", "cannot read its boot medium"),
    ("\x1b[0m\x1b[37m\x1b[40merror: unknown filesystem.", "cannot read its boot medium"),
    ("error: no such device: /.disk/info.", "cannot read its boot medium"),
    ("Failed to open \\EFI\\BOOT\\options.csv - No Media", "cannot read its boot medium"),
    ('BdsDxe: failed to start Boot0001 "UEFI QEMU DVD-ROM QM00001 " from PciRoot(0x0)/Pci(0x1F,0x2): Invalid Parameter',
     "cannot read its boot medium"),
    ("blk_update_request: I/O error, dev sr0, sector 64", "cannot read its boot medium"),
])
def test_a_sign_has_cause_and_next_step(line, expected):
    cause, next_step = sign(["something before", line, "something after"])
    assert expected in f"{cause}; {next_step}"
    # Progress shows sixty letters of it.
    assert len(cause) <= 72 and next_step


@pytest.mark.parametrize("line", ["", "Linux version 6.1", "PXE-E1", "PXE-E180", "panic=10", "I/O error, dev sda",
                                  "PXE-E16: No valid offer received."])
def test_other_lines_say_nothing(line):
    assert sign([line]) is None


def test_the_last_sign_counts_and_nothing_of_the_line_is_repeated():
    found = "; ".join(sign(["PXE-E18: x", "Kernel panic - not syncing: {{ lookup('pipe', 'id') }} \x1b]0;title\x07"]))
    assert "panic" in found and "lookup" not in found and "\x1b" not in found
    assert sign([]) is None


@pytest.mark.parametrize(("lines", "expected"), [
    ([">>Start PXE over IPv4.", "  PXE-E18: Server response timeout."], "no answer by DHCP"),
    ([">>Start PXE over IPv4.", "  NBP filename is snponly.efi", "  NBP filesize is 0 Bytes",
      "  PXE-E18: Server response timeout."], "UDP port 69"),
    ([">>Start PXE over IPv4.", "  NBP filename is snponly.efi", ">>Start PXE over IPv4.",
      "  PXE-E18: Server response timeout."], "no answer by DHCP")])
def test_firmware_that_was_not_named_a_boot_loader_has_no_answer_by_dhcp(lines, expected):
    console = Signs()
    parts = [console.take([line]) for line in lines]
    assert parts[:-1] == [None] * (len(lines) - 1)
    assert expected in "; ".join(parts[-1]) and expected in "; ".join(sign(lines))


def test_a_long_line_takes_no_long_time():
    assert within_processor_time(5, sign, ["Kernel panic " * 80_000, "unable to get " * 80_000]) is None
    words = "Welcome to ", "starting Boot0001 ", "systemd[1]: ", "A tty"
    assert within_processor_time(5, stage, [word * 80_000 for word in words]) == ""


@pytest.mark.parametrize("line", [
    'BdsDxe: starting Boot0001 "UEFI QEMU DVD-ROM QM00001 " from PciRoot(0x0)/Pci(0x1F,0x2)/Sata(0x0,0xFFFF,0x0)',
    "Booting from DVD/CD..."])
def test_a_medium_is_started_when_nothing_comes_after_that(line):
    assert is_medium_started(["before", line, "", " "])
    assert not is_medium_started([line, "Welcome to GRUB!"])


@pytest.mark.parametrize("lines", [[], [""], ['BdsDxe: starting Boot0002 "UEFI PXEv4 (MAC:525400000001)"'],
                                   ['BdsDxe: loading Boot0001 "UEFI QEMU DVD-ROM QM00001 "']])
def test_nothing_else_is_the_start_of_a_medium(lines):
    assert not is_medium_started(lines)


# What the console of a virtual server with the lab's node image prints, shortened.
BOOT = (
    ('BdsDxe: starting Boot0003 "UEFI QEMU QEMU HARDDISK " from PciRoot(0x0)/Pci(0x4,0x0)/Scsi(0x0,0x0)',
     "its firmware starts a disk"),
    ("\x1b[1;1HWelcome to GRUB!", "its boot loader runs"),
    ("[    0.000000] Linux version 6.1.0-40-cloud-amd64 (debian-kernel@lists.debian.org)", "its kernel has started"),
    ("[    2.118330] systemd[1]: systemd 252.39-1~deb12u1 running in system mode (+PAM +AUDIT)", "its system starts"),
    ("[   41.9] cloud-init[512]: Cloud-init v. 22.4.2 finished at Sun, 29 Nov 2026 08:00:00 +0000.",
     "cloud-init has run"),
    ("Debian GNU/Linux 12 server-01 ttyS0\r", "its console asks for a login"),
)


@pytest.mark.parametrize("count", range(1, len(BOOT) + 1))
def test_how_far_a_system_is_is_the_last_that_its_console_says(count):
    assert stage([*(line for line, _text in BOOT[:count]), "something else"]) == BOOT[count - 1][1]


@pytest.mark.parametrize("line", [
    'BdsDxe: starting Boot0001 "UEFI QEMU DVD-ROM QM00001 " from x', 'BdsDxe: starting Boot0002 "UEFI PXEv4 (MAC)"',
    'BdsDxe: starting Boot0007 "EFI Internal Shell" from Fv(7CB8BDC9)/FvFile(7C04A583)',
    "GRUB loading.", "Linux version", "someone tty1"])
def test_what_boots_from_elsewhere_is_no_stage_of_a_system(line):
    assert stage([line]) == ""
