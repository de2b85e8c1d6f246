# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell blocks of the guides and the README, run in the order of the pages on the lab.

What the comments before the blocks mean is in ``tooling.guide_blocks``. The guides' site ``inventory/mysite`` is taken
from their YAML blocks; replaced is what the lab can't have as written: names of servers, BMCs, credentials, and the URL
and checksum of images.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import readme_site
import yaml
from bmc_system import credential
from support import REPOSITORY
from tooling.guide_blocks import DOCSITE, SHELL, blocks

# The guides' servers. rack1-03 is the one with an image of its own.
NAMES = {"rack1-01": "server-01", "rack1-02": "server-02", "rack1-03": "server-03", "rack2-01": "server-04"}


def yaml_of(page, title):
    """Return the YAML block of a guide that begins with a comment with its file's name."""
    text, = (block.text for block in blocks(DOCSITE / "rst" / f"{page}.rst")
             if block.language == "yaml" and block.text.startswith(f"# {title}\n"))
    return yaml.safe_load(text)


def write_site(lab, folder):
    """Write the guides' site for the lab into a folder."""
    site = folder / "inventory" / "mysite"
    for name in ("host_vars", "group_vars"):
        (site / name).mkdir(parents=True)
    described = yaml_of("own_servers", "inventory/mysite/hosts.yml")["baremetal"]["hosts"]
    hosts = readme_site.servers(lab, NAMES.values())
    hosts["server-03"].update(bmh_root_device_hints={"rotational": False})
    for pattern, servers in (("rack1-[01:02]", ("server-01", "server-02")), ("rack2-[01:05]", ("server-04",))):
        for name in servers:
            hosts[name].update(described[pattern])
    deployed = yaml_of("own_servers", "inventory/mysite/host_vars/rack1-03.yml")
    deployed["bmh_image"] = readme_site.image(lab, "lab.raw", "raw")
    common = dict(yaml_of("existing_metal3", "inventory/mysite/group_vars/all.yml"), **readme_site.connection(lab))
    firmware = yaml_of("day2", "inventory/mysite/group_vars/baremetal.yml")
    assert yaml_of("day2", "inventory/mysite/group_vars/all.yml") == {"ironic_nodes_cloud": "metal3"}
    common.update(ironic_nodes_cloud="metal3-lab", ironic_nodes_clouds_file=str(lab.dir / "clouds.yaml"))
    rack = yaml_of("own_servers", "rack1.yml")
    server = lab.servers["server-01"]
    port = int(re.search(r":(\d+)/", server["bmc"]["address"])[1])
    rack.update(discover_addresses=["127.0.0.1"], discover_ports=[port],
                vault_bmc_username=credential(server, "username"), vault_bmc_password=credential(server, "password"))
    for path, content in ((site / "hosts.yml", {"baremetal": {"hosts": hosts}}), (folder / "rack1.yml", rack),
                          (site / "host_vars" / "server-03.yml", deployed), (site / "group_vars" / "all.yml", common),
                          (site / "group_vars" / "baremetal.yml", firmware),
                          (folder / "hosts.metal3.yml", yaml_of("existing_metal3", "hosts.metal3.yml"))):
        path.write_text(yaml.safe_dump(content))


def as_the_lab_leaves_them(lab):
    """Enrol the hosts by the lab's own inventory, with no label of the guides', and deploy the one with an image."""
    lab.playbook("enroll", "-e", "enroll_preflight=none").ok()
    # The guides' image has the same URL and other user and network data.
    lab.playbook("provision", "-e", "hosts_reprovision=true", "-e", "metal3_confirm=1").ok()


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """A folder with the guides' site; afterwards the hosts are as the lab leaves them."""
    folder = tmp_path_factory.mktemp("guides")
    write_site(lab, folder)
    yield folder
    as_the_lab_leaves_them(lab)


def run(lab, folder, text, exported):
    """Run a block by a shell, with what earlier blocks of its page have exported."""
    for name, server in NAMES.items():
        text = text.replace(name, server)
    # As in the shell of a user who has followed the first steps.
    prelude = "set -eu -o pipefail\nmake() { command make -C \"$REPOSITORY\" \"$@\"; }\n"
    prelude += 'eval "$(make -s lab-env)"\nexport PATH="$ANSIBLE_BIN:$PATH"\n' + "".join(exported)
    environment = dict((key, value) for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS")))
    environment.update(REPOSITORY=str(REPOSITORY), ANSIBLE_BIN=str(Path(sys.executable).parent), LAB=lab.name)
    return subprocess.run(["bash", "-c", prelude + text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)


def commands(text):
    """Return a block's commands, each with the lines that continue it."""
    return re.findall(r"(?:.*\\\n)*.*\n", text)


# The other blocks are those of other tests, or of none.
HERE = [block for block in SHELL if block.kind in ("run", "refused")]
# Dozens of commands each.
LONG = ("own_servers", "day2", "troubleshooting")


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[pytest.mark.guides] if page in LONG else [])
    for page in dict.fromkeys(block.page for block in HERE)])
def test_the_commands_of_a_page_do_what_it_says(lab, site, page):
    exported, at_home = [], page == "first_steps"
    if page in ("day2", "troubleshooting"):
        # The page's servers are enrolled, and one of them runs what the inventory says.
        deploy = "ansible-playbook metal3.baremetal.{} -i inventory/mysite\n"
        done = run(lab, site, deploy.format("enroll") + deploy.format("provision"), [])
        assert done.returncode == 0, done.stdout
    for block in HERE:
        if block.page != page:
            continue
        for text in [block.text] if block.kind == "run" else commands(block.text):
            done = run(lab, REPOSITORY if at_home else site, text, exported)
            if block.kind == "run":
                assert done.returncode == 0, f"{text}\n{done.stdout}"
            else:
                assert done.returncode != 0, f"expected a refusal: {text}\n{done.stdout}"
                assert "To continue, set metal3_confirm=1." in " ".join(done.stdout.split()), done.stdout
        exported += [line for line in commands(block.text) if line.startswith(("export ", "eval "))]
