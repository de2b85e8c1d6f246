# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kube-vip as a static pod of the control plane machines, with addresses announced by ARP, NDP or BGP; pure.

Its environment variables: pkg/kubevip/config_envvar.go of kube-vip 1.0.
"""
from __future__ import annotations

import json
from typing import Any

MANIFEST = "/etc/kubernetes/manifests/kube-vip.yaml"
# kube-vip reads this path whatever its options say (pkg/manager/manager.go); what is mounted there is another thing.
_KUBECONFIG = "/etc/kubernetes/admin.conf"
# Since Kubernetes 1.29 the other one has no rights before kubeadm has given it some through the endpoint itself.
_FIRST_KUBECONFIG = "/etc/kubernetes/super-admin.conf"
_SUPER_ADMIN_SINCE = (1, 29)
# The kubelet reads whatever lies in its folder, so that the new file is written beside it and moved.
_DRAFT = "/etc/kubernetes/kube-vip.draft"
# In metal-stack each machine is a BGP speaker (FRR) with a private number of its own, which only the machine knows.
_UNKNOWN_ASN = "METAL_MACHINE_ASN"
_ASN = (r"asn=$(sed -n 's/^router bgp \([0-9]*\).*/\1/p' /etc/frr/frr.conf | head -n 1); "
        'if [ -n "$asn" ]; then sed -i "s/%(unknown)s/$asn/g" %(manifest)s; fi')
_SWITCH = ('if %(first)s; then sed \'s#"path": "%(old)s"#"path": "%(new)s"#\' %(manifest)s > %(draft)s '
           "&& chmod 0600 %(draft)s && mv %(draft)s %(manifest)s; fi")
# The machine that holds the address renews a lease through its own API server: one that fails loses the address.
# kube-vip ends when it can't renew it in time, and is started again ever later: with the 5, 3 and 1 of its examples, an
# etcd on slow disks takes the address away for minutes. These are the figures of Kubernetes' own controllers.
_LEASE_SECONDS, _RENEW_SECONDS, _RETRY_SECONDS = 15, 10, 2


_BY_ARP = {
    "vip_arp": "true", "vip_leaderelection": "true", "vip_leasename": "plndr-cp-lock",
    "vip_leaseduration": str(_LEASE_SECONDS), "vip_renewdeadline": str(_RENEW_SECONDS),
    "vip_retryperiod": str(_RETRY_SECONDS)}


def _by_bgp(values: dict[str, Any]) -> dict[str, str]:
    """Return the variables for the machine's own FRR as peer: all machines announce the address, none leads."""
    return {"vip_arp": "false", "bgp_enable": "true", "bgp_routerid": values["local"], "bgp_as": _UNKNOWN_ASN,
            "bgp_peeraddress": values["local"], "bgp_peeras": _UNKNOWN_ASN}


def manifest(values: dict[str, Any]) -> str:
    """Return the static pod.

    :param values: ``address`` without prefix length, ``prefix``, ``port``, ``device``, ``image``, ``local``, the
        loopback address of the endpoint's family, and ``bgp``, whether it is announced by BGP
    """
    environment = {
        "address": values["address"], "port": str(values["port"]), "vip_interface": values["device"],
        "vip_subnet": str(values["prefix"]), "cp_enable": "true", "cp_namespace": "kube-system",
        # By default it listens on all addresses.
        "prometheus_server": "localhost:2112", **(_by_bgp(values) if values["bgp"] else _BY_ARP),
    }
    variables: list[dict[str, Any]] = [{"name": name, "value": environment[name]} for name in sorted(environment)]
    # The identity in the lease.
    variables.append({"name": "vip_nodename", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}})
    pod = {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "kube-vip", "namespace": "kube-system", "labels": {"app.kubernetes.io/name": "kube-vip"}},
        "spec": {
            "hostNetwork": True, "priorityClassName": "system-node-critical",
            # It asks for "kubernetes", which is in the API server's certificate: its own machine's, not the endpoint.
            "hostAliases": [{"ip": values["local"], "hostnames": ["kubernetes"]}],
            "containers": [{
                "name": "kube-vip", "image": values["image"], "imagePullPolicy": "IfNotPresent", "args": ["manager"],
                "env": variables,
                "resources": {"requests": {"cpu": "20m", "memory": "32Mi"}},
                "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                    "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN", "NET_RAW"]}},
                "volumeMounts": [{"name": "kubeconfig", "mountPath": _KUBECONFIG, "readOnly": True}],
            }],
            # Without the type, a folder would be created in the place of a file that kubeadm has not written yet.
            "volumes": [{"name": "kubeconfig", "hostPath": {"path": _KUBECONFIG, "type": "File"}}],
        },
    }
    return json.dumps(pod, indent=1)


def before_kubeadm(version: tuple[int, ...], first: str, bgp: bool) -> list[str]:
    """Return the commands before kubeadm.

    :param version: Kubernetes' version as numbers
    :param first: shell test that only the machine passes which makes the cluster
    :param bgp: whether the address is announced by BGP
    """
    commands = [_ASN % {"unknown": _UNKNOWN_ASN, "manifest": MANIFEST}] if bgp else []
    return commands + ([_switched(first, _KUBECONFIG, _FIRST_KUBECONFIG)] if version >= _SUPER_ADMIN_SINCE else [])


def after_kubeadm(version: tuple[int, ...], first: str) -> list[str]:
    """Return the commands after kubeadm, when the usual kubeconfig has its rights; parameters as above."""
    return [_switched(first, _FIRST_KUBECONFIG, _KUBECONFIG)] if version >= _SUPER_ADMIN_SINCE else []


def _switched(first, old, new):
    return _SWITCH % {"first": first, "old": old, "new": new, "manifest": MANIFEST, "draft": _DRAFT}
