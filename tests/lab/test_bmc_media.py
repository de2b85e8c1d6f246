# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's BMCs reach: they download a medium over TLS, and what keeps them from it is named."""
from __future__ import annotations

import http.server
import secrets
import socket
import ssl
import threading

import pytest
from bmc_certificates import issue

# Of this run alone, because the log also has those of before.
PATH = f"images/media-probe-{secrets.token_hex(4)}.iso"


@pytest.fixture(scope="module")
def medium(lab):
    """The URL of a file of the lab's image server."""
    file = lab.dir / "www" / PATH
    file.write_bytes(b"a medium" * 4096)
    try:
        yield f"{lab.figures['urls']['image_server']}/{PATH}"
    finally:
        file.unlink()


@pytest.fixture
def untrusted(tmp_path):
    """The URL of a file of a server whose certificate no BMC of the lab trusts."""
    (tmp_path / "probe.iso").write_bytes(b"a medium")
    certificate, dummy = issue(tmp_path, "images.example")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=str(tmp_path))

        def log_message(self, *dummy):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/probe.iso"
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture
def nobody():
    """The URL of a port that nobody listens on while the test runs."""
    with socket.socket() as wire:
        wire.bind(("127.0.0.1", 0))
        yield f"https://127.0.0.1:{wire.getsockname()[1]}/probe.iso"


@pytest.fixture(autouse=True)
def drives(lab, room):
    """All virtual CDs are as they were."""
    def inserted():
        return {name: room.server(name)["virtual_media"] for name in lab.servers}

    before = inserted()
    yield
    assert inserted() == before


def check(lab, url, *arguments):
    return lab.playbook("network_check", "-e", f"network_check_media_url={url}", *arguments)


def log_lines(lab):
    return [line for file in sorted((lab.dir / "log").glob("image-server*")) for line in file.read_text().splitlines()
            if f"/{PATH} " in line]


def test_every_bmc_reads_the_medium_and_gives_it_back(lab, room, medium):
    """Agents that were booted by virtual media go on running, and their media stay where they are."""
    used = [name for name in lab.servers if room.server(name)["virtual_media"]]
    free = sorted(set(lab.servers) - set(used))
    assert free
    before = lab.versions()
    # In check mode nothing is asked of the image server.
    check(lab, medium, "--check").ok()
    assert not log_lines(lab)
    run = check(lab, medium).ok()
    assert run.changed() == 0 and lab.versions() == before
    assert len([line for line in log_lines(lab) if " 200 " in line]) == len(free)
    for name in free:
        assert f"{name}: Cd took {medium}, and was ejected again" in run.output
    for name in used:
        assert f"{name}: not tried: in use: Cd holds " in run.output


def test_a_certificate_that_the_bmcs_do_not_trust_is_named(lab, untrusted):
    run = check(lab, untrusted, "--limit", "localhost," + sorted(lab.servers)[0])
    run.failed("import its authority into the BMC")


def test_a_file_that_is_not_there_is_named(lab, medium):
    check(lab, medium + "x", "--limit", "localhost," + sorted(lab.servers)[0]).failed("correct the path of the URL")


def test_a_port_that_nobody_listens_on_is_named(lab, nobody):
    check(lab, nobody, "--limit", "localhost," + sorted(lab.servers)[0]).failed(
        "let the BMC's network reach the image server's port")


def test_a_server_whose_agent_has_answered_no_questions_is_named(lab):
    """Simulated agents have none; test_virtual_reach.py has one with ``agent_image_reach``."""
    name = sorted(name for name in lab.servers if lab.state(name) == "available")[0]
    lab.playbook("network_check", "--limit", name, extra={"network_check_agents": True}).failed(
        f"{name}: the last inspection has no answers of an agent; build its ramdisk with agent_image_reach, and "
        "inspect the server again")
