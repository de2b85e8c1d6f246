"""Run Ironic as its own program does, but compute the same PBKDF2 digest only once.

Ironic's Redfish driver hashes the BMC's password with 600000 rounds at every single request, to find the session that
it keeps; that is half a second of processor time each, and more than a small machine has for a few dozen servers. The
digests are the same, and so is everything else.
"""
from __future__ import annotations

import functools
import hashlib
import sys

CACHED_DIGESTS = 10000


def main():
    """Run Ironic with the command line's arguments."""
    hashlib.pbkdf2_hmac = functools.lru_cache(maxsize=CACHED_DIGESTS)(hashlib.pbkdf2_hmac)
    # Only now: Ironic's modules may take the function when they are loaded.
    from ironic.command import singleprocess
    return singleprocess.main()


if __name__ == "__main__":
    sys.exit(main())
