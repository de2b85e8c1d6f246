# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's secrets are random strings, and so are the user data and the cluster's secrets given here: none occurs
anywhere but where it belongs.

Looked at are, as text and in base64, what playbooks print at ``-vvv`` with differences, also when they fail; what
callbacks are given; Ansible's log, its fact cache; arguments of all processes while they run; what is left in temporary
folders, and while they run which of those files others might read; the logs of the lab.
"""
from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets as random
import stat
import threading
from pathlib import Path

import pytest
from support import NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

# Provisioned by the lab's inventory: what it is given again is written, and nothing is deployed.
SERVER = "server-03"
CANARY = f"c4nary-{random.token_hex(16)}"
# Where users put secrets into the description of a cluster.
CLUSTER_CANARIES = dict((place, f"c4nary-{random.token_hex(16)}") for place in (
    "file", "new file", "password", "command", "variable", "meta data", "image", "argument", "wrong token"))
CLUSTER_CANARIES["token"] = f"{random.token_hex(3)}.{random.token_hex(8)}"
CLUSTER = "canary"
SAMPLE_INTERVAL_SECONDS = 0.1
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def forms(*texts):
    """Return texts and their base64 as bytes."""
    return [form.encode() for text in texts for form in (text, base64.b64encode(text.encode()).decode().rstrip("="))]


@pytest.fixture(scope="module")
def secrets(lab):
    """Return what must not be found: {where it comes from: its forms}."""
    found = {"user data": forms(CANARY, f"# {CANARY}\n")}
    found.update((place, forms(text)) for place, text in CLUSTER_CANARIES.items())
    for path in (lab.dir / "secrets").rglob("*"):
        # Names of accounts are no secrets.
        if path.is_file() and not path.name.endswith("username"):
            text = path.read_text().strip()
            user = path.with_name(path.name.replace("password", "username")).read_text().strip()
            found[str(path)] = forms(text, f"{user}:{text}")
    for path in (lab.dir / "pki").rglob("*.key"):
        key = path.read_text()
        found[str(path)] = [line.encode() for line in key.splitlines() if "---" not in line][:1] + forms(key)
    paths = ["secrets/ironic_password", "secrets/machine_room_token", "pki/ca.key",
             *(f"secrets/bmc/{name}/password" for name in lab.servers)]
    assert set(str(lab.dir / path) for path in paths) | set(CLUSTER_CANARIES) | {"user data"} <= set(found)
    return found


def seen(secrets, data):
    """Return the names of the secrets that occur in the data."""
    return sorted(name for name, known in secrets.items() if any(form in data for form in known))


def processes():
    """Yield ``(first argument, all arguments)`` of every process."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            arguments = path.read_bytes()
            yield arguments.split(b"\0")[0], arguments


def readable_by_others(path, top):
    """Say whether other users may read a file: it, and all folders up to ``top``, let them."""
    return all(folder.stat().st_mode & OTHERS for folder in [path, *path.parents][:len(path.relative_to(top).parts)])


class Watch(threading.Thread):
    """Looks at all processes and at temporary files until it is stopped, at each but once."""

    def __init__(self, secrets, temporary):
        super().__init__(daemon=True)
        self._secrets, self._temporary = secrets, temporary
        self._ended = threading.Event()
        self.arguments, self.files, self.found = set(), {}, set()

    def run(self):
        while not self._ended.wait(SAMPLE_INTERVAL_SECONDS):
            for program, arguments in processes():
                if arguments not in self.arguments:
                    self.arguments.add(arguments)
                    self.found.update((program, name) for name in seen(self._secrets, arguments))
            for folder, dummy, names in os.walk(self._temporary):
                for name in names:
                    # Files come and go while they are looked at.
                    with contextlib.suppress(OSError):
                        self._look(Path(folder, name))

    def _look(self, path):
        state = path.stat()
        if self.files.get(path) == (state.st_mtime_ns, state.st_size, state.st_mode):
            return
        self.files[path] = (state.st_mtime_ns, state.st_size, state.st_mode)
        if path.is_file() and readable_by_others(path, self._temporary):
            self.found.update((path, name) for name in seen(self._secrets, path.read_bytes()))

    def stop(self):
        self._ended.set()
        self.join(timeout=30)


