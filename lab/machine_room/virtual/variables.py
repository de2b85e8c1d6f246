"""What UEFI firmware keeps, as far as a BMC writes it: boot entries."""
from __future__ import annotations

from virt.firmware.efi.devpath import DevicePath
from virt.firmware.varstore import edk2

# Far from those that firmware and operating systems make.
HTTP_ENTRY = 0x99


def boot_next_by_http(path, uri):
    """Let the next boot be from a URI; the firmware asks DHCP for an address first.

    :param path: file of the firmware's variables
    :param uri: URI of a boot loader or of an image of a medium
    """
    store = edk2.Edk2VarStore(path)
    variables = store.get_varlist()
    variables.set_boot_entry(HTTP_ENTRY, "HTTP", DevicePath.uri(uri))
    variables.set_boot_next(HTTP_ENTRY)
    store.write_varstore(path, variables)
