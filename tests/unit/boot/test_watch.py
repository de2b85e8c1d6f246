# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the servers of hosts are, by Ironic and by logs together."""
from __future__ import annotations

import threading

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._boot import watch as boot_watch
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.watch import BootWatch
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.goals import HostHistory
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError

NODE, MAC = "b3062844-a8eb-4764-8d7e-0e22bd12654f", "00:5c:52:01:00:10"
HOST = {"metadata": {"name": "h1"}, "spec": {"bootMACAddress": MAC.upper()}, "status": {
    "operationalStatus": "OK", "provisioning": {"state": "inspecting", "ID": NODE}}}
SCRIPT = (f'198.18.3.1 - - [25/Nov/2026:06:09:56 +0000] "GET /pxelinux.cfg/{MAC.replace(":", "-")} HTTP/1.1" 200 9 '
          '"-" "iPXE"\n')


class Ironic:
    """Answers with a list of nodes, or an error."""

    def __init__(self, *nodes, error=None):
        self.nodes, self.error, self.asked = nodes, error, 0

    def list_nodes(self, fields):
        self.asked += 1
        if self.error:
            raise self.error
        return [dict(node) for node in self.nodes]


class Images:
    """An ImageWatch without sockets."""

    def look(self, downloads):
        """Return a text for each download."""
        return dict((node, f"3 MiB of {download.url} sent") for node, download in downloads.items())


def watch(ironic=None, logs=(), now=lambda: 100, consoles=None, power=lambda hosts: [""] * len(hosts)):
    return BootWatch({"ironic": None if ironic is None else {}, "boot_logs": [str(path) for path in logs],
                      "boot_consoles": consoles or {}}, clock=now, connect=lambda options: ironic, power=power,
                     images=Images())


def node(state="inspect wait", **fields):
    return dict({"uuid": NODE, "provision_state": state, "power_state": "power on"}, **fields)


def test_ironic_says_where_it_is():
    looked = watch(Ironic(node(), {"uuid": "another"}))
    assert looked.text(HOST, 60) == ""
    looked.look()
    assert looked.text(HOST, 60) == "powered on, the agent has not called yet"


def test_a_log_says_more_as_long_as_the_agent_has_not_called(tmp_path):
    log, times = tmp_path / "access.log", [100]
    log.touch()
    ironic = Ironic(node())
    looked = watch(ironic, [log], now=lambda: times[0])
    looked.text(HOST, 60)
    log.write_text(SCRIPT)
    looked.look()
    times[0] = 130
    assert looked.text(HOST, 60) == "read its boot script 30 s ago"
    # In the state that it is in now it has not been seen.
    assert looked.text(HOST, 29) == "powered on, the agent has not called yet"
    ironic.nodes = [node("clean wait", clean_step={"step": "erase_devices"}, driver_internal_info={"agent_url": "u"})]
    looked._logs.clear()
    looked.look()
    assert looked.text(HOST, 60) == "the agent is at erase_devices"
    # The one that has failed boots nothing any more.
    ironic.nodes = [node("deploy failed", last_error="checksum")]
    looked.look()
    assert looked.text(HOST, 60) == "Ironic: deploy failed"
    # What the log said before is not true of a server that Ironic does nothing with.
    ironic.nodes = [node("available")]
    looked.look()
    assert looked.text(HOST, 60) == ""


def test_the_silence_of_an_agent_is_counted_from_its_last_call():
    times = [1000]

    def at(state="wait call-back", called="2026-11-25T06:23:26"):
        return node(state, deploy_step={"step": "write_image"},
                    driver_internal_info={"agent_url": "u", "agent_last_heartbeat": called})

    ironic = Ironic(at())
    looked = watch(ironic, now=lambda: times[0])

    def text(later_seconds, *nodes):
        times[0] += later_seconds
        ironic.nodes = nodes or ironic.nodes
        looked.look()
        return looked.text(HOST, 60)

    assert text(0) == "the agent is at write_image"
    assert text(240) == "the agent is at write_image, silent for 4 min"
    ironic.error = IronicError("list of nodes: no answer", reason="Unreachable")
    assert text(20) == ""
    ironic.error = None
    assert text(40) == "the agent is at write_image, silent for 5 min"
    assert text(5, at(called="2026-11-25T06:28:30")) == "the agent is at write_image"
    # While a conductor works nobody can call.
    assert text(300, at("deploying", "2026-11-25T06:28:30")) == "Ironic is at write_image"
    assert text(5, at(called="2026-11-25T06:28:30")) == "the agent is at write_image"


