# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which server is asked, with whose credentials: by two API servers, of which one must never be asked."""
from __future__ import annotations

import json
import shutil
import stat
import sys
import time

import certifi
import pytest
from fakes.api_server import ApiServer, kubeconfig_of, status
from fakes.time_limits import ends

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection import connection, connection_choice
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECRET = KNOWN["Secret"]
STORED = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "old", "namespace": "n"}}
REFUSED = status(401, "Unauthorized", "Unauthorized")


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """Take away what the environment says, and any kubeconfig of one's own."""
    for names in connection_choice.ENVIRONMENT.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(connection_choice, "DEFAULT_KUBECONFIG", str(tmp_path / "no-kubeconfig"))
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT", str(tmp_path / "no-service-account"))
    # So that credentials are asked for before each request, as in a run of minutes.
    monkeypatch.setattr(connection, "CREDENTIALS_SECONDS", -1)


@pytest.fixture
def servers():
    """Return the server that is meant, and another one."""
    with ApiServer([STORED]) as meant, ApiServer([STORED]) as other:
        yield meant, other


@pytest.fixture
def kubeconfig(tmp_path):
    """Return a callable that writes a kubeconfig and returns its path."""
    def write(server, user=None, name="kubeconfig", **cluster):
        content = kubeconfig_of(server.url, user)
        content["clusters"][0]["cluster"].update(cluster)
        path = tmp_path / name
        path.write_text(json.dumps(content))
        return str(path)
    return write


