"""Takes the disk away from under a system that runs."""
from __future__ import annotations

import fcntl
import os
import struct

# linux/fs.h: EXT4_IOC_SHUTDOWN; the file system writes nothing any more, its journal neither.
SHUTDOWN, WITHOUT_JOURNAL = 0x8004587D, 2


def shut_down(pid):
    """Let whatever the root file system of a process is asked for end in an input/output error.

    What is in memory already goes on, as on a machine whose disk has died.

    :param pid: number of the process
    :raises OSError: when it has ended, or its root is of another kind than ext4
    """
    descriptor = os.open(f"/proc/{pid}/root", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", WITHOUT_JOURNAL))
    finally:
        os.close(descriptor)
