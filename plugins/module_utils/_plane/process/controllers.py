# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A provider's manager as a local process: its files, its serving certificate, its arguments."""
from __future__ import annotations

import os
from typing import Any

from ..parts import catalogue, manifests
from . import certificates, webhook_host

# The Bare Metal Operator has no flag for its certificate's folder: it is this one below its TMPDIR.
SERVING_FOLDER = os.path.join("k8s-webhook-server", "serving-certs")
# The defaults, 20 and 30, are slow for many hosts.
CLIENT_QPS = 200
CLIENT_BURST = 400

_PROGRAMS = dict((provider.name, provider.program) for provider in catalogue.PARTS)


def _pki(lab: Any) -> Any:
    return os.path.join(lab["dir"], "pki")


def supervisor_dir(lab: Any) -> Any:
    """Return the folder of the lab's supervisor."""
    return os.path.join(lab["dir"], "supervisor")


def ca_file(lab: Any) -> Any:
    """Return the file of the lab's certificate authority."""
    return os.path.join(_pki(lab), "ca.crt")


def webhook_url(lab: Any, name: Any) -> Any:
    """Return where a manager serves its webhooks."""
    return f"https://127.0.0.1:{lab['ports'][name + '_webhook']}"


def kubeconfig(lab: Any, name: Any) -> Any:
    """Return the kubeconfig file with a manager's identity."""
    return os.path.join(lab["dir"], "kubeconfigs", name)


def manifest(lab: Any, name: Any) -> Any:
    """Return the file with a provider's manifests."""
    return os.path.join(lab["engine_dir"], manifests.FOLDER, name + ".yaml")


def serving_certificate(name: Any) -> Any:
    """Return a manager's serving certificate, as certificates.ensure() takes it."""
    return {
        "name": os.path.join(name, SERVING_FOLDER, "tls"),
        "common_name": name,
        "organizations": [],
        "sans": ["localhost", "127.0.0.1"],
        "usages": ["server"],
    }


def issue(lab: Any, names: Any, check_mode: bool, wrote: Any) -> Any:
    """Issue the serving certificates of managers.

    :param lab: the lab's figures
    :param names: providers' names
    :param check_mode: change nothing, only report
    :param wrote: see certificates.ensure()
    :returns: what was made, see certificates.ensure()
    """
    authority = certificates.Authority(_pki(lab))
    return certificates.ensure(authority, [serving_certificate(name) for name in names], check_mode=check_mode,
                               wrote=wrote)


def _address(lab: Any, name: Any, part: Any) -> Any:
    return "127.0.0.1:%d" % lab["ports"][f"{name}_{part}"]


def program(lab: Any, name: Any, namespace: Any, arguments: Any, environment: Any, restart_on: Any) -> Any:
    """Return a manager as supervisor_files.program_config() takes it.

    :param lab: the lab's figures
    :param name: of the provider
    :param namespace: namespace it would have in a pod
    :param arguments: further arguments
    :param environment: further environment variables
    :param restart_on: further files it reads only when it starts
    :raises KeyError: for an unknown provider
    """
    serving = os.path.join(_pki(lab), name, SERVING_FOLDER)
    command = [
        os.path.join(lab["engine_dir"], "bin", _PROGRAMS[name]),
        f"--kubeconfig={kubeconfig(lab, name)}",
        f"--webhook-port={lab['ports'][name + '_webhook']}",
        f"--health-addr={_address(lab, name, 'health')}",
        f"--kube-api-qps={CLIENT_QPS}",
        f"--kube-api-burst={CLIENT_BURST}",
    ]
    variables = {"POD_NAMESPACE": namespace, webhook_host.VARIABLE: "127.0.0.1"}
    if name == "bmo":
        command.append(f"--metrics-addr={_address(lab, name, 'metrics')}")
        variables["TMPDIR"] = os.path.join(_pki(lab), name)
    else:
        # One manager of each kind: waiting for a lease after a restart would only cost time.
        command += [f"--diagnostics-address={_address(lab, name, 'metrics')}", f"--webhook-cert-dir={serving}",
                    "--leader-elect=false"]
    return {
        "name": name,
        "command": command + list(arguments),
        "environment": dict(variables, **environment),
        "restart_on": [kubeconfig(lab, name)] + list(restart_on),
        "ready": {"url": f"http://{_address(lab, name, 'health')}/readyz"},
    }
