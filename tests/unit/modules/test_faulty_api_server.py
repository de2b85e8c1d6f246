# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each module that talks to Kubernetes against an API server that answers wrongly, or not at all.

The modules are those of the action group in ``meta/runtime.yml``. What they are asked to do is in ``bad_inputs``, or
in ``ARGUMENTS`` here; info modules need nothing.
"""
from __future__ import annotations

import functools
import importlib
import itertools
import json
import pathlib
import re

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.api_server import DELETE, FAULTS, GET, LIST, WATCH, WRITE, ApiServer
from fakes.time_limits import ends
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.passwords import password_change
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.passwords.accounts import Look, Outcome
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting import parallel
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import PROGRESS_FILE_VARIABLE
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.annotations import PAUSED, STATUS
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import client, follow, transport
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.module import KubeModule
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses import patience
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests import rollout_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks.rules import HELD
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import ironic_module
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    controllers,
    process_group,
    provider,
)

REPOSITORY = pathlib.Path(__file__).parents[3]
MODULES = ansible_yaml.read(REPOSITORY / "meta" / "runtime.yml")["action_groups"]["kubernetes"]
TABLES = pathlib.Path(__file__).parent / "bad_inputs"
NAMESPACE = "metal3"
# Nobody has its secret key.
RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudlvjfxsly6ggy"

DEPLOYMENT = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
    "spec": {"selector": {"matchLabels": {"a": "b"}},
             "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}}}
IRONIC = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ironic"},
    "spec": {"selector": {"matchLabels": {"name": "ironic"}}, "template": {
        "metadata": {"labels": {"name": "ironic"}},
        "spec": {"initContainers": [{"name": "ironic-ipa-downloader", "image": ironic.DOWNLOADER}],
                 "containers": [{"name": name, "image": ironic.IMAGE} for name in ("ironic", "ironic-httpd")]}}}}
OF_IRONIC_OPERATOR = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "ironics.ironic.metal3.io"}, "spec": {
        "group": "ironic.metal3.io", "names": {"plural": "ironics", "kind": "Ironic"}, "scope": "Namespaced",
        "versions": [{"name": "v1alpha1", "served": True, "storage": True}]}}
# Of modules whose table in bad_inputs does not say all, or that have none.
ARGUMENTS = {
    "cluster": {"wait_for": "available"},
    "cluster_kubeconfig": {"name": "c", "path": "kubeconfig-of-c"},
    "etcd_snapshot": {"clusters": ["c"], "directory": "snapshots", "recipients": [
        # A key that counts: what is none is refused before anything is asked.
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]},
    "host_bmc_credentials": {"confirm": "1"},
    "host_compliance": {"hosts": [{"name": "h", "expected": {}}]},
    "host_maintenance": {"hosts": ["h"], "state": "returned"},
    "host_remediation": {"hosts": ["h"], "step_timeout_seconds": 1},
    "machine_action": {"cluster_name": "c", "machines": ["m"], "action": "replace", "confirm": "1"},
    "manifests": {"manifests": [DEPLOYMENT], "wait": True},
    "plane_check": {"parts": []},
    "plane_components": {"parts": [], "certificates": "collection", "objects": [DEPLOYMENT], "wait": True},
    "plane_ironic": {
        "source_dir": "/nonexistent", "provisioning_ip": "192.0.2.2", "tls": "none",
        "deploy_kernel_url": "https://images.example/kernel", "deploy_ramdisk_url": "https://images.example/ramdisk"},
    "plane_ironic_operator": {"version": "35.0"},
    "plane_backup": {"directory": "backups", "recipients": [RECIPIENT]},
    "plane_logs": {"dest": "logs"},
    "plane_move_hosts": {"state": "released"},
    "plane_scale": {"namespace": NAMESPACE, "name": "d", "replicas": 1},
    "plane_provider": {
        "management_plane": {"dir": "/nonexistent"}, "providers": [], "wait": False, "timeout_seconds": 1,
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": NAMESPACE}}]},
    "service_probe": {"name": "s", "port": "80"},
}
HOST = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "spec": {"online": True},
        "metadata": {"name": "h", "annotations": {"metal3.baremetal/maintenance": "fan"}}}
BROKEN = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "spec": {"online": True},
          "metadata": {"name": "h"}, "status": {
              "operationalStatus": "error", "errorType": "power management error", "errorMessage": "m",
              "provisioning": {"state": "available"}}}
OBJECTS = {
    "host_compliance": [HOST],
    "host_maintenance": [HOST],
    "host_remediation": [BROKEN],
    "machine_action": [
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "c"}, "spec": {}},
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "spec": {"replicas": 1},
         "metadata": {"name": "d", "labels": {"cluster.x-k8s.io/cluster-name": "c"}}},
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "spec": {"bootstrap": {}},
         "metadata": {"name": "m", "labels": {
             "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/deployment-name": "d"}}}],
    "plane_backup": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}}],
    "plane_move_hosts": [{
        "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
        "metadata": {"name": "h", "annotations": {PAUSED: HELD, STATUS: '{"provisioning": {"state": "available"}}'}},
        "spec": {"online": True}}],
    "plane_scale": [dict(DEPLOYMENT, spec=dict(DEPLOYMENT["spec"], replicas=0))],
    "plane_ironic": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": catalogue.IRONIC.namespace}}],
    "plane_ironic_operator": [OF_IRONIC_OPERATOR],
    "service_probe": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}],
}
# What an operator can do about it, or what was waited for in vain; each message has at least one.
NEXT_STEP = re.compile(
    r"(?:within \d+ s|; (?:[^;\n]*\b)?(start it|correct|run again|renew|allow it|give|set|install|raise|look at|make)"
    r"\b)")
# Faults that a wait goes on in spite of.
PASSING = [name for name in FAULTS if name not in ("401", "403")]
# Where a busy machine does not come to what is to be tested, the next one is taken.
WAITS_SECONDS = (1, 3, 9, 27, 81)


@functools.cache
def documented(name):
    """Return the options that a module documents itself."""
    text = (REPOSITORY / "plugins" / "modules" / (f"{name}.py")).read_text()
    return ansible_yaml.load(re.search(r'DOCUMENTATION = r"""(.*?)"""', text, re.DOTALL).group(1)).get("options", {})


def fragment_has_wait(name):
    return "metal3.baremetal.resources.wait" in (REPOSITORY / "plugins" / "modules" / (f"{name}.py")).read_text()


@functools.cache
def task(name):
    """Return a module's arguments and the objects that there are; it waits for a second, where it can wait."""
    table = {}
    if (TABLES / (f"{name}.yml")).exists():
        table = ansible_yaml.read(TABLES / (f"{name}.yml"))
    assert table or name in ARGUMENTS or name.endswith("_info"), f"give arguments for {name} in bad_inputs"
    arguments = dict(table.get("base", {}), **ARGUMENTS.get(name, {}))
    options = documented(name)
    if "wait_timeout_seconds" in options or fragment_has_wait(name):
        arguments["wait_timeout_seconds"] = 1
    goals = [goal for goal in options.get("wait_for", {}).get("choices", []) if goal not in ("none", "deleted")]
    if goals:
        arguments.setdefault("wait_for", goals[0])
    objects = [json.loads(json.dumps(table["objects"][key])) for key in table.get("there", [])] + OBJECTS.get(name, [])
    for item in objects:
        item["metadata"].setdefault("namespace", NAMESPACE)
    return arguments, objects


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a callable that runs a module against a server; it returns the answer and how long it took."""
    monkeypatch.setattr(parallel, "RETRY_DELAYS_SECONDS", (0.01, 0.01))
    monkeypatch.setattr(client, "_WATCH_GRACE_SECONDS", -0.8)
    monkeypatch.setattr(follow, "BACKOFF_SECONDS", (0.01,))
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 0.3)
    monkeypatch.setattr(rollout_wait, "INTERVAL_SECONDS", 0.05)
    for variable in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST", "K8S_AUTH_API_KEY"):
        monkeypatch.delenv(variable, raising=False)

    # The part of provider that is not about Kubernetes.
    monkeypatch.setattr(controllers, "issue", lambda *_arguments: [])
    monkeypatch.setattr(process_group, "start", lambda *_arguments: {})
    for function in ("desired", "identify"):
        monkeypatch.setattr(provider, function, lambda *_arguments: [])
    # BMCs that accept the first password that is tried, and each new one.
    monkeypatch.setattr(password_change.PasswordChange, "look", lambda _change, accounts: [
        Look(wanted.passwords[0]) for wanted in accounts])
    monkeypatch.setattr(password_change.PasswordChange, "change", lambda *_arguments: Outcome("unchanged"))
    # Upstream's kustomization needs Go to be rendered.
    monkeypatch.setattr(ironic_module, "rendered", lambda *_arguments: [json.loads(json.dumps(IRONIC))])

    numbers = itertools.count(1)

    def call(which, server, hanging=None, **options):
        # Short only for what hangs, so that a busy machine is not taken for a server that does.
        for variable, kinds in (("LIST_TIMEOUT_SECONDS", [LIST]), ("REQUEST_TIMEOUT_SECONDS", [GET, WRITE, DELETE])):
            monkeypatch.setattr(transport, variable, 0.3 if hanging in kinds else 60)
        module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.{which}")
        arguments = dict(dict(task(which)[0], **options), host=server.url, api_key="a-token",
                         _ansible_remote_tmp=str(tmp_path))
        if "dest" in arguments:
            # Where a run has written, no other does.
            arguments["dest"] = str(tmp_path / f"{arguments['dest']}-{next(numbers)}")
        with patch_module_args(arguments), ends(), pytest.raises(SystemExit):
            module.main()
        return json.loads(capsys.readouterr().out)
    return call


@functools.cache
def baselines():
    return {}


def kinds_of(name, run):
    """Return the kinds of requests that a module sends when nothing is wrong."""
    if name not in baselines():
        with ApiServer(task(name)[1]) as server:
            answer = run(name, server)
            assert answer["server"] == server.url, answer
            baselines()[name] = sorted(set(request.kind for request in server.requests))
    assert baselines()[name]
    return baselines()[name]


def check(name, server, answer):
    """Check what holds whatever the server does."""
    assert answer["server"] == server.url
    if answer.get("failed"):
        assert "Traceback" not in answer["msg"]
        assert NEXT_STEP.search(answer["msg"]), answer["msg"]
    # No object is changed twice by one run: it writes once what it wants. Only a claim goes again that it has made.
    changes = [path for path, item in server.stored if item is not None or not path.endswith("-rotation")]
    assert sorted(changes) == sorted(set(changes)), changes
    for path, requests in itertools.groupby(sorted(server.of_kind(WRITE, DELETE), key=lambda item: item.path),
                                            key=lambda item: item.path):
        assert len(list(requests)) <= 25, path


def _faulty(kind, fault):
    return lambda request: FAULTS[fault] if request.kind == kind else None


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", MODULES)
def test_each_wrong_answer_ends_with_what_to_do_and_nothing_is_written_twice(run, name, fault):
    kinds = [kind for kind in kinds_of(name, run) if kind != WATCH]
    assert kinds
    for kind in kinds:
        # A machine that is so busy that a watch is silent at the end of a wait of one second is asked less.
        for _attempt in range(5):
            with ApiServer(task(name)[1], _faulty(kind, fault)) as server:
                answer = run(name, server, kind if fault == "hang" else None)
            if server.of_kind(kind):
                break
        else:
            pytest.fail(f"{name} has not sent a request of kind {kind}")
        check(name, server, answer)
        # Who may not read all of a plane is warned of what was not checked.
        if kind == LIST and fault not in ("404", "409") and not (
                fault == "403" and name in ("plane_certificates_info", "plane_check", "plane_logs")):
            assert answer.get("failed"), answer


def waiting_modules():
    # host_maintenance waits for the servers of workload clusters: tests/unit/cluster/test_maintenance.py.
    return [name for name in MODULES if "wait_timeout_seconds" in task(name)[0] and name != "host_maintenance"]


def times_of(name, wait_seconds):
    """Return the options of a module by which it waits for so long."""
    return dict((option, wait_seconds) for option in ("wait_timeout_seconds", "step_timeout_seconds")
                if option in task(name)[0])


def waits_until(reached):
    """Yield seconds to wait until a list has items: a busy machine may not come to it within the first."""
    for seconds in WAITS_SECONDS:
        yield seconds
        if reached:
            return
    pytest.fail(f"it was not reached by a wait of {WAITS_SECONDS[-1]} s")


@pytest.mark.parametrize("name", waiting_modules())
def test_a_wait_goes_on_in_spite_of_passing_faults(run, name):
    """Each watch is answered by another fault; the wait ends at its time, or by what the objects say."""
    if WATCH not in kinds_of(name, run):
        assert LIST in kinds_of(name, run) or GET in kinds_of(name, run)
        return
    faults = itertools.cycle(PASSING)
    met = set()

    def fault(request):
        if request.kind != WATCH:
            return None
        chosen = next(faults)
        met.add(chosen)
        return FAULTS[chosen]

    for wait_seconds in waits_until(met):
        with ApiServer(task(name)[1], fault) as server:
            answer = run(name, server, wait_timeout_seconds=wait_seconds)
        check(name, server, answer)
        assert answer["failed"]


@pytest.mark.parametrize("fault", ["401", "403"])
@pytest.mark.parametrize("name", waiting_modules())
def test_a_wait_ends_when_it_is_refused_for_good(run, name, fault):
    if WATCH not in kinds_of(name, run):
        assert LIST in kinds_of(name, run) or GET in kinds_of(name, run)
        return
    refuse = []

    def answer_of(request):
        if request.kind == WATCH:
            refuse.append(1)
        return FAULTS[fault] if refuse and request.kind in (WATCH, LIST) else None

    with ApiServer(task(name)[1], answer_of) as server:
        # Not the end of the wait is to end it, however busy this machine is.
        answer = run(name, server, wait_timeout_seconds=15)
        check(name, server, answer)
        assert answer["failed"] and {"401": "Unauthorized", "403": "forbidden"}[fault] in answer["msg"]


@pytest.mark.parametrize("name", waiting_modules())
def test_one_401_does_not_end_a_wait(run, name, monkeypatch):
    """A token was being renewed, or the server's authentication restarted."""
    # Not the end of the patience is to end the wait, however busy this machine is.
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 60)
    waited = WATCH if WATCH in kinds_of(name, run) else LIST if LIST in kinds_of(name, run) else GET
    written, listed, refused, followed = [], [], [], []

    def fault(request):
        listed.extend([request] if request.kind == LIST and written else [])
        written.extend([request] if request.kind == WRITE and "dryRun" not in request.query else [])
        # Without a watch, the first LIST of each kind after the write tells what is to be waited for.
        waits = request.kind == waited and (waited != LIST or [item.path for item in listed].count(request.path) > 1)
        if waits and not refused:
            refused.append(request)
            return FAULTS["401"]
        return None

    # A time that ends before the next request says nothing of what the wait does after the fault.
    for wait_seconds in waits_until(followed):
        for kept in (written, listed, refused):
            kept.clear()
        with ApiServer(task(name)[1], fault) as server:
            answer = run(name, server, **times_of(name, wait_seconds))
            requests = list(server.requests)
        # The server of the round before may have noted its refusal only now.
        after = requests[requests.index(refused[0]) + 1:] if refused and refused[0] in requests else []
        # A request whose answer did not arrive in time leaves the refusal the last thing that is known.
        passed = "Unauthorized" not in answer.get("msg", "")
        followed[:] = [request for request in after if passed and request.kind in (waited, LIST)]


