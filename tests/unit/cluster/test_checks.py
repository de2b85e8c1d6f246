# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a description against what there is: hosts, hardware, versions, image server."""
from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    hardware as cluster_hardware,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    hosts as cluster_hosts,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    image as cluster_image,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    versions as cluster_versions,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.image_format import image_format
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.model import WORKER, Group
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import image_checks

DESCRIPTION = cluster_description.read({
    "name": "c1", "kubernetes_version": "v1.35.4",
    "networks": {"prov": {"interface": "eth0"}, "two": {"bond": {"mode": "802.3ad", "interfaces": ["eth1", "eth2"]}},
                 "v": {"vlan": {"id": 5, "network": "two"}}}})[0]


def host(name, state="available", **labels):
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"provisioning": {"state": state}}}


def group(name="pool", **options):
    return Group("c1", WORKER, name, options)


def test_selectors_follow_capm3():
    one = host("h", rack="r1", size="large")
    assert cluster_hosts.matches(one, group())
    assert cluster_hosts.matches(one, group(host_selector={"rack": "r1"}))
    assert not cluster_hosts.matches(one, group(host_selector={"rack": "r2"}))
    for operator, values, expected in (("In", ["r1", "r2"], True), ("NotIn", ["r1"], False), ("Exists", None, True),
                                       ("DoesNotExist", None, False)):
        expression = {"key": "rack", "operator": operator, "values": values}
        assert cluster_hosts.matches(one, group(host_selector_expressions=[expression])) is expected


MINE = cluster_hosts.keeper("worker", "c1-pool")


def test_hosts_that_capm3_passes_over():
    cases = {"in use by M x": {"spec": {"consumerRef": {"kind": "M", "name": "x"}}},
             "in state inspecting": {"status": {"provisioning": {"state": "inspecting"}}},
             "in error: a b": {"status": {"errorMessage": "a\n b", "provisioning": {"state": "available"}}}}
    for text, change in cases.items():
        assert cluster_hosts.refusal(dict(host("h"), **change), MINE) == text
    paused = host("h")
    paused["metadata"]["annotations"] = {"capi.metal3.io/unhealthy": ""}
    assert cluster_hosts.refusal(paused, MINE).startswith("marked unhealthy")
    assert cluster_hosts.refusal(host("h"), MINE) is None


@pytest.mark.parametrize("state", ["available", "preparing"])
def test_a_detached_host_is_none_that_a_machine_can_have(state):
    """CAPM3 chooses it, and BMO deploys nothing on it."""
    one = host("h", state)
    one["metadata"]["annotations"] = {"baremetalhost.metal3.io/detached": ""}
    assert cluster_hosts.refusal(one, MINE) == "detached (annotation baremetalhost.metal3.io/detached)"
    assert not cluster_hosts.on_its_way(one, MINE)
    line, = cluster_hosts.shortage(DESCRIPTION, [(group("pool"), 1)], [one])
    assert "0 free of 1 hosts that match (h is detached" in str(line)


@pytest.mark.parametrize("state, marks, is_named", [
    ("available", {}, True), ("provisioned", {}, False), ("available", {"capm3.metal3.io/unhealthy": ""}, False)])
def test_a_detached_host_that_a_machine_would_get_is_named(state, marks, is_named):
    one = host("h", state)
    one["metadata"]["annotations"] = dict({"baremetalhost.metal3.io/detached": ""}, **marks)
    warnings = cluster_hosts.mark_warnings(replace(DESCRIPTION, workers={"pool": {}}), [one, host("i")])
    assert ["matches and is detached" in line for line in warnings] == [True] * is_named


REUSE = "infrastructure.cluster.x-k8s.io/node-reuse"