class Observed:
    """Runs playbooks with everything switched on that writes something down."""

    def __init__(self, lab, secrets, folder):
        self._lab, self._secrets, self._folder = lab, secrets, folder
        self.temporary = folder / "tmp"
        self.files = set()
        for name in ("tmp", "junit", "tree", "facts"):
            (folder / name).mkdir()
        self._environment = {
            "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callback_plugins"),
            "ANSIBLE_CALLBACKS_ENABLED": "every_result,ansible.builtin.junit,ansible.builtin.tree",
            "EVERY_RESULT_PATH": str(folder / "results"), "JUNIT_OUTPUT_DIR": str(folder / "junit"),
            "ANSIBLE_CALLBACK_TREE_DIR": str(folder / "tree"), "ANSIBLE_LOG_PATH": str(folder / "ansible.log"),
            "ANSIBLE_CACHE_PLUGIN": "ansible.builtin.jsonfile",
            "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(folder / "facts"),
            "ANSIBLE_LOCAL_TEMP": str(self.temporary / "local"), "ANSIBLE_REMOTE_TEMP": str(self.temporary / "remote"),
            "TMPDIR": str(self.temporary)}

    def run(self, playbook, *arguments, **options):
        """Run a playbook and see that no secret is anywhere; return the run."""
        watch = Watch(self._secrets, self.temporary)
        watch.start()
        try:
            run = self._lab.playbook(playbook, "-vvv", "--diff", *arguments, environment=self._environment, **options)
        finally:
            watch.stop()
        assert any(b"metal3.baremetal.%b" % playbook.encode() in seen_arguments.split(b"\0")
                   for seen_arguments in watch.arguments), f"the watch was too late for {playbook}"
        self.files.update(watch.files)
        assert watch.found == set()
        assert seen(self._secrets, run.output.encode()) == []
        written = [path for path in self._folder.rglob("*") if path.is_file()]
        assert set(path.relative_to(self._folder).parts[0] for path in written) >= {
            "results", "junit", "tree", "ansible.log"}
        assert [(path, name) for path in written for name in seen(self._secrets, path.read_bytes())] == []
        return run


@pytest.fixture
def observed(lab, secrets, tmp_path):
    return Observed(lab, secrets, tmp_path)


def test_the_lab_and_its_site(observed):
    whole = observed.run("lab").ok()
    assert whole.changed() == 0, whole.output


def test_enrolling(lab, observed):
    changes = observed.run("enroll", "-e", '{"bmh_labels": {"canary": "yes"}}').ok()
    back = observed.run("enroll").ok()
    assert changes.changed() == back.changed() == len(lab.servers)
    observed.run("lint").ok()
    assert observed.files, "Ansible wrote no temporary file in the given folder"


def test_data_for_a_server(lab, observed):
    data = {"bmh_user_data": f"# {CANARY}\n", "bmh_meta_data": {"token": CANARY}, "bmh_network_data": {
        "links": [], "networks": [], "services": [], "comment": CANARY}}
    arguments = ("provision", "--limit", SERVER, "-i", lab.inventory({SERVER: data}))
    expected = observed.run(*arguments, "--check").ok()
    changes = observed.run(*arguments).ok()
    back = observed.run("provision").ok()
    assert expected.changed() == changes.changed() == back.changed() == 1
    assert lab.state(SERVER) == "provisioned"


def described(lab, folder, **changes):
    """Write an inventory of a cluster whose machines find no host, and return its path."""
    canary = CLUSTER_CANARIES
    options = {
        "files": [{"path": "/etc/same", "content": f"# {canary['file']}\n"},
                  {"path": "/etc/other", "content": canary["file"]}],
        "users": [{"name": "me", "passwd": canary["password"]}],
        "pre_commands": [f"login --password {canary['command']}"],
        "metadata": {"strings": [{"key": "a", "value": canary["meta data"]}]},
        "init_configuration": {"bootstrapTokens": [{"token": canary["token"]}]},
        "cluster_configuration": {"apiServer": {"extraEnvs": [{"name": "A", "value": canary["variable"]}]}},
        "kubelet_extra_args": {"proxy": f"http://me:{canary['argument']}@198.18.0.2"}}
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    variables = {
        "cluster_endpoint": {"host": prefix + ".12"}, "cluster_networks": {},
        "cluster_image": {"url": f"https://me:{canary['image']}@images.example.org/a.raw", "checksum": "0" * 64},
        "cluster_control_plane": {"replicas": 1, "host_selector": {"rack": "nowhere"}},
        "cluster_workers": {"pool-a": {"replicas": 1, "host_selector": {"rack": "nowhere"}}},
        "cluster_options": dict(options, **changes), "cluster_network_addon": "none",
        "cluster_wait_for": "none",
        "cluster_check_hosts": False, "cluster_check_network": False,
        "cluster_workload_kubeconfig": ""}
    path = folder / "clusters.json"
    path.write_text(json.dumps({"clusters": {"hosts": {CLUSTER: variables}}}))
    return path


