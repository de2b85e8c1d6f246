# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of logs: what is in it, what it is refused for, and what could not be read."""
from __future__ import annotations

import io
import json
import os
import tarfile

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args
from fakes.api_server import ApiServer, status
from fakes.log_plane import FORBIDDEN, NAMESPACE, NO_PREVIOUS, Plane, definition, host, namespace, pod, secret, texts

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._logs import contents, folders
from ansible_collections.metal3.baremetal.plugins.modules import plane_logs

PASSWORD = "bmc-Pa55-word"
MEBIBYTE = 1024 ** 2


@pytest.fixture
def dest(tmp_path):
    return tmp_path / "gathered"


@pytest.fixture
def process_dir(tmp_path):
    """Return the folder of a plane of processes."""
    folder = tmp_path / "plane"
    for name in ("log/deploy", "secrets/bmc/server-01"):
        (folder / name).mkdir(parents=True)
    (folder / "log" / "bmo.log").write_text(f"of bmo, {PASSWORD}\n")
    (folder / "log" / "bmo.log.1").write_text("rotated\n")
    (folder / "secrets" / "bmc" / "server-01" / "password").write_text(f"{PASSWORD}\n")
    (folder / "secrets" / "bmc" / "server-01" / "username").write_text("root-user\n")
    return folder


# What is in it

def test_logs_events_and_objects_have_their_places(dest):
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {},
                  "metadata": {"name": "manager", "namespace": NAMESPACE}}
    event = {"apiVersion": "v1", "kind": "Event", "reason": "BackOff", "lastTimestamp": "2026-01-02T00:00:00Z",
             "metadata": {"name": "e2", "namespace": NAMESPACE}}
    first = dict(event, lastTimestamp="2026-01-01T00:00:00Z", metadata=dict(event["metadata"], name="e1"))
    plane = Plane(host(managedFields=[{"manager": "m"}]), deployment, event, first, secret("s", password=PASSWORD),
                  pod(containers=("manager", "proxy"), init=("prepare",), restarts=2),
                  logs={"manager": "of manager\n", "manager previous": "it ended\n", "prepare": "prepared\n"})
    result = plane.collect(dest)
    found = texts(dest)
    logs = f"pods/{NAMESPACE}/manager-1"
    assert found[f"{logs}/manager.log"] == "of manager\n"
    assert found[f"{logs}/manager.previous.log"] == "it ended\n"
    assert found[f"{logs}/prepare.log"] == "prepared\n"
    assert [item["metadata"]["name"] for item in yaml.safe_load(found[f"events/{NAMESPACE}.yaml"])] == ["e1", "e2"]
    stored = yaml.safe_load(found["objects/BareMetalHost.metal3.io/metal3.h1.yaml"])
    assert stored["spec"] == {"online": True} and "managedFields" not in stored["metadata"]
    assert set(found) == {
        *(f"{logs}/{name}.log" for name in ("manager", "manager.previous", "proxy", "proxy.previous", "prepare")),
        f"events/{NAMESPACE}.yaml", "objects/BareMetalHost.metal3.io/metal3.h1.yaml",
        f"objects/Deployment.apps/{NAMESPACE}.manager.yaml", f"objects/Pod/{NAMESPACE}.manager-1.yaml", "summary.yaml"}
    assert result["files"] == [{"path": path, "bytes": len(text.encode())} for path, text in sorted(found.items())]
    assert result["changed"] and result["dest"] == str(dest) and result["warnings"] == []
    summary = yaml.safe_load(found["summary.yaml"])
    assert summary["collection"] == {"name": "metal3.baremetal", "version": "0.1.0"}
    assert summary["api_server"]["version"] == "v1.35.4"
    assert summary["namespaces"] == ["metal3", NAMESPACE] and summary["not_read"] == []