@pytest.mark.parametrize("role, owner, label, free", [
    ("worker", "c1-pool", "md-c1-pool", True), ("control-plane", "c1-control-plane", "cp-c1-control-plane", True),
    ("worker", "c1-pool", "md-c2-pool", False), ("worker", "c1-pool", "cp-c1-pool", False),
    # CAPM3's nodeReuseLabelMatches: an empty label is nobody's.
    ("worker", "c1-pool", "", False)])
def test_a_host_that_is_kept_for_reuse_is_free_for_its_keeper_only(role, owner, label, free):
    one, coming = host("h", **{REUSE: label}), host("h", "preparing", **{REUSE: label})
    keeper = cluster_hosts.keeper(role, owner)
    assert (cluster_hosts.refusal(one, keeper) is None) is free
    assert cluster_hosts.on_its_way(coming, keeper) is free
    if not free:
        assert cluster_hosts.refusal(one, keeper) == f"kept for {label or 'nobody'} (label {REUSE})"


def test_hosts_that_are_kept_count_for_their_keeper_only():
    hosts = [host("a", **{REUSE: "md-c1-pool"}), host("b", **{REUSE: "md-c2-pool"})]
    assert cluster_hosts.shortage(DESCRIPTION, [(group("pool"), 1)], hosts) == []
    line = cluster_hosts.shortage(DESCRIPTION, [(group("pool"), 2)], hosts)[0]
    assert "1 free of 2 hosts that match (b is kept for md-c2-pool" in str(line)


def test_hosts_are_shared_between_groups_so_that_all_have_enough():
    hosts = [host("a", size="large"), host("b")]
    large = group("large", host_selector={"size": "large"})
    # Whichever group comes first, the one without a selector must leave host a to the other.
    assert cluster_hosts.shortage(DESCRIPTION, [(group("any"), 1), (large, 1)], hosts) == []
    assert cluster_hosts.shortage(DESCRIPTION, [(large, 1), (group("any"), 1)], hosts) == []
    lines = cluster_hosts.shortage(DESCRIPTION, [(large, 1), (group("any"), 2)], hosts)
    assert len(lines) == 1 and "workers.any.host_selector" in str(lines[0])


OTHER = replace(DESCRIPTION, name="c2")


def test_machines_that_others_want_by_the_million_end_the_count_with_the_hosts(monkeypatch):
    looks, take = [], cluster_hosts._take
    monkeypatch.setattr(cluster_hosts, "_take", lambda *given: looks.append(given) or take(*given))
    hosts = [host("a", size="large"), host("b")]
    lines = cluster_hosts.shortage(DESCRIPTION, [(group("any"), 1)], hosts, [(OTHER, group("any"), 10 ** 6)])
    assert "1 free of 2 hosts that match" in str(lines[0])
    assert len(looks) < 5


def test_one_machine_too_many_for_thousands_of_hosts_is_said():
    hosts = [host(f"h{number}") for number in range(1200)]
    lines = cluster_hosts.shortage(DESCRIPTION, [(group("any"), 1201)], hosts)
    assert "1200 free of 1200 hosts that match" in str(lines[0])


def short(wanted, neighbours, hosts, description=DESCRIPTION):
    lines = cluster_hosts.shortage(description, wanted, hosts, neighbours)
    return [f"{line.subject} {line.field}" for line in lines], lines


def test_clusters_of_one_run_do_not_count_on_the_same_hosts():
    """Each of the two runs judges alike, whichever is asked: the cluster that comes later by name has too few."""
    hosts = [host("a"), host("b"), host("c")]
    own, theirs = [(group(), 2)], [(OTHER, group(), 2)]
    assert short(own, [], hosts)[0] == []
    expected = ["cluster metal3/c2 workers.pool.host_selector"]
    named, lines = short(own, theirs, hosts)
    assert named == expected
    assert "1 free of 3 hosts that match (" in str(lines[0])
    assert str(lines[0]).count("goes to workers.pool of cluster metal3/c1") == 2
    assert short([(group(), 2)], [(DESCRIPTION, group(), 2)], hosts, OTHER)[0] == expected


