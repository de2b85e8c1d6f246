# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a BMC reads a medium of an image server: which device is tried, and what its answer means; pure."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..addresses import hardware as bmc_hardware
from ..preflight.verdict import PROBLEM, Finding, ok, unknown

INSERTED, REFUSED, NOT_SHOWN, LEFT = "inserted", "refused", "not_shown", "left"
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+/[A-Za-z0-9._~%/-]+\Z")
# What to do about a certificate that a BMC does not trust.
TRUST = ("import its authority into the BMC, switch the BMC's verification of media servers off, or serve images for "
         "virtual media by HTTP")
# What BMCs and their HTTP clients say, and what to do then; the first that fits is meant.
_CAUSES = (
    (r"certificate|ssl|\btls\b|x509|handshake|self.?signed",
     f"the BMC does not trust the image server's certificate: {TRUST}"),
    (r"\b404\b|not found|no such file|does not exist", "correct the path of the URL"),
    (r"\b40[13]\b|unauthori|forbidden|permission|privilege|access denied",
     "let the image server serve it without a login, and give the BMC's account the role Administrator"),
    (r"resolve|name or service|dns|unknown host", "give the image server by its address, or the BMC a name server"),
    (r"timed? ?out|unreachable|refused|no route|connect|network|socket|max retries",
     "let the BMC's network reach the image server's port, through firewalls and routers"),
    (r"licen[cs]e", "license virtual media at the BMC"),
    (r"protocol|scheme|unsupported|not supported|format",
     "use the other of http and https, and a file that ends in .iso"),
)


class Attempt(NamedTuple):
    """What came of a medium.

    :ivar stage: ``inserted``, ``refused`` by the BMC, ``not_shown`` (accepted, never inserted), ``left`` (not ejected),
        or empty when nothing was tried
    :ivar device: the BMC's name of the device
    :ivar text: what the BMC said, or the state that it showed last
    :ivar late: whether the BMC may still insert it, when nobody ejects it any more
    """

    stage: str
    device: str
    text: str
    late: bool = False


def url_problem(url: str) -> Problem | None:
    """Return what is wrong with the URL of a medium: it is handed to BMCs, so it holds no password."""
    if _URL.match(url):
        return None
    try:
        hidden = bool(urlsplit(url).username or urlsplit(url).password)
    except ValueError:
        hidden = True
    return Problem("value", "", "url", "(not shown: it holds a password)" if hidden else show(url),
                   "http or https, a server and a path of a file, without user name, password and query",
                   "name a file of an image server that the BMCs reach, for example http://192.0.2.1:8080/agent.iso")


def device(facts: Mapping[str, Any], url: str) -> tuple[dict[str, Any] | None, str]:
    """Return the virtual CD to try, or None and why there is none.

    One that holds a medium is in use, by Ironic or by somebody else: it is never ejected.

    :param facts: facts of a server that was read
    :param url: the medium's
    """
    obstacle = bmc_hardware.virtual_media_obstacle(dict(facts))
    if obstacle:
        return None, obstacle
    protocol = urlsplit(url).scheme.upper()
    discs = [media for media in facts["virtual_media"]
             if set(media["media_types"]) & set(bmc_hardware.DISC_TYPES) and media["insert_supported"]]
    fitting = [media for media in discs if not media["transfer_protocols"] or protocol in media["transfer_protocols"]]
    if not fitting:
        return None, f"no virtual CD loads by {protocol}"
    free = [media for media in fitting if not media["inserted"]]
    if not free:
        used = ", ".join(f"{media['name']} holds {media['image'] or 'a medium'}" for media in fitting)
        return None, f"in use: {used}"
    return free[0], ""


def finding(host: Mapping[str, Any], facts: Mapping[str, Any], attempt: Attempt, url: str) -> Finding:
    """Return the verdict on a server's BMC.

    :param host: the server with its ``address``, a ``bmc_address.BmcAddress``
    :param facts: facts of the server
    :param attempt: what came of the medium
    :param url: the medium's
    """
    if facts["error"]:
        return Finding(PROBLEM, "bmc.address", f"{host['address'].authority}: not asked: "
                       f"{facts['error']['stage']}: {facts['error']['text']}", "a BMC that can be logged in to",
                       "run playbook preflight, which says what is in the way")
    if attempt.stage == INSERTED:
        return ok(f"{attempt.device} took {url}, and was ejected again")
    # Ironic finds such a device in use, and the server boots from it.
    left = f"eject it at the BMC {host['address'].authority}: {attempt.device}"
    later = f"; it may still insert it: when it does, {left}" if attempt.late else ""
    if attempt.stage == REFUSED:
        return Finding(PROBLEM, "bmc.address", f"{attempt.device} did not take {url}: {attempt.text}",
                       "a BMC that reads media of that server", cause(attempt.text) + later)
    if attempt.stage == NOT_SHOWN:
        return Finding(PROBLEM, "bmc.address",
                       f"{attempt.device} accepted {url} but does not show it as inserted: {attempt.text}",
                       "a medium that is inserted", cause(attempt.text) + later)
    if attempt.stage == LEFT:
        return Finding(PROBLEM, "bmc.address", f"{attempt.device} took {url} and could not eject it: {attempt.text}",
                       "an empty device", left)
    return unknown(f"not tried: {attempt.text}")


def cause(text: str) -> str:
    """Return what to do about what a BMC says of a medium.

    :param text: one line; it is only compared
    """
    return next((hint for pattern, hint in _CAUSES if re.search(pattern, text, re.IGNORECASE)),
                "look at the BMC's log, and at the image server's: whether a request came, and how it was answered")