def test_parts_in_namespaces_of_the_sites_choice_are_gathered_too(dest):
    image = "quay.io/metal3-io/ironic:v35.0.0"
    deployments = [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": name},
                    "spec": {"template": {"spec": {"containers": [{"name": "a", "image": used}]}}}}
                   for name, used in (("metal", image), ("website", "example.org/website:1"))]
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("metal", "website")]
    Plane(*deployments, *spaces).collect(dest)
    found = texts(dest)
    assert "objects/Deployment.apps/metal.metal.yaml" in found
    assert not any("website" in name for name in found)


def test_the_kubelet_is_asked_for_times_and_for_what_is_recent(dest):
    plane = Plane(pod(restarts=1))
    plane.collect(dest, since_seconds=3600)
    assert sorted((query["container"], query.get("previous", "")) for query in plane.asked) == [
        ("manager", ""), ("manager", "true")]
    for query in plane.asked:
        assert (query["timestamps"], query["sinceSeconds"]) == ("true", "3600")
        assert query["limitBytes"] == str(MEBIBYTE + 1) and "tailLines" not in query


def test_a_container_that_was_not_started_again_has_no_previous_log():
    assert list(contents.logs_of(pod())) == [contents.Log(NAMESPACE, "manager-1", "manager", False)]


def test_of_a_kind_the_stored_version_is_read_and_what_is_in_no_namespace_too():
    versions = [{"name": "v1alpha1", "served": False, "storage": False},
                {"name": "v1beta1", "served": True, "storage": False},
                {"name": "v1beta2", "served": True, "storage": True}]
    wide = definition("runtime.cluster.x-k8s.io", "extensionconfigs", "ExtensionConfig", "Cluster")
    wide["spec"]["versions"] = versions
    found, = contents.kinds([wide, definition("example.org", "others", "Other")])
    assert (found.version, found.namespaced) == ("v1beta2", False)
    versions[2]["served"] = False
    assert contents.kinds([wide])[0].version == "v1beta1"


def test_only_the_user_can_read_it(dest):
    old = os.umask(0)
    try:
        Plane(host(), pod()).collect(dest)
    finally:
        os.umask(old)
    assert dest.stat().st_mode & 0o777 == 0o700
    for path in dest.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_check_mode_reads_all_and_writes_nothing(dest, tmp_path, process_dir):
    plane = Plane(host(), pod(), secret("s", password=PASSWORD), logs={"manager": f"{PASSWORD}\n"})
    before = sorted(tmp_path.rglob("*"))
    planned = plane.collect(dest, check_mode=True, process_dir=str(process_dir))
    assert sorted(tmp_path.rglob("*")) == before
    done = plane.collect(dest, process_dir=str(process_dir))
    # The times of the summary are others.
    assert [item["path"] for item in planned["files"]] == [item["path"] for item in done["files"]]
    assert planned["hidden"] == done["hidden"] == 2 and planned["changed"] and planned["dest"] == str(dest)


# Where it may be

@pytest.mark.parametrize("there, found", [
    ("link", "a symbolic link"), ("slash", "a symbolic link"), ("file", "a file"),
    ("full", "a folder with files in it")])
def test_another_place_is_refused_before_anything_is_read(dest, tmp_path, there, found):
    target = tmp_path / "target"
    target.mkdir()
    if there in ("link", "slash"):
        dest.symlink_to(target)
    elif there == "file":
        dest.write_text("")
    else:
        dest.mkdir()
        (dest / "mine").write_text("")
    plane = Plane(host())
    with pytest.raises(RefusedError, match=f"dest: found {found}, expected no such file"):
        plane.collect(f"{dest}/" if there == "slash" else dest)
    assert plane.requests == [] and list(target.iterdir()) == []