def test_a_shortage_of_others_is_theirs_alone_unless_hosts_are_shared():
    hosts = [host("a", rack="r1"), host("b", rack="r2")]
    theirs = [(OTHER, group(host_selector={"rack": "r2"}), 2)]
    assert short([(group(host_selector={"rack": "r1"}), 1)], theirs, hosts)[0] == []
    assert short([(group(), 0)], theirs, hosts)[0] == []
    assert short([(group(), 2)], theirs, hosts)[0] == ["cluster metal3/c2 workers.pool.host_selector"]


def test_a_shortage_says_why():
    assert "no BareMetalHost in namespace metal3" in str(cluster_hosts.shortage(DESCRIPTION, [(group(), 1)], [])[0])
    none = cluster_hosts.shortage(DESCRIPTION, [(group(host_selector={"a": "b"}), 1)], [host("h")])[0]
    assert "none of 1 hosts with these labels" in none
    busy = cluster_hosts.shortage(DESCRIPTION, [(group(), 1)], [host("h", "provisioned")])[0]
    assert "0 free of 1 hosts that match (h is in state provisioned)" in busy


HARDWARE = {"ramMebibytes": 8192, "nics": [{"name": "eth0"}, {"name": "eth1"}, {"name": "eth2"}],
            "storage": [{"name": "/dev/vda", "sizeBytes": 50 * 10 ** 9, "rotational": False, "model": "sim disk",
                         "alternateNames": ["/dev/disk/by-path/x"]}]}


def hardware_problems(hardware, hints=None, chosen=None, spec=(), **options):
    """Return the mistakes of a host with hardware.

    :param hints: what its spec says of the root disk
    :param chosen: what BMO's status says of it
    """
    one = host("h")
    one["spec"].update(dict(spec), rootDeviceHints=hints)
    one["status"]["provisioning"]["rootDeviceHints"] = chosen
    return cluster_hardware.hardware_problems(DESCRIPTION, group(**options), one, hardware)


def test_good_hardware():
    assert hardware_problems(HARDWARE) == []
    assert cluster_hardware.needed_interfaces(DESCRIPTION, group()) == ["eth0", "eth1", "eth2"]
    assert cluster_hardware.needed_interfaces(DESCRIPTION, group(attached_networks=["v"])) == ["eth1", "eth2"]


@pytest.mark.parametrize("change, words", [
    ({"ramMebibytes": 1024}, "1024 MiB of memory, expected at least 1700 MiB"),
    ({"storage": []}, "host h with 0 disks, none of at least 4 GiB, expected a root disk of at least 10 GB"),
    ({"nics": [{"name": "eth0"}, {"name": "eth1"}]}, "expected an interface eth2"),
])
def test_lacking_hardware(change, words):
    lines = hardware_problems(dict(HARDWARE, **change))
    assert len(lines) == 1 and words in str(lines[0])


def test_a_card_with_two_addresses_is_named_once():
    nics = [{"name": "ens3", "ip": "192.0.2.7"}, {"name": "ens3", "ip": "fe80::7"}, {"ip": "192.0.2.8"}]
    texts = [str(problem) for problem in hardware_problems(dict(HARDWARE, nics=nics))]
    assert texts and all(" with interfaces ens3, expected" in text for text in texts)


@pytest.mark.parametrize("hints, fits", [
    ({"deviceName": "/dev/vda"}, True), ({"deviceName": "/dev/disk/by-path/x"}, True),
    ({"deviceName": "/dev/sda"}, False),
    ({"minSizeGigabytes": 40}, True), ({"minSizeGigabytes": 60}, False), ({"rotational": False}, True),
    ({"rotational": True}, False), ({"model": "SIM"}, True), ({"serialNumber": "x"}, False),
    # IPA compares in small letters; BMO leaves empty hints out.
    ({"deviceName": "/dev/VDA", "serialNumber": "", "minSizeGigabytes": 0}, True)])
