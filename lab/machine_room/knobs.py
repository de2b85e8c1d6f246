"""What can be asked of a server at run time, failures most of all."""
from __future__ import annotations

import threading

# Name → type and what it does.
KNOBS = {
    "bmc_unreachable": (bool, "the BMC drops every connection without an answer"),
    "bmc_unauthorized": (bool, "the BMC answers 401 to every credential"),
    "bmc_unavailable": (bool, "the BMC answers 503"),
    "lockout_threshold": (int, "wrong passwords in a row after which the BMC's account is locked for a while"),
    "slow_password": (int, "seconds that pass between a new password of the BMC's account and the answer to it"),
    "password_ignored": (bool, "the BMC accepts a new password, and the old one goes on to count"),
    "made_by_dell": (bool, "the BMC says that the server is Dell's; nothing else of it is as with Dell"),
    "slow_power": (int, "seconds that pass between a power request and its effect"),
    "slow_download": (int, "MiB per second at which images arrive"),
    "agent_authorities": (str, "certificates in PEM of the authorities that are built into the agent's ramdisk beside "
                               "the lab's"),
    "agent_never_calls_back": (bool, "the agent boots, but never reaches Ironic"),
    "agent_dies_in_deploy": (bool, "the agent goes silent in the middle of writing an image"),
    "inspection_without_nics": (bool, "the inspection data has no network interface"),
    "disk_missing": (bool, "the agent finds no disk"),
    "first_disk_missing": (bool, "from the next boot on the first disk is not there"),
    "first_disk_failed": (bool, "the first disk is dead: a simulated system that runs on it gets input/output errors "
                                "at once, no boot and no agent finds it"),
    "disk_too_small": (bool, "every disk has SMALL_DISK_BYTES only"),
    "disks_read_only": (bool, "the disks are write-protected: metadata cleaning passes over them, writing is refused"),
    "raid_refused": (bool, "the RAID controller makes no volume, and says so"),
    "raid_at_boot": (bool, "the RAID controller makes and deletes volumes at the next boot, not at once"),
    "clock_behind": (bool, "from the next boot on the clock of a virtual server is years behind"),
    "cards_flashed_at_boot": (bool, "the BMC begins with the firmware of network cards at the next boot, not at once"),
    "write_error": (bool, "every write to a disk ends in an input/output error"),
}
SMALL_DISK_BYTES = 64 * 1024 * 1024
NUMBER_LIMIT = 3600


def _is_a(kind, value):
    """Return whether a value is of a kind; to Python true is a whole number, here it is not."""
    return isinstance(value, kind) and isinstance(value, bool) == (kind is bool)


class Knobs:
    """The knobs of one server; all are off at first.

    :param values: mapping name → value, what dump() returned earlier
    """

    def __init__(self, values=None):
        self._lock = threading.Lock()
        self._values = {}
        self.set(values or {})

    def get(self, name):
        """Return a knob's value: False, 0 or no text when it is off."""
        return self._values.get(name, KNOBS[name][0]())

    def set(self, values):
        """Set the named knobs; the others stay as they are.

        :param values: mapping name → value
        :raises ValueError: with every mistake, before anything is changed
        """
        errors = []
        for name, value in sorted(values.items()):
            if name not in KNOBS:
                errors.append(f"unknown knob {name}; known are {', '.join(sorted(KNOBS))}")
            elif not _is_a(KNOBS[name][0], value):
                errors.append(f"knob {name}: expected a value like {KNOBS[name][0]()!r}, got {value!r}")
            elif KNOBS[name][0] is int and not 0 <= value <= NUMBER_LIMIT:
                errors.append(f"knob {name}: expected 0 to {NUMBER_LIMIT}")
        if errors:
            raise ValueError("; ".join(errors))
        with self._lock:
            self._values = {name: value for name, value in dict(self._values, **values).items() if value}

    def clear(self):
        """Turn all knobs off."""
        with self._lock:
            self._values = {}

    def dump(self):
        """Return the knobs that are on as a mapping."""
        return dict(self._values)
