# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each client of the collection against a server that sends a byte before each timeout, for ever."""
from __future__ import annotations

import json

import pytest
from fakes.redfish import FakeRedfish, tree
from fakes.slow_server import ENDLESS, slow_server
from fakes.time_limits import ends

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import redfish
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings, Target, gather
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.redfish import RedfishClient, RedfishError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer.image_server import image_fetcher
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import client as ironic_client
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import session as ironic_session
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import client as kube_client
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import pages
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import transport as kube_transport
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack import client as metal_client
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.errors import MetalError

# Of the whole answer; a byte comes each 0.05 s.
ANSWER_SECONDS = 1


def ask_bmc(url):
    RedfishClient(url, True, 1, ANSWER_SECONDS).root()


def ask_ironic(url):
    ironic_client.IronicClient({"endpoint": url, "auth_type": "none", "request_timeout_seconds": ANSWER_SECONDS})


def ask_metal_api(url):
    metal_client.MetalClient({"api_url": url, "token": "t", "request_timeout_seconds": ANSWER_SECONDS}).items(
        "list_sizes", subject="sizes")


def ask_api_server(url):
    kube_client.KubeClient({"host": url, "api_key": "t"}).request("GET", "/version", timeout_seconds=ANSWER_SECONDS)


def watch(url):
    client = kube_client.KubeClient({"host": url, "api_key": "t"})
    for dummy in client.watch(KNOWN["BareMetalHost"], "n", "1", timeout_seconds=ANSWER_SECONDS):
        raise AssertionError("an event came of bytes that are none")


def ask_image_server(url):
    image_fetcher(reading_seconds=ANSWER_SECONDS)(url + "/sums", 1000000)


@pytest.mark.parametrize("ask, error", [
    (ask_bmc, RedfishError), (ask_ironic, IronicError), (ask_api_server, KubeError), (watch, KubeError),
    (ask_image_server, OSError),
    (ask_metal_api, MetalError)])
@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_that_never_ends_is_left(monkeypatch, ask, error, kind):
    monkeypatch.setattr(kube_transport, "_ANSWER_TIMES", 1)
    monkeypatch.setattr(kube_client, "_WATCH_GRACE_SECONDS", 0)
    monkeypatch.setattr(ironic_session, "_ANSWER_TIMES", 1)
    monkeypatch.setattr(metal_client, "_ANSWER_TIMES", 1)
    for name in ("http_proxy", "HTTP_PROXY", "OS_CLOUD", "OS_ENDPOINT", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    with slow_server(*ENDLESS[kind]) as url, ends(), pytest.raises(error):
        ask(url)


def test_an_answer_of_any_size_of_ironic_is_left(monkeypatch):
    """A login at Keystone has the same limit, for it goes through the same session."""
    monkeypatch.setattr(ironic_session, "ANSWER_LIMIT_BYTES", 10_000)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    with slow_server(head + b"x" * 200_000, b"x") as url, pytest.raises(IronicError, match="an answer of more than"):
        ironic_client.IronicClient({"endpoint": url, "auth_type": "none"})


class EndlessPages(ironic_client.IronicClient):
    """An Ironic each of whose pages names the next, and none is there twice."""

    def __init__(self):
        self._adapter, self.asked = None, 0

    server = "https://ironic.example"

    def request(self, method, path, query=None, body=None, subject=None, repeatable=None):
        self.asked += 1
        return {"nodes": [{"uuid": f"{self.asked}", "provision_state": "active"}], "next": "https://elsewhere.example/"}


def test_pages_of_ironic_without_end_are_left(monkeypatch):
    monkeypatch.setattr(ironic_client, "_MOST_PAGES", 20)
    client = EndlessPages()
    with pytest.raises(IronicError, match="more than 20 pages"):
        client.list_nodes(("uuid", "provision_state"))
    assert client.asked == 21


def test_pages_of_an_api_server_without_end_are_left(monkeypatch):
    monkeypatch.setattr(pages, "_MOST_PAGES", 20)
    asked = []

    class Endless(kube_client.KubeClient):
        def __init__(self):
            """Connect to nothing."""

        def request(self, method, path, query=None, *_arguments, **_options):
            asked.append(query)
            return {"metadata": {"continue": str(len(asked))}, "items": []}

    with pytest.raises(KubeError, match="more than 20 pages"):
        list(pages.pages(Endless(), KNOWN["BareMetalHost"], "n"))
    assert len(asked) == 21


def test_all_answers_of_a_bmc_together_have_a_limit(monkeypatch):
    """Each resource is within its limit, and there are hundreds."""
    resources = tree("dell")
    size = len(json.dumps(resources))
    monkeypatch.setattr(redfish, "_ALL_BYTES", size // 4)
    with FakeRedfish(resources) as bmc:
        address = bmc_address.parse(f"redfish+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1")
        facts, = gather([Target("a", address, "admin", "right", False)], Settings(None, 2, 5, 8, True))
        assert any("MiB in all" in reason for reason in facts["unread"].values()), facts["unread"]
        # After it nothing more is asked.
        assert len(bmc.requests) < len(resources)


def test_all_answers_of_a_bmc_together_end_in_time():
    times = iter([0, 1, redfish._ALL_SECONDS + 1])
    with FakeRedfish(tree("dell")) as bmc:
        client = RedfishClient(f"http://127.0.0.1:{bmc.port}", True, 2, 5, lambda: next(times))
        client.root()
        with pytest.raises(RedfishError, match="took more than") as caught:
            client.root()
        assert caught.value.kind == "unreachable"
