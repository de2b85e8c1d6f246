# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane that older programs were installed for, and what its upgrade must leave."""
from __future__ import annotations

from bootstrap_site import SERVER, Site
from support import HOST, NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.fit import VERSION_ANNOTATION
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor import Supervisor
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import Layout

SECONDS = 1800


class OldSite(Site):
    """A site that was installed with older programs.

    :param older: variables that choose them
    """

    def __init__(self, lab, folder, older):
        super().__init__(lab, folder)
        self.older = older
        # What a server finds that boots from the network is the lab's own plane.
        self.host["bmc_address"] = by_virtual_media(self.host["bmc_address"])
        image = lab.figures["urls"]["image_server"] + "/images/lab.raw"
        self.host["bmh_image"] = {
            "url": image, "checksum": image + ".sha256", "checksum_type": "sha256", "format": "raw"}

    def install(self, *arguments, **extra):
        return self.lab.playbook("install", *arguments, inventory=self.inventory(), extra=extra, seconds=SECONDS)

    def state(self):
        """Return all that a refused run leaves: figures, programs that run and since when, versions."""
        supervisor = Supervisor(Layout(str(self.dir / "supervisor")))
        programs = dict((name, (info["statename"], info["pid"])) for name, info in supervisor.processes().items())
        return (self.dir / "lab.json").read_text(), programs, self.versions()

    def versions(self):
        """Return what the API server says of the parts' versions."""
        kube = self.kube()
        found = {"kubernetes": kube.request("GET", "/version")["gitVersion"]}
        for item in kube.list(KNOWN["Provider"])[0]:
            part = next(part for part in RENDERED
                        if (part.type, part.provider_name) == (item["type"], item["providerName"]))
            found[part.name] = item["version"]
        definition = kube.get(KNOWN["CustomResourceDefinition"], None, "baremetalhosts.metal3.io")
        found["bmo"] = definition["metadata"]["annotations"][VERSION_ANNOTATION]
        return found

    def managed(self, name=SERVER):
        """Return what must not change of a host."""
        found = self.kube().get(HOST, NAMESPACE, name)
        provisioning = found["status"]["provisioning"]
        return found["metadata"]["uid"], provisioning["ID"], provisioning["state"], found["status"].get("errorType", "")

    def program(self, name):
        return (self.dir / "supervisor" / "conf.d" / f"{name}.conf").read_text()


def by_virtual_media(address):
    """Return a BMC's address with the scheme of virtual media."""
    return "redfish-virtualmedia+" + address.partition("+")[2]
