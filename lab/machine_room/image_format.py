"""Which disk images may be converted: what an image's header says is looked at before qemu-img opens the image.

A qcow2 image can name other files, a backing file or an external data file, and qemu-img would read them: files of the
machine that the lab runs on. So can images of other formats. Only self-contained qcow2 images are converted.
"""
from __future__ import annotations

import json
import struct

QCOW2, RAW = "qcow2", "raw"
MAGIC = b"QFI\xfb"
# Up to the header's length: magic, version, backing file's offset and length, … incompatible features. All big-endian.
HEADER = struct.Struct(">4sIQI")
FEATURES = struct.Struct(">Q")
FEATURES_OFFSET = 72
VERSIONS = (2, 3)
# Incompatible features: 0 dirty, 1 corrupt, 2 external data file, 3 compression type, 4 extended L2 entries.
EXTERNAL_DATA_FILE = 1 << 2
KNOWN_FEATURES = 0b11111
HEADER_BYTES = 104
# Fields of "qemu-img info" that name another file.
OTHER_FILES = ("backing-filename", "full-backing-filename", "backing-image")


class ImageFormatError(Exception):
    """An image is not what it is said to be, or not safe to open."""


def check_header(header, claimed):
    """Refuse what is no self-contained qcow2 image.

    :param header: the first HEADER_BYTES of the image, or fewer if it has fewer
    :param claimed: the format that its owner gave, None if none
    :raises ImageFormatError: for another format, a reference to another file, or a broken header
    """
    found = QCOW2 if header.startswith(MAGIC) else RAW
    if claimed not in (None, QCOW2):
        raise ImageFormatError(f"Security: image format is {found}, but {claimed} was claimed; expected raw or qcow2")
    if found != QCOW2:
        raise ImageFormatError(f"Security: image has no qcow2 header, but {claimed or QCOW2} was claimed")
    if len(header) < FEATURES_OFFSET:
        raise ImageFormatError(f"qcow2 header: {len(header)} bytes, expected at least {FEATURES_OFFSET}")
    _magic, version, backing_offset, backing_length = HEADER.unpack_from(header)
    if version not in VERSIONS:
        raise ImageFormatError(f"qcow2 version {version}: expected 2 or 3")
    if backing_offset or backing_length:
        raise ImageFormatError("Security: the qcow2 image has a backing file; expected a self-contained image, as "
                               "qemu-img convert makes it")
    if version == 2:
        return
    if len(header) < HEADER_BYTES:
        raise ImageFormatError(f"qcow2 header: {len(header)} bytes, expected at least {HEADER_BYTES}")
    features = FEATURES.unpack_from(header, FEATURES_OFFSET)[0]
    if features & EXTERNAL_DATA_FILE:
        raise ImageFormatError("Security: the qcow2 image has an external data file; expected a self-contained image, "
                               "as qemu-img convert makes it")
    if features & ~KNOWN_FEATURES:
        raise ImageFormatError(f"qcow2 header: unknown features {features & ~KNOWN_FEATURES:#x}")


def virtual_size(text):
    """Return the size in bytes out of what ``qemu-img info -f qcow2 --output json`` printed about an image.

    :param text: its output
    :raises ImageFormatError: for anything but a self-contained qcow2 image
    """
    try:
        facts = json.loads(text)
    except ValueError as error:
        raise ImageFormatError(f"qemu-img info: no JSON: {error}") from error
    if not isinstance(facts, dict) or facts.get("format") != QCOW2:
        raise ImageFormatError("qemu-img info: expected an image of format qcow2")
    details = facts.get("format-specific")
    data = details.get("data") if isinstance(details, dict) else None
    others = [name for name in OTHER_FILES if facts.get(name)]
    if others or (isinstance(data, dict) and data.get("data-file")):
        raise ImageFormatError(f"Security: the qcow2 image refers to another file ({(others or ['data-file'])[0]})")
    size = facts.get("virtual-size")
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise ImageFormatError(f"qemu-img info: virtual-size {size!r}: expected a number of bytes")
    return size
