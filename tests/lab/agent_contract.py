"""Print, as JSON, what the real deploy agent and the machine room offer to Ironic; run by the agent's Python.

PYTHONPATH names the folder that holds the package machine_room.
"""
from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import re
import sys

# Registers the options that the other modules read while they are loaded.
importlib.import_module("ironic_python_agent.config")

from ironic_python_agent import device_hints, encoding, errors, hardware
from ironic_python_agent.extensions import base

GIB = 1024 ** 3
DISKS = [
    {"name": "/dev/sda", "size": 100 * GIB, "model": "Virtual HDD", "vendor": "LAB", "serial": "A1", "wwn": "0x1",
     "wwn_with_extension": "0x1", "wwn_vendor_extension": None, "rotational": True, "hctl": "0:0:0:0",
     "by_path": "/dev/disk/by-path/pci-0"},
    {"name": "/dev/sdb", "size": 40 * GIB, "model": "Virtual SSD", "vendor": "LAB", "serial": "B2", "wwn": "0x2",
     "wwn_with_extension": "0x2", "wwn_vendor_extension": None, "rotational": False, "hctl": "0:0:1:0",
     "by_path": "/dev/disk/by-path/pci-1"},
    {"name": "/dev/nvme0n1", "size": 400 * GIB, "model": "Fast One", "vendor": "Other", "serial": "C3", "wwn": None,
     "wwn_with_extension": None, "wwn_vendor_extension": None, "rotational": False, "hctl": None, "by_path": None},
]
# As users and the Bare Metal Operator write them.
HINTS = [
    {"name": "s== /dev/sdb"}, {"name": "/dev/sda"}, {"name": "/dev/vda"}, {"hctl": "s== 0:0:1:0"},
    {"model": "<in> virtual"}, {"model": "<in> SSD"}, {"model": "Fast One"}, {"model": "s== virtual ssd"},
    {"vendor": "<in> Other"}, {"vendor": "s!= lab"}, {"serial": "s== C3"}, {"serial": "<or> X9 <or> B2"},
    {"size": ">= 200"}, {"size": "40"}, {"size": "== 100"}, {"size": "<= 50"}, {"size": 400}, {"size": ">= 4000"},
    {"wwn": "s== 0x2"}, {"wwn": "0x3"}, {"rotational": "true"}, {"rotational": False}, {"by_path": "pci-1"},
    {"by_path": "s== /dev/disk/by-path/pci-1"}, {"rotational": "false", "size": ">= 100"},
    {"vendor": "lab", "rotational": "true"}, {"wwn_with_extension": "0x1"}, {"wwn_vendor_extension": "0x1"},
]
SERIALIZED = ("BlockDevice", "NetworkInterface", "CPU", "Memory", "SystemVendorInfo", "SystemFirmware", "BootInfo")


def signature(function):
    """Return a function's parameters but for self: name → whether it must be given; a ``**`` one with two stars."""
    result = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            result["**" + name] = False
        elif name != "self":
            result[name] = parameter.default is parameter.empty
    return result


def agent_commands():
    """Return the real agent's commands by ``extension.command``."""
    found = {}
    for entry in importlib.metadata.entry_points(group="ironic_python_agent.extensions"):
        for _name, member in inspect.getmembers(entry.load()):
            if hasattr(member, "command_name"):
                found[f"{entry.name}.{member.command_name}"] = {
                    # The decorators' wrappers differ in what they return.
                    "asynchronous": "AsyncCommandResult" in member.__code__.co_names,
                    "parameters": signature(member),
                }
    return found


def agent_steps():
    """Return the steps that the generic hardware manager offers: phase → step → priority and interface."""
    manager = hardware.GenericHardwareManager.__new__(hardware.GenericHardwareManager)
    return {phase: {step["step"]: {"priority": step["priority"], "interface": step["interface"]}
                    for step in getattr(manager, f"get_{phase}_steps")({}, [])}
            for phase in ("clean", "deploy", "service")}


def agent_choice(hints):
    """Return the name of the disk that the real agent chooses, or None."""
    found = device_hints.match_root_device_hints([dict(disk) for disk in DISKS], hints)
    return found["name"] if found else None


