# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs from outside: what of them is taken, what is refused, and that no content is a traceback."""
from __future__ import annotations

import base64
import copy
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.workload_client import (
    workload_client,
    workload_kubeconfig,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection import (
    connection_choice,
    connection_values,
    kubeconfig,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n").decode()
# As Cluster API writes it.
GOOD = {
    "apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": "prod-admin@prod",
    "clusters": [{"name": "prod", "cluster": {"server": "https://192.0.2.10:6443",
                                              "certificate-authority-data": PEM}}],
    "users": [{"name": "prod-admin", "user": {"client-certificate-data": PEM, "client-key-data": PEM}}],
    "contexts": [{"name": "prod-admin@prod", "context": {"cluster": "prod", "user": "prod-admin"}}]}


def changed(**fields):
    """Return the good one with fields of its cluster, user or top level added."""
    content = copy.deepcopy(GOOD)
    for part, more in fields.items():
        target = content if part == "top" else content[part + "s"][0][part]
        target.update(more)
    return content


def inline(content):
    return kubeconfig.inline(yaml.safe_dump(content).encode(), "Secret n/prod-kubeconfig")


def test_what_cluster_api_writes_is_taken_as_it_is():
    assert inline(GOOD) == GOOD
    assert yaml.safe_load(kubeconfig.as_text(inline(GOOD))) == GOOD


@pytest.mark.parametrize("content, named", [
    (changed(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch"}}), "user.exec"),
    (changed(user={"auth-provider": {"name": "gcp", "config": {"cmd-path": "touch"}}}), "user.auth-provider"),
    (changed(user={"tokenFile": "/etc/shadow"}), "user.tokenFile"),
    (changed(user={"client-certificate": "/etc/shadow"}), "user.client-certificate"),
    (changed(user={"client-key": "/etc/shadow"}), "user.client-key"),
    (changed(user={"username": "u", "password": "secret-word"}), "user.password, users[prod-admin].user.username"),
    (changed(user={"as": "system:admin"}), "user.as"),
    (changed(user={"as-uid": "u"}), "user.as-uid"),
    (changed(user={"as-user-extra": {"scopes": ["all"]}}), "user.as-user-extra"),
    (changed(cluster={"certificate-authority": "/etc/shadow"}), "cluster.certificate-authority"),
    (changed(cluster={"proxy-url": "http://192.0.2.66"}), "cluster.proxy-url"),
    (changed(cluster={"insecure-skip-tls-verify": True}), "cluster.insecure-skip-tls-verify"),
    (changed(cluster={"tls-server-name": "other"}), "cluster.tls-server-name"),
    (changed(top={"extensions": []}), "extensions"),
])
def test_of_a_secret_anything_but_inline_data_is_refused_by_name(content, named):
    with pytest.raises(KubeError) as caught:
        inline(content)
    assert named in caught.value.message and "Secret n/prod-kubeconfig" in caught.value.message
    assert "secret-word" not in caught.value.message
    assert caught.value.reason == "Configuration"


def test_a_secret_that_grows_while_it_is_read_is_refused():
    """Thirty lines of merges of merges filled the memory before a field was looked at."""
    lines = ["a0: &a0 {x: 1}"] + ["a%d: &a%d {<<: [%s]}" % (number, number, ", ".join([f"*a{number - 1}"] * 10))
                                  for number in range(1, 30)]
    with pytest.raises(KubeError, match="Secret a: found a YAML alias, expected none"):
        kubeconfig.inline("\n".join(lines).encode(), "Secret a")


def test_an_entry_that_is_not_used_is_checked_too():
    """Whoever is given the file may choose it."""
    content = copy.deepcopy(GOOD)
    content["users"].append({"name": "other", "user": {"exec": {"command": "touch"}}})
    with pytest.raises(KubeError, match=r"users\[other\]\.user\.exec"):
        inline(content)


@pytest.mark.parametrize("content, named", [
    (changed(cluster={"server": "http://192.0.2.10"}), "found http, expected https"),
    (changed(cluster={"server": "file:///etc/shadow"}), "server: found file:///etc/shadow"),
    (changed(cluster={"server": "https://u:secret-word@192.0.2.10"}), "found a user name"),
    (changed(cluster={"server": 6443}), "server: found a int, expected text"),
    (changed(cluster={"certificate-authority-data": "%%%"}), "expected PEM text in base64"),
    (changed(user={"token": "secret-word\nX-Header: a"}), "expected a bearer token"),
    (changed(top={"current-context": "none"}), "found no context named none, expected one of its contexts"),
    (changed(top={"contexts": []}), "found no context"),
    (changed(top={"clusters": {"a": "b"}}), "clusters: found a mapping, expected a list"),
    (changed(top={"users": [7]}), "users[0]: expected an entry with a name"),
    (changed(top={"users": [{"name": "prod-admin", "user": "u"}]}), "users[0].user: found text, expected a mapping"),
    ([], "found a list, expected a kubeconfig"),
])
def test_what_is_malformed_is_named(content, named):
    with pytest.raises(KubeError) as caught:
        inline(content)
    assert named in caught.value.message and "secret-word" not in caught.value.message


@pytest.mark.parametrize("content", [
    b"", b"\0", b"\xff\xfe", b"a: [", b"a: *b", b"2001-99-99: x", b"a: !!python/object:os.system x", b"!!binary a: b",
    b"? [a]\n: b", b"[" * 5000, b"a: &a [*a]", b"1: 2", b"- " * 3000, b"!!timestamp 2001-13-45"],
    ids=lambda content: repr(content[:20]))
def test_no_yaml_is_a_traceback(content, tmp_path):
    with pytest.raises(KubeError):
        kubeconfig.inline(content, "Secret")
    path = tmp_path / "kubeconfig"
    path.write_bytes(content)
    with pytest.raises(KubeError, match=str(path)):
        KubeClient({"kubeconfig": str(path)})


class Management:
    """A management cluster that has one Secret.

    :param endpoint: host of the Cluster's endpoint; None when there is no Cluster
    :param port: port of the endpoint; None when it has none
    """

    def __init__(self, value, endpoint=None, port=6443):
        self.value, self.endpoint, self.port = value, endpoint, port

    def get(self, resource, namespace, name):
        if (resource.kind, namespace, name) == ("Cluster", "n", "prod"):
            return None if self.endpoint is None else {"spec": {"controlPlaneEndpoint": {
                "host": self.endpoint, "port": self.port}}}
        assert (resource.kind, namespace, name) == ("Secret", "n", "prod-kubeconfig")
        return {"metadata": {"name": name}, "data": self.value}


def test_a_command_in_a_secret_is_not_run(tmp_path):
    """It was, by the module that asked the workload cluster for anything."""
    witness = tmp_path / "witness"
    content = changed(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch",
                                     "args": [str(witness)], "interactiveMode": "Never"}})
    value = {"value": base64.b64encode(json.dumps(content).encode()).decode()}
    with pytest.raises(KubeError, match=r"Secret n/prod-kubeconfig: value: found users\[prod-admin\]\.user\.exec"):
        workload_client(Management(value), "n", "prod")
    assert not witness.exists()


def of_secret(content):
    return {"value": base64.b64encode(json.dumps(content).encode()).decode()}


def two_contexts():
    """The current context leads to the cluster, and another one, which the environment may choose, elsewhere."""
    content = copy.deepcopy(GOOD)
    content["clusters"].append({"name": "other", "cluster": {"server": "https://203.0.113.6:6443"}})
    content["contexts"].append({"name": "other", "context": {"cluster": "other"}})
    return content


@pytest.mark.parametrize("content, endpoint", [
    (GOOD, "192.0.2.11"), (GOOD, "api.example"), (two_contexts(), "192.0.2.10")])
def test_a_secret_does_not_say_which_server_is_asked_in_place_of_the_clusters(content, endpoint):
    """Who may write Secrets would have had pods of another cluster counted before a server is restarted."""
    with pytest.raises(KubeError, match=f"expected one at {endpoint} port 6443, the endpoint of its Cluster; find out"):
        workload_client(Management(of_secret(content), endpoint), "n", "prod")


@pytest.mark.parametrize("server, host, port, found", [
    ("https://192.0.2.10:6444", "192.0.2.10", 6443, "192.0.2.10 port 6444"),
    ("https://192.0.2.10", "192.0.2.10", 6443, "192.0.2.10 port 443"),
    ("https://[2001:db8::1]:6443", "2001:db8::1", 6444, "2001:db8::1 port 6443")])
def test_another_port_of_the_clusters_host_is_another_server(server, host, port, found):
    """One load balancer has the API servers of many clusters, each at a port of its own."""
    words = f"found a server at {found}, expected one at {host} port {port}, the endpoint of its Cluster"
    with pytest.raises(KubeError, match=words):
        workload_client(Management(of_secret(of_server(server)), host, port), "n", "prod")


def of_server(server):
    """Return the good one with another server."""
    content = copy.deepcopy(GOOD)
    content["clusters"][0]["cluster"]["server"] = server
    return content


@pytest.mark.parametrize("server, endpoint, port", [
    ("https://192.0.2.10:6443", "192.0.2.10", 6443), ("https://192.0.2.10:6443", "192.0.2.10", None),
    ("https://192.0.2.10:6443", "192.0.2.10", 0), ("https://192.0.2.10", "192.0.2.10", 443),
    ("https://192.0.2.10:6443", "", 0), ("https://192.0.2.10:6443", None, 0)])
def test_a_secret_that_leads_to_the_clusters_endpoint_is_used(server, endpoint, port):
    content = of_server(server)
    found = workload_kubeconfig(Management(of_secret(content), endpoint, port), "n", "prod")
    assert found["clusters"] == content["clusters"]


@pytest.mark.parametrize("value", [{"value": "%"}, {"value": 7}, {"value": "YQ"}, {"value": "é"}])
def test_a_secret_that_holds_no_kubeconfig_is_named(value):
    with pytest.raises(KubeError, match="Secret n/prod-kubeconfig: value"):
        workload_client(Management(value), "n", "prod")


@pytest.mark.parametrize("value", [None, {}, {"value": ""}, []])
def test_a_secret_without_value_is_none_yet(value):
    assert workload_client(Management(value), "n", "prod") is None


# Any content

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.text(max_size=8), inner, max_size=3), max_leaves=8)
_PATHS = [("clusters",), ("users",), ("contexts",), ("current-context",), ("clusters", 0), ("clusters", 0, "name"),
          ("clusters", 0, "cluster"), ("users", 0, "name"), ("users", 0, "user"), ("contexts", 0, "context")]
