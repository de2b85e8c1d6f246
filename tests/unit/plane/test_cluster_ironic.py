# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic in a cluster: options to objects, and credentials that are created once."""
from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path

import bcrypt
import bmc_certificates
import pytest
from fakes.plane_server import Server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.diff import owned_tree
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import (
    ironic,
    ironic_database,
    ironic_service,
    objects,
    service,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import settings as part_settings
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import manifests

NAMESPACE = "baremetal-operator-system"


def pair():
    """Return a certificate for the address of :func:`options`, and its key."""
    with tempfile.TemporaryDirectory() as folder:
        paths, _signer = bmc_certificates.issue(Path(folder), "ironic", address="192.0.2.2")
        return [Path(path).read_text() for path in paths]


CERTIFICATE, KEY = pair()


def loopback():
    with tempfile.TemporaryDirectory() as folder:
        paths, _signer = bmc_certificates.issue(Path(folder), "mariadb")
        return [Path(path).read_text() for path in paths]


def with_mariadb(**changes):
    """Options with a database whose certificate is its own authority, as Ironic's is."""
    certificate, key = loopback()
    return options(**dict({"mariadb": True, "mariadb_claim": "data", "mariadb_certificate": certificate,
                           "mariadb_key": key, "tls_authority": CERTIFICATE + certificate}, **changes))


def options(**changes):
    return dict({
        "namespace": NAMESPACE, "authentication": "http_basic", "credentials_dir": None, "tls": "files",
        "tls_certificate": CERTIFICATE, "tls_key": KEY, "tls_authority": CERTIFICATE,
        "provisioning_ip": "192.0.2.2", "keepalived": False, "standby": False, "mariadb": False, "mariadb_claim": None,
        "http_port": 6180, "deploy_kernel_url": "https://images.example/kernel",
        "deploy_ramdisk_url": "https://images.example/ramdisk", "fast_track": True, "image_version": "v39.0.0",
        "environment": {"OS_CONDUCTOR__WORKERS_POOL_SIZE": 2000},
        "rotation": "none", "renew_certificate": False, "with_cert_manager": False, "adopt": [], "confirm": None,
        "confirm_upgrade": None,
        "confirm_among": [], "wait": False, "wait_timeout_seconds": 1, "certificates": "cert_manager"}, **changes)


def container(name, **more):
    return dict({"name": name, "image": ironic.IMAGE, "imagePullPolicy": "Always"}, **more)


def shipped():
    probe = {"exec": {"command": ["sh", "-c", "curl -sSfk http://127.0.0.1:6180/images"]}}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ironic"}, "spec": {"template": {
            "metadata": {"labels": {"name": "ironic"}}, "spec": {
                "initContainers": [container("ironic-ipa-downloader", image=ironic.DOWNLOADER)],
                "containers": [container("ironic-dnsmasq"), container("ironic"),
                               container("ironic-httpd", livenessProbe=probe)]}}}},
        {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "ironic-cert"},
         "spec": {"ipAddresses": ["IRONIC_HOST_IP"], "secretName": "ironic-cert"}}]


def made(given):
    credentials = {"username": "user", "password": "canary", "htpasswd": "user:digest"}
    return dict(((item["kind"], item["metadata"]["name"]), item) for item in ironic.desired(
        shipped(), given, ironic.secrets(given, credentials)))


def pod(found):
    return found["Deployment", "ironic"]["spec"]["template"]


def test_manifests_are_chosen_by_authentication_and_tls():
    names = set(ironic.variant(authentication, tls, keepalived, mariadb) for authentication in ("http_basic", "none")
                for tls in ("cert_manager", "none") for keepalived in (True, False) for mariadb in (True, False)
                if tls != "none" or not mariadb)
    assert names == set(manifests.IRONIC_VARIANTS)


def test_given_certificates_take_the_place_of_cert_managers():
    found = made(options())
    assert ("Certificate", "ironic-cert") not in found
    assert base64.b64decode(found["Secret", "ironic-cert"]["data"]["tls.key"]) == KEY.encode()
    assert all(item["metadata"]["namespace"] == NAMESPACE for item in found.values())


ISSUER = {"name": "site", "kind": "ClusterIssuer", "group": "cert-manager.io"}


def with_issuer(**changes):
    return options(**dict({"tls": "cert_manager", "tls_issuer": ISSUER, "tls_certificate": None, "tls_key": None},
                          **changes))


def test_a_sites_issuer_takes_the_place_of_cert_managers_own_authority():
    given, items = with_issuer(), shipped()
    items[0]["spec"]["template"]["spec"]["volumes"] = [
        {"name": name, "secret": {"secretName": secret}} for name, secret in (
            ("cert-ironic-ca", "ironic-cacert"), ("cert-ironic", "ironic-cert"), ("data", None)) if secret]
    items += [
        {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "ironic-cacert"},
         "spec": {"isCA": True, "secretName": "ironic-cacert", "issuerRef": {"name": "selfsigned-issuer"}}},
        {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "ca-issuer"},
         "spec": {"ca": {"secretName": "ironic-cacert"}}}]
    found = dict(((item["kind"], item["metadata"]["name"]), item) for item in ironic.desired(
        items, given, ironic.secrets(given, {})))
    assert [key for key in found if key[0] in ("Certificate", "Issuer")] == [("Certificate", "ironic-cert")]
    assert found["Certificate", "ironic-cert"]["spec"] == {
        "ipAddresses": ["192.0.2.2"], "secretName": "ironic-cert", "issuerRef": ISSUER}
    stored = found["Secret", "ironic-issuer-cacert"]["data"]
    assert base64.b64decode(stored["tls.crt"]).decode() == CERTIFICATE and "tls.key" not in stored
    assert [item["secret"]["secretName"] for item in pod(found)["spec"]["volumes"]] == [
        "ironic-issuer-cacert", "ironic-cert"]
    assert ("Secret", "ironic-issuer-cacert") in set(
        (item["kind"], item["metadata"]["name"]) for item in ironic.removable(shipped(), NAMESPACE))
    # Without one it is upstream's.
    found = ironic.desired(items, options(tls="cert_manager"), [])
    assert len([item for item in found if item["kind"] in ("Certificate", "Issuer")]) == 3


