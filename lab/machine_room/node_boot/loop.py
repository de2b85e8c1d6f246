"""Loop devices that the kernel gives back when nobody has them open."""
from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct

CONTROL = "/dev/loop-control"
LOOP_CTL_GET_FREE = 0x4C82
LOOP_CONFIGURE = 0x4C0A
LO_FLAGS_READ_ONLY = 1
LO_FLAGS_AUTOCLEAR = 4
LO_FLAGS_DIRECT_IO = 16
LOOP_MAJOR = 7
ATTEMPTS = 20
# struct loop_config of linux/loop.h: fd, block_size, struct loop_info64, reserved.
CONFIG = struct.Struct("=II5Q4I64s64s32s2Q8Q")


def configuration(descriptor, offset, size, flags):
    """Return the bytes of a struct loop_config.

    :param descriptor: open file
    :param offset: first byte of the file to show
    :param size: number of bytes
    :param flags: LO_FLAGS_...
    """
    return CONFIG.pack(descriptor, 0, 0, 0, 0, offset, size, 0, 0, 0, flags, b"", b"", b"", *([0] * 10))


class LoopDevice:
    """A stretch of a file as a block device, until close() and until whoever mounted it has unmounted it.

    :param path: the file
    :param offset: first byte
    :param size: number of bytes
    :param read_only: whether to refuse writes
    :raises OSError: when there is no free device
    """

    def __init__(self, path, offset=0, size=0, read_only=False):
        flags = LO_FLAGS_AUTOCLEAR | (LO_FLAGS_READ_ONLY if read_only else 0)
        with open(path, "rb" if read_only else "r+b") as file:
            for attempt in range(ATTEMPTS):
                try:
                    self._open(file.fileno(), offset, size, flags)
                    return
                except OSError as error:
                    # Somebody else took the free device in between.
                    if error.errno != errno.EBUSY or attempt == ATTEMPTS - 1:
                        raise

    def _open(self, descriptor, offset, size, flags):
        with open(CONTROL, "rb") as control:
            self.number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
        self.path = f"/dev/loop{self.number}"
        if not os.path.exists(self.path):
            os.mknod(self.path, 0o600 | stat.S_IFBLK, os.makedev(LOOP_MAJOR, self.number))
        device = os.open(self.path, os.O_RDONLY if flags & LO_FLAGS_READ_ONLY else os.O_RDWR)
        try:
            try:
                fcntl.ioctl(device, LOOP_CONFIGURE, configuration(descriptor, offset, size, flags | LO_FLAGS_DIRECT_IO))
            except OSError as error:
                # Not every file system can do without the page cache, or at this offset.
                if error.errno != errno.EINVAL:
                    raise
                fcntl.ioctl(device, LOOP_CONFIGURE, configuration(descriptor, offset, size, flags))
        except BaseException:
            os.close(device)
            raise
        self._device = device

    def close(self):
        """Let go of the device."""
        os.close(self._device)
