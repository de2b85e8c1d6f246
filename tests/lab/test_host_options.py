# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a host: those that the real webhook takes, those that Ironic learns of, and hosts of other namespaces."""
from __future__ import annotations

import base64
import json

import pytest
from support import HOST, NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.module import host_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._host.service import HostService
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECRET = KNOWN["Secret"]
ELSEWHERE = "elsewhere"
REGISTRY = {"auths": {"registry.example.org": {"username": "u", "password": "p"}}}
IMAGE = {"url": "http://192.0.2.1/image", "checksum": "a" * 64, "checksum_type": "sha256"}
# Beyond what the lab's servers can do, so only shown to the API server: what differs from a plain host.
VARIANTS = {
    "raw": {"image": dict(IMAGE, format="raw")},
    "qcow2": {"image": dict(IMAGE, format="qcow2", checksum="http://192.0.2.1/image.sha256", checksum_type="auto")},
    "live-iso": {"image": {"url": "http://192.0.2.1/live.iso", "format": "live-iso"}},
    "oci": {"image": {"url": "oci://registry.example.org/image:1", "oci_auth_secret_name": "test-registry"}},
    "custom-deploy": {"custom_deploy": {"method": "install_coreos"}},
    "external": {"externally_provisioned": True, "image": IMAGE},
    "hardware-raid": {"raid": {"hardware_raid_volumes": [
        {"level": "1", "size_gibibytes": 100, "name": "root", "rotational": False, "number_of_physical_disks": 2},
        {"level": "5", "controller": "RAID.1", "physical_disks": ["d1", "d2", "d3"]}]}},
    "software-raid": {"raid": {"software_raid_volumes": [
        {"level": "1", "size_gibibytes": 10, "physical_disks": [{"device_name": "/dev/sda"}, {"serial_number": "S2"}]},
        {"level": "0"}]}},
    "hints": {"root_device_hints": {
        "device_name": "/dev/disk/by-path/pci-0000:01:00.0-scsi-0:2:0:0", "hctl": "0:0:0:0", "model": "m",
        "vendor": "v", "serial_number": "S1", "min_size_gigabytes": 10, "wwn": "w", "wwn_with_extension": "x",
        "wwn_vendor_extension": "y", "rotational": False}},
    "modes": {"boot_mode": "UEFISecureBoot", "automated_cleaning_mode": "disabled", "inspection_mode": "disabled",
              "architecture": "aarch64", "disable_power_off": True, "description": "text",
              "hardware_profile": "unknown"},
    "data": dict((option, {"content": "{}"}) for option in (
        "user_data", "network_data", "meta_data", "preprovisioning_network_data")),
    "reserved": {"consumer_ref": {"api_version": "v1", "kind": "Pod", "name": "p", "namespace": NAMESPACE},
                 "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}], "online": False},
}


def entry(name, number, **values):
    address = f"redfish://192.0.2.{number + 1}/redfish/v1/Systems/1"
    return dict({"name": "variant-" + name, "state": "present", "boot_mac_address": f"00:5c:52:fe:01:{number:02x}",
                 "bmc": {"address": address, "username": "u", "password": "p"}}, **values)


def run(client, hosts, check_mode=False, **options):
    params = dict((name, spec.get("default")) for name, spec in host_argument_spec().items())
    params.update(options, hosts=hosts)
    return HostService(client, params, check_mode, Progress()).run()


@pytest.fixture
def registry_secret(lab):
    """A Secret with the credentials of a registry."""
    data = {".dockerconfigjson": base64.b64encode(json.dumps(REGISTRY).encode()).decode()}
    lab.kube.create(SECRET, NAMESPACE, {"type": "kubernetes.io/dockerconfigjson", "data": data,
                                        "metadata": {"name": "test-registry"}})
    yield
    lab.kube.delete(SECRET, NAMESPACE, "test-registry")


def test_every_option_is_taken_by_the_api_server_and_its_webhook(lab, registry_secret):
    hosts = [entry(name, number, **values) for number, (name, values) in enumerate(VARIANTS.items())]
    result = run(lab.kube, hosts, check_mode=True)
    assert [facts["error"] for facts in result["hosts"]] == [""] * len(VARIANTS)
    assert result["counts"]["created"] == len(VARIANTS)
    with pytest.raises(RefusedError, match=r"no credentials for other.example.org"):
        run(lab.kube, [entry("oci", 1, image={
            "url": "oci://other.example.org/image:1", "oci_auth_secret_name": "test-registry"})], check_mode=True)


def test_options_reach_ironic_at_once(lab):
    name = sorted(lab.servers)[0]
    given = ("--limit", name, "-e", "hosts_allow_detach=true")
    options = {"bmh_disable_power_off": True, "bmh_automated_cleaning_mode": "disabled", "bmh_description": "changed",
               "bmc_disable_certificate_verification": True}
    node = lab.nodes()[name]
    try:
        lab.playbook("enroll", "--limit", name, "-e", json.dumps(options)).failed(
            "bmc_disable_certificate_verification", "set hosts_allow_detach")
        check = lab.playbook("enroll", *given, "-e", json.dumps(options), "--check", "--diff").ok()
        assert check.changed() == 1 and "+    disableCertificateVerification: true" in check.output
        lab.playbook("enroll", *given, "-e", json.dumps(options)).ok()
        # The host's state does not say when all is set: the node is made first.
        eventually(lambda: lab.nodes()[name].is_automated_clean_enabled is False, 60, "cleaning disabled")
        changed = lab.nodes()[name]
        assert changed.id != node.id
        assert changed.driver_info["redfish_verify_ca"] is False and changed.driver_info["redfish_system_id"] == \
            node.driver_info["redfish_system_id"]
        # openstacksdk does not know this field.
        assert lab.ironic().get("/nodes/" + changed.id, microversion="1.95").json()["disable_power_off"] is True
        assert lab.playbook("enroll", *given, "-e", json.dumps(options)).ok().changed() == 0
    finally:
        lab.playbook("enroll", *given, "-e", json.dumps(dict(
            options, bmh_disable_power_off=False, bmh_automated_cleaning_mode="metadata", bmh_description="",
            bmc_disable_certificate_verification=False))).ok()
        # Fields that nothing describes any more go now, so that a later run of another test changes nothing.
        lab.playbook("enroll", *given).ok()
    assert lab.playbook("enroll", *given).ok().changed() == 0
    assert "redfish_verify_ca" not in lab.nodes()[name].driver_info and lab.state(name) == "available"


def test_a_path_that_was_wrong_is_sent_to_ironic_whoever_owns_the_secret(lab):
    server = lab.servers[sorted(lab.servers)[0]]
    systems = server["bmc"]["address"].rpartition("/")[0]
    data = dict((key, base64.b64encode((lab.dir / server["bmc"][key + "_file"]).read_bytes().strip()).decode())
                for key in ("username", "password"))
    mine = lab.kube.create(SECRET, NAMESPACE, {"data": data, "metadata": {"name": "test-credentials"}})

    def enrol(path):
        return run(lab.kube, [entry("path", 90, bmc={
            "address": f"{systems}/{path}", "credentials_name": "test-credentials"})],
            wait_for="registered", wait_timeout_seconds=120)["hosts"][0]
    try:
        assert "no system at the path" in enrol("wrong-one")["error"]
        assert "Systems/wrong-two not found" in enrol("wrong-two")["error"]
        seen = lab.kube.get(SECRET, NAMESPACE, "test-credentials")
        assert seen["data"] == mine["data"]
        # The operator, and who made it.
        assert sorted(item["operation"] for item in seen["metadata"]["managedFields"]) == ["Update", "Update"]
    finally:
        lab.remove_hosts("variant-path")
        # It goes with the host that used it, by the operator's own owner reference.
        eventually(lambda: lab.kube.get(SECRET, NAMESPACE, "test-credentials") is None, 30, "the Secret gone")


@pytest.fixture
def elsewhere(lab):
    """A namespace with a host that nobody manages, which has a MAC address."""
    lab.kube.create(KNOWN["Namespace"], None, {"metadata": {"name": ELSEWHERE}})
    lab.kube.apply(HOST, ELSEWHERE, {
        "apiVersion": HOST.api_version, "kind": HOST.kind, "metadata": {"name": "theirs"},
        "spec": {"online": False, "bootMACAddress": "00:5C:52:FE:01:63"}})
    yield
    lab.kube.delete(HOST, ELSEWHERE, "theirs")
    lab.kube.delete(KNOWN["Namespace"], None, ELSEWHERE)
    eventually(lambda: lab.kube.get(KNOWN["Namespace"], None, ELSEWHERE) is None, 60, "the namespace gone")


@pytest.fixture
def limited(lab):
    """A client that may read one namespace only."""
    rules = [{"apiGroups": ["metal3.io"], "resources": ["baremetalhosts"], "verbs": ["list"]},
             {"apiGroups": [""], "resources": ["secrets"], "verbs": ["list", "get"]},
             {"apiGroups": ["metal3.io"], "resources": ["baremetalhosts"], "verbs": ["patch", "create"]},
             {"apiGroups": [""], "resources": ["secrets"], "verbs": ["patch", "create"]}]
    metadata = {"metadata": {"name": "limited"}}
    account, role, binding = KNOWN["ServiceAccount"], KNOWN["Role"], KNOWN["RoleBinding"]
    lab.kube.create(account, NAMESPACE, metadata)
    lab.kube.create(role, NAMESPACE, dict(metadata, rules=rules))
    lab.kube.create(binding, NAMESPACE, dict(
        metadata, roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "limited"},
        subjects=[{"kind": "ServiceAccount", "name": "limited", "namespace": NAMESPACE}]))
    token = lab.kube.request("POST", account.path(NAMESPACE, "limited", "token"), body={
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})
    client = KubeClient({"host": lab.kube.server, "api_key": token["status"]["token"],
                         "ca_cert": str(lab.dir / "pki" / "ca.crt")})
    # The API server reads roles from a cache of its own.
    eventually(lambda: client.list(HOST, NAMESPACE), 30, "the role in force", not_yet=KubeError)
    yield client
    for resource in (binding, role, account):
        lab.kube.delete(resource, NAMESPACE, "limited")


def test_hosts_of_other_namespaces_are_compared_as_far_as_they_may_be_read(lab, elsewhere, limited):
    with pytest.raises(RefusedError, match=rf"boot_mac_address.*{ELSEWHERE}/theirs has it"):
        run(lab.kube, [entry("double", 99)], check_mode=True)
    result = run(limited, [entry("double", 99)], check_mode=True)
    assert result["counts"] == {
        "total": 1, "created": 1, "updated": 0, "deleted": 0, "unchanged": 0, "failed": 0}
    assert f"only hosts of namespace {NAMESPACE} were compared" in result["warnings"][0]
