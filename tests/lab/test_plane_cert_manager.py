# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane in a cluster with cert-manager's certificates for webhooks and Ironic, which are replaced while it manages
servers; its removal.
"""
from __future__ import annotations

import base64
import contextlib
import os
import ssl
import time
import urllib.error
import urllib.request

import bmc_certificates
import cert_manager
import plane_site
import pytest
import yaml
from consoles import Console
from cryptography import x509
from support import NAMESPACE, eventually, only
from watching import States

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.discovery import resolve
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import mounted
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import issuing, objects

pytestmark = pytest.mark.plane

SECONDS = 900
OPERATORS = "baremetal-operator-system"
PARTS = ["cert_manager", *plane_site.PARTS]
LEFT = ("Namespace", "ClusterRole", "ClusterRoleBinding", "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration")
CONTEXT = "operator"


@pytest.fixture(scope="module")
def kubeconfig(lab):
    """The cluster's kubeconfig, whose current context leads nowhere: the plane's is named."""
    with plane_site.cluster(lab, "plane") as path:
        with open(path, encoding="utf-8") as stream:
            config = yaml.safe_load(stream)
        used = next((item for item in config["contexts"] if item["name"] == config["current-context"]), None)
        assert used is not None, config
        config["contexts"] += [dict(used, name=CONTEXT), {"name": "nowhere", "context": {
            "cluster": "nowhere", "user": used["context"]["user"]}}]
        config["clusters"].append({"name": "nowhere", "cluster": {"server": "https://127.0.0.1:1"}})
        config["current-context"] = "nowhere"
        other = str(path) + ".contexts"
        with open(other, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as stream:
            yaml.safe_dump(config, stream)
        yield path, other


@pytest.fixture(scope="module")
def target(kubeconfig):
    return plane_site.client(kubeconfig[0])


@pytest.fixture(scope="module")
def programs(lab):
    return cert_manager.push(lab)


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, programs, tmp_path_factory):
    found = plane_site.plane(lab, kubeconfig[0], tmp_path_factory.mktemp("ironic"))
    for name in ("ironic_tls_certificate_file", "ironic_tls_key_file"):
        del found[name]
    found["management_plane"].update(certificates="cert_manager", kubeconfig=kubeconfig[1], context=CONTEXT,
                                     wait_timeout_seconds=SECONDS)
    # BMCs and the image server have the lab's authority, Ironic that of cert-manager.
    del found["ironic_environment"]["OS_REDFISH__VERIFY_CA"]
    return dict(found, ironic_tls="cert_manager", cert_manager_source_dir=cert_manager.SOURCE,
                ironic_bmc_ca_file=str(lab.dir / "pki" / "ca.crt"))


def certificate(target):
    data = target.get(KNOWN["Secret"], OPERATORS, "ironic-cert")["data"]
    return x509.load_pem_x509_certificate(base64.b64decode(data["tls.crt"]))


def served(variables):
    """Return the certificate that Ironic serves, verified by the authority that the role has written."""
    address = variables["ironic_provisioning_ip"]
    return x509.load_pem_x509_certificate(ssl.get_server_certificate(
        (address, 6385), ca_certs=folder(variables) + "/ca.crt", timeout=30).encode())


def names(variables):
    """Return the host names and addresses that the certificate which Ironic serves is for."""
    found = served(variables).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {*found.get_values_for_type(x509.DNSName),
            *(str(item) for item in found.get_values_for_type(x509.IPAddress))}


def folder(variables):
    return f"{variables['management_plane']['kubeconfig']}.{CONTEXT}.ironic"


def login(variables, before=""):
    texts = []
    for name in ("username", "password"):
        with open(os.path.join(folder(variables), before, name), encoding="utf-8") as stream:
            texts.append(stream.read())
    return tuple(texts)


def answer(variables, given):
    request = urllib.request.Request(f"https://{variables['ironic_provisioning_ip']}:6385/v1/nodes", headers={
        "Authorization": "Basic " + base64.b64encode(":".join(given).encode()).decode()})
    try:
        with urllib.request.urlopen(request, timeout=30, context=ssl.create_default_context(
                cafile=folder(variables) + "/ca.crt")) as response:
            return response.status
    except urllib.error.HTTPError as exc:
        return exc.code


def operator_pods(target):
    return set(item["metadata"]["uid"] for item in target.list(KNOWN["Pod"], OPERATORS)[0]
               if item["metadata"]["name"].startswith("baremetal-operator") and not item["metadata"].get(
                   "deletionTimestamp"))


def test_a_plan_has_cert_manager_among_the_parts_and_writes_nothing(lab, target, variables):
    before = plane_site.namespaces(target)
    run = lab.playbook("install", "--check", "--diff", extra=variables, seconds=SECONDS).ok()
    for title in ("Deployment cert-manager/cert-manager-webhook", "Deployment capi-system/capi-controller-manager"):
        assert title in run.output
    assert plane_site.namespaces(target) == before


def test_all_parts_come_up_with_certificates_of_cert_manager(lab, target, variables):
    began = time.monotonic()
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    print(f"install with cert-manager: {time.monotonic() - began:.0f} s")
    assert plane_site.not_ready(target) == []
    assert served(variables) == certificate(target)
    # Nothing is left of the certificate that was asked for as a probe.
    assert target.get(KNOWN["Secret"], "cert-manager", issuing.NAME) is None
    for name in ("capi-validating-webhook-configuration", "cert-manager-webhook"):
        found = target.get(KNOWN["ValidatingWebhookConfiguration"], None, name)
        assert found is None or all(item["clientConfig"].get("caBundle") for item in found["webhooks"])
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_a_run_that_checks_somebody_elses_cert_manager_changes_nothing(lab, variables):
    others = dict(variables, cert_manager_mode="external")
    assert lab.playbook("install", "--tags", "cert_manager", extra=others, seconds=SECONDS).ok().changed() == 0


@pytest.fixture(scope="module")
def servers(lab, room, kubeconfig):
    """Two servers that the lab's own plane lets go; their variables by name."""
    with plane_site.two_let_go(lab, kubeconfig[0], SECONDS) as found:
        yield found
        for name in found:
            room.clear_knobs(name)


