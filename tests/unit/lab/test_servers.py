# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import layout
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.servers import (
    BMC_SCHEMES,
    IPMI,
    describe,
    has_cluster,
    servers,
)

LAB = layout("lab", 3, {"HOME": "/home/me"})


def test_servers_have_distinct_identities():
    made = servers(LAB, describe(300))
    for field in ("name", "uuid", "serial", "boot_mac"):
        assert len(set(server[field] for server in made)) == 300
    macs = [nic["mac"] for server in made for nic in server["nics"]]
    assert len(set(macs)) == 600
    assert made[0]["boot_mac"] == "00:5c:52:03:00:10"
    assert [server["number"] for server in made] == list(range(1, 301))


def test_two_labs_share_no_mac_and_no_uuid():
    other = layout("other", 4, {"HOME": "/home/me"})
    first, second = servers(LAB, describe(4)), servers(other, describe(4))
    for field in ("uuid", "boot_mac"):
        assert not set(server[field] for server in first) & set(server[field] for server in second)


def test_fields_of_a_server():
    server = servers(LAB, describe(1))[0]
    assert server["bmc"] == {
        "address": "redfish+https://127.0.0.1:21313/redfish/v1/Systems/" + server["uuid"],
        "ipmi_port": 21340,
        "username_file": "/home/me/.local/state/metal3.baremetal/labs/lab/secrets/bmc/server-01/username",
        "password_file": "/home/me/.local/state/metal3.baremetal/labs/lab/secrets/bmc/server-01/password",
    }
    assert server["nics"][0]["address"] == "198.18.7.1"
    assert "address" not in server["nics"][1]
    assert server["disks"][0]["name"] == "/dev/sda"


def test_defaults_and_overrides():
    described = describe(2, {"cpus": 16}, {"server-02": {"memory_mib": 1024, "disks": [{"size_gib": 9}, {}]}})
    assert [described[name]["cpus"] for name in sorted(described)] == [16, 16]
    assert described["server-02"]["memory_mib"] == 1024
    assert [disk["size_gib"] for disk in described["server-02"]["disks"]] == [9, 40]
    assert [disk["size_gib"] for disk in described["server-01"]["disks"]] == [40]


def test_one_scheme_for_all_bmcs():
    described = describe(2, {}, {"server-02": {"bmc_scheme": "redfish-virtualmedia"}}, "redfish-uefihttp")
    assert [described[name]["bmc_scheme"] for name in sorted(described)] == ["redfish-uefihttp"] * 2
    with pytest.raises(ValueError, match=r"for all servers\.bmc_scheme 'ilo'"):
        describe(2, {}, {}, "ilo")


def test_bmcs_speak_ipmi_at_a_port_of_their_own():
    made = servers(LAB, describe(60, bmc_scheme="ipmi"))
    assert [server["bmc"]["address"] for server in made] == [f"ipmi://127.0.0.1:{port}" for port in range(21340, 21400)]
    beside = servers(LAB, describe(61))
    assert [server["bmc"]["ipmi_port"] for server in beside] == [*range(21340, 21400), None]
    with pytest.raises(ValueError, match=r"server-61\.bmc_scheme 'ipmi': expected another one, a lab has 60 ports"):
        describe(61, bmc_scheme="ipmi")


@pytest.mark.parametrize("scheme", [scheme for scheme in BMC_SCHEMES if scheme != IPMI])
def test_the_scheme_of_a_bmcs_address(scheme):
    one, = servers(LAB, describe(1, overrides={"server-01": {"bmc_scheme": scheme}}))
    assert one["bmc"]["address"] == f"{scheme}+https://127.0.0.1:21313/redfish/v1/Systems/{one['uuid']}"
    assert "bmc_scheme" not in one


def test_a_scheme_that_the_lab_can_not_serve_is_refused():
    with pytest.raises(ValueError, match=r"defaults\.bmc_scheme 'ilo': expected one of redfish, redfish-virtualmedia"):
        describe(1, {"bmc_scheme": "ilo"})


@pytest.mark.parametrize("count", [0, -1, 4096, True, "4", 1.5])
def test_refused_counts(count):
    with pytest.raises(ValueError, match="1 to 4095"):
        describe(count)


def test_all_mistakes_at_once():
    with pytest.raises(ValueError) as caught:
        describe(2, {"cpu": 3, "cpus": 0}, {
            "server-01": {"disks": [{"size_gib": "40"}, "sda"], "nics": []},
            "server-02": [],
            "server-3": {},
        })
    text = str(caught.value)
    for part in ("unknown field cpu", "defaults.cpus 0", "overrides.server-01.disks[0].size_gib '40'",
                 "overrides.server-01.disks[1]: expected a mapping", "overrides.server-01.nics: expected at least one",
                 "overrides.server-02: expected a mapping", "overrides.server-3: expected a server's name"):
        assert part in text


@pytest.mark.parametrize("name, count, needed, root, there", [
    ("workload", 4, 2, True, True),
    ("workload", 2, 2, True, True),
    ("workload", 1, 2, True, False),
    ("workload", 4, 2, False, False),
    ("none", 4, 2, True, False),
])
def test_a_cluster_is_there_where_its_nodes_can_run(name, count, needed, root, there):
    assert has_cluster(name, count, needed, root) is there


def test_virtual_servers_have_the_size_of_a_process():
    described = describe(2, {}, {"server-02": {"kind": "virtual", "memory_mib": 4096}})
    assert [described[name]["kind"] for name in sorted(described)] == ["simulated", "virtual"]
    assert described["server-02"]["cpus"] == 2
    assert described["server-02"]["memory_mib"] == 4096
    assert describe(1, kind="virtual")["server-01"]["kind"] == "virtual"


def test_servers_that_are_made_virtual_for_one_run_have_no_hardware_of_simulated_ones():
    overrides = {"server-01": {"memory_mib": 65536, "disks": [{}, {}], "bmc_scheme": "redfish-virtualmedia"}}
    found = describe(1, {}, overrides, kind="virtual")["server-01"]
    assert (found["memory_mib"], found["cpus"], len(found["disks"])) == (3072, 2, 1)
    assert found["bmc_scheme"] == "redfish-virtualmedia"
    assert describe(1, {}, overrides, kind="simulated")["server-01"]["memory_mib"] == 65536


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"for all servers\.kind 'real': expected one of simulated, virtual"):
        describe(1, kind="real")
