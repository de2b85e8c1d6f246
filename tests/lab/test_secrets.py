# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's secrets are random strings: none occurs in output, process arguments or logs, as text or in base64."""
from __future__ import annotations

import base64
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def secrets(lab):
    """Return what must not be seen: {file: its forms}."""
    found = {}
    for path in (lab.dir / "secrets").rglob("*"):
        # Names of accounts are no secrets.
        if path.is_file() and not path.name.endswith("username"):
            text = path.read_text().strip()
            user = path.with_name(path.name.replace("password", "username"))
            pair = "%s:%s" % (user.read_text().strip(), text)
            found[path] = [form.encode() for form in (text, _base64(text), _base64(pair))]
    assert len(found) >= 2 + len(lab.servers)
    return found


def _base64(text):
    return base64.b64encode(text.encode()).decode().rstrip("=")


def seen(secrets, data):
    """Return the files of the secrets that occur in the data."""
    return [str(path) for path, forms in secrets.items() if any(form in data for form in forms)]


def test_no_output_shows_a_secret(lab, secrets):
    whole = lab.playbook("lab", "-vvv", "--diff").ok()
    assert whole.changed() == 0, whole.output
    changes = lab.playbook("enroll", "-vvv", "--diff", "-e", '{"bmh_labels": {"canary": "yes"}}').ok()
    back = lab.playbook("enroll", "-vvv", "--diff").ok()
    assert changes.changed() == back.changed() == 1
    fails = lab.playbook("enroll", "-vvv", "--diff", "-e", '{"bmh_boot_mode": "legcy"}').failed("legcy")
    for run in (whole, changes, back, fails):
        assert seen(secrets, run.output.encode()) == []


def test_no_process_has_a_secret_among_its_arguments(secrets):
    read = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes()
        except OSError:
            # It ended meanwhile.
            continue
        read += 1
        assert seen(secrets, arguments) == [], arguments.split(b"\0")[0]
    assert read


def test_no_log_has_a_secret(lab, secrets):
    logs = [path for folder in ("log", "machines") for path in (lab.dir / folder).rglob("*")
            if path.is_file() and (folder == "log" or path.suffix == ".log")]
    assert logs
    for path in logs:
        assert seen(secrets, path.read_bytes()) == [], path