def test_root_device_hints(hints, fits):
    assert (hardware_problems(HARDWARE, hints) == []) is fits
    assert (hardware_problems(HARDWARE, None, hints) == []) is fits


def disks(*sizes_gigabytes):
    return dict(HARDWARE, storage=[{"name": f"/dev/sd{'abcd'[number]}", "sizeBytes": int(size * 10 ** 9)}
                                   for number, size in enumerate(sizes_gigabytes)])


@pytest.mark.parametrize("sizes, hints, chosen, words", [
    # Without hints the smallest of at least 4 GiB, whatever the order.
    ((8, 2000), None, None, "host h with a root disk of 8 GB (/dev/sda, the smallest of at least 4 GiB)"),
    ((2000, 8), None, {}, "/dev/sdb, the smallest of at least 4 GiB"),
    ((2, 4.3, 2000), None, None, "/dev/sdb, the smallest"),
    ((2, 2000), None, None, None),
    ((2, 3), None, None, "host h with 2 disks, none of at least 4 GiB"),
    # With hints the first that fits.
    ((8, 2000), {"minSizeGigabytes": 4}, None, "/dev/sda, the first that its rootDeviceHints minSizeGigabytes=4 fit"),
    ((8, 2000), {"minSizeGigabytes": 100}, None, None),
    ((2000, 8), {"minSizeGigabytes": 4}, None, None),
    # BMO sends what its status says: the user's, else those of a hardware profile.
    ((8, 2000), None, {"deviceName": "/dev/sda"}, "the first that its rootDeviceHints deviceName=/dev/sda fit"),
    ((8, 2000), None, {"deviceName": "/dev/sdb"}, None),
    ((8, 2000), None, {"deviceName": "/dev/vda"}, "2 disks, none of which its rootDeviceHints deviceName=/dev/vda fit"),
    # A user's new hints, which the status does not have yet, are taken over before the next deployment.
    ((8, 2000), {"deviceName": "/dev/sdb"}, {"deviceName": "/dev/sda"}, None),
])
def test_the_root_disk_is_the_one_that_the_agent_takes(sizes, hints, chosen, words):
    lines = hardware_problems(disks(*sizes), hints, chosen)
    assert lines == [] if words is None else len(lines) == 1 and words in str(lines[0]), lines


def test_volumes_that_are_not_made_yet_are_no_matter_of_the_disks():
    raid = {"raid": {"hardwareRAIDVolumes": [{"level": "1"}]}}
    assert hardware_problems(disks(8, 8), None, {"deviceName": "/dev/vda"}, raid) == []
    assert hardware_problems(disks(8, 8), None, None, {"raid": {"hardwareRAIDVolumes": []}}) != []


def test_hardware_comes_from_hardware_data_before_the_hosts_status():
    one = host("h")
    one["status"]["hardware"] = {"ramMebibytes": 1}
    assert cluster_hardware.hardware_of(one, {"h": {"spec": {"hardware": HARDWARE}}}) == HARDWARE
    assert cluster_hardware.hardware_of(one, {}) == {"ramMebibytes": 1}
    assert "without inspected hardware" in str(hardware_problems(None)[0])


SERVED = {"clusters.cluster.x-k8s.io": ["v1beta2"], "metal3clusters.infrastructure.cluster.x-k8s.io": ["v1beta2"]}
OLD_PLANE = dict((name, ["v1beta1"]) for name in SERVED)
# Of CAPM3 1.12 beside Cluster API 1.12.
MIXED = dict(SERVED, **{"metal3clusters.infrastructure.cluster.x-k8s.io": ["v1beta1"]})