@pytest.mark.parametrize("tls", ["files", "cert_manager", "none"])
def test_bmcs_are_verified_by_the_given_authority_whatever_ironic_itself_serves(tls):
    """ironic-image looks into one folder, in which nothing was mounted."""
    def mounts(found, container):
        pod = found["Deployment", "ironic"]["spec"]["template"]["spec"]
        volumes = dict((item["name"], item) for item in pod.get("volumes", []))
        mounted = next(item for item in pod["containers"] if item["name"] == container).get("volumeMounts", [])
        return dict((item["mountPath"], volumes[item["name"]]["secret"]["secretName"]) for item in mounted
                    if item["name"] in volumes)

    found = made(options(tls=tls, bmc_authority=CERTIFICATE))
    assert mounts(found, "ironic") == {"/certs/ca/bmc": "ironic-bmc-cacert"}
    assert mounts(found, "ironic-httpd") == {}
    stored = found["Secret", "ironic-bmc-cacert"]["data"]
    assert base64.b64decode(stored["tls.crt"]).decode() == CERTIFICATE
    without = made(options(tls=tls))
    assert mounts(without, "ironic") == {} and ("Secret", "ironic-bmc-cacert") not in without
    assert ("Secret", "ironic-bmc-cacert") in set(
        (item["kind"], item["metadata"]["name"]) for item in ironic.removable(shipped(), NAMESPACE))


@pytest.mark.parametrize("tls", ["files", "cert_manager", "none"])
def test_image_servers_are_verified_by_an_authority_of_their_own(tls):
    found = made(options(tls=tls, image_authority=CERTIFICATE))
    container, = (item for item in pod(found)["spec"]["containers"] if item["name"] == "ironic")
    volume, = (item["name"] for item in container["volumeMounts"] if item["mountPath"] == "/certs/ca/images")
    assert {"name": volume, "secret": {"secretName": "ironic-image-cacert"}} in pod(found)["spec"]["volumes"]
    assert found["ConfigMap", ironic.CONFIG_MAP]["data"]["WEBSERVER_CACERT_FILE"] == "/certs/ca/images/tls.crt"
    stored = found["Secret", "ironic-image-cacert"]["data"]
    assert base64.b64decode(stored["tls.crt"]).decode() == CERTIFICATE
    without = made(options(tls=tls))
    assert ("Secret", "ironic-image-cacert") not in without
    assert "WEBSERVER_CACERT_FILE" not in without["ConfigMap", ironic.CONFIG_MAP]["data"]
    assert ("Secret", "ironic-image-cacert") in set(
        (item["kind"], item["metadata"]["name"]) for item in ironic.removable(shipped(), NAMESPACE))


def test_a_certificate_of_cert_manager_has_the_provisioning_address():
    found = made(options(tls="cert_manager"))
    assert found["Certificate", "ironic-cert"]["spec"]["ipAddresses"] == ["192.0.2.2"]
    assert ("Secret", "ironic-cert") not in found


def test_a_certificate_of_cert_manager_has_names_and_addresses_by_which_ironic_is_called():
    def spec(**changes):
        return made(options(tls="cert_manager", **changes))["Certificate", "ironic-cert"]["spec"]

    found = spec(tls_names=["ironic.example.org", "192.0.2.2", "2001:db8::2", "Ironic.example.org"])
    assert found["dnsNames"] == ["ironic.example.org"] and found["ipAddresses"] == ["192.0.2.2", "2001:db8::2"]
    addresses = spec(tls_names=["192.0.2.7"])
    assert addresses["ipAddresses"] == ["192.0.2.2", "192.0.2.7"] and "dnsNames" not in addresses
    assert "dnsNames" not in spec(tls_names=[])


def test_mariadbs_certificate_has_no_names_of_ironic():
    _spec, found, _added = of_mariadb(with_mariadb(tls="cert_manager", tls_names=["ironic.example.org"]))
    assert "dnsNames" not in found["Certificate", "mariadb-cert"]["spec"]


def test_without_a_range_no_dhcp_server_runs_and_nothing_is_downloaded_that_has_a_url():
    spec = pod(made(options()))["spec"]
    assert [item["name"] for item in spec["containers"]] == ["ironic", "ironic-httpd"]
    assert "initContainers" not in spec
    spec = pod(made(options(dhcp_range="192.0.2.10,192.0.2.20", deploy_kernel_url=None, deploy_ramdisk_url=None,
                            cache_url="https://images.example")))["spec"]
    assert spec["containers"][0]["name"] == "ironic-dnsmasq"
    assert spec["initContainers"][0]["image"] == ironic.DOWNLOADER + ":latest"
    alone = options(deploy_kernel_url=None, deploy_ramdisk_url=None, deploy_iso_url="https://images.example/agent.iso")
    assert ironic.problems(alone) == [] and "initContainers" not in pod(made(alone))["spec"]


@pytest.mark.parametrize(("changes", "owners"), [
    ({}, []),
    # What is said behind the two ends, such as the length of a lease, is dnsmasq's.
    ({"dhcp_range": "192.0.2.2, 192.0.2.20,255.255.255.0,1h"}, ["192.0.2.2, the address of provisioning_ip"]),
    ({"gateway_ip": "192.0.2.15"}, ["192.0.2.15, the gateway's address"]),
    ({"dns_ip": "192.0.2.20"}, ["192.0.2.20, the address of dns_ip"]),
    ({"dns_ip": "provisioning"}, []),
    ({"dns_ip": "192.0.2.20", "environment": {"DHCP_HOSTS": "00:5c:52:00:00:01,192.0.2.20;00:5c:52:00:00:02"}}, []),
    ({"taken": [{"owner": "bastion", "address": "192.0.2.12/24"}, {"owner": "itself", "address": "192.0.2.2"}]},
     ["192.0.2.12, the address of bastion"]),
    ({"dhcp_range": "of-another-form", "gateway_ip": "192.0.2.15"}, []),
    ({"dhcp_range": None, "gateway_ip": "192.0.2.15"}, []),
])
def test_the_pods_dhcp_server_lends_no_address_that_others_have(changes, owners):
    found = ironic.problems(options(**dict({"dhcp_range": "192.0.2.10,192.0.2.20"}, **changes)))
    assert [(problem.field, problem.expected) for problem in found] == [
        ("dhcp_range", f"a range without {owner}") for owner in owners]


