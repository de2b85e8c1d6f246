# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the playbook cluster against kubectl with the same manifests, by turns on the running lab LAB.

Prints a line for each run, the ratio, and how the playbook's time divides over the steps of the deployment workflow.
Exit code 1 when the goal is missed.
"""
from __future__ import annotations

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import labs_dir

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "workload"
NAMESPACE = "metal3"
GOAL = 1.05
TIMEOUT_SECONDS = 900
# What the playbook prints when a machine comes to another step.
STEP = re.compile(rf"^ *{NAME}/(\S+)(?: \(host \S+\))?: (?:step (\d+), ([^;]+);|(ready) as node)")
TEMPLATE_PLAY = """
- hosts: clusters
  gather_facts: false
  tasks:
    - metal3.baremetal.cluster_template:
        name: {name}
        kubernetes_version: "{{{{ cluster_kubernetes_version }}}}"
        endpoint: "{{{{ cluster_endpoint }}}}"
        image: "{{{{ cluster_image }}}}"
        networks: "{{{{ cluster_networks }}}}"
        control_plane: "{{{{ cluster_control_plane }}}}"
        workers: "{{{{ cluster_workers }}}}"
        options: "{{{{ cluster_options }}}}"
        network_addon: "{{{{ cluster_network_addon }}}}"
        dest: "{{{{ folder }}}}/cluster.yml"
      register: template
    - ansible.builtin.copy:
        content: "{{{{ template.network_addon_manifest }}}}"
        dest: "{{{{ folder }}}}/add-ons.yml"
        mode: "0600"
"""


class Bench:
    """Both ways to make the lab's cluster.

    :param lab: name of the running lab
    :param work_dir: empty private folder
    """

    def __init__(self, lab, work_dir):
        self.dir = Path(labs_dir()) / lab
        self.work_dir = Path(work_dir)
        figures = json.loads((self.dir / "lab.json").read_text())
        self.kubectl_program = Path(figures["engine_dir"]) / "bin" / "kubectl"
        self.environment = dict(os.environ, LAB=lab, LAB_CLUSTER=NAME)

    def ansible(self, playbook, *arguments):
        """Run a playbook, yield each line that it prints with the seconds since its start.

        :raises RuntimeError: when it fails
        """
        began, lines = time.monotonic(), []
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "ansible-playbook"), playbook, "-i",
             str(REPOSITORY / "inventory" / "lab"), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=self.environment, cwd=self.work_dir)
        for line in process.stdout:
            lines.append(line)
            yield time.monotonic() - began, line
        if process.wait():
            raise RuntimeError(f"{playbook} failed:\n{''.join(lines[-40:])}")

    def write_manifests(self):
        """Write the objects that the playbook would write to ``cluster.yml`` and ``add-ons.yml``."""
        play = self.work_dir / "template.yml"
        play.write_text(TEMPLATE_PLAY.format(name=NAME))
        for _seconds, _line in self.ansible(str(play), "-e", f"folder={self.work_dir}"):
            pass

    def by_playbook(self):
        """Make the cluster by the playbook; return the seconds and ``[(seconds, machine, step)]``."""
        began, steps = time.monotonic(), []
        for seconds, line in self.ansible("metal3.baremetal.cluster"):
            match = STEP.match(line)
            if match:
                steps.append((seconds, match.group(1), "%s %s" % match.group(2, 3) if match.group(2) else "ready"))
        return time.monotonic() - began, steps

    def by_kubectl(self):
        """Make the cluster as its documentation says, by kubectl; return the seconds."""
        kubeconfig = self.dir / "kubeconfig"
        workload = self.work_dir / "workload.kubeconfig"
        began = time.monotonic()
        self.kubectl(kubeconfig, "apply", "--server-side", "-f", self.work_dir / "cluster.yml")
        self.wait(kubeconfig, "cluster/" + NAME, "jsonpath={.status.initialization.controlPlaneInitialized}=true")
        secret = yaml.safe_load(self.kubectl(kubeconfig, "get", "secret", NAME + "-kubeconfig", "-o", "yaml"))
        workload.touch(mode=0o600)
        workload.write_bytes(base64.b64decode(secret["data"]["value"]))
        self.kubectl(workload, "apply", "--server-side", "-f", self.work_dir / "add-ons.yml", namespace=None)
        self.wait(kubeconfig, f"machinedeployment/{NAME}-pool-a", "jsonpath={.status.availableReplicas}=1")
        self.wait(kubeconfig, f"kubeadmcontrolplane/{NAME}-control-plane", "jsonpath={.status.availableReplicas}=1")
        self.wait(kubeconfig, "cluster/" + NAME, "condition=Available")
        self.kubectl(workload, "rollout", "status", "daemonset/kube-flannel-ds",
                     f"--timeout={TIMEOUT_SECONDS}s", namespace="kube-flannel")
        return time.monotonic() - began

    def wait(self, kubeconfig, what, condition):
        """Wait by kubectl until an object is in a condition."""
        self.kubectl(kubeconfig, "wait", what, "--for=" + condition, f"--timeout={TIMEOUT_SECONDS}s")

    def kubectl(self, kubeconfig, *arguments, namespace=NAMESPACE):
        """Run kubectl and return what it prints.

        :raises RuntimeError: when it fails
        """
        done = subprocess.run(
            [str(self.kubectl_program), "--kubeconfig", str(kubeconfig),
             *(["--namespace", namespace] if namespace else []), *(str(argument) for argument in arguments)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS + 30, check=False)
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def remove(self):
        """Delete the cluster and wait until its hosts are free again."""
        for _seconds, _line in self.ansible("metal3.baremetal.teardown", "-e", "metal3_confirm=" + NAME):
            pass


def shares(steps, total):
    """Return ``[(machine, step, seconds)]``: how long each machine was at each step.

    :param steps: ``[(seconds, machine, step)]`` in the order of time
    :param total: seconds of the whole run
    """
    result = []
    for machine in sorted(set(machine for _seconds, machine, _step in steps)):
        mine = [(seconds, step) for seconds, name, step in steps if name == machine]
        ends = [seconds for seconds, _step in mine[1:]] + [total]
        result += [(machine, step, end - seconds) for (seconds, step), end in zip(mine, ends)]
    return result


def main():
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    ours, theirs, steps = [], [], []
    with tempfile.TemporaryDirectory(prefix="metal3-benchmark-") as work_dir:
        bench = Bench(os.environ["LAB"], work_dir)
        bench.write_manifests()
        for number in range(arguments.rounds):
            # By turns: what else the machine does at a time must not decide.
            for way in ("playbook", "kubectl") if number % 2 == 0 else ("kubectl", "playbook"):
                try:
                    if way == "playbook":
                        seconds, steps = bench.by_playbook()
                        ours.append(seconds)
                    else:
                        seconds = bench.by_kubectl()
                        theirs.append(seconds)
                    print(f"round {number + 1}, {way}: {seconds:.1f} s", flush=True)
                finally:
                    bench.remove()
                if way == "playbook":
                    for machine, step, share in shares(steps, seconds):
                        print(f"  {share:6.1f} s  {machine}  {step}", flush=True)
    ratio = min(ours) / min(theirs)
    print("cluster of 1 + 1, playbook / kubectl apply and wait, best of %d: %.2f x (goal <= %.2f: %s)" % (
        arguments.rounds, ratio, GOAL, "met" if ratio <= GOAL else "missed"))
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
