# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The question for Ironic's API that a pod asks where the Bare Metal Operator runs, and its answer; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .._common import printed_json
from .._common.problem import Problem
from .._kube import short_pod
from . import fitness

Object = dict[str, Any]

NAME = "metal3-baremetal-ironic-check"
_SECONDS = 10
# It answers, whoever asks: the login is not given to the pod.
_ANSWERED = (200, 300, 401, 403)

# The question is an argument, never a part of the program.
PROGRAM = r'''
import http.client, json, socket, ssl, sys
def ask(question):
    place, seconds = (question["host"], question["port"]), question["seconds"]
    if question["connect_only"]:
        socket.create_connection(place, seconds).close()
        return {}
    if question["tls"]:
        context = ssl.create_default_context(cadata=question["authority"] or None)
        if not question["verify"]:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(*place, timeout=seconds, context=context)
    else:
        connection = http.client.HTTPConnection(*place, timeout=seconds)
    connection.request("GET", question["path"])
    return {"status": connection.getresponse().status}
try:
    found = ask(json.loads(sys.argv[1]))
except ssl.SSLCertVerificationError as exc:
    found = {"words": "a certificate that is not verified (%s)" % exc.verify_message}
except socket.timeout:
    found = {"words": "no answer in time"}
except socket.gaierror:
    found = {"words": "no address for that name"}
except (OSError, http.client.HTTPException) as exc:
    found = {"words": str(getattr(exc, "strerror", None) or exc or type(exc).__name__).lower()}
print(json.dumps(found))
'''


def question(params: Mapping[str, Any], server: str, authority: str) -> Object:
    """Return what the pod is to ask.

    :param params: options of the module ``ironic_check``
    :param server: URL of Ironic's API, as it was found from here
    :param authority: certificates that Ironic's is verified by, in PEM; empty for those of the pod's image
    """
    parts = urlsplit(server)
    tls = parts.scheme == "https"
    return {"host": parts.hostname, "port": parts.port or (443 if tls else 80), "tls": tls, "authority": authority,
            "path": parts.path or "/", "verify": params.get("validate_certs") is not False, "seconds": _SECONDS,
            # Its key is not given to the pod.
            "connect_only": bool(params.get("client_cert"))}


def not_asked(words: str, place: str) -> Problem:
    """Return the problem of a pod that could not ask, which says nothing about Ironic.

    :param words: why
    :param place: where the pod is
    """
    return Problem(fitness.CODE, "ironic", "from_pod", f"no answer from {place}: {words}",
                   "a pod that has asked Ironic", short_pod.HINT)


def problems(log: bytes, asked: Object, place: str) -> list[Problem]:
    """Return what a pod has found to be wrong.

    :param log: what it has printed
    :param asked: from :func:`question`
    :param place: where the pod is
    """
    answer = printed_json.last_line(log)
    if not isinstance(answer, dict):
        return [not_asked(short_pod.words(log.decode(errors="replace")) or "it printed nothing", place)]
    status = answer.get("status")
    words = answer.get("words") or (f"HTTP {status}" if status is not None and status not in _ANSWERED else "")
    if not words:
        return []
    return [Problem(fitness.CODE, "ironic", "endpoint",
                    f"{short_pod.words(str(words))} at {asked['host']}:{asked['port']}, asked from {place}",
                    "an Ironic that answers where the Bare Metal Operator runs",
                    "look at the routes, NetworkPolicies and firewalls between the cluster's nodes and Ironic, or "
                    "correct the endpoint")]
