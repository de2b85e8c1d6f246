# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a move takes: the parameters of the module ``plane_move``, and planes that have all parts."""
from __future__ import annotations

from fakes.planes import NAMESPACE, WORK_DIR

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit, fit_service


def move_params(**options):
    """Return parameters of ``plane_move`` for two planes in memory, whose BMCs and Ironics nobody asks."""
    return {"namespace": NAMESPACE, "confirm": "2", "clusterctl": "clusterctl", "work_dir": WORK_DIR,
            "kubeconfig": "here", "context": None, "to_kubeconfig": "there", "to_context": None,
            "rehearsal_programs": None, "rehearsal_operator": False, "reach_from": "none", "take_over": None,
            "accept": [], "media_checks": [], "node_checks": [],
            "former_ironic_mode": None, "former_ironic_namespace": "baremetal-operator-system",
            "former_ironic_deployment": "", "former_ironic_url": "", "machine_ironic": {"ip": "", "dhcp_networks": []},
            "ironic_namespace": "baremetal-operator-system", "ironic_deployment": "ironic", "ironic_config": None,
            **options}


def complete(monkeypatch, read=lambda _client, _definitions=None: (fit.Plane("v1.35.4", {}, {}), [])):
    """Let planes have all parts.

    :param read: callable in the place of ``fit_service.read``
    """
    monkeypatch.setattr(fit_service, "read", read)
    monkeypatch.setattr(fit, "problems", lambda *_arguments: ([], []))
