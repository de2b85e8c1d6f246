"""A server's RAID controller: its volumes, those that wait for a boot, and what the server sees as disks.

A drive that is part of a volume is no disk of the server; the volume stands where its first drive was, so that it has
that drive's name.
"""
from __future__ import annotations

import copy

from . import raid

CREATE, DELETE = "create", "delete"
# By its registered vendor, unlike a drive.
WWN_PREFIX = "0x600605"
REFUSED = "the controller could not initialize the volume"


class RaidController:
    """The controller.

    :param spec: the server's entry in ``servers.json``
    :param drives: list of its Disks
    :param make_disk: callable that returns a Disk for an entry like a drive's and the name of its file
    :param knobs: the server's Knobs
    :param saved: what dump() returned earlier
    """

    def __init__(self, spec, drives, make_disk, knobs, saved=None):
        saved = saved or {}
        self._spec = spec
        self._drives = drives
        self._make_disk = make_disk
        self._knobs = knobs
        self._last = saved.get("last", 0)
        # Each has id, raid_type, drives (serials, in the server's order), size_gib and name.
        self.volumes = saved.get("volumes", [])
        # Changes that the next boot makes: operation, the volume (or its id) and the number of the BMC's task.
        self._pending = saved.get("pending", [])
        self._disks = {volume["id"]: self._disk(volume) for volume in self.volumes}

    def dump(self):
        """Return what the next one needs, as plain data."""
        return copy.deepcopy({"last": self._last, "volumes": self.volumes, "pending": self._pending})

    @property
    def taken(self):
        """Serials of the drives that are part of a volume."""
        return {serial for volume in self.volumes for serial in volume["drives"]}

    @property
    def pending(self):
        """Number of changes that wait for the next boot."""
        return len(self._pending)

    def volume(self, number):
        """Return a volume.

        :raises KeyError: without one of that number
        """
        for volume in self.volumes:
            if volume["id"] == number:
                return volume
        raise KeyError(number)

    def create(self, planned):
        """Make a volume of empty drives and return it.

        :param planned: what raid.planned() returned
        :raises raid.RaidError: when a drive has become part of another one meanwhile, or as the knob asks
        """
        if self._knobs.get("raid_refused"):
            raise raid.RaidError(REFUSED)
        if self.taken.intersection(planned["drives"]):
            raise raid.RaidError("a drive is part of another volume by now")
        self._last += 1
        order = [drive.spec["serial"] for drive in self._drives]
        volume = dict(planned, id=str(self._last), name=planned["name"] or f"Volume {self._last}",
                      drives=sorted(planned["drives"], key=order.index))
        self.volumes.append(volume)
        self._disks[volume["id"]] = self._disk(volume)
        self._clear(volume)
        return volume

    def delete(self, number):
        """Take a volume apart; its drives are empty.

        :raises KeyError: without one of that number
        """
        volume = self.volume(number)
        self._clear(volume)
        self.volumes.remove(volume)
        del self._disks[number]

    def postpone(self, operation, subject, task):
        """Keep a change for the next boot.

        :param operation: CREATE or DELETE
        :param subject: what raid.planned() returned, or a volume's number
        :param task: number of the BMC's task
        """
        self._pending.append({"operation": operation, "subject": subject, "task": task})

    def boot(self):
        """Make the changes that waited, and return for each the number of its task and its error, empty for none."""
        waiting, self._pending = self._pending, []
        return [(change["task"], self._make(change)) for change in waiting]

    def _make(self, change):
        try:
            (self.create if change["operation"] == CREATE else self.delete)(change["subject"])
        except raid.RaidError as error:
            return str(error)
        except KeyError:
            return f"there is no volume {change['subject']}"
        return ""

    def survives(self, drive):
        """Return whether the server keeps all its disks without one drive.

        :param drive: a Disk
        """
        return any(drive.spec["serial"] in volume["drives"] and raid.survives_one(volume["raid_type"])
                   for volume in self.volumes)

    def disks(self, gone=None):
        """Return the Disks that the server sees, in the order of its drives.

        :param gone: a drive that is not there
        """
        starts = {volume["drives"][0]: volume for volume in self.volumes}
        found = []
        for drive in self._drives:
            serial = drive.spec["serial"]
            volume = starts.get(serial)
            if volume and (gone is None or gone.spec["serial"] not in volume["drives"] or self.survives(gone)):
                found.append(self._disks[volume["id"]])
            elif serial not in self.taken and drive is not gone:
                found.append(drive)
        return found

    def _clear(self, volume):
        for disk in [self._disks[volume["id"]]] + [
                drive for drive in self._drives if drive.spec["serial"] in volume["drives"]]:
            disk.discard()

    def _disk(self, volume):
        drives = [drive.spec for drive in self._drives if drive.spec["serial"] in volume["drives"]]
        number = int(volume["id"])
        return self._make_disk({
            "name": drives[0]["name"], "size_gib": volume["size_gib"],
            "rotational": any(drive["rotational"] for drive in drives), "vendor": drives[0]["vendor"],
            "model": f"{volume['raid_type']} volume", "serial": f"{self._spec['serial']}V{number:02d}",
            "wwn": f"{WWN_PREFIX}{self._spec['uuid'].replace('-', '')[:8]}{number % 256:02x}",
            "hctl": f"0:2:{number}:0"}, f"volume-{number}.raw")
