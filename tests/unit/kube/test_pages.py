# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A LIST in pages, and what is said when it fails."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.pages import pages
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.advice import reading_failed
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

BMH = KNOWN["BareMetalHost"]


class Server(KubeClient):
    """Answers a LIST in pages.

    :param names: of the objects
    :param gone: from which page on the continue token is refused
    """

    def __init__(self, names, gone=None):
        self.names, self.gone, self.queries = names, gone, []

    def request(self, method, path, query=None, *_arguments, **_options):
        self.queries.append(query)
        begin, limit = int(query.get("continue") or 0), query.get("limit") or len(self.names)
        if self.gone is not None and begin >= self.gone:
            raise KubeError("too old", 410, "Expired")
        token = str(begin + limit) if begin + limit < len(self.names) else ""
        items = [{"metadata": {"name": name, "namespace": "n"}} for name in self.names[begin:begin + limit]]
        return {"metadata": {"continue": token}, "items": items}


def read(server):
    return [[item["metadata"]["name"] for item in page] for page in pages(server, BMH, "n", "a=b", page_size=2)]


def test_all_objects_come_page_by_page():
    server = Server("abcde")
    assert read(server) == [["a", "b"], ["c", "d"], ["e"]]
    assert [query["labelSelector"] for query in server.queries] == ["a=b"] * 3


def test_an_empty_list_is_one_empty_page():
    assert read(Server("")) == [[]]


def test_when_the_server_has_forgotten_the_list_the_rest_comes_at_once_and_nothing_twice():
    server = Server("abcde", gone=2)
    assert read(server) == [["a", "b"], ["c", "d", "e"]]
    assert "limit" not in server.queries[-1]


def test_other_refusals_are_raised():
    def refuse(*_arguments, **_options):
        raise KubeError("no", 403)

    server = Server("abcde")
    server.request = refuse
    with pytest.raises(KubeError, match="no"):
        read(server)


@pytest.mark.parametrize("error, namespace, next_step", [
    (KubeError("x", 403), "n", "Role and RoleBinding in namespace n with the verb list on baremetalhosts"),
    (KubeError("x", 403), None, "ClusterRole and ClusterRoleBinding"),
    (KubeError("x", 404), "n", "does not know BareMetalHosts: install"),
    (KubeError("x", 401), "n", "renew the token"),
    (KubeError("x", 400), "n", "correct label_selector"),
    (KubeError("x", reason="Unreachable"), "n", "start it"),
    (KubeError("CERTIFICATE_VERIFY_FAILED", reason="Unreachable"), "n", "set ca_cert"),
    (KubeError("kubeconfig a: b", reason="Configuration"), "n", "correct kubeconfig or context"),
])
def test_a_failed_read_says_what_to_do(error, namespace, next_step):
    text = reading_failed(error, BMH, namespace, "https://x")
    assert text.startswith(error.message)
    assert next_step in text


def test_what_says_it_already_is_left_as_it_is():
    error = KubeError("no API server given: set kubeconfig", reason="Configuration")
    assert reading_failed(error, None, None, None) == error.message
    assert reading_failed(KubeError("full", 507), BMH, None, "https://x") == "full"