def test_without_sources_nothing_is_known_and_nothing_runs():
    before = threading.active_count()
    with watch() as looked:
        assert threading.active_count() == before
        assert looked.text(HOST, 60) == "" and looked.warnings == []
    with BootWatch({"ironic": {}, "boot_logs": ["/nonexistent/log"]}, active=False) as looked:
        assert threading.active_count() == before


def test_a_refusal_is_one_warning_and_what_passes_is_none():
    ironic = Ironic(error=IronicError("list of nodes: refused", 401))
    looked = watch(ironic)
    looked.look()
    looked.look()
    assert looked.warnings == ["ironic: what Ironic does with the hosts is not shown: list of nodes: refused"]
    assert ironic.asked == 1
    ironic = Ironic(node(), error=IronicError("list of nodes: no answer", reason="Unreachable"))
    looked = watch(ironic)
    looked.look()
    ironic.error = None
    looked.look()
    assert looked.warnings == [] and looked.text(HOST, 60)


def test_a_log_that_can_not_be_read_is_one_warning(tmp_path):
    (tmp_path / "file").touch()
    below = tmp_path / "file/dhcp.log"
    looked = watch(logs=[tmp_path, below])
    looked.look()
    looked.look()
    directory, nowhere = looked.warnings
    assert f"{tmp_path} is not read: Is a directory" in directory
    assert f"{below} is not read: Not a directory; correct the path" in nowhere


def test_a_sign_on_the_console_counts_until_something_comes_after_it(tmp_path):
    console, log, times = tmp_path / "serial.log", tmp_path / "access.log", [100]
    console.write_text("Kernel panic - not syncing: of an earlier boot\n")
    ironic = Ironic(node())
    looked = watch(ironic, [log], lambda: times[0], {"h1": str(console), "h2": str(tmp_path / "none.log")})
    looked.text(HOST, 600)
    looked.look()
    assert looked.text(HOST, 600) == "powered on, the agent has not called yet"

    with open(console, "a", encoding="utf-8") as file:
        file.write("[ 1.2] Kernel panic - not syncing: {{ lookup('pipe', 'id') }}\r\n")
    looked.look()
    times[0] += 60
    found = looked.text(HOST, 600)
    assert found.startswith("its kernel has stopped by a panic 1 min ago; check its ramdisk")
    assert found.endswith("; powered on, the agent has not called yet") and "lookup" not in found
    # Not about the state that the host is in now.
    assert "panic" not in looked.text(HOST, 30)
    ironic.nodes = [node("inspect failed")]
    looked.look()
    assert "its kernel has stopped" in looked.text(HOST, 600) and "; Ironic: inspect failed" in looked.text(HOST, 600)

    log.write_text(SCRIPT)
    ironic.nodes = [node()]
    looked.look()
    assert looked.text(HOST, 600) == "read its boot script 0 s ago"
    assert looked.warnings == []


def test_a_panic_of_a_running_agent_is_named_beside_its_silence(tmp_path):
    console, times = tmp_path / "serial.log", [1000]
    console.touch()
    ironic = Ironic(node("wait call-back", deploy_step={"step": "write_image"}, driver_internal_info={
        "agent_url": "u", "agent_last_heartbeat": "2026-11-25T06:23:26"}))
    looked = watch(ironic, now=lambda: times[0], consoles={"h1": str(console)})
    # In one look with the call.
    console.write_text("Kernel panic - not syncing: x\n")
    looked.look()
    times[0] += 240
    found = looked.text(HOST, 600)
    assert found.startswith("its kernel has stopped")
    assert found.endswith("; the agent is at write_image, silent for 4 min")


def test_an_address_after_which_nothing_is_read_says_what_to_check(tmp_path):
    log, times = tmp_path / "dhcp.log", [100]
    log.touch()
    looked = watch(Ironic(node()), [log], lambda: times[0])
    looked.text(HOST, 600)
    log.write_text(f"dnsmasq-dhcp[5]: 1 DHCPACK(prov) 198.18.3.1 {MAC} h1\n")
    looked.look()
    assert looked.text(HOST, 600) == "has an address by DHCP 0 s ago"
    times[0] += 61
    found = looked.text(HOST, 600)
    assert found.startswith("has read nothing since its address by DHCP 1 min 1 s ago; check TFTP")


def test_how_much_of_an_image_was_sent_is_beside_the_step():
    image = dict(HOST, spec={"image": {"url": "http://images/a"}})
    ironic = Ironic(node("wait call-back", deploy_step={"step": "write_image"}, driver_internal_info={
        "agent_url": "https://192.0.2.11:9999"}))
    looked = watch(ironic)
    looked.text(image, 60)
    looked.look()
    assert looked.text(image, 60) == "the agent is at write_image, 3 MiB of http://images/a sent"
    ironic.nodes = [node("deploying", deploy_step={"step": "write_image"})]
    looked.look()
    assert looked.text(image, 60) == "Ironic is at write_image"