def plugin(tmp_path, *answers):
    """Return the user entry of an exec plugin that gives these tokens, one after the other, the last one for good."""
    tokens = tmp_path / "tokens"
    tokens.write_text("\n".join(answers))
    program = tmp_path / "plugin"
    program.write_text("""#!%s
import json, pathlib
path = pathlib.Path(%r)
tokens = path.read_text().split("\\n")
path.write_text("\\n".join(tokens[1:] or tokens))
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                  "status": {"token": tokens[0], "expirationTimestamp": "2020-01-01T00:00:00Z"}}))
""" % (sys.executable, str(tokens)))
    program.chmod(stat.S_IRWXU)
    return {"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "Never"}}


def use(client):
    """List, write and delete."""
    assert [item["metadata"]["name"] for item in client.list(SECRET, "n")[0]] == ["old"]
    client.apply(SECRET, "n", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new"}})
    client.patch(SECRET, "n", "new", {"data": {"a": "Yg=="}})
    assert client.delete(SECRET, "n", "old")


def sent(server):
    return [(request.method, request.authorization) for request in server.requests]


def users(tmp_path):
    """Return each form in which a kubeconfig may hold a token."""
    (tmp_path / "token").write_text("a-token\n")
    return {"token": {"token": "a-token"}, "tokenFile": {"tokenFile": "token"}, "exec": plugin(tmp_path, "a-token")}


@pytest.mark.parametrize("form", ["token", "tokenFile", "exec"])
def test_an_explicit_host_is_the_only_server_that_is_asked(servers, kubeconfig, tmp_path, form):
    """LIST went to the host, PATCH and DELETE to the kubeconfig's server, because a refresh of the token reset it."""
    meant, other = servers
    client = KubeClient({"host": meant.url, "kubeconfig": kubeconfig(other, users(tmp_path)[form])})
    assert client.server == meant.url
    use(client)
    assert sent(meant) == [(method, "Bearer a-token") for method in ("GET", "PATCH", "PATCH", "DELETE")]
    assert other.requests == []
    assert client.server == meant.url


@pytest.mark.parametrize("by_environment", [False, True])
@pytest.mark.parametrize("form", ["token", "tokenFile", "exec"])
def test_with_a_host_the_environments_kubeconfig_is_not_read(
        servers, kubeconfig, tmp_path, monkeypatch, form, by_environment):
    meant, other = servers
    monkeypatch.setenv("KUBECONFIG", kubeconfig(other, users(tmp_path)[form]))
    monkeypatch.setattr(connection_choice, "DEFAULT_KUBECONFIG", kubeconfig(other, name="default"))
    params = {"host": meant.url, "api_key": "my-token"}
    if by_environment:
        monkeypatch.setenv("K8S_AUTH_HOST", meant.url)
        monkeypatch.setenv("K8S_AUTH_API_KEY", "my-token")
        params = {}
    use(KubeClient(params))
    assert sent(meant) == [(method, "Bearer my-token") for method in ("GET", "PATCH", "PATCH", "DELETE")]
    assert other.requests == []


@pytest.mark.parametrize("params, environ", [
    ({"api_key": "my-token"}, {}), ({}, {"K8S_AUTH_API_KEY": "my-token"}),
    ({"client_cert": __file__, "client_key": __file__}, {})])
def test_credentials_without_a_server_are_not_sent_to_the_environments(
        servers, kubeconfig, monkeypatch, params, environ):
    monkeypatch.setenv("KUBECONFIG", kubeconfig(servers[1]))
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(KubeError, match="found neither host nor the option kubeconfig") as caught:
        KubeClient(params)
    assert next(iter(environ or params)) in caught.value.message and "my-token" not in caught.value.message


@pytest.mark.parametrize("credentials", [
    {"K8S_AUTH_API_KEY": "their-token"}, {"K8S_AUTH_CERT_FILE": __file__, "K8S_AUTH_KEY_FILE": __file__}])
def test_the_environments_credentials_are_not_sent_to_another_server_than_its_own(servers, monkeypatch, credentials):
    meant, other = servers
    for name, value in credentials.items():
        monkeypatch.setenv(name, value)
    # Without a server of its own the environment's credentials are for the one that is given.
    taken = connection_choice.Choice({"host": meant.url}, credentials)
    assert (taken["api_key"], taken["client_cert"], taken["client_key"]) == tuple(
        credentials.get("K8S_AUTH_" + name) for name in ("API_KEY", "CERT_FILE", "KEY_FILE"))
    for given in (None, other.url, other.url + "/"):
        taken = connection_choice.Choice({"host": given}, dict(credentials, K8S_AUTH_HOST=other.url))
        assert taken["api_key"] or taken["client_cert"]
    taken = connection_choice.Choice({"host": meant.url}, dict(credentials, K8S_AUTH_HOST=other.url))
    assert (taken["api_key"], taken["client_cert"], taken["client_key"]) == (None, None, None)
    monkeypatch.setenv("K8S_AUTH_HOST", other.url)
    use(KubeClient({"host": meant.url}))
    assert sent(meant) == [(method, None) for method in ("GET", "PATCH", "PATCH", "DELETE")]
    assert other.requests == []


def test_with_the_option_kubeconfig_the_environments_server_and_token_are_not_used(servers, kubeconfig, monkeypatch):
    meant, other = servers
    monkeypatch.setenv("K8S_AUTH_HOST", other.url)
    monkeypatch.setenv("K8S_AUTH_API_KEY", "environments-token")
    use(KubeClient({"kubeconfig": kubeconfig(meant)}))
    assert set(sent(meant)) == {(method, "Bearer kubeconfigs-token") for method in ("GET", "PATCH", "DELETE")}
    assert other.requests == []


def test_a_token_is_used_in_place_of_a_kubeconfigs_certificate(servers, kubeconfig, tmp_path):
    """The certificate went along, and a server that accepts it does not look at the token (section 6, bug 2)."""
    (tmp_path / "made-up.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    path = kubeconfig(servers[0], dict(plugin(tmp_path, "plugins"), **{
        "client-certificate": "made-up.pem", "client-key": "made-up.pem"}))
    content = json.loads((tmp_path / "kubeconfig").read_text())
    content["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "kubeconfig").write_text(json.dumps(content))
    made = connection.Connection({"kubeconfig": path, "api_key": "my-token"})
    assert (made._settings.cert_file, made._settings.key_file) == (None, None)
    assert made.authorization() == "Bearer my-token"
    # Nor was the plugin run.
    assert (tmp_path / "tokens").read_text() == "plugins"


def test_token_and_certificate_of_ones_own_are_refused_together(servers):
    with pytest.raises(KubeError, match="api_key and client_cert: found both"):
        KubeClient({"host": servers[0].url, "api_key": "t", "client_cert": __file__})


def test_an_inventorys_environment_does_not_redirect_a_context(servers, kubeconfig, monkeypatch):
    """K8S_AUTH_CONTEXT chooses in any kubeconfig; one that is not there is named."""
    monkeypatch.setenv("K8S_AUTH_CONTEXT", "nowhere")
    with pytest.raises(KubeError, match="found no context named nowhere, expected one of its contexts: a"):
        KubeClient({"kubeconfig": kubeconfig(servers[0])})


def two_contexts(path, meant, other):
    """Write a kubeconfig with the contexts a and b, of which b is the current one."""
    path.write_text(json.dumps({
        "clusters": [{"name": name, "cluster": {"server": of.url}} for name, of in (("a", meant), ("b", other))],
        "users": [{"name": "u", "user": {"token": "t"}}], "current-context": "b",
        "contexts": [{"name": name, "context": {"cluster": name, "user": "u"}} for name in ("a", "b")]}))
    return str(path)


def test_a_program_that_reads_the_kubeconfig_itself_is_given_the_context_that_was_chosen(
        servers, monkeypatch, tmp_path):
    path = two_contexts(tmp_path / "kubeconfig", *servers)
    assert (KubeClient({"kubeconfig": path}).context, KubeClient({"host": servers[0].url}).context) == ("b", None)
    monkeypatch.setenv("K8S_AUTH_CONTEXT", "a")
    client = KubeClient({"kubeconfig": path})
    assert (client.server, client.context) == (servers[0].url, "a")
    client.require_same_server()
    two_contexts(tmp_path / "kubeconfig", *reversed(servers))
    with pytest.raises(KubeError, match=f"found server {servers[1].url}, expected {servers[0].url} as at the begin"):
        client.require_same_server()
    (tmp_path / "kubeconfig").unlink()
    with pytest.raises(KubeError, match="found no file"):
        client.require_same_server()


def test_the_first_of_several_files_wins_as_with_kubectl(servers, kubeconfig, monkeypatch):
    meant, other = servers
    first, second = kubeconfig(meant, name="first"), kubeconfig(other, name="second")
    monkeypatch.setenv("KUBECONFIG", f"{first}:/nonexistent:{second}")
    assert KubeClient({}).server == meant.url


def test_an_empty_file_is_left_out_as_with_kubectl(servers, kubeconfig, monkeypatch, tmp_path):
    (tmp_path / "empty").write_text("\n")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'empty'}:{kubeconfig(servers[0])}")
    assert KubeClient({}).server == servers[0].url
    with pytest.raises(KubeError, match=r"found no file .*empty that is not empty, expected a kubeconfig"):
        KubeClient({"kubeconfig": str(tmp_path / "empty")})