@pytest.mark.parametrize("changes, providers, served, words", [
    ({}, {"cluster-api": "v1.13.5", "infrastructure-metal3": "v1.13.2"}, SERVED, None),
    ({}, {}, SERVED, None),
    ({}, {}, {}, "no resource clusters.cluster.x-k8s.io"),
    ({"api_version": "v1beta1"}, {}, SERVED, "found \"v1beta1\", expected one of v1beta2"),
    ({"kubernetes_version": "v1.33.1"}, {"cluster-api": "v1.10.10", "infrastructure-metal3": "v1.10.4"}, OLD_PLANE,
     None),
    ({"api_version": "v1beta1"}, {}, OLD_PLANE, None),
    ({}, {}, MIXED, None),
    ({}, {"cluster-api": "v1.8.12"}, OLD_PLANE, "found Cluster API v1.8.12, expected Cluster API v1.9 or newer"),
    ({"topology": True}, {}, OLD_PLANE,
     "found a cluster with a topology, and clusters.cluster.x-k8s.io in v1beta1 only, expected v1beta2, in which alone "
     "it is written; upgrade Cluster API, or make"),
    ({"topology": True}, {}, MIXED, "upgrade CAPM3, or make a plain cluster"),
    ({"provider": "metalstack"}, {}, dict(OLD_PLANE, **{"metalstackclusters.infrastructure.cluster.x-k8s.io": ["v1"]}),
     "found a cluster of the provider of metal-stack"),
    ({}, {}, dict((name, ["v1alpha4"]) for name in SERVED), 'found "v1beta2", expected one of v1alpha4'),
    ({"kubernetes_version": "v1.29.0"}, {"cluster-api": "v1.13.5"}, SERVED, "expected v1.30 to v1.36"),
    ({"kubernetes_version": "v1.36.0"}, {"cluster-api": "v1.13.0"}, SERVED, "Cluster API v1.13.1 or newer"),
    ({}, {"cluster-api": "v1.13.5", "infrastructure-metal3": "v1.12.0"}, SERVED, "the same minor version"),
])
def test_versions_that_fit_together(changes, providers, served, words):
    lines = cluster_versions.version_problems(replace(DESCRIPTION, **changes), providers, served)
    assert lines == [] if words is None else words in str(lines[0])


@pytest.mark.parametrize("current, words", [
    (None, None), ("v1.35.4", None), ("v1.35.1", None), ("v1.34.9", None), ("v1.33.0", "at most one minor version"),
    ("v1.36.0", "does not downgrade")])
def test_upgrades_go_step_by_step(current, words):
    lines = cluster_versions.upgrade_problems(DESCRIPTION, current)
    assert lines == [] if words is None else words in str(lines[0])


@pytest.mark.parametrize("described, machines, words", [
    ("v1.36.0", [("a", "v1.35.4", True), ("b", "v1.34.2", True)], 'kubernetes_version: found "v1.36.0", expected at '
     "most 1 minor version after v1.34.2, the oldest version of Machine b; set it to v1.35.4 and let that upgrade end"),
    ("v1.36.0", [("a", "v1.35.4", True), ("w", "v1.32.9", False), ("x", "v1.31.0", False)],
     "at most 3 minor versions after v1.31.0, the oldest version of Machine x, w; upgrade these"),
    ("v1.36.0", [("a", "v1.35.4", True), ("w", "v1.33.0", False), ("y", None, True)], None),
    ("v1.35.6", [("a", "v1.33.0", True), ("w", "v1.31.0", False)], None),
    ("v1.35.4", [("a", "v1.33.0", True)], None)])
def test_an_upgrade_that_has_not_reached_all_machines_ends_before_the_next(described, machines, words):
    """The control plane says v1.35.4."""
    lines = cluster_versions.upgrade_problems(
        replace(DESCRIPTION, kubernetes_version=described), "v1.35.4", machines)
    assert [words in str(line) for line in lines] == ([True] if words else [])


SUM = "a" * 64


def image(url="https://x/node.qcow2", **values):
    return dict({"url": url, "checksum": SUM}, **values)


