"""Run one of Ironic's programs as its own command does, but for two things.

Ironic's Redfish driver hashes the BMC's password with 600000 rounds at every single request, to find the session that
it keeps; that is half a second of processor time each, and more than a small machine has for a few dozen servers. The
same digest is computed only once here; the digests are the same, and so is everything else.

Each worker of Ironic 39's API binds the port for itself, so that with more than one all but the first end with "Address
already in use" (ironic/common/wsgi_service.py). Here they share it, as cheroot and the kernel can (SO_REUSEPORT).

Arguments: ironic, ironic-api or ironic-conductor, then its arguments.
"""
from __future__ import annotations

import functools
import hashlib
import importlib
import sys

CACHED_DIGESTS = 10000
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


def main(program, *arguments):
    """Run a program with its arguments."""
    hashlib.pbkdf2_hmac = functools.lru_cache(maxsize=CACHED_DIGESTS)(hashlib.pbkdf2_hmac)
    if program == "ironic-api":
        share_port()
    sys.argv = [program, *arguments]
    # Only now: Ironic's modules may take the functions when they are loaded.
    return importlib.import_module(MODULES[program]).main()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
