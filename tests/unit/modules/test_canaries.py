# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No module shows a secret: not in its result, failure, parameters, progress or output, and not in the system's log.

The modules are those of ``plugins/modules``, and the places of secrets are found in their argument specs: options with
``no_log``, options that ``redaction.py`` hides, dictionaries of any content, URLs, keys and kubeconfigs. What a module
is asked to do is in ``bad_inputs``, or in ``ARGUMENTS`` here.
"""
from __future__ import annotations

import base64
import copy
import functools
import importlib
import json
import re
import socket
import syslog

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from fakes.api_server import kubeconfig_of
from fakes.module_tasks import NAMESPACE, server_for, task
from fakes.modules import FILES, MODULES, REPOSITORY, spec_of

from ansible_collections.metal3.baremetal.plugins.module_utils._common.module import Module
from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting import parallel
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import PROGRESS_FILE_VARIABLE
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import ironic_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import follow
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.connection import kube_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses import patience
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import registry as lab_registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import ironic_module
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    controllers,
    process_group,
    provider,
)

CANARY = "canary-5e7a<&>93af"
PEM = f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n"
# Names of options that take a URL, or the address of a server.
_URL = re.compile(r"(^|_)(url|address|endpoint|host|proxy|destination|checksum|source)$")
CONNECTION = {*kube_argument_spec(), *ironic_argument_spec()}
_KEY_FILE = re.compile(r"(^|_)key$")


@functools.cache
def places(name):
    """Return ``(path, value)`` for each place of a module that can hold a secret.

    The same options below another one, as those of a cluster's control plane, are read by the same code.
    """
    found = list(secrets_of(spec_of(name)))
    paths = set(path for path, dummy in found)
    return [(path, value) for path, value in found if path[1:] not in paths]


def secrets_of(spec, path=()):
    """Yield ``(path, value)`` for each place of a spec that can hold a secret; lists have one element."""
    for name, option in spec.items():
        where, kind, elements = (*path, name), option.get("type", "str"), option.get("elements")
        if option.get("options"):
            yield from secrets_of(option["options"], (*where, 0) if kind == "list" else where)
        elif name == "kubeconfig" and kind != "path":
            for user in ({"token": CANARY}, {"password": CANARY, "username": "u"}, {"client-key-data": CANARY},
                         {"exec": {"env": [{"name": "PASSWORD", "value": CANARY}]}}):
                yield where, kubeconfig_of("https://127.0.0.1:1", user)
            yield where, json.dumps(kubeconfig_of("https://127.0.0.1:1", {"token": CANARY}))
        elif elements in ("dict", "raw"):
            yield where, [{"password": CANARY, "dummy": {"url": f"https://u:{CANARY}@192.0.2.1/"}}]
            yield where, [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": NAMESPACE},
                           "stringData": {"dummy": CANARY}}]
        elif kind == "dict":
            yield where, {"user_data" if hides(name, option, {"user_data": CANARY}) else "password": CANARY,
                          "dummy": {"url": f"https://u:{CANARY}@192.0.2.1/"}}
        elif option.get("no_log") or hides(name, option, CANARY):
            yield where, CANARY
        elif kind == "list" and hides(name, option, [CANARY]):
            yield where, [CANARY]
        elif kind == "path" and _KEY_FILE.search(name):
            yield where, PEM
        elif kind in ("str", "raw") and _URL.search(name):
            yield where, f"https://u:{CANARY}@127.0.0.1:1/"


def hides(name, option, value):
    """Return whether ``redaction.py`` hides an option of this name."""
    return CANARY not in repr(redaction.hidden_parameters({name: value}, {name: option}))


WITH_SECRETS = [name for name in MODULES if places(name)]


def with_value(arguments, path, value):
    """Return arguments with a value at a path, and the dictionary that holds it."""
    result = node = copy.deepcopy(arguments)
    for step, following in zip(path, path[1:]):
        empty = [] if following == 0 else {}
        if isinstance(node, list):
            if not node:
                node.append(empty)
            node = node[0]
        else:
            if not isinstance(node.get(step), (dict, list)):
                node[step] = empty
            node = node[step]
    node[path[-1]] = merged(node.get(path[-1]), value)
    return result, node


def merged(there, value):
    """Return a value beside what is there: of a dictionary, or of the first one of a list."""
    if isinstance(there, list) and there and isinstance(value, list) and "kind" not in str(value):
        return [merged(there[0], value[0]), *there[1:]]
    return dict(there, **value) if isinstance(there, dict) and isinstance(value, dict) else copy.deepcopy(value)


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """Return a callable that runs a module and returns its answer; everything that it leaves has no canary."""
    logged, progress, open_results = [], tmp_path / "progress", []
    init = Module.__init__

    def remember(module, *arguments, **options):
        open_results[:] = options.get("open_results", ())
        init(module, *arguments, **options)

    def connect(connection, address):
        if address[0] == "127.0.0.1":
            return real_connect(connection, address)
        raise OSError("refused by the test")

    real_connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(Module, "__init__", remember)
    for name in ("log", "debug"):
        monkeypatch.setattr(AnsibleModule, name, lambda module, *texts, **options: logged.append((texts, options)))
    monkeypatch.setattr(syslog, "syslog", lambda *texts: logged.append(texts))
    monkeypatch.setattr(parallel, "RETRY_DELAYS_SECONDS", (0.01, 0.01))
    monkeypatch.setattr(follow, "BACKOFF_SECONDS", (0.01,))
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 0.01)
    monkeypatch.setattr(controllers, "issue", lambda *_arguments: [])
    monkeypatch.setattr(process_group, "start", lambda *_arguments: {})
    for function in ("desired", "identify"):
        monkeypatch.setattr(provider, function, lambda *_arguments: [])
    monkeypatch.setattr(lab_registry.ControllerImages, "build", lambda *_arguments: None)
    monkeypatch.setattr(lab_registry.ControllerImages, "layouts", lambda *_arguments: {})
    monkeypatch.setattr(ironic_module, "rendered", lambda *_arguments: [])
    monkeypatch.setattr(lab_registry, "missing", lambda *_arguments: [])
    monkeypatch.setenv(PROGRESS_FILE_VARIABLE, str(progress))
    monkeypatch.chdir(tmp_path)
    for variable in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST", "K8S_AUTH_API_KEY", "OS_CLOUD"):
        monkeypatch.delenv(variable, raising=False)

    def call(name, arguments, **options):
        module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.{name}")
        progress.write_text("")
        logged.clear()
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path), **options)), \
                pytest.raises(SystemExit):
            module.main()
        printed = capfd.readouterr()
        answer = json.loads(printed.out)
        closed = dict((key, value) for key, value in answer.items() if answer.get("failed") or key not in open_results)
        left = {"result": json.dumps(closed, ensure_ascii=False), "stderr": printed.err,
                "log": repr(logged), "progress": progress.read_text()}
        forms = [CANARY, "5e7a<&>93af", "canary-5e7a", base64.b64encode(CANARY.encode()).decode()]
        found = [f"{place}: {text[max(0, text.index(form) - 200):text.index(form) + 40]}"
                 for place, text in left.items() for form in forms if form in text]
        assert not found, "\n".join(found)
        return answer
    return call


def placed(name, connection, url, path, value):
    """Return arguments with a secret at its place, and the dictionary that holds it."""
    arguments = dict(task(name)[0], **connection)
    if path == ("kubeconfig",) and url:
        arguments = dict((key, item) for key, item in arguments.items() if key not in ("host", "api_key"))
        value = json.loads(json.dumps(value).replace("https://127.0.0.1:1", url))
    elif path == ("proxy",):
        # A proxy takes the same requests.
        value = value.replace("https://", "http://").replace("127.0.0.1:1", url.partition("//")[2])
    elif path == ("client_key",):
        arguments.pop("api_key", None)
        arguments["client_cert"] = __file__
    elif path == ("password",) and "endpoint" in connection:
        arguments["username"] = "u"
    return with_value(arguments, path, value)


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_without_a_canary_something_is_done(run, name):
    """Else the other tests would look at refusals of arguments only."""
    with server_for(name) as (connection, server):
        answer = run(name, dict(task(name)[0], **connection))
        # A restore reads its archive before it asks an API server.
        is_done = server.requests if server else not answer.get("failed") or any(
            name in answer["msg"] for name in ("198.18.0.11", "no-such0: ", "127.0.0.1:1", "No such file or directory"))
        assert is_done, answer


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_a_result_and_a_difference_show_no_secret(run, name):
    for path, value in places(name):
        with server_for(name) as (connection, server):
            arguments, dummy = placed(name, connection, server and server.url, path, value)
            # What is no option for a secret differs from one in the parameters and the difference only.
            for check_mode in (True, False) if value == CANARY and path[0] not in CONNECTION else (True,):
                answer = run(name, arguments, _ansible_check_mode=check_mode, _ansible_diff=True)
                assert answer["invocation"]["module_args"], path


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_a_refusal_that_quotes_what_was_sent_shows_no_secret(run, name):
    with server_for(name, quoting=True) as (connection, server):
        for path, value in places(name):
            arguments, dummy = placed(name, connection, server and server.url, path, value)
            run(name, arguments)


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_an_argument_of_a_wrong_type_next_to_it_shows_no_secret(run, name):
    """Neither an unknown option beside it, nor the secret in a structure where a text is expected."""
    for path, value in places(name):
        arguments, node = placed(name, {}, "http://127.0.0.1:1", path, value)
        for wrong in ({"dummy_option": 1}, {"dummy_password": CANARY}):
            if isinstance(node, dict):
                node.update(wrong)
                assert run(name, arguments).get("failed")
        for wrong in ({"name": "a", "password": value}, [value], [[value]]):
            run(name, with_value(task(name)[0], path, wrong)[0])


def test_all_modules_that_take_secrets_are_found():
    """Options with no_log are those that a reader of a module's documentation would count."""
    assert len(WITH_SECRETS) > 30
    without_main = [path.stem for path in FILES if path.stem not in MODULES]
    assert all((REPOSITORY / "plugins" / "action" / f"{name}.py").exists() for name in without_main)
