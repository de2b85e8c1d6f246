# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an inventory plugin finds the options of the fragment ``kubernetes``, beside its own file."""
from __future__ import annotations


class ModuleDocFragment:
    """Environment variables, the same as those of ``kube_argument_spec``, and keys of ``ansible.cfg``."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    env:
      - name: KUBECONFIG
      - name: K8S_AUTH_KUBECONFIG
    ini:
      - section: metal3_inventory
        key: kubeconfig
  context:
    env:
      - name: K8S_AUTH_CONTEXT
    ini:
      - section: metal3_inventory
        key: context
  host:
    env:
      - name: K8S_AUTH_HOST
    ini:
      - section: metal3_inventory
        key: host
  api_key:
    env:
      - name: K8S_AUTH_API_KEY
  ca_cert:
    env:
      - name: K8S_AUTH_SSL_CA_CERT
    ini:
      - section: metal3_inventory
        key: ca_cert
  client_cert:
    env:
      - name: K8S_AUTH_CERT_FILE
    ini:
      - section: metal3_inventory
        key: client_cert
  client_key:
    env:
      - name: K8S_AUTH_KEY_FILE
    ini:
      - section: metal3_inventory
        key: client_key
  validate_certs:
    env:
      - name: K8S_AUTH_VERIFY_SSL
    ini:
      - section: metal3_inventory
        key: validate_certs
  impersonate_user:
    env:
      - name: K8S_AUTH_IMPERSONATE_USER
    ini:
      - section: metal3_inventory
        key: impersonate_user
  impersonate_groups:
    env:
      - name: K8S_AUTH_IMPERSONATE_GROUPS
    ini:
      - section: metal3_inventory
        key: impersonate_groups
  proxy:
    env:
      - name: K8S_AUTH_PROXY
    ini:
      - section: metal3_inventory
        key: proxy
  no_proxy:
    env:
      - name: K8S_AUTH_NO_PROXY
    ini:
      - section: metal3_inventory
        key: no_proxy
"""
