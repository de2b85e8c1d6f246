# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks in Ironic's container whether it trusts certificates; a program of its own, which needs Python 3.9 at most."""
from __future__ import annotations

import configparser
import functools
import json
import os
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor

_WORKERS = 32


def trust(config: str | None, host: str, port: int, seconds: float) -> dict[str, object]:
    """Return in ``words`` why Ironic does not trust the certificate of a BMC, empty when it does.

    :param config: path of Ironic's configuration; None where Ironic's images have it
    """
    try:
        context = _context(config)
    except (OSError, ssl.SSLError) as exc:
        return {"words": f"its authorities can't be read: {exc}"}
    if context is None:
        return {"words": ""}
    try:
        with socket.create_connection((host, port), seconds) as wire, \
                context.wrap_socket(wire, server_hostname=host):
            return {"words": ""}
    except ssl.SSLCertVerificationError as exc:
        return {"words": exc.verify_message or str(exc)}
    except (OSError, ValueError):
        # Whether it is reached at all is asked elsewhere.
        return {"words": ""}


@functools.cache
def _context(config: str | None) -> ssl.SSLContext | None:
    """Return what Ironic verifies certificates with, None when it verifies none.

    What is trusted is Ironic's option verify_ca, as get_verify_ca of ironic/drivers/utils.py and requests take it.
    """
    value = _configured(config)
    if value and not os.path.exists(value):
        if value.strip().lower() in ("0", "f", "false", "off", "n", "no"):
            return None
        if value.strip().lower() not in ("1", "t", "true", "on", "y", "yes"):
            raise OSError("no file or folder " + value)
        value = None
    value = value or _default()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if value is None:
        context.load_default_certs()
    elif os.path.isdir(value):
        context.load_verify_locations(capath=value)
    else:
        context.load_verify_locations(cafile=value)
    return context


def _configured(given: str | None) -> str | None:
    """Return the value of Ironic's option; a variable of the environment goes before the file."""
    value = os.environ.get("OS_REDFISH__VERIFY_CA")
    folder = os.environ.get("IRONIC_CONF_DIR") or "/conf"
    files = [given] if given else [folder + "/ironic.conf", "/etc/ironic/ironic.conf", "/shared/conf/ironic.conf"]
    for path in files:
        if value is None and os.path.isfile(path):
            parsed = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
            try:
                parsed.read(path)
            except (configparser.Error, OSError, UnicodeDecodeError):
                continue
            if parsed.has_section("redfish"):
                value = parsed["redfish"].get("verify_ca")
    return value


def _default() -> str | None:
    """Return the authorities that requests takes where none are named."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        if os.environ.get(name):
            return os.environ[name]
    try:
        import certifi
        return certifi.where()
    except ImportError:
        return None


def main(questions: list[list[object]]) -> None:
    """Print the answers to questions, each the arguments of :func:`trust`."""
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        sys.stdout.write(json.dumps(list(pool.map(lambda question: trust(*question), questions))) + "\n")
