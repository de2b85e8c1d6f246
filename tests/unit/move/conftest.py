# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the plane that lets go, with hosts and a cluster, and the one that takes over, which is empty."""
from __future__ import annotations

import pytest
from fakes import moves
from fakes.planes import server, world


@pytest.fixture
def here():
    return server("a", "https://198.18.0.1:6443", world())


@pytest.fixture
def there():
    return server("b", "https://198.18.0.2:6443")


@pytest.fixture
def complete_plane(monkeypatch):
    """Planes have all parts."""
    moves.complete(monkeypatch)