def test_of_a_provisioned_host_its_console_says_how_far_its_system_is(tmp_path):
    console, times = tmp_path / "serial.log", [1000]
    console.touch()
    ironic = Ironic(node("wait call-back", driver_internal_info={"agent_url": "u", "agent_last_heartbeat": "1"}))
    looked = watch(ironic, now=lambda: times[0], consoles={"h1": str(console)})

    def said(text, later_seconds, seconds):
        with open(console, "a", encoding="utf-8") as file:
            file.write(text)
        times[0] += later_seconds
        looked.look()
        return looked.system_text(HOST, seconds)

    looked.text(HOST, 0)
    # The agent's own boot.
    assert said("[    0.000000] Linux version 6.1\n", 5, 500) == ""
    ironic.nodes = [node("active")]
    # The operator says later that the host is provisioned than its system begins to boot.
    assert said("Welcome to GRUB!\n", 30, 0) == "its boot loader runs 0 s ago"
    assert said("Kernel panic - not syncing: VFS\n", 30, 30).startswith(
        "its kernel has stopped by a panic 0 s ago; check its ramdisk")
    # Without Ironic nobody knows whose boot it was that came before.
    alone = watch(now=lambda: times[0], consoles={"h1": str(console)})
    console.write_text("")
    console.write_text("Welcome to GRUB!\n")
    alone.look()
    times[0] += 60
    assert alone.system_text(HOST, 59) == "" and alone.system_text(HOST, 61) == "its boot loader runs 1 min ago"


def by_network(scheme="redfish"):
    return dict(HOST, spec=dict(HOST["spec"], bmc={"address": f"{scheme}://192.0.2.1/redfish/v1/Systems/1"}))


def test_a_server_of_which_dhcp_hears_nothing_is_named_after_a_while(tmp_path):
    log, times = tmp_path / "dhcp.log", [100]
    log.touch()
    ironic = Ironic(node(power_state="power off"))
    looked = watch(ironic, [log], lambda: times[0])

    def said(later_seconds, host):
        times[0] += later_seconds
        looked.look()
        return looked.text(host, 5000)

    # What it does while it is off is no silence.
    assert said(0, by_network()) == said(400, by_network()) == "powered off"
    ironic.nodes = [node()]
    assert said(5, by_network()) == "powered on, the agent has not called yet"
    assert said(299, by_network()) == "powered on, the agent has not called yet"
    assert said(1, by_network()) == (
        "left no trace in DHCP's log since it was found powered on 5 min ago; check that the DHCP server runs, the "
        "port's VLAN and cable, and the boot order")
    # It reads its medium, and DHCP only afterwards.
    assert said(0, by_network("redfish-virtualmedia")) == "powered on, the agent has not called yet"
    log.write_text(f"dnsmasq-dhcp[5]: 1 DHCPDISCOVER(prov) {MAC}\n")
    assert said(0, by_network()) == "asked for an address by DHCP 0 s ago"


@pytest.mark.parametrize("name", ["access.log", "dnsmasq-prov.log"])
def test_without_a_log_of_dhcp_nothing_is_said_of_it(tmp_path, name):
    """One of another server, and one that nothing has written."""
    times = [100]
    (tmp_path / "access.log").touch()
    looked = watch(Ironic(node()), [tmp_path / name], lambda: times[0])
    looked.look()
    times[0] += 1000
    assert looked.text(by_network(), 5000) == "powered on, the agent has not called yet"


def test_the_bmc_of_an_agent_that_has_fallen_silent_is_asked_once_for_power():
    times, asked, answer = [1000], [], ["on"]

    def at(called, state="wait call-back", **fields):
        return node(state, deploy_step={"step": "write_image"}, **fields,
                    driver_internal_info={"agent_url": "u", "agent_last_heartbeat": called})

    def power(hosts):
        asked.append([host["metadata"]["name"] for host in hosts])
        return answer

    ironic = Ironic(at("1"))
    looked = watch(ironic, now=lambda: times[0], power=power)

    def said(later_seconds):
        times[0] += later_seconds
        looked.look()
        return looked.text(HOST, 5000)

    said(0)
    assert "silent" not in said(179) and asked == []
    assert said(1) == ("its BMC reported it as on 0 s ago; check its cable, the port's VLAN and its console; the agent "
                       "is at write_image, silent for 3 min")
    assert "its BMC reported it as on 1 min ago" in said(60) and asked == [["h1"]]
    # It calls again, and falls silent once more.
    ironic.nodes, answer[:] = [at("2")], ["off"]
    assert said(5) == "the agent is at write_image"
    assert said(200).startswith("its BMC reported it as off 0 s ago; check its power supply") and len(asked) == 2
    # When Ironic has given it up, it is what the silence was about; not in its next attempt.
    ironic.nodes = [at("2", "deploy failed", last_error="timeout")]
    assert said(60) == ("its BMC reported it as off 1 min ago; check its power supply, and who has switched it off; "
                        "Ironic: deploy failed")
    ironic.nodes = [at("2", "deploying")]
    assert said(5) == "Ironic is at write_image"


