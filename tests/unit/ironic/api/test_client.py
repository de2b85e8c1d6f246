# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Ironic is found, and what its answers are turned into."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import (
    IronicClient,
    connection_settings,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import (
    IronicError,
    error_from_answer,
    fault_of,
)

URL = "https://192.0.2.1:6385"


def test_an_endpoint_wins_over_the_cloud_of_the_environment():
    found = connection_settings({"endpoint": URL + "/", "username": "u", "password": "p"}, {"OS_CLOUD": "x"})
    assert found["cloud"] is None
    assert found["arguments"]["auth_type"] == "http_basic"
    assert found["arguments"]["auth"] == {"endpoint": URL, "username": "u", "password": "p"}


@pytest.mark.parametrize(("params", "environment", "cloud", "auth_type"), [
    ({"cloud": "a"}, {"OS_CLOUD": "b", "OS_ENDPOINT": URL}, "a", None),
    ({}, {"OS_CLOUD": "b", "OS_ENDPOINT": URL}, "b", None),
    ({}, {"OS_ENDPOINT": URL}, None, "none"),
    ({}, {"OS_ENDPOINT": URL, "OS_USERNAME": "u", "OS_PASSWORD": "p"}, None, "http_basic"),
    ({"endpoint": URL}, {}, None, "none"),
    ({"endpoint": URL, "auth_type": "none"}, {"OS_USERNAME": "u"}, None, "none"),
    ({}, {}, None, None),
])
def test_where_ironic_is_looked_for(params, environment, cloud, auth_type):
    found = connection_settings(params, environment)
    assert (found["cloud"], found["arguments"].get("auth_type")) == (cloud, auth_type)


OTHER = {"OS_USERNAME": "theirs", "OS_PASSWORD": "their-password", "OS_AUTH_TYPE": "http_basic"}


@pytest.mark.parametrize(("params", "servers", "sent"), [
    ({"endpoint": URL}, {"OS_AUTH_URL": "https://keystone.example.com"}, None),
    ({"endpoint": URL}, {"OS_ENDPOINT": "https://192.0.2.2:6385"}, None),
    ({"endpoint": URL, "username": "u", "password": "p"}, {"OS_ENDPOINT": "https://192.0.2.2:6385"}, ("u", "p")),
    ({"endpoint": URL + "/"}, {"OS_ENDPOINT": URL, "OS_AUTH_URL": "https://keystone.example.com"},
     ("theirs", "their-password")),
    ({"endpoint": URL}, {}, ("theirs", "their-password")),
    ({}, {"OS_ENDPOINT": URL + "/"}, ("theirs", "their-password")),
])
def test_the_environments_login_is_not_sent_to_another_server_than_its_own(params, servers, sent):
    auth = connection_settings(params, dict(OTHER, **servers))["arguments"]["auth"]
    assert auth == dict({"endpoint": URL}, **(dict(zip(("username", "password"), sent)) if sent else {}))
    assert connection_settings(params, dict(OTHER, **servers))["arguments"]["auth_type"] == (
        "http_basic" if sent else "none")


def test_a_password_of_the_environment_does_not_complete_a_given_user_name():
    with pytest.raises(IronicError, match=r"found no password.*not read when OS_ENDPOINT or OS_AUTH_URL names another"):
        connection_settings({"endpoint": URL, "username": "u"}, dict(OTHER, OS_ENDPOINT="https://192.0.2.2:6385"))


@pytest.mark.parametrize(("params", "environment", "text"), [
    ({"endpoint": URL, "cloud": "a"}, {}, "found both"),
    ({"endpoint": URL, "username": "u"}, {}, "found no password"),
    ({"endpoint": URL, "auth_type": "http_basic"}, {}, "found no username"),
    ({"endpoint": URL}, {"OS_AUTH_TYPE": "v3password"}, "OS_AUTH_TYPE: found v3password"),
])
def test_contradictions(params, environment, text):
    with pytest.raises(IronicError, match=text):
        connection_settings(params, environment)


@pytest.mark.parametrize(("params", "environment", "arguments"), [
    ({"endpoint": URL, "ca_cert": "/ca"}, {"OS_CACERT": "/other"}, {"cacert": "/ca"}),
    ({"endpoint": URL}, {"OS_CACERT": "/other"}, {"cacert": "/other"}),
    ({"cloud": "a"}, {"OS_CACERT": "/other"}, {}),
    ({"cloud": "a", "validate_certs": False}, {}, {"verify": False}),
    ({"endpoint": URL}, {"OS_INSECURE": "true"}, {"verify": False}),
    ({"endpoint": URL, "validate_certs": True}, {"OS_INSECURE": "true"}, {"verify": True}),
    ({"cloud": "a"}, {"OS_INSECURE": "true"}, {}),
    ({"cloud": "a", "client_cert": "/c", "client_key": "/k"}, {}, {"cert": "/c", "key": "/k"}),
])
def test_tls_settings(params, environment, arguments):
    found = connection_settings(params, environment)["arguments"]
    assert dict((key, found[key]) for key in ("cacert", "cert", "key", "verify") if key in found) == arguments


@pytest.mark.parametrize(("text", "sentence"), [
    (json.dumps({"error_message": json.dumps({"faultstring": "Node x\n not found."})}), "Node x not found."),
    (json.dumps({"error_message": {"faultstring": "no"}}), "no"),
    (json.dumps({"error_message": json.dumps({"code": 404, "title": "Not Found", "description": ""})}), "Not Found"),
    ("<html>gone</html>", "a page of HTML, which is no answer of Ironic's: check the endpoint, and what is between "
     "here and there"),
    ("[" * 100000, "[" * 500 + "..."),
    ("", "no message"),
    ("[]", "no message"),
])
def test_the_sentence_in_an_error(text, sentence):
    assert fault_of(text) == sentence


@pytest.mark.parametrize(("status", "text", "retriable"), [
    (409, "Node 1 is locked by host a, please retry", True), (409, "A node with name a already exists.", False),
    (500, "(sqlite3.OperationalError) database is locked", True), (503, "no free workers", True),
    (400, "bad", False), (401, "no", False), (500, "bug", False),
])
def test_what_is_worth_another_try(status, text, retriable):
    assert error_from_answer(status, text, "node a").retriable is retriable


class Pages(IronicClient):
    """Answers a list in two pages."""

    server = URL

    def __init__(self, endless=False):
        self.asked = []
        self.endless = endless

    def request(self, method, path, query=None, body=None, subject=None):
        self.asked.append((path, query))
        if self.endless:
            return {"nodes": [{"uuid": "1"}], "next": "https://192.0.2.1/…"}
        if "marker" in query:
            return {"nodes": [{"uuid": "3"}]}
        return {"nodes": [{"uuid": "1"}, {"uuid": "2"}], "next": "https://192.0.2.1/…"}


def test_a_list_of_more_than_one_page_is_read_to_its_end():
    client = Pages()
    assert [node["uuid"] for node in client.list_nodes(["uuid"])] == ["1", "2", "3"]
    assert client.asked == [("/nodes", {"fields": "uuid"}), ("/nodes", {"fields": "uuid", "marker": "2"})]


def test_a_list_without_end_is_an_error():
    client = Pages(endless=True)
    with pytest.raises(IronicError, match="the same page again and again"):
        client.list_nodes(["uuid"])
    assert len(client.asked) == 2
