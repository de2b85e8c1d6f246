# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file under plugins/ imports only what docs/layers.yml allows, and docs/architecture.md shows that file."""
from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from tooling import layers

DATA = layers.load()
LAYERS = layers.Layers(DATA)
FILES = layers.files()
# A small tree of its own, in which each rule is broken.
SMALL = {
    "rooms": [{"name": "_low", "services": ["asks"]},
              {"name": "_high", "third_party": ["sushy"], "services": ["idle"],
               "folders": {"first": "", "second": ""}}],
    "floors": [{"name": "pure"}, {"name": "service"}, {"name": "module"}],
    "folders": [{"name": "modules", "floors": ["module"]},
                {"name": "filter", "floors": ["pure"], "plugin_utils": True}],
    "effects": {"time": ["strftime"], "os": ["path.join"], "socket": [], "urllib.request": []},
    "effect_calls": ["open"],
    "third_party": ["yaml"],
}
PREFIX = "from ansible_collections.metal3.baremetal.plugins."
BROKEN = {
    "a room imports from one above": ("module_utils/_low/rules", "from .._high import rules", "_low is below _high"),
    "a pure file imports a service": ("module_utils/_low/rules", "from . import asks", "pure is below service"),
    "a service imports the module floor": ("module_utils/_low/asks", "from .module import run", "is below module"),
    "a pure file reads the clock": ("module_utils/_low/rules", "import time\nNOW = time.time()", "reaches nothing"),
    "a pure file takes the clock by name": ("module_utils/_low/rules", "from time import monotonic", "reaches nothing"),
    "a pure file looks at the environment": ("module_utils/_low/rules", "import os\nos.environ", "reaches nothing"),
    "a pure file opens a connection": ("module_utils/_low/rules", "import socket", "reaches nothing"),
    "a pure file asks a URL": ("module_utils/_low/rules", "from urllib.request import urlopen", "reaches nothing"),
    "a pure file opens a file": ("module_utils/_low/rules", "open('x')", "reaches nothing"),
    "a library of another room": ("module_utils/_low/asks", "try:\n    import sushy\nexcept ImportError:\n    pass",
                                  "not a library of this room"),
    "a library without a guard": ("module_utils/_low/asks", "import yaml", "a library without a guard"),
    "module_utils imports what only the controller has": ("module_utils/_low/asks", "import ansible.errors",
                                                          "not there on a target"),
    "module_utils imports plugin_utils": ("module_utils/_low/asks", PREFIX + "plugin_utils import _site", "only"),
    "a module imports a service": ("modules/thing", PREFIX + "module_utils._low import asks", "of the floor service"),
    "a module imports plugin_utils": ("modules/thing", PREFIX + "plugin_utils import _site", "is for plugins of"),
    "a filter imports a service": ("filter/thing", PREFIX + "module_utils._low import asks", "of the floor service"),
    "a folder imports from one above": ("module_utils/_high/first/rules", "from ..second import rules",
                                        "first is below"),
    "a folder imports from beside it": ("module_utils/_high/second/rules", "from .. import rules", "second is below"),
    "a folder that nobody knows": ("module_utils/_high/third/rules", "", "no folder"),
    "a folder of a room that lists none": ("module_utils/_low/first/rules", "", "no folder"),
    "a room that nobody knows": ("module_utils/_new/rules", "", "no room"),
}
ALLOWED = {
    "a room imports from one below": ("module_utils/_high/rules", "from .._low import rules"),
    "a service imports a pure file": ("module_utils/_low/asks", "import time\nfrom . import rules"),
    "a pure file formats a time": ("module_utils/_low/rules", "import time\ntime.strftime('%Y')"),
    "a pure file joins paths": ("module_utils/_low/rules", "import os\nos.path.join('a', 'b')"),
    "a folder imports from one below": ("module_utils/_high/second/rules", "from ..first import rules"),
    "a file beside folders imports from one": ("module_utils/_high/rules", "from .second import rules"),
    "a guarded library": ("module_utils/_high/rules", "try:\n    import yaml\nexcept ImportError:\n    yaml = None"),
    "a filter imports plugin_utils": ("filter/thing", PREFIX + "plugin_utils import _site"),
    "a module imports the module floor": ("modules/thing", PREFIX + "module_utils._low.module import run"),
}


@pytest.fixture
def small_tree(tmp_path):
    """Return a function that writes a file into a small tree and returns the tree's root."""
    def write(name, text):
        for other in ("module_utils/_low/rules", "module_utils/_low/asks", "module_utils/_low/module",
                      "module_utils/_high/rules", "module_utils/_high/idle", "module_utils/_high/first/rules",
                      "module_utils/_high/second/rules", "plugin_utils/_site", name):
            path = tmp_path / f"{other}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if other == name else "")
        return tmp_path
    return write


def excepted(name, fault):
    """Return the exceptions that name an import."""
    return [entry for entry in DATA["exceptions"]
            if fnmatchcase(f"{name} -> {fault.partition(':')[0]}", entry)]


def test_every_file_imports_only_what_its_layer_may():
    faults = [f"{name} -> {fault}" for name in FILES for fault in LAYERS.faults(name) if not excepted(name, fault)]
    assert not faults, "\n".join(faults)


def test_no_exception_is_listed_that_is_no_longer_needed():
    needed = {entry for name in FILES for fault in LAYERS.faults(name) for entry in excepted(name, fault)}
    assert set(DATA["exceptions"]) - needed == set()


def test_no_file_imports_itself_by_way_of_others():
    assert layers.circles(FILES) == []


def test_every_service_that_is_listed_exists_and_reaches_something():
    services = LAYERS.services()
    assert [name for name in services if name not in FILES] == []
    assert [name for name in services if not LAYERS.reaches(name)] == []


def test_every_folder_that_is_listed_in_a_room_has_files():
    assert [folder for folder in LAYERS.folders() if not any(name.startswith(f"{folder}/") for name in FILES)] == []


def test_every_folder_of_plugins_is_listed():
    listed = {folder["name"] for folder in DATA["folders"]} | {"module_utils"}
    assert {name.split("/")[0] for name in FILES} == listed


def test_the_page_shows_the_layers_as_they_are():
    page = layers.PAGE.read_text(encoding="utf-8")
    assert page == layers.with_tables(page, layers.tables(DATA)), "run python tests/unit/tooling/layers.py"


@pytest.mark.parametrize("name, text, why", BROKEN.values(), ids=BROKEN)
def test_what_breaks_a_rule_is_found(small_tree, name, text, why):
    faults = layers.Layers(SMALL).faults(name, small_tree(name, text))
    assert len(faults) == 1 and why in faults[0], faults


@pytest.mark.parametrize("name, text", ALLOWED.values(), ids=ALLOWED)
def test_what_keeps_to_the_rules_is_not_found(small_tree, name, text):
    assert layers.Layers(SMALL).faults(name, small_tree(name, text)) == []


def test_a_service_that_reaches_nothing_is_found(small_tree):
    root = small_tree("module_utils/_high/idle", "from . import rules")
    assert not layers.Layers(SMALL).reaches("module_utils/_high/idle", root)


def test_a_circle_is_found(small_tree):
    root = small_tree("module_utils/_low/rules", "from . import asks")
    (root / "module_utils/_low/asks.py").write_text("from . import rules")
    assert layers.circles(layers.files(root), root) == ["module_utils/_low/asks", "module_utils/_low/rules"]
