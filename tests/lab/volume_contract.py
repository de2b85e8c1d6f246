# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports as JSON what sushy, and Ironic's RAID interface on top of it, make of a simulated BMC's volumes.

Run by the Python of the services with a folder for the servers: ``volume_contract.py FOLDER``.
"""
from __future__ import annotations

import json
import sys
from types import SimpleNamespace

from contract_server import PATH, UUID, connected, spec, started
from ironic.drivers.modules.redfish import raid as ironic_raid

GIB = 1024 ** 3
NODE = SimpleNamespace(uuid=UUID)
TASK = SimpleNamespace(node=NODE)
SIZES_GIB = (10, 10, 10, 20)


def named(*drives, controller="RAID.1"):
    """Return the part of a volume's description that names its drives."""
    return {"controller": controller, "physical_disks": list(drives)}


def drives():
    """Return three drives alike and one that is larger."""
    return [{"name": f"/dev/sd{'abcd'[number]}", "size_gib": size, "rotational": False, "vendor": "LAB",
             "model": "SSD", "serial": f"D{number}", "wwn": f"0x{number + 1}", "hctl": f"0:0:{number}:0"}
            for number, size in enumerate(SIZES_GIB)]


class Story:
    """What is asked of the BMC, one thing after the other."""

    def __init__(self, folder):
        self.server, url = started(folder, spec(disks=drives()))
        self._client = connected(url)
        ironic_raid.redfish_utils.get_system = lambda node: self.system()
        ironic_raid.redfish_utils.get_task_monitor = lambda node, path: self._client.get_task_monitor(path)

    def system(self):
        """Return the system as sushy reads it now."""
        return self._client.get_system(PATH)

    def volumes(self):
        """Return the volumes as sushy reads them now."""
        storage, = self.system().storage.get_members()
        return [{"id": volume.identity, "name": volume.name, "raid_type": volume.raid_type.value,
                 "gib": volume.capacity_bytes / GIB} for volume in storage.volumes.get_members()]

    def drives(self):
        """Return the drives as sushy reads them now."""
        storage, = self.system().storage.get_members()
        return [{"id": drive.identity, "gib": drive.capacity_bytes / GIB, "media": drive.media_type,
                 "protocol": drive.protocol.value, "serial": drive.serial_number,
                 # sushy takes an empty list for a missing one.
                 "volumes": [link["@odata.id"].rpartition("/")[2] for link in drive.json["Links"]["Volumes"]]}
                for drive in storage.drives]

    def disks(self):
        """Return what an agent finds: name → size in GiB."""
        return dict((disk.name, disk.size / GIB) for disk in self.server.present_disks())

    def create(self, **wanted):
        """Let Ironic choose drives for a volume, as its clean step does, and make it; return its answer."""
        logical = [dict(wanted)]
        ironic_raid.convert_drive_units(logical, NODE)
        drives, storages = ironic_raid.get_physical_disks(NODE)
        found, = ironic_raid._find_configuration(logical, drives, storages)
        return ironic_raid.create_virtual_disk(
            TASK, found.get("controller"), found["physical_disks"], found["raid_level"], found["size_bytes"],
            disk_name=found.get("volume_name"))

    def refused(self, **wanted):
        """Return the words in which Ironic reports that a volume can't be made."""
        try:
            self.create(**wanted)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def delete(self):
        """Delete all volumes as Ironic's clean step does, and return its answers."""
        answers = []
        for storage in self.system().storage.get_members():
            time = ironic_raid.RedfishRAID()._get_apply_time(storage.volumes.operation_apply_time_support)
            answers += [volume.delete(apply_time=time) for volume in storage.volumes.get_members() if volume.raid_type]
        return answers

    def monitored(self, monitor):
        """Return what Ironic's periodic task reads of a task monitor."""
        seen = self._client.get_task_monitor(monitor.task_monitor_uri)
        if seen.is_processing:
            return "processing"
        task = seen.get_task()
        return {"state": task.task_state.value, "health": task.task_status.value,
                "messages": [message.message for message in task.messages]}

    def goes_on(self, monitor):
        """Return whether Ironic's periodic task waits on for a task."""
        return ironic_raid.RedfishRAID()._raid_config_in_progress(TASK, monitor.task_monitor_uri, "create")


def tell(folder):
    """Return all that is reported."""
    story, told = Story(folder), {}
    controller = story.system().storage.get_members()[0]
    told["controller"] = {"id": controller.identity, "raid_types": [
        kind.value for kind in controller.storage_controllers[0].raid_types]}
    told["drives"], told["disks"] = story.drives(), story.disks()
    made = story.create(raid_level="1", size_gb=8, number_of_physical_disks=2, volume_name="root")
    told["at once"] = {"id": made.identity, "volumes": story.volumes(), "disks": story.disks(),
                       "drives": story.drives()}
    told["refused"] = {"in use": story.refused(raid_level="0", size_gb="MAX", **named("D0"))}
    told["deleted"] = {"answers": story.delete(), "volumes": story.volumes(), "disks": story.disks()}
    told["refused"].update({
        "three for a pair": story.refused(raid_level="1", size_gb="MAX", **named("D0", "D1", "D2")),
        "zero": story.refused(raid_level="1", size_gb=0, **named("D1", "D2")),
        "number": story.refused(raid_level="1", size_gb=5, number_of_physical_disks=3),
        "unknown drive": story.refused(raid_level="0", size_gb="MAX", **named("D9")),
        "no size": story.refused(raid_level="1", size_gb="MAX"),
        "too large": story.refused(raid_level="1", size_gb=11, **named("D1", "D2")),
        "odd": story.refused(raid_level="5+0", size_gb="MAX", **named("D0", "D1", "D2")),
        "level 2": story.refused(raid_level="2", size_gb=5)})
    story.server.set_knobs({"raid_refused": True})
    told["refused"]["knob"] = story.refused(raid_level="0", size_gb="MAX", **named("D3"))
    story.server.set_knobs({"raid_refused": False})
    told["unknown controller"] = story.create(
        raid_level="0", size_gb="MAX", **named("D3", controller="RAID.9")).identity
    story.delete()
    told["at boot"] = at_boot(story)
    return told


def at_boot(story):
    """Return what is reported of a controller that changes its volumes at the next boot."""
    told = {}
    story.server.set_knobs({"raid_at_boot": True})
    monitor = story.create(raid_level="5", size_gb="MAX", **named("D2", "D1", "D0"))
    told["before"] = [story.monitored(monitor), story.volumes()]
    story.server.restart()
    told["after"] = [story.monitored(monitor), story.volumes(), story.disks()]
    monitor, = story.delete()
    told["deletion before"] = [story.monitored(monitor), len(story.volumes())]
    story.server.restart()
    told["deletion after"] = [story.monitored(monitor), story.volumes()]
    monitor = story.create(raid_level="0", size_gb="MAX", **named("D3"))
    story.server.set_knobs({"raid_refused": True})
    story.server.restart()
    told["failed"] = [story.monitored(monitor), story.volumes(), story.goes_on(monitor)]
    return told


if __name__ == "__main__":
    print(json.dumps(tell(sys.argv[1])))