# Credentials that change while a run lasts

def test_a_token_file_is_read_again(servers, kubeconfig, tmp_path):
    (tmp_path / "token").write_text("first")
    client = KubeClient({"kubeconfig": kubeconfig(servers[0], {"tokenFile": "token"})})
    client.list(SECRET, "n")
    (tmp_path / "token").write_text("second\n")
    client.list(SECRET, "n")
    assert sent(servers[0]) == [("GET", "Bearer first"), ("GET", "Bearer second")]


def test_a_service_accounts_token_is_read_again_and_the_server_stays(servers, tmp_path, monkeypatch):
    folder = tmp_path / "service-account"
    folder.mkdir()
    (folder / "token").write_text("first\n")
    shutil.copy(certifi.where(), folder / "ca.crt")
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT", str(folder))
    environ = {"KUBERNETES_SERVICE_HOST": "192.0.2.1", "KUBERNETES_SERVICE_PORT": "443"}
    made = connection.Connection({}, environ)
    assert (made.server, made.authorization()) == ("https://192.0.2.1:443", "Bearer first")
    (folder / "token").write_text("second\n")
    environ["KUBERNETES_SERVICE_HOST"] = "192.0.2.2"
    assert (made.server, made.authorization()) == ("https://192.0.2.1:443", "Bearer second")