@pytest.mark.parametrize("described, rendered", [
    (image(), "qcow2"), (image("https://x/node.RAW"), "raw"), (image("https://x/a.vmdk?token=b.raw"), "vmdk"),
    (image("https://x/node.raw", format="qcow2"), "qcow2"), (image("https://x/node.img", format="raw"), "raw"),
    (image("oci://x/node:v1", format="raw"), "raw"),
    (image("https://x/node.img"), None), (image("https://x/node"), None), (image("https://x/node.qcow2.xz"), None),
    (image("oci://x/node:v1.raw"), None), (image("https://x.raw"), None)])
def test_an_image_has_a_format_by_its_url_or_by_name(described, rendered):
    """CAPM3's setHostSpec writes an empty format to the host, which BMO's CRD refuses, and tries for ever."""
    assert image_format(described) == rendered
    lines = cluster_image.image_problems("cluster c1", "image", described)
    if rendered:
        assert lines == []
    else:
        assert len(lines) == 1 and str(lines[0]).startswith(
            "cluster c1: image.format: not set, expected one of raw, qcow2, vdi, vmdk, live-iso"), lines


def test_a_url_that_is_none_is_reported():
    lines = cluster_image.image_problems("cluster c1", "image", image("https://a@[x/a", checksum="ftps://[y"))
    assert [line.field for line in lines] == ["image.url", "image.format", "image.checksum"]


def test_passwords_in_urls_are_not_shown():
    lines = cluster_image.image_problems("cluster c1", "image", image("ftps://me:secret-word@x/node.raw"))
    assert len(lines) == 1 and "secret-word" not in str(lines[0]) and "secret-word" not in lines[0].actual


def test_an_image_of_a_registry_needs_a_checksum_for_capm3():
    """BMO takes one without; the webhooks of Metal3MachineTemplate and Metal3Machine refuse it (Image.Validate)."""
    lines = cluster_image.image_problems("cluster c1", "image", image("oci://x/node:v1", format="raw", checksum=None))
    assert len(lines) == 1 and "image.checksum: not set" in str(lines[0])
    live = {"url": "https://x/node.iso", "format": "live-iso"}
    assert cluster_image.image_problems("cluster c1", "image", live) == []


@pytest.mark.parametrize("text, expected", [
    (SUM + "\n", SUM), (SUM + "  node.raw\n", SUM), ("b" * 64 + " *other.raw\n" + SUM + " *node.raw\n", SUM),
    ("SHA256 (node.raw) = " + SUM, SUM), (SUM + "  other.raw\n", None), ("<html>", None), ("", None),
    ("# comment\n" + SUM + "  ./dir/node.raw", SUM)])
def test_checksum_files(text, expected):
    assert image_checks.checksum_in_file(text, "https://x/images/node.raw") == expected


def image_problems(answers):
    def fetch(url, _limit):
        answer = answers[url]
        if isinstance(answer, Exception):
            raise answer
        return answer
    image = {"url": "https://x/node.raw", "checksum": "https://x/sums", "checksum_type": "sha256"}
    return image_checks.reachability_problems("cluster c1", "image", image, fetch)


def test_the_image_server_is_asked():
    good = {"https://x/node.raw": b"", "https://x/sums": (SUM + "  node.raw").encode()}
    assert image_problems(good) == []
    assert "image.url: found https://x/node.raw: HTTP 404" in str(image_problems(
        dict(good, **{"https://x/node.raw": OSError("HTTP 404")}))[0])
    assert "image.checksum: found https://x/sums: refused" in str(image_problems(
        dict(good, **{"https://x/sums": OSError("refused")}))[0])
    assert "https://x/sums without node.raw" in str(image_problems(dict(good, **{"https://x/sums": b"x  y"}))[0])
    assert "found \"sha256\", expected md5" in str(
        image_problems(dict(good, **{"https://x/sums": b"a" * 32 + b"  node.raw"}))[0]
    )
