# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of kubeadm, from v1beta1 to v1beta2; pure.

The rules are those of ``api/bootstrap/kubeadm/v1beta1/conversion.go`` of Cluster API 1.13.
"""
from __future__ import annotations

from .place import Place, named_list, seconds

_COMPONENTS = ("apiServer", "controllerManager", "scheduler", "etcd.local")
# What Cluster API computes of the Cluster and its machines.
_COMPUTED = ("clusterName", "kubernetesVersion", "networking")


def config(spec: Place) -> None:
    """Convert a KubeadmConfigSpec."""
    spec.lose("useExperimentalRetryJoin")
    configuration = spec.inner("clusterConfiguration")
    for component in _COMPONENTS:
        configuration.inner(component).move("extraArgs", "extraArgs", named_list)
    _timeouts(spec, configuration.inner("apiServer"))
    configuration.lose(*_COMPUTED)
    for key in ("clusterConfiguration", "initConfiguration", "joinConfiguration"):
        for name in ("apiVersion", "kind"):
            spec.inner(key).value.pop(name, None)
    for key in ("initConfiguration", "joinConfiguration"):
        spec.inner(f"{key}.nodeRegistration").move("kubeletExtraArgs", "kubeletExtraArgs", named_list)
    for token in spec.inner("initConfiguration").entries("bootstrapTokens"):
        token.move("ttl", "ttlSeconds", seconds)


def _timeouts(spec: Place, server: Place) -> None:
    """Move both timeouts; kubeadm's first one is for init and join alike."""
    for_control_plane = server.value.pop("timeoutForControlPlane", None)
    if for_control_plane is not None:
        limit = seconds(server, "timeoutForControlPlane", for_control_plane)
        for key in ("initConfiguration", "joinConfiguration"):
            spec.put(f"{key}.timeouts.controlPlaneComponentHealthCheckSeconds", limit)
    discovery = spec.inner("joinConfiguration.discovery")
    for_discovery = discovery.value.pop("timeout", None)
    if for_discovery is not None:
        spec.put("joinConfiguration.timeouts.tlsBootstrapSeconds", seconds(discovery, "timeout", for_discovery))
