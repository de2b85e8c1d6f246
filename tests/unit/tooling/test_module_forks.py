# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module that runs as a fork ends as one that Python has started does."""
from __future__ import annotations

import subprocess
import textwrap

import pytest
from module_forks import ModuleForks


@pytest.fixture(scope="module", name="forks")
def module_forks(tmp_path_factory):
    with ModuleForks(tmp_path_factory.mktemp("forks")) as forks:
        yield forks


def run(forks, folder, text):
    module = folder / "module.py"
    module.write_text(textwrap.dedent(text))
    return subprocess.run([forks.interpreter, str(module)], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("end, code", [("", 0), ("sys.exit(3)", 3), ("sys.exit('failed')", 1), ("1 / 0", 1)])
def test_what_a_module_leaves_to_its_end_is_done(forks, tmp_path, end, code):
    kept = tmp_path / "key"
    result = run(forks, tmp_path, f"""
        import atexit, os, sys
        open({str(kept)!r}, "w").close()
        atexit.register(os.remove, {str(kept)!r})
        {end}
        """)
    assert result.returncode == code
    assert not kept.exists()