def agent():
    """Return the real agent's side."""
    # What list_hardware_info() adds beyond the classes is in its source only.
    source = inspect.getsource(hardware.HardwareManager.list_hardware_info)
    encoder = encoding.RESTJSONEncoder()
    result = base.SyncCommandResult("name", {}, True, None)
    text = base.SyncCommandResult("name", {}, True, "text")
    busy = errors.AgentIsBusy("name")
    return {
        "commands": agent_commands(),
        "steps": agent_steps(),
        "result": json.loads(encoder.encode(result)),
        "text_result": json.loads(encoder.encode(text))["command_result"],
        "error": json.loads(encoder.encode(errors.CommandExecutionError("why"))),
        "busy": {"status": busy.status_code, "text": str(busy)},
        "statuses": [base.AgentCommandStatus.RUNNING, base.AgentCommandStatus.SUCCEEDED,
                     base.AgentCommandStatus.FAILED],
        "inventory": dict({name: list(getattr(hardware, name).serializable_fields) for name in SERIALIZED},
                          inventory=re.findall(r"hardware_info\['(\w+)'\]", source)),
        "choices": [agent_choice(dict(hints)) for hints in HINTS],
    }


def room_choice(hints):
    """Return the name of the disk that the machine room chooses, or None."""
    from machine_room import root_device
    try:
        return root_device.choose(DISKS, hints)["name"]
    except root_device.NoDevice:
        return None


class Console:
    """Swallows what an agent says."""

    def tail(self, _lines):
        return []


class Machine:
    """As much of a server as hardware and commands look at."""

    name = "server-01"
    boot_mode = "UEFI"
    console = Console()
    spec = {
        "name": "server-01", "vendor": "LAB", "model": "Simulated", "serial": "S1", "cpus": 4, "cpu_mhz": 2400,
        "cpu_model": "CPU", "architecture": "x86_64", "memory_mib": 8192, "boot_mac": "00:5c:52:00:00:10",
        "nics": [{"name": "eno1", "mac": "00:5c:52:00:00:10", "vendor": "0x8086", "product": "0x1572",
                  "speed_mbps": 10000, "address": "198.18.1.1"}],
    }

    def __init__(self):
        from machine_room.disk import Disk
        from machine_room.knobs import Knobs
        self.knobs = Knobs()
        self.disks = [Disk({"name": "/dev/sda", "size_gib": 40, "rotational": False, "vendor": "LAB", "model": "SSD",
                            "serial": "D1", "wwn": "0x1", "hctl": "0:0:0:0"}, "unused", self.knobs)]

    def present_disks(self):
        return self.disks

    def save(self):
        """Nothing to keep."""


class Agent:
    """As much of an agent as commands look at."""

    answers = True

    def __init__(self):
        self.server = Machine()

    def log(self, *_text):
        """Nobody reads it."""

    def call_soon(self):
        """Nobody to call."""


def room_inventory():
    """Return the fields of the inventory that the machine room reports, under the names of the real agent's classes."""
    from machine_room import hardware as simulated
    inventory = simulated.inventory(Machine())
    return {
        "BlockDevice": list(inventory["disks"][0]),
        "NetworkInterface": list(inventory["interfaces"][0]),
        "CPU": list(inventory["cpu"]),
        "Memory": list(inventory["memory"]),
        "SystemVendorInfo": list(inventory["system_vendor"]),
        "SystemFirmware": list(inventory["system_vendor"]["firmware"]),
        "BootInfo": list(inventory["boot"]),
        "inventory": list(inventory),
    }


def room_results():
    """Return what some commands answer, run to their end."""
    from machine_room.commands import Commands
    commands = Commands(Agent())
    steps = {"node": {}, "ports": []}
    return {name: commands.execute(name, params, True) for name, params in (
        ("clean.get_clean_steps", steps), ("deploy.get_deploy_steps", steps), ("service.get_service_steps", steps),
        ("standby.get_partition_uuids", {}), ("log.collect_system_logs", {}),
        ("image.install_bootloader", {"root_uuid": "0"}),
        ("clean.execute_clean_step", dict(steps, step={"step": "burnin_cpu", "interface": "deploy"})))}


def machine_room():
    """Return the machine room's side."""
    from machine_room import agent_errors, commands, steps
    return {
        "commands": {name: {"asynchronous": method.asynchronous, "parameters": signature(method)}
                     for name, method in commands.COMMANDS.items()},
        "commands_not_simulated": commands.NOT_SIMULATED,
        "steps": {phase: {step["step"]: {"priority": step["priority"], "interface": step["interface"]}
                          for step in steps.offered(phase)} for phase in steps.OFFERED},
        "steps_not_simulated": steps.NOT_SIMULATED,
        "error": agent_errors.AgentError("why").serialize(),
        "busy": {"status": agent_errors.AgentBusy("name").status,
                 "text": f"{agent_errors.AgentBusy.message}: {agent_errors.AgentBusy('name').details}"},
        "statuses": [commands.RUNNING, commands.SUCCEEDED, commands.FAILED],
        "choices": [room_choice(hints) for hints in HINTS],
        "inventory": room_inventory(),
        "results": room_results(),
    }


if __name__ == "__main__":
    json.dump({"hints": HINTS, "agent": agent(), "machine_room": machine_room()}, sys.stdout)
