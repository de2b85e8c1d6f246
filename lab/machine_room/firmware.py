"""What the firmware does at power on: find the agent ramdisk's kernel command line where the boot device has it.

The ramdisk itself is simulated; where it comes from and what Ironic sends it is not.
"""
from __future__ import annotations

import io
import os
import re
import urllib.parse

from .web import Unreachable

# Ironic's [DEFAULT]grub_config_path and what it puts there.
GRUB_FILES = ("/boot/grub/grub.cfg", "/EFI/BOOT/grub.cfg")
GRUB_LINE = re.compile(r"^\s*linux(?:efi)?\s+(\S+)\s+(.*?)(?:\s--)?\s*$", re.MULTILINE)
IPXE_LINE = re.compile(r"^\s*kernel\s+(?:--\S+\s+\d+\s+)?(\S+)\s+(.*?)(?:\s\|\|.*)?$", re.MULTILINE)
# Where Ironic's boot.ipxe goes on for a machine none of whose cards has a configuration ([pxe]ipxe_fallback_script).
FALLBACK_LINE = re.compile(r"^:loop_done\s*\n\s*chain\s+(\S+)", re.MULTILINE)
IPXE_MAC = "${mac}"


class FirmwareError(Exception):
    """Nothing to boot; the text goes to the console."""


def _parameters(text):
    pairs = [word.split("=", 1) for word in text.split() if "=" in word]
    return dict(pairs)


def _iso_file(path, names):
    # Only in the services' environment; network boot doesn't need it, and unit tests do without.
    import pycdlib
    from pycdlib import pycdlibexception
    image = pycdlib.PyCdlib()
    try:
        image.open(path)
    except (pycdlibexception.PyCdlibException, OSError) as error:
        raise FirmwareError(f"virtual CD: not a readable ISO 9660 image: {error}") from error
    try:
        for name in names:
            content = io.BytesIO()
            try:
                image.get_file_from_iso_fp(content, rr_path=name)
            except pycdlibexception.PyCdlibException:
                continue
            return content.getvalue().decode("utf-8", "replace")
    finally:
        image.close()
    raise FirmwareError(f"virtual CD: no boot loader configuration ({', '.join(names)})")


def from_cd(path):
    """Return the kernel command line in an ISO as a mapping.

    :param path: the ISO that the BMC downloaded, or None
    :raises FirmwareError: if there is no medium, or nothing to boot on it
    """
    if not path or not os.path.exists(path):
        raise FirmwareError("virtual CD: no medium inserted")
    found = GRUB_LINE.search(_iso_file(path, GRUB_FILES))
    if not found:
        raise FirmwareError("virtual CD: its boot loader configuration names no kernel")
    return _parameters(found.group(2))


def from_network(web, boot_url, macs):
    """Return the kernel command line that iPXE would get for one of the NICs, as a mapping.

    DHCP and TFTP are left out: ``boot_url`` is what they would have said.

    :param web: a Web
    :param boot_url: folder with Ironic's ``boot.ipxe`` and ``pxelinux.cfg``
    :param macs: the NICs' MAC addresses in the order they are tried
    :raises FirmwareError: if no NIC has a configuration and unknown machines have none, or the kernel isn't there
    """
    for mac in macs:
        url = f"{boot_url}/pxelinux.cfg/{mac.replace(':', '-')}"
        script = _script(web, url)
        if script is not None:
            return _booted(web, url, script, mac)
    start = _script(web, f"{boot_url}/boot.ipxe")
    fallback = FALLBACK_LINE.search(start or "")
    if fallback:
        url = urllib.parse.urljoin(f"{boot_url}/boot.ipxe", fallback.group(1))
        script = _script(web, url)
        if script is not None:
            return _booted(web, url, script, macs[0])
    raise FirmwareError(f"network boot: no configuration found for {', '.join(macs)}")


def _script(web, url):
    """Return the text of an iPXE script, None when there is none."""
    try:
        answer = web.request(url)
    except Unreachable as error:
        raise FirmwareError(f"network boot: {error}") from error
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise FirmwareError(f"network boot: {url} answered {answer.status}")
    return answer.body.decode("utf-8", "replace")


def _booted(web, url, script, mac):
    found = IPXE_LINE.search(script)
    # For an adopted node, which boots from its disk, Ironic leaves the kernel out and the parameters in.
    if not found or "://" not in found.group(1):
        raise FirmwareError(f"network boot: {url} names no kernel")
    kernel = web.request(found.group(1), method="HEAD")
    if kernel.status != 200:
        raise FirmwareError(f"network boot: kernel {found.group(1)} answered {kernel.status}")
    return _parameters(found.group(2).replace(IPXE_MAC, mac))