@pytest.mark.parametrize("name", MODULES)
def test_the_first_line_of_progress_and_the_result_name_the_server(run, name, monkeypatch, tmp_path):
    lines = tmp_path / "progress"
    monkeypatch.setenv(PROGRESS_FILE_VARIABLE, str(lines))
    with ApiServer(task(name)[1]) as server:
        answer = run(name, server)
    assert json.loads(lines.read_text().splitlines()[0]) == {"kind": "event", "text": f"API server {server.url}"}
    assert answer["server"] == server.url
    text = (REPOSITORY / "plugins" / "modules" / (f"{name}.py")).read_text()
    returned = ansible_yaml.load(re.search(r'RETURN = r"""(.*?)"""', text, re.DOTALL).group(1))
    assert returned["server"]["type"] == "str"


@pytest.mark.parametrize("name", [name for name in MODULES if name.endswith("_info")])
def test_a_namespace_that_is_not_there_is_named(run, name, monkeypatch):
    """It was as if it were empty."""
    warnings = []
    monkeypatch.setattr(KubeModule, "warn", lambda module, text: warnings.append(text))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    with ApiServer([namespace]) as server:
        answer = run(name, server)
    assert not answer.get("failed"), answer["msg"]
    assert not warnings
    with ApiServer([]) as server:
        answer = run(name, server)
    assert not answer.get("failed"), answer["msg"]
    assert warnings == [f"namespace {NAMESPACE}: found none on {server.url}, expected one; correct namespace, "
                        "kubeconfig or host"]


