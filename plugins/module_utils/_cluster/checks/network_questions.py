# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can only be learned by asking the network: whether images can be fetched and an endpoint is taken."""
from __future__ import annotations

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor

from ..._bmc.preflight import image_reach
from ..._common.problems.problem import Problem
from ..._common.transfer import image_checks
from ..._common.transfer.image_server import image_fetcher

# An address that nobody has costs all of it. A lost packet is sent again after a second.
_ENDPOINT_TIMEOUT_SECONDS = 1.5


class NetworkQuestions:
    """What is asked of image servers and of the endpoint, in the background as long as there is other work.

    :param subject: what problems name
    :param description: as returned by ``cluster_description.read``
    :param ca_file: path of a file with the image servers' certificate authority; the system's when left out
    :param asked: where Ironic runs, from where image servers are asked too; None does not ask there
    :ivar warnings: what could not be asked, once :meth:`problems` has returned
    """

    def __init__(self, subject, description, ca_file, asked=None):
        fetch = image_fetcher(ca_file)
        images = _images(description)
        self.warnings: list[str] = []
        pool = ThreadPoolExecutor(len(images) + 2)
        self._images = [pool.submit(image_checks.reachability_problems, subject, field, image, fetch, "check_network")
                        for field, image in images]
        self._endpoint = pool.submit(_endpoint_problems, subject, description.endpoint)
        self._from_ironic = pool.submit(image_reach.problems, [
            image_reach.Image(subject, field, image) for field, image in images], asked) if asked else None
        pool.shutdown(wait=False)

    def problems(self, is_new):
        """Wait for the answers and return the problems that they name, a list of lines.

        :param is_new: whether there is no cluster yet, so that nothing may answer at its endpoint
        """
        answers = self._images + ([self._endpoint] if is_new else [])
        found, self.warnings = self._from_ironic.result() if self._from_ironic else ([], [])
        return [line for answer in answers for line in answer.result()] + found


def _images(description):
    """Return ``[(field, image)]`` of a description, each image once."""
    images = {}
    for group in description.groups:
        if group.get("image"):
            images.setdefault((group.get("image")["url"], group.get("image").get("checksum")),
                              (description.option_path(group, "image"), group.get("image")))
    return list(images.values())


def _endpoint_problems(subject, endpoint):
    if not endpoint or not endpoint_answers(endpoint["host"], endpoint["port"]):
        return []
    actual = f"{endpoint['host']}:{endpoint['port']}, where something answers already"
    return [Problem(
        "endpoint", subject, "endpoint", actual, "an address that nobody has",
        "choose another, or find out what has it")]


def endpoint_answers(host, port):
    """Say whether a server speaks TLS at an address, as an API server does.

    A connection alone proves nothing: a proxy on the way may accept it for any address.
    """
    try:
        with socket.create_connection((host, port), timeout=_ENDPOINT_TIMEOUT_SECONDS) as connection, \
                ssl.create_default_context().wrap_socket(connection, server_hostname=host):
            return True
    except ssl.SSLCertVerificationError:
        # It answered, with a certificate of a cluster's own authority.
        return True
    except (OSError, ValueError):
        # No name that can be looked up either.
        return False
