# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of the execution environment, built by what ansible-builder writes, and run by ansible-runner and podman.

No registry that the tests use has a base image with dnf, so that the base is Debian, made by mmdebstrap, and the
definition gets another package manager; all else of it is used as it is. The collection comes from the checkout, as
``ansible-galaxy collection build`` makes it, and awx.awx from the package ``ansible``.

Neither buildah nor podman may do here what it does elsewhere: buildah runs its steps in a chroot, and podman starts
containers without control groups of their own, with limits that this machine allows, in the network of the machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import yaml
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import cache_entry, user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root

REPOSITORY = Path(__file__).resolve().parents[2]
DEFINITION = REPOSITORY / "extensions" / "execution_environment" / "execution-environment.yml"
CACHE = Path(user_folders.cache_dir()) / "execution-environment"
BASE, BUILT = "localhost/debian:bookworm", "localhost/metal3-ee:built"
BASE_PACKAGES = ("ca-certificates", "python3", "python3-pip", "python3-venv")
BASE_RECIPE = "\0".join((debian_root.SUITE, os.uname().machine, *BASE_PACKAGES)).encode()
INSTALLED = "/usr/share/ansible/collections"
CERTIFICATES = "/etc/ssl/certs"
BUILD_SECONDS = 3600
# Images of other contents are removed when nobody has built or used them for so long.
KEPT_SECONDS = 24 * 3600
# crun refuses a machine that has control groups of both versions, ansible-navigator one without this folder, which
# other machines have. In a mount namespace of its own.
PREPARED = (
    "if grep -qs . /sys/fs/cgroup/unified/cgroup.controllers; then umount /sys/fs/cgroup/unified; fi; "
    "mkdir -p /dev/mqueue; "
)


def tools() -> Path:
    """Return the programs of requirements-awx.txt, which AWX_TOOLS names where others run the tests."""
    return Path(os.environ.get("AWX_TOOLS") or Path(sys.executable).parent)


def run(arguments: list[str], **options: Any) -> str:
    """Run a program to its end and return what it printed; fail with all of it."""
    found = subprocess.run(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=BUILD_SECONDS,
        stdin=subprocess.DEVNULL, **options
    )  # fmt: skip
    assert found.returncode == 0, f"{' '.join(map(str, arguments))}:\n{found.stdout[-8000:]}"
    return found.stdout


def _definition(collections: list[Path]) -> dict[str, Any]:
    """Return the definition for the base of the tests, with collections from files."""
    found = yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))
    found["images"]["base_image"]["name"] = BASE
    # Debian's Python has no ensurepip; pip is in the base.
    found["options"] = {"package_manager_path": "/usr/bin/apt-get", "skip_pip_install": True}
    found["additional_build_steps"] = {"prepend_base": ["RUN apt-get update"]}
    found["additional_build_files"] = [{"src": str(path), "dest": "collections"} for path in collections]
    found["dependencies"]["galaxy"] = {
        "collections": [{"name": f"collections/{path.name}", "type": "file"} for path in collections]
    }
    return found


def _own_collection(folder: Path) -> Path:
    """Build the collection of the checkout."""
    run([str(tools() / "ansible-galaxy"), "collection", "build", "--output-path", str(folder)], cwd=REPOSITORY)
    (found,) = folder.glob("metal3-baremetal-*.tar.gz")
    return found


def _awx_collection(folder: Path) -> Path:
    """Pack awx.awx as it is installed; the package ``ansible`` leaves out its tests, which its list of files names."""
    (source,) = tools().parent.glob("lib/python*/site-packages/ansible_collections/awx/awx")
    files = json.loads((source / "FILES.json").read_text(encoding="utf-8"))
    files["files"] = [item for item in files["files"] if (source / item["name"]).exists()]
    listed = json.dumps(files).encode()
    manifest = json.loads((source / "MANIFEST.json").read_text(encoding="utf-8"))
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(listed).hexdigest()
    target = folder / f"awx-awx-{manifest['collection_info']['version']}.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        for name, content in (("MANIFEST.json", json.dumps(manifest).encode()), ("FILES.json", listed)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
        for item in files["files"]:
            if item["name"] != ".":
                archive.add(source / item["name"], item["name"], recursive=False)
    return target


