"""HTTPS servers for WSGI applications, by cheroot."""
from __future__ import annotations

import socket

from cheroot import wsgi
from cheroot.ssl import builtin

from .wsgi import NoAnswer

THREADS = 16
THREAD_LIMIT = 64
QUEUE = 256


class Gateway(wsgi.Gateway_10):
    """Closes the connection, without a byte, when an application raises NoAnswer."""

    def respond(self):
        try:
            super().respond()
        except NoAnswer:
            self.req.close_connection = True
            self.req.sent_headers = True
            self.req.conn.socket.shutdown(socket.SHUT_RDWR)


def server(application, address, port, certificate_file, key_file):
    """Return a server that is bound to its port; its ``serve()`` runs until ``stop()``.

    :param application: WSGI application
    """
    result = wsgi.Server((address, port), application, numthreads=THREADS, max=THREAD_LIMIT, request_queue_size=QUEUE)
    result.gateway = Gateway
    result.ssl_adapter = builtin.BuiltinSSLAdapter(certificate_file, key_file)
    result.prepare()
    return result
