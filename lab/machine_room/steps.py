"""Clean, deploy and service steps, offered as by the generic hardware manager of ironic-python-agent."""
from __future__ import annotations

from . import config_drive, hardware, image
from .agent_errors import AgentError
from .root_device import NoDevice, choose

# What each phase offers: step → priority. Ironic's own configuration overrides priorities.
OFFERED = {
    "clean": {"erase_devices": 10, "erase_devices_metadata": 99, "erase_devices_express": 0},
    "deploy": {"erase_devices_metadata": 0, "write_image": 0},
    "service": {"write_image": 0},
}
_RAID = "software RAID needs real block devices"
_BURN_IN = "there is no hardware to burn in"
_EFI = "there is no EFI variable store"
_FILES = "needs the image's file systems mounted"
_BOOTC = "needs podman and a container registry on the machine"
# Steps of the real agent that are missing here, and why.
NOT_SIMULATED = {
    "erase_pstore": "there is no kernel that kept a crash log",
    "clean_uefi_nvram": _EFI,
    "delete_configuration": _RAID,
    "create_configuration": _RAID,
    "apply_configuration": _RAID,
    "burnin_cpu": _BURN_IN,
    "burnin_gpu": _BURN_IN,
    "burnin_disk": _BURN_IN,
    "burnin_memory": _BURN_IN,
    "burnin_network": _BURN_IN,
    "inject_files": _FILES,
    "execute_bootc_install": _BOOTC,
}


def offered(phase):
    """Return the steps of a phase as the list that Ironic expects.

    :param phase: ``clean``, ``deploy`` or ``service``
    """
    result = []
    for name, priority in OFFERED[phase].items():
        step = {"step": name, "priority": priority, "interface": "deploy", "reboot_requested": False}
        if phase != "deploy":
            step["abortable"] = True
        result.append(step)
    return result


def execute(agent, phase, step, node, arguments):
    """Run a step and return its result.

    :param agent: the Agent
    :param phase: ``clean``, ``deploy`` or ``service``
    :param step: mapping with ``step`` and ``args``
    :param node: the node as Ironic sent it along
    :param arguments: further arguments
    :raises AgentError: if it fails
    """
    if step["step"] not in OFFERED[phase]:
        raise AgentError(f"unknown {phase} step {step['step']}", kind="HardwareManagerMethodNotFound")
    arguments = dict(arguments, **(step.get("args") or {}))
    try:
        return STEPS[step["step"]](agent, node, **arguments)
    except OSError as error:
        raise AgentError(
            f"Unexpected exception performing {phase} step {step['step']}. {type(error).__name__}: {error}",
            kind="CleaningError" if phase == "clean" else "DeploymentError") from error


def _erase_devices(agent, node):
    for disk in _disks(agent):
        if disk.read_only:
            raise AgentError(f"Failed to invoke erase of device {disk.name} as the device is flagged read-only",
                             kind="BlockDeviceEraseError")
        disk.empty()
    return {disk.name: "erased" for disk in _disks(agent)}


def _erase_devices_metadata(agent, node):
    """Wipe what can be written; the real agent passes over the others too, and logs it only."""
    for disk in _disks(agent):
        if disk.read_only:
            agent.log("skipping erasure of read-only device %s", disk.name)
        else:
            disk.erase_metadata()


def _disks(agent):
    return agent.server.present_disks()


def root_disk(agent, node):
    """Return the Disk that a node's root device hints choose.

    :param node: the node as Ironic sent it
    :raises AgentError: if none fits
    """
    hints = (node.get("instance_info") or {}).get("root_device") or (node.get("properties") or {}).get("root_device")
    try:
        chosen = choose(hardware.disks(agent.server), hints)
    except NoDevice as error:
        raise AgentError(str(error), kind="DeviceNotFound") from error
    return next(disk for disk in agent.server.disks if disk.name == chosen["name"])


def write_image(agent, node, image_info, configdrive=None):
    """Download an image, write it and the config drive to the root disk, and return the real agent's message.

    :param image_info: Ironic's description of the image
    :param configdrive: base64 of a gzipped ISO, or a URL
    :raises AgentError: if any of it fails
    """
    if image_info.get("image_type") == "partition":
        raise AgentError("partition images are not simulated: use a whole-disk image", kind="InvalidCommandParamsError")
    disk = root_disk(agent, node)
    configdrive = configdrive or image_info.get("configdrive")
    agent.log("writing image %s to %s", image_info["urls"][0], disk.name)
    if agent.server.knobs.get("agent_dies_in_deploy"):
        disk.empty()
        agent.go_silent()
    try:
        transferred = image.write(agent.server.web, image_info, disk, agent.received)
        if not disk.has_partitions():
            raise AgentError(f"No partitions found on the device {disk.name} after writing the image.",
                             kind="DeploymentError")
        agent.check_alive()
        image.fill_disk(disk)
        agent.log("image written to %s, %d bytes downloaded", disk.name, transferred)
        if configdrive:
            iso = config_drive.contents(agent.server.web, configdrive)
            agent.check_alive()
            config_drive.write(disk, iso)
            agent.log("config drive written to %s, %d bytes", disk.name, len(iso))
    except image.ImageError as error:
        raise AgentError(str(error), kind="ImageDownloadError") from error
    except config_drive.ConfigDriveError as error:
        raise AgentError(str(error), kind="DeploymentError") from error
    except OSError as error:
        raise _not_written(image_info, disk, error) from error
    identifier = disk.identifier()
    agent.partition_uuids = {"root uuid": identifier}
    return f"image ({image_info['id']}) written to device {disk.name} root_uuid={identifier}"


def _not_written(image_info, disk, error):
    """Return the real agent's words for an OSError: what stops it from streaming an image is a failed download."""
    if image_info.get("disk_format") == "raw":
        return AgentError(f"Download of image {image_info['id']} failed: Unable to write image to device {disk.name}. "
                          f"Error: [Errno {error.errno}] {error.strerror}", kind="ImageDownloadError")
    return AgentError(f"Writing image to device {disk.name} failed with exit code 1. stdout: . stderr: qemu-img: error "
                      f"while writing: {error.strerror}", kind="ImageWriteError")


STEPS = {
    "erase_devices": _erase_devices,
    "erase_devices_metadata": _erase_devices_metadata,
    "erase_devices_express": _erase_devices_metadata,
    "write_image": write_image,
}