def test_a_bmc_that_says_nothing_of_power_leaves_the_silence_as_it_is():
    times = [1000]
    ironic = Ironic(node("wait call-back", driver_internal_info={"agent_url": "u", "agent_last_heartbeat": "1"}))
    looked = watch(ironic, now=lambda: times[0])
    looked.text(HOST, 0)
    looked.look()
    times[0] += 200
    looked.look()
    assert looked.text(HOST, 5000) == "the agent has called, silent for 3 min 20 s"


def test_the_nodes_with_their_volumes_are_asked_for_and_a_refusal_is_a_warning():
    assert watch().raid_nodes() == {}
    assert watch(Ironic(node())).raid_nodes() == {NODE: node()}
    refused = watch(Ironic(error=IronicError("Ironic refuses the login", 401, "Unauthorized")))
    assert refused.raid_nodes() == {} and "RAID volumes was not looked at: Ironic refuses" in refused.warnings[0]


def test_it_looks_in_the_background(monkeypatch):
    monkeypatch.setattr(boot_watch, "INTERVAL_SECONDS", 0.01)
    ironic, twice = Ironic(node()), threading.Event()
    listed = ironic.list_nodes

    def list_nodes(fields):
        if ironic.asked >= 2:
            twice.set()
        return listed(fields)

    ironic.list_nodes = list_nodes
    with watch(ironic) as looked:
        assert twice.wait(10) and looked.text(HOST, 60)
    looked._thread.join(10)
    assert not looked._thread.is_alive()


@pytest.mark.parametrize("status, expected", [
    ({}, "inspecting (read the kernel 3 s ago)"),
    # What BMO says goes before.
    ({"operationalStatus": "delayed"}, "delayed"),
])
def test_a_wait_shows_it_and_so_does_its_end(status, expected):
    history = HostHistory("available", None, 0, phase=lambda bmh, seconds: "read the kernel 3 s ago")
    host = dict(HOST, status=dict(HOST["status"], **status))
    history.update(host, 1)
    assert expected in f"{history.state} ({history.verdict.cause})"
    assert (history.verdict.cause in history.error(900, 900)) and "still inspecting after" in history.error(900, 900)


@pytest.mark.parametrize(("message", "is_of_boot"), [
    ("Timeout reached while inspecting the node", True),
    ("Timeout reached while waiting for callback for node x", True),
    ("Timeout reached while cleaning the node. Please check if the ramdisk is running. Failed on step {}.", True),
    ("Unable to connect to https://192.0.2.1", False)])
def test_what_is_known_of_the_boot_is_the_cause_of_a_ramdisk_that_is_not_heard_of(message, is_of_boot):
    history = HostHistory("available", None, 0, phase=lambda bmh, seconds: "its kernel has stopped by a panic")
    history.update(dict(HOST, status=dict(HOST["status"], operationalStatus="error", errorType="inspection error",
                                          errorMessage=message, errorCount=3)), 1)
    assert ("its kernel has stopped by a panic" in history.verdict.cause) == is_of_boot
    assert history.verdict.outcome == "failed"


def test_a_console_that_is_silent_since_a_medium_was_started_is_named_until_it_says_something(tmp_path):
    console, times = tmp_path / "serial.log", [1000]
    console.touch()
    looked = watch(now=lambda: times[0], consoles={"h1": str(console)})
    looked.text(HOST, 0)

    def said(text, seconds):
        with open(console, "a", encoding="utf-8") as file:
            file.write(text)
        looked.look()
        times[0] += seconds
        looked.look()
        return looked.text(HOST, 5000)

    assert said('BdsDxe: starting Boot0001 "UEFI QEMU DVD-ROM QM00001 " from x\n', 299) == ""
    assert said("", 61) == ("its console is silent since its boot medium was started 6 min ago; check whether its "
                            "BMC was restarted or has let go of the medium")
    assert said("Linux version 6.1\n", 400) == ""
