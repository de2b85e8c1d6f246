"""One simulated server: power, boot settings, and what runs on it."""
from __future__ import annotations

import os
import threading

from . import access_log, network_cards, state
from .agent import TOKEN_PARAMETER, Agent
from .console import Console
from .disk import Disk
from .disk_boot import BootError
from .firmware import FirmwareError, from_cd, from_network
from .knobs import Knobs
from .raid_controller import RaidController

ON, OFF = "On", "Off"
AGENT, SYSTEM, NOTHING = "agent", "system", "nothing"
BY_HTTP = "UefiHttp"
NETWORK_DEVICES = ("Pxe", BY_HTTP)
NO_DEVICE = "None"
# Redfish's BootSourceOverrideEnabled.
ALWAYS, ONCE, NEVER = "Continuous", "Once", "Disabled"
# Redfish BootProgress.LastState.
NOT_BOOTING, HARDWARE_READY, SYSTEM_STARTED = "None", "SystemHardwareInitializationComplete", "OSBootStarted"
FACTORY_FIRMWARE = {"bios": "1.0.0", "bmc": "1.00"}
# What the task of a firmware that counts after the next boot says until then, as Redfish's TaskState: it waits for that
# boot, it was written, or the BMC has not begun. Ironic 39 boots a server for a network card after the latter two.
STAGED, WRITTEN, NOT_BEGUN = "Pending", "Completed", "Starting"
# Redfish ResetType → what to do.
RESET_TYPES = {
    "On": "power_on",
    "ForceOn": "power_on",
    "ForceOff": "power_off",
    "GracefulShutdown": "soft_off",
    "GracefulRestart": "restart",
    "ForceRestart": "restart",
    "PowerCycle": "restart",
}


