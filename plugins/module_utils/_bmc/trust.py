# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from where an Ironic runs whether it trusts the certificates of BMCs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._common import bounded_run
from . import address as bmc_address
from . import reach

ADVICE = ("give that Ironic the BMCs' certificate authority (ironic_bmc_ca_file, then playbook install), or a "
          "certificate that it trusts to the BMC")

# Runs in the container of Ironic, as the program of ``reach`` does. What is trusted is Ironic's option verify_ca, as
# get_verify_ca of ironic/drivers/utils.py and requests take it; a variable of the environment goes before the file.
_PROGRAM = r'''
import configparser, glob, json, os, socket, ssl
from concurrent.futures import ThreadPoolExecutor
SECONDS = 5
def configured(given):
    value = os.environ.get("OS_REDFISH__VERIFY_CA")
    folder = os.environ.get("IRONIC_CONF_DIR") or "/conf"
    files = [given] if given else [folder + "/ironic.conf", "/etc/ironic/ironic.conf", "/shared/conf/ironic.conf"]
    for path in files:
        if value is None and os.path.isfile(path):
            config = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
            try:
                config.read(path)
            except (configparser.Error, OSError, UnicodeDecodeError):
                continue
            if config.has_section("redfish"):
                value = config["redfish"].get("verify_ca")
    return value
def default():
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        if os.environ.get(name):
            return os.environ[name]
    try:
        import certifi
        return certifi.where()
    except ImportError:
        return None
def context_of(value):
    # None: nothing is verified.
    if value and not os.path.exists(value):
        if value.strip().lower() in ("0", "f", "false", "off", "n", "no"):
            return None
        if value.strip().lower() not in ("1", "t", "true", "on", "y", "yes"):
            raise OSError("no file or folder " + value)
        value = None
    value = value or default()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if value is None:
        context.load_default_certs()
    elif os.path.isdir(value):
        context.load_verify_locations(capath=value)
    else:
        context.load_verify_locations(cafile=value)
    return context
def main(questions):
    place, targets = questions[0], questions[1:]
    try:
        context = context_of(configured(place))
    except (OSError, ssl.SSLError) as exc:
        print(json.dumps([""] + ["its authorities can't be read: %s" % exc] * len(targets)))
        return
    def ask(target):
        if context is None:
            return ""
        try:
            with socket.create_connection(tuple(target), SECONDS) as wire:
                with context.wrap_socket(wire, server_hostname=target[0]):
                    return ""
        except ssl.SSLCertVerificationError as exc:
            return exc.verify_message or str(exc)
        except (OSError, ValueError):
            # Whether it is reached at all is asked elsewhere.
            return ""
    with ThreadPoolExecutor(max_workers=32) as pool:
        print(json.dumps([""] + list(pool.map(ask, targets))))
'''


def answers(bmcs: Sequence[tuple[str | None, bool]], asked: reach.Asked, config: str | None = None,
            run: Callable[..., Any] = bounded_run.run) -> list[reach.Answer | None]:
    """Return for each BMC why Ironic does not trust its certificate, None for one whose certificate is not looked at.

    :param bmcs: address of each BMC as its host has it, and whether Ironic verifies its certificate
    :param asked: where Ironic runs
    :param config: path of Ironic's configuration there; None where Ironic's images have it
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    :raises ReportedError: when nobody could be asked, which proves nothing about the certificates
    """
    targets = [_target(address) if verified else None for address, verified in bmcs]
    questions = sorted(set(target for target in targets if target is not None))
    if not questions:
        return [None for _target_ in targets]
    found = dict(zip(questions, reach.texts(_PROGRAM, [config, *questions], asked, run)[1:]))
    return [None if target is None else reach.Answer("%s:%d" % target, found[target]) for target in targets]


def _target(text: str | None) -> tuple[str, int] | None:
    """Return the host and port of a BMC that speaks Redfish by TLS; Ironic verifies no other."""
    parts = bmc_address.readable(text)
    return (parts.host, parts.effective_port) if parts and parts.uses_tls else None