def test_keepalived_comes_from_the_same_registry_and_has_the_address_and_the_interface():
    given = options(keepalived=True, provisioning_interface="eno1", image_registry_mirror="mirror.example")
    objects_shipped = shipped()
    objects_shipped[0]["spec"]["template"]["spec"]["containers"].insert(
        0, container("ironic-endpoint-keepalived", image=ironic.KEEPALIVED))
    found = dict((item["kind"], item) for item in ironic.desired(objects_shipped, given, []))
    added = found["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert added["image"] == "mirror.example/quay.io/metal3-io/keepalived:latest"
    data = found["ConfigMap"]["data"]
    assert (data["PROVISIONING_IP"], data["PROVISIONING_INTERFACE"]) == ("192.0.2.2", "eno1")


def of_mariadb(given):
    """Return pod, all objects and the container of a database as upstream's component has it."""
    objects_shipped = shipped()
    objects_shipped[0]["spec"]["template"]["spec"]["containers"].append(
        container("mariadb", image=ironic_database.IMAGE))
    objects_shipped.append({"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {
        "name": "mariadb-cert"}, "spec": {"ipAddresses": ["MARIADB_HOST_IP"], "secretName": "mariadb-cert"}})
    found = dict(((item["kind"], item["metadata"]["name"]), item) for item in ironic.desired(
        objects_shipped, given, ironic.secrets(given, {}, "canary")))
    template = pod(found)["spec"]
    return template, found, template["containers"][-1]


def test_mariadb_has_its_data_on_a_volume_and_settings_and_password_at_each_start():
    spec, found, added = of_mariadb(with_mariadb(image_registry_mirror="mirror.example"))
    assert added["image"] == "mirror.example/quay.io/metal3-io/mariadb:latest"
    mounted = dict((item["name"], item["mountPath"]) for item in added["volumeMounts"])
    assert mounted["mariadb-data"] == "/var/lib/mysql" and mounted["mariadb-settings"].startswith("/etc/my.cnf.d/")
    assert {"name": "mariadb-data", "persistentVolumeClaim": {"claimName": "data"}} in spec["volumes"]
    text = found["ConfigMap", "mariadb-settings"]["data"]["zz-metal3-baremetal.cnf"]
    assert "bind_address = 127.0.0.1" in text and f"{mounted['mariadb-login']}/login.sql" in text
    secret = found["Secret", "mariadb-password"]["data"]
    assert base64.b64decode(secret["password"]) == b"canary" and b"'canary'" in base64.b64decode(secret["login.sql"])
    # The manifests refer to it.
    assert found["ConfigMap", "ironic-bmo-configmap"]["data"]["RESTART_CONTAINER_CERTIFICATE_UPDATED"] == "false"
    assert ("Secret", "mariadb-cert") in found and ("Certificate", "mariadb-cert") not in found
    spec, _found, added = of_mariadb(with_mariadb(mariadb_claim=None))
    assert "mariadb-data" not in str(spec)


def test_cert_manager_issues_mariadbs_certificate_for_loopback():
    _spec, found, _added = of_mariadb(with_mariadb(tls="cert_manager"))
    assert found["Certificate", "mariadb-cert"]["spec"]["ipAddresses"] == ["127.0.0.1"]
    assert ("Secret", "mariadb-cert") not in found


def test_images_probes_and_variables_follow_the_options():
    found = made(options(http_port=8080, image_registry_mirror="mirror.example", node_selector={"a": "b"}))
    spec = pod(found)["spec"]
    assert set(item["image"] for item in spec["containers"]) == {"mirror.example/quay.io/metal3-io/ironic:v39.0.0"}
    assert ":8080/images" in spec["containers"][1]["livenessProbe"]["exec"]["command"][2]
    assert spec["nodeSelector"] == {"a": "b"}
    assert found["ConfigMap", "ironic-bmo-configmap"]["data"] == {
        "PROVISIONING_IP": "192.0.2.2", "HTTP_PORT": "8080", "IRONIC_FAST_TRACK": "true",
        "DEPLOY_KERNEL_URL": "https://images.example/kernel", "DEPLOY_RAMDISK_URL": "https://images.example/ramdisk",
        "OS_CONDUCTOR__WORKERS_POOL_SIZE": "2000"}


def test_the_pod_starts_again_when_what_it_reads_changes_and_not_otherwise():
    def digest(**changes):
        return pod(made(options(**changes)))["metadata"]["annotations"][ironic.DIGEST_ANNOTATION]

    assert digest() == digest(credentials_dir="/elsewhere")
    assert len({digest(), digest(fast_track=False), digest(tls_key="other"), digest(bmc_authority="other"),
                digest(image_authority="other")}) == 5
    # Before cert-manager has issued the certificate again.
    assert digest(tls="cert_manager", tls_names=["a.example"]) != digest(tls="cert_manager")
    assert digest(tls="cert_manager", tls_names=[]) == digest(tls="cert_manager")