@pytest.fixture
def inventories(tmp_path_factory):
    """A folder that is not looked into: inventories hold what they hold."""
    return tmp_path_factory.mktemp("inventories")


@pytest.fixture
def _no_cluster_afterwards(lab, inventories):
    yield
    lab.playbook("teardown", "-i", described(lab, inventories), "-e", "metal3_confirm=" + CLUSTER).ok()


@pytest.mark.usefixtures("_no_cluster_afterwards")
def test_a_cluster(lab, observed, inventories):
    cluster = ("cluster", "-i", described(lab, inventories))
    expected = observed.run(*cluster, "--check").ok()
    changes = observed.run(*cluster).ok()
    assert expected.changed() == changes.changed() == 1
    assert observed.run(*cluster).ok().changed() == 0
    plane = lab.kube.get(KNOWN["KubeadmControlPlane"], NAMESPACE, CLUSTER + "-control-plane")
    # What is not found anywhere has been written, and is read again for each difference.
    for place in ("file", "password", "command", "variable", "token", "argument"):
        assert CLUSTER_CANARIES[place] in json.dumps(plane["spec"]), place
    described(lab, inventories, files=[
        {"path": "/etc/same", "content": f"# {CLUSTER_CANARIES['file']}\n"},
        {"path": "/etc/other", "content": CLUSTER_CANARIES["new file"]}])
    differs = observed.run(*cluster, "--check").ok()
    assert differs.changed() == 1 and "(hidden, changed)" in differs.output
    described(lab, inventories, init_configuration={"bootstrapTokens": [{"token": CLUSTER_CANARIES["wrong token"]}]})
    # The webhook quotes it.
    observed.run(*cluster).failed("KubeadmControlPlane", "the bootstrap token", "(hidden)", "was not of the form")


@pytest.mark.parametrize("arguments, text", [
    (("-e", '{"bmc_username": "", "bmh_online": "maybe"}'), "maybe"),
    (("-e", "metal3_kubeconfig=/nowhere"), "/nowhere"),
    (("-e", "metal3_namespace=No_Namespace"), "No_Namespace"),
], ids=["values", "kubeconfig", "refused"])
def test_failed_tasks(observed, arguments, text):
    observed.run("enroll", *arguments).failed(text)


def test_the_watch_finds_secrets(lab, secrets, tmp_path):
    """What the other tests did not find, they would have found."""
    (tmp_path / "open").write_text(CANARY)
    (tmp_path / "closed").touch(0o600)
    (tmp_path / "closed").write_text(CANARY)
    watch = Watch(secrets, tmp_path)
    watch.start()
    os.chmod(tmp_path / "open", 0o644)
    lab.playbook("lab_status", "-e", f"nothing={CANARY}", forked=False).ok()
    watch.stop()
    assert set(name for dummy, name in watch.found) == {"user data"}
    places = set(place for place, dummy in watch.found)
    assert tmp_path / "open" in places and tmp_path / "closed" not in places
    assert any(isinstance(place, bytes) for place in places)


def test_no_process_has_a_secret_among_its_arguments(secrets):
    looked_at = list(processes())
    assert looked_at
    assert [program for program, arguments in looked_at if seen(secrets, arguments)] == []


def test_no_log_has_a_secret(lab, secrets):
    logs = [path for folder in ("log", "machines") for path in (lab.dir / folder).rglob("*")
            if path.is_file() and (folder == "log" or path.suffix == ".log")]
    assert logs
    for path in logs:
        assert seen(secrets, path.read_bytes()) == [], path