def _contents(archive: Path) -> str:
    """Return a digest of what an archive holds; its own bytes differ from build to build by their times."""
    digest = hashlib.sha256()
    with tarfile.open(archive) as opened:
        for member in sorted(opened.getmembers(), key=lambda member: member.name):
            digest.update(f"{member.name} {member.mode:o}\n".encode())
            if member.isfile() and member.name != "MANIFEST.json":
                digest.update(opened.extractfile(member).read())
    return digest.hexdigest()


def _storage(folder: Path) -> list[str]:
    return ["--root", str(folder / "storage"), "--runroot", str(folder / "run"), "--storage-driver", "overlay"]


def _base() -> Path:
    """Return the archive of the base, made once."""
    folder = CACHE / f"base-{hashlib.sha256(BASE_RECIPE).hexdigest()[:16]}"
    with cache_entry.making(str(folder), Reports()) as partial:
        if partial is not None:
            debian_root.install(os.path.join(partial, "debian.tar"), list(BASE_PACKAGES), partial)
    return folder / "debian.tar"


def _build(folder: Path, definition: dict[str, Any]) -> None:
    """Build the image into a storage of its own."""
    base, buildah = _base(), ["buildah", *_storage(folder)]
    (folder / "execution-environment.yml").write_text(yaml.safe_dump(definition), encoding="utf-8")
    context, pip = folder / "context", folder / "pip.conf"
    run([str(tools() / "ansible-builder"), "create", "--file", str(folder / "execution-environment.yml"), "--context",
         str(context), "--output-filename", "Containerfile"])  # fmt: skip
    pip.write_text(f"[global]\ncert = {CERTIFICATES}/ca-certificates.crt\n", encoding="utf-8")
    container = run([*buildah, "from", "scratch"]).strip()
    run([*buildah, "add", "--quiet", container, str(base), "/"])
    run([*buildah, "config", "--env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", container])
    run([*buildah, "commit", "--quiet", "--rm", container, BASE])
    # This machine's authorities and pip's settings, for as long as the build runs.
    run([*buildah, "build", "--isolation", "chroot", "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro", "--volume",
         f"{pip}:/etc/pip.conf:ro", "--tag", BUILT, "--file", str(context / "Containerfile"),
         str(context)])  # fmt: skip
    shutil.rmtree(context)


def _install(folder: Path, collection: Path, tag: str) -> None:
    """Put the collection of the checkout into the image, when what it was built with is an older one."""
    buildah = ["buildah", *_storage(folder)]
    if subprocess.run([*buildah, "inspect", "--type", "image", tag], capture_output=True, check=False).returncode == 0:
        return
    container = run([*buildah, "from", "--pull-never", BUILT]).strip()
    run([*buildah, "copy", "--quiet", container, str(collection), "/tmp/"])
    run([*buildah, "run", "--isolation", "chroot", "--user", "root", container, "--", "sh", "-c",
         f"ansible-galaxy collection install --offline --force --collections-path {INSTALLED} /tmp/{collection.name} "
         f"&& rm -rf /tmp/{collection.name} ~/.ansible"])  # fmt: skip
    run([*buildah, "commit", "--quiet", "--rm", container, tag])