@pytest.mark.parametrize(("changes", "text"), [
    ({"provisioning_ip": None}, "ironic: provisioning_ip: not set"),
    ({"provisioning_ip": "node"}, "ironic: provisioning_ip: found \"node\", expected an IP address"),
    ({"provisioning_ip": "fe80::1%x\ny"}, "ironic: provisioning_ip: found \"fe80::1%x\\ny\", expected an IP address"),
    ({"provisioning_ip": None, "provisioning_interface": "eno1", "tls": "cert_manager"}, "tls=cert_manager issues"),
    ({"keepalived": True}, "provisioning_interface: not set, expected the interface of the provisioning network"),
    ({"keepalived": True, "provisioning_ip": None, "provisioning_interface": "eno1"},
     "ironic: provisioning_ip: not set, expected an address that no machine has"),
    ({"tls_key": None}, "ironic: tls_key: not set"),
    ({"bmc_authority": KEY}, "ironic: bmc_authority: found no certificate in it, expected certificates in PEM"),
    ({"image_authority": KEY}, "ironic: image_authority: found no certificate in it, expected certificates in PEM"),
    ({"image_authority": CERTIFICATE, "image_authority_file": "/ca.crt"},
     'ironic: image_authority_file: found "/ca.crt", expected none with image_authority'),
    ({"tls_issuer": ISSUER}, 'ironic: tls_issuer: found "site", expected none with tls=files'),
    ({"tls_issuer": ISSUER, "tls": "cert_manager", "tls_authority": None}, "ironic: tls_authority: not set, expected "
     "certificates of the authority of ClusterIssuer site in PEM"),
    ({"tls_issuer": ISSUER, "tls": "cert_manager", "tls_authority": KEY}, "tls_authority: found no certificate in it"),
    ({"tls_names": ["a.example"]}, 'ironic: tls_names: found "a.example", expected none with tls=files; issue a '
     'certificate for them yourself'),
    ({"tls": "none", "tls_names": ["a.example"]}, "expected none with tls=none; set tls=cert_manager"),
    *(({"tls": "cert_manager", "tls_names": ["a.example", name]},
       f"ironic: tls_names[1]: found {show(name)}, expected a host name or an IP address") for name in (
           "192.0.2.300", "a_b.example", "a..example", "", "fe80::1%eth0", "a.example\n", "{{ canary }}",
           "https://a.example", ".".join(["a" * 60] * 5))),
    ({"mariadb_claim": "data"}, 'ironic: mariadb_claim: found "data", expected none without a database of its own'),
    ({"mariadb": True, "tls": "none"}, "TLS, without which upstream has no MariaDB"),
    ({"mariadb": True}, "ironic: mariadb_certificate: not set"),
    ({"mariadb": True, "mariadb_certificate": CERTIFICATE, "mariadb_key": KEY}, "issue it for 127.0.0.1"),
    ({"provisioning_ip": "192.0.2.3"}, "issue it for provisioning_ip"),
    ({"deploy_ramdisk_url": None}, "set deploy_kernel_url and deploy_ramdisk_url"),
    ({"deploy_kernel_url": None, "deploy_ramdisk_url": None}, "ironic: deploy_kernel_url: not set"),
    ({"cache_url": "https://images.example"},
     'ironic: cache_url: found "https://images.example", expected none with deploy_kernel_url'),
])
def test_what_does_not_fit_is_refused_before_anything_is_written(changes, text):
    server = Server()
    with pytest.raises(RefusedError) as caught:
        run(server, options(**changes)).present()
    assert text in str(caught.value)
    assert not server.writes


HELD = {"keepalived": True, "provisioning_interface": "eno1"}


@pytest.mark.parametrize(("others", "changes", "is_found"), [
    ([("192.0.2.3/24", 1)], HELD, True), ([("192.0.2.3", 1), ("192.0.2.2/24", 1)], HELD, True),
    ([("192.0.2.3/24", 51)], HELD, False), ([("192.0.2.3", 1)], HELD, False), ([("192.0.2.2/24", 1)], HELD, False),
    ([("198.51.100.3/24", 1)], HELD, False), ([("192.0.2.3/24", 1)], {"keepalived": False}, False), ([], HELD, False)])
def test_another_plane_on_the_network_with_the_number_of_its_keepalived_is_refused(others, changes, is_found):
    given = [{"owner": f"the plane of m{at}", "address": address, "number": number}
             for at, (address, number) in enumerate(others)]
    found = [str(problem) for problem in ironic.problems(options(virtual_routers=given, **changes))]
    assert found == ([
        "ironic: keepalived: found the virtual router 1, which the plane of m0 has for its address 192.0.2.3 on the "
        "same network, expected a number that no other virtual router there has; upstream's image has no other one: "
        "give that plane another network, or another number (provisioning_network_keepalived_router_id), or, where the "
        "wires are apart, set virtual_routers to []"] if is_found else [])


def run(server, given, check_mode=False):
    return ironic_service.IronicComponents(
        server, given, [shipped()[0]], check_mode, Progress(None), sleep=lambda seconds: None, clock=lambda: 0.0)


def test_an_ironic_that_is_to_wait_gets_no_pod_and_one_that_runs_by_then_stays():
    server, given = Server(), options(standby=True)
    assert run(server, given).present()["standby"] is True
    deployment = server.objects["Deployment", NAMESPACE, "ironic"]
    assert deployment["spec"]["replicas"] == 0
    assert run(server, given).present()["changed"] is False and deployment["spec"]["replicas"] == 0
    # As a pivot does.
    server.objects["Deployment", NAMESPACE, "ironic"]["spec"]["replicas"] = 1
    again = run(server, given).present()
    assert again["standby"] is False
    assert server.objects["Deployment", NAMESPACE, "ironic"]["spec"].get("replicas", 1) == 1


@pytest.mark.parametrize("manager, kept", [("metal3.baremetal", True), ("kubectl", False)])
def test_the_level_of_the_namespace_that_the_operators_part_has_set_stays(manager, kept):
    """What a user has set stays without being applied here, too."""
    server = Server()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": NAMESPACE, "labels": {part_settings.POD_SECURITY_LABEL: "privileged"}}}
    server.store("Namespace", None, namespace, manager)
    run(server, options()).present()
    applied = owned_tree(server.objects["Namespace", None, NAMESPACE])["f:metadata"]["f:labels"]
    assert ("f:" + part_settings.POD_SECURITY_LABEL in applied) is kept
    assert not run(server, options()).present()["changed"]


def test_an_ironic_that_need_not_wait_any_more_gets_its_pod():
    server = Server()
    run(server, options(standby=True)).present()
    assert run(server, options()).present()["standby"] is False
    assert server.objects["Deployment", NAMESPACE, "ironic"]["spec"].get("replicas", 1) == 1