def test_a_folder_of_another_user_is_refused(dest, monkeypatch):
    dest.mkdir()
    monkeypatch.setattr(folders.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(RefusedError, match="a folder of another user"):
        Plane().collect(dest)


def test_an_empty_folder_is_taken_and_closed_to_others(dest):
    dest.mkdir(mode=0o755)
    Plane(host()).collect(dest)
    assert dest.stat().st_mode & 0o777 == 0o700 and (dest / "summary.yaml").is_file()


def test_a_link_that_comes_meanwhile_is_not_followed(dest, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    folder = folders.NewFolder(str(dest))
    folder.create()
    (dest / "pods").symlink_to(target)
    (dest / "summary.yaml").symlink_to(target / "mine")
    for path in ("pods/a.log", "summary.yaml"):
        with pytest.raises(OSError):
            folder.write(path, b"x")
    folder.close()
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("option, value", [
    ("since_seconds", 0), ("limit_mebibytes", 0), ("namespaces", ["../kube-system"])])
def test_an_option_that_makes_no_sense_is_refused(dest, option, value):
    with pytest.raises(RefusedError, match=option):
        Plane().collect(dest, **{option: value})
    assert not dest.exists()


# Names are data

HOSTILE = ("../../../escaped", "..", ".", "/etc/cron.d/x", "a\0b", "a\nb", "..\\..\\x", "n" * 300)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_of_a_container_does_not_leave_the_folder(dest, tmp_path, name):
    before = set(tmp_path.iterdir())
    Plane(pod(containers=(name,)), logs={name: "of it\n"}).collect(dest)
    logs = [path for path in dest.rglob("*.log") if path.read_text() == "of it\n"]
    assert len(logs) == 1 and logs[0].resolve().is_relative_to(dest / "pods" / NAMESPACE / "manager-1")
    assert set(tmp_path.iterdir()) - before == {dest}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_of_a_pod_or_an_object_does_not_leave_the_folder(name):
    paths = contents.Paths()
    kinds = contents.kinds([definition("metal3.io", "x", name), definition(f"{name}.metal3.io", "x", "K")])
    found = [paths.of_log(contents.Log(name, name, name, True)), paths.of(("events",), name, ".yaml"),
             *(paths.of_object({"metadata": {"name": name, "namespace": name}}, kind) for kind in kinds)]
    for path in found:
        for part in path.split("/"):
            assert part.strip(".") and len(part) < 255 and not set(part) - set(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"), path


def test_a_pod_that_cannot_be_one_is_left_out(dest):
    bad = pod()
    plane = Plane(pod("good"), logs={"manager": "x\n"})
    answer = plane.answer

    def with_bad(request):
        if request.path.endswith("/pods"):
            listed = [dict(bad, metadata={"name": "../../escaped", "namespace": "../.."})]
            return status(200, "", "")._replace(content=json.dumps({"metadata": {}, "items": listed}).encode())
        return answer(request)

    plane.answer = with_bad
    result = plane.collect(dest)
    assert any("escaped" in text for text in result["warnings"])
    assert all((dest / item["path"]).is_file() for item in result["files"])


def test_two_names_that_become_one_are_two_files():
    paths = contents.Paths()
    assert [paths.of(("x",), name, ".log") for name in ("a/b", "a:b", "A_B", "a.previous")] == [
        "x/a_b.log", "x/a_b-2.log", "x/A_B-3.log", "x/a.previous.log"]
    assert paths.of_log(contents.Log("n", "p", "c.previous", False)) == "pods/n/p/c.previous.log"
    assert paths.of_log(contents.Log("n", "p", "c", True)) == "pods/n/p/c-2.previous.log"


# Long logs

def lines(count, size=100):
    return "".join(f"{number:08d} {'x' * (size - 10)}\n" for number in range(count))


def test_of_a_long_log_the_newest_part_is_kept(dest):
    text = lines(30000)
    plane = Plane(pod(), logs={"manager": text})
    plane.collect(dest)
    written = (dest / "pods" / NAMESPACE / "manager-1" / "manager.log").read_text()
    assert MEBIBYTE / 2 < len(written) <= MEBIBYTE
    assert text.endswith(f"\n{written}")
    summary = yaml.safe_load((dest / "summary.yaml").read_text())
    assert summary["shortened"] == [f"pods/{NAMESPACE}/manager-1/manager.log"]


def test_a_server_that_sends_more_than_it_is_asked_for_is_not_read_to_the_end(dest, monkeypatch):
    plane = Plane(pod(), logs={"manager": PASSWORD + lines(100000)}, obedient=False)
    plane.collect(dest)
    written = (dest / "pods" / NAMESPACE / "manager-1" / "manager.log").read_text()
    assert 0 < len(written) <= MEBIBYTE and set(map(len, written.splitlines())) == {99}
    # Half a secret would not be found.
    assert PASSWORD[1:] not in written


def test_one_line_that_is_too_long_is_left_out(dest):
    Plane(pod(), logs={"manager": "x" * 3 * MEBIBYTE}).collect(dest)
    assert (dest / "pods" / NAMESPACE / "manager-1" / "manager.log").read_text() == ""


def test_what_is_no_utf8_is_replaced(dest):
    Plane(pod(), logs={"manager": b"a\xff\xfeb\n"}).collect(dest)
    assert (dest / "pods" / NAMESPACE / "manager-1" / "manager.log").read_text() == "a��b\n"


# What cannot be read

def test_one_log_that_cannot_be_read_is_a_warning(dest):
    plane = Plane(pod(restarts=1), logs={"manager": "of manager\n", "manager previous": NO_PREVIOUS})
    warning, = plane.collect(dest)["warnings"]
    assert "manager.previous.log: not read: " in warning and "previous terminated container not found" in warning
    assert (dest / "pods" / NAMESPACE / "manager-1" / "manager.log").read_text() == "of manager\n"
    assert not (dest / "pods" / NAMESPACE / "manager-1" / "manager.previous.log").exists()
    assert len(yaml.safe_load((dest / "summary.yaml").read_text())["not_read"]) == 1


def test_logs_that_nobody_may_read_are_one_warning(dest):
    plane = Plane(pod("a"), pod("b"), pod("c"), logs={"manager": FORBIDDEN})
    warning, = plane.collect(dest)["warnings"]
    assert " and 2 more: not read: " in warning


def test_without_the_secrets_a_warning_says_what_was_hidden(dest):
    plane = Plane(pod(), secret("s", password=PASSWORD), refused={"/secrets": FORBIDDEN},
                  logs={"manager": f"{PASSWORD} http://user:in-a-url@192.0.2.1/\n"})
    warning, = plane.collect(dest)["warnings"]
    assert warning.startswith("Secrets of namespace metal3 and 1 more: not read: their values are not known")
    assert "look through the files before you pass them on" in warning and "verb list on secrets" in warning
    assert texts(dest)[f"pods/{NAMESPACE}/manager-1/manager.log"] == f"{PASSWORD} http://(hidden)@192.0.2.1/\n"


@pytest.mark.parametrize("code, end", [(500, "/secrets"), (404, "/secrets"), (500, "/pods"), (500, "/baremetalhosts")])
def test_without_an_answer_nothing_is_written(dest, code, end):
    """What the Secrets have must be known, or be known not to be readable."""
    plane = Plane(pod(), host(), secret("s", password=PASSWORD),
                  refused={end: status(code, "InternalError", "etcdserver: request timed out")})
    with pytest.raises(KubeError):
        plane.collect(dest)
    assert not dest.exists()


@pytest.mark.parametrize("fault", [FORBIDDEN, status(404, "NotFound", "could not find the requested resource")])
def test_a_kind_that_cannot_be_read_is_a_warning(dest, fault):
    warning, = Plane(host(), refused={"/hardwaredata": fault}).collect(dest)["warnings"]
    assert warning.startswith("HardwareDatas of namespace metal3 and 1 more: not read: ")
    assert (dest / "objects" / "BareMetalHost.metal3.io" / "metal3.h1.yaml").is_file()


def test_who_must_not_read_definitions_gets_the_known_kinds(dest):
    result = Plane(host(), refused={"/customresourcedefinitions": FORBIDDEN}).collect(dest)
    assert any(text.startswith("CustomResourceDefinitions: not read: only kinds") for text in result["warnings"])
    assert (dest / "objects" / "BareMetalHost.metal3.io" / "metal3.h1.yaml").is_file()


def test_a_namespace_that_is_not_there_is_named_if_the_user_has_named_it(dest):
    warning, = Plane().collect(dest, namespaces=["metal3", "metal4"])["warnings"]
    assert warning.startswith("namespace metal4: not read: found none on http")
    # Nobody has named those of the other parts.
    assert yaml.safe_load((dest / "summary.yaml").read_text())["namespaces"] == ["metal3", NAMESPACE]


def test_who_must_not_ask_for_namespaces_asks_for_what_is_in_them(dest):
    plane = Plane(host())
    answer = plane.answer
    plane.answer = lambda request: FORBIDDEN if request.path.startswith("/api/v1/namespaces/") and \
        request.path.count("/") == 4 else answer(request)
    assert plane.collect(dest)["warnings"] == []
    assert (dest / "objects" / "BareMetalHost.metal3.io" / "metal3.h1.yaml").is_file()


# A plane of processes

def archive(**members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as packed:
        for name, content in members.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def test_logs_of_processes_and_of_the_deploy_agent_are_read(dest, process_dir):
    deploy = process_dir / "log" / "deploy"
    journal = f"it has {PASSWORD}\n".encode()
    (deploy / "n1.tar.gz").write_bytes(archive(journal=journal, x__lsblk=b"sda\n", core=b"\0\1"))
    (deploy / "plain.txt").write_text("plain\n")
    (deploy / "old.txt").write_text("old\n")
    os.utime(deploy / "old.txt", (0, 0))
    (deploy / "other.gz").write_bytes(b"\x1f\x8b\0\0")
    result = Plane().collect(dest, process_dir=str(process_dir))
    found = texts(dest)
    del found["summary.yaml"]
    assert found == {"process/bmo.log": "of bmo, (hidden)\n", "process/deploy/n1.tar.gz/journal": "it has (hidden)\n",
                     "process/deploy/n1.tar.gz/x/lsblk": "sda\n", "process/deploy/plain.txt": "plain\n"}
    assert result["hidden"] == 2
    assert result["warnings"] == [
        "log/deploy/n1.tar.gz: core and 1 more: not read: it is no text, in which secrets could be hidden"]


def test_an_archive_that_becomes_large_is_left(dest, process_dir):
    (process_dir / "log" / "deploy" / "n1.tar.gz").write_bytes(archive(a=b"a\n", bomb=b"\n" * 8 * MEBIBYTE, c=b"c\n"))
    result = Plane().collect(dest, process_dir=str(process_dir))
    assert texts(dest)["process/deploy/n1.tar.gz/a"] == "a\n"
    assert "process/deploy/n1.tar.gz/bomb" not in texts(dest)
    assert "not all of it" in result["warnings"][0]


def test_names_that_are_a_file_and_a_folder_at_once_do_not_end_the_run(dest, process_dir):
    content = archive(a=b"a\n", a__b=b"b\n", c=b"c\n")
    (process_dir / "log" / "deploy" / "n1.tar.gz").write_bytes(content)
    result = Plane().collect(dest, process_dir=str(process_dir))
    found = texts(dest)
    assert found["process/deploy/n1.tar.gz/a"] == "a\n" and found["process/deploy/n1.tar.gz/c"] == "c\n"
    assert "log/deploy/n1.tar.gz: a/b: not read: its name has no place" in result["warnings"][0]


def test_a_member_of_an_archive_does_not_leave_the_folder(dest, process_dir, tmp_path):
    (process_dir / "log" / "deploy" / "n1.tar.gz").write_bytes(archive(**{"..__..__..__..__escaped": b"x\n"}))
    Plane().collect(dest, process_dir=str(process_dir))
    assert not list(tmp_path.rglob("escaped")) or all(path.is_relative_to(dest) for path in tmp_path.rglob("escaped"))
    assert "x\n" in texts(dest).values()


def test_a_name_in_an_archive_that_is_no_utf8_does_not_end_the_run(dest, process_dir):
    """Whoever booted on the provisioning network kept the logs of the plane from being gathered."""
    (process_dir / "log" / "deploy" / "n1.tar.gz").write_bytes(archive(**{"core\udcff": b"\0\1", "a": b"a\n"}))
    result = Plane().collect(dest, process_dir=str(process_dir))
    assert texts(dest)["process/deploy/n1.tar.gz/a"] == "a\n" and "it is no text" in result["warnings"][0]
    assert "core\\udcff" in texts(dest)["summary.yaml"].lower()


def test_of_a_long_log_of_a_process_the_newest_part_is_kept(dest, process_dir):
    text = PASSWORD + lines(30000)
    (process_dir / "log" / "bmo.log").write_text(text)
    Plane().collect(dest, process_dir=str(process_dir))
    written = texts(dest)["process/bmo.log"]
    assert MEBIBYTE - 100 < len(written) <= MEBIBYTE and text.endswith(f"\n{written}")


def test_links_in_the_plane_s_folder_are_not_followed(dest, process_dir, tmp_path):
    secret_file = tmp_path / "elsewhere.log"
    secret_file.write_text("not of the plane\n")
    (process_dir / "log" / "link.log").symlink_to(secret_file)
    (process_dir / "log" / "deploy" / "link.txt").symlink_to(secret_file)
    (process_dir / "log" / "deploy" / "folder").symlink_to(tmp_path)
    os.mkfifo(process_dir / "log" / "pipe.log")
    Plane().collect(dest, process_dir=str(process_dir))
    assert set(texts(dest)) == {"process/bmo.log", "summary.yaml"}


def test_a_folder_of_logs_that_is_a_link_is_not_followed(dest, process_dir):
    (process_dir / "log").rename(process_dir / "other")
    (process_dir / "log").symlink_to(process_dir / "other")
    result = Plane().collect(dest, process_dir=str(process_dir))
    assert set(texts(dest)) == {"summary.yaml"} and "expected a folder; correct process_dir" in result["warnings"][0]


def test_secrets_that_cannot_be_read_end_the_run(dest, process_dir):
    (process_dir / "secrets").rename(process_dir / "other")
    (process_dir / "secrets").symlink_to(process_dir / "other")
    with pytest.raises(ReportedError, match=r"secrets: .*; correct process_dir or dest"):
        Plane().collect(dest, process_dir=str(process_dir))
    assert not dest.exists()


def test_a_plane_without_secrets_of_its_own_is_read(dest, tmp_path):
    (tmp_path / "p" / "log").mkdir(parents=True)
    (tmp_path / "p" / "log" / "a.log").write_text("a\n")
    assert Plane().collect(dest, process_dir=str(tmp_path / "p"))["warnings"] == []
    assert texts(dest)["process/a.log"] == "a\n"


def test_a_folder_that_is_not_there_ends_the_run(dest, tmp_path):
    with pytest.raises(ReportedError, match="none: No such file"):
        Plane().collect(dest, process_dir=str(tmp_path / "none"))
    assert not dest.exists()


# The module

def test_the_module_returns_it_all(dest, capsys, tmp_path):
    with ApiServer([namespace("metal3"), host()]) as server, pytest.raises(SystemExit), patch_module_args({
            "host": server.url, "api_key": "the-token-of-the-user", "dest": f"{dest}", "release": "9.9.9",
            "_ansible_remote_tmp": str(tmp_path)}):
        plane_logs.main()
    answer = json.loads(capsys.readouterr().out)
    assert answer["changed"] and answer["server"] == server.url and answer["dest"] == str(dest)
    assert [item["path"] for item in answer["files"]] == ["summary.yaml"]
    assert yaml.safe_load((dest / "summary.yaml").read_text())["collection"]["version"] == "9.9.9"