def test_a_token_that_was_refused_is_read_again_once(servers, kubeconfig):
    meant = servers[0]
    meant.fault = lambda request: None if request.authorization == "Bearer renewed" else REFUSED
    client = KubeClient({"kubeconfig": kubeconfig(meant, {"token": "old"})})
    kubeconfig(meant, {"token": "renewed"})
    client.list(SECRET, "n")
    assert sent(meant) == [("GET", "Bearer old"), ("GET", "Bearer renewed")]


def test_credentials_that_stay_refused_are_not_sent_again_and_named(servers, kubeconfig):
    servers[0].fault = lambda request: REFUSED
    path = kubeconfig(servers[0])
    with pytest.raises(KubeError, match=f"renew the token or client certificate of kubeconfig {path}, context a"):
        KubeClient({"kubeconfig": path}).list(SECRET, "n")
    assert len(servers[0].requests) == 1


def test_credentials_for_another_server_are_not_sent_to_this_one(servers, kubeconfig):
    """Somebody has switched the kubeconfig to another cluster while the run lasted."""
    meant, other = servers
    meant.fault = lambda request: REFUSED
    client = KubeClient({"kubeconfig": kubeconfig(meant)})
    kubeconfig(other, {"token": "others-token"})
    with pytest.raises(KubeError, match=f"found server {other.url}, expected {meant.url} as at the beginning"):
        client.list(SECRET, "n")
    assert sent(meant) == [("GET", "Bearer kubeconfigs-token")] and other.requests == []


def test_a_plugin_whose_token_has_expired_is_asked_again_and_its_server_stays(servers, kubeconfig, tmp_path):
    meant, other = servers
    client = KubeClient({"host": meant.url, "kubeconfig": kubeconfig(other, plugin(tmp_path, "one", "two", "three"))})
    client.list(SECRET, "n")
    client.list(SECRET, "n")
    assert len(set(sent(meant))) == 2 and other.requests == []


# What is reported

@pytest.mark.parametrize("params, message", [
    ({"kubeconfig": "/nonexistent/kubeconfig"}, "kubeconfig: found no file /nonexistent/kubeconfig"),
    ({"host": "192.0.2.1:6443"}, "host: found 192.0.2.1:6443, expected the URL of an API server, for example https://"),
    ({"host": "https://u:secret-word@192.0.2.1"}, "host: found a user name, expected a URL without one"),
    ({"host": "https://[::1"}, "host: found https://[::1, expected the URL"),
    ({"host": "https://192.0.2.1", "ca_cert": "/nonexistent/ca"}, "ca_cert: found no file /nonexistent/ca"),
    ({"host": "https://192.0.2.1", "ca_cert": __file__}, "certificates can't be used"),
    ({"host": "https://192.0.2.1", "client_key": __file__}, "client_key: found no client_cert"),
    ({"host": "https://192.0.2.1", "api_key": "a\nb"}, "api_key: expected a bearer token"),
    ({}, "no Kubernetes API server given"),
    # By the playbooks the option has another name.
    ({}, "set kubeconfig (metal3_kubeconfig in an inventory, or KUBECONFIG)"),
])
def test_what_is_wrong_with_the_options_is_named(params, message):
    with pytest.raises(KubeError) as caught:
        KubeClient(params)
    assert message in caught.value.message and "secret-word" not in caught.value.message
    assert caught.value.reason == "Configuration" and not caught.value.retriable


def test_a_variable_of_the_environment_is_named_by_its_name(monkeypatch):
    monkeypatch.setenv("KUBECONFIG", "/nonexistent/kubeconfig")
    with pytest.raises(KubeError, match="KUBECONFIG: found no file /nonexistent/kubeconfig"):
        KubeClient({})
    monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "perhaps")
    with pytest.raises(KubeError, match="K8S_AUTH_VERIFY_SSL: found perhaps, expected true or false"):
        KubeClient({})


def test_a_request_without_credentials_says_so(servers):
    servers[0].fault = lambda request: REFUSED
    with pytest.raises(KubeError, match="no credentials were sent: give api_key"):
        KubeClient({"host": servers[0].url}).list(SECRET, "n")