class ExecutionImage:
    """The image, with the collection of the checkout, built when the cache has none of the same definition and needs.

    :param work: folder for temporary files
    """

    def __init__(self, work: Path) -> None:
        own, awx = _own_collection(work), _awx_collection(work)
        recipe = hashlib.sha256(DEFINITION.read_bytes() + BASE_RECIPE + awx.name.encode())
        for path in sorted((REPOSITORY / "meta").iterdir()):
            recipe.update(path.read_bytes())
        self.folder = CACHE / f"image-{recipe.hexdigest()[:16]}"
        CACHE.mkdir(parents=True, exist_ok=True)
        for old in CACHE.glob("image-*[0-9a-f]"):
            if old != self.folder and time.time() - old.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(old)
        with cache_entry.making(str(self.folder), Reports()) as partial:
            if partial is not None:
                _build(Path(partial), _definition([own, awx]))
        os.utime(self.folder)
        self.name = f"localhost/metal3-ee:{_contents(own)[:16]}"
        _install(self.folder, own, self.name)
        # What a developer has set must neither help nor hinder.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        self.environment = {**inherited, **self._settings(work)}

    def _settings(self, work: Path) -> dict[str, str]:
        """Write what podman starts containers with here, and return the variables that name it."""
        storage, containers = work / "storage.conf", work / "containers.conf"
        storage.write_text(
            "[storage]\n"
            f'driver = "overlay"\ngraphroot = "{self.folder / "storage"}"\nrunroot = "{self.folder / "run"}"\n',
            encoding="utf-8",
        )
        containers.write_text(
            "[containers]\n"
            'cgroups = "disabled"\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\nnetns = "host"\n'
            'log_driver = "k8s-file"\n'
            '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "crun"\n',
            encoding="utf-8",
        )
        return {"CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_CONF": str(containers)}

    def contained(self, *arguments: str) -> list[str]:
        """Return a command that starts a program which starts podman."""
        return ["unshare", "--mount", "sh", "-c", PREPARED + 'exec "$@"', "sh", *arguments]

    def program(self, *arguments: str) -> str:
        """Run a program in the image, as its own user, without a network, and return what it prints."""
        return run(self.contained("podman", "run", "--rm", "--network", "none", self.name, *arguments),
                   env=self.environment)  # fmt: skip

    def play(
        self, private: Path, name: str, *options: str, arguments: tuple[str, ...] = (), seconds: int = 900
    ) -> tuple[int, str]:
        """Run a playbook of the collection in the image by ansible-runner, as AWX does; return exit code and output.

        :param private: the runner's private folder, with inventory, env and project
        :param name: name of the playbook in the project's folder ``playbooks``
        :param options: of podman
        :param arguments: of ansible-playbook
        """
        command = [
            str(tools() / "ansible-runner"), "run", str(private), "--playbook", f"playbooks/{name}.yml",
            "--ident", name,
            "--process-isolation", "--process-isolation-executable", "podman", "--container-image", self.name,
            "--container-volume-mount", f"{private / 'project'}:/runner/project:ro",
            *([f"--cmdline={' '.join(arguments)}"] if arguments else []),
            # AWX gives this one, too.
            "--container-option=--user=root", *(f"--container-option={option}" for option in options)]  # fmt: skip
        found = subprocess.run(
            self.contained(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            timeout=seconds, stdin=subprocess.DEVNULL, env=self.environment)  # fmt: skip
        return found.returncode, found.stdout


def private_folder(folder: Path, inventory: dict[str, Any], variables: dict[str, str], environment: dict[str, str],
                   files: dict[str, str] | None = None) -> Path:  # fmt: skip
    """Make what AWX gives to ansible-runner: project, inventory, extra variables and credentials.

    :param inventory: content of ``hosts.json``
    :param variables: answers of a survey
    :param environment: variables of credentials
    :param files: name → content of credentials that are files, which are ``/runner/env/<name>`` in the container
    """
    names = run(["git", "ls-files", "-co", "--exclude-standard", "playbooks", "roles"], cwd=REPOSITORY).splitlines()
    for name in names:
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, folder / "project" / name)
    written = {"inventory/hosts.json": json.dumps(inventory), "env/extravars": json.dumps(variables),
               "env/envvars": json.dumps(environment)}  # fmt: skip
    written.update((f"env/{name}", content) for name, content in (files or {}).items())
    for name, content in written.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
        (folder / name).chmod(0o600)
    return folder


def results(private: Path, name: str, action: str) -> list[dict[str, Any]]:
    """Return the results of a module from the events of a job, as Automation Platform's count of nodes reads them."""
    events = [json.loads(path.read_text(encoding="utf-8"))
              for path in (private / "artifacts" / name / "job_events").glob("*.json")]  # fmt: skip
    return [event["event_data"]["res"] for event in sorted(events, key=lambda event: event["counter"])
            if event["event"].startswith("runner_on_") and "res" in event["event_data"]
            and event["event_data"].get("resolved_action") == action]  # fmt: skip


def navigator_settings(image: ExecutionImage) -> dict[str, Any]:
    """Return the settings beside the definition, with the image of the tests, which is on this machine only."""
    found = yaml.safe_load((DEFINITION.parent / "ansible-navigator.yml").read_text(encoding="utf-8"))
    environment = found["ansible-navigator"]["execution-environment"]
    environment["image"] = image.name
    environment["pull"]["policy"] = "never"
    environment["container-engine"] = "podman"
    return found
