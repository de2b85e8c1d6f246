# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers whose disks are written without Ironic, for the tests of what happens when they boot."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import textwrap
from pathlib import Path
from types import SimpleNamespace

from machine_room import config_drive, partitions
from machine_room.node_boot.namespace_boot import NamespaceBoot
from machine_room.server import ON, Server
from support import REPOSITORY, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import layout, servers

# The highest index: labs take the lowest that is free.
INDEX = layout.INDEX_LIMIT - 1
MEMORY_MIB = 6000
TOKEN = "abcdef.0123456789abcdef"
POD_SUBNET = "10.244.0.0/16"

NODE_REGISTRATION = """\
nodeRegistration:
  name: '{{ ds.meta_data.name }}'
  criSocket: unix:///run/containerd/containerd.sock
  ignorePreflightErrors: [SystemVerification]
  kubeletExtraArgs:
  - {name: node-labels, value: 'metal3.io/uuid={{ ds.meta_data.uuid }}'}
"""
INIT = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens:
- {token: %(token)s, ttl: 1h}
%(registration)s  taints: []
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: %(version)s
controlPlaneEndpoint: %(endpoint)s:6443
networking: {podSubnet: %(pod_subnet)s, serviceSubnet: 10.96.0.0/16}
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
conntrack: {maxPerCore: 0}
"""
JOIN = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery:
  bootstrapToken: {apiServerEndpoint: "%(endpoint)s:6443", token: %(token)s, unsafeSkipCAVerification: true}
%(registration)s"""


def user_data(verb, settings):
    """Return cloud-init's user data that runs ``kubeadm init`` or ``join``, in the form that CABPK gives it."""
    text = (INIT if verb == "init" else JOIN) % dict(settings, registration=NODE_REGISTRATION, token=TOKEN)
    return textwrap.dedent("""\
        ## template: jinja
        #cloud-config

        write_files:
        - path: /run/kubeadm/kubeadm.yaml
          permissions: '0640'
          content: |
        %s
        runcmd:
        - kubeadm %s --config /run/kubeadm/kubeadm.yaml && touch /run/bootstrap-success.complete
        """) % (textwrap.indent(text, "    "), verb)


def built_image():
    """Return the node image as the module lab_node_image does, from the cache or built now."""
    cache = user_folders.cache_dir()
    engine = module("plane_programs", source_dir=str(REPOSITORY / "lab" / "engine"), cache_dir=cache,
                    sets=["management", "node"])
    return module("lab_node_image", source_dir=str(REPOSITORY / "lab" / "node_image"), cache_dir=cache,
                  addons_source_dir=str(REPOSITORY / "lab" / "engine" / "addons"), engine_dir=engine["engine_dir"])


