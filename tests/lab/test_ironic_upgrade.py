# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane with an older release of Ironic gets the present one, while it manages two servers.

One of them runs an image. Between the two releases the schema of Ironic's database and its API have changed.
"""
from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess

import pytest
from bootstrap_site import SERVER
from old_site import SECONDS, OldSite, by_virtual_media
from support import HOST, NAMESPACE, REPOSITORY, eventually
from watching import States, Untouched

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import IronicClient
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans

pytestmark = pytest.mark.upgrade

# It is enrolled and gets no image.
SPARE = "server-01"
REQUIREMENTS = REPOSITORY / "tests" / "lab" / "data" / "older_ironic" / "requirements.txt"
# Of the database, and of records in it whose form has changed between the two releases.
SCHEMA, FORM = "SELECT version_num FROM alembic_version", "SELECT DISTINCT version FROM firmware_information"


def release(requirements):
    """Return the version of Ironic in a file of requirements."""
    return re.search(r"(?m)^ironic==(\S+)", requirements.read_text()).group(1)


OLDER, PRESENT = release(REQUIREMENTS), release(REPOSITORY / "lab" / "requirements.txt")


class IronicSite(OldSite):
    """A site that was installed with an older Ironic."""

    def asked(self, statement):
        """Return the first column of what the database answers, as one who only reads it."""
        with contextlib.closing(sqlite3.connect(f"file:{self.dir}/ironic/ironic.db?mode=ro", uri=True)) as connection:
            return [row[0] for row in connection.execute(statement)]

    def api_version(self):
        """Return the newest version that Ironic's API has."""
        client = IronicClient({"cloud": "metal3-lab", "clouds_file": str(self.dir / "clouds.yaml")})
        return tuple(int(number) for number in client.request("GET", "/")["version"]["version"].split("."))

    def environment(self):
        """Return the path of ironic-dbsync in the environment that Ironic runs in, by the program's command."""
        command = self.program("ironic").partition("command=")[2]
        return re.search(r"\S+/bin/python", command).group(0).replace("/bin/python", "/bin/ironic-dbsync").strip("\"'")

    def facts(self):
        """Return what must not change of the hosts, and of their nodes in Ironic."""
        hosts = dict((name, (self.managed(name), self.kube().get(HOST, NAMESPACE, name)["spec"].get("image")))
                     for name in (SERVER, SPARE))
        nodes = dict((node.id, (node.provision_state, node.power_state, node.instance_info.get("image_source"),
                                node.is_maintenance)) for node in self.lab.ironic(self.dir).nodes(details=True))
        return hosts, nodes

    def recorded(self):
        return json.loads((self.dir / "lab.json").read_text())["versions"]["ironic"]


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """A plane with an older Ironic, which has taken over two of the lab's servers and deployed one."""
    for name in (SERVER, SPARE):
        if lab.host(name):
            lab.remove_hosts(name)
    found = IronicSite(lab, tmp_path_factory.mktemp("site"), {
        "bootstrap_plane_services_python": "", "bootstrap_plane_requirements_file": str(REQUIREMENTS)})
    found.hosts[SPARE] = found.server(SPARE)
    found.hosts[SPARE]["bmc_address"] = by_virtual_media(found.hosts[SPARE]["bmc_address"])
    found.install(**found.older).ok()
    assert found.install(**found.older).ok().changed() == 0 and found.recorded() == OLDER
    found.playbook("enroll").ok()
    yield found
    if found.dir.exists():
        orphans.stop_processes(str(found.dir))


@pytest.fixture(scope="module")
def older(site):
    """What the older Ironic says of its API and what its database has, before the first upgrade."""
    return {"api": site.api_version(), "schema": site.asked(SCHEMA), "dbsync": site.environment()}


def test_a_check_names_the_step_the_program_and_the_number_and_writes_nothing(site, older):
    assert len(older["schema"]) == 1 and older["api"] > (1, 90)
    before = site.state()
    run = site.install("--check", "--diff").ok()
    assert f"-ironic {OLDER}" in run.output and f"+ironic {PRESENT}" in run.output
    assert re.search(rf"ironic +{re.escape(OLDER)} +{re.escape(PRESENT)}", run.output)
    # It alone, since nothing else is another version.
    assert "set metal3_confirm=1" in run.output
    assert "program ironic" in run.output and "+restarted: another command" in run.output
    assert "-capi " not in run.output and "program bmo" not in run.output
    assert site.state() == before and site.asked(SCHEMA) == older["schema"]


def test_without_the_number_nothing_is_written(site):
    before = site.state()
    site.install().failed("This upgrades 1 part (ironic): until each is up again", "set metal3_confirm=1")
    site.lab.playbook("site", inventory=site.inventory(), seconds=SECONDS, extra={"metal3_confirm": 1}).failed(
        "This upgrades 1 part (ironic)", "run the playbook metal3.baremetal.install on its own, with it")
    assert site.state() == before


