# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""KVM is chosen only where firmware has run by it."""
from __future__ import annotations

import pytest
from machine_room.virtual import accelerator

# What programs do with their arguments, one of which has the path of the console.
SPEAKS = """
for argument; do case $argument in file,id=serial,path=*) echo firmware >"${argument#*path=}";; esac; done; sleep 60
"""
PROGRAMS = {
    "speaks": (SPEAKS, True),
    "fails inside": ("echo 'KVM internal error. Suberror: 1' >&2; sleep 60", False),
    "is refused": ("echo 'failed to initialize kvm' >&2; exit 1", False),
    "is silent": ("sleep 60", False),
}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """No trial was made yet."""
    monkeypatch.setattr(accelerator, "_found", {})


@pytest.fixture
def device(tmp_path):
    """A device that can be opened."""
    path = tmp_path / "kvm"
    path.touch()
    return str(path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_trial_shows(tmp_path, device, name):
    does, expected = PROGRAMS[name]
    program = tmp_path / "qemu"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    assert accelerator.serves(str(program), device, 1 if name == "is silent" else 20) is expected


def test_without_the_device_or_the_program_nothing_is_tried(tmp_path, device):
    assert accelerator.serves(str(tmp_path / "none"), device) is False
    assert accelerator.serves("/bin/false", str(tmp_path / "no-kvm")) is False


def test_the_trial_is_made_once_and_only_when_it_is_wanted():
    made = []

    def trial():
        made.append(True)
        return len(made) == 1

    assert [accelerator.chosen(wanted, trial) for wanted in ("tcg", "kvm")] == ["tcg", "kvm"] and made == []
    assert [accelerator.chosen("auto", trial) for _time in range(2)] == ["kvm", "kvm"] and len(made) == 1
    accelerator._found.clear()
    assert accelerator.chosen("auto", trial) == "tcg"
