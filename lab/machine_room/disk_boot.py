"""How a server starts the operating system on its disk."""
from __future__ import annotations

from . import partitions


class BootError(Exception):
    """The server can't start what is on its disk; the text goes to its console."""


class DiskBoot:
    """Records that the operating system was started, without running it.

    A subclass that really runs it overrides all methods. Each is called with the server's lock held and must return
    within a few seconds. A system that ends by itself is reported to the server: ``server.system_ended(reboot)``.
    """

    def power_on(self, server):
        """Start the operating system on ``server.boot_disk()``.

        :raises BootError: when there is nothing to start
        """
        disk = server.boot_disk()
        if disk is None:
            raise BootError("no disk has a partition table")
        found = partitions.table(disk.path)["partitions"]
        server.console.print("booting from %s: %d partitions", disk.name, len(found))

    def soft_off(self, server):
        """Ask the operating system to shut down; it calls ``server.system_ended(False)`` when it has."""
        server.system_ended(False)

    def hard_off(self, server):
        """End the operating system at once; when this returns, nothing of it is left."""

    def fail_disk(self, server):
        """Let the disk that the operating system runs on die under it."""

    def is_running(self, server):
        """Return whether the operating system still runs; asked after a restart of the machine room."""
        return True