def states(target):
    return dict((host["metadata"]["name"], host["status"]["provisioning"]["state"])
                for host in target.list(KNOWN["BareMetalHost"], NAMESPACE)[0])


@contextlib.contextmanager
def undisturbed(target):
    """Check that no host is in error meanwhile, or in another state."""
    before = dict((name, {(state, "OK")}) for name, state in states(target).items())
    with States(target) as meanwhile:
        yield
    assert before and meanwhile.found == before and meanwhile.looked > 10


def test_agents_that_know_cert_managers_authority_make_two_servers_available_and_one_is_provisioned(
        lab, room, target, variables, servers, kubeconfig):
    consoles = dict((name, Console(lab.dir / "machines" / name / "console.log")) for name in servers)
    given = dict((key, value) for key, value in next(iter(servers.values())).items() if key != "bmc_address")
    pod = {"kubeconfig": str(kubeconfig[0])}
    inventory = lab.inventory(dict((name, {"bmc_address": found["bmc_address"]}) for name, found in servers.items()))
    # By the authority in the Secret that Ironic's pod mounts.
    running = lab.start("enroll", *only(*servers), "-i", str(inventory),
                        extra=dict(given, preflight_ironic_pod=pod))
    for name, console in consoles.items():
        eventually(lambda console=console: [line for line in console.lines() if "CERTIFICATE_VERIFY_FAILED" in line],
                   SECONDS, f"the agent of {name} does not trust Ironic")
    with open(folder(variables) + "/ca.crt", encoding="ascii") as stream:
        authority = stream.read()
    for name in servers:
        room.set_knobs(name, agent_authorities=authority)
    run = running.finish(SECONDS).ok()
    assert "not asked from" not in run.output
    assert states(target) == dict.fromkeys(servers, "available")
    assert not [host for host in target.list(KNOWN["BareMetalHost"], NAMESPACE)[0]
                if host["spec"]["bmc"].get("disableCertificateVerification")]
    first, second = sorted(servers)
    lab.playbook("provision", *only(first), extra=servers[first], seconds=SECONDS).ok()
    assert states(target) == {first: "provisioned", second: "available"}
    assert not set(lab.nodes()) & set(servers)


def test_credentials_are_replaced_by_a_killed_run_and_one_that_goes_on(lab, target, variables, servers):
    old, pods = login(variables), operator_pods(target)
    with undisturbed(target):
        running = lab.start("rotate_credentials", extra=variables)
        eventually(lambda: login(variables) != old, SECONDS, "other credentials", not_yet=OSError)
        running.kill()
        lab.playbook("rotate_credentials", extra=variables, seconds=SECONDS).ok()
    # By the operator through Ironic, which takes nothing else any more.
    name = max(servers)
    lab.playbook("inspect", *only(name), extra=servers[name], seconds=SECONDS).ok()
    assert login(variables) != old
    assert answer(variables, login(variables)) == 200 and answer(variables, old) == 401
    assert not os.path.exists(os.path.join(folder(variables), "previous"))
    # The operator's pod is another one, which has read the new ones.
    assert operator_pods(target) and not operator_pods(target) & pods
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_another_certificate_is_issued_and_served(lab, target, variables, servers):
    before = certificate(target)
    with undisturbed(target):
        lab.playbook("renew_certificates", extra=variables, seconds=SECONDS).ok()
    assert certificate(target) != before and served(variables) == certificate(target)
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def ironic_runs_for(target, seconds):
    """Return whether all containers of Ironic's pod run for so long."""
    started = mounted.first_start(item for item in target.list(KNOWN["Pod"], OPERATORS)[0]
                                  if item["metadata"]["name"].startswith("ironic-"))
    return started and time.time() - started > seconds