def test_the_matrix_covers_what_modules_do(run):
    """Else a kind of fault would be tried on nobody."""
    assert set(kind for name in MODULES for kind in kinds_of(name, run)) >= {LIST, GET, WATCH, WRITE}


# What a run that fails half-way has written

def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "new"}}


SEVERAL = {
    "manifests": {"manifests": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}},
                                config_map("one"), config_map("two")]},
}


def _refuses_after(server, stops):
    return lambda request: FAULTS["403"] if len(server.stored) >= stops else None


def writing_modules():
    reading = ("cluster_kubeconfig", "etcd_snapshot", "host_compliance", "plane_backup", "plane_check", "plane_logs",
               "service_probe")
    return [name for name in MODULES if not name.endswith("_info") and name not in reading]


@pytest.mark.parametrize("name", writing_modules())
def test_a_run_that_fails_half_way_says_what_it_has_written(run, name):
    """A later wave of manifests that was refused returned changed=false, and handlers did not run."""
    stops, ends = 0, []
    while not ends or ends[-1]:
        with ApiServer(task(name)[1]) as server:
            server.fault = _refuses_after(server, stops)
            answer = run(name, server, **SEVERAL.get(name, {}))
        ends.append(bool(answer.get("failed")))
        stored = sorted(set(path.rpartition("/")[2] for path, dummy in server.stored))
        if answer.get("failed"):
            assert answer["changed"] is bool(stored), (stops, stored, answer["msg"])
            listed = set(item["object"].rpartition("/")[2].rpartition(" ")[2] for item in answer.get("written", []))
            assert sorted(listed) == stored
        if len(server.stored) < stops:
            break
        stops += 1
    assert stops > 1, "nothing is written"


