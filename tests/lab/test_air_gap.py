# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane on a machine without a network but its own: from one archive, by an unprivileged user.

Upstream's registries are one on this machine with images of the lab's programs, under upstream's names. No lab takes
part; of the machine see systemd_machine.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import plain_registry
import pytest
import systemd_machine
from plane_operator import HOME, PROGRAMS, UNIT, USER, Operator, add_user, linger
from support import REPOSITORY, eventually, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import container_image, oci_layout
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import registry as lab_registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.program_images import program_images

pytestmark = [pytest.mark.nodes, pytest.mark.air_gap]

PORT = 5000
FILES, BILL = f"{HOME}/images", f"{HOME}/bill.json"


@pytest.fixture(scope="module")
def upstream(tmp_path_factory):
    """A registry that has the images of all programs."""
    built = module("plane_programs", source_dir=str(REPOSITORY / "lab" / "engine"), cache_dir=user_folders.cache_dir())
    folder, layouts = tmp_path_factory.mktemp("upstream"), {}
    for image in program_images(built["versions"]):
        layouts[image.reference] = str(folder / image.program)
        program = container_image.File(image.path, os.path.join(built["engine_dir"], "bin", image.program))
        oci_layout.write(layouts[image.reference], [program], [image.path], os.uname().machine)
    # Nobody asks for it here.
    login = folder / "login"
    login.write_text("anybody")
    with plain_registry.running(folder) as registry:
        lab_registry.push(
            lab_registry.Registry(f"https://{registry.host}", registry.ca, str(login), str(login)), layouts)
        yield SimpleNamespace(host=registry.host, ca=registry.ca, engine_dir=built["engine_dir"], images=list(layouts))


@pytest.fixture(scope="module")
def archive(upstream, tmp_path_factory):
    """The archive, gathered where upstream is reached: its path and its checksum."""
    folder = tmp_path_factory.mktemp("archive")
    requirements = str(REPOSITORY / "lab" / "requirements.txt")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--require-hashes", "--only-binary", ":all:", "-r", requirements, "-d", str(folder / "wheels")],
                   check=True, timeout=300)
    variables = {"mirror_archive": str(folder / "metal3.tar"), "mirror_parts": [], "mirror_programs": True,
                 "mirror_manifests": True, "mirror_folders": [str(folder / "wheels")],
                 "mirror_source_registry": upstream.host, "mirror_ca_file": upstream.ca}
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-playbook"), "metal3.baremetal.mirror_gather", "-e",
         json.dumps(variables)], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    checksum = next(word for word in done.stdout.replace('"', " ").split() if word.startswith("mirror_checksum="))
    return SimpleNamespace(path=variables["mirror_archive"], checksum=checksum.partition("=")[2])


@pytest.fixture(scope="module")
def machine(archive, tmp_path_factory):
    """The site's machine, with a registry of its own that is empty."""
    folder = tmp_path_factory.mktemp("site")
    configuration, certificate = plain_registry.configure(folder, PORT)
    with systemd_machine.Machine(tmp_path_factory.mktemp("machine")) as found:
        found.start()
        add_user(found)
        linger(found)
        for parent in (*Path(archive.path).parents, *Path(certificate).parents):
            found.run("chmod", "o+x", str(parent))
        # It is unpacked beside itself, by the user whose it is there.
        found.run("chown", f"{USER}:", str(Path(archive.path).parent))
        found.run("systemd-run", "--unit=registry", "docker-registry", "serve", str(configuration))
        eventually(lambda: found.run("bash", "-c", f"echo > /dev/tcp/127.0.0.1/{PORT}", check=False).returncode == 0,
                   60, "the site's registry")
        yield SimpleNamespace(run=found.run, ca=certificate)


@pytest.fixture(scope="module")
def operator(machine):
    """Somebody who has neither programs nor Python packages."""
    found = Operator(machine, USER, HOME)
    for name in ("METAL3_SERVICES_PYTHON", "PATH"):
        del found.environment[name]
    found.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=FILES)
    return found


@pytest.fixture(scope="module")
def variables(machine):
    return {
        "management_plane": {"mode": "process", "name": "rack1", "dir": f"{HOME}/plane",
                             "address": systemd_machine.ADDRESS, "manifests_dir": FILES},
        "bootstrap_plane_programs": "images", "bootstrap_plane_image_registry": f"127.0.0.1:{PORT}",
        "bootstrap_plane_image_ca_file": machine.ca, "bootstrap_plane_image_bill_file": BILL}


def test_nothing_is_reached_and_what_is_missing_is_named(machine, operator, upstream):
    assert machine.run("ip", "route", "show", "default").stdout == ""
    done = operator.run("skopeo", "inspect", "docker://" + upstream.images[0], check=False)
    assert done.returncode and "lookup" in done.stderr


def test_the_archive_is_all_that_a_plane_needs(machine, operator, archive, variables):
    unpack = {"mirror_archive": archive.path, "mirror_checksum": archive.checksum, "mirror_files_dir": FILES,
              "mirror_bill_file": BILL, "mirror_registry": f"127.0.0.1:{PORT}", "mirror_ca_file": machine.ca}
    began = time.monotonic()
    assert operator.playbook("mirror_unpack", **unpack).changed() == 1
    unpacked = time.monotonic()
    assert operator.playbook("mirror_unpack", **unpack).changed() == 0
    began_again = time.monotonic()
    run = operator.playbook("install", **variables)
    print(f"unpacked in {unpacked - began:.0f} s, installed in {time.monotonic() - began_again:.0f} s")
    assert "taking kube-apiserver out of registry.k8s.io/kube-apiserver:" in run
    assert operator.engine.startswith(f"{HOME}/.cache/metal3.baremetal/engine/images-")
    assert operator.systemctl("is-active", UNIT).stdout == "active\n"
    assert {user for user, _command in operator.processes()} == {USER}
    assert "baremetalhosts.metal3.io" in operator.kubectl("get", "crds")
    assert operator.playbook("install", **variables).changed() == 0


def test_programs_are_those_of_upstreams_images(machine, operator, upstream):
    for program in ("etcd", "kube-apiserver", "baremetal-operator", "cluster-api-provider-metal3"):
        taken = operator.run("sha256sum", f"{operator.engine}/bin/{program}").stdout.split()[0]
        assert taken == machine.run("sha256sum", f"{upstream.engine_dir}/bin/{program}").stdout.split()[0]
    recorded = json.loads(operator.run("cat", f"{operator.engine}/images.json").stdout)
    bill = json.loads(operator.run("cat", BILL).stdout)
    assert recorded == dict((entry["name"], entry["digest"]) for entry in bill["images"])


def test_the_bill_is_there_in_both_forms_that_others_read(archive, upstream):
    for name, names in (("bill.spdx.json", lambda found: [item["name"] for item in found["packages"]]),
                        ("bill.cdx.json", lambda found: [item["name"] for item in found["components"]])):
        done = subprocess.run(["tar", "-xOf", archive.path, name], capture_output=True, check=True)
        found = set(names(json.loads(done.stdout)))
        images = {image.rpartition(":")[0] for image in upstream.images}
        assert images and images <= found
        assert any(item.startswith("ironic-") and item.endswith(".whl") for item in found)
        assert any(item.startswith("plane-manifests-capm3.") for item in found)


def test_it_is_removed_as_any_plane(machine, operator, variables):
    operator.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}", **variables)
    assert operator.processes() == []