def test_a_host_that_is_worked_on_stops_the_upgrade(site, room):
    before = site.state()
    room.set_knobs(SERVER, slow_download=1)
    try:
        provision = site.start("provision")
        eventually(lambda: site.managed()[2] == "provisioning", 120, f"{SERVER} provisioning")
        site.install(metal3_confirm=1).failed(
            f"found 1 in transition ({NAMESPACE}/{SERVER}: provisioning)", "wait until they have reached their state")
        assert site.state() == before
    finally:
        room.clear_knobs(SERVER)
    provision.finish(SECONDS).ok()
    assert [site.managed(name)[2] for name in (SERVER, SPARE)] == ["provisioned", "available"]


def test_runs_that_are_killed_while_and_after_the_schema_changes_are_taken_up(site, room, older):
    facts, touched, older["form"] = site.facts(), Untouched(site.lab), site.asked(FORM)
    disk = room.disk(SERVER, "sda", length=64 * 1024 * 1024)["digest"]
    mark = site.dir / "ironic" / "database-schema"
    with States(site.kube()) as states:
        running = site.lab.start("install", inventory=site.inventory(), extra={"metal3_confirm": 1})
        eventually((site.dir / "ironic" / "ironic.db.upgrade").exists, 600, "a copy of the database", 0.05)
        running.kill()
        # Only the copy was being changed.
        assert site.asked(SCHEMA) == older["schema"] and site.recorded() == PRESENT
        # Nothing is asked for again.
        running = site.lab.start("install", inventory=site.inventory())
        eventually(lambda: mark.read_text() != older["dbsync"], 600, "the database of the present Ironic", 0.05)
        running.kill()
        assert site.asked(SCHEMA) != older["schema"]
        run = site.install().ok()
    assert run.changed() > 0 and not (site.dir / "ironic" / "ironic.db.upgrade").exists()
    assert site.environment() != older["dbsync"] and mark.read_text() == site.environment()
    assert site.facts() == facts and touched.resets() == {}
    assert room.disk(SERVER, "sda", length=64 * 1024 * 1024)["digest"] == disk
    assert states.looked > 20 and all(len(seen) == 1 for seen in states.found.values()), states.found


def test_api_schema_and_objects_are_those_of_the_present_ironic(site, older):
    assert site.api_version() > older["api"]
    dbsync = site.environment()
    configuration = f"--config-file={site.dir}/ironic/ironic.conf"
    shown = subprocess.run([dbsync, configuration, "version"], check=True, capture_output=True, text=True).stdout
    assert site.asked(SCHEMA) == [shown.split()[-1]]
    # Whatever was to be migrated of the records has been.
    assert len(older["form"]) == len(site.asked(FORM)) == 1 and site.asked(FORM) > older["form"]
    migrated = subprocess.run([dbsync, configuration, "online_data_migrations"], check=True, capture_output=True,
                              text=True).stdout
    found = re.findall(r"migrated (\d+) of (\d+) objects", migrated)
    assert found and set(found) == {("0", "0")}, migrated


def test_a_second_run_changes_nothing(site):
    before = site.state()
    assert site.install().ok().changed() == 0
    assert site.install("--check", "--diff").ok().changed() == 0
    assert site.state() == before


def test_an_older_ironic_is_refused_whatever_is_confirmed(site, older):
    before = site.state()
    for arguments in ((), ("--check", "--diff")):
        site.install(*arguments, **site.older, metal3_confirm=1).failed(
            f'part ironic: version: found "{PRESENT}", expected {OLDER} or older',
            "take the release of the collection, or the Python environment, that it was installed with",
            "Ironic's database cannot go back")
    # Also one whose version nobody knows, by what it knows of schemas.
    python = older["dbsync"].replace("ironic-dbsync", "python")
    program, ironic = REPOSITORY / "roles" / "ironic" / "files" / "database.py", site.dir / "ironic"
    done = subprocess.run([python, str(program), "--plan", older["dbsync"], str(ironic / "ironic.conf"), str(ironic)],
                          check=False, capture_output=True, text=True)
    assert done.returncode and f"found a database with the schema {site.asked(SCHEMA)[0]}" in done.stderr
    assert site.environment() in done.stderr
    assert site.state() == before


def test_the_upgraded_plane_works_on_its_hosts_and_goes(site):
    site.hosts[SPARE]["bmh_image"] = dict(site.host["bmh_image"])
    site.playbook("provision").ok()
    assert site.managed(SPARE)[2] == "provisioned"
    site.playbook("unenroll", "-e", "metal3_confirm=2").ok()
    names = site.programs()
    site.playbook("uninstall", "-e", f"metal3_confirm={len(names)}").ok()
    assert not site.dir.exists() and orphans.processes(str(site.dir)) == []
