#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps programs of a lab running under supervisord."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_processes
short_description: Keep programs running under a lab's supervisord
version_added: "0.1.0"
description:
  - Writes a configuration file for each program, starts supervisord if it is not there, and has the programs started.
    A program is restarted only if its definition changed or it is dead; supervisord restarts what dies afterwards.
  - All programs are started first and then waited for side by side.
  - When supervisord itself was killed, processes that it left behind are found by E(METAL3_LAB_DIR) in their
    environment and ended before the programs are started again.
  - Each program's environment has E(METAL3_LAB_DIR); its output goes to C(log/<name>.log) in the lab's folder, rotated.
options:
  supervisor_dir:
    description:
      - Folder C(supervisor) in the lab's folder. The lab's C(lab.json) beside it names the Python that runs
        supervisord.
    type: path
    required: true
  state:
    description:
      - V(started) configures and starts O(programs) and, with O(wait), waits until they are ready.
      - V(ready) waits for all programs that are configured, and changes nothing.
      - V(absent) stops O(programs) and removes their configuration.
    type: str
    choices: [started, ready, absent]
    default: started
  wait:
    description: Whether to wait until the programs are ready.
    type: bool
    default: true
  hosts_kubeconfig:
    description:
      - Path of the kubeconfig of the API server that has the BareMetalHosts which O(programs) work on.
      - With O(state=started) a program that is ready is not restarted as long as hosts are in transition; the run is
        refused before anything is written, in check mode, too.
    type: path
    version_added: "0.1.0"
  pending_files:
    description:
      - In check mode, files that tasks before this one would have changed. A program that names one of them in
        O(programs[].restart_on) is reported as restarted; O(hosts_kubeconfig) counts then, too.
      - Outside of check mode the files themselves are read.
    type: list
    elements: path
    default: []
    version_added: "0.1.0"
  programs:
    description: The programs.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the program.
        type: str
        required: true
      command:
        description:
          - The program and its arguments. Required unless O(state=absent).
          - Arguments are visible to every user of the machine, so secrets belong in files.
        type: list
        elements: str
      environment:
        description: Variables for its environment. Kept in a file that only its owner can read.
        type: dict
        default: {}
      directory:
        description: Folder it starts in, by default the lab's.
        type: path
      restart_on:
        description: Files that it reads only when it starts; a change of their contents restarts it.
        type: list
        elements: path
        default: []
      stop_wait_seconds:
        description: How long it may take to end before it is killed.
        type: int
        default: 10
      ready:
        description: When it counts as ready; all that is given must hold.
        type: dict
        suboptions:
          url:
            description: URL that answers with one of O(programs[].ready.status).
            type: str
          status:
            description: HTTP status codes that are fine.
            type: list
            elements: int
            default: [200]
          ca_file:
            description: File with the certificate authority for an https URL.
            type: path
          client_cert:
            description: Client certificate for an https URL.
            type: path
          client_key:
            description: Key of O(programs[].ready.client_cert).
            type: path
          username_file:
            description: File with the user name for HTTP basic authentication.
            type: path
          password_file:
            description: File with the password for HTTP basic authentication.
            type: path
          holds:
            description: What must not be empty in the JSON object that the URL answers.
            type: str
          tcp:
            description: C(host:port) that accepts connections.
            type: str
          unix:
            description: Path of a Unix socket that accepts connections.
            type: path
          file:
            description: File that exists.
            type: path
          timeout_seconds:
            description: How long to wait.
            type: int
            default: 180
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Says which programs would be started, restarted or stopped.
  diff_mode:
    support: full
    details:
      - Says for each program what of it differs, not how, since its environment may hold secrets.
  idempotent:
    support: full
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Run etcd
  metal3.baremetal.plane_processes:
    supervisor_dir: "{{ management_plane.dir }}/supervisor"
    programs:
      - name: etcd
        command: ["{{ management_plane.engine_dir }}/bin/etcd", "--data-dir={{ management_plane.dir }}/etcd"]
        ready:
          tcp: "127.0.0.1:{{ management_plane.ports.etcd_client }}"
"""

RETURN = r"""
programs:
  description: What was done to each program.
  returned: always
  type: dict
  sample: {etcd: started}
written:
  description: What the run had stored before it failed, objects of other kinds included.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "program etcd", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.processes_module import run_plane_processes


def main():
    """Run the module."""
    run_plane_processes()


if __name__ == "__main__":
    main()
