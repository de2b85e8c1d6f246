# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module finds its Kubernetes API server."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``kube_argument_spec`` in ``module_utils/kube/client.py``."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig file.
      - Falls back to E(KUBECONFIG), then E(K8S_AUTH_KUBECONFIG), then C(~/.kube/config), then the service account of
        the pod that this runs in.
    type: path
  context:
    description: Name of the context in the kubeconfig. Falls back to E(K8S_AUTH_CONTEXT), then the current context.
    type: str
  host:
    description: URL of the API server, in place of the kubeconfig's. Falls back to E(K8S_AUTH_HOST).
    type: str
  api_key:
    description: Bearer token. Falls back to E(K8S_AUTH_API_KEY).
    type: str
  ca_cert:
    description: Path of a file with the API server's certificate authority. Falls back to E(K8S_AUTH_SSL_CA_CERT).
    type: path
  client_cert:
    description: Path of a client certificate. Falls back to E(K8S_AUTH_CERT_FILE).
    type: path
  client_key:
    description: Path of the key of O(client_cert). Falls back to E(K8S_AUTH_KEY_FILE).
    type: path
  validate_certs:
    description:
      - Whether the API server's certificate is verified. Falls back to E(K8S_AUTH_VERIFY_SSL), then the kubeconfig's
        setting, then verification.
    type: bool
requirements:
  - kubernetes >= 24.2
"""
