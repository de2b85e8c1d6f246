# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the containers of Ironic's pod print after the first look, each line once, over a replaced pod."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._boot import pod_log
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.pod_log import PodLogs
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.watch import BootWatch
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

PLACE = {"kubeconfig": "/k", "context": None, "namespace": "bmo", "deployment": "ironic"}
DHCP, WEB = "ironic-dnsmasq", "ironic-httpd"


class Cluster:
    """An API server with Ironic's Deployment, whose kubelets answer as real ones do: from a second on."""

    def __init__(self, **logs):
        self.logs, self.error, self.asked = dict(logs), None, []

    def get(self, resource, namespace, name):
        if self.error:
            raise self.error
        assert (resource.kind, namespace, name) == ("Deployment", "bmo", "ironic")
        return {"metadata": {"namespace": namespace}, "spec": {"selector": {"matchLabels": {"name": "ironic"}}}}

    def list(self, resource, namespace, selector):
        assert (resource.kind, namespace, selector) == ("Pod", "bmo", "name=ironic")
        return [{"metadata": {"name": pod}, "spec": {"containers": [{"name": name} for name in containers]},
                 "status": {"phase": "Running"}} for pod, containers in self.logs.items()], "1"

    def beginning(self, path, query, subject, limit):
        pod = path.split("/")[-2]
        assert path == f"/api/v1/namespaces/bmo/pods/{pod}/log" and query["timestamps"] == "true"
        self.asked.append((pod, query["container"]))
        lines = self.logs[pod][query["container"]]
        if "sinceTime" in query:
            assert query["sinceTime"].endswith("Z") and "." not in query["sinceTime"]
            lines = [line for line in lines if line[:19] + "Z" >= query["sinceTime"]]
        if "tailLines" in query:
            lines = lines[-query["tailLines"]:]
        return "".join(line + "\n" for line in lines).encode()[:limit]


def at(second, text):
    return f"2026-11-29T08:00:{second}Z {text}"


def test_each_line_comes_once_from_the_first_look_on():
    cluster = Cluster(a={DHCP: [at("00.5", "before"), at("01.25", "last before")], WEB: [], "ironic": [at("01", "no")]})
    logs = PodLogs(PLACE, lambda options: cluster)
    assert logs.lines() == [] and logs.is_of_dhcp and {name for _pod, name in cluster.asked} == {DHCP, WEB}
    # In the same second, with fewer digits, and of a container that had printed nothing.
    cluster.logs["a"][DHCP] += [at("01.3", "one"), at("02", "two")]
    cluster.logs["a"][WEB].append(at("01", "web"))
    assert logs.lines() == ["one", "two", "web"]
    assert logs.lines() == []
    cluster.logs["a"][DHCP].append(at("02.000000001", "three"))
    assert logs.lines() == ["three"]
    # A pod that takes its place is read from its beginning.
    cluster.logs = {"b": {DHCP: [at("03", "four")], WEB: ["no time"]}}
    assert logs.lines() == ["four"]


def test_of_much_at_once_the_rest_comes_with_the_next_look(monkeypatch):
    cluster = Cluster(a={DHCP: [at("00", "before")]})
    logs = PodLogs(PLACE, lambda options: cluster)
    logs.lines()
    cluster.logs["a"][DHCP] += [at(f"0{number}", "x" * 9) for number in range(1, 6)]
    monkeypatch.setattr(pod_log, "_LOOK_BYTES", 100)
    found = []
    for _look in range(6):
        found += logs.lines()
    assert found == ["x" * 9] * 5


def test_what_passes_is_nothing_and_what_stays_is_one_warning(monkeypatch):
    cluster = Cluster(a={DHCP: []})
    logs = PodLogs(PLACE, lambda options: cluster)
    for error in (KubeError("no answer", reason="Unreachable"), KubeError("busy", 503), KubeError("gone", 404)):
        cluster.error = error
        assert logs.lines() == []
    cluster.error = KubeError("pods is forbidden", 403)
    with pytest.raises(KubeError):
        logs.lines()
    monkeypatch.setattr("ansible_collections.metal3.baremetal.plugins.module_utils._boot.watch.PodLogs",
                        lambda place: PodLogs(place, lambda options: cluster))
    looked = BootWatch({"boot_pod": PLACE})
    looked.look()
    looked.look()
    assert looked.warnings == ["boot_pod: the logs of Deployment bmo/ironic are not read: pods is forbidden"]


def test_a_wait_says_what_they_say(monkeypatch):
    mac = "00:5c:52:01:00:10"
    cluster = Cluster(a={DHCP: []})
    monkeypatch.setattr("ansible_collections.metal3.baremetal.plugins.module_utils._boot.watch.PodLogs",
                        lambda place: PodLogs(place, lambda options: cluster))
    host = {"metadata": {"name": "h1"}, "spec": {"bootMACAddress": mac}}
    looked = BootWatch({"boot_pod": PLACE}, clock=lambda: 100)
    looked.text(host, 60)
    looked.look()
    # dnsmasq in the foreground names no process.
    cluster.logs["a"][DHCP] += [at("01", f"dnsmasq-dhcp: 7 DHCPACK(eth0) 172.22.0.10 {mac} h1"),
                                at("02", "dnsmasq-tftp: sent /shared/tftpboot/snponly.efi to 172.22.0.10")]
    looked.look()
    assert looked.text(host, 60) == "read a file by TFTP 0 s ago"