_PATHS += [("clusters", 0, "cluster", name) for name in kubeconfig._CLUSTER_FIELDS]
_PATHS += [("users", 0, "user", name) for name in kubeconfig._USER_FIELDS]
_PATHS += [("users", 0, "user", "exec", name) for name in kubeconfig._EXEC_FIELDS if name != "command"]
_PATHS += [("contexts", 0, "context", name) for name in ("cluster", "user", "namespace")]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(_PATHS), _VALUES | st.just("missing")), min_size=1, max_size=3))
def test_any_change_of_a_kubeconfig_is_taken_or_refused_with_a_message(changes):
    content = copy.deepcopy(GOOD)
    for path, value in changes:
        target = content
        try:
            for step in path[:-1]:
                if step == "exec" and step not in target:
                    target[step] = {"command": "false"}
                target = target[step]
            if value == "missing":
                target.pop(path[-1])
            else:
                target[path[-1]] = value
        except (TypeError, KeyError, IndexError, AttributeError):
            # An earlier change has taken away where this one belongs.
            continue
    text = yaml.safe_dump(content, allow_unicode=True).encode()
    for read in (lambda: kubeconfig.inline(text, "Secret"), lambda: _chosen(text)):
        try:
            read()
        except KubeError as exc:
            assert exc.reason == "Configuration" and exc.message


def _chosen(text):
    return kubeconfig.choose(kubeconfig.parse(text, "kubeconfig"), None, "kubeconfig")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_taken_or_refused_with_a_message(content):
    try:
        kubeconfig.inline(content, "Secret")
    except KubeError as exc:
        assert exc.message.startswith("Secret: ")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(sorted(set(connection_choice.ENVIRONMENT) - {"validate_certs"})),
                       st.none() | st.text(max_size=20) | st.just("https://192.0.2.1"), max_size=4))
def test_any_options_are_taken_or_refused_with_a_message(params):
    try:
        connection_choice.Choice(params, {})
    except KubeError as exc:
        assert exc.reason == "Configuration"


@pytest.mark.parametrize("server", [
    "admin:hunter2@192.0.2.10:6443", "https://admin:hunter2@192.0.2.10:6443", "https://admin:hunt/hunter2@192.0.2.10",
    "https://192.0.2.10:6443/?token=hunter2", "https://192.0.2.10:6443/#hunter2", "https://[?hunter2"])
def test_no_secret_of_a_server_s_url_is_quoted(server):
    with pytest.raises(KubeError, match=r"host: found .*expected") as caught:
        connection_values.check_server(server, "host")
    assert "hunter2" not in caught.value.message