def test_a_plugin_that_is_not_there_or_gives_nothing_is_named(servers, kubeconfig, tmp_path):
    entry = plugin(tmp_path, "token")
    entry["exec"]["command"] = "no-such-plugin"
    with pytest.raises(KubeError, match="exec: found no program no-such-plugin"):
        KubeClient({"kubeconfig": kubeconfig(servers[0], entry)})
    entry["exec"]["command"] = "false"
    with pytest.raises(KubeError, match="exec: false gave no credentials"):
        KubeClient({"kubeconfig": kubeconfig(servers[0], entry)})


# A server that is busy

def test_a_busy_server_is_asked_again_when_it_wants_to_be(servers):
    answers = [status(429, "TooManyRequests", "busy")._replace(headers={"Retry-After": "1"}), None]
    servers[0].fault = lambda request: answers.pop(0)
    began_at = time.monotonic()
    KubeClient({"host": servers[0].url}).list(SECRET, "n")
    assert time.monotonic() - began_at >= 1 and len(servers[0].requests) == 2


@pytest.mark.parametrize(("code", "sent_again"), [(429, True), (503, False)])
def test_a_write_is_sent_again_only_when_it_was_not_stored(servers, code, sent_again):
    answers = [status(code, "Busy", "busy")._replace(headers={"Retry-After": "1"})]
    servers[0].fault = lambda request: answers.pop(0) if answers else None
    client = KubeClient({"host": servers[0].url})
    if sent_again:
        client.apply(SECRET, "n", {"metadata": {"name": "a"}})
    else:
        with pytest.raises(KubeError, match="busy") as caught:
            client.apply(SECRET, "n", {"metadata": {"name": "a"}})
        assert caught.value.is_due_again and caught.value.retry_after_seconds == 1
    assert len(servers[0].requests) == (2 if sent_again else 1)


@pytest.mark.parametrize("code", [429, 503])
def test_a_pause_that_is_too_long_is_not_waited_for(servers, code):
    servers[0].fault = lambda request: status(code, "Busy", "busy")._replace(headers={"Retry-After": "3600"})
    with ends(), pytest.raises(KubeError, match="asks for a pause of 1 h") as caught:
        KubeClient({"host": servers[0].url}).apply(SECRET, "n", {"metadata": {"name": "a"}})
    assert len(servers[0].requests) == 1
    assert not caught.value.is_due_again


@pytest.mark.parametrize("value", ["soon", "-1", "", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400])
def test_an_odd_pause_does_no_harm(servers, monkeypatch, value):
    answers = [status(503, "Busy", "busy")._replace(headers={"Retry-After": value}), None]
    servers[0].fault = lambda request: answers.pop(0) if answers else None
    client = KubeClient({"host": servers[0].url})
    try:
        client.list(SECRET, "n")
    except KubeError as exc:
        assert "busy" in exc.message


# What users of kubernetes.core know

def impersonation(server):
    return [(name, value) for name, value in server.requests[-1].headers if name.startswith("Impersonate-")]


@pytest.mark.parametrize("form", ["token", "tokenFile", "exec"])
def test_a_kubeconfig_may_be_a_dictionary(servers, tmp_path, monkeypatch, form):
    monkeypatch.setenv("K8S_AUTH_HOST", servers[1].url)
    monkeypatch.setenv("K8S_AUTH_API_KEY", "other-token")
    monkeypatch.chdir(tmp_path)
    client = KubeClient({"kubeconfig": kubeconfig_of(servers[0].url, users(tmp_path)[form])})
    use(client)
    assert set(request.authorization for request in servers[0].requests) == {"Bearer a-token"}
    assert servers[1].requests == []


@pytest.mark.parametrize("given", [
    {"clusters": "secret-word"}, {"contexts": [{"name": "a"}], "users": [{"user": "secret-word"}]}, ["secret-word"], 7,
    '{"users": "secret-word"}', "apiVersion: v1\nusers: secret-word\n", {}])
def test_a_kubeconfig_that_is_neither_a_path_nor_a_kubeconfig_is_refused(given):
    with pytest.raises(KubeError) as caught:
        KubeClient({"kubeconfig": given})
    assert caught.value.message.startswith("kubeconfig: ") and "secret-word" not in caught.value.message


