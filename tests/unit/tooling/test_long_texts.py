# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long texts and large numbers from outside: what reads them needs a time in proportion to their length."""
from __future__ import annotations

import time

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc import ipmi, redfish_facts
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import registries
from ansible_collections.metal3.baremetal.plugins.module_utils._common import image_checks, plain_text, redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._host import errors as host_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic import errors as ironic_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._kube import errors as kube_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._kube import quantity

# A field of an object may be fifty times as long (etcd takes 1.5 MiB).
LENGTH = 30_000
UNITS = (
    "a", "0", " ", "\n", ":", "@", "//", "://", "passw", "password ", "token", "secret=", "image", "Image download",
    "Timeout reached", "configdrive ", "timed out", "writing", "failed", "-----BEGIN CERTIFICATE-----", "a:", "a.",
    "enroll ", "%", "\x1b[", "=", "x=", '"', "'", "{", "\\", "<", "http://a:", "//a@", "a@b:")


def unreadable(read, text):
    with pytest.raises(ValueError):
        read(text)


READERS = {
    "a host's error": lambda text: host_errors.explain("", text),
    "a refusal of Ironic": ironic_errors.fault_of,
    "a refusal of Kubernetes": lambda text: kube_errors.error_from_answer(500, {"message": text}, "a"),
    "a URL": redaction.redacted,
    "a text that may hold secrets": redaction._parts,
    "text for the terminal": plain_text.plain,
    "a quantity": lambda text: unreadable(quantity.parse, text + "x"),
    "what ipmitool prints": ipmi.read,
    "a clock": lambda text: redfish_facts.clock_drift(text, (0, 0)),
    "a certificate": registries._CERTIFICATES.fullmatch,
    "a checksum file": lambda text: image_checks.checksum_in_file(text, "https://x/node.qcow2"),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_long_text_takes_no_square_of_its_length(reader):
    for unit in UNITS:
        for begin in ("", "-----BEGIN CERTIFICATE-----", "//", "image"):
            text = begin + unit * (LENGTH // len(unit)) + "\x00"
            began = time.process_time()
            READERS[reader](text)
            assert time.process_time() - began < 1.5, (unit, begin)


@pytest.mark.parametrize("text", ["1e999999999", "1E-999999999", "1e1000000", "9" * 5000, "1" * 70])
def test_a_quantity_of_any_size_is_refused(text):
    with pytest.raises(ValueError, match="expected a number"):
        quantity.to_integer(text)


def test_quantities_of_kubernetes_are_read():
    assert [quantity.to_integer(text) for text in ("1.5Gi", "5.", ".5k", "1e3", "1E", "12")] == [
        1610612736, 5, 500, 1000, 10 ** 18, 12]
