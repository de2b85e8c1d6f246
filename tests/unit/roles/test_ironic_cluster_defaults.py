# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic, mode cluster: what the module gets by variables of the plane and of the operator."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "ironic"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
LEFT_OUT = "(left out)"
OPTIONS = ("image_registry_mirror", "pull_secrets", "deploy_kernel_url", "deploy_ramdisk_url", "deploy_iso_url",
           "cache_url", "tls_certificate", "tls_key", "tls_authority", "tls_issuer", "bmc_authority",
           "image_authority_file", "image_authority")


def given_to_module(folder, variables):
    """Return those of the options that the module gets."""
    tasks = ansible_yaml.read(ROLE / "tasks" / "cluster.yml")
    module = "metal3.baremetal.plane_ironic"
    expressions = next(task[module] for task in tasks if module in task)
    shown = ", ".join("'%s': %s" % (name, expressions[name].strip("{} ").replace("omit", f"'{LEFT_OUT}'"))
                      for name in OPTIONS)
    path = folder / "shown.json"
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "defaults" / "main.yml")}, {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"copy": {"content": "{{ {%s} | to_json }}" % shown, "dest": str(path), "mode": "0600"}}]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(
        dict({"management_plane": {"mode": "cluster"}, "ironic_mode": "cluster"}, **variables)))
    assert code == 0, output
    return dict((name, value) for name, value in json.loads(path.read_text()).items() if value not in (LEFT_OUT, []))


@pytest.mark.parametrize("variables, expected", [
    ({"management_plane": {"options": {"image_registry_mirror": "mirror.example", "pull_secrets": ["login"]}}},
     {"image_registry_mirror": "mirror.example", "pull_secrets": ["login"]}),
    ({"bmo_deploy_kernel_url": "k", "bmo_deploy_ramdisk_url": "r"},
     {"deploy_kernel_url": "k", "deploy_ramdisk_url": "r"}),
    # The operator names what is downloaded into the pod.
    ({"bmo_deploy_kernel_url": "k", "bmo_deploy_ramdisk_url": "r", "ironic_cache_url": "c"}, {"cache_url": "c"}),
    ({"bmo_deploy_iso_url": "i"}, {"deploy_iso_url": "i"}),
    # The module reports all that is missing.
    ({"ironic_tls": "files"}, {"image_authority_file": "/certs/ca/ironic/tls.crt"}),
])
def test_the_pod_follows_the_plane_and_the_operator(tmp_path, variables, expected):
    assert given_to_module(tmp_path, variables) == expected


def test_the_authority_of_bmcs_is_given_without_certificates_of_ironics_own(tmp_path):
    path = tmp_path / "bmc.crt"
    path.write_text("certificate")
    assert given_to_module(tmp_path, {"ironic_bmc_ca_file": str(path)}) == {"bmc_authority": "certificate"}


def test_bmcs_are_verified_by_the_file_that_preflight_has_used(tmp_path):
    """As by a process; in a pod BMCs of a site's authority were refused that preflight had passed."""
    site, bmc = tmp_path / "site.crt", tmp_path / "bmc.crt"
    site.write_text("site")
    bmc.write_text("bmc")
    assert given_to_module(tmp_path, {"metal3_ca_file": str(site)}) == {
        "bmc_authority": "site", "image_authority": "site"}
    assert given_to_module(tmp_path, {"metal3_ca_file": str(site), "ironic_bmc_ca_file": str(bmc)}) == {
        "bmc_authority": "bmc", "image_authority": "site"}
    # What Python trusts.
    assert given_to_module(tmp_path, {"metal3_ca_file": str(site), "ironic_bmc_ca_file": ""}) == {
        "image_authority": "site"}


@pytest.mark.parametrize("tls", [{}, {"ironic_tls": "none"}, {"ironic_tls": "files", "ironic_ca_file": ""}])
def test_the_authority_of_the_image_server_is_given_where_ironic_has_none_or_another(tmp_path, tls):
    path = tmp_path / "site.crt"
    path.write_text("certificate")
    assert given_to_module(tmp_path, dict(tls, metal3_ca_file=str(path))) == {
        "image_authority": "certificate", "bmc_authority": "certificate"}


@pytest.mark.parametrize("variable, more", [
    ("ironic_ca_file", {}), ("metal3_ca_file", {"bmc_authority": "certificate"})])
def test_the_authority_of_a_sites_issuer_is_that_of_the_site(tmp_path, variable, more):
    path = tmp_path / "site.crt"
    path.write_text("certificate")
    issuer = {"name": "site", "kind": "ClusterIssuer"}
    assert given_to_module(tmp_path, {"ironic_tls_issuer": issuer, variable: str(path)}) == {
        "tls_issuer": issuer, "tls_authority": "certificate", "image_authority_file": "/certs/ca/ironic/tls.crt",
        **more}


@pytest.mark.parametrize(("given", "secret"), [
    ({}, "ironic-cacert"), ({"ironic_tls_issuer": {"name": "site"}}, "ironic-issuer-cacert"),
    ({"ironic_tls": "none"}, ""), ({"ironic_mode": "external"}, "")])
def test_the_operator_gets_the_authority_that_ironics_certificate_has(tmp_path, given, secret):
    path = tmp_path / "shown.txt"
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "defaults" / "main.yml")},
        {"include_vars": str(ROLE.parent / "bmo" / "defaults" / "main.yml")},
        {"copy": {"content": "{{ bmo_ironic_ca_secret }}", "dest": str(path), "mode": "0600"}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
        dict({"management_plane": {"mode": "cluster"}, "ironic_mode": "cluster"}, **given)))
    assert code == 0, output
    assert path.read_text() == secret
