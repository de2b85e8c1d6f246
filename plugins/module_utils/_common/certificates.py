# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads X.509 certificates; pure."""
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

try:
    from cryptography import x509
    from cryptography.utils import CryptographyDeprecationWarning
except ImportError:
    # The modules that read certificates say that it is required.
    pass


def first(pem: bytes) -> Any:
    """Return the first certificate.

    :raises ValueError: when there is none
    """
    with _number_zero():
        return x509.load_pem_x509_certificate(pem)


def every(pem: bytes) -> list[Any]:
    """Return all certificates.

    :raises ValueError: when there is none
    """
    with _number_zero():
        return x509.load_pem_x509_certificates(pem)


@contextlib.contextmanager
def _number_zero() -> Iterator[None]:
    """Let a certificate have the number 0, as those of Cluster API's authorities (``NewSelfSignedCACert``)."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Parsed a serial number", CryptographyDeprecationWarning)
        yield
