# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long texts and large numbers from outside: what reads them needs a time in proportion to their length."""
from __future__ import annotations

import pytest
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import ipmi, redfish_facts
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.conversion import documents
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import registries
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import plain_text
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import image_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import errors as host_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import errors as ironic_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import quantity
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses import errors as kube_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion import place, stored

# A field of an object may be fifty times as long (etcd takes 1.5 MiB).
LENGTH = 30_000
UNITS = (
    "a", "0", " ", "\n", ":", "@", "//", "://", "passw", "password ", "token", "secret=", "image", "Image download",
    "Timeout reached", "configdrive ", "timed out", "writing", "failed", "-----BEGIN CERTIFICATE-----", "a:", "a.",
    "enroll ", "%", "1", "1m", "1.", "\n ", "# ",
    "\x1b[", "=", "x=", '"', "'", "{", "\\", "<", "http://a:", "//a@", "a@b:")


def unreadable(read, text):
    with pytest.raises(ValueError):
        read(text)


def machine(timeout):
    """Return a Machine as a plane that serves only v1beta1 has it."""
    return {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": {"name": "m"},
            "spec": {"clusterName": "c", "nodeDrainTimeout": timeout}}


def has_comments(text):
    """Ask of a document that is converted."""
    documents.loses_comments(documents.Document(text * 4, [(1, documents.Converted(2, "", (), ()))], None))


READERS = {
    "a duration": lambda text: stored.newer(machine(text)),
    "a manifest that is converted": has_comments,
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
            within_processor_time(1.5, READERS[reader], text)


@pytest.mark.parametrize("text", ["1e999999999", "1E-999999999", "1e1000000", "9" * 5000, "1" * 70])
def test_a_quantity_of_any_size_is_refused(text):
    with pytest.raises(ValueError, match="expected a number"):
        quantity.to_integer(text)


def test_quantities_of_kubernetes_are_read():
    assert [quantity.to_integer(text) for text in ("1.5Gi", "5.", ".5k", "1e3", "1E", "12")] == [
        1610612736, 5, 500, 1000, 10 ** 18, 12]


@pytest.mark.parametrize("text, seconds", [
    ("9" * 400 + "h", 2 ** 31 - 1), ("-" + "9" * 400 + "h", 1 - 2 ** 31), ("." + "9" * 400 + "h", 3600),
    ("2562048h", 2 ** 31 - 1), ("9" * 5000, None), ("\u0663h", None)])
def test_a_duration_of_any_size_is_read_or_refused(text, seconds):
    notes = place.Notes()
    assert place.seconds(place.Place({}, "spec", notes), "nodeDrainTimeout", text) == seconds
    assert bool(notes.mistakes) is (seconds is None)
    assert stored.newer(machine(text))["apiVersion"].endswith("v1beta2")