def test_what_cert_manager_renews_by_itself_is_reported_until_the_next_install(lab, target, variables, servers):
    lab.playbook("certificates", extra=variables, seconds=SECONDS).ok()
    before = certificate(target)
    # Nearer to the pod's start clocks may differ by as much.
    eventually(lambda: ironic_runs_for(target, 90), SECONDS, "a pod that runs for some time")
    with undisturbed(target):
        target.delete(KNOWN["Secret"], OPERATORS, "ironic-cert")
        eventually(lambda: target.get(KNOWN["Secret"], OPERATORS, "ironic-cert") and certificate(target) != before, 60,
                   "another certificate")
        assert served(variables) == before
        run = lab.playbook("certificates", extra=variables, seconds=SECONDS).failed(
            f"certificates: found Secret {OPERATORS}/ironic-cert to renew")
        assert "outdated" in run.output
        lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    assert served(variables) == certificate(target) != before
    lab.playbook("certificates", extra=variables, seconds=SECONDS).ok()


def test_a_renewed_authority_starts_the_operator_again_with_the_next_install(
        lab, target, variables, servers):
    pods = operator_pods(target)
    with undisturbed(target):
        # cert-manager issues what is missing again.
        target.delete(KNOWN["Secret"], OPERATORS, "ironic-cacert")
        eventually(lambda: target.get(KNOWN["Secret"], OPERATORS, "ironic-cacert"), 60, "another authority")
        lab.playbook("renew_certificates", extra=variables, seconds=SECONDS).ok()
    assert not operator_pods(target) & pods and served(variables) == certificate(target)


@pytest.fixture
def issuer(lab, target):
    """An issuer that signs with the lab's authority, in the namespace of Ironic."""
    pair = [base64.b64encode((lab.dir / "pki" / f"ca.{name}").read_bytes()).decode() for name in ("crt", "key")]
    metadata = {"name": "site", "namespace": OPERATORS}
    wanted = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": metadata,
              "spec": {"ca": {"secretName": "site"}}}
    issuers = resolve(target, [wanted])["cert-manager.io/v1", "Issuer"]
    target.create(KNOWN["Secret"], OPERATORS, {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
                                               "metadata": metadata, "data": dict(zip(("tls.crt", "tls.key"), pair))})
    target.create(issuers, OPERATORS, wanted)
    try:
        eventually(lambda: [item for item in (target.get(issuers, OPERATORS, "site").get("status") or {}).get(
            "conditions") or [] if item["type"] == "Ready" and item["status"] == "True"], 60, "an issuer that is ready")
        yield {"name": "site"}
    finally:
        target.delete(issuers, OPERATORS, "site")
        target.delete(KNOWN["Secret"], OPERATORS, "site")


