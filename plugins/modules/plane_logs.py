#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathers the logs of a management plane, without secrets."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_logs
short_description: Gather logs, events and objects of a management plane in one folder, without secrets
version_added: "0.1.0"
description:
  - Writes what is needed to explain what is stuck, for a bug report or a colleague - the logs of the plane's pods or
    processes, events, the objects of Metal³ and Cluster API, the plane's Deployments and Pods, and a summary.
  - In every file the word hidden in parentheses stands in place of secrets - the values of all Secrets in these
    namespaces, as they are, in base64 and as JSON quotes them, and the passwords, tokens and keys inside of them; those
    of O(process_dir); private keys; credentials in URLs. Not looked for are values of fewer than six characters, and
    user names, certificates and formats, the keys C(username), C(ca.crt), C(tls.crt) and C(format). Secrets themselves
    are not written.
  - Host names, addresses and serial numbers stay.
  - When the credentials must not read Secrets, only private keys and credentials in URLs are hidden, with a warning.
    What else they must not read, and the log of a container that cannot be read, is left out with a warning.
  - Nothing in the plane is changed.
options:
  dest:
    description:
      - Folder for the files, on the machine that the module runs on. It must not exist, or be an empty folder of the
        user who runs the module, and no symbolic link; only this user can read it.
      - In it are C(pods/<namespace>/<pod>/<container>.log), with C(.previous.log) of a container that was started
        again; C(events/<namespace>.yaml); C(objects/<Kind>.<group>/<namespace>.<name>.yaml); C(process/<name>.log);
        C(process/deploy), what the deploy agent has sent; C(summary.yaml).
    type: path
    required: true
  namespaces:
    description:
      - Namespaces of hosts and clusters, beside those in which the plane's parts run. Those that do not exist are left
        out.
    type: list
    elements: str
    default: [metal3]
  since_seconds:
    description: How far back logs of containers and of the deploy agent are read.
    type: int
    default: 86400
  limit_mebibytes:
    description: How much of each log is read, in MiB; of a longer one the newest part.
    type: int
    default: 20
  process_dir:
    description:
      - Folder of a plane of processes, such as a lab's, on the machine that the module runs on. C(log/*.log) and
        C(log/deploy) of it are read, and the files in C(secrets) so that they can be hidden. Symbolic links are not
        followed.
    type: path
  release:
    description: Version of the collection, for the summary.
    type: str
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - Reads everything and returns which files would be written.
  diff_mode:
    support: none
  idempotent:
    support: none
    details:
      - Logs go on. A second run into the same folder is refused.
seealso:
  - module: metal3.baremetal.plane_check
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Gather what the plane in a cluster says of the last hour
  metal3.baremetal.plane_logs:
    kubeconfig: ~/.kube/management
    dest: /var/tmp/metal3-logs
    since_seconds: 3600

- name: Gather what a plane of processes says
  metal3.baremetal.plane_logs:
    kubeconfig: /var/lib/metal3-plane/kubeconfig
    process_dir: /var/lib/metal3-plane
    dest: /var/tmp/metal3-process-logs
"""

RETURN = r"""
dest:
  description: Absolute path of the folder.
  returned: success
  type: str
  sample: /var/tmp/metal3-logs
files:
  description: The files, by path.
  returned: success
  type: list
  elements: dict
  contains:
    path:
      description: Path in the folder.
      type: str
    bytes:
      description: Its size.
      type: int
  sample:
    - path: pods/capm3-system/capm3-controller-manager-6d5f7/manager.log
      bytes: 48213
    - path: summary.yaml
      bytes: 1032
hidden:
  description: How many values were replaced in all files.
  returned: success
  type: int
  sample: 12
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._logs.module import run_plane_logs


def main():
    """Run the module."""
    run_plane_logs()


if __name__ == "__main__":
    main()
