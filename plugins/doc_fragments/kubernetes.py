# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module finds its Kubernetes API server."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``kube_argument_spec`` in ``module_utils/_kube/connection/connection.py``."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig file, or a kubeconfig as a dictionary, which needs no file. Given as an option, it names
        the server and the user; E(K8S_AUTH_HOST), E(K8S_AUTH_API_KEY), E(K8S_AUTH_CERT_FILE) and E(K8S_AUTH_KEY_FILE)
        are not read then.
      - Falls back to E(KUBECONFIG), then E(K8S_AUTH_KUBECONFIG), then C(~/.kube/config), then the service account of
        the pod that this runs in, but only when neither O(host) nor O(api_key) nor O(client_cert) is given, as an
        option or in the environment. Whoever names a server or a user does not mean those of a kubeconfig that the
        environment happens to have.
      - Of several files, separated by colons, the first that names a thing counts; empty files are ignored, and so are
        absolute paths of files that do not exist.
      - A relative path starts at the folder in which the module runs. On the controller that is the playbook's, not the
        one in which Ansible was started. If there is no such file, also one of several, the task fails.
      - It may use an C(exec) credential plugin, a token file, C(proxy-url), C(as) and C(as-groups). The kubeconfig of a
        workload cluster that is read from a Secret cannot.
      - The server is decided at the beginning of a task. Credentials that are renewed meanwhile go to that server only;
        if the kubeconfig names another one by then, the task fails.
      - Secrets in a dictionary are hidden in everything that the module returns and logs.
    type: raw
  context:
    description: Name of the context in the kubeconfig. Falls back to E(K8S_AUTH_CONTEXT), then the current context.
    type: str
  host:
    description:
      - URL of the API server. Falls back to E(K8S_AUTH_HOST), unless O(kubeconfig) is an option.
      - With the option O(kubeconfig) beside it, everything, and that kubeconfig's credentials, goes to this server in
        place of the kubeconfig's.
    type: str
  api_key:
    description:
      - Bearer token, sent to O(host), or to the server of the option O(kubeconfig), whose certificates, tokens and
        plugins are not used then. Falls back to E(K8S_AUTH_API_KEY), unless O(kubeconfig) is an option.
      - E(K8S_AUTH_API_KEY), E(K8S_AUTH_CERT_FILE) and E(K8S_AUTH_KEY_FILE) are not read when O(host) is an option and
        E(K8S_AUTH_HOST) names another server, whose credentials they are.
      - Not together with O(client_cert), because a server that accepts the certificate ignores the token.
    type: str
  ca_cert:
    description: Path of a file with the API server's certificate authority. Falls back to E(K8S_AUTH_SSL_CA_CERT).
    type: path
  client_cert:
    description:
      - Path of a client certificate, in place of the credentials of the option O(kubeconfig). Falls back to
        E(K8S_AUTH_CERT_FILE), unless O(kubeconfig) is an option, or O(host) is one and E(K8S_AUTH_HOST) names another
        server.
    type: path
  client_key:
    description: Path of the key of O(client_cert). Falls back to E(K8S_AUTH_KEY_FILE).
    type: path
  validate_certs:
    description:
      - Whether the API server's certificate is verified. Falls back to E(K8S_AUTH_VERIFY_SSL), then the kubeconfig's
        setting, then verification.
    type: bool
  impersonate_user:
    description:
      - Name of the user on whose behalf the API server acts; the credentials must allow it (verb C(impersonate)). Falls
        back to E(K8S_AUTH_IMPERSONATE_USER), then to C(as) in the kubeconfig.
      - Used on the API server that these options lead to, not on a workload cluster that is reached from there.
    type: str
  impersonate_groups:
    description:
      - Groups of O(impersonate_user), which is required with them. Fall back to E(K8S_AUTH_IMPERSONATE_GROUPS),
        separated by commas, unless O(impersonate_user) is an option.
    type: list
    elements: str
  proxy:
    description:
      - URL of an HTTP proxy before the API server; it may hold a user name and a password. Falls back to
        E(K8S_AUTH_PROXY), then to C(proxy-url) in the kubeconfig, then to E(HTTPS_PROXY), or E(HTTP_PROXY) for a server
        without TLS. The proxy of the last two is none for servers on the machine itself (C(localhost), C(127.0.0.0/8),
        C(::1)).
    type: str
  no_proxy:
    description:
      - Hosts that are asked without a proxy, separated by commas. Names stand for those below them, too, and addresses
        may be networks, for example V(192.0.2.0/24). Falls back to E(K8S_AUTH_NO_PROXY), then to E(NO_PROXY).
    type: str
requirements:
  - kubernetes >= 31
"""

    # The option of ``argument_spec`` in ``module_utils/_kube/api/cluster_identity.py``.
    IDENTITY = r"""
options:
  cluster_uid:
    description:
      - The C(metadata.uid) of the Namespace C(kube-system) of the cluster that an earlier task has checked, such as
        RV(metal3.baremetal.plane_move#module:from_uid) or RV(metal3.baremetal.plane_components#module:cluster_uid).
        Another cluster is refused, and nothing is written, since a kubeconfig may lead elsewhere by now. Without it
        nothing is compared.
    type: str
"""
