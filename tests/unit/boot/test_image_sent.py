# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of an image was sent is what the sockets of its server say, by a real ss and without one."""
from __future__ import annotations

import socket

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._boot import image_sent, image_watch
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.image_sent import Download, download_of
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.image_watch import ImageWatch

MIB = 1024 ** 2
URL = "https://192.0.2.1:6183/images/node.qcow2"
# iproute2 6.1.
PRINTED = """\
0      1448        192.0.2.1:6183      192.0.2.11:40112 cubic wscale:7,7 bytes_sent:9000 bytes_acked:{one} segs_out:9
0      0           192.0.2.1:6183      192.0.2.11:40114 cubic bytes_sent:90 bytes_acked:89 bytes_received:9
0      0           192.0.2.1:6385      192.0.2.11:40116 cubic bytes_sent:90 bytes_acked:999999999 bytes_received:9
0      0      [::ffff:192.0.2.1]:6183 [::ffff:192.0.2.12]:40118 cubic bytes_acked:{two}
0      0      [2001:db8::1]%br0:6183 [2001:db8::13]:40118 cubic bytes_acked:7
0      0           192.0.2.1:6183      192.0.2.14:40112 cubic bytes_received:9
"""


def node(agent="https://192.0.2.11:9999", state="wait call-back"):
    return {"provision_state": state, "driver_internal_info": {"agent_url": agent}}


def host(url=URL):
    return {"spec": {"image": {"url": url}}}


def test_what_the_agent_has_confirmed_counts_of_its_largest_connection():
    printed = PRINTED.format(one=312 * MIB, two=5)
    found = image_sent.sent(printed, {"a": Download("192.0.2.11", 6183, URL), "b": Download("192.0.2.12", 6183, URL),
                                      "c": Download("2001:db8::13", 6183, URL), "d": Download("192.0.2.14", 6183, URL),
                                      "e": Download("192.0.2.99", 6183, URL)})
    assert found == {"a": 312 * MIB, "b": 5, "c": 7}


def test_an_address_of_two_agents_is_nobodys():
    both = {"a": Download("192.0.2.11", 6183, URL), "b": Download("192.0.2.11", 6183, URL)}
    assert image_sent.sent(PRINTED.format(one=1, two=1), both) == {}


@pytest.mark.parametrize(("found_node", "found_host", "expected"), [
    (node(), host(), Download("192.0.2.11", 6183, URL)),
    (node("https://[2001:db8::13]:9999"), host("http://images/a"), Download("2001:db8::13", 80, "http://images/a")),
    (node(state="clean wait"), host(), None), (node(None), host(), None), (node("https://[::1"), host(), None),
    (node(), host("oci://registry/a"), None), (node(), host("https://images:a/b"), None), (node(), {"spec": {}}, None),
    ({"provision_state": "wait call-back"}, host(), None)])
def test_what_is_downloaded_is_the_image_of_a_deployment(found_node, found_host, expected):
    assert download_of(found_node, found_host) == expected


def test_the_text_has_the_size_where_it_is_known():
    assert image_sent.text(312 * MIB + 5, 812 * MIB - 5) == "312 of 812 MiB sent"
    assert image_sent.text(813 * MIB, 812 * MIB) == "812 of 812 MiB sent"
    assert image_sent.text(312 * MIB, None) == "312 MiB sent"


def test_a_server_is_asked_for_the_size_once_and_need_not_answer():
    asked = []

    def size_of(url, ca_file):
        asked.append((url, ca_file))
        raise OSError("no answer")

    looked = ImageWatch("/ca", lambda ports: PRINTED.format(one=3 * MIB, two=1), size_of)
    for _time in range(2):
        assert looked.look({"a": Download("192.0.2.11", 6183, URL)}) == {"a": "3 MiB sent"}
    assert asked == [(URL, "/ca")]
    looked = ImageWatch(None, lambda ports: PRINTED.format(one=3 * MIB, two=1), lambda url, ca_file: 4 * MIB)
    assert looked.look({"a": Download("192.0.2.11", 6183, URL)}) == {"a": "3 of 4 MiB sent"}


def test_without_downloads_or_the_program_nothing_is_said(monkeypatch, tmp_path):
    def unasked(ports):
        raise AssertionError(ports)

    assert ImageWatch(None, unasked).look({}) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ImageWatch(None).look({"a": Download("192.0.2.11", 6183, URL)}) == {}


def test_the_real_program_says_what_was_sent():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.77", 0))
        server = listener.accept()[0]
        with client, server:
            server.sendall(b"x" * 5000)
            assert len(client.recv(5000, socket.MSG_WAITALL)) == 5000
            download = {"a": Download("127.0.0.77", port, URL)}
            printed = image_watch.sockets(image_sent.ports_filter(download.values()))
    assert len(printed.splitlines()) == 1, printed
    # The handshake counts as one.
    assert image_sent.sent(printed, download)["a"] - 5000 in (0, 1)
