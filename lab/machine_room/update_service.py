"""The BMCs' update service: downloads a firmware image, checks it, and flashes it.

sushy-tools' own one adds one to the BIOS's version and looks neither at the image nor at a task. Here the image says
what it is (``firmware_image``). BMC firmware is flashed at once, a BIOS at the next boot, as on most servers. What is
written to network cards counts after the next boot; a BMC may begin with it only then. The task says how far it is.
"""
from __future__ import annotations

import threading

import flask

from . import redfish, task_service
from .firmware_image import CARD, COMPONENTS, FirmwareImageError, parts_of, read_image
from .server import NOT_BEGUN, STAGED, WRITTEN

ROOT = "/redfish/v1/UpdateService"

service = flask.Blueprint("MachineRoomUpdate", __name__)


def simple_update():
    """Answer the action UpdateService.SimpleUpdate of sushy-tools' service."""
    wanted = flask.request.get_json(silent=True) or {}
    url = wanted.get("ImageURI")
    if not isinstance(url, str) or not url:
        return redfish.fault(400, "ImageURI is missing")
    server = _server(wanted.get("Targets"))
    if server is None:
        return redfish.fault(400, "Targets: expected this BMC's own system or manager")
    task = server.new_task(f"Firmware update from {url}")
    threading.Thread(target=flash, args=(server, task, url), daemon=True).start()
    return task_service.describe(server, task), 202, {"Location": task_service.path(task)}


def _server(targets):
    """Return the server whose BMC was asked, unless the targets are another's."""
    own = redfish.asked()
    for target in targets or []:
        if target.rstrip("/").rpartition("/")[2] not in (own.uuid, own.name):
            return None
    return own


def flash(server, task, url):
    """Download an image and flash it, or stage it for the next boot; the task says how it ended."""
    server.update_task(task, "Running")
    try:
        image = read_image(server.web, url)
        parts = parts_of(server.spec, image, url)
    except FirmwareImageError as error:
        server.console.print("BMC: firmware update failed: %s", error)
        server.update_task(task, "Exception", str(error))
        return
    if image.component == "bios":
        server.stage_firmware(parts, image.version, task, STAGED)
    elif image.component == CARD:
        server.stage_firmware(
            parts, image.version, task, NOT_BEGUN if server.knobs.get("cards_flashed_at_boot") else WRITTEN)
    else:
        server.flash_firmware(image.component, image.version, task)


@service.route(ROOT + "/FirmwareInventory")
def inventory():
    """List what can be flashed."""
    return redfish.collection("Firmware inventory", ROOT + "/FirmwareInventory", sorted(_inventory(redfish.asked())))


@service.route(ROOT + "/FirmwareInventory/<name>")
def inventory_member(name):
    """Show the version of one component."""
    versions = _inventory(redfish.asked())
    if name not in versions:
        return redfish.fault(404, f"no firmware {name}")
    return {
        "@odata.type": "#SoftwareInventory.v1_3_0.SoftwareInventory", "Id": name, "Name": f"{name} firmware",
        "@odata.id": f"{ROOT}/FirmwareInventory/{name}", "Updateable": True,
        "Version": versions[name],
    }


def _inventory(server):
    """Return versions by the names of what can be flashed: of network cards their identity."""
    return dict((COMPONENTS.get(part, part), version) for part, version in server.firmware.items())
