"""A server's disk: a sparse file of the disk's size."""
from __future__ import annotations

import errno
import hashlib
import os

from . import partitions
from .knobs import SMALL_DISK_BYTES

CHUNK_BYTES = 1024 * 1024
GIB = 1024 ** 3
# Both partition tables live here: protective MBR, header and entries, and the backup at the end.
METADATA_BYTES = 34 * 512
# In the first sector of a disk with a master boot record.
_IDENTIFIER_OFFSET = 440


class Disk:
    """One disk.

    :param spec: the disk's entry in ``servers.json``
    :param path: the file, made when it is first needed
    :param knobs: the server's Knobs
    """

    def __init__(self, spec, path, knobs):
        self.spec = spec
        self.name = spec["name"]
        self.path = path
        self._knobs = knobs

    @property
    def size(self):
        """Size in bytes, as the agent reports it."""
        return SMALL_DISK_BYTES if self._knobs.get("disk_too_small") else self.spec["size_gib"] * GIB

    @property
    def read_only(self):
        """Whether the disk is write-protected, as the kernel's flag for a block device says it."""
        return self._knobs.get("disks_read_only")

    def ensure(self):
        """Make the file if it is missing."""
        if not os.path.exists(self.path):
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            self.empty()

    def empty(self):
        """Make the disk all zeros."""
        self._fail_if_asked()
        with open(self.path, "wb") as file:
            file.truncate(self.spec["size_gib"] * GIB)

    def discard(self):
        """Forget all that is on the disk, whatever its knobs say: a controller has taken or released it."""
        if os.path.exists(self.path):
            os.unlink(self.path)

    def erase_metadata(self):
        """Wipe both partition tables; data between them stays, as on a real disk."""
        self._fail_if_asked()
        self.ensure()
        with open(self.path, "r+b") as file:
            file.write(bytes(METADATA_BYTES))
            file.seek(-METADATA_BYTES, os.SEEK_END)
            file.write(bytes(METADATA_BYTES))

    def write(self, chunks, offset=0):
        """Write chunks of bytes one after the other, leaving holes for zeros.

        What was there before must be zeros: call empty() first.

        :param chunks: iterable of bytes
        :param offset: byte to start at
        :returns: number of bytes
        :raises OSError: ENOSPC beyond the disk's end
        """
        written = 0
        with open(self.path, "r+b") as file:
            for chunk in chunks:
                self._fail_if_asked()
                if offset + written + len(chunk) > self.size:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.name)
                if chunk.count(0) != len(chunk):
                    file.seek(offset + written)
                    file.write(chunk)
                written += len(chunk)
        return written

    def has_partitions(self):
        """Return whether there is a partition table with at least one partition."""
        if not os.path.exists(self.path):
            return False
        try:
            return bool(partitions.table(self.path)["partitions"])
        except partitions.PartitionError:
            return False

    def identifier(self):
        """Return the number by which a boot loader finds the disk, as the agent writes it (``get_disk_identifier``)."""
        return f"0x{int.from_bytes(self.read(_IDENTIFIER_OFFSET, 4), 'little'):08x}"

    def digest(self, algorithm, length=None, offset=0):
        """Return the hexadecimal digest of a stretch of the disk.

        :param algorithm: name that hashlib knows
        :param length: bytes; to the end without it
        :param offset: byte to start at
        """
        self.ensure()
        digest = hashlib.new(algorithm)
        with open(self.path, "rb") as file:
            file.seek(offset)
            left = os.path.getsize(self.path) - offset if length is None else length
            while left > 0:
                chunk = file.read(min(CHUNK_BYTES, left))
                if not chunk:
                    break
                digest.update(chunk)
                left -= len(chunk)
        return digest.hexdigest()

    def read(self, offset, length):
        """Return bytes of the disk."""
        self.ensure()
        with open(self.path, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def _fail_if_asked(self):
        if self.read_only:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), self.name)
        if self._knobs.get("write_error"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), self.name)