def test_credentials_are_created_once_kept_and_in_no_result(tmp_path):
    server, given = Server(), options(credentials_dir=str(tmp_path / "ironic"))
    result = run(server, given).present()
    stored = server.objects["Secret", NAMESPACE, "ironic-credentials"]["data"]
    password = base64.b64decode(stored["password"]).decode()
    assert len(password) == ironic_service.PASSWORD_LENGTH and password not in str(result)
    user, _colon, digest = base64.b64decode(
        server.objects["Secret", NAMESPACE, "ironic-htpasswd"]["data"]["htpasswd"]).decode().partition(":")
    assert bcrypt.checkpw(password.encode(), digest.encode())
    assert (tmp_path / "ironic" / "password").read_text() == password
    assert (tmp_path / "ironic" / "password").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ironic" / "username").read_text() == user
    server.writes.clear()
    assert run(server, given).present()["changed"] is False
    assert server.writes == []


@pytest.mark.parametrize(("secret", "key"), [
    ("ironic-credentials", "username"), ("ironic-credentials", "password"), ("ironic-htpasswd", "htpasswd")])
def test_a_secret_with_what_is_no_text_is_named_and_not_quoted(secret, key):
    server = Server()
    run(server, options()).present()
    data = server.objects["Secret", NAMESPACE, secret]["data"]
    data[key] = base64.b64encode(b"canary\xff").decode()
    server.writes.clear()
    with pytest.raises(RefusedError) as caught:
        run(server, options()).present()
    assert f"Secret {NAMESPACE}/{secret}: data.{key}: found what is no UTF-8, expected a text; correct it" in str(
        caught.value)
    assert "canary" not in str(caught.value) and server.writes == []


@pytest.mark.parametrize("line, count", [("%s:$2b$31$" + "." * 53, 1), ("%s:" + bcrypt.hashpw(
    b"another", bcrypt.gensalt(4)).decode(), 1000)], ids=["rounds", "lines"])
def test_a_digest_of_others_that_takes_days_is_not_compared(monkeypatch, line, count):
    """Of 31 rounds one does, and a Secret has room for thousands of others."""
    server = Server()
    run(server, options()).present()
    user = base64.b64decode(server.objects["Secret", NAMESPACE, "ironic-credentials"]["data"]["username"]).decode()
    data = server.objects["Secret", NAMESPACE, "ironic-htpasswd"]["data"]
    data["htpasswd"] = base64.b64encode("\n".join([line % user] * count).encode()).decode()
    asked = []
    monkeypatch.setattr(ironic_service.bcrypt, "checkpw", lambda _password, digest: asked.append(digest))
    run(server, options()).present()
    assert len(asked) <= 4 and not any(digest.startswith(b"$2b$31$") for digest in asked)
    assert data["htpasswd"] != server.objects["Secret", NAMESPACE, "ironic-htpasswd"]["data"]["htpasswd"]


@pytest.mark.parametrize("password", ["canary" * 13, "canary\0"])
def test_a_password_that_bcrypt_does_not_take_is_named_and_not_quoted(password):
    server = Server()
    run(server, options()).present()
    server.objects["Secret", NAMESPACE, "ironic-credentials"]["data"]["password"] = base64.b64encode(
        password.encode()).decode()
    server.writes.clear()
    with pytest.raises(RefusedError, match="found one that bcrypt does not take, expected at most 72 bytes") as caught:
        run(server, options()).present()
    assert "canary" not in str(caught.value) and server.writes == []


def test_what_else_is_in_a_secret_or_a_file_of_credentials_need_be_no_text(tmp_path):
    server, given = Server(), options(credentials_dir=str(tmp_path))
    run(server, given).present()
    server.objects["Secret", NAMESPACE, "ironic-credentials"]["data"]["other"] = base64.b64encode(b"\xff").decode()
    password = (tmp_path / "password").read_bytes()
    (tmp_path / "password").write_bytes(b"\xff")
    assert run(server, given).present()["changed"]
    assert (tmp_path / "password").read_bytes() == password


def test_a_file_of_credentials_that_others_may_read_is_written_again(tmp_path):
    server, given = Server(), options(credentials_dir=str(tmp_path))
    run(server, given).present()
    (tmp_path / "password").chmod(0o644)
    assert run(server, given).present()["changed"]
    assert (tmp_path / "password").stat().st_mode & 0o777 == 0o600
    assert not run(server, given).present()["changed"]


def test_a_pipe_in_the_place_of_a_file_of_credentials_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "password")
    run(Server(), options(credentials_dir=str(tmp_path))).present()
    assert (tmp_path / "password").is_file()


def test_removal_asks_for_a_confirmation_and_keeps_the_namespace(tmp_path):
    server = Server()
    run(server, options()).present()
    # A number may be that of parts which the same run upgrades, or of machines.
    for given in ("1", None):
        with pytest.raises(RefusedError, match="metal3_confirm=ironic, or set state=present"):
            run(server, options(confirm=given)).absent()
    assert "metal3_confirm=ironic" in run(server, options(), check_mode=True).absent()["warnings"][0]
    run(server, options(confirm="ironic")).absent()
    assert not [kind for kind, namespace, _name in server.objects if namespace == NAMESPACE]
    assert ("Namespace", None, NAMESPACE) in server.objects


def removal(server, **changes):
    """Remove the operator with its namespace, and Ironic as whatever it was installed."""
    operator = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}]
    return service.Components(server, dict({
        "parts": [{"name": "bmo"}, {"name": "ironic"}], "certificates": "collection", "definitions": "keep",
        "confirm": "2", "confirm_among": [], "wait_timeout_seconds": 1}, **changes), {
            "bmo": (operator, "v0.13.2"), "ironic": (shipped(), "")}, False, Progress(None),
        sleep=lambda seconds: None, clock=lambda: 0.0)