class Server:
    """A server; its BMC, its agent and the API act on it from different threads.

    :param spec: its entry in ``servers.json``
    :param settings: the machine room's Settings
    :param web: a Web
    :param disk_boot: a DiskBoot
    """

    # Whether its firmware reads a boot URI itself.
    boots_by_http = False
    # Whether its BMC knows a boot device for the next boot only; others take each for all boots, as sushy-tools does.
    boots_once = False
    # Whether what runs on it sees at once that a volume has taken the place of drives.
    swaps_disks = True

    def __init__(self, spec, settings, web, disk_boot):
        self.spec = spec
        self.name = spec["name"]
        self.uuid = spec["uuid"]
        self.settings = settings
        self.web = web
        self._disk_boot = disk_boot
        self.folder = os.path.join(settings.machines_dir, self.name)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._state_file = os.path.join(self.folder, "state.json")
        self.console = Console(os.path.join(self.folder, "console.log"))
        self.access = access_log.AccessLog(os.path.join(self.folder, access_log.FILE))
        # Reentrant: a disk boot may call system_ended() from within soft_off().
        self.lock = threading.RLock()
        self._pending = None
        self.agent = None
        saved = state.load(self._state_file)
        self.knobs = Knobs(saved.get("knobs"))
        self.drives = [self._disk(disk, os.path.basename(disk["name"]) + ".raw") for disk in spec["disks"]]
        self.raid = RaidController(spec, self.drives, self._disk, self.knobs, saved.get("raid"))
        self.power = saved.get("power", OFF)
        self.boot_device = saved.get("boot_device", "Hdd")
        # How long the boot device counts: Redfish's BootSourceOverrideEnabled.
        self.boot_override = saved.get("boot_override", ALWAYS)
        self.boot_mode = saved.get("boot_mode", "UEFI")
        self.secure_boot = saved.get("secure_boot", False)
        self.boot_images = saved.get("boot_images", {})
        self.http_boot_uri = saved.get("http_boot_uri")
        self.bios = saved.get("bios", {})
        # What is to count after the next boot.
        self.bios_pending = saved.get("bios_pending", {})
        self.firmware = {**FACTORY_FIRMWARE, **network_cards.factory_firmware(spec), **saved.get("firmware", {})}
        self.firmware_staged = saved.get("firmware_staged", {})
        self.tasks = saved.get("tasks", {})
        self.subscriptions = saved.get("subscriptions", {})
        # What the BMC's account must remember, see account.py.
        self.account = saved.get("account", {})
        self.bmc_account = None
        self.on_power_change = None
        self.runs = saved.get("runs", NOTHING)
        self.boots = saved.get("boots", 0)
        self._resume(saved.get("agent"))

    def _disk(self, spec, file_name):
        return Disk(spec, os.path.join(self.folder, "disks", file_name), self.knobs)

    @property
    def disks(self):
        """The Disks that the server sees while all its drives are there: volumes in the place of their drives."""
        return self.raid.disks()

    def _resume(self, agent):
        if self.power == ON and self.runs == AGENT:
            self.console.print("the machine room was restarted; the agent goes on")
            self.agent = Agent.restored(self, agent)
            self.agent.start()
        elif self.power == ON and self.runs == SYSTEM and not self._disk_boot.is_running(self):
            self.console.print("the machine room was restarted; the operating system is gone")
            self.system_ended(False)

    def save(self):
        """Keep what a restart of the machine room must not lose."""
        with self.lock:
            state.save(self._state_file, {
                "power": self.power,
                "boot_device": self.boot_device,
                "boot_override": self.boot_override,
                "boot_mode": self.boot_mode,
                "secure_boot": self.secure_boot,
                "boot_images": self.boot_images,
                "http_boot_uri": self.http_boot_uri,
                "bios": self.bios,
                "bios_pending": self.bios_pending,
                "firmware": self.firmware,
                "firmware_staged": self.firmware_staged,
                "tasks": self.tasks,
                "raid": self.raid.dump(),
                "subscriptions": self.subscriptions,
                "account": self.account,
                "runs": self.runs,
                "boots": self.boots,
                "knobs": self.knobs.dump(),
                "agent": self.agent.dump() if self.agent else None,
            })

    @property
    def boot_progress(self):
        """How far the boot is, as the BMC reports it: a Redfish BootProgress.

        Firmware that finds nothing to boot counts as started too: it has handed over to its last boot option.
        """
        with self.lock:
            if self.power == OFF:
                return NOT_BOOTING
            return HARDWARE_READY if self.agent and not self.agent.system_started else SYSTEM_STARTED

    def configure(self, **values):
        """Set what a BMC keeps: boot_device, boot_override, boot_mode, secure_boot, boot_images, http_boot_uri,
        bios_pending, subscriptions, account."""
        with self.lock:
            for name, value in values.items():
                setattr(self, name, value)
            self.save()

    def set_boot_device(self, device, override=None):
        """Set what the next boots are from.

        :param device: Redfish's BootSourceOverrideTarget
        :param override: Redfish's BootSourceOverrideEnabled; None keeps it
        """
        kept = override or self.boot_override
        self.configure(boot_device=device, boot_override=kept if self.boots_once else ALWAYS)

    def reset(self, reset_type):
        """Do what a Redfish ResetType says; a later request replaces one that slow_power still holds back.

        :raises KeyError: for an unknown type
        """
        action = getattr(self, RESET_TYPES[reset_type])
        with self.lock:
            self.console.print("BMC: reset %s", reset_type)
            if self._pending:
                self._pending.cancel()
                self._pending = None
            delay = self.knobs.get("slow_power")
            if delay:
                self._pending = threading.Timer(delay, action)
                self._pending.daemon = True
                self._pending.start()
            else:
                action()

    def power_on(self):
        """Switch on and boot; nothing happens if it is on already, so there is never a second agent."""
        with self.lock:
            if self.power == ON:
                return
            self.power = ON
            self.boots += 1
            self._boot()
            self.save()
            self._report_power()

    def power_off(self):
        """Switch off; what ran is gone when this returns."""
        with self.lock:
            if self.power == OFF:
                return
            self._stop()
            self.power = OFF
            self.console.print("power off")
            self.save()
            self._report_power()

    def soft_off(self):
        """Press the power button: a running operating system shuts down, everything else is cut off."""
        with self.lock:
            if self.power == ON and self.runs == SYSTEM:
                self._disk_boot.soft_off(self)
            else:
                self.power_off()

    def restart(self):
        """Cut the power and switch on again."""
        with self.lock:
            self.power_off()
            self.power_on()

    def system_ended(self, reboot):
        """Note that the operating system ended by itself.

        :param reboot: whether it wants to be started again
        """
        with self.lock:
            if self.runs != SYSTEM:
                return
            self.console.print("operating system: %s", "reboot" if reboot else "power off")
            self._disk_boot.hard_off(self)
            self.runs = NOTHING
            if reboot:
                self.boots += 1
                self._boot()
            else:
                self.power = OFF
            self.save()
            self._report_power()

    def _report_power(self):
        if self.on_power_change:
            self.on_power_change(self)

    def new_task(self, name):
        """Begin a task of the BMC and return its number, a text."""
        with self.lock:
            number = str(len(self.tasks) + 1)
            self.tasks[number] = {"name": name, "state": "Starting", "message": ""}
            self.save()
            return number

    def update_task(self, number, state, message=""):
        """Set a task's Redfish state, and its message when it failed."""
        with self.lock:
            self.tasks[number].update(state=state, message=message)
            self.save()

    def stage_firmware(self, components, version, task, task_state):
        """Keep a firmware for the next boot.

        :param components: what it is flashed to then, keys of ``firmware``
        :param task_state: what its task says until then: STAGED, WRITTEN or NOT_BEGUN
        """
        with self.lock:
            self.console.print("BMC: %s %s waits for the next boot", ", ".join(components), version)
            self.firmware_staged.update({component: {"version": version, "task": task} for component in components})
            self.update_task(task, task_state)

    def flash_firmware(self, component, version, task):
        """Replace a firmware; its task is done."""
        with self.lock:
            self.console.print("flashing %s: %s instead of %s", component, version, self.firmware[component])
            self.firmware[component] = version
            self.update_task(task, "Completed")

    def agent_asks(self, agent, action):
        """Do what the agent asks of its own machine, unless it is no longer the one that runs.

        :param action: ``power_off`` or ``restart``
        """
        with self.lock:
            if self.agent is agent:
                self.console.print("agent: %s", action)
                getattr(self, action)()

    @property
    def raid_waits(self):
        """Whether volumes are made and deleted at the next boot only."""
        return not self.swaps_disks or self.knobs.get("raid_at_boot")

    def present_disks(self):
        """Return the Disks that nobody has pulled."""
        if self.knobs.get("disk_missing"):
            return []
        return self._disks_unless("first_disk_missing", "first_disk_failed")

    def boot_disk(self):
        """Return the first Disk with a partition table, or None."""
        return next((disk for disk in self._disks_unless("first_disk_failed") if disk.has_partitions()), None)

    def _disks_unless(self, *names):
        """Return the Disks that are there, where each of the knobs takes the first drive away."""
        return self.raid.disks(self.drives[0] if self.drives and any(map(self.knobs.get, names)) else None)

    def set_knobs(self, values):
        """Set some knobs, keep them, and let what they do at once happen.

        :raises ValueError: with all that is wrong; nothing is set then
        """
        with self.lock:
            had_failed = self.knobs.get("first_disk_failed")
            self.knobs.set(values)
            self.save()
            if self.knobs.get("first_disk_failed") and not had_failed and self.runs == SYSTEM:
                self.console.print("the first disk has died")
                if not self.raid.survives(self.drives[0]):
                    self._disk_boot.fail_disk(self)

    def _take_over_pending(self):
        if self.bios_pending:
            self.console.print("BIOS: new settings %s", ", ".join(sorted(self.bios_pending)))
            self.bios, self.bios_pending = dict(self.bios, **self.bios_pending), {}
        staged, self.firmware_staged = self.firmware_staged, {}
        for component, firmware in staged.items():
            self.flash_firmware(component, firmware["version"], firmware["task"])
        for task, error in self.raid.boot():
            self.console.print("RAID controller: %s: %s", self.tasks[task]["name"], error or "done")
            self.update_task(task, "Exception" if error else "Completed", error)

    def _take_boot_device(self):
        """Return what this boot is from; what counts for one boot only is used up by it."""
        device = NO_DEVICE if self.boot_override == NEVER else self.boot_device
        if self.boot_override == ONCE:
            self.boot_device, self.boot_override = NO_DEVICE, NEVER
        return device

    def _boot(self):
        self._take_over_pending()
        device = self._take_boot_device()
        self.console.print("power on, boot device %s, boot mode %s", device, self.boot_mode)
        try:
            parameters = self._kernel_parameters(device)
        except FirmwareError as error:
            self.console.print("%s; trying the disk", error)
            parameters = None
        if parameters is not None:
            self._boot_agent(parameters)
            return
        try:
            self._disk_boot.power_on(self)
            self.runs = SYSTEM
        except BootError as error:
            self.runs = NOTHING
            self.console.print("boot failed: %s", error)

    def _kernel_parameters(self, device):
        if device == "Cd":
            return from_cd(self.boot_images.get("Cd"))
        if device in NETWORK_DEVICES:
            return from_network(self.web, self.settings.boot_url, [nic["mac"] for nic in self.spec["nics"]])
        return None

    def _boot_agent(self, parameters):
        for disk in self.disks:
            disk.ensure()
        self.console.print("kernel command line: %s", " ".join(
            f"{name}={value}" for name, value in parameters.items() if name != TOKEN_PARAMETER))
        self.agent = Agent(self, parameters)
        self.runs = AGENT
        self.agent.start()

    def _stop(self):
        if self.agent:
            self.agent.stop()
            self.agent = None
        if self.runs == SYSTEM:
            self._disk_boot.hard_off(self)
        self.runs = NOTHING

    def describe(self):
        """Return what the API says about the server, as plain data."""
        with self.lock:
            return {
                "name": self.name,
                "uuid": self.uuid,
                "power": self.power,
                "boot_device": self.boot_device,
                "boot_mode": self.boot_mode,
                "secure_boot": self.secure_boot,
                "bios_pending": sorted(self.bios_pending),
                "firmware": dict(self.firmware),
                "subscriptions": [known["destination"] for known in self.subscriptions.values()],
                "virtual_media": sorted(device for device, image in self.boot_images.items() if image),
                "runs": self.runs,
                "boots": self.boots,
                "node": self.agent.node_uuid if self.agent else None,
                "knobs": self.knobs.dump(),
                "account": self.bmc_account.describe() if self.bmc_account else None,
                "access_log": self.access.path,
                "disks": [{"name": disk.name, "path": disk.path, "size": disk.size} for disk in self.disks],
                "volumes": self.raid.dump()["volumes"],
            }
