# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No file that is written has a secret, in whatever form and from wherever it comes."""
from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
import yaml
from fakes.api_server import kubeconfig_of
from fakes.log_plane import NAMESPACE, Plane, encoded, host, pod, secret, texts
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._logs import secret_values
from ansible_collections.metal3.baremetal.plugins.module_utils._logs.secret_values import Hiding

PASSWORD = 'bmc <Pa55> "word" & \\ $1'
TOKEN = "abcdef.0123456789abcdef"
BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
                  "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu"])
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----\n"
FORMS = [PASSWORD, json.dumps(PASSWORD)[1:-1], repr(PASSWORD)[1:-1], encoded(PASSWORD), quote(PASSWORD, safe=""),
         json.dumps(PASSWORD).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")[1:-1]]


def test_no_written_file_has_a_secret(tmp_path):
    """In logs, events, objects, names of labels, files of processes and of the deploy agent, and in the summary."""
    everything = " ".join([*FORMS, TOKEN, encoded(f"admin:{PASSWORD}")])
    event = {"apiVersion": "v1", "kind": "Event", "message": f"login with {everything} failed",
             "metadata": {"name": "e", "namespace": "metal3", "annotations": {"a": everything}}}
    broken = dict(host(annotations={"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"x": PASSWORD}),
                                    "note": f"{PASSWORD} {'word ' * 40}{PASSWORD}\n{PASSWORD}"}),
                  status={"errorMessage": everything})
    plane_dir = tmp_path / "plane"
    for folder in ("log/deploy", "secrets"):
        (plane_dir / folder).mkdir(parents=True)
    (plane_dir / "secrets" / "ironic_password").write_text("of-the-plane-only\n")
    for name in ("bmo.log", "deploy/a.txt"):
        (plane_dir / "log" / name).write_text(f"{everything} of-the-plane-only\n{KEY}")
    dest = tmp_path / "gathered"
    result = Plane(
        pod(restarts=1), event, broken, secret("bmc", username="admin", password=PASSWORD),
        secret("user-data", value=f"#cloud-config\nwrite_files:\n- path: /k.yaml\n  content: |\n    token: {TOKEN}\n",
               format="cloud-config"),
        logs={"manager": f"{everything}\n{KEY}", "manager previous": f"{everything} http://u:{'p' * 9}@192.0.2.1/\n"},
    ).collect(dest, process_dir=str(plane_dir), secrets=["token-of-the-user"], release="token-of-the-user")
    found = texts(dest)
    assert len(found) == 8
    for path, text in found.items():
        for form in [*FORMS, TOKEN, BODY.split()[0], BODY.split()[1], "of-the-plane-only", "ppppppppp",
                     encoded(f"admin:{PASSWORD}"), "token-of-the-user", "Pa55"]:
            assert form not in text, (path, form)
        assert "(hidden)" in text or path.startswith("objects/Pod/"), path
    # User names, formats and what else is no secret stay readable.
    assert "cloud-config" not in secret_values.of_secret(secret("s", format="cloud-config", value="x" * 9))
    assert result["hidden"] >= 30


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_value_is_hidden_and_counted(form):
    hiding = Hiding(secret_values.of_secret(secret("s", password=PASSWORD)))
    assert hiding.text(f"a {form} b {form} c") == ("a (hidden) b (hidden) c", 2)


def test_of_many_values_each_is_found():
    values = [f"value-{number:04d}-{number * 7919}" for number in range(500)]
    hiding = Hiding(values)
    text, count = hiding.text(" ".join(values) + " value-0001-other")
    assert (text, count) == (" ".join(["(hidden)"] * 500) + " value-0001-other", 500)


def test_a_long_log_and_many_values_take_seconds():
    hiding = Hiding(f"value-{number:04d}-{number * 7919}" for number in range(2000))
    log = "a line of a log, as there are many of them\n" * 100000
    assert within_processor_time(30, hiding.text, log)[1] == 0


def test_of_two_values_the_longer_is_hidden_first():
    assert Hiding(["secret-1", "secret-12345"]).text("x secret-12345 x secret-1 x")[0] == "x (hidden) x (hidden) x"


def test_a_value_that_is_part_of_the_mark_leaves_it():
    assert Hiding(["hidden", "another"]).text("hidden another") == ("hidden (hidden)", 1)


@pytest.mark.parametrize("key, value, is_hidden", [
    ("password", "123456", True), ("password", "12345", False), ("password", "12345\n", False),
    ("username", "administrator", False), ("ca.crt", "-----BEGIN CERTIFICATE-----\nabcdefgh", False),
    ("tls.crt", "-----BEGIN CERTIFICATE-----\nabcdefgh", False), ("format", "cloud-config", False),
    ("tls.key", "abcdefgh", True), ("token", "abcdefgh", True), ("value", "  padded-value\n", True)])
def test_which_values_are_secrets(key, value, is_hidden):
    values = secret_values.of_secret(secret("s", **{key.replace(".", "__"): value}))
    for text in (value.strip(), encoded(value)):
        assert (Hiding(values).text(f"a {text} b")[0] == "a (hidden) b") is is_hidden


def test_the_namespace_in_a_token_s_secret_is_none():
    values = secret_values.of_secret(secret("t", type_="kubernetes.io/service-account-token", namespace_="x",
                                            token="a-long-token", namespace=NAMESPACE))
    hiding = Hiding(values)
    assert hiding.text(f"{NAMESPACE} a-long-token")[0] == f"{NAMESPACE} (hidden)"


def test_what_is_no_text_is_hidden_as_it_is_stored():
    stored = base64.b64encode(b"\xff\xfe\xfd\xfc" * 4).decode()
    obj = dict(secret("s"), data={"key": stored, "odd": None, "broken": "not base64 at all"})
    assert Hiding(secret_values.of_secret(obj)).text(f"a {stored}")[0] == "a (hidden)"
    assert secret_values.of_secret(dict(obj, data=None)) == set()


KUBECONFIG = kubeconfig_of("https://192.0.2.1:6443", {"token": TOKEN, "client-key-data": encoded(KEY)})
INSIDE = {
    "a kubeconfig's token": (yaml.safe_dump(KUBECONFIG), TOKEN),
    "a kubeconfig's key": (yaml.safe_dump(KUBECONFIG), encoded(KEY)),
    "a line of a kubeconfig's key": (yaml.safe_dump(KUBECONFIG), BODY.split()[1]),
    "a line of a key": (KEY, BODY.split()[0]),
    "user data's password": ("#cloud-config\nusers:\n- name: root\n  passwd: a-hash-of-it\n", "a-hash-of-it"),
    "user data's logins": ("chpasswd:\n  list: |\n    root:a-root-word\n    core:of-the-core:1\n", "of-the-core:1"),
    "user data's list of logins": ("chpasswd:\n  expire: false\n  list: ['root:a-root-word']\n", "a-root-word"),
    "a file in user data": ("write_files:\n- path: /x\n  content: |\n    [a]\n    password = in-an-ini\n", "in-an-ini"),
    "an encoded file in user data": (
        "write_files:\n- path: /x\n  encoding: b64\n  content: " + encoded("a: 1\ntoken: in-the-encoded\n") + "\n",
        "in-the-encoded"),
    "a file of passwords": ("ironic:$2y$05$abcdefghijklmnopqrstuv\n", "$2y$05$abcdefghijklmnopqrstuv"),
    "settings": ("[ironic]\nusername = a-user-name\npassword = in-settings\n", "in-settings"),
    "a registry's login": (json.dumps({"auths": {"r": {"auth": encoded("user:of-registry")}}}), "of-registry"),
    "a registry's encoded login": (
        json.dumps({"auths": {"r": {"auth": encoded("user:of-registry")}}}), encoded("user:of-registry")),
    "JSON": (json.dumps({"credentials": {"password": "in-json-value"}}), "in-json-value"),
}


@pytest.mark.parametrize("value, inner", INSIDE.values(), ids=INSIDE)
def test_single_values_inside_of_a_value_are_hidden(value, inner):
    hiding = Hiding(secret_values.of_secret(secret("s", value=value)))
    assert hiding.text(f"a {inner} b") == ("a (hidden) b", 1)


def test_words_inside_of_a_value_are_not():
    hiding = Hiding(secret_values.of_secret(secret("s", value=yaml.safe_dump(KUBECONFIG))))
    text = "Config v1 https://192.0.2.1:6443 clusters contexts current-context users"
    assert hiding.text(text) == (text, 0)


@pytest.mark.parametrize("value", [
    "a: &a [x, x]\nb: [*a, *a]\n", "{[ no JSON", "a: [" * 5000, "\n" * 9 + "x: 9999-99-99\n"])
def test_a_value_that_is_no_document_is_hidden_as_a_whole(value):
    assert Hiding(secret_values.of_secret(secret("s", value=value))).text(f"<{value.strip()}>")[0] == "<(hidden)>"


@pytest.mark.parametrize("text", [
    f"before\n{KEY}after", f"before {json.dumps(KEY)[1:-3]} after",
    "before\n" + "".join(f"2026-01-01T00:00:00.123456789Z {line}\n" for line in KEY.splitlines()) + "after",
    f"before\n-----BEGIN EC PRIVATE KEY-----\n{BODY}\n[after",
    f"before\n{BODY}\n-----END PRIVATE KEY-----\nafter"])
def test_private_keys_are_hidden_whole_or_cut(text):
    shown, count = Hiding(()).text(text)
    assert count == 1 and not any(line in shown for line in BODY.split()), shown
    assert shown.startswith("before") and shown.endswith("after") and "(hidden)" in shown


@pytest.mark.parametrize("text", [
    "A" * 15 + "-" + "A" * 200000 + "-\n-----END PRIVATE KEY-----\n", "A" * 200000 + "-\n-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----[\n" * 40000])
def test_lines_of_others_take_no_longer_than_they_are_long(text):
    assert within_processor_time(10, Hiding(()).text, text)[1] > 0


def test_credentials_in_urls_are_hidden():
    assert Hiding(()).text("a\nGET https://u:p@192.0.2.1/x and ftp://v:q@h/\nb@c") == (
        "a\nGET https://(hidden)@192.0.2.1/x and ftp://(hidden)@h/\nb@c", 1)


def test_queries_of_urls_are_hidden_in_texts_without_credentials():
    assert Hiding(()).text("a?\nGET https://images.example/x.qcow2?sig=abc&se=1: 403\nb") == (
        "a?\nGET https://images.example/x.qcow2?(hidden): 403\nb", 1)


@pytest.mark.parametrize("text, expected", [
    ("> Authorization: Bearer abcdef0123456789", "> Authorization: Bearer (hidden)"),
    ('"authorization": ["Basic YWRtaW46cGFzcw=="], "x": 1', '"authorization": ["Basic (hidden)"], "x": 1'),
    ("X-Auth-Token: 0123456789abcdef", "X-Auth-Token: (hidden)"),
    ("got bearer abcdef0123456789.abc==, sent it", "got bearer (hidden), sent it"),
    ("+ curl -u admin:pass-word-1 https://192.0.2.1/", "+ curl -u admin:(hidden) https://192.0.2.1/"),
    ("+ curl --user 'admin:pass-word-1' -k x", "+ curl --user 'admin:(hidden)' -k x"),
    ("+ curl -uadmin:pass-word-1 x", "+ curl -uadmin:(hidden) x"),
    ("kubeadm join --token abcdef.0123456789abcdef --x", "kubeadm join --token (hidden) --x"),
    ("wget --http-password=pass-word-1 x", "wget --http-password=(hidden) x"),
    ("cookie eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl-_", "cookie (hidden)")])
def test_what_headers_and_commands_are_given_is_hidden(text, expected):
    assert Hiding(()).text(f"a\n{text}\nb") == (f"a\n{expected}\nb", 1)
    assert Hiding(()).text(expected) == (expected, 0)
    # Of user data, it is known wherever else it occurs.
    value = text.partition(expected.partition("(hidden)")[0])[2].partition(expected.partition("(hidden)")[2] or "\n")[0]
    if len(value) >= secret_values.SHORTEST:
        found = Hiding(secret_values.of_secret(secret("s", value=f"#cloud-config\nruncmd:\n- x\n# {text}\n")))
        assert found.text(f"other words {value} here")[0] == "other words (hidden) here"


@pytest.mark.parametrize("text", [
    "docker run -u 1000:1000 image", "authorization: none", "authorization-mode=Node,RBAC", "the bearer of it",
    "--authorization-mode Node,RBAC", "bearer token file is missing", "-u https://192.0.2.1/", "mount -u host:/path",
    "--token-auth-file=/x", "--password --other", "authorization: denied by policy", "tokens are renewed",
    "set --user=core", "level=info msg=\"Secret bmc not found\""])
def test_words_that_begin_like_credentials_stay(text):
    assert Hiding(()).text(text) == (text, 0)


def test_a_certificate_stays():
    text = KEY.replace("RSA PRIVATE KEY", "CERTIFICATE")
    assert Hiding(()).text(text) == (text, 0)


def test_secrets_in_the_fields_of_objects_are_hidden_without_their_values(tmp_path):
    config = dict(pod(), spec={"containers": [{"name": "manager", "env": [
        {"name": "IRONIC_PASSWORD", "value": "in-the-open"}, {"name": "MODE", "value": "plain"}]}]})
    result = Plane(config).collect(tmp_path / "d")
    stored = yaml.safe_load(texts(tmp_path / "d")[f"objects/Pod/{NAMESPACE}.manager-1.yaml"])
    assert [item["value"] for item in stored["spec"]["containers"][0]["env"]] == ["(hidden)", "plain"]
    assert result["hidden"] == 1


@pytest.mark.parametrize("password", ["it's: a Pa55", "two\nlines-of-Pa55", "tab\tand\x07 Pa55-\xe9", "# 'Pa55' #"])
def test_what_yaml_writes_in_another_way_is_hidden_before(tmp_path, password):
    """A quote is doubled, lines are indented, control characters are escaped: in the file nobody would find it."""
    noted = dict(host(annotations={"note": f": {password}"}), status={"errorMessage": f"login with {password} failed"})
    Plane(noted, secret("bmc", password=password)).collect(tmp_path / "d")
    stored = yaml.safe_load(texts(tmp_path / "d")["objects/BareMetalHost.metal3.io/metal3.h1.yaml"])
    assert stored["status"] == {"errorMessage": "login with (hidden) failed"}
    assert stored["metadata"]["annotations"] == {"note": ": (hidden)"}
