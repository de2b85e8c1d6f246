"""Run one of Ironic's programs as its own command does, but for three things.

Ironic's Redfish driver hashes the BMC's password with 600000 rounds at every single request, to find the session that
it keeps; that is half a second of processor time each, and more than a small machine has for a few dozen servers. The
same digest is computed only once here; the digests are the same, and so is everything else.

Each worker of Ironic 39's API binds the port for itself, so that with more than one all but the first end with "Address
already in use" (ironic/common/wsgi_service.py). Here they share it, as cheroot and the kernel can (SO_REUSEPORT).

Ironic keeps all logs that agents send, of each deployment, cleaning and inspection, and never deletes one. Here the
oldest of those in the plane's folder go when all have more than 1 GiB; a folder of the site's own is left alone.

Arguments: ironic, ironic-api or ironic-conductor, then its arguments.
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import os
import sys

AGENT_LOGS_BYTES = 1024 ** 3
CACHED_DIGESTS = 10000
# What stores the logs of agents. It is loaded when Ironic's options are known, and not before.
STORES_LOGS = "ironic.drivers.utils"
MODULES = {
    "ironic": "ironic.command.singleprocess",
    "ironic-api": "ironic.command.api",
    "ironic-conductor": "ironic.command.conductor",
}


def share_port():
    """Have Ironic's web servers share their port with other processes of this user."""
    from cheroot.server import HTTPServer
    prepare = HTTPServer.prepare

    def prepare_shared(server):
        server.reuse_port = True
        prepare(server)

    HTTPServer.prepare = prepare_shared


def prune(folder, limit_bytes=AGENT_LOGS_BYTES):
    """Delete the oldest logs of agents in a folder until all have no more than a limit; the newest one stays."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            # Another conductor may delete it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if entry.name.endswith(".tar.gz") and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, entry.path, status.st_size))
    total_bytes = 0
    for number, (_time, path, size_bytes) in enumerate(sorted(found, reverse=True)):
        total_bytes += size_bytes
        if number and total_bytes > limit_bytes:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


class LimitedLogs:
    """Finder of modules that has Ironic prune a folder whenever it has stored a log of an agent.

    :param folder: path of the plane's folder of these logs
    """

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, name, path=None, target=None):
        """Return the spec of the module that stores them, None for every other one."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name == STORES_LOGS else None
        if spec is not None:
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                self.limit(module)

            spec.loader.exec_module = executed
        return spec

    def limit(self, module):
        """Have the loaded module prune the folder."""
        store = getattr(module, "store_ramdisk_logs", None)
        if store is None:
            return

        @functools.wraps(store)
        def stored(*arguments, **keywords):
            try:
                return store(*arguments, **keywords)
            finally:
                # Without the folder no log was kept there. What cannot be pruned is no failure of the server's step.
                with contextlib.suppress(OSError):
                    prune(self._folder)

        module.store_ramdisk_logs = stored


def main(program, *arguments):
    """Run a program with its arguments."""
    hashlib.pbkdf2_hmac = functools.lru_cache(maxsize=CACHED_DIGESTS)(hashlib.pbkdf2_hmac)
    if program == "ironic-api":
        share_port()
    # As supervisord's configuration has it.
    if "METAL3_LAB_DIR" in os.environ:
        sys.meta_path.insert(0, LimitedLogs(os.path.join(os.environ["METAL3_LAB_DIR"], "log", "deploy")))
    sys.argv = [program, *arguments]
    # Only now: Ironic's modules may take the functions when they are loaded.
    return importlib.import_module(MODULES[program]).main()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