@pytest.mark.parametrize("changes", [{}, {"authentication": "none", "tls": "none"}, {"tls": "cert_manager"}])
def test_ironic_goes_with_the_operator_and_counts_as_a_part(changes):
    server = Server()
    run(server, options(**changes)).present()
    if changes.get("tls") == "cert_manager":
        # cert-manager's own, which has no label of this collection.
        server.store("Secret", NAMESPACE, {"kind": "Secret", "apiVersion": "v1", "metadata": {
            "name": "ironic-cert", "namespace": NAMESPACE,
            "annotations": {"cert-manager.io/certificate-name": "ironic-cert"}}}, "cert-manager")
    with pytest.raises(ReportedError, match=r"2 parts \(bmo, ironic\) from the cluster.*metal3_confirm=2"):
        removal(server, confirm="1").absent()
    removal(server).absent()
    assert not [key for key in server.objects if NAMESPACE in key]


def test_without_ironic_only_the_other_parts_count():
    server = Server()
    server.store("Namespace", None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": NAMESPACE, "labels": dict([objects.OWNER_LABEL])}})
    removal(server, confirm="1").absent()
    assert ("Namespace", None, NAMESPACE) not in server.objects


def test_somebody_elses_ironic_is_not_removed():
    server = Server()
    run(server, options()).present()
    del server.objects["Deployment", NAMESPACE, "ironic"]["metadata"]["labels"]
    with pytest.raises(RefusedError, match="remove the part by what has installed it"):
        removal(server).absent()


def test_rotation_keeps_the_old_password_valid_until_it_ends():
    server = Server()
    run(server, options()).present()

    def text(secret, key):
        return base64.b64decode(server.objects["Secret", NAMESPACE, secret]["data"][key]).decode()

    def state():
        lines = text("ironic-htpasswd", "htpasswd").splitlines()
        return text("ironic-credentials", "password"), lines

    old, (line,) = state()
    server.writes.clear()
    run(server, options(rotation="begin")).present()
    # Ironic's side before the operator's.
    assert server.writes.index("ironic-htpasswd") < server.writes.index("ironic-credentials")
    new, lines = state()
    user = text("ironic-credentials", "username")
    assert new != old and lines[1] == line and ironic_service._fits(lines[0], user, new)
    for rotation in ("begin", "none"):
        run(server, options(rotation=rotation)).present()
        assert state() == (new, lines)
    run(server, options(rotation="end")).present()
    assert state() == (new, lines[:1])
    assert not run(server, options(rotation="end")).present()["changed"]


def test_a_rotation_also_replaces_what_the_pod_logs_in_to_its_database_by():
    """The pod starts again with it; until the new password of the API is stored, the rotation has not begun."""
    server = Server()

    def password():
        data = server.objects["Secret", NAMESPACE, "mariadb-password"]["data"]
        text = base64.b64decode(data["password"]).decode()
        assert text in base64.b64decode(data["login.sql"]).decode()
        return text

    def started():
        return server.objects["Deployment", NAMESPACE, "ironic"]["spec"]["template"]["metadata"]["annotations"]

    given = with_mariadb()
    present_with_mariadb(server, given)
    found, pod_before = [password()], started()
    server.writes.clear()
    present_with_mariadb(server, dict(given, rotation="begin"))
    found.append(password())
    assert started() != pod_before
    assert server.writes.index("mariadb-password") < server.writes.index("ironic-credentials")
    for rotation in ("begin", "none", "end"):
        present_with_mariadb(server, dict(given, rotation=rotation))
        assert password() == found[1]
    assert len(set(found)) == 2
    # Killed before the new password of the API was stored.
    before = dict(server.objects["Secret", NAMESPACE, "ironic-credentials"])
    present_with_mariadb(server, dict(given, rotation="begin"))
    server.objects["Secret", NAMESPACE, "ironic-credentials"] = before
    found.append(password())
    present_with_mariadb(server, dict(given, rotation="begin"))
    assert len({*found, password()}) == 4


def test_a_rotation_begins_only_when_nothing_of_ironic_is_being_deleted():
    """The Deployment is written last, after Secrets of which the old ones cannot be had back."""
    server = Server()
    run(server, options()).present()
    server.objects["Deployment", NAMESPACE, "ironic"]["metadata"].update(
        deletionTimestamp="2026-11-25T00:00:00Z", finalizers=["example.org/own"])
    server.writes.clear()
    with pytest.raises(RefusedError, match=f"Deployment {NAMESPACE}/ironic: found an object that is being del"):
        run(server, options(rotation="begin")).present()
    assert server.writes == []


def test_a_rotation_that_was_killed_before_the_new_password_was_stored_begins_again():
    server = Server()
    run(server, options()).present()
    before = dict(server.objects["Secret", NAMESPACE, "ironic-credentials"])
    run(server, options(rotation="begin")).present()
    server.objects["Secret", NAMESPACE, "ironic-credentials"] = before
    run(server, options(rotation="begin")).present()
    found = server.objects["Secret", NAMESPACE, "ironic-credentials"]["data"]
    user, password, old = (base64.b64decode(item).decode() for item in (
        found["username"], found["password"], before["data"]["password"]))
    lines = base64.b64decode(server.objects["Secret", NAMESPACE, "ironic-htpasswd"]["data"]["htpasswd"]).decode()
    first, second = lines.splitlines()
    assert password != old and ironic_service._fits(first, user, password)
    assert ironic_service._fits(second, base64.b64decode(before["data"]["username"]).decode(), old)


@pytest.mark.parametrize("before", ["ironic-htpasswd", "ironic-credentials"])
@pytest.mark.parametrize("rotation", ["begin", "none"])
def test_of_two_rotations_at_once_password_and_password_file_are_those_of_one(before, rotation):
    """The other one begins just before this one writes a Secret; also two installations. One of both is refused."""
    server, refused = Server(), []

    def one():
        try:
            run(server, options(rotation=rotation)).present()
        except ReportedError as exc:
            refused.append(str(exc))

    if rotation == "begin":
        run(server, options()).present()

    def stored():
        credentials, file = (server.objects["Secret", NAMESPACE, name]["data"]
                             for name in ("ironic-credentials", "ironic-htpasswd"))
        return [base64.b64decode(item).decode() for item in (
            credentials["username"], credentials["password"], file["htpasswd"])]

    server.before["Secret", before] = one
    one()
    assert len(refused) == 1 and "another run has replaced what it holds" in refused[0]
    user, password, lines = stored()
    assert ironic_service._fits(lines.splitlines()[0], user, password)
    # What is left of it is none of its own: the next run goes on with what there is.
    run(server, options(rotation=rotation)).present()
    assert stored() == [user, password, lines]


def in_transition():
    """Return a cluster with Ironic and with a host that it inspects."""
    server = Server()
    run(server, options()).present()
    server.store("BareMetalHost", "metal3", {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {
        "name": "a", "namespace": "metal3"}, "status": {"provisioning": {"state": "inspecting"}}})
    server.writes.clear()
    return server


@pytest.mark.parametrize("changes", [{"image_version": "v39.1.0"}, {"environment": {}}, {"fast_track": False},
                                     {"tls": "cert_manager", "tls_names": ["a.example"]}],
                         ids=["version", "environment", "fast track", "names"])
def test_the_pod_is_not_started_again_while_a_host_is_in_transition(changes):
    server = in_transition()
    for check_mode in (False, True):
        with pytest.raises(RefusedError, match=r"transition \(metal3/a: inspecting\), expected none, since Ironic's"):
            run(server, options(**changes), check_mode).present()
    assert server.writes == []
    assert not run(server, options()).present()["changed"]
    # What does not answer works on nothing; its repair is not kept waiting.
    server.objects["Deployment", NAMESPACE, "ironic"]["status"] = {"replicas": 1}
    assert run(server, options(**changes)).present()["changed"]


def test_credentials_are_not_replaced_while_a_host_is_in_transition():
    server = in_transition()
    with pytest.raises(RefusedError, match="1 in transition"):
        run(server, options(rotation="begin")).present()
    assert server.writes == []
    run(server, options(rotation="end")).present()


def test_a_renewed_certificate_of_cert_manager_starts_the_pod_again_and_its_authority_is_written(tmp_path):
    server, given = Server(), options(tls="cert_manager", credentials_dir=str(tmp_path))
    server.store("Secret", NAMESPACE, secret_of("ironic-cacert", "authority"))
    server.store("Secret", NAMESPACE, secret_of("ironic-cert", "first"))

    def digest():
        return server.objects["Deployment", NAMESPACE, "ironic"]["spec"]["template"]["metadata"]["annotations"]

    run(server, given).present()
    before = digest()
    assert (tmp_path / "ca.crt").read_text() == "authority"
    assert not run(server, given).present()["changed"] and digest() == before
    server.store("Secret", NAMESPACE, secret_of("ironic-cert", "second"))
    assert run(server, given).present()["changed"] and digest() != before


def test_a_plan_says_that_a_certificate_is_renewed(monkeypatch):
    server, given = Server(), options(tls="cert_manager")
    for name in ("ironic-cacert", "ironic-cert"):
        server.store("Secret", NAMESPACE, secret_of(name, name))
    run(server, given).present()
    server.writes.clear()
    planned = run(server, dict(given, renew_certificate=True), True).present()
    assert planned["changed"] and server.writes == []
    monkeypatch.setattr(ironic_service.renewal, "renew", lambda *_arguments: None)
    assert run(server, dict(given, renew_certificate=True)).present()["diff"] == planned["diff"]
    assert not run(server, given, True).present()["changed"]


class SlowIssuer(Server):
    """cert-manager issues a certificate when it has been looked at three times."""

    def __init__(self):
        super().__init__()
        self.serve("/apis/cert-manager.io/v1", "Certificate", "Issuer")
        self.looks = 0

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        found, version = super().list(resource, namespace, label_selector, field_selector)
        for obj in found if resource.kind == "Certificate" else []:
            self.looks += 1
            obj["status"]["conditions"][0]["status"] = str(self.looks > 3)
            if self.looks == 4:
                self.store("Secret", NAMESPACE, secret_of("ironic-cert", "first"))
        return found, version


@pytest.mark.parametrize("is_killed", [False, True], ids=["at once", "killed before"])
def test_a_pod_starts_once_with_a_certificate_that_is_issued_late(monkeypatch, is_killed):
    """Its template had the digest without it, and the next run started it again."""
    server, given = SlowIssuer(), options(tls="cert_manager")

    def present():
        return ironic_service.IronicComponents(
            server, given, shipped(), False, Progress(None), sleep=lambda seconds: None, clock=lambda: 0.0).present()

    if is_killed:
        with monkeypatch.context() as patched:
            patched.setattr(service.Components, "wait_until_issued", lambda _run: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                present()
    assert present()["changed"] and server.looks > 3
    assert not present()["changed"]


def secret_of(name, text):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
            "data": {"tls.crt": base64.b64encode(text.encode()).decode()}}


def test_only_cert_managers_certificates_are_renewed():
    with pytest.raises(RefusedError, match="renew_certificate"):
        run(Server(), options(renew_certificate=True)).present()


def test_a_plan_may_come_before_cert_manager_when_the_same_play_installs_it():
    server = Server()
    for name in [key for key in server.objects if key[2].endswith(".cert-manager.io")]:
        del server.objects[name]

    def plan(**changes):
        return ironic_service.IronicComponents(
            server, options(tls="cert_manager", **changes), shipped(), True, Progress(None)).present()

    with pytest.raises(RefusedError, match="expected a kind that the API server serves"):
        plan()
    made = plan(with_cert_manager=True)
    assert "Certificate baremetal-operator-system/ironic-cert" in [item["object"] for item in made["objects"]]
    assert server.writes == []


def present_with_mariadb(server, given, check_mode=False):
    """Write Ironic with the container of a database."""
    objects = shipped()
    objects[0]["spec"]["template"]["spec"]["containers"].append(container("mariadb", image=ironic_database.IMAGE))
    return ironic_service.IronicComponents(
        server, given, objects[:1], check_mode, Progress(None), sleep=lambda seconds: None, clock=lambda: 0.0).present()


def test_a_database_on_a_volume_is_given_up_only_with_the_name_of_ironic():
    server, given = Server(), with_mariadb()
    present_with_mariadb(server, given)
    assert present_with_mariadb(server, dict(given, fast_track=False))["warnings"] == []
    server.writes.clear()
    for less in (dict(given, mariadb_claim="other"), dict(given, mariadb_claim=None)):
        with pytest.raises(RefusedError, match=r"leave that on the PersistentVolumeClaim data for .*confirm=ironic"):
            present_with_mariadb(server, dict(less, confirm="1"))
    with pytest.raises(RefusedError, match=r"for a database that goes with its pod"):
        run(server, options()).present()
    planned = run(server, options(), True).present()
    assert planned["changed"] and "metal3_confirm=ironic" in planned["warnings"][0] and server.writes == []
    with pytest.raises(RefusedError, match=r"2 planes \(one, two\) in this play, expected one"):
        run(server, options(confirm="ironic", confirm_among=["one", "two"])).present()
    assert server.writes == []
    assert run(server, options(confirm="ironic", confirm_among=["one"])).present()["changed"]
    assert run(server, options()).present()["warnings"] == []


def test_mariadbs_password_is_kept_and_one_that_is_more_than_a_password_is_refused():
    server = Server()
    given = with_mariadb()

    def present():
        return present_with_mariadb(server, given)

    present()
    data = server.objects["Secret", NAMESPACE, "mariadb-password"]["data"]
    assert base64.b64decode(data["password"]).isalnum() and not present()["changed"]
    data["password"] = base64.b64encode(b"canary'; DROP DATABASE ironic; --").decode()
    server.writes.clear()
    with pytest.raises(RefusedError, match=r"mariadb-password: data\.password: found other characters") as caught:
        present()
    assert "canary" not in str(caught.value) and server.writes == []


class Issuing(Server):
    """A cluster with cert-manager, whose issuer signs what is asked for by its own authority.

    :param ready: whether the issuer is ready; None when there is none
    :param address: for which it issues
    """

    def __init__(self, ready="True", address="192.0.2.2"):
        super().__init__()
        self.address, self.signer = address, None
        self.served["/apis/cert-manager.io/v1"] = [
            {"name": "certificates", "kind": "Certificate", "namespaced": True},
            {"name": "issuers", "kind": "Issuer", "namespaced": True},
            {"name": "clusterissuers", "kind": "ClusterIssuer", "namespaced": False}]
        with tempfile.TemporaryDirectory() as folder:
            paths, self.signer = bmc_certificates.issue(Path(folder), "site")
            self.authority = Path(paths[0]).read_text()
        if ready is not None:
            self.store("ClusterIssuer", None, {
                "apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": "site"},
                "status": {"conditions": [{"type": "Ready", "status": ready, "message": "no key"}]}})

    def store(self, kind, namespace, body, manager="metal3.baremetal"):
        stored = super().store(kind, namespace, body, manager)
        if kind == "Certificate":
            with tempfile.TemporaryDirectory() as folder:
                paths, _signer = bmc_certificates.issue(
                    Path(folder), "ironic", address=self.address, issuer=self.signer)
                data = dict((name, base64.b64encode(Path(path).read_bytes()).decode())
                            for name, path in zip(("tls.crt", "tls.key"), paths))
            self.store("Secret", namespace, {"apiVersion": "v1", "kind": "Secret", "metadata": {
                "name": "ironic-cert", "namespace": namespace}, "data": data}, "cert-manager")
        return stored


