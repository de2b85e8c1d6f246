# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task asks the BMCs of all servers: each is verified by the authorities that its own server's variables name."""
from __future__ import annotations

import base64
import json

import pytest
from bmc_certificates import issue
from fakes import playbook
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.redfish import FakeRedfish, tree
from fakes.used_hosts import in_use

ROTATE = "metal3.baremetal.rotate_bmc_credentials", "--check"
RESTORE = ("metal3.baremetal.restore", "-e", "restore_clusterctl=/none", "-e", "restore_path=/none", "-e",
           "restore_identity_file=/none")


def logged_in(folder, arguments, of_others, first, second, *given):
    """Return which of two servers' BMCs somebody has logged in to; each has a certificate of its own rack's authority.

    In the values ``rack1``, ``rack2`` and ``both`` stand for files with these authorities.
    """
    leaves = [issue(folder, f"{rack}-bmc", issuer=issue(folder, rack)[1])[0] for rack in ("rack1", "rack2")]
    (folder / "both.crt").write_text("".join((folder / f"{rack}.crt").read_text() for rack in ("rack1", "rack2")))

    def values(variables):
        return dict((name, str(folder / f"{value}.crt")) for name, value in variables.items())

    one, two = (FakeRedfish(tree("dell"), certificate=leaf) for leaf in leaves)
    with one, two:
        addresses = [f"redfish://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1" for bmc in (one, two)]
        objects = []
        for name, address in zip(("h1", "h2"), addresses):
            host = in_use(name)
            host["spec"]["bmc"] = {"address": address, "credentialsName": f"{name}-bmc-secret"}
            objects += [host, {"apiVersion": "v1", "kind": "Secret", "metadata": {
                "name": f"{name}-bmc-secret", "namespace": "metal3"}, "data": {
                    "username": base64.b64encode(b"admin").decode(), "password": base64.b64encode(b"right").decode()}}]
        with ApiServer(objects) as server:
            (folder / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
            inventory = json.dumps({"all": {
                "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                         "metal3_kubeconfig": str(folder / "kubeconfig")},
                "children": {
                    "management": {"hosts": {"m1": values(of_others)}},
                    "baremetal": {
                        "vars": {"bmc_username": "admin", "bmc_password": "right", "bmc_new_password": "new-password"},
                        "hosts": {name: dict(values(own), bmc_address=address) for name, own, address in zip(
                            ("h1", "h2"), (first, second), addresses)}}}}})
            dummy, output = playbook.play(
                folder, inventory, "", *arguments, "-e", json.dumps(values(dict(given))))
        return [name for name, bmc in (("h1", one), ("h2", two)) if bmc.logins], output


@pytest.mark.parametrize("first, second, given, expected", [
    ({"metal3_ca_file": "rack1"}, {"metal3_ca_file": "rack2"}, {}, ["h1", "h2"]),
    ({"metal3_ca_file": "rack2"}, {"metal3_ca_file": "rack2"}, {}, ["h2"]),
    ({"bmc_credentials_ca_cert": "rack1", "metal3_ca_file": "rack2"}, {"metal3_ca_file": "rack2"}, {}, ["h1", "h2"]),
    # What the first server trusts is not what one without a file does.
    ({"metal3_ca_file": "both"}, {}, {}, ["h1"]),
    ({"metal3_ca_file": "rack2"}, {}, {"bmc_credentials_ca_cert": "both"}, ["h1", "h2"])])
def test_a_rotation_logs_in_where_the_servers_own_authority_vouches(tmp_path, first, second, given, expected):
    found, output = logged_in(tmp_path, ROTATE, {}, first, second, *given.items())
    assert found == expected, output


@pytest.mark.parametrize("of_host, first, second, given, expected", [
    ({}, {"metal3_ca_file": "rack1"}, {"preflight_ca_cert": "rack2", "metal3_ca_file": "rack1"}, {}, ["h1", "h2"]),
    # The management host's files are for its own connections, unless it says that they are for this.
    ({"metal3_ca_file": "both", "preflight_ca_cert": "both"}, {"metal3_ca_file": "rack1"}, {}, {}, ["h1"]),
    ({"restore_ca_cert": "both"}, {"metal3_ca_file": "rack2"}, {}, {}, ["h1", "h2"]),
    ({"restore_ca_cert": "both"}, {"restore_ca_cert": "rack2"}, {}, {}, ["h2"]),
    ({"restore_ca_cert": "rack1"}, {}, {"restore_ca_cert": "rack2"}, {}, ["h1", "h2"]),
    ({}, {"metal3_ca_file": "rack2"}, {}, {"restore_ca_cert": "both"}, ["h1", "h2"])])
def test_a_restore_logs_in_where_the_servers_own_authority_vouches(tmp_path, of_host, first, second, given, expected):
    found, output = logged_in(tmp_path, RESTORE, of_host, first, second, *given.items())
    assert found == expected, output


def test_what_a_play_gives_a_restore_is_for_all_servers(tmp_path):
    play = json.dumps([{"hosts": "m1", "gather_facts": False, "roles": [{
        "role": "metal3.baremetal.restore", "restore_ca_cert": str(tmp_path / "both.crt")}]}])
    (tmp_path / "given.yml").write_text(play)
    found, output = logged_in(tmp_path, ("given.yml", *RESTORE[1:]), {"restore_ca_cert": "rack1"},
                              {"restore_ca_cert": "rack2"}, {"metal3_ca_file": "rack1"})
    assert found == ["h1", "h2"], output