def test_a_sites_own_issuer_issues_ironics_certificate_and_a_wrong_authority_is_refused(
        lab, target, variables, servers, issuer, tmp_path):
    missing = dict(variables, ironic_tls_issuer={"name": "nobody"}, ironic_ca_file=str(lab.dir / "pki" / "ca.crt"))
    before = certificate(target)
    lab.playbook("install", "--tags", "ironic", extra=missing, seconds=SECONDS).failed(
        'tls_issuer.name: found "nobody", expected the Issuer of namespace ' + OPERATORS)
    assert certificate(target) == before
    given = dict(missing, ironic_tls_issuer=issuer, ironic_tls_names=["ironic.example.org", "192.0.2.7"])
    with undisturbed(target):
        lab.playbook("install", extra=given, seconds=SECONDS).ok()
    assert names(variables) == {"ironic.example.org", variables["ironic_provisioning_ip"], "192.0.2.7"}
    authority = x509.load_pem_x509_certificate((lab.dir / "pki" / "ca.crt").read_bytes())
    assert served(variables) == certificate(target) and served(variables).issuer == authority.subject
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=given, seconds=SECONDS).ok().changed() == 0
    wrong, _key = bmc_certificates.issue(tmp_path, "somebody")[0]
    lab.playbook("install", "--tags", "ironic", extra=dict(given, ironic_ca_file=wrong), seconds=SECONDS).failed(
        "tls_authority: found", "give the certificate of the authority that issued it")
    assert served(variables) == certificate(target)
    # And back, to cert-manager's own authority.
    with undisturbed(target):
        lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    assert served(variables) == certificate(target) and served(variables).issuer != authority.subject
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_cert_manager_is_not_removed_while_certificates_rest_on_it(lab, target, variables):
    items = issuing.wanted("default")
    kinds = resolve(target, items)
    for item in items:
        item["metadata"]["name"] = "of-somebody"
        if item["kind"] == "Certificate":
            item["spec"].update(secretName="of-somebody", issuerRef={"name": "of-somebody", "kind": "Issuer"})
        target.create(kinds[item["apiVersion"], item["kind"]], "default", item)
    try:
        lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(PARTS)), seconds=SECONDS).failed(
            "part cert_manager: Certificate: found 1 (default/", "expected none")
    finally:
        for item in reversed(items):
            target.delete(kinds[item["apiVersion"], item["kind"]], "default", item["metadata"]["name"])
    assert plane_site.not_ready(target) == []


def issuing_objects(target):
    """Return what asks cert-manager for Ironic's certificates."""
    wanted = [{"apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": {"name": "any"}}
              for kind in ("Certificate", "Issuer")]
    kinds = resolve(target, wanted)
    return [item["metadata"]["name"] for resource in kinds.values() for item in target.list(resource, OPERATORS)[0]
            if item["metadata"]["name"] in ("ironic-cert", "ironic-cacert", "ca-issuer", "selfsigned-issuer")]


def test_given_files_take_the_place_of_cert_managers_certificates_on_the_running_plane(
        lab, target, variables, servers, tmp_path):
    address, authority = variables["ironic_provisioning_ip"], str(lab.dir / "pki" / "ca.crt")
    paths = plane_site.issue(lab, tmp_path, address)
    given = dict(variables, ironic_tls="files", ironic_tls_certificate_file=paths[0], ironic_tls_key_file=paths[1],
                 ironic_ca_file=authority)
    before, pods = certificate(target), operator_pods(target)
    lab.playbook("install", extra=given, seconds=SECONDS).failed(
        "the Secrets ironic-cert, ironic-cacert are replaced", "to continue set metal3_confirm=ironic")
    lab.playbook("install", "--check", "--tags", "ironic", extra=given, seconds=SECONDS).ok()
    assert certificate(target) == before == served(variables) and len(issuing_objects(target)) == 4
    with undisturbed(target):
        lab.playbook("install", extra=dict(given, metal3_confirm="ironic"), seconds=SECONDS).ok()
    with open(paths[0], encoding="utf-8") as stream:
        wanted = x509.load_pem_x509_certificate(stream.read().encode())
    shown = ssl.get_server_certificate((address, 6385), ca_certs=authority, timeout=30)
    assert certificate(target) == wanted == x509.load_pem_x509_certificate(shown.encode())
    assert issuing_objects(target) == []
    assert set(target.get(KNOWN["Secret"], OPERATORS, name)["type"] for name in ("ironic-cert", "ironic-cacert")) == {
        "Opaque"}
    # The operator has read the other authority.
    assert operator_pods(target) and not operator_pods(target) & pods
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=given, seconds=SECONDS).ok().changed() == 0
    assert certificate(target) == wanted


def test_servers_are_let_go(lab, target, servers):
    """The one that was provisioned is wiped by an agent that knows the authority of the given files only."""
    for name, given in servers.items():
        lab.playbook("unenroll", *only(name), extra=dict(given, metal3_confirm=1), seconds=SECONDS).ok()
    assert states(target) == {}


def test_removal_leaves_nothing(lab, target, variables):
    lab.playbook("uninstall", extra=variables, seconds=SECONDS).failed(f"set metal3_confirm={len(PARTS)}")
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(PARTS)), seconds=SECONDS).ok()
    selector = "=".join(objects.OWNER_LABEL)
    assert not [item["metadata"]["name"] for kind in LEFT for item in target.list(KNOWN[kind], None, selector)[0]]
    assert not plane_site.definitions(target)
    assert not [item for item in target.list(KNOWN["CustomResourceDefinition"])[0]
                if item["spec"]["group"].endswith("cert-manager.io")]
    assert not os.path.exists(folder(variables))
    assert lab.playbook("uninstall", extra=variables, seconds=SECONDS).ok().changed() == 0