def run_issued(server, **changes):
    given = with_issuer(**dict({"tls_authority": server.authority}, **changes))
    return ironic_service.IronicComponents(
        server, given, shipped(), False, Progress(None), sleep=lambda seconds: None, clock=lambda: 0.0)


def test_the_pod_runs_with_what_the_sites_issuer_issued_and_clients_get_its_authority(tmp_path):
    server = Issuing()
    assert run_issued(server, credentials_dir=str(tmp_path)).present()["changed"]
    assert ("Deployment", NAMESPACE, "ironic") in server.objects
    assert (tmp_path / "ca.crt").read_text() == server.authority
    assert not run_issued(server, credentials_dir=str(tmp_path)).present()["changed"]


@pytest.mark.parametrize(("ready", "text"), [
    (None, 'tls_issuer.name: found "site", expected the ClusterIssuer of the cluster; create it first'),
    ("False", "found ClusterIssuer site, which is not ready: no key, expected one that is ready")])
def test_an_issuer_that_cannot_issue_is_refused_before_anything_is_written(ready, text):
    server = Issuing(ready)
    with pytest.raises(RefusedError) as caught:
        run_issued(server).present()
    assert text in str(caught.value) and server.writes == []


def test_an_issuer_of_another_group_is_not_looked_at():
    server = Issuing(None)
    other = dict(ISSUER, kind="StepIssuer", group="certmanager.step.sm")
    assert run_issued(server, tls_issuer=other).present()["changed"]


@pytest.mark.parametrize(("changes", "address", "text"), [
    ({"tls_authority": CERTIFICATE}, "192.0.2.2", "tls_authority: found"),
    ({}, "192.0.2.3", "Secret ironic-cert tls.crt: found 192.0.2.3, expected 192.0.2.2 among its alternative names"),
    ({"tls_names": ["a.example"]}, "192.0.2.2", "Secret ironic-cert tls.crt: found no host name, expected a.example "
     "among its alternative names; issue it for tls_names"),
    ({"tls_names": ["192.0.2.3"]}, "192.0.2.2", "tls.crt: found 192.0.2.2, expected 192.0.2.3 among")],
    ids=["authority", "address", "name", "another address"])
def test_what_nobody_would_accept_is_refused_before_the_pod_starts_with_it(changes, address, text):
    server = Issuing(address=address)
    with pytest.raises(RefusedError) as caught:
        run_issued(server, **changes).present()
    assert text in str(caught.value)
    assert ("Deployment", NAMESPACE, "ironic") not in server.objects
    # What runs, and what the operator mounts, stays as it was.
    assert ("Secret", NAMESPACE, "ironic-issuer-cacert") not in server.objects