class Nodes:
    """A machine room of its own, without BMCs and agents.

    :param folder: where disks and state go
    :param image: what the module node_image returned
    """

    def __init__(self, folder, image):
        self.folder, self.image = Path(folder), image
        self.lab = layout.layout("nodes", INDEX, {"METAL3_LAB_HOME": str(folder), "HOME": str(folder)})
        network = self.lab["bridge"]["network"].rsplit(".", 1)[0]
        hardware = servers.describe(2, {"memory_mib": MEMORY_MIB})
        specs = servers.servers(self.lab, hardware)
        self.addresses = dict((spec["name"], f"{network}.{10 + spec['number']}") for spec in specs)
        self.endpoint = self.addresses["server-01"]
        self.gateway = self.lab["bridge"]["address"].partition("/")[0]
        self.specs = dict((spec["name"], spec) for spec in specs)
        self.machines = {}
        self.boot = None
        self.start_machine_room()

    def start_machine_room(self):
        """Create the servers again from what is on disk, as a restarted machine room does."""
        settings = SimpleNamespace(machines_dir=str(self.folder / "machines"))
        if self.boot:
            # A process that has ended watches nothing.
            self.boot.forget()
        self.boot = NamespaceBoot(self.lab)
        self.machines = dict((name, Server(spec, settings, None, self.boot)) for name, spec in self.specs.items())

    def write(self, name, verb):
        """Write the image and a config drive to a server's first disk."""
        disk = self.machines[name].disks[0]
        disk.ensure()
        subprocess.run(["qemu-img", "convert", "-f", "qcow2", "-O", "raw",
                        os.path.join(self.image["image_dir"], "node.qcow2"), disk.path], check=True)
        os.truncate(disk.path, disk.size)
        partitions.fill_disk(disk.path)
        config_drive.write(disk, self._config_drive(name, verb))

    def user_data(self, verb):
        """Return cloud-init's user data of a node that runs ``kubeadm`` with that verb."""
        return user_data(verb, {
            "endpoint": self.endpoint, "version": self.image["kubernetes_version"], "pod_subnet": POD_SUBNET})

    def _config_drive(self, name, verb):
        spec = self.specs[name]
        tree, iso = self.folder / (name + "-config"), self.folder / (name + ".iso")
        latest = tree / "openstack" / "latest"
        latest.mkdir(parents=True)
        (latest / "meta_data.json").write_text(json.dumps({
            "uuid": spec["uuid"], "name": "node-" + name, "local-hostname": "node-" + name}))
        (latest / "network_data.json").write_text(json.dumps({
            "links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": spec["boot_mac"], "mtu": 1500}],
            "networks": [{
                "id": "provisioning", "link": "eno1", "type": "ipv4", "ip_address": self.addresses[name],
                "netmask": "255.255.254.0",
                "routes": [{"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": self.gateway}]}],
            "services": [{"type": "dns", "address": self.gateway}]}))
        (latest / "user_data").write_text(self.user_data(verb))
        subprocess.run(["xorrisofs", "-quiet", "-R", "-J", "-V", "config-2", "-o", str(iso), str(tree)],
                       check=True, capture_output=True)
        shutil.rmtree(tree)
        return iso.read_bytes()

    def run_file(self, name):
        """Return what is known of the process that runs a server's system."""
        return json.loads(Path(self.machines[name].folder, "system", "run.json").read_text())

    def inside(self, name, *command, text=None, check=True, seconds=60):
        """Run a program in a server's namespaces and return what it prints.

        :param check: whether a failure fails the test; one that takes longer than ``seconds`` is one too
        """
        run = self.run_file(name)["pid"]
        init = Path(f"/proc/{run}/task/{run}/children").read_text().split()[0]
        # Ended from within: nobody else can be sure to reach what the program has started.
        result = subprocess.run(
            ["nsenter", "--target", init, "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "KUBECONFIG=/etc/kubernetes/admin.conf",
             "timeout", "--kill-after=5", str(seconds), *command],
            input=text, capture_output=True, text=True, check=False)
        assert not check or result.returncode == 0, f"{' '.join(command)} on {name}: {result.stdout}{result.stderr}"
        return result.stdout

    def kubectl(self, *arguments, **options):
        """Run kubectl on the control plane."""
        return self.inside("server-01", "kubectl", *arguments, **options)

    def ready(self):
        """Return the names of the nodes that are Ready."""
        listed = self.kubectl("get", "nodes", "--no-headers", check=False)
        return {line.split()[0] for line in listed.splitlines() if line.split()[1] == "Ready"}

    def answers(self):
        """Return whether the API server answers on its address, from this machine."""
        result = subprocess.run(["curl", "--silent", "--insecure", "--max-time", "2",
                                 f"https://{self.endpoint}:6443/livez"], capture_output=True, text=True, check=False)
        return result.stdout == "ok"

    def left(self, name):
        """Return what is there of a server's system on this machine: namespace, links, groups, loop devices."""
        group = f"m3lab{INDEX}"
        found = [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/{group}/{name}")]
        found += [str(path) for path in Path("/sys/fs/cgroup").glob(f"{group}/{name}")]
        found += [str(path) for path in Path("/run/netns").glob(f"{group}-{name}")]
        loops = subprocess.run(["losetup", "--all"], capture_output=True, text=True, check=True).stdout
        return found + [line for line in loops.splitlines() if self.machines[name].folder + "/" in line]

    def close(self):
        """Switch everything off and remove the bridge."""
        for machine in self.machines.values():
            if machine.power == ON:
                machine.power_off()
        subprocess.run(["ip", "link", "delete", self.lab["bridge"]["name"]], capture_output=True, check=False)
