# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in front of Ironic, with a certificate of its own; one lets in only who has one of the lab's authority."""
from __future__ import annotations

import contextlib
import socket
import ssl

from forwarder import Forwarder, both_ways


class TlsProxy(Forwarder):
    """Takes connections by TLS and hands their bytes on.

    :param address: to listen on
    :param pair: paths of the server's certificate and key
    :param authority: path of the authority of clients and of what is behind
    :param behind: host and port of Ironic
    """

    demands_certificate = False

    def __init__(self, address, pair, authority, behind):
        self._server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
        self._server.verify_mode = ssl.CERT_REQUIRED if self.demands_certificate else ssl.CERT_NONE
        self._server.load_cert_chain(*pair)
        self._client = ssl.create_default_context(cafile=authority)
        # Common names of clients that came in with a certificate, and how many were refused.
        self.clients, self.refused = [], 0
        super().__init__(address, behind)
        self.url = f"https://{address}:{self.port}/v1/"

    def handle(self, connection):
        try:
            # With TLS 1.3 a client without a certificate is refused only after its side of the handshake.
            secured = self._server.wrap_socket(connection, server_side=True)
        except OSError:
            self.refused += 1
            connection.close()
            return
        if self.demands_certificate:
            self.clients.append(dict(part[0] for part in secured.getpeercert()["subject"])["commonName"])
        with contextlib.suppress(OSError), secured, self._client.wrap_socket(
                socket.create_connection(self.behind), server_hostname=self.behind[0]) as far:
            both_ways(secured, far, self.answered)

    def answered(self, chunk):
        """Return what is sent in the place of bytes of an answer."""
        return chunk


class DemandingProxy(TlsProxy):
    """The same for clients with a certificate alone."""

    demands_certificate = True