# What a write rests on, and what a run in check mode leaves

# What a deletion needs more.
ABSENT = {"cluster": {"confirm": "c1"}, "baremetal_host": {"force_hosts": ["h1"], "wait_for": "deleted"}}


def absent(name):
    """Return the arguments by which a module deletes what the others create, None when it deletes nothing."""
    arguments, options = json.loads(json.dumps(task(name)[0])), documented(name)
    if "absent" in options.get("state", {}).get("choices", []):
        return None if name in ("plane_components", "plane_ironic", "plane_ironic_operator") else dict(
            arguments, state="absent", **ABSENT.get(name, {}))
    lists = [option for option, value in options.items() if "state" in (value.get("suboptions") or {})]
    for option in lists:
        arguments[option] = [{"name": item["name"], "state": "absent"} for item in arguments.get(option) or []]
    return dict(arguments, **ABSENT.get(name, {})) if lists else None


class Racing(ApiServer):
    """Somebody else writes each object just before the module's first write of it, or creates it."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        # Path → status of the answer to that first write.
        self.first = {}

    def answer(self, request):
        trial = "dryRun" in request.query or (request.body or {}).get("dryRun") if request.method != "GET" else True
        path = request.path if request.method != "POST" or trial else "%s/%s" % (
            request.path, request.body["metadata"].get("name"))
        if trial or path in self.first or path.endswith("/None"):
            return super().answer(request)
        there = self._objects.get(path) or {
            "apiVersion": request.body["apiVersion"], "kind": request.body["kind"],
            "metadata": {"name": path.rpartition("/")[2], "namespace": NAMESPACE}}
        there = json.loads(json.dumps(there))
        there["metadata"].setdefault("annotations", {})["somebody"] = "else"
        self._put(path, there)
        code, answer = super().answer(request)
        self.first[path] = code
        return code, answer


@pytest.mark.parametrize("name", writing_modules())
def test_what_was_checked_goes_along_with_each_write(run, name):
    """A write that names no uid and resourceVersion would be stored over what somebody else has just written."""
    with Racing(task(name)[1]) as server:
        run(name, server, **SEVERAL.get(name, {}))
    assert server.first and set(server.first.values()) == {409}, server.first


@pytest.mark.parametrize("name", [name for name in writing_modules() if absent(name)])
def test_what_was_checked_goes_along_with_each_deletion(run, name):
    with ApiServer(task(name)[1]) as server:
        run(name, server)
        objects = [json.loads(json.dumps(item)) for item in server._objects.values()]
    with Racing(objects) as server:
        answer = run(name, server, **absent(name))
    assert server.first and set(server.first.values()) == {409}, (server.first, answer)


def files_of(folder):
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_check_mode_stores_nothing_anywhere(run, name, deletes, monkeypatch, tmp_path):
    arguments = absent(name) if deletes else SEVERAL.get(name, {})
    if arguments is None or (deletes and name not in writing_modules()):
        return
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    with ApiServer(task(name)[1]) as server:
        if deletes:
            run(name, server)
            server.stored.clear()
            server.requests.clear()
        before = files_of(tmp_path)
        answer = run(name, server, _ansible_check_mode=True, **arguments)
        assert server.stored == [], answer
        for request in server.of_kind(WRITE, DELETE):
            assert "dryRun" in request.query or (request.body or {}).get("dryRun"), request
        assert files_of(tmp_path) == before
    if name in writing_modules():
        # Else nothing was tried.
        assert answer["changed"], answer