def test_another_user_and_groups_are_impersonated(servers, kubeconfig, monkeypatch):
    KubeClient({"host": servers[0].url, "api_key": "t", "impersonate_user": "jane", "impersonate_groups": ["a", "b"]}
               ).list(SECRET, "n")
    assert impersonation(servers[0]) == [
        ("Impersonate-User", "jane"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b")]
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_USER", "joe")
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_GROUPS", "c, d")
    KubeClient({"host": servers[0].url, "api_key": "t"}).list(SECRET, "n")
    assert impersonation(servers[0]) == [
        ("Impersonate-User", "joe"), ("Impersonate-Group", "c"), ("Impersonate-Group", "d")]
    # Groups of the environment are not added to a user of the task.
    KubeClient({"host": servers[0].url, "api_key": "t", "impersonate_user": "jane"}).list(SECRET, "n")
    assert impersonation(servers[0]) == [("Impersonate-User", "jane")]


def test_a_kubeconfigs_own_impersonation_is_used_as_by_kubectl(servers, kubeconfig):
    path = kubeconfig(servers[0], {"token": "t", "as": "jane", "as-groups": ["a"]})
    KubeClient({"kubeconfig": path}).list(SECRET, "n")
    assert impersonation(servers[0]) == [("Impersonate-User", "jane"), ("Impersonate-Group", "a")]
    KubeClient({"kubeconfig": path, "impersonate_user": "joe"}).list(SECRET, "n")
    assert impersonation(servers[0]) == [("Impersonate-User", "joe")]
    KubeClient({"kubeconfig": path, "api_key": "own"}).list(SECRET, "n")
    assert impersonation(servers[0]) == []


def test_a_kubeconfigs_uid_and_extra_fields_of_another_user_are_sent(servers, kubeconfig):
    """They were dropped: what the server was to refuse or to log for them went by the user's name alone."""
    path = kubeconfig(servers[0], {"token": "t", "as": "jane", "as-uid": "u-1", "as-user-extra": {
        "scopes": ["view", "edit"], "acme.com/project%": ["p"]}})
    KubeClient({"kubeconfig": path}).list(SECRET, "n")
    assert impersonation(servers[0]) == [
        ("Impersonate-User", "jane"), ("Impersonate-Uid", "u-1"), ("Impersonate-Extra-scopes", "view"),
        ("Impersonate-Extra-scopes", "edit"), ("Impersonate-Extra-acme.com%2Fproject%25", "p")]
    KubeClient({"kubeconfig": path, "impersonate_user": "joe"}).list(SECRET, "n")
    assert impersonation(servers[0]) == [("Impersonate-User", "joe")]


@pytest.mark.parametrize("fields", [
    {"as-uid": "u"}, {"as-user-extra": {"a": ["b"]}}, {"as": "jane", "as-uid": 7},
    {"as": "jane", "as-uid": "a\r\nb: c"}, {"as": "jane", "as-user-extra": {"a": "b"}},
    {"as": "jane", "as-user-extra": {"a": ["b\nc"]}},
    {"as": "jane", "as-user-extra": {"": ["b"]}}, {"as": "jane", "as-user-extra": ["a"]}])
def test_a_uid_or_extra_field_that_cannot_be_sent_is_refused_by_name(servers, kubeconfig, fields):
    with pytest.raises(KubeError, match=r"as-uid|as-user-extra"):
        KubeClient({"kubeconfig": kubeconfig(servers[0], dict(fields, token="t"))})
    assert servers[0].requests == []


@pytest.mark.parametrize("option, value", [
    ("impersonate_user", "a\r\nX-Other: b"), ("impersonate_user", " a"), ("impersonate_groups", ["a"])])
def test_an_impersonation_that_no_header_can_hold_is_refused(option, value):
    with pytest.raises(KubeError, match=option):
        KubeClient({"host": "https://192.0.2.1", option: value})


@pytest.mark.parametrize("variable", ["KUBECONFIG", "K8S_AUTH_KUBECONFIG"])
def test_a_relative_path_that_is_not_there_does_not_lead_to_the_next_file(
        servers, kubeconfig, monkeypatch, tmp_path, variable):
    """Ansible runs modules in the playbook's folder: kubectl would have found it where the user is."""
    meant, other = kubeconfig(servers[0], name="meant"), kubeconfig(servers[1], name="other")
    monkeypatch.setenv(variable, f"meant:{other}")
    monkeypatch.chdir(tmp_path)
    KubeClient({}).list(SECRET, "n")
    (tmp_path / "playbooks").mkdir()
    monkeypatch.chdir(tmp_path / "playbooks")
    with pytest.raises(KubeError, match=f"{variable}: found no file meant in {tmp_path}/playbooks, .*whole path"):
        KubeClient({})
    monkeypatch.setenv(variable, f"{meant}:{other}")
    KubeClient({}).list(SECRET, "n")
    assert servers[1].requests == []


def test_requests_go_through_the_proxy_with_its_credentials(servers, monkeypatch):
    """The proxy is an API server here: it answers whatever host it is asked for."""
    proxy = servers[0].url.replace("http://", "http://me:pass%40word@")
    target = "http://api.example.com:6443"
    client = KubeClient({"host": target, "api_key": "t", "proxy": proxy})
    assert client.server == target
    use(client)
    assert dict(servers[0].requests[0].headers)["proxy-authorization"] == "Basic bWU6cGFzc0B3b3Jk"
    assert dict(servers[0].requests[0].headers)["Host"] == "api.example.com:6443"
    monkeypatch.setenv("K8S_AUTH_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("K8S_AUTH_NO_PROXY", "127.0.0.1,localhost")
    use(KubeClient({"host": servers[1].url, "api_key": "t"}))


@pytest.mark.parametrize("proxy", ["secret-word", "ftp://secret-word@h", "http://me:secret-word@", "http://h:x"])
def test_a_proxy_that_is_no_url_is_refused_without_its_password(proxy):
    with pytest.raises(KubeError, match="proxy: expected the URL of a proxy") as caught:
        KubeClient({"host": "https://192.0.2.1", "proxy": proxy})
    assert "secret-word" not in caught.value.message


def test_the_environments_proxy_is_that_of_kubectl(servers, monkeypatch):
    """For other machines than this one, unless NO_PROXY has them; what may be of SOCKS is none."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    KubeClient({"host": servers[1].url, "api_key": "t"}).list(SECRET, "n")
    monkeypatch.setenv("HTTP_PROXY", servers[0].url.partition("://")[2])
    KubeClient({"host": "http://api.example.com:6443", "api_key": "t"}).list(SECRET, "n")
    assert dict(servers[0].requests[0].headers)["Host"] == "api.example.com:6443"
    asked = len(servers[0].requests)
    for server in (servers[1].url, servers[1].url.replace("127.0.0.1", "localhost")):
        # Of what is written by hand, and of what a Secret has.
        KubeClient({"host": server, "api_key": "t"}).list(SECRET, "n")
        KubeClient({"kubeconfig_content": kubeconfig_of(server), "kubeconfig_name": "Secret"}).list(SECRET, "n")
    monkeypatch.setenv("NO_PROXY", "192.0.2.0/24")
    assert KubeClient({"host": "http://192.0.2.1:6443", "api_key": "t"})._connection.settings.proxy is None
    assert len(servers[0].requests) == asked
    monkeypatch.setenv("HTTP_PROXY", "ftp://me:secret-word@192.0.2.2")
    with pytest.raises(KubeError, match="HTTP_PROXY: expected the URL of a proxy") as caught:
        KubeClient({"host": "http://api.example.com:6443", "api_key": "t"})
    assert "secret-word" not in caught.value.message


def test_a_proxy_of_socks_in_a_kubeconfig_is_refused(servers, kubeconfig):
    path = kubeconfig(servers[0], **{"proxy-url": "socks5://secret-word@127.0.0.1:1080"})
    with pytest.raises(KubeError, match="cluster a: proxy-url: expected the URL of a proxy of HTTP") as caught:
        KubeClient({"kubeconfig": path})
    assert "secret-word" not in caught.value.message and servers[0].requests == []


def test_a_proxy_that_does_not_answer_is_named_without_its_password(servers):
    client = KubeClient({"host": "http://api.example.com", "api_key": "t", "proxy": "http://me:secret-word@127.0.0.1:9"})
    with pytest.raises(KubeError) as caught:
        client.list(SECRET, "n")
    assert "secret-word" not in caught.value.message
