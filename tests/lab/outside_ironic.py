# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's Ironic for a plane in pods: at the address that they reach, with login and authority as Secrets there."""
from __future__ import annotations

import base64
import contextlib

import plane_site
from demanding_proxy import TlsProxy

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

NAMESPACE = "baremetal-operator-system"
CREDENTIALS, AUTHORITY = "outside-credentials", "outside-authority"


@contextlib.contextmanager
def served(lab, folder):
    """Give the server on the lab's bridge that leads to Ironic.

    :param folder: for its certificate
    """
    address = plane_site.bridge(lab)
    behind = lab.figures["address"], lab.figures["ports"]["ironic"]
    pair = plane_site.issue(lab, folder, address)
    with contextlib.closing(TlsProxy(address, pair, str(lab.dir / "pki" / "ca.crt"), behind)) as proxy:
        yield proxy


def add_secrets(lab, target):
    """Write the Secrets into the operator's namespace, which is made when it is not there."""
    target.apply(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    login = _login(lab)
    for name, files in ((CREDENTIALS, login), (AUTHORITY, {"tls.crt": lab.dir / "pki" / "ca.crt"})):
        target.apply(KNOWN["Secret"], NAMESPACE, {
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": {"name": name, "namespace": NAMESPACE},
            "data": dict((key, base64.b64encode(path.read_bytes().strip()).decode()) for key, path in files.items())})


def remove_secrets(target):
    """Delete the Secrets, without which the operator's namespace may go."""
    for name in (CREDENTIALS, AUTHORITY):
        target.delete(KNOWN["Secret"], NAMESPACE, name)


def _login(lab):
    return dict((name, lab.dir / "secrets" / f"ironic_{name}") for name in ("username", "password"))


def agent(lab):
    """Return the URLs of the agent's files that Ironic gives to servers: both are processes of this machine."""
    images = lab.figures["urls"]["image_server"] + "/agent/"
    return {"bmo_deploy_kernel_url": images + "vmlinuz", "bmo_deploy_ramdisk_url": images + "initrd"}


def variables(lab, proxy):
    """Return those of ``install`` by which Ironic is checked."""
    authority, login = str(lab.dir / "pki" / "ca.crt"), _login(lab)
    return {
        "ironic_mode": "external", "ironic_url": proxy.url.removesuffix("/v1/"), "ironic_ca_file": authority,
        "ironic_image_ca_file": authority, "ironic_username_file": str(login["username"]),
        "ironic_password_file": str(login["password"]), "ironic_bmc_addresses": [],
        "ironic_bmc_schemes": ["redfish-virtualmedia"], **agent(lab)}


def operator(lab, proxy):
    """Return those by which the operator gets it."""
    return {"bmo_ironic_url": proxy.url, "bmo_ironic_credentials_secret": CREDENTIALS,
            "bmo_ironic_ca_secret": AUTHORITY, **agent(lab)}
